package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Acted prints what a command did, or would do (dry). later is added to what it did: when it takes
// effect.
//
//	cancelled 3 jobs
//	undo it, as long as nothing has happened since: farsight undo 41
func Acted(o Out, r engine.Receipt, dry bool, later string) error {
	if o.JSON {
		return o.json(r)
	}
	text := r.Text
	if r.Cost != nil && dry { // what ends later for it, or that nothing does; "" where nobody has looked
		delayed := r.Cost.Delayed(time.Now())
		text += human.If(delayed != "", "; "+delayed)
	}
	// Of one job the text names it already.
	text += human.If(dry && len(r.Sample) > 0 && r.Matched > 1, "; among them "+strings.Join(r.Sample, ", "))
	text += human.If(!dry && r.Applied > 0 && later != "", "; "+later)
	// Its number in the audit is what undo takes.
	text += human.If(!dry && r.Undo, fmt.Sprintf("\nundo it, as long as nothing has happened since: farsight undo %d", r.Audit))
	// Each line is cleaned by itself: cleaning makes a sign of a line break, since one that comes from
	// outside could forge a line.
	for line := range strings.Lines(text) {
		if _, err := fmt.Fprintln(o.W, o.clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}
