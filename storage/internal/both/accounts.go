package both

import (
	"maps"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Fold makes Riot IDs comparable: they differ in case only by appearance.
func Fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// AccountRow is an account as a console shows it, without its run. The error is of a status that is
// no word of engine.SyncStatus.
func AccountRow(a league.Account, region string) (engine.AccountRow, error) {
	row := engine.AccountRow{
		ID: a.ID, RiotID: a.RiotID(), Platform: a.Platform, Region: region, PUUID: onePUUID(a),
		Tags: a.Tags, Policy: a.Policy.String(), Tracked: a.Tracked, Run: a.Run, LastSync: a.LastSync, LastError: a.LastError, Updated: a.Updated,
	}
	if a.Status != "" {
		if err := row.Status.UnmarshalText([]byte(a.Status)); err != nil {
			return row, err
		}
	}
	return row, nil
}

// RunWork is what the job of a run and its groups tell of it: the job's queue and own calls, and
// how its children stand.
type RunWork struct {
	Queue              engine.Queue
	Calls, Throttled   int
	Matches, Timelines engine.GroupStat
}

// WithRun adds a run to its account's row; w is nil while the run has no job.
func WithRun(row engine.AccountRow, r league.Run, w *RunWork) engine.AccountRow {
	row.Job, row.Kind, row.Phase = engine.JobID(r.Job), r.Ask.Mode, engine.Phase(r.Phase)
	row.Pages, row.Listed, row.Resumed, row.ResumedAt = r.Pages, r.Listed, r.Resumed, r.ResumedAt
	row.WantsTimelines = r.Ask.Timelines != league.TimelinesNone
	row.Triggered, row.Started, row.Finished, row.Closed, row.Result = r.Triggered, r.Started, r.Finished, r.Closed, r.Result
	if row.LastError == "" {
		row.LastError = r.Error
	}
	if w == nil {
		return row
	}
	row.Queue = w.Queue
	row.Calls = w.Calls + w.Matches.Calls + w.Timelines.Calls
	row.Throttled = w.Throttled + w.Matches.Throttled + w.Timelines.Throttled
	row.Matches = progress(w.Matches, apart{had: r.Had, lost: r.Lost - r.TimelinesLost, tooOld: r.TooOld, left: r.Left,
		unaskable: r.Unaskable})
	row.Timelines = progress(w.Timelines, apart{had: r.TimelinesHad, lost: r.TimelinesLost,
		tooOld: r.TimelinesTooOld, left: r.TimelinesLeft})
	if listing(r) {
		row.Matches.Total, row.Timelines.Total = -1, -1
	}
	return row
}

// RunRow is a run as lists show it.
func RunRow(r league.Run, w *RunWork) engine.RunRow {
	row := WithRun(engine.AccountRow{}, r, w)
	return engine.RunRow{
		ID: r.ID, Kind: row.Kind, By: r.By, Triggered: row.Triggered, Started: row.Started, Finished: row.Finished, Result: row.Result,
		Error: r.Error, Matches: row.Matches, Calls: row.Calls,
	}
}

// apart is what a run counts without a job of its own: lost are those of had that were given up
// before, unaskable those of had whose ids say nothing, left those that an operator had cancelled before.
type apart struct{ had, lost, tooOld, left, unaskable int }

// progress counts so that done + open is the total at every commit (P5): whatever a child does, it
// stays one of them.
func progress(g engine.GroupStat, a apart) engine.Progress {
	a.lost = min(a.lost, a.had)
	return engine.Progress{
		Total:  g.Total + a.had + a.tooOld + a.left,
		Stored: g.Done, Had: a.had - a.lost - a.unaskable, Unaskable: a.unaskable, Retrying: g.Retrying, Failed: g.Dead + a.lost, TooOld: a.tooOld,
		Cancelled: g.Cancelled + a.left, Open: g.Open,
	}
}

// listing reports whether the run does not know yet how much it has to do.
func listing(r league.Run) bool {
	p := engine.Phase(r.Phase)
	return r.Result == "" && r.Looks == 0 && (p == "" || p == engine.PhaseResolve || p == engine.PhaseList)
}

// onePUUID is an account's PUUID for lists: under one key project there is only one.
func onePUUID(a league.Account) string {
	for _, project := range slices.Sorted(maps.Keys(a.PUUIDs)) {
		return a.PUUIDs[project]
	}
	return ""
}

// FitsAccount reports whether an account is one of those that are asked for.
func FitsAccount(q engine.AccountsQuery, a league.Account) bool {
	var status engine.SyncStatus // never, where the record says none
	return (!q.Open || status.UnmarshalText([]byte(a.Status)) == nil && status.Open()) &&
		(q.Text == "" || a.ID == q.Text || strings.Contains(strings.ToLower(a.RiotID()), strings.ToLower(q.Text)))
}
