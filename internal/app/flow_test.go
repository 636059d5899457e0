package app

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui"
)

// flowPlayer is a player with small games.
func flowPlayer(name string, matches int) sim.PlayerSpec {
	p := player(name, matches)
	p.Shapes = []sim.Shape{"swarm"}
	return p
}

// flowRiot answers at once, within limits that hold a sync back.
func flowRiot(limit string, players ...sim.PlayerSpec) sim.Options {
	return sim.Options{Seed: 3, Limits: limits(limit), Latency: sim.Instant, Players: players}
}

// failing makes the newest n matches of a player answer with a fault.
func (f *flow) failing(p sim.PlayerSpec, n int, kind sim.Kind) (ids []string) {
	f.t.Helper()
	ids = f.sim.MatchIDs(p.RiotID)[:n]
	for _, id := range ids {
		if err := f.sim.Inject(sim.Fault{Name: "fails " + id, Match: sim.Match{Method: route.Match, ID: id}, Kind: kind}); err != nil {
			f.t.Fatal(err)
		}
	}
	return ids
}

// state reports whether the job of a match is in a state.
func (f *flow) state(id string, s engine.State) func() bool {
	return func() bool {
		a, err := f.task.front.Find(f.t.Context(), engine.JobQuery{Key: "match:" + id})
		d, ok := a.(engine.JobDetail)
		return err == nil && ok && d.Job.State == s
	}
}

// TestFlow_CancelAndUndo: a retry that waits is cancelled at once, and z brings back
// what it was: its id, its tries, its instant. Both are in the audit with who and why.
func TestFlow_CancelAndUndo(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 6)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		id := f.failing(who, 1, sim.Unavailable)[0]
		f.sync(who)
		f.until("a retry", time.Minute, f.state(id, engine.Retryable))
		was := f.job("match:" + id).Job
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.press("4")
		ana.sees("RETRIES 1 wait", "503 unavailable", "▌")
		ana.press(";")
		ana.types("the account was merged")
		ana.sees("what you do next is because: the account was merged")
		ana.press("x")
		ana.sees("cancelled", "z undo 10 s", "(left)")
		f.until("the cancel", time.Second, f.state(id, engine.Cancelled))
		f.audited(engine.OpCancel, "ana", "the account was merged")
		ana.press("z")
		ana.sees("RETRIES 1 wait", "▌")
		f.until("the undo", time.Second, f.state(id, engine.Retryable))
		is := f.job("match:" + id).Job
		if is.ID != was.ID || is.Tries != was.Tries || !is.Due.Equal(was.Due) {
			t.Errorf("was %+v, is %+v", was, is)
		}
		f.audited(engine.OpUndo, "ana", "")
		ana.press("U", "j")
		ana.sees("AUDIT 3", "ana@console", "cancel", "undo", "the account was merged", "undone")
	})
}

// TestFlow_BulkCancelWithHiddenRows: marks hold ids, the question names what the
// filter hides, and what was marked is what is cancelled, no more.
func TestFlow_BulkCancelWithHiddenRows(t *testing.T) {
	who := flowPlayer("Oslo Fox#FLOW", 8)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		ids := f.failing(who, 3, sim.ServerError)
		f.sync(who)
		for _, id := range ids {
			f.until("a retry of "+id, time.Minute, f.state(id, engine.Retryable))
		}
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.press("4")
		ana.sees("RETRIES 3 wait")
		ana.press("/")
		ana.types(ids[0])
		ana.sees("RETRIES 1 of 3 wait")
		ana.press("space", "/")
		for range ids[0] {
			ana.press("backspace")
		}
		ana.types(ids[1])
		ana.sees("RETRIES 1 of 3 wait", "1 marked")
		ana.press("space")
		ana.sees("2 marked")
		ana.press("x")
		ana.sees("Cancel 2 jobs (1 not in this filter)?", "Would cancel 2", "▌n no")
		ana.press("enter") // no is the answer until said
		ana.misses("Cancel 2 jobs")
		ana.press("x")
		ana.sees("Cancel 2 jobs (1 not in this filter)?")
		ana.press("y")
		ana.sees("cancelled 2", "z undo 10 s")
		for i, want := range []engine.State{engine.Cancelled, engine.Cancelled, engine.Retryable} {
			if is := f.job("match:" + ids[i]).Job.State; is != want {
				t.Errorf("match %d is %s, want %s", i, is, want)
			}
		}
		if e := f.audited(engine.OpCancel, "ana", ""); e.Applied != 2 {
			t.Errorf("the audit says %+v", e)
		}
	})
}

