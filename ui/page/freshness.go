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

// Freshness is what the tracked accounts need against what the key allows.
type Freshness struct {
	Answer
	Data engine.Freshness
}

// Want is the question when it is due.
func (f *Freshness) Want(v *View) engine.Query {
	switch {
	case f.Pending, !v.Ready, v.Frozen, v.Engine.State == engine.EngineBrowse:
		return nil
	case !f.At.IsZero() && v.Now.Sub(f.At) < freshEvery && !v.Now.Before(f.At):
		return nil
	}
	f.Pending, f.At = true, v.Now
	return engine.FreshnessQuery{}
}

// Got takes the answer; false when it is another question's.
func (f *Freshness) Got(v *View, q engine.Query, a engine.Answer, err error) bool {
	return Receive[engine.FreshnessQuery](&f.Answer, v, q, a, err, &f.Data)
}

// cells say it in a row; none when nothing is tracked.
func (f *Freshness) cells(v *View) []part.Cell {
	if f.Data.Accounts == 0 {
		return nil
	}
	late := part.Cell{}
	if f.Data.Lates > 0 {
		sign := v.Theme.State("WARN")
		late = part.As(sign.Token, sign.Glyph+" "+Count(f.Data.Lates)+" late"+f.Until(v))
	}
	return v.Join(part.Plain(Count(f.Data.Accounts)+" tracked"), late, part.As(f.token(), f.Need()))
}

// Until says when those that are late are fresh.
func (f *Freshness) Until(v *View) string {
	switch at := f.Data.FreshAt; {
	case f.Data.Never:
		return ", never all fresh"
	case at.After(v.Now):
		return ", all fresh in " + human.Span(at.Sub(v.Now).Round(time.Minute))
	}
	return ""
}

// Need says for each region what its accounts need of what the key allows.
func (f *Freshness) Need() string {
	var parts []string
	for _, r := range f.Data.Regions {
		of := human.If(r.Allowed > 0, " of "+human.Count(int64(r.Allowed)))
		parts = append(parts, human.Count(int64(math.Ceil(r.Needs)))+of+" calls/h in "+r.Region)
	}
	if len(parts) == 0 {
		return f.Data.Text
	}
	return "needs " + strings.Join(parts, ", ")
}

// Text is the same as plain text, for the edge of a panel.
func (f *Freshness) Text(v *View) string {
	text := ""
	for _, c := range f.cells(v) {
		text += c.Text
	}
	return text
}

// token warns when a region needs more than the key allows.
func (f *Freshness) token() themes.Token {
	for _, r := range f.Data.Regions {
		if r.Allowed > 0 && r.Needs > r.Allowed {
			return themes.Warn
		}
	}
	return themes.Text
}
