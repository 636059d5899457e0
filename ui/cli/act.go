package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Acted prints what a command did, or would do. later is added to what it did: when
// it takes effect.
func Acted(o Out, r engine.Receipt, dry bool, later string) error {
	if o.JSON {
		return o.json(r)
	}
	var b strings.Builder
	b.WriteString(r.Text)
	if r.Cost != nil && dry {
		b.WriteString(delayed(*r.Cost))
	}
	if dry && len(r.Sample) > 0 && r.Matched > 1 {
		b.WriteString("; among them " + strings.Join(r.Sample, ", "))
	}
	if !dry && r.Applied > 0 && later != "" {
		b.WriteString("; " + later)
	}
	if !dry && r.Undo {
		fmt.Fprintf(&b, "\nundo it, as long as nothing has happened since: farsight undo %d", r.Audit)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(o.W, o.clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}

// delayed adds what ends later for a command, if somebody has looked.
func delayed(c engine.Cost) string {
	text := c.Delayed(time.Now())
	if text == "" {
		return ""
	}
	return "; " + text
}
