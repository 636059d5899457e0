package await

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestABellThatRangTwiceWakesOnce(t *testing.T) {
	b := NewBell()
	b.Ring()
	b.Ring()
	<-b
	select {
	case <-b:
		t.Error("the second ring was heard by itself")
	default:
	}
	var none Bell
	none.Ring() // must not block
}

func TestPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if !Pause(ctx, 400*time.Millisecond) || time.Since(began) != 400*time.Millisecond {
			t.Errorf("paused %v", time.Since(began))
		}
		if Pause(ctx, time.Hour) || time.Since(began) != time.Second {
			t.Errorf("went on after %v", time.Since(began))
		}
	})
}

// TestS1_14_BeatsFallTogether: two who wait for a beat from different instants wake at the same one.
func TestS1_14_BeatsFallTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, wait := range []time.Duration{0, 1, 300 * time.Millisecond, 999 * time.Millisecond} {
			time.Sleep(wait)
			time.Sleep(ToBeat(time.Now(), time.Second))
			if now := time.Now(); !now.Equal(now.Truncate(time.Second)) {
				t.Errorf("from %v it woke at %v", wait, now)
			}
		}
	})
}
