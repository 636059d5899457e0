package wall

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStep(t *testing.T) {
	now := time.Now()
	if got := At(now); !got.Equal(now) || got.Location() != time.UTC {
		t.Errorf("at %s the wall shows %s", now, got)
	}
	back := Step(-time.Hour)
	further := Step(8 * time.Hour)
	if got := At(now).Sub(now.Round(0)); got != 7*time.Hour {
		t.Errorf("stepped by %s, want 7h", got)
	}
	further()
	back()
	if got := At(now); !got.Equal(now) {
		t.Errorf("stepped back, the wall shows %s at %s", got, now)
	}
}

// A clock that is kept goes on by the stopwatch, whatever becomes of the machine's; a reading that
// is off by more than it took moves it, ahead or back, and one that is not does nothing.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer Release()
		shows := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
		ask := func(took time.Duration, shows time.Time) {
			began := time.Now()
			time.Sleep(took)
			Keep(began, time.Now(), shows)
		}
		ask(20*time.Millisecond, shows.Add(-10*time.Millisecond)) // in the middle: it shows an even hour when it ends
		defer Step(time.Hour)()
		wants := func(want time.Time) {
			t.Helper()
			if got := Now(); !got.Equal(want) || got.Location() != time.UTC {
				t.Errorf("it shows %s, want %s", got, want)
			}
		}
		wants(shows)
		if Off() != 10*time.Millisecond {
			t.Errorf("it may be %v off", Off())
		}
		time.Sleep(time.Minute)
		wants(shows.Add(time.Minute))
		if got := time.Until(Own()); got != time.Hour {
			t.Errorf("the machine's clock is %s ahead, want an hour", got)
		}
		ask(2*time.Second, shows.Add(time.Minute+500*time.Millisecond))
		wants(shows.Add(time.Minute + 2*time.Second))
		for _, jump := range []time.Duration{time.Hour, -time.Hour} {
			ask(0, shows.Add(jump))
			wants(shows.Add(jump))
		}
		Release()
		if Off() != 0 {
			t.Errorf("the machine's clock is %v off itself", Off())
		}
		if !Now().Equal(Own()) {
			t.Error("the machine's clock does not count again")
		}
	})
}
