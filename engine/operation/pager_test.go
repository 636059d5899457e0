package operation

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

func (p *tried) Place(_ context.Context, ask engine.CallAsk, _ engine.Actor, dry bool) (engine.Receipt, error) {
	if dry {
		p.dry++
	} else {
		p.real++
	}
	return engine.Receipt{Matched: 1, Text: engine.CutNumber(ask.To) + " is called"}, nil
}

// A call of a user's own is placed by the pager, in a demo, too, whose telephone is
// simulated, but not by an engine that works on one sync; the audit has no whole number.
func TestOwnCallIsThePagers(t *testing.T) {
	p := &tried{}
	cmd := engine.Command{Op: engine.OpCall, Call: &engine.CallAsk{To: "+12025550143", Say: "Hello."}}
	for name, opt := range map[string]Options{"a sync alone": {Pager: p, OneSync: true}, "nobody": {}} {
		c := New(opt)
		if _, err := c.call(t.Context(), cmd); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, demo := range []bool{true, false} {
		c := New(Options{Pager: p, Demo: demo})
		if _, err := c.call(t.Context(), cmd); err != nil {
			t.Error(err)
		}
		if _, err := c.call(t.Context(), engine.Command{Op: engine.OpCall}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("a call that is none: %v", err)
		}
	}
	if p.real != 2 || p.dry != 0 {
		t.Errorf("%d real, %d dry", p.real, p.dry)
	}
	if got := targetOf(engine.Command{Op: engine.OpCollect}, engine.Receipt{Collection: "kr-solo-master+"}); got != "collection kr-solo-master+" {
		t.Errorf("a collection is named %q", got)
	}
	if got := target(cmd); got != "number …0143" {
		t.Errorf("the audit says %q", got)
	}
}

// A demo tells nobody, whatever is configured, and neither does who has no pager.
func TestPageIsRefusedInADemo(t *testing.T) {
	p := &tried{}
	test := engine.Command{Op: engine.OpPage, Channel: "call"}
	for name, opt := range map[string]Options{"a demo": {Pager: p, Demo: true}, "nobody": {}} {
		c := New(opt)
		if _, err := c.page(t.Context(), test); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := New(Options{Pager: p})
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
