package accounts

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// outlook is what comes next for an account that does not sync: who looks at it, and what
// a sync would take.
// Nothing of it is asked for while the account syncs, nor where no engine runs that could plan.
type outlook struct {
	cost  page.Answer
	plans page.Answer
	// "8Qf…x2c 2026-11-20T… 12:30:46": another run or row makes the cost another.
	of    string // account and run that the cost is of
	takes engine.Cost
	next  []engine.ScheduleRow
}

// outlookEvery is how long the schedules and a cost hold.
const outlookEvery = time.Minute

// want asks for the cost of a sync first, then for the schedules; nil = both hold, or nobody could
// answer.
func (o *outlook) want(v *page.View, a engine.AccountRow) engine.Query {
	if v.Engine.State == engine.EngineBrowse || a.Status.Open() || !v.Ready || a.ID == "" {
		return nil
	}
	// A frozen view asks once for what it has never had, and then no more.
	old := func(is *page.Answer) bool {
		return !is.Pending && (is.At.IsZero() || !v.Frozen && v.Now.Sub(is.At) >= outlookEvery)
	}
	if of := a.ID + " " + a.Run + " " + a.Updated.String(); of != o.of {
		o.of, o.cost, o.takes = of, page.Answer{}, engine.Cost{}
	}
	switch {
	case old(&o.cost):
		o.cost.Pending, o.cost.At = true, v.Now
		return engine.CostQuery{Account: a.ID, Sync: engine.SyncAsk{Platform: a.Platform}}
	case old(&o.plans):
		o.plans.Pending, o.plans.At = true, v.Now
		return engine.SchedulesQuery{}
	}
	return nil
}

// got takes an answer; false when it is another question's.
func (o *outlook) got(v *page.View, q engine.Query, a engine.Answer, err error) bool {
	switch q := q.(type) {
	case engine.CostQuery:
		if !strings.HasPrefix(o.of, q.Account+" ") { // it is of another account
			return true
		}
		if o.cost.Take(v, err) {
			o.takes, _ = a.(engine.Cost)
		}
	case engine.SchedulesQuery:
		if o.plans.Take(v, err) {
			came, _ := a.(engine.SchedulesPage)
			o.next = came.Schedules
		}
	default:
		return false
	}
	return true
}

// nextRun is the next run of the schedule that looks after the tracked accounts. A zero time means
// that none is planned; a name of "" that there is no such schedule. A planned run that has passed
// by now is skipped: schedules are up to a minute old.
func (o *outlook) nextRun(now time.Time) (at time.Time, name string, paused bool) {
	i := slices.IndexFunc(o.next, func(s engine.ScheduleRow) bool { return strings.HasSuffix(s.Name, "latest") })
	if i < 0 {
		return at, "", false
	}
	for _, at := range o.next[i].Next {
		if at.After(now) {
			return at, o.next[i].Name, o.next[i].Paused
		}
	}
	return at, o.next[i].Name, o.next[i].Paused
}

// comes says who looks at the account next, what a sync would take, and what is stored.
func (p *Account) comes(v *page.View, a engine.AccountRow, w, h int) part.Section {
	s := part.Section{Title: "NEXT", Height: h}
	put := func(key string, value ...part.Cell) {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, key), 9, part.Words).Gap(1)
		s.Rows = append(s.Rows, l.Cells(value...).String())
	}
	at, name, paused := p.next.nextRun(v.Now)
	switch {
	case v.Engine.State == engine.EngineBrowse:
		put("look", part.As(themes.Dim, "no engine runs here"))
	case !a.Tracked:
		put("look", part.Plain("not tracked: nobody looks"))
	case paused:
		put("look", part.As(themes.Held, name+" is paused"))
	case at.IsZero():
		put("look", part.As(themes.Dim, part.None))
	default:
		put("look", part.As(themes.Figure, v.Clock(at)), part.As(themes.Dim, "  in "+v.In(at)))
	}
	switch c := p.next.takes; {
	case p.next.cost.Err != nil:
		put("a sync", part.As(themes.Dim, page.Sentence(p.next.cost.Err)))
	case p.next.cost.Have:
		takes := "at once"
		if c.Takes >= time.Second {
			takes = human.Expected(c.Takes)
		}
		put("a sync", part.Plain(c.CallsText()), part.As(themes.Dim, ", "+takes))
	}
	put("stored", part.As(themes.Figure, page.Count(p.wall.stored())),
		part.As(themes.Dim, " of "+human.Counted(p.wall.known(), "match", "matches")))
	if n := p.wall.count(engine.CellGaveUp) + p.wall.count(engine.CellCancelled); n > 0 {
		put("missing", part.As(themes.Warn,
			engine.Gaps(p.wall.count(engine.CellGaveUp), p.wall.count(engine.CellCancelled))))
	}
	if r := p.detail.Report; r != nil && !r.First.IsZero() {
		put("played", part.Plain(block.PlaySpan(v, r)))
	}
	if a.LastError != "" {
		for _, line := range part.Wrap(columns.InShort(a.LastError), max(w-12, 10)) {
			key := "error"
			if len(s.Rows) > 0 && strings.Contains(s.Rows[len(s.Rows)-1], "error") {
				// Only the first of the lines that an error takes has a name before it.
				key = ""
			}
			put(key, part.As(themes.Err, line))
		}
	}
	return s
}
