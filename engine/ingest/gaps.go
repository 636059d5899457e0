package ingest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// settlement gives the parts of matches to the runs that wait for them or miss them.
type settlement struct {
	means
	*asks
	*ranges
	*reports
}

// A gap is a part of a match that a run wanted and that is missing: its job ended
// without it, or there was none, since an earlier run had given the part up or an
// operator had cancelled it. Whoever brings the part closes the gap in every run,
// also in one that has ended: a retry, a reclass, a canary, the sweep, the sync of
// another account.

// missed notes that a job has ended without its part, for every sync that wants it. A run without the
// match has no timeline of it to want, either.
func (in *settlement) missed(tx engine.Tx, id string, part league.Part, job engine.Job) error {
	return in.eachRun(tx, job, groupOf(part), func(parent engine.Job, _ syncArgs, run *league.Run) error {
		if shown, err := in.isShown(tx, *run); err != nil || parent.State.Terminal() && !shown {
			return err
		}
		added, err := in.store.SaveGap(tx, league.Gap{Match: id, Part: part, Run: run.ID, Account: run.Account,
			Job: string(job.ID)})
		if err != nil {
			return fmt.Errorf("note that %s of %s is missing: %w", part, id, err)
		}
		if added && part == league.PartMatch {
			run.TimelinesNone++
		}
		return in.judgeAgain(tx, run)
	})
}

// wantedAgain takes missed back for syncs that have not ended: their job is to bring
// the part after all. One that has ended gets it late.
func (in *settlement) wantedAgain(tx engine.Tx, id string, part league.Part, job engine.Job) error {
	gaps, err := in.store.Gaps(tx, id)
	if err != nil {
		return fmt.Errorf("look for runs that miss %s of %s: %w", part, id, err)
	}
	return in.eachRun(tx, job, groupOf(part), func(_ engine.Job, _ syncArgs, run *league.Run) error {
		at := slices.IndexFunc(gaps, func(g league.Gap) bool { return g.Run == run.ID && g.Job == string(job.ID) })
		if at < 0 || run.Result != "" && run.Result != resultCancelled {
			return nil
		}
		if part == league.PartMatch {
			run.TimelinesNone = max(0, run.TimelinesNone-1)
		}
		return in.store.DropGap(tx, gaps[at])
	})
}

// groupOf is the group of a sync's children that a part's job is in.
func groupOf(part league.Part) int {
	if part == league.PartTimeline {
		return league.GroupTimelines
	}
	return league.GroupMatches
}

// isShown reports whether the run is the last one of its account: the others are
// history, and what they miss is the business of the later one.
func (in *settlement) isShown(tx engine.Tx, run league.Run) (bool, error) {
	a, err := in.store.Account(tx, run.Account)
	if errors.Is(err, engine.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("load account %s: %w", run.Account, err)
	}
	return a.Run == run.ID, nil
}

// takeOver ends the gaps that earlier runs of the account have in a match: the
// later run lists it, and has its own opinion of it.
func (in *settlement) takeOver(tx engine.Tx, run *league.Run, match string) error {
	gaps, err := in.store.Gaps(tx, match)
	for _, g := range gaps {
		if g.Account == run.Account && g.Run != run.ID {
			err = errors.Join(err, in.store.DropGap(tx, g))
		}
	}
	if err != nil {
		return fmt.Errorf("take over what earlier runs miss of %s: %w", match, err)
	}
	return nil
}

// closing is a part that has come, and who gets it late: say KR_7214550881, which a sync
// of January gave up as 503 and an operator's retry has brought in March.
type closing struct {
	in    *settlement
	tx    engine.Tx
	job   engine.Job // that brought it
	m     league.Match
	late  []wish // who wants the timeline of a match that came late
	built []string
}

// closeGaps gives a part that is settled now to every run that misses it. The marks of the job are as
// after its end.
//
// It goes through the runs twice, and makes the timeline's job in between: a run is judged by the open
// jobs of its groups, and would be called complete although its timeline is still to come.
func (in *settlement) closeGaps(tx engine.Tx, job engine.Job, id string, part league.Part) error {
	gaps, err := in.store.Gaps(tx, id)
	if err != nil {
		return fmt.Errorf("look for runs that miss %s of %s: %w", part, id, err)
	}
	gaps = slices.DeleteFunc(gaps, func(g league.Gap) bool { return g.Part != part })
	if len(gaps) == 0 {
		return nil
	}
	m, err := in.store.Match(tx, id)
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	if s := m.Of(part).Status; s != league.Success && s != league.OutsideRetentionWindow {
		return nil
	}
	c := closing{in: in, tx: tx, job: job, m: m}
	runs := make([]league.Run, len(gaps))
	for i, g := range gaps {
		if err := c.close(g, &runs[i]); err != nil {
			return fmt.Errorf("close the gap that %s of %s left in run %s: %w", part, id, g.Run, err)
		}
	}
	if err := c.fetchTimeline(); err != nil {
		return err
	}
	for i := range runs {
		if err := c.finish(&runs[i]); err != nil {
			return fmt.Errorf("bring run %s up to date: %w", runs[i].ID, err)
		}
	}
	return nil
}

