package hub

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// foreseen is what one reader was told of what is to come. It moves without a commit: a
// sync that nothing happens to ends later when another one is started beside it.
type foreseen struct {
	at     time.Time // when it was looked at last
	etas   map[string]engine.ETA
	starts map[engine.JobID]start
}

// start is when a job goes that waits for an instant, or in line since that has come.
type start struct {
	at     time.Time
	lateBy string
	place  int
}

// startOf is when a row says that its job goes. What holds one in line is its place.
func startOf(r *engine.JobRow) start {
	if r.State == engine.Available {
		return start{at: r.Starts, place: r.Place}
	}
	return start{at: r.Starts, lateBy: r.LateBy}
}

// turned reports whether a job in line goes at another time, or has come forward, by so much
// that its row is to be told again. Less than a second is never told: rows show seconds.
func (s start) turned(was start, now time.Time) bool {
	by := s.at.Sub(was.at)
	return was.at.IsZero() != s.at.IsZero() || moved(was.place, s.place) ||
		by.Abs() >= time.Second && moved(was.at.Sub(now), s.at.Sub(now))
}

// mostOverdue bounds how many jobs in line are looked at again and again: a place is counted.
const mostOverdue = 200

// foreseeEvery is how often rows are told anew because something else is foreseen.
const foreseeEvery = time.Second

// foresee adds to the accounts of an update when their runs end, and to the update those
// accounts and jobs of which something else is foreseen than the reader was told. It is the reader's
// goroutine that does it, for what its own reader was told: two consoles that came at different times
// may have been told different numbers.
func (h *Hub) foresee(b *mailbox, u *engine.Update) {
	f, now := &b.foreseen, time.Now()
	if u.Snapshot || f.etas == nil {
		*f = foreseen{etas: map[string]engine.ETA{}, starts: map[engine.JobID]start{}}
	}
	for i := range u.Accounts {
		h.addETA(f, &u.Accounts[i])
	}
	for _, j := range u.Jobs {
		f.starts[j.ID] = startOf(&j)
	}
	for _, id := range u.Gone {
		delete(f.starts, id)
	}
	if now.Sub(f.at) < foreseeEvery {
		return
	}
	f.at = now
	for _, a := range h.Open() {
		if h.addETA(f, &a) {
			u.Accounts = append(u.Accounts, a)
		}
	}
	for _, j := range h.overdue(mostOverdue) {
		r := h.opt.Source.Row(j)
		s := startOf(&r)
		if s.turned(f.starts[j.ID], now) {
			f.starts[j.ID] = s
			u.Jobs = append(u.Jobs, r)
		}
	}
	for _, j := range h.Waiting() {
		var s start
		s.at, s.lateBy = h.opt.Source.Start(j.ID)
		if was := f.starts[j.ID]; was.lateBy != s.lateBy || moved(was.at.Sub(now), s.at.Sub(now)) {
			f.starts[j.ID] = s
			u.Jobs = append(u.Jobs, h.opt.Source.Row(j))
		}
	}
}

// addETA adds what is foreseen of an open run: what the reader was told already, unless it
// has moved. An account whose row comes for another reason keeps the number that the reader has, lest
// it flicker.
func (h *Hub) addETA(f *foreseen, a *engine.AccountRow) (anew bool) {
	if !a.Status.Open() {
		delete(f.etas, a.ID)
		return false
	}
	told, known := f.etas[a.ID]
	now := h.opt.Source.ETA(a.ID)
	anew = !known || told.Known != now.Known ||
		told.Why != now.Why || told.Stand != now.Stand || told.Bucket != now.Bucket ||
		moved(told.High, now.High) || moved(told.Low, now.Low)
	if anew {
		f.etas[a.ID], told = now, now
	}
	a.ETA, a.Stand = told, told.Stand
	return anew
}

// moved reports whether a span or a place differs by more than a tenth: a figure that moves
// all the time cannot be read.
func moved[N ~int | ~int64](a, b N) bool { return max(a-b, b-a)*10 > max(a, -a) }
