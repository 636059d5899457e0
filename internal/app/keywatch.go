package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// keyWatch watches the configuration while Riot refuses the key: a refused key
// counts as absent, so the next source applies, and a key file that is written
// meanwhile is found (spec section 2.4).
type keyWatch struct {
	keys   *keyring
	limits *ingest.Limits
	// probe makes one call that every working key may make.
	probe func(context.Context) error
	note  func(engine.Note)
}

const (
	keyLook  = time.Second
	keyAgain = 5 * time.Second // after a probe that told nothing
)

// Run looks once a second until ctx ends.
func (w keyWatch) Run(ctx context.Context) error {
	wait := keyLook
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
		wait = keyLook
		if w.limits.KeyRefused() && !w.look(ctx) {
			wait = keyAgain
		}
	}
}

// look takes the key of another source, if there is one and the refusal holds: one
// refused call proves nothing of a key. sure is false when nobody could tell.
func (w keyWatch) look(ctx context.Context) (sure bool) {
	next, ok := w.keys.another()
	if !ok {
		return true
	}
	old := w.keys.from()
	if !w.keys.Get().IsZero() {
		refused, known := w.ask(ctx)
		if !known || !refused {
			return known
		}
		w.keys.refuse()
	}
	w.keys.take(next)
	w.limits.KeyChanged()
	text := fmt.Sprintf("the key of %s is used now: %s", safe.Text(next.source), w.keys.Shown())
	if old != "" {
		text = fmt.Sprintf("Riot refuses the key of %s; %s", safe.Text(old), text)
	}
	w.note(engine.Note{At: time.Now(), Level: engine.LevelWarn, Text: text})
	return true
}

// ask finds out whether the key in use is refused.
func (w keyWatch) ask(ctx context.Context) (refused, known bool) {
	err := w.probe(ctx)
	e, _ := errors.AsType[*riot.Error](err)
	switch {
	case err == nil:
		w.limits.KeyWorks()
		return false, true
	case e != nil && e.Reason.Denied():
		return true, true
	}
	return false, false
}

// probeKey makes the call for parts.
func (p *parts) probeKey(ctx context.Context) error {
	return p.client.Probe(riot.WithJob(ctx, "key source", limit.Interactive), route.Europe, "")
}

// keyWorked reports whether a sync has reason to wait while its key is refused: it
// has worked, or another source has a key that nobody has tried.
func (p *parts) keyWorked(keys *keyring) func() bool {
	return func() bool {
		if p.limits.Proven() {
			return true
		}
		_, more := keys.another()
		return more
	}
}
