package storage

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestS4_10_JobLog: each ended job with its id, type, status, retries, error and times, newest first, over restarts.
func TestS4_10_JobLog(t *testing.T) {
	db := start(t, "")
	var ids []engine.JobID
	for i, s := range []engine.State{engine.Completed, engine.Discarded, engine.Cancelled, engine.Running, engine.Completed} {
		j := enqueue(t, db, engine.Spec{Kind: engine.Kind(fmt.Sprint("kind", i%2)), Queue: engine.Queue(fmt.Sprint("queue", i/2)), Key: fmt.Sprint("job:", i)})
		for n := 1; n <= i; n++ { // an operator's retry begins a second round at the third attempt
			write(t, db, func(tx engine.Tx) error {
				return db.AddAttempt(tx, j.ID, engine.Attempt{Number: n, Round: 1 + n/3, Try: 1 + (n-1)%2, End: noon, Verb: engine.VerbRetry, Class: "503"})
			})
		}
		j.Started, j.LastError = noon.Add(time.Minute), fmt.Sprint("error ", i)
		if s.Terminal() {
			j.Finished = noon.Add(2 * time.Minute)
		}
		j = move(t, db, j, s)
		ids = append(ids, j.ID)
	}
	page, err := db.JobLog(context.Background(), engine.JobLogQuery{})
	if err != nil || len(page.Jobs) != 4 || page.Next != "" {
		t.Fatalf("%+v %v", page, err)
	}
	got, want := page.Jobs[2], engine.JobLog{
		Job: ids[1], Type: "kind1", Key: "job:1", Queue: "queue0", Status: engine.Discarded, Error: "error 1",
		Created: page.Jobs[2].Created, Started: noon.Add(time.Minute), Finished: noon.Add(2 * time.Minute),
	}
	if got != want || got.Created.IsZero() {
		t.Errorf("%+v, want %+v", got, want)
	}
	for i, want := range []struct {
		id      engine.JobID
		retries int
	}{{ids[4], 2}, {ids[2], 1}, {ids[1], 0}, {ids[0], 0}} {
		if j := page.Jobs[i]; j.Job != want.id || j.Retries != want.retries {
			t.Errorf("line %d: job %s with %d retries, want %+v", i, j.Job, j.Retries, want)
		}
	}
	for _, c := range []struct {
		q    engine.JobLogQuery
		want int
	}{{engine.JobLogQuery{Kind: "kind1"}, 1}, {engine.JobLogQuery{Queue: "queue0"}, 2}, {engine.JobLogQuery{Kind: "kind0", Queue: "queue1"}, 1}, {engine.JobLogQuery{Kind: "none"}, 0}} {
		if page, err := db.JobLog(context.Background(), c.q); err != nil || len(page.Jobs) != c.want {
			t.Errorf("%+v: %d lines, %v", c.q, len(page.Jobs), err)
		}
	}
}

func TestJobLogPages(t *testing.T) {
	db := start(t, "")
	for range 7 {
		j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
		j.Finished = noon
		move(t, db, j, engine.Completed)
	}
	seen := map[engine.JobID]bool{}
	q := engine.JobLogQuery{Page: engine.Page{Limit: 3}}
	for range 3 {
		page, err := db.JobLog(context.Background(), q)
		must(t, err)
		for _, j := range page.Jobs {
			seen[j.Job] = true
		}
		q.After = page.Next
	}
	if len(seen) != 7 || q.After != "" {
		t.Errorf("%d jobs in three pages, next %q", len(seen), q.After)
	}
	if _, err := db.JobLog(context.Background(), engine.JobLogQuery{Page: engine.Page{After: "luck"}}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a cursor that is none: %v", err)
	}
}
