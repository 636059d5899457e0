package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/playtime"
	"github.com/farsight-console/farsight/engine/traffic"
)

// Stored answers the queries of the domain from what is on disk: ranks, weekly
// reports and what an account has played. It needs no engine.
type Stored struct {
	Store Store
	Zone  *time.Location // of reports; nil = UTC
}

// Find answers a query; known is false for one that is not the domain's. Errors
// are *engine.Problem or of the store. Several goroutines may call it: each query reads in transactions
// of its own.
func (s Stored) Find(ctx context.Context, q engine.Query) (a engine.Answer, known bool, err error) {
	switch q := q.(type) {
	case engine.CollectionsQuery:
		a, err := s.collections(ctx, q)
		return a, true, err
	case engine.RanksQuery:
		page, err := s.Store.RankHistory(ctx, q)
		return page, true, ofAccount(q.Account, err)
	case engine.WeeklyQuery:
		a, err := s.weekly(ctx, q.Week)
		return a, true, err
	case engine.PlayQuery:
		a, err := s.play(ctx, q)
		return a, true, err
	case engine.MatchCellsQuery:
		a, err := s.cells(ctx, q.Account)
		return a, true, err
	case engine.ForensicsQuery:
		a, err := traffic.StoredForensics(ctx, s.Store, q)
		return a, true, err
	}
	return nil, false, nil
}

// weekly gives the report of a week by any of its days, 2026-11-19 that of 2026-11-16; "" = the newest that
// there is.
func (s Stored) weekly(ctx context.Context, week string) (*engine.WeeklyReport, error) {
	if week != "" {
		day, err := time.Parse(time.DateOnly, week)
		if err != nil {
			return nil, engine.Problemf(engine.ErrInvalid, "write it as 2026-11-16", "%q is no day", week)
		}
		week = playtime.MondayOf(day, time.UTC).Format(time.DateOnly)
	}
	r, err := s.Store.Weekly(ctx, week)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, engine.Problemf(engine.ErrNotFound,
			"it is built on Mondays, or by running schedule report.weekly now", "there is no report of that week")
	}
	return r, err
}

// play reads an account's newest games and adds them up.
func (s Stored) play(ctx context.Context, q engine.PlayQuery) (engine.Play, error) {
	zone, err := time.LoadLocation(q.Zone)
	if err != nil {
		return engine.Play{}, engine.Problemf(engine.ErrInvalid, "write a name such as Europe/Berlin or UTC",
			"%q is no time zone", q.Zone)
	}
	if q.Draft && q.Zone == "" {
		zone = cmp.Or(s.Zone, time.UTC)
	}
	var out engine.Play
	err = s.Store.Read(ctx, func(tx engine.Tx) error {
		recent := playtime.NewRecent(q.Account, zone, q.Weeks)
		draft := playtime.NewReport(q.Account, zone, now())
		for g, err := range s.Store.GamesSince(tx, q.Account, time.Time{}) {
			if err != nil {
				return err
			}
			if !recent.Add(g) {
				break
			}
			draft.Add(g)
		}
		out = recent.Done()
		if !q.Draft {
			return nil
		}
		report := draft.Done()
		for m, err := range s.Store.MatchesOf(tx, q.Account) {
			if err != nil || m.Match.Status != league.Success && m.Match.Status != league.OutsideRetentionWindow &&
				m.Match.LastClass != string(classID) {
				report.Missing++
			}
		}
		out.Draft = &report
		return nil
	})
	return out, ofAccount(q.Account, err)
}

// cells reads how every match of an account stands.
func (s Stored) cells(ctx context.Context, account string) (out engine.MatchCells, err error) {
	err = s.Store.Read(ctx, func(tx engine.Tx) error {
		a, err := s.Store.Account(tx, account)
		if err != nil {
			return err
		}
		// Only what came during the run that is under way is shown as new; without such a run nothing
		// is.
		since := time.Time{}
		run, err := s.Store.Run(tx, a.Run)
		if err == nil && run.Result == "" {
			since = run.Triggered
		}
		b := playtime.NewCells(since)
		for m, err := range s.Store.MatchesOf(tx, account) {
			b.Add(m, err != nil)
		}
		out = b.Done(account)
		out.Row, err = s.Store.RowOf(tx, a)
		return err
	})
	return out, ofAccount(account, err)
}