// TestFlow_RetryAnErrorClassWithACanary: the class is one row, one of its jobs goes
// first, and the others follow when it has succeeded.
func TestFlow_RetryAnErrorClassWithACanary(t *testing.T) {
	who := flowPlayer("Nightjar#FLOW", 10)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		ids := f.failing(who, 4, sim.NotFound)
		f.sync(who)
		for _, id := range ids {
			f.until("the end of "+id, 10*time.Minute, f.state(id, engine.Discarded))
		}
		f.sim.Clear()
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.press("3", "#")
		ana.sees("ERROR CLASSES 1 · 4 jobs whose last try failed", "404")
		ana.press(";")
		ana.types("Riot has them again")
		ana.press("C")
		ana.sees("Reason: Riot has them again", "Open the discarded jobs of class 404", "One of them goes first", "Would open again 4 of 4 jobs", "Done about 12:0", "▌n no")
		ana.press("y")
		ana.press("M") // it all happens within the second
		ana.sees("Messages", "goes first; the other 3 follow when it has succeeded")
		for _, id := range ids {
			f.until("the success of "+id, time.Minute, f.state(id, engine.Completed))
		}
		var whys []string
		for _, e := range ask[engine.AuditPage](t, f.task.front, engine.AuditQuery{}).Entries {
			if e.Op == engine.OpReclass && e.By.User == "ana" && e.Applied > 0 {
				whys = append(whys, e.Reason)
			}
		}
		if len(whys) != 2 || !strings.Contains(whys[0], "has succeeded") || whys[1] != "Riot has them again" {
			t.Errorf("the audit gives the reasons %q", whys)
		}
	})
}

// TestFlow_ForcePastTheLimitWithReason: a job that gave up runs once more, but only
// with a reason, which stays with it.
func TestFlow_ForcePastTheLimitWithReason(t *testing.T) {
	who := flowPlayer("Winter Wren#FLOW", 4)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		id := f.failing(who, 1, sim.NotFound)[0]
		f.sync(who)
		f.until("the end", 10*time.Minute, f.state(id, engine.Discarded))
		f.sim.Clear()
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.press("3", "s")
		ana.sees("DISCARDED", "404")
		ana.press("!")
		ana.sees("force match:" + id)
		ana.press("enter")
		ana.sees("say why")
		ana.types("Riot says it is there now")
		f.until("the forced run", time.Minute, f.state(id, engine.Completed))
		ana.press(":")
		ana.types("job match:" + id)
		ana.sees("COMPLETED", "match:"+id)
		f.audited(engine.OpForce, "ana", "Riot says it is there now")
	})
}

