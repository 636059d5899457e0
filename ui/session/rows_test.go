package session

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/fold"
	"github.com/farsight-console/farsight/ui/uitest"
)

func TestRowsFoldUpdates(t *testing.T) {
	var r Rows
	r.Apply(uitest.Busy().Update, uitest.Noon)
	frozen := r.Data
	job, ok := r.Data.Job("j881")
	if !ok {
		t.Fatal("the snapshot's job is not there")
	}

	old := job
	old.Rev, old.State = 2, engine.Available
	r.Apply(engine.Update{Seq: 4712, Jobs: []engine.JobRow{old}, Gone: []engine.JobID{"j902"}}, uitest.Noon)
	if now, _ := r.Data.Job("j881"); now.State != engine.Retryable {
		t.Errorf("a late row took the job back to %s", now.State)
	}
	if _, ok := r.Data.Job("j902"); ok {
		t.Error("a job that is gone is still there")
	}
	if _, ok := frozen.Job("j902"); !ok {
		t.Error("a frozen view lost a row")
	}

	r.Apply(engine.Update{Seq: 4713, Calls: []engine.CallRow{{Seq: 99}}}, uitest.Noon)
	if n := len(r.Data.Calls); n != 41 || len(frozen.Calls) != 40 {
		t.Errorf("%d calls, want 41; %d in the frozen view, want 40", n, len(frozen.Calls))
	}
	for i := range 3 * fold.KeptCalls {
		r.Apply(engine.Update{Calls: []engine.CallRow{{Seq: uint64(100 + i)}}}, uitest.Noon)
	}
	if n := len(r.Data.Calls); n != fold.KeptCalls || r.Data.Calls[n-1].Seq != uint64(99+3*fold.KeptCalls) {
		t.Errorf("the recorder keeps %d calls", n)
	}

	r.Apply(uitest.Empty().Update, uitest.Noon)
	if len(r.Data.Jobs)+len(r.Data.Accounts)+len(r.Data.Calls) != 0 {
		t.Error("a snapshot does not replace everything")
	}
}

// TestWhatKeepsCalls: a freeze without an end turns what an engine's calls stand for, and another order of the hosts
// does not.
func TestWhatKeepsCalls(t *testing.T) {
	capped := func(host string) engine.BucketRow { return engine.BucketRow{Host: host, Cap: 10} }
	var r Rows
	r.Apply(engine.Update{Snapshot: true, Limits: &engine.LimitsRow{Buckets: []engine.BucketRow{capped("asia"), capped("europe")}}}, uitest.Noon)
	for _, c := range []struct {
		buckets []engine.BucketRow
		turned  bool
	}{
		{[]engine.BucketRow{capped("europe"), capped("asia")}, false},
		{[]engine.BucketRow{capped("europe"), {Host: "asia"}}, true},
		{[]engine.BucketRow{capped("europe"), {Host: "asia", BlockedBy: engine.BlockedFrozen}}, true},
	} {
		if _, turned := r.Apply(engine.Update{Limits: &engine.LimitsRow{Buckets: c.buckets}}, uitest.Noon); turned != c.turned {
			t.Errorf("turned %t by %+v", turned, c.buckets)
		}
	}
}
