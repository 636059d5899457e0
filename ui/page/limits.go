package page

import (
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/part"
)

// limitPage shows every window of the limiter as it was, is and will be, who gets the next
// calls, and the last ones.
type limitPage struct {
	buckets, calls Pane
	top            int // how many of the buckets below the pacing one are scrolled away
	onCalls        bool
	moved          bool // the recorder's cursor was taken off the newest call
	tape, ribbon   tape
	fills          fills
	past           past
	plan           forecast
	Query[engine.CallRow]
	picked picked
	seek   uint64 // the call that the cursor shall go to
}

// NewLimitPage makes the screen.
func NewLimitPage() *limitPage {
	return &limitPage{onCalls: true, tape: tape{every: tapeEvery}, ribbon: tape{every: overviewTape}, Query: Query[engine.CallRow]{Schema: columns.Calls.Schema}}
}

// NewLimitsAt makes the screen with the cursor on a call.
func NewLimitsAt(seq uint64) *limitPage {
	p := NewLimitPage()
	p.seek, p.moved = seq, true
	return p
}

// Screen implements Page.
func (p *limitPage) Screen() Screen { return ScreenLimits }

// Crumb implements Page.
func (p *limitPage) Crumb(*View) string { return "" }

// Want implements Page: limits and calls come with Watch; what was before and what is
// foreseen is asked for.
func (p *limitPage) Want(v *View) engine.Query {
	if q := p.plan.want(v, farAhead); q != nil {
		return q
	}
	return p.past.want(v)
}

// Got implements Page.
func (p *limitPage) Got(v *View, q engine.Query, a engine.Answer, err error) {
	p.past.got(v, q, a, err)
	p.plan.got(v, q, a, err)
}

// Reload makes the page ask again at once.
func (p *limitPage) Reload() {
	p.past.Forget()
	p.plan.Forget()
}

// SetFilter implements Filterer.
func (p *limitPage) SetFilter(text string) error {
	p.calls.Asked = true
	return p.Query.SetFilter(text)
}

// Fit implements Filterer.
func (p *limitPage) Fit() (shown, all int) {
	if !p.On() {
		return len(p.tape.calls), len(p.tape.calls)
	}
	return len(p.picked.calls), len(p.tape.calls)
}

// source is the flight recorder with the filter.
func (p *limitPage) source(v *View) recorder { return p.picked.of(v, p.tape.Take(v), &p.Query) }

func (p *limitPage) bucketSource(v *View) part.Slice[engine.BucketRow] {
	first, _ := v.pacing(p.plan.busiest(v))
	return part.Slice[engine.BucketRow]{Items: bucketsBy(v, first), Key: bucketKey, Cells: noCells[engine.BucketRow]}
}

// Cannot implements Page.
func (p *limitPage) Cannot(v *View, a Action) string {
	switch a {
	case Retry, Cancel:
		return v.Keyed("select a job first: {open} opens the job of a call")
	case Pause:
		if p.onCalls {
			return v.Keyed("{pause} freezes or caps a bucket: {next pane} to the buckets")
		}
		return missing(&p.buckets, p.bucketSource(v), "bucket")
	case Open:
		if !p.onCalls {
			return v.Keyed("{open} opens the job of a call: {next pane} to the flight recorder")
		}
	}
	return ""
}

// Act implements Page.
func (p *limitPage) Act(v *View, a Action) Effect {
	switch {
	case a == NextPane:
		p.onCalls = !p.onCalls
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == Open && p.onCalls:
		return p.open(v)
	case a == Pause:
		if b, ok := Selected(&p.buckets, p.bucketSource(v)); ok {
			return steerBucket(b)
		}
	case p.onCalls:
		if p.calls.Steer(p.source(v), a) {
			p.moved = a != Home
		}
	default:
		p.buckets.Steer(p.bucketSource(v), a)
	}
	return Effect{}
}

func (p *limitPage) open(v *View) Effect {
	c, ok := p.call(v)
	switch {
	case !ok:
		return Say("there is no call here")
	case c.Status == 429:
		return Effect{Open: &Target{Screen: ScreenForensics, Seq: c.Seq}}
	case c.Job != "":
		return Effect{Open: ToJob(c.Job)}
	}
	return Say("this call belongs to no job")
}

// call is the call under the cursor.
func (p *limitPage) call(v *View) (c engine.CallRow, ok bool) {
	src := p.source(v)
	id, _ := p.calls.Cur.Selected()
	i, ok := src.Find(id)
	if !ok {
		return c, false
	}
	return src.at(i), true
}

// sought puts the cursor on the call that was asked for, as long as the flight
// recorder has it.
func (p *limitPage) sought(src recorder) {
	if p.seek == 0 || src.Len() == 0 {
		return
	}
	if p.calls.Cur.Select(src, strconv.FormatUint(p.seek, 10), p.calls.Height) {
		p.seek = 0
	}
}

// SelectedJob implements Jobber: the job of the call under the cursor.
func (p *limitPage) SelectedJob(v *View) (engine.JobID, string) {
	c, ok := p.call(v)
	if !ok || !p.onCalls {
		return "", ""
	}
	return c.Job, string(c.Job)
}

// Hold implements Holder.
func (p *limitPage) Hold() { p.focused().Hold() }

// Place implements Holder.
func (p *limitPage) Place() string { return p.focused().Place() }

func (p *limitPage) focused() *Pane {
	if p.onCalls {
		return &p.calls
	}
	return &p.buckets
}

// Copies implements Copier: the call, or the bucket, under the cursor.
func (p *limitPage) Copies(v *View) []Copy {
	if !p.onCalls {
		b, ok := Selected(&p.buckets, p.bucketSource(v))
		if !ok {
			return nil
		}
		return CopiesOf(v, []any{b}, func(int) string { return b.Host + " " + Or(b.Method, b.Kind) })
	}
	src := p.source(v)
	id, _ := p.calls.Cur.Selected()
	i, ok := src.Find(id)
	if !ok {
		return nil
	}
	c := src.at(i)
	return CopiesOf(v, []any{c}, func(int) string { return c.Target })
}

// Instant implements Timed: the call under the recorder's cursor.
func (p *limitPage) Instant(v *View) (time.Time, bool) {
	id, ok := p.calls.Cur.Selected()
	if !ok || !p.onCalls {
		return time.Time{}, false
	}
	src := p.source(v)
	i, ok := src.Find(id)
	if !ok {
		return time.Time{}, false
	}
	return src.at(i).At, true
}

// ToInstant implements Timed.
func (p *limitPage) ToInstant(v *View, at time.Time) {
	src := p.source(v)
	then := len(upTo(src.calls, at))
	if then == 0 {
		return
	}
	p.moved = true
	p.calls.Cur.Go(src, src.Len()-then, p.calls.Height)
}
