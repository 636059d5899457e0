package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
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
	var b strings.Builder
	b.WriteString(r.Text)
	if r.Cost != nil && dry { // what ends later for it, or that nothing does; "" where nobody has looked
		if text := r.Cost.Delayed(time.Now()); text != "" {
			b.WriteString("; " + text)
		}
	}
	// Of one job the text names it already.
	if dry && len(r.Sample) > 0 && r.Matched > 1 {
		b.WriteString("; among them " + strings.Join(r.Sample, ", "))
	}
	if !dry && r.Applied > 0 && later != "" {
		b.WriteString("; " + later)
	}
	if !dry && r.Undo { // its number in the audit is what undo takes
		fmt.Fprintf(&b, "\nundo it, as long as nothing has happened since: farsight undo %d", r.Audit)
	}
	// Each line is cleaned by itself: cleaning makes a sign of a line break, since one that comes from
	// outside could forge a line.
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(o.W, o.clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}