// TestFlow_KeyExpiresAndIsReplaced: Riot refuses the key, everything waits and is
// charged nothing; a new one is pasted, nothing is started anew, and the sync ends.
func TestFlow_KeyExpiresAndIsReplaced(t *testing.T) {
	who := flowPlayer("Quiet River#FLOW", 60)
	inFlow(t, flowRiot("10:10", who), func(f *flow) {
		f.sync(who)
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.sees("SYNCING", laneName(who.RiotID))
		f.sim.ExpireKeys()
		ana.seesWithin(2*time.Minute, "✗ NO KEY", "K replaces")
		ana.press("3")
		ana.sees("✗ NO KEY", "HELD")
		ana.press("K")
		ana.sees("new API key")
		ana.paste(keyLater)
		ana.misses("RGAPI", keyLater[len(keyLater)-12:])
		ana.press("enter")
		ana.seesWithin(time.Minute, "● LIVE", "…"+keyLater[len(keyLater)-4:])
		f.audited(engine.OpKey, "ana", "")
		ana.press("2")
		ana.seesWithin(20*time.Minute, who.RiotID, "DONE")
		for _, id := range f.sim.MatchIDs(who.RiotID) {
			if d := f.job("match:" + id); d.Job.State != engine.Completed || d.Job.Tries != 1 {
				t.Errorf("%s is %s after %d tries", id, d.Job.State, d.Job.Tries)
			}
		}
		// A key that works is only given up after a question.
		ana.press("K")
		ana.paste(keyOfFile)
		ana.press("enter")
		ana.sees("Replace the API key?", "▌n no")
		ana.press("esc")
		ana.misses("Replace the API key?")
	})
	noTextIn(t, t.TempDir(), keyLater)
}

// TestFlow_PauseAQueueAndSeeReasonsChange: nothing starts after the pause, each job
// says so, and p lets it go on.
func TestFlow_PauseAQueueAndSeeReasonsChange(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 40)
	inFlow(t, flowRiot("5:10", who), func(f *flow) {
		f.sync(who)
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.sees("SYNCING")
		ana.press("3")
		ana.sees("grouped by why they wait", "AVAILABLE", "10 s window")
		ana.press("1", ";")
		ana.types("deploy of the site")
		ana.sees("because: deploy of the site", "wait for the 10 s window", "on time")
		ana.press("G", "p") // the queue of a call that is to come: one that was made may be of a job that is known no more
		ana.sees("PAUSED")
		f.audited(engine.OpPause, "ana", "deploy of the site")
		time.Sleep(2 * time.Second)
		calls := f.sim.Stats().Calls
		ana.press("3")
		ana.sees("queue paused by ana")
		ana.misses("calls of the 10 s window")
		time.Sleep(time.Minute)
		if n := f.sim.Stats().Calls; n != calls {
			t.Errorf("%d calls were made while the queue was paused", n-calls)
		}
		ana.press("1")
		time.Sleep(2 * time.Second) // the board has asked which calls go next
		ana.press("p")
		ana.loses("‖ PAUSED")
		f.until("calls again", time.Minute, func() bool { return f.sim.Stats().Calls > calls })
		f.audited(engine.OpResume, "ana", "")
	})
}

// TestI5_Flow_FreezeABucketUntilAnInstant: no call is made until then, none fails, and it
// thaws by itself; a cap is shown and ended by the same key.
func TestI5_Flow_FreezeABucketUntilAnInstant(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 60)
	inFlow(t, flowRiot("5:5", who), func(f *flow) {
		f.sync(who)
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.sees("SYNCING")
		ana.press("5", "tab", "p")
		ana.sees("freeze europe")
		ana.types("until 12:03")
		ana.sees("say why")
		ana.types(" patch day")
		ana.sees("FROZEN", "until 12:03:00")
		f.audited(engine.OpFreeze, "ana", "patch day")
		time.Sleep(time.Second)
		calls := f.sim.Stats().Calls
		time.Sleep(time.Until(flowNoon.Add(3*time.Minute - time.Second)))
		if n := f.sim.Stats().Calls; n != calls {
			t.Errorf("%d calls were made through a frozen limit", n-calls)
		}
		f.until("calls after the thaw", time.Minute, func() bool { return f.sim.Stats().Calls > calls })
		ana.loses("FROZEN")
		ana.press("p")
		ana.types("40% +10m the other team needs it")
		ana.sees("CAPPED", "at 40 %")
		ana.press("p")
		ana.loses("CAPPED")
		f.audited(engine.OpThaw, "ana", "")
		f.until("the end", 20*time.Minute, func() bool {
			return ask[engine.StatusAnswer](t, f.task.front, engine.StatusQuery{}).Engine.Stored == 60
		})
		if n := f.sim.Stats().Violations; n != 0 {
			t.Errorf("%d violations", n)
		}
	})
}

