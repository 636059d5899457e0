package keyring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
)

// Watch watches the configuration while Riot refuses the key: a refused key
// counts as absent, so the next source applies, and a key file that is written
// meanwhile is found.
type Watch struct {
	Keys   *Ring
	Limits Limits
	// Probe makes one call that every working key may make.
	Probe func(context.Context) error
	Note  func(engine.Note)
}

// Limits knows what became of the calls that were made with the key.
type Limits interface {
	KeyRefused() bool // Riot refuses it, and nothing has been answered since
	KeyWorks()        // a call has shown that it does work
	KeyChanged()      // another one is used from now on
}

// Pauses between two looks at the key.
const (
	keyLook  = time.Second
	keyAgain = 5 * time.Second // after a probe that told nothing
)

// Run looks once a second until ctx ends.
func (w Watch) Run(ctx context.Context) error {
	wait := await.ToBeat(time.Now(), keyLook)
	for {
		if !await.Pause(ctx, wait) {
			return nil
		}
		wait = await.ToBeat(time.Now(), keyLook)
		if w.Limits.KeyRefused() && !w.tryOther(ctx) {
			wait = keyAgain
		}
	}
}

// tryOther takes the key of another source, if there is one and the refusal holds: one
// refused call proves nothing of a key. sure is false when nobody could tell.
func (w Watch) tryOther(ctx context.Context) (sure bool) {
	next, ok := w.Keys.another()
	if !ok {
		return true
	}
	old := w.Keys.From()
	if !w.Keys.Get().IsZero() {
		refused, known := w.ask(ctx)
		if !known || !refused {
			return known
		}
		w.Keys.refuse()
	}
	w.Keys.changing.Store(true)
	w.Keys.use(next)
	w.Limits.KeyChanged()
	w.Keys.changing.Store(false)
	text := fmt.Sprintf("the key of %s is used now: %s", safe.Text(next.source), w.Keys.Shown())
	if old != "" {
		text = fmt.Sprintf("Riot refuses the key of %s; %s", safe.Text(old), text)
	}
	w.Note(engine.Note{At: time.Now(), Level: engine.LevelWarn, Text: text})
	return true
}

// ask finds out whether the key in use is refused.
func (w Watch) ask(ctx context.Context) (refused, known bool) {
	err := w.Probe(ctx)
	e, _ := errors.AsType[*riot.Error](err)
	switch {
	case err == nil:
		w.Limits.KeyWorks()
		return false, true
	case e != nil && e.Reason.Denied():
		return true, true
	}
	return false, false
}
