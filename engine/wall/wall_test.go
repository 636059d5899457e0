package wall

import (
	"testing"
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
