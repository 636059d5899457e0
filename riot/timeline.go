package riot

// Timeline is the course of a match: Riot's JSON as it came, and the few fields that are indexed.
type Timeline struct {
	Payload
	ID              string
	FrameIntervalMs int64 // usual distance of two frames; 0 in aborted games
	Frames          int
	EndOfGameResult string
	PUUIDs          []string // metadata.participants
	Participants    []TimelineParticipant
}

// TimelineParticipant ties the numbers that frames and events use to players.
type TimelineParticipant struct {
	Number int // participantId, from 1
	PUUID  string
}

// scanTimeline reads the fields of a match-v5 timeline, a few of half a megabyte: what happens in the game
// stays in the stored JSON for who exports it, and no screen shows it. The error completes "the answer ...".
func scanTimeline(raw []byte, id string) (Timeline, error) {
	t := timelineScan{scanner: scanner{buf: raw}}
	var head metadata
	info := false
	t.members(member{"metadata", func() { head = t.metadata() }}, member{"info", func() { info = t.info() }})
	if err := head.check(t.end(), info, id); err != nil {
		return Timeline{}, err
	}
	t.out.ID, t.out.PUUIDs = id, head.puuids
	return t.out, nil
}

// timelineScan collects the fields while the scanner goes over the answer once.
type timelineScan struct {
	scanner
	out Timeline
}

// info reads the facts, and reports whether there is an object of them at all.
//
//	"info":{"frameInterval":60000,"frames":[…],"participants":[{"participantId":1,"puuid":"8QfA1b…"},…]}
func (t *timelineScan) info() bool {
	return t.members(
		member{"frameInterval", &t.out.FrameIntervalMs}, member{"endOfGameResult", &t.out.EndOfGameResult},
		member{"frames", func() {
			t.out.Frames = 0 // a member that comes twice counts the last time, as everywhere in JSON
			t.array(func() { t.skip(); t.out.Frames++ })
		}},
		member{"participants", func() {
			t.out.Participants, _ = list(&t.scanner, make([]TimelineParticipant, 0, 10), maxParticipants, errCrowd, func(int) (p TimelineParticipant) {
				t.members(member{"participantId", &p.Number}, member{"puuid", &p.PUUID})
				return p
			})
		}})
}
