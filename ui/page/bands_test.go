package page

import (
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV1k_AReasonCountsAsItsWindow: the limiter's count in a reason is of the moment at which that was read; it is told
// by the window of the frame, and by our own count of any such span where that is what holds calls.
func TestV1k_AReasonCountsAsItsWindow(t *testing.T) {
	now := uitest.Noon
	window := func(method string, limit, used, server int) engine.BucketRow {
		return engine.BucketRow{Host: "europe", Kind: "app", Method: method, Window: 2 * time.Minute, Limit: limit, Used: used, Server: server, ServerAt: now, Reset: now.Add(time.Minute)}
	}
	capped := window("match-v5.ids", 100, 30, 30)
	capped.Cap = 40
	v := view(&Data{Ready: true, Limits: engine.LimitsRow{Buckets: []engine.BucketRow{window("", 20, 3, 3), window("", 100, 83, 83), window("match-v5.match", 2000, 900, 12), capped}}})
	for why, want := range map[string]string{
		"app:europe 92/100":                                        "app 83/100 used",
		"app:europe 92/100, spread over the window":                "app 83/100, paced",
		"app:europe 92/100, the rest kept for the operator":        "app 83/100, the rest kept for the operator",
		"app:europe 20/20":                                         "app 3/20 used",
		"far back in line: app:europe 92/100":                      "far back in line: app 83/100 used",
		"match-v5.match:europe 2000/2000":                          "match calls 900/2000 used in any 2 min",
		"match-v5.ids:europe 40/40":                                "ids calls 30/40 used",
		"match-v5.timeline:europe 7/9":                             "timeline calls 7/9 used",
		"app:europe recovering from a 429":                         "app recovering from a 429",
		"app:europe held by a 429 (app), asked again every 10 min": "app held by a 429 (app), asked again every 10 min",
		"9th in line": "9th in line",
	} {
		if got := BriefWhy(v, why); got != want {
			t.Errorf("%s: %q, want %q", why, got, want)
		}
	}
}

func TestBandsStayByTheirRank(t *testing.T) {
	all := []Band{{Least: 4, Most: 4, Keep: 1}, {Least: 3, Most: 3, Keep: 3}, {Least: 6, Most: 11, Keep: 2}, {Least: 5, Most: 9, Keep: 4}}
	for h, want := range map[int][]int{
		40: {4, 3, 11, 9}, 30: {4, 3, 11, 9}, 26: {4, 3, 11, 5}, 21: {4, 3, 6, 5}, 19: {4, 3, 7, 5}, 16: {4, 3, 7, 0}, 11: {4, 0, 6, 0}, 9: {4, 0, 0, 0}, 2: {0, 0, 0, 0},
	} {
		if got, _ := shareRows(h, all, true); !slices.Equal(got, want) {
			t.Errorf("%d rows are %v, want %v", h, got, want)
		}
	}
}

// TestAWindowIsCalledInWords: with its host where there are several, and whose calls it counts.
func TestAWindowIsCalledInWords(t *testing.T) {
	v := &View{Data: &Data{Limits: engine.LimitsRow{Buckets: []engine.BucketRow{{Host: "asia"}}}}}
	for i, names := range []map[string]string{
		{"app:asia 120s": "the 2 min window", "match-v5.match:asia 2000/10s": "the 10 s window of match calls", "in line": "in line"},
		{"app:asia 100/120s": "asia's 2 min window", "app:americas 120s": "americas' 2 min window"},
	} {
		for name, want := range names {
			if got := v.WindowCalled(name); got != want {
				t.Errorf("%d hosts: %s is called %q", i+1, name, got)
			}
		}
		v.Limits.Buckets = append(v.Limits.Buckets, engine.BucketRow{Host: "europe"})
	}
}
