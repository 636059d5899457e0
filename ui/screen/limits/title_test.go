package limits

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestLimitsOfASimulatorBlameNoLimiter: its 429s are the fault of clients that are none of ours.
func TestLimitsOfASimulatorBlameNoLimiter(t *testing.T) {
	for state, want := range map[engine.EngineState]string{engine.EngineBrowse: "3, 2 broke a limit", engine.EngineLive: "3, 2 unexpected"} {
		v := pagetest.View(&page.Data{Ready: true})
		v.Engine.State, v.Engine.Throttled, v.Engine.Unforeseen = state, 3, 2
		if got := howGood(v); got != want {
			t.Errorf("%s: %s", state, got)
		}
	}
}

// TestA429IsListedWithTheFrameThatCountsIt, though the calls of the recorder move on once a second.
func TestA429IsListedWithTheFrameThatCountsIt(t *testing.T) {
	p := New()
	v := pagetest.View(&page.Data{Ready: true})
	v.Calls = []engine.CallRow{{Seq: 1, Host: "europe", Status: 200, At: v.Now}}
	p.Draw(v)
	v.Now = v.Now.Add(100 * time.Millisecond)
	v.Calls = append(v.Calls, engine.CallRow{Seq: 2, Host: "europe", Status: 429, Class: "429.app", At: v.Now})
	v.Engine.Throttled = 1
	if got := ansi.Strip(strings.Join(p.Draw(v), "\n")); !strings.Contains(got, "429s 1") || !strings.Contains(got, v.Now.Format("15:04:05")+" app") {
		t.Error(got)
	}
}

// TestAWideScreenNamesEachBucketWhole: grandmaster has room at 200 cells.
func TestAWideScreenNamesEachBucketWhole(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	v.W, v.H, v.Size = 200, 56, page.L
	for _, method := range []string{"league-v4.challenger", "league-v4.grandmaster"} {
		v.Limits.Buckets = append(v.Limits.Buckets, engine.BucketRow{Host: "kr", Method: method, Kind: "method", Limit: 30, Window: 10 * time.Second})
	}
	if got := ansi.Strip(strings.Join(New().Draw(v), "\n")); !strings.Contains(got, "challenger ") || !strings.Contains(got, "grandmaster ") {
		t.Error(got)
	}
}
