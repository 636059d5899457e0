package page

import (
	"math"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// freshEvery is how often the engine is asked whether the key allows what the
// tracked accounts need: it moves with cadences, which are hours.
const freshEvery = 30 * time.Second

// freshness is what the tracked accounts need against what the key allows.
type freshness struct {
	Answer
	data engine.Freshness
}

// want is the question when it is due.
func (f *freshness) want(v *View) engine.Query {
	switch {
	case f.Pending, !v.Ready, v.Frozen, v.Engine.State == engine.EngineBrowse:
		return nil
	case !f.At.IsZero() && v.Now.Sub(f.At) < freshEvery && !v.Now.Before(f.At):
		return nil
	}
	f.Pending, f.At = true, v.Now
	return engine.FreshnessQuery{}
}

// got takes the answer; false when it is another question's.
func (f *freshness) got(v *View, q engine.Query, a engine.Answer, err error) bool {
	return Receive[engine.FreshnessQuery](&f.Answer, v, q, a, err, &f.data)
}

// cells say it in a row; none when nothing is tracked.
func (f *freshness) cells(v *View) []part.Cell {
	if f.data.Accounts == 0 {
		return nil
	}
	late := part.Cell{}
	if f.data.Lates > 0 {
		sign := v.Theme.State("WARN")
		late = part.As(sign.Token, sign.Glyph+" "+Count(f.data.Lates)+" late"+f.until(v))
	}
	return v.Join(part.Plain(Count(f.data.Accounts)+" tracked"), late, part.As(f.token(), f.need()))
}

// until says when those that are late are fresh.
func (f *freshness) until(v *View) string {
	switch at := f.data.FreshAt; {
	case f.data.Never:
		return ", never all fresh"
	case at.After(v.Now):
		return ", all fresh in " + human.Span(at.Sub(v.Now).Round(time.Minute))
	}
	return ""
}

// need says for each region what its accounts need of what the key allows.
func (f *freshness) need() string {
	var parts []string
	for _, r := range f.data.Regions {
		of := ""
		if r.Allowed > 0 {
			of = " of " + human.Count(int64(r.Allowed))
		}
		parts = append(parts, human.Count(int64(math.Ceil(r.Needs)))+of+" calls/h in "+r.Region)
	}
	if len(parts) == 0 {
		return f.data.Text
	}
	return "needs " + strings.Join(parts, ", ")
}

// text is the same as plain text, for the edge of a panel.
func (f *freshness) text(v *View) string {
	text := ""
	for _, c := range f.cells(v) {
		text += c.Text
	}
	return text
}

// token warns when a region needs more than the key allows.
func (f *freshness) token() themes.Token {
	for _, r := range f.data.Regions {
		if r.Allowed > 0 && r.Needs > r.Allowed {
			return themes.Warn
		}
	}
	return themes.Text
}
