package sim

import (
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// Demo is the simulator behind `farsight demo`: three accounts whose sync takes minutes, a small ladder, and a fault plan
// that shows within a minute a 429 handled, retries after 503 and 500, and a match that is gone.
func Demo(seed uint64) Options {
	return Options{
		Seed: seed,
		// Ten times the pace of a development key, for nobody watches for two minutes.
		Limits: Limits{App: []Limit{{20, time.Second}, {100, 12 * time.Second}}},
		Players: []PlayerSpec{
			{RiotID: "Night Heron#DEMO", Platform: route.EUW1, Matches: 879, Evenings: true},
			{RiotID: "달빛 여우#DEMO", Platform: route.EUW1, Matches: 120, Evenings: true, ShareWith: "Night Heron#DEMO", Shared: 44, Missing: 2},
			{RiotID: "Quick Match#DEMO", Platform: route.EUW1, Matches: 12, Evenings: true},
		},
		// Another host than the accounts': each has limits of its own, so that no account waits for the ladder; and the
		// faults that raise alerts are the accounts'.
		Ladders: []LadderSpec{{Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: 24}},
		Faults: []Fault{
			{Name: "service overloaded", Match: Match{Method: route.Match, Host: "europe"}, Kind: LimitService, RetryAfter: "2", After: 8 * time.Second, Count: 1},
			{Name: "key used elsewhere", Match: Match{Method: route.Match, Host: "europe"}, Kind: LimitApp, RetryAfter: "1", After: 25 * time.Second, Count: 1},
			{Name: "service overloaded again", Match: Match{Method: route.Match, Attempts: 1, Rate: .008}, Kind: LimitService, RetryAfter: "2", After: 30 * time.Second},
			{Name: "backend restarts", Match: Match{Method: route.Match, Host: "europe", Attempts: 1, Rate: .04}, Kind: Unavailable},
			{Name: "backend fails twice", Match: Match{Method: route.Match, Attempts: 2, Rate: .015}, Kind: ServerError},
			{Name: "stubborn", Match: Match{Method: route.Match, Attempts: 4, Rate: .004}, Kind: Unavailable},
			{Name: "slow timeline", Match: Match{Method: route.Timeline, Attempts: 1, Rate: .03}, Kind: Slow, Delay: 1500 * time.Millisecond},
		},
	}
}

// Headless is the simulator behind `farsight demo --headless`: 80 matches under limits that let them and
// their timelines through well within a minute, with faults that all heal.
func Headless(seed uint64) Options {
	return Options{
		Seed:   seed,
		Limits: Limits{App: []Limit{{20, time.Second}, {100, 5 * time.Second}}},
		Players: []PlayerSpec{
			// Fewer than a page of ids: the demo without a console is over within a minute.
			{RiotID: "Night Heron#DEMO", Platform: route.EUW1, Matches: 64, Span: 200 * day},
			{RiotID: "달빛 여우#DEMO", Platform: route.EUW1, Matches: 24, Span: 100 * day, ShareWith: "Night Heron#DEMO", Shared: 8},
		},
		Faults: []Fault{
			{Name: "service overloaded", Match: Match{Method: route.Match}, Kind: LimitService, RetryAfter: "1", After: 2 * time.Second, Count: 1},
			{Name: "backend restarts", Match: Match{Method: route.Match, Attempts: 1, Rate: .06}, Kind: Unavailable},
			{Name: "backend fails twice", Match: Match{Method: route.Match, Attempts: 2, Rate: .02}, Kind: ServerError},
		},
	}
}
