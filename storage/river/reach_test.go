package river

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/riot"
)

// Three calls in a row that have not left cut a process off, until a knock at their host passes; an
// answer of whatever kind, and a call that was only not answered in time, are no part of a row.
func TestWhoIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // of knocks and away
		var knocks []time.Duration
		refused := errors.New("connection refused")
		away, began := refused, time.Now()
		r := NewReach(func(_ context.Context, host string) error {
			if host != "europe" {
				t.Errorf("it knocks at %s", host)
			}
			mu.Lock()
			defer mu.Unlock()
			knocks = append(knocks, time.Since(began))
			return away
		}, zerolog.Nop())
		made := func() []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(knocks)
		}
		answers := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			away = err
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { r.run(ctx); close(done) }()
		fail := func(n int) {
			for range n {
				r.Note("europe", 0, riot.ClassLocal)
			}
		}
		for _, status := range []int{200, 503, 404} {
			fail(cutOffAfter - 1)
			r.Note("asia", status, "")
		}
		fail(cutOffAfter - 1)
		r.Note("europe", 0, riot.ClassTimeout)
		if !r.CutOff().IsZero() {
			t.Error("it is cut off before its time")
		}
		fail(1)
		if !r.CutOff().Equal(time.Now()) {
			t.Errorf("cut off since %s", r.CutOff())
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := made(); !slices.Equal(got, []time.Duration{time.Second, 3 * time.Second, 7 * time.Second}) {
			t.Errorf("it knocks after %v", got)
		}
		answers(nil)
		time.Sleep(5*time.Second + time.Millisecond)
		synctest.Wait()
		if !r.CutOff().IsZero() || len(made()) != 4 {
			t.Errorf("cut off since %s, after %v", r.CutOff(), made())
		}

		// What a knock takes to be right and calls do not: it waits for longer.
		fail(cutOffAfter)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if r.CutOff().IsZero() {
			t.Error("it forgets how it was")
		}
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		if !r.CutOff().IsZero() {
			t.Error("it is cut off for good")
		}
		r.Note("europe", 200, "")
		fail(cutOffAfter)
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		if !r.CutOff().IsZero() {
			t.Error("an answer is forgotten")
		}

		// A call that was under way when it was cut off, and is answered, says it first.
		answers(refused)
		fail(cutOffAfter)
		r.Note("asia", 200, "")
		n := len(made())
		time.Sleep(time.Hour)
		synctest.Wait()
		if !r.CutOff().IsZero() || len(made()) > n+1 {
			t.Errorf("cut off since %s, %d knocks", r.CutOff(), len(made())-n)
		}
		stop()
		<-done
	})
}