// TestFlow_FilterPaletteAndCopy: a filter with an error keeps the last good rows; the
// palette goes to a job by its id; what is copied reaches the terminal's clipboard,
// what is exported a file.
func TestFlow_FilterPaletteAndCopy(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 30)
	inFlow(t, flowRiot("5:30", who), func(f *flow) {
		f.sync(who)
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.sees("SYNCING")
		ana.press("3", "/")
		ana.send("state:available")
		ana.sees("/state:available", "AVAILABLE")
		ana.misses("PENDING")
		ana.send(" agee>5")
		ana.sees(`there is no field "agee"`, "/state:available still")
		ana.press("enter") // a wrong filter is not taken
		ana.sees(`there is no field "agee"`)
		ana.press("esc", "esc", "esc")

		id := f.sim.MatchIDs(who.RiotID)[20]
		job := f.job("match:" + id).Job
		ana.press(":")
		ana.types("job " + string(job.ID))
		ana.sees("▸ match:"+id, "AVAILABLE")
		ana.press("y")
		ana.sees("COPY", "id", "JSON", "curl")
		ana.press("enter")
		ana.sees("copied", "OSC 52")
		if got := ana.clipboard(); got != string(job.ID) && got != "match:"+id {
			t.Errorf("the clipboard has %q", got)
		}
		ana.press("y")
		for range 12 {
			if strings.Contains(ana.line("▌"), "curl") {
				break
			}
			ana.press("down")
		}
		ana.press("enter")
		if got := ana.clipboard(); !strings.Contains(got, "curl ") || !strings.Contains(got, id) || strings.Contains(got, "RGAPI") || !strings.Contains(got, "RIOT_API_KEY") {
			t.Errorf("the clipboard has %q", got)
		}

		path := filepath.Join(t.TempDir(), "jobs.csv")
		ana.press("3", "e")
		ana.sees("write to")
		for range 60 {
			ana.press("backspace")
		}
		ana.types(path)
		ana.sees("wrote")
		if got := f.readFile(path); !strings.Contains(got, "match:"+id) || !strings.HasPrefix(got, "JOB,") {
			t.Errorf("the file has %.200q", got)
		}
	})
}

// TestFlow_FreezeStepToA429AndOpenItsJob: the view is frozen while the engine goes on,
// the time cursor steps back to a 429, and from it to its job.
func TestFlow_FreezeStepToA429AndOpenItsJob(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 40)
	inFlow(t, flowRiot("5:5", who), func(f *flow) {
		f.sync(who)
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.sees("SYNCING")
		if err := f.sim.Inject(sim.Fault{Name: "429", Match: sim.Match{Method: route.Match}, Kind: sim.LimitApp, RetryAfter: "3", Count: 1}); err != nil {
			t.Fatal(err)
		}
		ana.press("5")
		ana.sees("  429  ")
		time.Sleep(10 * time.Second)
		ana.press("f")
		ana.sees("‖ FROZEN")
		stored := ask[engine.StatusAnswer](t, f.task.front, engine.StatusQuery{}).Engine.Stored
		for range 40 {
			if strings.Contains(ana.line("▌  12:0"), "  429  ") {
				break
			}
			ana.press("[")
		}
		ana.sees("back", "lists as of")
		if !strings.Contains(ana.line("▌  12:0"), "  429  ") {
			t.Fatalf("the cursor never comes to the 429:\n%s", ana.glass.text())
		}
		ana.press("enter")
		ana.sees("RATE LIMIT HIT", "429", "FROZEN")
		ana.press("enter")
		ana.sees("match:EUW1_", "tries used")
		ana.press("esc", "esc", ".")
		ana.loses("FROZEN")
		f.until("the engine went on meanwhile", time.Minute, func() bool {
			return ask[engine.StatusAnswer](t, f.task.front, engine.StatusQuery{}).Engine.Stored > stored
		})
	})
}

