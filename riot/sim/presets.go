package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// presets are scenes of a few faults each, by name.
var presets = map[string][]Fault{
	"key-expires": {
		{Name: "key-expires", Kind: Forbidden, Until: 2 * time.Minute},
	},
	"outage": {
		{Name: "outage", Kind: Unavailable, Until: 2 * time.Minute},
	},
	"patch-day": { // developer-relations#726: leagues empty after a patch; #1133: 500 for a platform
		{Name: "patch-day leagues", Match: Match{Method: route.LeagueEntries}, Kind: EmptyList, Until: 10 * time.Minute},
		{Name: "patch-day 503", Match: Match{Rate: .25, Each: true}, Kind: Unavailable, Until: 10 * time.Minute},
		{Name: "patch-day 500", Match: Match{Method: route.Match, Rate: .15, Each: true}, Kind: ServerError, Until: 10 * time.Minute},
		{Name: "patch-day slow", Match: Match{Rate: .2, Each: true}, Kind: Slow, Delay: 2 * time.Second, Until: 10 * time.Minute},
	},
	"flaky": {
		{Name: "flaky 503", Match: Match{Rate: .03, Each: true}, Kind: Unavailable},
		{Name: "flaky 500", Match: Match{Rate: .02, Each: true}, Kind: ServerError},
		{Name: "flaky 502", Match: Match{Rate: .01, Each: true}, Kind: BadGateway},
		{Name: "flaky 504", Match: Match{Rate: .01, Each: true}, Kind: GatewayTimeout},
		{Name: "flaky reset", Match: Match{Rate: .01, Each: true}, Kind: Reset},
		{Name: "flaky hang", Match: Match{Rate: .002, Each: true}, Kind: Hang},
	},
	"throttled": {
		{Name: "throttled service", Match: Match{Rate: .02, Each: true}, Kind: LimitService, RetryAfter: "3"},
		{Name: "throttled none", Match: Match{Rate: .01, Each: true}, Kind: LimitPlain},
		{Name: "throttled method", Match: Match{Rate: .005, Each: true}, Kind: LimitMethod, RetryAfter: "2"},
		{Name: "throttled application", Match: Match{Rate: .002, Each: true}, Kind: LimitApp, RetryAfter: "2"},
	},
	"garbage": garbage(),
}

// garbage spoils the first answer for some matches and timelines in every way that a body can be wrong.
func garbage() []Fault {
	var list []Fault
	for _, kind := range []Kind{Truncate, NotJSON, HTML200, EmptyObject, Null, WrongID, BadGzip, Oversized, Bomb} {
		for _, m := range []route.Method{route.Match, route.Timeline} {
			list = append(list, Fault{Name: "garbage " + string(kind), Kind: kind, Match: Match{Method: m, Attempts: 1, Rate: .01}})
		}
	}
	return list
}

// Preset is a scene by name, to be injected. The error lists the names.
func Preset(name string) ([]Fault, error) {
	list, ok := presets[name]
	if !ok {
		return nil, fmt.Errorf("unknown scene %q: use one of %s", name, strings.Join(presetNames(), ", "))
	}
	return slices.Clone(list), nil
}

// presetNames lists the scenes.
func presetNames() []string { return slices.Sorted(maps.Keys(presets)) }
