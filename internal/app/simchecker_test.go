package app

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// A checker that finds nothing proves nothing: each broken promise must be found
// at its commit.
func TestCheckerFindsWhatIsBroken(t *testing.T) {
	now := time.Now()
	job := func(id engine.JobID, rev engine.Revision, s engine.State) *engine.Job {
		return &engine.Job{ID: id, Rev: rev, State: s, Key: "match:" + string(id), Lock: "l" + string(id)}
	}
	born := func(id engine.JobID) engine.Change {
		return engine.Change{Job: job(id, 1, engine.Available), Before: engine.Available, New: true}
	}
	moved := func(j *engine.Job, from engine.State) engine.Change { return engine.Change{Job: j, Before: from} }
	row := func(run string, s engine.SyncStatus, p engine.Progress) engine.Change {
		return engine.Change{Account: &engine.AccountRow{ID: "a", Run: run, Status: s, Matches: p}}
	}
	twin := job("2", 1, engine.Available)
	twin.Key = "match:1"
	tired := job("1", 2, engine.Running)
	tired.Tries, tired.Attempts = 6, 6
	locked, other := job("1", 2, engine.Running), job("2", 2, engine.Running)
	locked.Lock, other.Lock = "one", "one"
	for name, c := range map[string]struct {
		commits [][]engine.Change
		says    string
	}{
		"a move out of the table":  {[][]engine.Change{{born("1")}, {moved(job("1", 2, engine.Completed), engine.Available)}}, "may not go"},
		"a revision that stays":    {[][]engine.Change{{born("1")}, {moved(job("1", 1, engine.Running), engine.Available)}}, "revision 1 follows 1"},
		"a move that was not seen": {[][]engine.Change{{born("1")}, {moved(job("1", 2, engine.Completed), engine.Running)}}, "but was available"},
		"a job out of nowhere":     {[][]engine.Change{{moved(job("1", 2, engine.Running), engine.Available)}}, "never inserted"},
		"a key held twice":         {[][]engine.Change{{born("1")}, {{Job: twin, New: true}}}, "one key"},
		"a lock held twice":        {[][]engine.Change{{born("1"), born("2")}, {moved(locked, engine.Available), moved(other, engine.Available)}}, "P4"},
		"a sixth try":              {[][]engine.Change{{born("1")}, {moved(tired, engine.Available)}}, "P8"},
		"progress that falls":      {[][]engine.Change{{row("r", engine.Syncing, engine.Progress{Total: 2, Stored: 2})}, {row("r", engine.Syncing, engine.Progress{Total: 2, Stored: 1, Open: 1})}}, "fell from 2 to 1"},
		"sums that do not add up":  {[][]engine.Change{{row("r", engine.Syncing, engine.Progress{Total: 3, Stored: 1, Open: 1})}}, "P5"},
		"two runs of one account":  {[][]engine.Change{{row("r", engine.Syncing, engine.Progress{})}, {row("s", engine.SyncPending, engine.Progress{})}}, "P4"},
		"a negative wait":          {[][]engine.Change{{{Of: "1", Attempt: &engine.Attempt{Start: now, End: now, Queued: -1}}}}, "P-36"},
		"totals that differ":       {[][]engine.Change{{{Totals: &engine.Totals{Matches: 2, Success: 1}}}}, "P6"},
	} {
		t.Run(name, func(t *testing.T) {
			check := newChecker(&world{stretch: &stretch{seed: 1}})
			for i, changes := range c.commits {
				if i > 0 && len(check.report()) > 0 {
					t.Fatalf("found too early: %v", check.report())
				}
				for k := range changes {
					changes[k].Seq = uint64(i + 1)
				}
				check.look(uint64(i+1), changes)
			}
			if got := strings.Join(check.report(), "\n"); !strings.Contains(got, c.says) {
				t.Errorf("found %q, want %q", got, c.says)
			}
		})
	}
}
