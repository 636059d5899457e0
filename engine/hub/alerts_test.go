package hub_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
)

// board is what is evaluated, replaced as a whole.
type board struct {
	mu   sync.Mutex
	rows []engine.AlertRow
}

func (b *board) set(rows ...engine.AlertRow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = rows
}

func (b *board) get() []engine.AlertRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rows
}

// watching runs a hub and keeps what one console is told; who reads it calls synctest.Wait
// before. What it gives ends both.
func watching(t *testing.T, h *hub.Hub, got *[]engine.Update) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var both sync.WaitGroup
	both.Go(func() { _ = h.Run(ctx) })
	both.Go(func() {
		for u := range h.Watch(ctx) {
			*got = append(*got, u)
		}
	})
	return func() { cancel(); both.Wait() }
}

// Consoles get all alerts with the snapshot, then again when one looks different,
// and an idle engine wakes nobody.
func TestAlertsReachConsolesWhenTheyLookDifferent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b board
		key := func(left time.Duration, s engine.AlertState) engine.AlertRow {
			return engine.AlertRow{ID: "key-expires", State: s, Unit: engine.AlertDuration, Known: true, Value: left.Seconds(), Limit: 86400, History: []float64{90000, left.Seconds()}}
		}
		b.set(key(21*time.Hour+30*time.Second, engine.AlertFiring))
		h := hub.New(hub.Options{Source: still{}, Accounts: stored(), Alerts: b.get})
		var got []engine.Update
		defer watching(t, h, &got)()
		time.Sleep(1100 * time.Millisecond) // between two beats of the hub
		for s := 29; s > 0; s-- {           // a second less each time: still 21h
			b.set(key(21*time.Hour+time.Duration(s)*time.Second, engine.AlertFiring))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if len(got) != 1 || !got[0].Snapshot || len(got[0].Alerts) != 1 {
			t.Fatalf("%d updates, want the snapshot alone: %+v", len(got), got)
		}
		b.set(key(20*time.Hour+59*time.Minute, engine.AlertFiring), engine.AlertRow{ID: "429", State: engine.AlertOK})
		time.Sleep(time.Second)
		b.set(key(20*time.Hour+59*time.Minute, engine.AlertAcknowledged), engine.AlertRow{ID: "429", State: engine.AlertOK})
		time.Sleep(time.Second)
		h.Publish(1, []engine.Change{{Attempt: &engine.Attempt{Number: 1}, Of: "7"}}) // no row is about an attempt
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 3 || len(got[1].Alerts) != 2 || got[2].Alerts[0].State != engine.AlertAcknowledged {
			t.Errorf("%d updates: %+v", len(got), got)
		}
	})
}

// TestS1_14_WhileNothingChangesTheHubLooksOnceASecond, and four times once something has.
func TestS1_14_WhileNothingChangesTheHubLooksOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b board
		var looks atomic.Int32
		h := hub.New(hub.Options{Source: still{}, Accounts: stored(), Alerts: func() []engine.AlertRow { looks.Add(1); return b.get() }})
		var got []engine.Update
		defer watching(t, h, &got)()
		in := func(span time.Duration, each func()) int32 {
			synctest.Wait()
			before := looks.Load()
			for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				each()
			}
			return looks.Load() - before
		}
		time.Sleep(3100 * time.Millisecond) // the first snapshot is told, and looked after
		if n := in(10*time.Second, func() {}); n != 10 {
			t.Errorf("%d looks in ten idle seconds", n)
		}
		n := 0.0
		busy := func() { n++; b.set(engine.AlertRow{ID: "429", Known: true, Value: n}) }
		in(2*time.Second, busy)
		if n := in(10*time.Second, busy); n < 38 || n > 41 {
			t.Errorf("%d looks in ten busy seconds", n)
		}
	})
}