// ofAccount is an error of reading about an account; where there is none it says so. Without an error it is
// nil.
func ofAccount(id string, err error) error {
	if errors.Is(err, engine.ErrNotFound) {
		return engine.Problemf(engine.ErrNotFound, "list them with `farsight accounts`", "there is no account %s", id)
	}
	if err != nil {
		return fmt.Errorf("read account %s: %w", id, err)
	}
	return nil
}

// Find answers the queries of the domain, those included that need the limiter.
func (in *Ingest) Find(ctx context.Context, q engine.Query) (a engine.Answer, known bool, err error) {
	if _, ok := q.(engine.FreshnessQuery); ok {
		f, err := in.Freshness(ctx)
		return f, true, err
	}
	if q, ok := q.(engine.ForensicsQuery); ok && in.opt.Limits != nil {
		f, err := in.opt.Limits.Forensics(q)
		return f, true, err
	}
	return Stored{in.opt.Store, in.opt.Zone}.Find(ctx, q)
}

// Do carries out the commands of the domain; known is false for others. Those of one account are not
// among them: engine/operation calls Trigger, Track and Untrack. A retry and a force come here for a key
// that no job has.
func (in *Ingest) Do(ctx context.Context, cmd engine.Command) (r engine.Receipt, known bool, err error) {
	switch cmd.Op {
	case engine.OpCollect:
		r, err = in.Collect(ctx, cmd)
	case engine.OpTrackMany:
		r, err = in.TrackMany(ctx, cmd.Lines, cmd.DryRun, cmd.By)
	case engine.OpReresolve:
		r, err = in.Reresolve(ctx, cmd.DryRun, cmd.By)
	case engine.OpRetry, engine.OpForce:
		return in.bringBack(ctx, cmd)
	default:
		return r, false, nil
	}
	return r, true, err
}

// Reresolve accepts the project of the key in use, when it is another than that
// of the accounts, and resolves them all again: one call each. With dry it says
// the cost. Errors are *engine.Problem or of the store.
func (in *Ingest) Reresolve(ctx context.Context, dry bool, by engine.Actor) (engine.Receipt, error) {
	if in.opt.Projects == nil {
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "", "this engine keeps no key projects apart")
	}
	return in.opt.Projects.accept(ctx, dry, by)
}

// Milestone reads what a move means, inside its transaction and after the
// handler's rows were written. ok is false when it means nothing. Only the end of an attempt brings one
// about: what an operator moves by hand has happened before, or not at all.
func (in *Ingest) Milestone(tx engine.Tx, before, after engine.Job,
	o engine.Outcome) (m Milestone, ok bool, err error) {
	if before.State == after.State {
		return m, false, nil
	}
	if after.Kind == KindWeekly {
		m, ok = weeklyMilestone(after)
		return m, ok, nil
	}
	kind, ok := syncMilestone(after, o)
	args, err := decode[syncArgs](after)
	if !ok || err != nil || args.Collection != "" {
		return m, false, nil // as in partMoved; a player is nobody's account
	}
	run, err := in.store.Run(tx, args.Run)
	if err != nil {
		return m, false, fmt.Errorf("load run %s: %w", args.Run, err)
	}
	m = Milestone{
		Kind: kind, ID: string(kind) + ":" + run.ID, At: now(), Account: args.Account, Run: run.ID, Job: after.ID,
		Mode: args.Mode, Result: run.Result,
	}
	if kind == SyncFailed || kind == SyncCancelled { // a sync that is opened again can fail or be cancelled more than once
		m.ID += fmt.Sprintf(":%d", after.Rev)
	}
	if kind == SyncFailed {
		m.Error = after.LastError
	}
	return m, true, nil
}
