package swap

import (
	"context"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/leak"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { leak.Main(m) }

// TestItWaitsAndAnswers: without an engine a console is told so, and who asks waits.
func TestItWaitsAndAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(false)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		began := time.Now()
		if _, err := s.Find(ctx, engine.StatusQuery{}); err == nil || time.Since(began) != patience || !strings.Contains(err.Error(), "there is no engine now") {
			t.Errorf("it answers %v after %s", err, time.Since(began))
		}
		var seen atomic.Pointer[engine.Update]
		done := make(chan struct{})
		go func() {
			defer close(done)
			for u := range s.Watch(ctx) {
				seen.Store(&u)
			}
		}()
		synctest.Wait()
		s.Down("the engine was killed")
		synctest.Wait()
		if u := seen.Load(); u == nil || u.Engine.State != engine.EngineOpening || u.Engine.Why != "the engine was killed" || len(u.Notes) != 1 {
			t.Errorf("the console was told %+v", u)
		}
		stop()
		<-done
	})
}

// host is an engine that answers with its name.
type host struct {
	name string
	fail func() error // before it answers; nil = it does not
}

func (h host) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		if yield(engine.Update{Engine: &engine.EngineRow{State: engine.EngineLive, Boot: h.name}}) {
			<-ctx.Done()
		}
	}
}

func (h host) Do(context.Context, engine.Command) (engine.Receipt, error) {
	if h.fail != nil {
		return engine.Receipt{}, h.fail()
	}
	return engine.Receipt{Text: h.name}, nil
}

func (h host) Find(context.Context, engine.Query) (engine.Answer, error) {
	if h.fail != nil {
		return nil, h.fail()
	}
	return engine.StatusAnswer{Engine: engine.EngineRow{Boot: h.name}}, nil
}

// TestTheNextEngineTakesOver: who watches sees the next engine, a question that an
// engine fell over is asked again, a command is not.
func TestTheNextEngineTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(true)
		ctx, stop := context.WithCancel(context.Background())
		var boots []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			for u := range s.Watch(ctx) {
				boots = append(boots, string(u.Engine.State)+" "+u.Engine.Boot)
				if !u.Engine.Demo && u.Engine.State == engine.EngineOpening {
					t.Error("it does not say that it is a demo")
				}
			}
		}()
		synctest.Wait()
		fall := func() error { // the first engine falls over what it is asked
			s.Down("it fell")
			return engine.ErrGone
		}
		s.Up(host{name: "first", fail: fall})
		synctest.Wait()
		if !s.CaughtUp() {
			t.Error("who watches has not heard of the first engine")
		}
		if _, err := s.Do(ctx, engine.Command{}); err == nil || !strings.Contains(err.Error(), "the engine fell while") {
			t.Errorf("a command that an engine fell over: %v", err)
		}
		synctest.Wait()
		if s.CaughtUp() {
			t.Error("there is no engine to have heard of")
		}
		s.Up(host{name: "second", fail: fall})
		time.AfterFunc(time.Second, func() { s.Up(host{name: "third"}) })
		a, err := s.Find(ctx, engine.StatusQuery{})
		if err != nil || a.(engine.StatusAnswer).Engine.Boot != "third" {
			t.Errorf("a question that an engine fell over: %+v, %v", a, err)
		}
		synctest.Wait()
		stop()
		<-done
		seen := strings.Join(boots, ", ")
		for _, name := range []string{"first", "third"} {
			if !strings.Contains(seen, name) {
				t.Errorf("who watches saw %s", seen)
			}
		}
	})
}
