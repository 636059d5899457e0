// Package limits is the screen of every window of the limiter: as it was, is and will be.
package limits

import (
	"cmp"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Screen shows every window of the limiter as it was, is and will be, who gets the next calls, and
// the last ones. It has two lists, the buckets above and the flight recorder below, of which one
// has the keys.
type Screen struct {
	buckets, calls lists.Pane
	top            int // how many of the buckets below the pacing one are scrolled away
	onCalls        bool
	moved          bool // the recorder's cursor was taken off the newest call
	// The ribbon moves less often than the list: it only gives an impression.
	tape, ribbon page.Tape
	plan         page.Forecast
	ahead        time.Duration // as far as the axis went when it was last drawn
	lists.Query[engine.CallRow]
	picked block.Picked
	// 0 = none. It is sought with each frame until the recorder has it.
	seek uint64 // the call that the cursor shall go to
}

// New makes the screen.
// The keys go to the recorder at first: what somebody looks for is most often a call.
func New() *Screen {
	return &Screen{onCalls: true, tape: page.Tape{Every: page.TapeEvery},
		ribbon: page.Tape{Every: page.OverviewTape}, Query: lists.Query[engine.CallRow]{Schema: columns.Calls.Schema}}
}

// NewAt makes the screen with the cursor on a call.
func NewAt(seq uint64) *Screen {
	p := New()
	p.seek, p.moved = seq, true
	return p
}

// Screen implements Page.
func (p *Screen) Screen() page.Screen { return page.ScreenLimits }

// Crumb implements Page.
func (p *Screen) Crumb(*page.View) string { return "" }

// Want implements Page: limits and calls come with Watch; what is foreseen is asked for.
func (p *Screen) Want(v *page.View) engine.Query {
	return p.plan.Want(v, max(page.FarAhead, p.ahead))
}

// Got implements Page.
func (p *Screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	p.plan.Got(v, q, a, err)
}

// Reload makes the page ask again at once.
func (p *Screen) Reload() { p.plan.Forget() }

// SetFilter implements Filterer.
// It is of the recorder's calls; buckets are never filtered.
func (p *Screen) SetFilter(text string) error {
	p.calls.Asked = true
	return p.Query.SetFilter(text)
}

// Fit implements Filterer.
// All of them are those that the recorder holds, which has the last few thousand.
func (p *Screen) Fit() (shown, all int) {
	if !p.On() {
		return len(p.tape.Calls), len(p.tape.Calls)
	}
	return len(p.picked.Calls), len(p.tape.Calls)
}

// source is the flight recorder with the filter.
func (p *Screen) source(v *page.View) block.CallList {
	return p.picked.Of(v, p.tape.Take(v), &p.Query)
}

// bucketSource lists the buckets, the one that sets the pace first. Its rows are drawn into a chart
// and not by a table, so they have no cells.
func (p *Screen) bucketSource(v *page.View) part.Slice[engine.BucketRow] {
	first, _ := charts.Pacing(v.Data, p.plan.Busiest(v))
	return part.Slice[engine.BucketRow]{Items: bucketsBy(v, first), Key: bucketKey,
		Cells: lists.NoCells[engine.BucketRow]}
}

// Cannot implements Page.
func (p *Screen) Cannot(v *page.View, a page.Action) string {
	switch a {
	case page.Retry, page.Cancel:
		return v.Keyed("select a job first: {open} opens the job of a call")
	case page.Pause:
		if p.onCalls {
			return v.Keyed("{pause} freezes or caps a bucket: {next pane} to the buckets")
		}
		return lists.Missing(&p.buckets, p.bucketSource(v), "bucket")
	case page.Open:
		if !p.onCalls {
			return v.Keyed("{open} opens the job of a call: {next pane} to the flight recorder")
		}
	}
	return ""
}

// Act implements Page.
func (p *Screen) Act(v *page.View, a page.Action) page.Effect {
	switch {
	case a == page.NextPane:
		p.onCalls = !p.onCalls
	case a == page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case a == page.Open && p.onCalls:
		return p.open(v)
	case a == page.Pause:
		if b, ok := lists.Selected(&p.buckets, p.bucketSource(v)); ok {
			return page.SteerBucket(b)
		}
	case p.onCalls:
		if p.calls.Steer(p.source(v), a) {
			p.moved = a != page.Home
		}
	default:
		p.buckets.Steer(p.bucketSource(v), a)
	}
	return page.Effect{}
}

// open opens what is known about a 429, else the job that a call was made for.
func (p *Screen) open(v *page.View) page.Effect {
	c, ok := p.call(v)
	switch {
	case !ok:
		return page.Say("there is no call here")
	case c.Status == 429:
		return page.Effect{Open: &page.Target{Screen: page.ScreenForensics, Seq: c.Seq}}
	case c.Job != "":
		return page.Effect{Open: page.ToJob(c.Job)}
	}
	return page.Say("this call belongs to no job")
}

// call is the call under the cursor.
func (p *Screen) call(v *page.View) (c engine.CallRow, ok bool) {
	src := p.source(v)
	id, _ := p.calls.Cur.Selected()
	i, ok := src.Find(id)
	if !ok {
		return c, false
	}
	return src.At(i), true
}

// sought puts the cursor on the call that was asked for, as long as the flight
// recorder has it.
// While it is not there yet seek stays, as a console that has just begun gets its calls with the
// next update.
func (p *Screen) sought(src block.CallList) {
	if p.seek == 0 || src.Len() == 0 {
		return
	}
	if p.calls.Cur.Select(src, strconv.FormatUint(p.seek, 10), p.calls.Height) {
		p.seek = 0
	}
}

// SelectedJob implements Jobber: the job of the call under the cursor.
func (p *Screen) SelectedJob(v *page.View) (engine.JobID, string) {
	c, ok := p.call(v)
	if !ok || !p.onCalls {
		return "", ""
	}
	return c.Job, string(c.Job)
}

// Hold implements Holder.
func (p *Screen) Hold() { p.focused().Hold() }

// Place implements Holder.
func (p *Screen) Place() string { return p.focused().Place() }

// focused is the list that has the keys.
func (p *Screen) focused() *lists.Pane { return human.Either(p.onCalls, &p.calls, &p.buckets) }

// Copies implements Copier: the call, or the bucket, under the cursor.
func (p *Screen) Copies(v *page.View) []page.Copy {
	if !p.onCalls {
		b, ok := lists.Selected(&p.buckets, p.bucketSource(v))
		if !ok {
			return nil
		}
		return page.CopiesOf(v, []any{b}, func(int) string { return b.Host + " " + cmp.Or(b.Method, b.Kind) })
	}
	c, ok := p.call(v)
	if !ok {
		return nil
	}
	return page.CopiesOf(v, []any{c}, func(int) string { return c.Target })
}

// Instant implements Timed: the call under the recorder's cursor.
func (p *Screen) Instant(v *page.View) (time.Time, bool) {
	c, ok := p.call(v)
	return c.At, ok && p.onCalls
}

// ToInstant implements Timed.
// An instant before the oldest call that is kept moves nothing.
func (p *Screen) ToInstant(v *page.View, at time.Time) {
	src := p.source(v)
	then := len(page.UpTo(src.Calls, at))
	if then == 0 {
		return
	}
	p.moved = true
	p.calls.Cur.Go(src, src.Len()-then, p.calls.Height)
}