// close takes one gap away, and sorts the timeline of a match that has come. A run that was forgotten
// since leaves *run empty.
func (c *closing) close(g league.Gap, run *league.Run) error {
	if err := c.in.store.DropGap(c.tx, g); err != nil {
		return err
	}
	r, err := c.in.store.Run(c.tx, g.Run)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	*run = r
	if err := c.count(g, run); err != nil || g.Part == league.PartTimeline {
		return err
	}
	run.TimelinesNone = max(0, run.TimelinesNone-1)
	w := wish{run: run, args: argsOf(*run), parent: engine.JobID(run.Job)}
	if c.m.Match.Status != league.Success {
		w.lacksMatch(c.m)
		return nil
	}
	c.built = append(c.built, run.Account)
	open, err := c.in.sortTimeline(c.tx, &c.m, w)
	if open {
		c.late = append(c.late, w)
	}
	return err
}

// count moves the part in the run's counts to where it belongs now, so that each listed match stays in
// one of them:
//
//	the run's own job brought it          its group counts it as done, nothing to move
//	another job did, the run's own ended  had, and the dead child leaves the group
//	the run had left it alone             from left to had
//	an earlier run had given it up        it is among those had: no more among those lost
func (c *closing) count(g league.Gap, run *league.Run) error {
	had, lost, left := &run.Had, &run.Lost, &run.Left
	if g.Part == league.PartTimeline {
		had, left = &run.TimelinesHad, &run.TimelinesLeft
	}
	switch {
	case g.Job == string(c.job.ID):
	case g.Job != "":
		*had++
		return c.in.store.Leave(c.tx, engine.GroupID{Parent: engine.JobID(run.Job), Group: groupOf(g.Part)},
			engine.JobID(g.Job))
	case g.Left:
		*left = max(0, *left-1)
		*had++
	default:
		*lost = max(0, *lost-1)
		if g.Part == league.PartTimeline {
			run.TimelinesLost = max(0, run.TimelinesLost-1)
		}
	}
	return nil
}

// argsOf is what a run asked for, as its job says it while it lives. A run that has ended forces
// nothing any more: its timelines that were given up stay so.
func argsOf(run league.Run) syncArgs {
	return syncArgs{Mode: run.Ask.Mode, Timelines: run.Ask.Timelines, Force: run.Ask.Force && run.Result == ""}
}

// fetchTimeline creates the one job of the timeline for all runs that want it and are not
// history. Until it is there they miss it.
func (c *closing) fetchTimeline() error {
	var wishes []wish
	var parents []engine.GroupID
	for _, w := range c.late {
		shown, err := c.in.isShown(c.tx, *w.run)
		if err != nil {
			return err
		}
		if shown {
			wishes, parents = append(wishes, w), append(parents, w.group())
		}
	}
	if len(wishes) == 0 {
		return nil
	}
	made, err := c.tx.Enqueue(timelineSpec(c.job.Queue, c.job.Owner, c.m.ID, wishes[0].args, parents))
	if err != nil {
		return fmt.Errorf("create the job of timeline %s: %w", c.m.ID, err)
	}
	for _, w := range wishes {
		g := league.Gap{Match: c.m.ID, Part: league.PartTimeline, Run: w.run.ID, Account: w.run.Account,
			Job: string(made[0].ID)}
		if _, err := c.in.store.SaveGap(c.tx, g); err != nil {
			return fmt.Errorf("note that timeline %s is on its way: %w", c.m.ID, err)
		}
	}
	return nil
}

// finish judges the run anew and stores it. Where its match has come, the reports that were built
// without it are built again.
func (c *closing) finish(run *league.Run) error {
	if run.ID == "" {
		return nil // it is gone
	}
	if err := c.in.judgeAgain(c.tx, run); err != nil {
		return err
	}
	if err := c.in.store.SaveRun(c.tx, *run); err != nil {
		return err
	}
	if !slices.Contains(c.built, run.Account) {
		return nil
	}
	return c.in.rebuild(c.tx, run.Account, run, c.m.Played)
}

