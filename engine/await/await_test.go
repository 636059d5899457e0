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
