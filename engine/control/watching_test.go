package control_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
)

// scroll is a log of fixed records.
type scroll struct{ asked engine.LogsQuery }

func (s *scroll) Page(q engine.LogsQuery) engine.LogsPage {
	s.asked = q
	return engine.LogsPage{Logs: []engine.LogRow{{Seq: 3, Text: "three"}}, Kept: 3, Dropped: 2}
}
func (s *scroll) After(seq uint64, n int) []engine.LogRow { return nil }
func (s *scroll) Dropped() uint64                         { return 2 }

// answered asks and gives the answer its type.
func answered[T any](t *testing.T, c engine.Console, q engine.Query) T {
	t.Helper()
	a, err := c.Find(t.Context(), q)
	if err != nil {
		t.Fatalf("%T: %v", q, err)
	}
	return a.(T)
}

// The time cursor has a moment per second, also of the time when nobody watched.
func TestTimeCursor_AMomentPerSecondWithoutAConsole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		begin := time.Now()
		time.Sleep(30*time.Second + time.Second/2)
		all := answered[engine.MomentsAnswer](t, r, engine.MomentsQuery{}).Moments
		if len(all) != 31 {
			t.Fatalf("%d moments of 30 s", len(all))
		}
		for i, m := range all {
			if want := begin.Add(time.Duration(i) * time.Second); !m.At.Equal(want) || m.Engine.State != engine.EngineLive || m.Engine.CallsPerMin != 60 {
				t.Fatalf("moment %d is of %v, not %v: %+v", i, m.At, want, m.Engine)
			}
		}
		some := answered[engine.MomentsAnswer](t, r, engine.MomentsQuery{From: begin.Add(5 * time.Second), To: begin.Add(7 * time.Second)}).Moments
		if len(some) != 3 {
			t.Errorf("%d moments from 5 to 7 s", len(some))
		}
		time.Sleep(20 * time.Minute)
		all = answered[engine.MomentsAnswer](t, r, engine.MomentsQuery{}).Moments
		if age := time.Since(all[0].At); len(all) != 600 || age > 601*time.Second {
			t.Errorf("%d moments, the oldest of %v ago", len(all), age)
		}
	})
}

func TestLogsAreFound(t *testing.T) {
	r := newRig(t)
	if page := answered[engine.LogsPage](t, r, engine.LogsQuery{}); len(page.Logs) != 0 {
		t.Errorf("records without a log: %+v", page)
	}
	if _, err := r.Find(t.Context(), engine.LogsQuery{Level: "loud"}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("an unknown level: %v", err)
	}
	s := &scroll{}
	b := browse(r.db, control.Stored{Do: "start farsight", Logs: s})
	page := answered[engine.LogsPage](t, b, engine.LogsQuery{Level: "warn", Text: "t"})
	if len(page.Logs) != 1 || page.Dropped != 2 || s.asked.Text != "t" {
		t.Errorf("stored records: %+v, asked %+v", page, s.asked)
	}
	if m := answered[engine.MomentsAnswer](t, b, engine.MomentsQuery{}); len(m.Moments) != 0 {
		t.Error("a directory without an engine has no moments")
	}
}

func TestLostRecordsAreCounted(t *testing.T) {
	r := newRig(t)
	c := control.New(control.Options{Store: r.db, Backend: r.backend, Syncer: syncer{}, Limiter: r.limiter, Keys: r.keys, Logs: &scroll{}})
	if s := answered[engine.StatusAnswer](t, c, engine.StatusQuery{}); s.Engine.LogDrops != 2 {
		t.Errorf("%d records lost, want 2", s.Engine.LogDrops)
	}
}

func TestAuditIsPaged(t *testing.T) {
	r := newRig(t)
	for _, op := range []engine.Op{engine.OpPause, engine.OpResume, engine.OpPause} {
		if _, err := r.Do(t.Context(), engine.Command{Op: op, Queue: "ingest.summoner.full", By: ana}); err != nil {
			t.Fatal(err)
		}
	}
	page := answered[engine.AuditPage](t, r, engine.AuditQuery{Op: engine.OpPause, Page: engine.Page{Limit: 1}})
	if len(page.Entries) != 1 || page.Entries[0].Seq != 3 || page.Next == "" {
		t.Fatalf("%+v", page)
	}
	page = answered[engine.AuditPage](t, r, engine.AuditQuery{Op: engine.OpPause, Page: engine.Page{Limit: 1, After: page.Next}})
	if len(page.Entries) != 1 || page.Entries[0].Seq != 1 || page.Next != "" {
		t.Errorf("%+v", page)
	}
	if _, err := r.Find(t.Context(), engine.AuditQuery{Page: engine.Page{After: "x"}}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a broken cursor: %v", err)
	}
}
