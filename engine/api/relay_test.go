package api

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/fold"
)

// screen is what a watcher makes of its frames.
type screen struct {
	*watcher
	rows fold.Rows
	gaps int
}

// look takes what is there, as bytes.
func (s *screen) look(t *rapid.T) {
	for _, p := range s.drain() {
		raw, err := p.bytes()
		if err != nil {
			t.Fatal(err)
		}
		var f frame
		if err := json.Unmarshal(append([]byte(`{"n":1`), raw...), &f); err != nil || f.Update == nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if !s.rows.Whole().Snapshot && !f.Update.Snapshot {
			t.Fatal("the first update is no snapshot")
		}
		if f.Update.Gap {
			s.gaps++
		}
		s.rows.Add(*f.Update)
	}
}

// TestP34_WhoeverComesWheneverSeesTheSame: watchers join, look and fall behind as they
// like; in the end all know what the one who was always there knows.
func TestP34_WhoeverComesWheneverSeesTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := &relayRun{watchers: map[*watcher]struct{}{}}
		var truth fold.Rows
		var all []*screen
		seq := uint64(0)
		hand := func(u engine.Update) {
			seq++
			u.Seq = seq
			truth.Add(u)
			run.hand(u)
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"join", "look", "news", "news", "news", "snapshot"}).Draw(t, "step") {
			case "join":
				s := &screen{watcher: &watcher{run: run, bell: await.NewBell()}}
				run.add(s.watcher)
				all = append(all, s)
			case "look":
				if len(all) > 0 {
					rapid.SampledFrom(all).Draw(t, "who").look(t)
				}
			case "news":
				hand(news(t, seq == 0))
			case "snapshot":
				hand(news(t, true))
			}
		}
		for _, s := range all {
			s.look(t)
			if seq > 0 && !sameRows(s.rows, truth) {
				t.Fatalf("one sees\n%+v, the truth is\n%+v", s.rows, truth)
			}
		}
	})
}

func sameRows(x, y fold.Rows) bool {
	a, b := x.Update(), y.Update()
	return slices.EqualFunc(a.Jobs, b.Jobs, func(x, y engine.JobRow) bool { return x.ID == y.ID && x.Rev == y.Rev }) &&
		slices.EqualFunc(a.Accounts, b.Accounts, func(x, y engine.AccountRow) bool { return x.ID == y.ID && x.Calls == y.Calls }) &&
		reflect.DeepEqual(a.Engine, b.Engine) && a.Seq == b.Seq && len(a.Calls) <= len(b.Calls)
}

// news are a few changes of a few jobs.
func news(t *rapid.T, whole bool) engine.Update {
	u := engine.Update{Snapshot: whole}
	id := rapid.IntRange(0, 5)
	for range rapid.IntRange(0, 4).Draw(t, "jobs") {
		j := engine.JobRow{}
		j.ID, j.Rev = engine.JobID(fmt.Sprint(id.Draw(t, "id"))), engine.Revision(rapid.IntRange(1, 9).Draw(t, "rev"))
		u.Jobs = append(u.Jobs, j)
	}
	for range rapid.IntRange(0, 2).Draw(t, "gone") {
		if !whole {
			u.Gone = append(u.Gone, engine.JobID(fmt.Sprint(id.Draw(t, "left"))))
		}
	}
	if rapid.Bool().Draw(t, "engine") {
		u.Engine = &engine.EngineRow{InFlight: rapid.IntRange(0, 3).Draw(t, "in flight")}
	}
	if rapid.Bool().Draw(t, "account") {
		u.Accounts = []engine.AccountRow{{ID: fmt.Sprint(id.Draw(t, "account")), Calls: rapid.IntRange(0, 9).Draw(t, "calls")}}
	}
	return u
}

// watched is a console that counts who watches it.
type watched struct {
	engine.Console
	n, all atomic.Int64
	news   chan engine.Update
}

func (w *watched) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		w.n.Add(1)
		w.all.Add(1)
		defer w.n.Add(-1)
		for u := (engine.Update{Seq: 1, Snapshot: true}); yield(u); {
			select {
			case u = <-w.news:
				if u.Seq == 13 {
					panic("a row that cannot be drawn")
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// TestP34_FiftyWatchersAreOneToTheEngine: the console is watched once, each update is
// encoded once, and nobody is left when the last has gone.
func TestP34_FiftyWatchersAreOneToTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		con := &watched{news: make(chan engine.Update)}
		r := &relay{con: con, pace: time.Millisecond}
		var all []*watcher
		for range 50 {
			all = append(all, r.join(t.Context()))
		}
		synctest.Wait()
		for _, w := range all {
			w.drain()
		}
		began := time.Now()
		for seq := uint64(2); seq < 12; seq++ {
			con.news <- engine.Update{Seq: seq, Engine: &engine.EngineRow{InFlight: int(seq)}}
		}
		if took := time.Since(began); took < 9*paceMost || took > 11*paceMost {
			t.Errorf("ten updates for fifty took %s", took)
		}
		synctest.Wait()
		if n := con.all.Load(); n != 1 {
			t.Errorf("the engine was watched %d times", n)
		}
		first := all[0].drain()
		for _, w := range all[1:] {
			for i, p := range w.drain() {
				if p != first[i] {
					t.Fatal("somebody was given bytes of their own")
				}
			}
		}
		// One who sleeps costs nothing but what the others need as well.
		sleeper := all[0]
		for seq := uint64(20); seq < 60; seq++ {
			con.news <- engine.Update{Seq: seq, Jobs: []engine.JobRow{{}}}
		}
		synctest.Wait()
		if mail := sleeper.drain(); len(mail) != 1 || !mail[0].now.Snapshot || !mail[0].now.Gap || len(sleeper.mail) != 0 {
			t.Errorf("one who slept is given %d updates", len(mail))
		}
		for _, w := range all {
			r.leave(w)
		}
		if con.n.Load() != 0 || r.now != nil {
			t.Error("somebody still watches")
		}
		// It begins anew, and what falls in it ends its watchers, not the engine.
		w := r.join(t.Context())
		time.Sleep(time.Second)
		con.news <- engine.Update{Seq: 13}
		<-w.run.done
		again := r.join(t.Context())
		synctest.Wait()
		if got := again.drain(); len(got) != 1 || !got[0].now.Snapshot {
			t.Errorf("who comes after that is given %d updates", len(got))
		}
		r.leave(w)
		r.leave(again)
		if con.n.Load() != 0 || con.all.Load() != 3 {
			t.Errorf("%d watch, of %d", con.n.Load(), con.all.Load())
		}
	})
}
