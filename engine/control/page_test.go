package control

import (
	"context"
	"errors"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// tried is a pager that counts.
type tried struct{ real, dry int }

func (p *tried) Try(_ context.Context, name string, _ engine.Actor, dry bool) (engine.Receipt, error) {
	if dry {
		p.dry++
	} else {
		p.real++
	}
	return engine.Receipt{Matched: 1, Text: "to " + name}, nil
}

// A demo tells nobody, whatever is configured, and neither does who has no pager.
func TestPageIsRefusedInADemo(t *testing.T) {
	p := &tried{}
	test := engine.Command{Op: engine.OpPage, Channel: "call"}
	for name, opt := range map[string]Options{"a demo": {Pager: p, Demo: true}, "nobody": {}} {
		c := &Control{opt: opt}
		if _, err := c.page(t.Context(), test); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := &Control{opt: Options{Pager: p}}
	for _, test.DryRun = range []bool{true, false} {
		if _, err := c.page(t.Context(), test); err != nil {
			t.Error(err)
		}
	}
	if p.dry != 1 || p.real != 1 {
		t.Errorf("%d dry, %d real", p.dry, p.real)
	}
	if got := target(test); got != "pager call" {
		t.Errorf("the audit says %q", got)
	}
}