// judge says how a run that has ended stands, and whether it misses something that
// was cancelled. What could not be had inside retention makes it incomplete, and so does a list whose end
// is not proven (Error); the account is completed all the same. Open children count as missing: a run that
// has ended has some only while a part is brought late.
func (in *settlement) judge(tx engine.Tx, run *league.Run) (cancelled bool, err error) {
	left := run.Left + run.TimelinesLeft
	missing := run.Lost + left
	for _, group := range []int{league.GroupMatches, league.GroupTimelines} {
		g, err := in.store.Group(tx, engine.GroupID{Parent: engine.JobID(run.Job), Group: group})
		if err != nil {
			return false, fmt.Errorf("read group %d of job %s: %w", group, run.Job, err)
		}
		left += g.Cancelled
		missing += g.Dead + g.Cancelled + g.Open
	}
	run.Result = resultCompleted
	if missing > 0 || run.Error != "" {
		run.Result = resultIncomplete
	}
	return left > 0, nil
}

// judgeAgain is judge for a run that came to its end before. One that is complete
// now says since when, and its ranges are known again. It works both ways: a run that misses something
// again is incomplete again. One that failed or was cancelled stays so.
func (in *settlement) judgeAgain(tx engine.Tx, run *league.Run) error {
	was := run.Result
	if was != resultCompleted && was != resultIncomplete {
		return nil
	}
	if _, err := in.judge(tx, run); err != nil || run.Result == was {
		return err
	}
	if err := in.tellRound(tx, engine.JobID(run.Job), was, run.Result, func(*engine.Collection) error { return nil }); err != nil {
		return err
	}
	if run.Closed = (time.Time{}); run.Result == resultIncomplete {
		return nil
	}
	run.Closed = now()
	why := engine.Transition{At: run.Closed, From: was, To: run.Result, Actor: "engine",
		Reason: "its last gap is closed"}
	if err := in.store.AddHistory(tx, run.Job, why); err != nil {
		return err
	}
	a, err := in.store.Account(tx, run.Account)
	if err != nil {
		return err
	}
	if in.opt.Late != nil && a.Collection == "" {
		if err := in.opt.Late(tx, lateMilestone(*run)); err != nil {
			return err
		}
	}
	if a.Run != run.ID {
		return nil
	}
	if err := in.restoreRanges(tx, &a, *run); err != nil {
		return err
	}
	return in.store.SaveAccount(tx, a)
}

// fetchUnwaited is for a match that came although no sync waits for it and none is
// known to miss it. Its timeline is fetched as those wanted it whose syncs have
// ended, else by the policies of the accounts that list it. No run's counts move: the wishes are on
// behalf of an empty one.
func (in *settlement) fetchUnwaited(tx engine.Tx, job engine.Job, m league.Match) error {
	asks := map[string]syncArgs{}
	err := in.eachRun(tx, job, league.GroupMatches, func(_ engine.Job, want syncArgs, run *league.Run) error {
		asks[run.Account] = want
		return nil
	})
	if err != nil {
		return err
	}
	if len(asks) == 0 {
		if asks, err = in.asksOfListers(tx, m.ID); err != nil {
			return err
		}
	}
	var first *syncArgs
	for account, want := range asks {
		open, err := in.sortTimeline(tx, &m, wish{run: &league.Run{}, args: want})
		if err != nil {
			return err
		}
		if open {
			first = &want
		}
		if err := in.rebuild(tx, account, nil, m.Played); err != nil {
			return err
		}
	}
	if first == nil {
		return nil
	}
	_, err = tx.Enqueue(timelineSpec(job.Queue, job.Owner, m.ID, *first, nil))
	return err
}

// asksOfListers is what the accounts that list a match would ask for by their policies,
// for a match that came without any sync's doing.
func (in *settlement) asksOfListers(tx engine.Tx, match string) (map[string]syncArgs, error) {
	asks := map[string]syncArgs{}
	for _, id := range in.store.AccountsOf(tx, match) {
		a, err := in.store.Account(tx, id)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load account %s: %w", id, err)
		}
		p, err := in.policyOf(tx, a)
		if err != nil {
			return nil, err
		}
		asks[id] = argsOf(league.Run{Ask: in.complete(league.Ask{Mode: ModeFull}, p)})
	}
	return asks, nil
}
