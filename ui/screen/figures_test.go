package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/screen/limits"
	"github.com/farsight-console/farsight/ui/screen/overview"
	"github.com/farsight-console/farsight/ui/uitest"
)

var screens = map[page.Size][2]int{page.S: {80, 24}, page.M: {120, 36}, page.L: {200, 56}}

func drawn(p page.Page, d *page.Data, size page.Size) string {
	v := pagetest.View(d)
	v.W, v.H, v.Size = screens[size][0], screens[size][1], size
	return ansi.Strip(strings.Join(p.Draw(v), "\n"))
}

// The calls of five seconds are no rate: they are told as one after a minute.
func TestARateIsShownAfterAMinute(t *testing.T) {
	row := engine.EngineRow{State: engine.EngineLive, Started: uitest.Noon.Add(-5 * time.Second), SinceStart: true, Meter: engine.Meter{CallsPerMin: 37}}
	for size := range screens {
		d := &page.Data{Ready: true, Engine: row}
		if text := drawn(overview.New(), d, size); !strings.Contains(text, "37 calls") || strings.Contains(text, "/min") {
			t.Errorf("after five seconds at size %v:\n%s", size, text)
		}
		d.Engine.SinceStart = false
		if text := drawn(overview.New(), d, size); !strings.Contains(text, "37 calls/min") || strings.Contains(text, "since start") {
			t.Errorf("after a minute at size %v:\n%s", size, text)
		}
	}
}

// How long the engine is up is told from its first second on, on every screen.
func TestUptimeIsToldFromTheStart(t *testing.T) {
	for size := range screens {
		for age, want := range map[time.Duration]string{0: "up <1 min", 3 * time.Hour: "up 3 h"} {
			d := &page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive, Started: uitest.Noon.Add(-age)}}
			if text := drawn(overview.New(), d, size); !strings.Contains(text, want) {
				t.Errorf("%q is not told at size %v:\n%s", want, size, text)
			}
		}
		if text := drawn(overview.New(), &page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineBrowse, Started: uitest.Noon}}, size); strings.Contains(text, "up <1 min") {
			t.Errorf("no engine is up at size %v:\n%s", size, text)
		}
	}
}

// A median of answers that is minutes old says so, and a count of the server's that is stands for none; fresh
// ones, and those of an engine that does not tell their age, stand alone.
func TestV6f_AnOldReadingStandsForNothing(t *testing.T) {
	for _, c := range []struct {
		at        time.Time
		window    time.Duration
		old, over bool
	}{
		{uitest.Noon.Add(-7 * time.Minute), 10 * time.Minute, true, true}, {uitest.Noon.Add(-3 * time.Second), 10 * time.Second, false, false},
		{uitest.Noon.Add(-3 * time.Second), time.Second, false, true}, {time.Time{}, time.Second, false, false},
	} {
		d := &page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive, Meter: engine.Meter{P50: 118 * time.Millisecond, Answered: c.at}}}
		d.Limits.Buckets = []engine.BucketRow{{Host: "asia", Kind: "app", Window: c.window, Limit: 1600, Server: 1056, ServerAt: c.at}}
		for size := range screens {
			if text := drawn(overview.New(), d, size); !strings.Contains(text, "118 ms median") || strings.Contains(text, "118 ms median, 7 min ago") != c.old {
				t.Errorf("p50 of %v at size %v:\n%s", c.at, size, text)
			}
			if text := drawn(limits.New(), d, size); strings.Contains(text, "1,056") == c.over {
				t.Errorf("the server's count of %v at size %v:\n%s", c.at, size, text)
			}
		}
	}
}
