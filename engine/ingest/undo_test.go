package ingest_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/sim"
)

// knownRanges are what is known to be complete of an account.
type knownRanges struct {
	own   league.Coverage
	lists map[string]league.Coverage
}

func (r *rig) known(account, run string) (got knownRanges) {
	r.t.Helper()
	r.read(func(tx engine.Tx) error {
		a, err := r.db.Account(tx, account)
		if err != nil {
			return err
		}
		got.own = a.Coverage
		got.lists = map[string]league.Coverage{}
		for _, owner := range []string{account, league.Run{ID: run}.Ranges().Making} {
			for _, list := range []string{"", "queue=420", "queue=440"} {
				if got.lists[owner+" "+list], err = r.db.Coverage(tx, owner, list); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return got
}

// I-11: a sync that was cancelled by mistake goes on where it was, in every phase: its
// account, its run, its ranges and what each of its matches counts as are as before.
// No call is made twice, and it ends complete.
func TestI11_UndoOfACancelledSync(t *testing.T) {
	long(t)
	const games = 18
	for name, c := range map[string]struct {
		policy string
		held   bool // its queue is paused
		at     func(row engine.AccountRow) bool
	}{
		"waiting":         {held: true, at: func(row engine.AccountRow) bool { return row.Status == engine.SyncPending }},
		"listing":         {at: func(row engine.AccountRow) bool { return row.Phase == engine.PhaseList }},
		"second list":     {policy: "queues=420,440", at: func(row engine.AccountRow) bool { return row.Pages > 0 }},
		"matches":         {at: func(row engine.AccountRow) bool { return row.Matches.Stored > 10 && row.Timelines.Stored > 3 }},
		"matches of list": {policy: "queues=420,440", at: func(row engine.AccountRow) bool { return row.Matches.Stored > 5 }},
		"timelines":       {at: func(row engine.AccountRow) bool { return row.Phase == engine.PhaseTimelines }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ctx := context.Background()
				s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{remade("Ana#EUW", games)}})
				r := start(t, s)
				_, err := r.in.Track(ctx, "Ana#EUW", engine.SyncAsk{Platform: "euw1", Policy: c.policy})
				must(t, err)
				// What was complete before is known again after the undo.
				r.trigger("Ana#EUW", engine.SyncAsk{Count: 4, Timelines: "ranked"})
				r.settle("Ana#EUW", time.Hour)
				time.Sleep(time.Hour)

				if c.held { // or its job would start at any moment from here to the undo
					r.pause(ingest.QueueFull)
				}
				job := r.trigger("Ana#EUW", engine.SyncAsk{Force: true}).Job
				before := r.until("Ana#EUW", time.Hour, c.at)
				known := r.known(before.ID, before.Run)
				cancelled, err := r.backend.Act(ctx, engine.Command{Op: engine.OpCancel, Job: job, By: operator, Reason: "the wrong one"})
				must(t, err)
				gone := r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool {
					return row.Status == engine.SyncCancelled && row.Matches.Open+row.Timelines.Open == 0
				})
				if gone.Result != "cancelled" || gone.Matches.Cancelled > 0 && gone.Matches.Done() >= gone.Matches.Total {
					t.Errorf("cancelled: %+v", gone)
				}
				r.sound()
				undone, err := r.backend.Undo(ctx, cancelled.Moves, operator, "oops", false)
				if err != nil || undone.Applied != len(cancelled.Moves) {
					t.Fatalf("undo: %d of %d, %v: %v", undone.Applied, len(cancelled.Moves), undone.Skipped, err)
				}
				row := r.row("Ana#EUW")
				if row.Status != before.Status || row.Result != "" || !row.Finished.IsZero() || row.Matches.Cancelled+row.Timelines.Cancelled != 0 || row.Matches.Total != before.Matches.Total {
					t.Errorf("after the undo %+v, before %+v", row, before)
				}
				if now := r.known(before.ID, before.Run); now.own != known.own || !maps.Equal(now.lists, known.lists) {
					t.Errorf("known after the undo %+v, before %+v", now, known)
				}
				r.sound()
				if c.held {
					_, err := r.backend.Resume(ctx, ingest.QueueFull, operator, "")
					must(t, err)
				}
				end := r.settle("Ana#EUW", 5*time.Hour)
				if end.Result != "completed" || end.Matches.Done() != end.Matches.Total || end.Timelines.Cancelled != 0 {
					t.Errorf("the end: %+v", end)
				}
				if st := r.sim.Stats(); st.Repeated != 0 {
					t.Errorf("%d payloads were fetched twice", st.Repeated)
				}
			})
		})
	}
}

// A sync of the account since then stands in the way: neither the run nor its matches
// come back.
func TestI11_NoUndoAfterAnotherSync(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx := context.Background()
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 12)}}))
		job := r.trigger("Ana#EUW", engine.SyncAsk{}).Job
		r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Matches.Stored > 2 })
		cancelled, err := r.backend.Act(ctx, engine.Command{Op: engine.OpCancel, Job: job, By: operator})
		must(t, err)
		time.Sleep(time.Second)
		r.trigger("Ana#EUW", engine.SyncAsk{Mode: "latest"})
		end := r.settle("Ana#EUW", time.Hour)
		undone, err := r.backend.Undo(ctx, cancelled.Moves, operator, "", false)
		must(t, err)
		if undone.Applied != 0 || undone.Skipped["a later sync exists"] != len(cancelled.Moves) {
			t.Errorf("undo after another sync: %+v", undone)
		}
		if row := r.row("Ana#EUW"); row.Run != end.Run || row.Status != engine.SyncCompleted {
			t.Errorf("the account is %+v", row)
		}
	})
}

// The last open match of a sync is cancelled, so that the sync comes to its end without
// it; the undo brings the match back, and with it the sync is complete.
func TestI11_UndoOfTheLastOpenMatchCompletesItsSync(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 12)}})
		must(t, s.Inject(fails(sim.ServerError, s.MatchIDs("Ana#EUW")[0], 1)))
		var late []ingest.Milestone
		r := start(t, s, func(set *setup) {
			set.ingest.Late = func(_ engine.Tx, m ingest.Milestone) error { late = append(late, m); return nil }
		})
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Matches.Stored == 11 && row.Matches.Retrying == 1 })
		jobs, _, _, err := r.db.Jobs(ctx, engine.JobsQuery{Kind: "match.fetch"})
		must(t, err)
		if len(jobs) != 1 {
			t.Fatalf("open matches: %+v", jobs)
		}
		cancelled, err := r.backend.Act(ctx, engine.Command{Op: engine.OpCancel, Job: jobs[0].ID, By: operator})
		must(t, err)
		gone := r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return !row.Status.Open() })
		if gone.Result != "incomplete" || gone.Matches.Cancelled != 1 {
			t.Errorf("without its last match: %+v", gone)
		}
		undone, err := r.backend.Undo(ctx, cancelled.Moves, operator, "oops", false)
		if err != nil || undone.Applied != 1 {
			t.Fatalf("undo: %+v, %v", undone, err)
		}
		row := r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Result == "completed" })
		if row.Run != gone.Run || row.Matches.Stored != 12 || row.Matches.Cancelled != 0 || !row.Closed.After(gone.Finished) {
			t.Errorf("the end: %+v", row)
		}
		if len(late) != 1 || late[0].Kind != ingest.SyncDone || late[0].Run != row.Run || late[0].Result != "completed" || late[0].At.UnixMilli() != row.Closed.UnixMilli() || late[0].Job != row.Job {
			t.Errorf("told of %+v", late)
		}
		r.sound()
	})
}