// TestFlow_QuitWhileJobsRun: it is asked, no is the answer until said, all is kept,
// and the next start goes on without a call made twice.
func TestFlow_QuitWhileJobsRun(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 40)
	o := flowRiot("5:5", who)
	o.Latency = sim.Latency{Base: 400 * time.Millisecond}
	inFlow(t, o, func(f *flow) {
		f.sync(who)
		ana := f.sit("ana", 120, 40)
		ana.sees("SYNCING")
		ana.press("q")
		ana.sees("Quit Farsight?", "1 sync", "kept and goes on", "▌n no")
		ana.press("enter")
		ana.misses("Quit Farsight?")
		ana.press("q", "y")
		<-ana.done
		if ana.err != nil {
			t.Errorf("the console ended with %v", ana.err)
		}
		f.stop()
		f.start()
		bo := f.sit("bo", 80, 24)
		defer bo.leave()
		bo.press("2")
		bo.seesWithin(10*time.Minute, who.RiotID, "DONE")
		for _, id := range f.sim.MatchIDs(who.RiotID) {
			if n := f.sim.Fetched(route.Match, id).OK; n != 1 {
				t.Errorf("%s was fetched %d times", id, n)
			}
		}
	})
}

// TestFlow_ResizeKeepsTheCursorByID: through every class and below, the cursor is on
// the job it was on.
func TestFlow_ResizeKeepsTheCursorByID(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 12)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		ids := f.failing(who, 5, sim.Unavailable)
		f.sync(who)
		for _, id := range ids {
			f.until("a retry", time.Minute, f.state(id, engine.Retryable))
		}
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.press("4", "j", "j")
		ana.press("y", "enter")
		ana.sees("copied")
		key := ana.clipboard()
		for _, size := range [][2]int{{80, 24}, {60, 16}, {52, 14}, {1, 1}, {200, 60}, {250, 80}, {101, 31}, {120, 40}} {
			ana.resize(size[0], size[1])
			if size[0] >= 60 {
				ana.sees("RETRIES", "▌")
			}
			if right, bottom := ana.glass.edges(); right > size[0] || bottom > size[1] {
				t.Errorf("%dx%d is painted up to %dx%d", size[0], size[1], right, bottom)
			}
		}
		ana.press("y", "enter")
		if is := ana.clipboard(); is != key || key == "" {
			t.Errorf("the cursor was on %q and is on %q", key, is)
		}
	})
}

// TestFlow_TwoConsolesActOnOneJob: the second is told who was first; both see it; the
// job is cancelled once.
func TestFlow_TwoConsolesActOnOneJob(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 6)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		id := f.failing(who, 1, sim.Unavailable)[0]
		f.sync(who)
		f.until("a retry", time.Minute, f.state(id, engine.Retryable))
		ana, bo := f.sit("ana", 120, 40), f.sit("bo", 140, 30)
		defer ana.leave()
		defer bo.leave()
		ana.press("4")
		bo.press("4", "f") // what bo sees is what was, from now on
		ana.sees("RETRIES 1 wait")
		bo.sees("RETRIES 1 wait", "FROZEN")
		ana.press("x")
		ana.sees("cancelled", "z undo 10 s")
		bo.sees("ana: cancel")
		bo.press("x")
		bo.sees("changed since shown: cancelled by ana@console at 12:00")
		bo.misses("z undo")
		bo.press(".")
		if d := f.job("match:" + id); d.Job.State != engine.Cancelled {
			t.Errorf("the job is %s", d.Job.State)
		}
		n := 0
		for _, e := range ask[engine.AuditPage](t, f.task.front, engine.AuditQuery{}).Entries {
			if e.Op == engine.OpCancel && e.Applied > 0 {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the audit has %d cancels that did something", n)
		}
	})
}

