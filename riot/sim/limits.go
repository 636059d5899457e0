package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// developmentKey is what every new key gets (portal: Web APIs).
var developmentKey = []Limit{{20, time.Second}, {100, 2 * time.Minute}}

// methodLimits are the limits last seen for each method.
var methodLimits = map[route.Method][]Limit{
	route.AccountByRiotID: {{1000, time.Minute}},
	route.AccountByPUUID:  {{1000, time.Minute}},
	route.ActiveRegion:    {{20000, 10 * time.Second}, {1200000, 10 * time.Minute}},
	route.MatchIDs:        {{2000, 10 * time.Second}},
	route.Match:           {{2000, 10 * time.Second}},
	route.Timeline:        {{2000, 10 * time.Second}},
	route.Summoner:        {{1600, time.Minute}},
	route.LeagueEntries:   {{300, time.Minute}},
	route.Challengers:     {{30, 10 * time.Second}, {500, 10 * time.Minute}},
	route.Grandmasters:    {{30, 10 * time.Second}, {500, 10 * time.Minute}},
	route.Masters:         {{30, 10 * time.Second}, {500, 10 * time.Minute}},
	route.LeaguePage:      {{50, 10 * time.Second}},
	route.Status:          {{20000, 10 * time.Second}, {1200000, 10 * time.Minute}},
}

// ParseLimits reads limits as Riot writes them: "20:1,100:120" is 20 calls per second and 100 per
// 120 seconds. The error says what to write instead.
func ParseLimits(s string) ([]Limit, error) {
	var all []Limit
	for _, entry := range strings.Split(s, ",") {
		n, per, found := strings.Cut(strings.TrimSpace(entry), ":")
		// "100:120"
		calls, err1 := strconv.Atoi(n)
		seconds, err2 := strconv.Atoi(per)
		if !found || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%q is not a rate limit: write calls:seconds, such as 20:1,100:120", entry)
		}
		all = append(all, Limit{calls, time.Duration(seconds) * time.Second})
	}
	return all, checkLimits(all)
}

// checkLimits says what is wrong with limits that a person typed.
func checkLimits(limits []Limit) error {
	// Headers name a window by its seconds alone: two of one length could not be told apart.
	seen := map[time.Duration]bool{}
	for _, l := range limits {
		switch {
		case l.N < 1 || l.N > 100_000_000:
			return fmt.Errorf("rate limit %v must admit between 1 and 100000000 calls", l)
		case l.Per < time.Second || l.Per%time.Second != 0 || l.Per > 24*time.Hour:
			return fmt.Errorf("rate limit %v must span whole seconds, at most a day", l)
		case seen[l.Per]:
			return fmt.Errorf("two rate limits span %d seconds: give each window once", l.seconds())
		}
		seen[l.Per] = true
	}
	return nil
}

// String is the limit as Riot's headers write it: "100:120".
func (l Limit) String() string { return strconv.Itoa(l.N) + ":" + strconv.Itoa(l.seconds()) }

func (l Limit) seconds() int { return int(l.Per / time.Second) }

// scaled is l at a multiple of its speed, on a window of whole seconds.
func (l Limit) scaled(speed float64) Limit {
	per := math.Max(1, math.Round(l.Per.Seconds()/speed))
	// Of a window that would be shorter than a second the limit grows: 20:1 at speed 10 is 200:1.
	n := math.Max(1, math.Round(float64(l.N)*speed*per/l.Per.Seconds()))
	return Limit{int(n), time.Duration(per) * time.Second}
}

// scaledAll scales limits and, where two windows fall together, keeps the stricter: a client matches
// headers by their seconds.
func scaledAll(limits []Limit, speed float64) []Limit {
	var out []Limit
	for _, l := range limits {
		l = l.scaled(speed)
		// At speed 100 both windows of 20:1,100:120 would last a second.
		i := slices.IndexFunc(out, func(o Limit) bool { return o.Per == l.Per })
		if i < 0 {
			out = append(out, l)
			continue
		}
		out[i].N = min(out[i].N, l.N)
	}
	return out
}

// of are a method's limits at a speed; of no method ("") the application's.
func (l Limits) of(m route.Method, speed float64) []Limit {
	limits, own := l.Methods[m]
	switch {
	case m == "" && l.App == nil:
		limits = developmentKey
	case m == "":
		limits = l.App
	case !own:
		limits = methodLimits[m]
	}
	return scaledAll(limits, speed)
}

// Limits are the rate limits of every key on every host.
type Limits struct {
	App     []Limit                  // nil means a development key's 20:1,100:120
	Methods map[route.Method][]Limit // replaces the default of a method
}

// Limit admits N calls per window. Per is a whole number of seconds.
type Limit struct {
	N   int
	Per time.Duration
}
