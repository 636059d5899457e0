package charts

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// spent is where the time of a try went, and the wait after it until the next try.
type spent struct {
	shares  []part.Share // in milliseconds: those that were, then those to come
	planned int          // where those to come begin
	result  themes.State // between both; no glyph = it still runs
	next    time.Time    // of the next try; zero = none is known
	again   themes.Token // of that
	over    bool         // the wait is: nothing is to come
}

// add adds a stretch of time, if there was any. One that is shorter than a millisecond counts as
// one: it happened, and has a share.
func (s *spent) add(t themes.Token, sign themes.State, name string, d time.Duration) {
	if d > 0 {
		s.shares = append(s.shares, part.Share{Token: t, Sign: sign.Glyph, Name: name + " " + spentText(d), N: int(max(d/time.Millisecond, 1))})
	}
}

// spentText is exact to the hundredth of a second below ten seconds, which calls and the limiter
// take: 0.06 s. A wait of the policy is whole seconds, and has no digits behind them: 3 s.
func spentText(d time.Duration) string {
	return human.Either(d < 10*time.Second && d%time.Second != 0, human.Secs(d), human.Dur(d.Round(time.Second)))
}

// SpentOn takes the time of a try apart, with the wait after it. until is when that wait ended. job
// is the try's job while the wait still goes on; nil for every try but the last. a is nil where
// only the wait is known.
func SpentOn(v *page.View, a *engine.Attempt, until time.Time, job *engine.JobRow) (s spent) {
	if a != nil {
		s.add(themes.Tick, v.Theme.State("AVAILABLE"), "in line", InLine(*a))
		s.add(themes.Planned(themes.Flow(0.3)), v.Theme.State("HELD"), "limiter", Limited(*a))
		s.add(themes.Run, v.Theme.State("RUNNING"), "Riot", a.HTTP)
		if a.End.IsZero() {
			return s
		}
		s.result = v.Theme.State(ResultWord(*a))
	}
	s.planned = len(s.shares)
	wait, name, sign := themes.Retry, "back-off", v.Theme.State("RETRYABLE")
	// A hold is no try: it is told by what the job was held for.
	if a != nil && a.Number == 0 {
		wait, name = themes.Held, a.Hold.String()
	}
	s.again = wait
	switch {
	case job == nil && a != nil && !until.IsZero():
		s.add(wait, sign, name, until.Sub(a.End))
		s.next, s.over = until, true
	case job == nil || !job.Retrying() && job.State != engine.Scheduled:
	default:
		if s.result.Glyph == "" {
			s.result = v.Theme.State("FAILED")
		}
		// The policy counts its wait from the failure. Where that is not known, and after a hold, which
		// is no failure, the end of the attempt stands in for it.
		if at, ok := lastFailure(job); ok && (a == nil || a.Number > 0) {
			s.add(themes.Planned(wait), sign, name, job.Due.Sub(at))
		} else if a != nil {
			s.add(themes.Planned(wait), sign, name, job.Due.Sub(a.End))
		}
		s.next = job.Due
		if job.LateBy != "" {
			why := human.Either(job.Stand != "", strings.ToLower(string(job.Stand)), "no room")
			s.add(themes.Planned(themes.Warn), sign, why, LateBy(v, job))
			s.next, s.again = job.Starts, themes.Warn
		}
	}
	return s
}

// Bar draws the time in its order in w cells: what has passed solid, what is to come in dots, and
// the time of the next try behind it. It draws nothing where a stretch would have less than two
// cells.
func (s *spent) Bar(v *page.View, l *part.Line, w int) *part.Line {
	clock := human.If(!s.next.IsZero(), " "+v.Clock(s.next))
	room := w - safe.Width(clock) - 2
	was, all := 0, 0
	for i, share := range s.shares {
		if all += share.N; i < s.planned || s.result.Glyph == "" {
			was += share.N
		}
	}
	// Stretches that can neither be seen nor told apart are worth no bar.
	if all == 0 || room < 2*len(s.shares) {
		return l
	}
	happened, ahead := s.shares, []part.Share(nil)
	if s.result.Glyph != "" {
		happened, ahead = s.shares[:s.planned], s.shares[s.planned:]
	}
	// Each part has at least one cell for each of its stretches, however short it is.
	cells := page.Clamp(room*was/all, len(happened), room-len(ahead))
	if len(happened) > 0 {
		l.Stack(cells, happened)
	}
	l.Glyph(s.result.Token, s.result.Glyph, page.Btoi(s.result.Glyph != ""))
	if len(ahead) > 0 {
		again := v.Theme.State("RETRYABLE")
		// The wait has passed: nothing of it is planned any more.
		if s.over {
			l.Stack(room-cells, ahead)
		} else {
			l.Dotted(room-cells, ahead)
		}
		l.Glyph(s.again, again.Glyph, 1).Put(themes.Text, clock)
	}
	return l
}

// Legend writes what the colours of the bar stand for, with how long each took.
func (s *spent) Legend(l *part.Line) *part.Line {
	for i, share := range s.shares {
		l.Gap(3*page.Btoi(i > 0)).Sample(share, i >= s.planned && s.result.Glyph != "" && !s.over).Gap(1).Put(themes.Dim, share.Name)
	}
	return l
}

// Limited is how long the limiter held an attempt back: the end of its wait for a worker, when it
// was at the head of the line, and the wait for a permit after that.
func Limited(a engine.Attempt) time.Duration { return max(a.Paced, 0) + max(a.Limiter, 0) }

// InLine is how long an attempt waited behind other jobs, before only the limiter held it.
func InLine(a engine.Attempt) time.Duration { return max(a.Queued-max(a.Paced, 0), 0) }

// ResultWord is the state word whose sign stands for how an attempt ended, or that it has not.
func ResultWord(a engine.Attempt) string {
	return human.Either(a.End.IsZero(), "RUNNING", resultWords[a.Verb])
}

// resultWords say how an attempt ended, for its sign.
var resultWords = map[engine.Verb]string{
	engine.VerbDone: "COMPLETED", engine.VerbRetry: "FAILED", engine.VerbSnooze: "HELD", engine.VerbFail: "FAILED",
	// A job that now waits for others has done its own part, and an interrupted one is no failure.
	engine.VerbAbort: "CANCELLED", engine.VerbWait: "COMPLETED", engine.VerbInterrupted: "WARN",
}
