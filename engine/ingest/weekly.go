package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/playtime"
	"github.com/farsight-console/farsight/engine/traffic"
)

// lastWeek names the week before the one of an instant: what a report on a Monday
// is about.
func (in *reports) lastWeek(at time.Time) string {
	monday := playtime.MondayOf(at, in.opt.Zone)
	return time.Date(monday.Year(), monday.Month(), monday.Day()-7, 0, 0, 0, 0, in.opt.Zone).Format(time.DateOnly)
}

// week is from its Monday to the Monday after; a day of it may have 23 or 25
// hours.
func (in *reports) week(monday string) (from, to time.Time, err error) {
	from, err = time.ParseInLocation(time.DateOnly, monday, in.opt.Zone)
	if err == nil && from.Weekday() != time.Monday {
		err = fmt.Errorf("%s is no Monday", monday)
	}
	return from, time.Date(from.Year(), from.Month(), from.Day()+7, 0, 0, 0, 0, in.opt.Zone), err
}

// weeklySpec asks for the report of a week.
func weeklySpec(week string) engine.Spec {
	return engine.Spec{Kind: KindWeekly, Queue: QueueWeekly, Key: "weekly:" + week,
		Args: encode(weeklyArgs{Week: week})}
}

// weekSettles is how long a weekly report waits for more of what comes late: matches that are tried again
// come in numbers, and those of a minute share one job.
const weekSettles = time.Minute

// rebuildWeek asks for a weekly report anew, if it was built. Many matches that come late share one
// job, by its key. A job that runs may have read the account before this match came: then one more
// follows it, under a key of its own.
func (in *reports) rebuildWeek(tx engine.Tx, week string) error {
	if !in.store.HasWeekly(tx, week) {
		return nil
	}
	s := weeklySpec(week)
	s.RunAt = now().Add(weekSettles)
	made, err := tx.Enqueue(s)
	if err == nil && made[0].Duplicate && made[0].State == engine.Running { // it may have read too early
		s.Key += ":again"
		_, err = tx.Enqueue(s)
	}
	if err != nil {
		return fmt.Errorf("ask for the report of week %s anew: %w", week, err)
	}
	return nil
}

// buildWeekly is the handler of report.weekly. It makes no call: it is built from
// what is stored, account by account, and says of whom the week is not all there.
func (in *reports) buildWeekly(ctx context.Context, r engine.Run) engine.Outcome {
	args, err := decode[weeklyArgs](r.Job)
	if err != nil {
		return badArgs(err)
	}
	from, to, err := in.week(args.Week)
	if err != nil {
		return badArgs(err)
	}
	accounts, err := in.tracked(ctx)
	if err != nil {
		return traffic.Fault(err)
	}
	b := playtime.NewWeek(args.Week, from, to, in.opt.Zone, now())
	for _, a := range accounts {
		if err := in.addWeek(ctx, b, a, from, to); err != nil {
			return traffic.Fault(err)
		}
		if r.Beat != nil {
			r.Beat()
		}
	}
	report := b.Done()
	return engine.Done(func(tx engine.Tx) error { return in.store.SaveWeekly(tx, report) })
}

// tracked lists the tracked accounts.
func (in *reports) tracked(ctx context.Context) (list []league.Account, err error) {
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		list = in.trackedIn(tx)
		return nil
	})
	return list, err
}

// trackedIn is tracked inside a transaction. It collects before anybody writes: see accountList.
func (in *reports) trackedIn(tx engine.Tx) (list []league.Account) {
	for a := range in.store.AllAccounts(tx) {
		if a.Tracked {
			list = append(list, a)
		}
	}
	return list
}

// addWeek reads one account's week: a transaction of its own, for it must be
// short.
func (in *reports) addWeek(ctx context.Context, b *playtime.Week, a league.Account, from, to time.Time) error {
	err := in.store.Read(ctx, func(tx engine.Tx) error {
		policy, err := in.policyOf(tx, a)
		if err != nil {
			return err
		}
		missing, err := in.missingOf(tx, a, policy, from, to)
		if err != nil {
			return err
		}
		var games []league.Game
		for g, err := range in.store.GamesSince(tx, a.ID, from.Add(-playtime.LongestGame)) {
			if err != nil {
				return err
			}
			games = append(games, g)
		}
		slices.SortStableFunc(games, func(a, b league.Game) int {
			return cmp.Or(a.Played.Compare(b.Played), strings.Compare(a.Match, b.Match))
		})
		b.Add(engine.WeeklyAccount{ID: a.ID, RiotID: a.RiotID(), Missing: missing}, games)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the week of %s: %w", a.RiotID(), err)
	}
	return nil
}

// missingOf says why an account's week may not be all there: nobody listed it to
// its end, or the known range does not reach back to its start.
func (in *reports) missingOf(tx engine.Tx, a league.Account, p league.Policy, from, to time.Time) (string, error) {
	if a.LastSync.IsZero() {
		return "never synced", nil
	}
	for _, l := range p.Filter().Lists() {
		c := a.Coverage
		if p.Filter() != "" {
			var err error
			if c, err = in.store.Coverage(tx, a.ID, l.Name()); err != nil {
				return "", err
			}
		}
		switch {
		case !c.Reaches(from):
			return "its known games do not reach back to the start of the week: a full sync closes the gap", nil
		case c.HeadAt.Before(to):
			return "last listed at " + c.HeadAt.In(in.opt.Zone).Format("Mon 2006-01-02 15:04"), nil
		}
	}
	return "", nil
}
