package ingest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// wish is what one run wants of a match's timeline.
type wish struct {
	run    *league.Run
	args   syncArgs
	parent engine.JobID
}

// group is where the run's own job waits for timelines.
func (w wish) group() engine.GroupID {
	return engine.GroupID{Parent: w.parent, Group: league.GroupTimelines}
}

// sortTimeline counts the timeline of a stored match for one run, or says that it
// is open: a job must fetch it. It may change and save the match. It is the part for timelines of what
// sorter.add does for matches: the cases come in the same order, and each counts once.
func (in *settlement) sortTimeline(tx engine.Tx, m *league.Match, w wish) (open bool, err error) {
	switch {
	case !wants(w.args.Timelines, m.QueueID):
		w.run.TimelinesNone++
	case m.Timeline.Status == league.Success:
		w.run.TimelinesHad++
	case m.Timeline.Status == league.OutsideRetentionWindow && in.opt.Timelines.Expired(m.Played, now()):
		w.run.TimelinesTooOld++
	case m.Timeline.Status == league.OutsideRetentionWindow: // its match is young enough: nothing proves it
		m.Timeline.Status = league.Unfetched
		return true, in.store.SaveMatch(tx, *m, true)
	case m.Timeline.Status == league.PermanentlyUnfetchable && !w.args.Force:
		w.run.TimelinesHad++
		w.run.Lost++
		w.run.TimelinesLost++
		return false, in.without(tx, w.run, m.ID, league.PartTimeline, false)
	case m.Timeline.Status == league.PermanentlyUnfetchable:
		m.Timeline.Status = league.Unfetched
		return true, in.store.SaveMatch(tx, *m, true)
	case in.opt.Timelines.Expired(m.Played, in.opt.Limits.Now()):
		w.run.TimelinesTooOld++
		m.Timeline.Status = league.OutsideRetentionWindow
		return false, in.store.SaveMatch(tx, *m, false)
	case m.Timeline.Cancelled == league.CancelledAlone && !w.args.Force:
		w.run.TimelinesLeft++
		return false, in.without(tx, w.run, m.ID, league.PartTimeline, true)
	case m.Timeline.Cancelled != league.NotCancelled:
		m.Timeline.Cancelled = league.NotCancelled
		return true, in.store.SaveMatch(tx, *m, false)
	default:
		return true, nil
	}
	return false, nil
}

// timelineSpec is the job of a match's timeline. It has the lowest priority: a report
// needs matches alone, so that all matches go before any timeline.
func timelineSpec(queue engine.Queue, owner, match string, args syncArgs, parents []engine.GroupID) engine.Spec {
	return engine.Spec{
		Kind:     KindTimeline,
		Queue:    queue,
		Args:     encode(fetchArgs{Match: match, Confirm: args.Mode == ModeLatest}),
		Key:      timelineKey(match),
		Policy:   engine.PolicyMatch,
		Owner:    owner,
		Priority: engine.PriorityLow,
		Parents:  parents,
	}
}

// without notes a part that a run misses without a job of its own.
func (in *settlement) without(tx engine.Tx, run *league.Run, match string, part league.Part, left bool) error {
	_, err := in.store.SaveGap(tx, league.Gap{Match: match, Part: part, Run: run.ID, Account: run.Account, Left: left})
	return err
}

// lacksMatch counts the timeline of a match that settled without being stored.
func (w wish) lacksMatch(m league.Match) {
	if m.Match.Status == league.OutsideRetentionWindow {
		w.run.TimelinesTooOld++
		return
	}
	w.run.TimelinesNone++
}

// eachRun calls edit for the run of every sync that waits for the job in a group,
// or did, and stores what edit changed. A run that edit leaves alone is not written: a match of ten
// players would otherwise emit ten rows each time.
func (in *settlement) eachRun(tx engine.Tx, job engine.Job, group int,
	edit func(parent engine.Job, want syncArgs, run *league.Run) error) error {
	parents, err := tx.Parents(job.ID)
	if err != nil {
		return fmt.Errorf("list who waits for job %s: %w", job.ID, err)
	}
	parents = slices.DeleteFunc(parents, func(p engine.Parent) bool {
		return p.Group != group || p.Job.Kind != KindSync
	})
	for _, p := range parents {
		want, err := decode[syncArgs](p.Job)
		if err != nil {
			return err
		}
		run, err := in.store.Run(tx, want.Run)
		if errors.Is(err, engine.ErrNotFound) && p.Job.State.Terminal() {
			continue // its account was forgotten
		}
		if err != nil {
			return fmt.Errorf("load run %s: %w", want.Run, err)
		}
		before := run
		if err := edit(p.Job, want, &run); err != nil {
			return err
		}
		if run == before {
			continue
		}
		if err := in.store.SaveRun(tx, run); err != nil {
			return fmt.Errorf("save run %s: %w", run.ID, err)
		}
	}
	return nil
}
