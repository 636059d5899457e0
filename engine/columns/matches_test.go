package columns

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// What is not known is null, never 0 or false; a remake is neither won nor lost.
func TestW1_AnUnknownResultIsNone(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	seat := match{QueueID: 420, FetchedAt: at, Champion: "Ahri", Kills: new(0), Deaths: new(2), Assists: new(1)}
	won, lost, remake := seat, seat, seat
	won.Won, lost.Won, remake.Remake = new(true), new(false), true
	for name, c := range map[string]struct {
		row                  match
		result, score, flags string
	}{
		"won":       {won, "win", "0/2/1", `{"kills":0,"won":true}`},
		"lost":      {lost, "loss", "0/2/1", `{"kills":0,"won":false}`},
		"remake":    {remake, "remake", "0/2/1", `{"kills":0,"won":null}`},
		"unfetched": {match{Status: "unfetched"}, "", "", `{"kills":null,"won":null}`},
	} {
		if got, _ := Result(&c.row); got != c.result || Score(&c.row) != c.score {
			t.Errorf("%s: %q and %q, want %q and %q", name, got, Score(&c.row), c.result, c.score)
		}
		raw, err := json.Marshal(c.row)
		var told struct {
			Kills json.RawMessage `json:"kills"`
			Won   json.RawMessage `json:"won"`
		}
		if err := json.Unmarshal(raw, &told); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(told); err != nil || string(got) != c.flags {
			t.Errorf("%s is told as %s, want %s (%v)", name, got, c.flags, err)
		}
	}
}

func TestW2_AQueueHasOneName(t *testing.T) {
	at := time.Now()
	for _, c := range []struct {
		queue int
		mode  string
		want  string
	}{{420, "CLASSIC", "Ranked Solo"}, {1710, "CHERRY", "Arena"}, {1840, "STRAWBERRY", "Swarm"}, {2400, "KIWI", "ARAM Mayhem"}, {0, "CLASSIC", "Custom"}, {0, "", ""}, {9999, "CHERRY", "queue 9999"}} {
		row := engine.MatchRow{QueueID: c.queue, Mode: c.mode, FetchedAt: at}
		if got := Mode(&row); got != c.want {
			t.Errorf("queue %d in mode %q is %q, want %q", c.queue, c.mode, got, c.want)
		}
	}
	if got := Mode(&engine.MatchRow{}); got != "" {
		t.Errorf("a match that was not fetched is of %q", got)
	}
}

func TestW4_TimesOfExportsHaveThreeDigits(t *testing.T) {
	for at, want := range map[time.Time]string{
		time.Date(2026, 11, 20, 3, 31, 2, 118e6, time.UTC): "2026-11-20T03:31:02.118Z",
		time.Date(2026, 11, 20, 3, 31, 2, 100e6, time.UTC): "2026-11-20T03:31:02.100Z",
		time.Date(2026, 11, 20, 3, 31, 2, 0, time.UTC):     "2026-11-20T03:31:02.000Z",
	} {
		if got := *instant(at); got != want {
			t.Errorf("%v is %s, want %s", at, got, want)
		}
	}
}
