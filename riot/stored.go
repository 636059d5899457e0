package riot

// ReadMatch reads a payload that was stored, as Client.Match reads one that came over the wire: it must be
// whole and about the match.
func ReadMatch(p Payload, id string) (Match, error) {
	raw, err := p.Raw()
	if err != nil {
		return Match{}, err
	}
	m, err := scanMatch(raw, id)
	if err != nil {
		return Match{}, err
	}
	m.Payload = p
	return m, nil
}

// ReadTimeline reads a stored payload, as Client.Timeline reads one that came over the wire.
func ReadTimeline(p Payload, id string) (Timeline, error) {
	raw, err := p.Raw()
	if err != nil {
		return Timeline{}, err
	}
	t, err := scanTimeline(raw, id)
	if err != nil {
		return Timeline{}, err
	}
	t.Payload = p
	return t, nil
}
