package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Paged is an answer about all jobs that comes page by page, however many there are: the
// engine looks at a part of them for each.
type Paged struct {
	Answer
	next   string
	Looked int // jobs so far
	begun  time.Time
	took   time.Duration // for all pages, the last time
}

// restPages: a list of several pages is left alone for so many times as long as it took to read, or an
// engine with a million jobs would go through them without end.
const restPages = 10

// DuePage reports whether it is time to ask for a page, and from where on.
func (p *Paged) DuePage(v *View, version uint64) (page engine.Page, ask bool) {
	page.Limit = ListMost
	switch {
	case p.next != "" && !p.Pending && p.Answer.Err == nil && !v.Frozen:
		p.Pending = true
		page.After, p.next = p.next, ""
		return page, true
	case p.Have && v.Acts == p.Acts && v.Now.Sub(p.Came) < restPages*p.took:
		return page, false
	case !p.Answer.Due(v, version):
		return page, false
	}
	p.begun = v.Now
	return page, true
}

// Turn notes a page that came: whether it is the first, and whether it is the last.
func (p *Paged) Turn(v *View, asked engine.Page, next string, looked int) (first, last bool) {
	if first = asked.After == ""; first {
		p.Looked = 0
	}
	p.Looked += looked
	p.next = next
	if last = next == ""; last {
		p.took = max(v.Now.Sub(p.begun), 0)
	}
	return first, last
}

// Far says how far a list has come that is not complete; "" = it is.
func (p *Paged) Far(of int) string {
	if p.next == "" && !p.Pending || p.Looked == 0 {
		return ""
	}
	return "looked at " + Count(p.Looked) + human.If(of > p.Looked, " of "+Count(of))
}

// Again asks for the list from its beginning; what is shown stays.
func (p *Paged) Again() {
	p.Forget()
	p.next = ""
}

// Reload makes the page ask again at once.
func (p *Paged) Reload() { p.Again() }

// LiveJobs is how many live jobs a queue has; "" = all queues.
func LiveJobs(v *View, queue engine.Queue) (n int) {
	q := EveryQueue(v)
	if queue != "" {
		q, _ = v.Queue(queue)
	}
	for s, jobs := range q.Counts {
		if s.Live() {
			n += jobs
		}
	}
	return n
}

// EveryQueue adds all queues up.
func EveryQueue(v *View) engine.QueueRow {
	sum := engine.QueueRow{Counts: map[engine.State]int{}}
	for _, q := range v.Queues {
		for s, n := range q.Counts {
			sum.Counts[s] += n
		}
		sum.Held, sum.Again = sum.Held+q.Held, sum.Again+q.Again
		sum.PerMin += q.PerMin
		if !q.OldestDue.IsZero() && (sum.OldestDue.IsZero() || q.OldestDue.Before(sum.OldestDue)) {
			sum.OldestDue = q.OldestDue
		}
	}
	return sum
}
