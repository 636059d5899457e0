package ingest

import (
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/playtime"
)

// reports build the play-time report of an account and the report of a week.
type reports struct {
	means
	*asks
}

// saveReport builds the report of an account from what is stored, and says how
// many matches are missing. All games are read each time: sums do not tell which games are in them.
func (in *reports) saveReport(tx engine.Tx, account string, missing lack) error {
	b := playtime.NewReport(account, in.opt.Zone, now())
	for g, err := range in.store.Games(tx, account) {
		if err != nil {
			return fmt.Errorf("read the games of account %s: %w", account, err)
		}
		b.Add(g)
	}
	report := b.Done()
	report.Missing, report.Cancelled = missing.matches, missing.cancelled
	if err := in.store.SaveReport(tx, report); err != nil {
		return fmt.Errorf("save the report of account %s: %w", account, err)
	}
	return nil
}

// lack is how many matches a report misses, and how many of them were cancelled: an operator can have those
// fetched after all.
type lack struct{ matches, cancelled int }

// missingMatches is what a run wanted and has not got. Lost counts timelines, too, and a report needs
// none.
func (in *reports) missingMatches(tx engine.Tx, run league.Run) (lack, error) {
	g, err := in.store.Group(tx, engine.GroupID{Parent: engine.JobID(run.Job), Group: league.GroupMatches})
	if err != nil {
		return lack{}, fmt.Errorf("read the matches of run %s: %w", run.ID, err)
	}
	return lack{g.Dead + g.Cancelled + run.Lost - run.TimelinesLost + run.Left, g.Cancelled + run.Left}, nil
}

// rebuild builds anew what was built without a match that has come late: the
// account's report, and that of the week the match was played in. late is the run
// that has missed it, if one is known.
func (in *reports) rebuild(tx engine.Tx, account string, late *league.Run, played time.Time) error {
	a, err := in.store.Account(tx, account)
	if err != nil {
		return fmt.Errorf("load account %s: %w", account, err)
	}
	had, err := in.store.PlayReport(tx, account)
	if err != nil {
		return fmt.Errorf("load the report of account %s: %w", account, err)
	}
	if had != nil {
		missing, err := in.missingNow(tx, a, late, lack{had.Missing, had.Cancelled})
		if err != nil {
			return err
		}
		if err := in.saveReport(tx, account, missing); err != nil {
			return err
		}
	}
	if !a.Tracked || played.IsZero() {
		return nil
	}
	return in.rebuildWeek(tx, playtime.MondayOf(played, in.opt.Zone).Format(time.DateOnly))
}

// missingNow is what the report of an account misses: by the last run that has built
// one. That is the last one of all, unless that has not come so far.
func (in *reports) missingNow(tx engine.Tx, a league.Account, late *league.Run, had lack) (lack, error) {
	last, err := in.store.Run(tx, a.Run)
	switch phase := engine.Phase(last.Phase); {
	case err != nil && !errors.Is(err, engine.ErrNotFound):
		return lack{}, fmt.Errorf("load run %s: %w", a.Run, err)
	case phase == engine.PhaseTimelines || phase == engine.PhaseDone:
		return in.missingMatches(tx, last)
	case late != nil:
		return in.missingMatches(tx, *late)
	}
	return had, nil
}
