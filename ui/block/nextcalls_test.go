package block

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestOverviewAndLimitsNameTheBucketThatPaces: the one that the limiter names, not the
// one that is the fullest for an instant nor one of a host that nothing waits for.
func TestOverviewAndLimitsNameTheBucketThatPaces(t *testing.T) {
	fullest := engine.BucketRow{Host: "asia", Kind: "app", Window: time.Second, Used: 19, Limit: 20, Waiting: 700}
	paces := engine.BucketRow{Host: "asia", Kind: "app", Window: 2 * time.Minute, Used: 60, Limit: 100, Waiting: 700, Paces: true}
	other := engine.BucketRow{Host: "kr", Kind: "app", Window: time.Hour, Used: 10, Limit: 10, Paces: true}
	v := pagetest.View(&page.Data{Ready: true, Limits: engine.LimitsRow{Buckets: []engine.BucketRow{fullest, paces, other}}})
	if b, _ := v.Limits.Pacing(""); b.Window != paces.Window {
		t.Errorf("the overview shows %v", b)
	}
	for b, want := range map[*engine.BucketRow]string{&fullest: "700 wait", &paces: "paces 700 waiting", &other: ""} {
		if _, more := BucketState(v, *b); more != want {
			t.Errorf("limits says %q of %s per %s, not %q", more, b.Host, b.Window, want)
		}
	}
}

// TestTitleCountsDownWhenNothingMayBeSent: how long, and how many calls may then be sent,
// as the engine tells it of the host that sets the pace; nothing while calls may go.
func TestTitleCountsDownWhenNothingMayBeSent(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	shut := func(in time.Duration, calls int) engine.LimitHost {
		return engine.LimitHost{Host: "asia", Opens: now.Add(in), Brings: calls}
	}
	for _, c := range []struct {
		name  string
		hosts []engine.LimitHost
		want  string
	}{
		{"open", []engine.LimitHost{{Host: "asia"}}, ""},
		{"full", []engine.LimitHost{{Host: "kr"}, shut(41*time.Second, 20)}, "20 calls in 41 s"},
		{"places come free one by one", []engine.LimitHost{shut(3*time.Second, 1)}, "1 call in 3 s"},
		{"a full second is no wait", []engine.LimitHost{shut(time.Second, 20)}, ""},
		{"another host", []engine.LimitHost{{Host: "kr", Opens: now.Add(time.Minute), Brings: 9}}, ""},
		{"nothing known", nil, ""},
	} {
		v := &page.View{Data: &page.Data{Limits: engine.LimitsRow{Hosts: c.hosts, Buckets: []engine.BucketRow{{Host: "asia", Paces: true}}}}, Now: now}
		if got := v.NextCalls(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if v.Ticks != (c.want != "") {
			t.Errorf("%s: ticks %v", c.name, v.Ticks)
		}
	}
}
