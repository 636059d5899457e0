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

// scanTimeline reads the fields of a match-v5 timeline. The error completes "the answer ...".
func scanTimeline(raw []byte, id string) (Timeline, error) {
	t := timelineScan{scanner: scanner{buf: raw}}
	var head metadata
	info := false
	t.object(func(key []byte) {
		switch string(key) {
		case "metadata":
			head = t.metadata()
		case "info":
			info = t.info()
		default:
			t.skip()
		}
	})
	if err := head.check(t.end(), info, id); err != nil {
		return Timeline{}, err
	}
	t.out.ID, t.out.PUUIDs = id, head.puuids
	return t.out, nil
}

type timelineScan struct {
	scanner
	out Timeline
}

func (t *timelineScan) info() bool {
	return t.object(func(key []byte) {
		switch string(key) {
		case "frameInterval":
			t.out.FrameIntervalMs = t.integer()
		case "endOfGameResult":
			t.out.EndOfGameResult = t.str()
		case "frames":
			t.out.Frames = 0
			t.array(func() { t.skip(); t.out.Frames++ })
		case "participants":
			t.participants()
		default:
			t.skip()
		}
	})
}

func (t *timelineScan) participants() {
	t.out.Participants = make([]TimelineParticipant, 0, 10)
	t.array(func() {
		if len(t.out.Participants) == maxParticipants {
			t.refuse(errCrowd)
			return
		}
		t.out.Participants = append(t.out.Participants, t.participant())
	})
}

func (t *timelineScan) participant() (p TimelineParticipant) {
	t.object(func(key []byte) {
		switch string(key) {
		case "participantId":
			p.Number = t.small()
		case "puuid":
			p.PUUID = t.str()
		default:
			t.skip()
		}
	})
	return p
}
