package riot

// Timeline is the course of a match: Riot's JSON as it came. What happens in the game stays in it for who exports it,
// and no screen shows it.
type Timeline struct{ Payload }

// scanTimeline reads of a match-v5 timeline which match it is of. The error completes "the answer ...".
func scanTimeline(raw []byte, id string) (Timeline, error) {
	s := scanner{buf: raw}
	var head metadata
	info := false
	s.members(member{"metadata", func() { head = s.metadata() }}, member{"info", func() { info = s.members() }})
	return Timeline{}, head.check(s.end(), info, id)
}
