package local

import "time"

// rate counts the events of each of the last sixty seconds.
type rate struct {
	counts [60]uint32
	last   int64 // the second that was written last
}

// add counts one event now.
func (r *rate) add(now time.Time) {
	r.roll(now)
	r.counts[r.last%60]++
}

// perMinute is how many events the last sixty seconds had.
func (r *rate) perMinute(now time.Time) float64 {
	r.roll(now)
	var n uint32
	for _, c := range r.counts {
		n += c
	}
	return float64(n)
}

// roll clears the seconds that have passed. A clock that went back begins anew.
func (r *rate) roll(now time.Time) {
	s := now.Unix()
	if gone := s - r.last; gone < 0 || gone >= 60 {
		r.counts = [60]uint32{}
	} else {
		for at := r.last + 1; at <= s; at++ {
			r.counts[at%60] = 0
		}
	}
	r.last = s
}
