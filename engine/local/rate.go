package local

import "time"

// rate counts events of the last minute, per second.
type rate struct {
	counts [60]uint32
	last   int64 // the second that was written last
	first  int64 // the second of the first event since nothing was counted
}

func (r *rate) add(now time.Time) {
	r.roll(now)
	if r.first == 0 {
		r.first = r.last
	}
	r.counts[r.last%60]++
}

// leastSpan is the shortest time that a pace is taken over: a burst of one second
// says little of the next minute.
const leastSpan = 5

// pace is events per minute over the time since they began, a minute at most.
func (r *rate) pace(now time.Time) float64 {
	n := r.perMinute(now)
	if n == 0 {
		return 0
	}
	return n * 60 / float64(min(max(r.last-r.first+1, leastSpan), 60))
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
		r.counts, r.first = [60]uint32{}, 0
	} else {
		for at := r.last + 1; at <= s; at++ {
			r.counts[at%60] = 0
		}
	}
	r.last = s
}
