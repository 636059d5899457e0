package both

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// CountAccounts is the counter of accounts.
const CountAccounts = "accounts"

const (
	countMatches   = "matches." // and the word of a status
	countTimelines = "timelines.success"
)

// MatchCounters are the counters that a match counts towards: "matches.success" and
// "timelines.success" of one that is stored whole.
func MatchCounters(m *league.Match) []string {
	names := []string{countMatches + m.Match.Status.String()}
	if m.Timeline.Status == league.Success {
		names = append(names, countTimelines)
	}
	return names
}

// TotalsOf makes the totals of the counters, each of which read gives by its name.
func TotalsOf(read func(name string) (int64, error)) (engine.Totals, error) {
	var tot engine.Totals
	for name, n := range map[string]*int64{
		CountAccounts:                                         &tot.Accounts,
		countTimelines:                                        &tot.Timelines,
		countMatches + league.Unfetched.String():              &tot.Unfetched,
		countMatches + league.Success.String():                &tot.Success,
		countMatches + league.TemporaryFailure.String():       &tot.Temporary,
		countMatches + league.PermanentlyUnfetchable.String(): &tot.Permanent,
		countMatches + league.OutsideRetentionWindow.String(): &tot.TooOld,
	} {
		var err error
		if *n, err = read(name); err != nil {
			return tot, err
		}
	}
	tot.Matches = tot.Unfetched + tot.Success + tot.Temporary + tot.Permanent + tot.TooOld
	return tot, nil
}
