package app

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

// On a directory at rest: what would go is said first, nobody is asked without --yes, the
// shared matches stay, and whoever is synced again begins anew.
func TestForgetDeletesAnAccountAndKeepsTheOthers(t *testing.T) {
	t.Parallel()
	ana, ben := player("Ana#EUW", 5), player("Ben#EUW", 3)
	s := startSim(t, quick(ana, ben))
	dir := freshDir(t)
	run := func(code int, args ...string) result {
		t.Helper()
		res := command{args: append(args, "--data-dir", dir), env: s.env()}.asked(t).wants(t, code)
		clean(t, strings.Join(args, " "), res.stdout)
		return res
	}
	oneSentence(t, run(exitFailed, "forget", "Ana#EUW", "--yes").stderr, "stored", "--data-dir")
	s.sync("Ana#EUW", dir).run(t).wants(t, exitDone)
	s.sync("Ben#EUW", dir).run(t).wants(t, exitDone)

	oneSentence(t, run(exitUsage, "forget", "Ana").stderr, "Ana")
	oneSentence(t, run(exitFailed, "forget", "Nobody#EUW", "--yes").stderr, "no such account", "farsight accounts")
	oneSentence(t, run(exitUsage, "forget", "Ana#EUW").stderr, "--yes", "--dry-run")
	if res := run(exitDone, "forget", "Ana#EUW", "--dry-run"); !strings.Contains(res.stdout, "5 matches (0 shared with other accounts stay)") || !strings.Contains(res.stdout, "would be deleted") {
		t.Errorf("%s", res.stdout)
	}
	var r engine.Receipt
	unmarshal(t, run(exitDone, "forget", "ana#euw", "--yes", "--json", "--reason", "they asked").stdout, &r)
	if r.Applied != 1 || r.Forget == nil || r.Forget.Matches != 5 || r.Forget.Jobs < 11 || r.Forget.Bytes == 0 || !strings.Contains(r.Text, "farsight compact") {
		t.Errorf("%+v %+v", r, r.Forget)
	}
	sound(t, dir)
	if res := run(exitDone, "accounts"); strings.Contains(res.stdout, "Ana#EUW") || !strings.Contains(res.stdout, "Ben#EUW") {
		t.Errorf("%s", res.stdout)
	}
	if got := exported(t, dir); len(got) != 3 {
		t.Errorf("%d matches are left, want 3", len(got))
	}
	audit, _, _ := strings.Cut(run(exitDone, "audit", "--json").stdout, "\n") // the newest; those from before stay
	if strings.Contains(audit, "Ana") || !strings.Contains(audit, r.Forget.Mask) || !strings.Contains(audit, "they asked") {
		t.Errorf("the audit: %s", audit)
	}
	s.sync("Ana#EUW", dir).run(t).wants(t, exitDone)
	if got := exported(t, dir); len(got) != 8 {
		t.Errorf("%d matches after the next sync, want 8", len(got))
	}
	sound(t, dir)
}

// On a directory at rest, too, nothing says any more whose the calls were that speak for an alert, or led to a 429: in
// what an engine has stored of them, and in what lists show of it.
func TestForgetAtRestLeavesNoEvidence(t *testing.T) {
	t.Parallel()
	const gone, stays = "Gone Away#EUW", "Stays#EUW"
	s := startSim(t, quick(player(gone, 8), player(stays, 4)))
	ids := s.MatchIDs(gone)
	for _, fault := range []sim.Fault{
		{Name: "429", Kind: sim.LimitApp, RetryAfter: "1", Count: 1, Match: sim.Match{Method: route.Match, ID: ids[0]}},
		{Name: "lost", Kind: sim.NotFound, Match: sim.Match{Method: route.Match, ID: ids[1], Attempts: 1}},
	} {
		if err := s.Inject(fault); err != nil {
			t.Fatal(err)
		}
	}
	dir := freshDir(t)
	s.sync(gone, dir).run(t).wants(t, exitIncomplete)
	s.sync(stays, dir).run(t).wants(t, exitDone)
	traces := append([]string{"Gone Away", s.PUUID(gone, "")[:8]}, ids...)
	told := func() (of []string) {
		db, err := storage.OpenReadOnly(storage.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, name := range []string{"alerts", "forensics"} {
			blob, err := db.LoadState(t.Context(), name)
			if err != nil || blob == nil {
				t.Fatalf("%s: %d bytes, %v", name, len(blob), err)
			}
			if slices.ContainsFunc(traces, func(trace string) bool { return bytes.Contains(blob, []byte(trace)) }) {
				of = append(of, name)
			}
		}
		return of
	}
	if of := told(); len(of) != 2 {
		t.Fatalf("only %v tell of the player", of)
	}
	command{args: []string{"forget", gone, "--yes", "--data-dir", dir}, env: s.env()}.asked(t).wants(t, exitDone)
	if of := told(); len(of) != 0 {
		t.Errorf("%v tell of the player", of)
	}
	sound(t, dir)
}

// Through the engine that holds the directory: while a sync runs it is refused, and what
// waits is cancelled in the same act.
func TestForgetThroughARunningEngine(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 4)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		id := f.failing(who, 1, sim.Unavailable)[0]
		f.sync(who)
		f.until("a retry", time.Minute, f.state(id, engine.Retryable))
		ask := engine.Command{Op: engine.OpForget, Account: who.RiotID, DryRun: true, By: engine.Actor{User: "ana", Via: "cli"}}
		var would engine.Receipt
		f.until("nothing to run", 10*time.Minute, func() bool {
			r, err := f.task.front.Do(context.Background(), ask)
			would = r
			return err == nil
		})
		if would.Forget.Cancelled < 2 || !strings.Contains(would.Text, "would be cancelled first") {
			t.Errorf("%+v", would.Forget)
		}
		ask.DryRun = false
		var did engine.Receipt
		f.until("the deletion", 10*time.Minute, func() bool {
			r, err := f.task.front.Do(context.Background(), ask)
			did = r
			return err == nil
		})
		if did.Forget.Cancelled == 0 || did.Forget.Matches == 0 {
			t.Errorf("%+v", did.Forget)
		}
	})
}
