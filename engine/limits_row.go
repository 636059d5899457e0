package engine

import "time"

// Learnt is when a header last stated other limits than were known, on any host; zero =
// none has.
func (l LimitsRow) Learnt() (at time.Time) {
	for _, h := range l.Hosts {
		if h.Learnt.After(at) {
			at = h.Learnt
		}
	}
	return at
}

// Blind counts the blind calls of all hosts.
func (l LimitsRow) Blind() (n int) {
	for _, h := range l.Hosts {
		n += h.Blind
	}
	return n
}

// LimitHost is how the limits of one host were learnt. A blind call is one that was sent
// before a header had told the limits of its host, or of its method: the first on each,
// which goes alone. Blind counts them since the start of the engine.
type LimitHost struct {
	Host   string    `json:"host"`
	Learnt time.Time `json:"learnt,omitzero"` // the last change of any of its limits, in an earlier run too
	Blind  int       `json:"blind_calls"`
}

// Pacing is the bucket that sets the pace of what waits, as the limiter tells it: at the
// host with the most in line, which comes first. False while no limit is known.
func (l LimitsRow) Pacing() (BucketRow, bool) {
	for _, b := range l.Buckets {
		if b.Paces {
			return b, true
		}
	}
	return BucketRow{}, false
}
