package control_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
)

// jobs stores n jobs in one transaction.
func (r *rig) jobs(t *testing.T, n int, key func(i int) string) {
	t.Helper()
	err := r.db.Write(t.Context(), func(tx engine.Tx) error {
		specs := make([]engine.Spec, n)
		for i := range specs {
			specs[i] = engine.Spec{Kind: "match.fetch", Queue: "ingest.summoner.full", Key: key(i), Policy: engine.PolicyMatch}
		}
		_, err := tx.Enqueue(specs...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// discardAll ends every live job after a failure of one class.
func (r *rig) discardAll(t *testing.T) {
	t.Helper()
	err := r.db.Write(t.Context(), func(tx engine.Tx) error {
		for j, err := range r.db.Live(t.Context()) {
			if err != nil {
				return err
			}
			j.State, j.Rev, j.Class, j.LastError = engine.Discarded, j.Rev+1, "503", "503: service unavailable"
			j.Started, j.Finished = time.Now(), time.Now()
			if err := r.db.SaveJob(tx, j); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// found asks for all pages of a query that looks at jobs one by one.
func (r *rig) found(t *testing.T, q engine.JobsQuery) (keys []string, looked, pages int) {
	t.Helper()
	for {
		a, err := r.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		page := a.(engine.JobsPage)
		for _, j := range page.Jobs {
			keys = append(keys, j.Key)
		}
		looked += page.Looked
		if pages++; page.Next == "" {
			return keys, looked, pages
		}
		q.After = page.Next
	}
}

// TestFiltersLookAtAllJobs: whatever the place of a job among all, a filter finds it, and
// one answer looks at some of the jobs only. The store gives 500 at once.
func TestFiltersLookAtAllJobs(t *testing.T) {
	const all = 1700
	r := newRigWith(t, func(o *control.Options) { o.Look = 1000 })
	r.jobs(t, all, func(i int) string { return fmt.Sprintf("match:EUW1_%04d", i) })
	for _, q := range []engine.JobsQuery{{Filter: `key:"match:EUW1_0600"`}, {Filter: `key:"match:EUW1_0600"`, Oldest: true}, {Filter: "0600 why:line", Queue: "ingest.summoner.full"}} {
		keys, looked, pages := r.found(t, q)
		if !slices.Equal(keys, []string{"match:EUW1_0600"}) || looked != all || pages != 2 {
			t.Errorf("%+v: %q of %d in %d pages", q, keys, looked, pages)
		}
	}
	keys, looked, _ := r.found(t, engine.JobsQuery{Filter: "EUW1_", Oldest: true, Page: engine.Page{Limit: 7}})
	if len(keys) != all || looked != all || !slices.IsSorted(keys) {
		t.Errorf("%d of %d fit, sorted %t", len(keys), looked, slices.IsSorted(keys))
	}
	if _, err := r.Find(t.Context(), engine.JobsQuery{Filter: "age>"}); err == nil {
		t.Error("a filter that cannot be used is")
	}
}

// TestReasonsCountAllJobs: grouping by reason looks at every live job, some at a time.
func TestReasonsCountAllJobs(t *testing.T) {
	const all = 2300
	r := newRigWith(t, func(o *control.Options) { o.Look = 1000 })
	r.jobs(t, all, func(i int) string { return fmt.Sprintf("match:EUW1_%04d", i) })
	var groups engine.Reasons
	looked, pages := 0, 0
	for q := (engine.ReasonsQuery{}); ; pages++ {
		a, err := r.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		page := a.(engine.ReasonsAnswer)
		groups.Add(page.Reasons...)
		looked += page.Looked
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	rows := groups.Rows()
	if len(rows) != 1 || rows[0].Jobs != all || rows[0].Text != "3rd in line" || looked != all || pages != 2 {
		t.Errorf("%d jobs looked at, %d pages more, %+v", looked, pages, rows)
	}
	keys, _, _ := r.found(t, engine.JobsQuery{Reason: rows[0].Shape})
	if len(keys) != all {
		t.Errorf("%d jobs of the reason", len(keys))
	}
}

// TestClassesCountAllJobs: also those beyond the first pages of discarded jobs, and the
// jobs of a class are all found.
func TestClassesCountAllJobs(t *testing.T) {
	const all = 1700
	r := newRig(t)
	r.jobs(t, all, func(i int) string { return fmt.Sprintf("match:EUW1_%04d", i) })
	r.discardAll(t)
	a, err := r.Find(t.Context(), engine.ClassesQuery{})
	if err != nil {
		t.Fatal(err)
	}
	classes := a.(engine.ClassesAnswer)
	if len(classes.Classes) != 1 || classes.Jobs != all || classes.Classes[0].Dead != all {
		t.Fatalf("%+v", classes)
	}
	keys, _, _ := r.found(t, engine.JobsQuery{States: []engine.State{engine.Discarded}, Ended: true, Class: engine.Class(classes.Classes[0].ID)})
	if len(keys) != all {
		t.Errorf("%d jobs of the class", len(keys))
	}
}
