package page

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestOverviewAndLimitsNameTheBucketThatPaces: the one that the limiter names, not the
// one that is the fullest for an instant nor one of a host that nothing waits for.
func TestOverviewAndLimitsNameTheBucketThatPaces(t *testing.T) {
	fullest := engine.BucketRow{Host: "asia", Kind: "app", Window: time.Second, Used: 19, Limit: 20, Waiting: 700}
	paces := engine.BucketRow{Host: "asia", Kind: "app", Window: 2 * time.Minute, Used: 60, Limit: 100, Waiting: 700, Paces: true}
	other := engine.BucketRow{Host: "kr", Kind: "app", Window: time.Hour, Used: 10, Limit: 10, Paces: true}
	v := view(&Data{Ready: true, Limits: engine.LimitsRow{Buckets: []engine.BucketRow{fullest, paces, other}}})
	if got := holds(v); got != "asia app lets 100 through per 2 min" {
		t.Errorf("the overview says %q", got)
	}
	for b, want := range map[*engine.BucketRow]string{&fullest: "700 wait", &paces: "paces 700 waiting", &other: ""} {
		if _, more := bucketState(v, *b); more != want {
			t.Errorf("limits says %q of %s per %s, not %q", more, b.Host, b.Window, want)
		}
	}
	v.Limits.Waiting = []engine.WaiterRow{{Host: "asia", Until: v.Now.Add(1200 * time.Millisecond)}}
	if got := holds(v); got != "asia app 2 min, next call in 2 s" {
		t.Errorf("the overview says %q", got)
	}
}

// TestTitleCountsDownWhenNothingMayBeSent: how long, and how many calls the window
// that opens brings; nothing while calls may go.
func TestTitleCountsDownWhenNothingMayBeSent(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	in := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	bucket := func(window time.Duration, used, limit int, reset time.Time) engine.BucketRow {
		return engine.BucketRow{Host: "asia", Kind: "app", Window: window, Used: used, Limit: limit, Server: -1, Reset: reset}
	}
	open, full := bucket(time.Second, 3, 20, in(1)), bucket(2*time.Minute, 100, 100, in(41))
	blocked := bucket(time.Second, 0, 20, time.Time{})
	blocked.Blocked, blocked.BlockedBy = in(10), "429 application"
	held := bucket(time.Second, 0, 20, time.Time{})
	held.BlockedBy = blockedFrozen
	other := engine.BucketRow{Host: "europe", Kind: "app", Window: time.Second, Used: 1, Limit: 20}
	for _, c := range []struct {
		name    string
		buckets []engine.BucketRow
		want    string
	}{
		{"open", []engine.BucketRow{open, bucket(2*time.Minute, 83, 100, in(41))}, ""},
		{"full, bounded by the smaller window", []engine.BucketRow{open, full, other}, "20 calls in 41 s"},
		{"full alone", []engine.BucketRow{full}, "100 calls in 41 s"},
		{"a full second is no wait", []engine.BucketRow{bucket(time.Second, 20, 20, in(1))}, ""},
		{"blocked, with some room left then", []engine.BucketRow{blocked, bucket(2*time.Minute, 93, 100, in(41))}, "7 calls in 10 s"},
		{"frozen without an end", []engine.BucketRow{held}, ""},
		{"nothing known", nil, ""},
	} {
		if len(c.buckets) > 0 {
			c.buckets[0].Paces = true
		}
		v := &View{Data: &Data{Limits: engine.LimitsRow{Buckets: c.buckets}}, Now: now}
		if got := v.NextCalls(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if v.Ticks != (c.want != "") {
			t.Errorf("%s: ticks %v", c.name, v.Ticks)
		}
	}
}
