package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/fold"
	"github.com/farsight-console/farsight/ui/uitest"
)

func TestRowsFoldUpdates(t *testing.T) {
	var r rows
	r.apply(uitest.Busy().Update, uitest.Noon)
	frozen := r.data
	job, ok := r.data.Job("j881")
	if !ok {
		t.Fatal("the snapshot's job is not there")
	}

	old := job
	old.Rev, old.State = 2, engine.Available
	r.apply(engine.Update{Seq: 4712, Jobs: []engine.JobRow{old}, Gone: []engine.JobID{"j902"}}, uitest.Noon)
	if now, _ := r.data.Job("j881"); now.State != engine.Retryable {
		t.Errorf("a late row took the job back to %s", now.State)
	}
	if _, ok := r.data.Job("j902"); ok {
		t.Error("a job that is gone is still there")
	}
	if _, ok := frozen.Job("j902"); !ok {
		t.Error("a frozen view lost a row")
	}

	r.apply(engine.Update{Seq: 4713, Calls: []engine.CallRow{{Seq: 99}}}, uitest.Noon)
	if n := len(r.data.Calls); n != 41 || len(frozen.Calls) != 40 {
		t.Errorf("%d calls, want 41; %d in the frozen view, want 40", n, len(frozen.Calls))
	}
	for i := range 3 * fold.KeptCalls {
		r.apply(engine.Update{Calls: []engine.CallRow{{Seq: uint64(100 + i)}}}, uitest.Noon)
	}
	if n := len(r.data.Calls); n != fold.KeptCalls || r.data.Calls[n-1].Seq != uint64(99+3*fold.KeptCalls) {
		t.Errorf("the recorder keeps %d calls", n)
	}

	r.apply(uitest.Empty().Update, uitest.Noon)
	if len(r.data.Jobs)+len(r.data.Accounts)+len(r.data.Calls) != 0 {
		t.Error("a snapshot does not replace everything")
	}
}

func TestToastsFade(t *testing.T) {
	var x toasts
	x.add(engine.Note{Level: engine.LevelInfo, Text: "a"}, uitest.Noon)
	x.add(engine.Note{Level: engine.LevelErr, Text: "b"}, uitest.Noon)
	if next := x.next(uitest.Noon); !next.Equal(uitest.Noon.Add(4 * time.Second)) {
		t.Errorf("the next one fades at %v", next)
	}
	x.expire(uitest.Noon.Add(4 * time.Second))
	if top := x.top(time.UTC); top.Text != "b" || top.More != 0 {
		t.Errorf("shows %+v", top)
	}
	if !x.next(uitest.Noon).IsZero() {
		t.Error("an error fades")
	}
}