// TestFlow_ReadOnlyRefusesWithAReason: every action is there and says why it does
// nothing; looking is free.
func TestFlow_ReadOnlyRefusesWithAReason(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 30)
	inFlow(t, flowRiot("5:30", who), func(f *flow) {
		f.sync(who)
		eve := f.sit("eve", 120, 40, func(o *ui.Options) { o.ReadOnly, o.ReadOnlyWhy = true, "eve is a viewer here: ask an operator" })
		defer eve.leave()
		eve.sees("READ ONLY", "SYNCING")
		before := len(ask[engine.AuditPage](t, f.task.front, engine.AuditQuery{}).Entries)
		for _, keys := range [][]string{{"1", "p"}, {"2", "t"}, {"2", "x"}, {"2", "a"}, {"3", "r"}, {"3", "x"}, {"3", "@"}, {"3", "!"}, {"3", "D"}, {"5", "tab", "p"}, {"K"}, {";"}} {
			eve.press(keys...)
			eve.sees("eve is a viewer here")
			time.Sleep(5 * time.Second) // the message fades
		}
		for _, line := range []string{"pause ingest.summoner.full", "cancel job:x", "sync A#B euw1", "untrack " + who.RiotID, "freeze europe +1m why"} {
			eve.press(":")
			eve.types(line)
			eve.sees("eve is a viewer here")
			eve.press("esc")
			time.Sleep(5 * time.Second)
		}
		if n := len(ask[engine.AuditPage](t, f.task.front, engine.AuditQuery{}).Entries); n != before {
			t.Errorf("the audit has %d entries, had %d", n, before)
		}
		eve.press("3", "enter")
		eve.sees("tries used")
	})
}

// TestFlow_CostBeforeASync: a long sync is only started after its cost was said in
// one line: calls, end, what it delays (I-2). A short one starts at once.
func TestFlow_CostBeforeASync(t *testing.T) {
	long, other := flowPlayer("Long History#FLOW", 300), flowPlayer("Blue Heron#FLOW", 200)
	inFlow(t, flowRiot("20:10", long, other), func(f *flow) {
		f.sync(other)
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.sees("SYNCING", "min")
		ana.press("t")
		ana.types(long.RiotID + " euw1")
		ana.sees("Sync "+long.RiotID+"?", "At most 2,014 calls (europe's 10 s window", "done by about 12:", "Blue Heron#FLOW by up to", "▌n no")
		ana.press("n")
		ana.misses("Sync " + long.RiotID + "?")
		if n := len(ask[engine.AuditPage](t, f.task.front, engine.AuditQuery{}).Entries); n != 1 {
			t.Errorf("the audit has %d entries, want that of the first sync", n)
		}
	})
}

// TestFlow_TrackUntrackRescheduleAndPurge: the controls that no other flow tries.
func TestFlow_TrackUntrackRescheduleAndPurge(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 6)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		id := f.failing(who, 1, sim.Unavailable)[0]
		f.sync(who)
		f.until("a retry", time.Minute, f.state(id, engine.Retryable))
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		tracked := func() bool {
			return ask[engine.AccountDetail](t, f.task.front, engine.AccountQuery{ID: who.RiotID}).Row.Tracked
		}
		was := tracked()
		ana.press("2")
		ana.sees(laneName(who.RiotID))
		ana.press("a")
		f.until("the turn", 5*time.Second, func() bool { return tracked() != was })
		ana.sees(map[bool]string{true: "not tracked", false: " tracked"}[was])
		ana.press("a")
		f.until("the turn back", 5*time.Second, func() bool { return tracked() == was })

		ana.press("4", "@")
		ana.sees("run match:" + id + " at")
		ana.types("+7m")
		ana.sees("z undo 10 s")
		due := f.job("match:" + id).Job.Due
		if in := time.Until(due); in < 6*time.Minute || in > 7*time.Minute {
			t.Errorf("it is due in %s", in)
		}
		ana.press("z")
		f.until("the undo", 5*time.Second, func() bool { return f.job("match:" + id).Job.Due.Before(due) })

		ana.press("3", "D")
		ana.sees("Purge ended jobs?", "type purge to go on", "would be deleted")
		ana.press("y", "enter")
		ana.sees("type the word that is shown")
		ana.press("backspace")
		ana.types("purge")
		ana.sees("were deleted")
		f.audited(engine.OpPrune, "ana", "")
	})
}
