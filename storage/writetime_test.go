package storage

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

func TestWriteTimesAreTheP95OfTheLastMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w disk.WriteTimes
		took := func(d time.Duration) {
			began := time.Now()
			time.Sleep(d)
			w.Add(began)
		}
		if _, ok := w.P95(time.Now()); ok {
			t.Error("nothing was written yet")
		}
		took(time.Second)
		if d, ok := w.P95(time.Now()); !ok || d != time.Second {
			t.Errorf("one write of a second: %s %t", d, ok)
		}
		time.Sleep(2 * time.Minute)
		for range 19 {
			took(time.Millisecond)
		}
		took(300 * time.Millisecond)
		if d, _ := w.P95(time.Now()); d != time.Millisecond {
			t.Errorf("one slow write of 20: %s", d)
		}
		took(400 * time.Millisecond)
		if d, _ := w.P95(time.Now()); d != 300*time.Millisecond {
			t.Errorf("two slow writes of 21: %s", d)
		}
		for range 2 * disk.WritesKept { // no more than so many are kept
			took(time.Microsecond)
		}
		if d, _ := w.P95(time.Now()); d != time.Microsecond {
			t.Errorf("then many fast ones: %s", d)
		}
		time.Sleep(2 * time.Minute)
		if _, ok := w.P95(time.Now()); ok {
			t.Error("two minutes later there is none left")
		}
	})
}

func TestBothStoresAreTimed(t *testing.T) {
	db := start(t, "")
	if got := db.WriteTimes(time.Now()); len(got) != 0 {
		t.Errorf("before the first write: %v", got)
	}
	enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
	if got := db.WriteTimes(time.Now()); len(got) != 1 || got["state"] <= 0 {
		t.Errorf("after a job: %v", got)
	}
	ref, body := gzipped(`{"info":{}}`)
	must(t, db.files.Put(context.Background(), "EUW1_1", league.PartMatch, ref, body))
	if got := db.WriteTimes(time.Now()); len(got) != 2 || got["payload"] <= 0 {
		t.Errorf("after a payload: %v", got)
	}
}
