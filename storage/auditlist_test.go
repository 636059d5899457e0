package storage

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

func TestAudits_PagesAndFilters(t *testing.T) {
	db := start(t, "")
	ops := []engine.Op{engine.OpPause, engine.OpCancel, engine.OpFreeze}
	for i := range 60 {
		write(t, db, func(tx engine.Tx) error {
			_, err := db.AddAudit(tx, engine.AuditEntry{
				At: noon.Add(time.Duration(i) * time.Minute), Op: ops[i%3], Target: fmt.Sprintf("job %d", i), Result: "done", Matched: 1,
				By:    engine.Actor{User: []string{"ana", "Bob"}[i%2], Session: "10.0.0.7", Via: "console"},
				Moves: []engine.JobMove{{}},
			})
			return err
		})
	}
	for name, c := range map[string]struct {
		q    engine.AuditQuery
		want int
	}{
		"all":             {engine.AuditQuery{}, 60},
		"a command":       {engine.AuditQuery{Op: engine.OpCancel}, 20},
		"who, any case":   {engine.AuditQuery{Text: "bob"}, 30},
		"from where":      {engine.AuditQuery{Text: "10.0.0.7"}, 60},
		"target":          {engine.AuditQuery{Text: "job 5"}, 11},
		"command and who": {engine.AuditQuery{Op: engine.OpPause, Text: "ANA"}, 10},
		"nothing":         {engine.AuditQuery{Op: engine.OpUndo}, 0},
	} {
		var got []uint64
		for c.q.Limit = 7; ; {
			page, err := db.Audits(t.Context(), c.q)
			if err != nil {
				t.Fatal(name, err)
			}
			for _, e := range page.Entries {
				got = append(got, e.Seq)
			}
			if c.q.After = page.Next; page.Next == "" {
				break
			}
		}
		if newestFirst := slices.IsSortedFunc(got, func(a, b uint64) int { return int(b) - int(a) }); len(got) != c.want || !newestFirst {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := db.Audits(t.Context(), engine.AuditQuery{Page: engine.Page{After: "-1"}}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a broken cursor: %v", err)
	}
	wantSound(t, db)
}

// A search that finds nothing for long gives a page without entries and a cursor,
// rather than hold a read transaction over years of audit.
func TestAudits_ASearchIsBounded(t *testing.T) {
	db := start(t, "")
	write(t, db, func(tx engine.Tx) error {
		for i := range maxScan + 5 {
			op := engine.OpPause
			if i == 0 {
				op = engine.OpUndo
			}
			if _, err := db.AddAudit(tx, engine.AuditEntry{At: noon, Op: op}); err != nil {
				return err
			}
		}
		return nil
	})
	q := engine.AuditQuery{Op: engine.OpUndo}
	page, err := db.Audits(t.Context(), q)
	if err != nil || len(page.Entries) != 0 || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	q.After = page.Next
	page, err = db.Audits(t.Context(), q)
	if err != nil || len(page.Entries) != 1 || page.Entries[0].Seq != 1 || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestI11_OneCommandComesWithWhatItChanged: the list leaves that out.
func TestI11_OneCommandComesWithWhatItChanged(t *testing.T) {
	db := start(t, "")
	move := engine.JobMove{Job: "5", Rev: 2, Before: engine.JobStand{State: engine.Retryable, Round: 1}, After: engine.JobStand{State: engine.Cancelled, Round: 1}}
	var seq uint64
	write(t, db, func(tx engine.Tx) (err error) {
		seq, err = db.AddAudit(tx, engine.AuditEntry{At: noon, Op: engine.OpCancel, Applied: 1, Moves: []engine.JobMove{move}})
		return err
	})
	page, err := db.Audits(t.Context(), engine.AuditQuery{Seq: seq})
	if err != nil || len(page.Entries) != 1 || len(page.Entries[0].Moves) != 1 || page.Entries[0].Moves[0].After.State != engine.Cancelled {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := db.Audits(t.Context(), engine.AuditQuery{Seq: seq + 1}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a number that is none: %v", err)
	}
}
