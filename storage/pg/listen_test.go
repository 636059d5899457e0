package pg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/pgtest"
)

// follower keeps live jobs as it is told of them, and reads them anew after a gap.
type follower struct {
	t  *testing.T
	db *DB

	mu     sync.Mutex
	told   []string // what moved since the last gap, in the order in which it was told: a17@3
	ever   map[string]bool
	jobs   map[engine.JobID]engine.Job
	ended  map[engine.JobID]bool
	totals engine.Totals
	lost   map[engine.Queue]int
	gaps   chan struct{}
}

// follow opens a store as a process of its own, which serves from its first gap on, and until the
// test ends.
func follow(t *testing.T, at string) *follower {
	t.Helper()
	f := &follower{t: t, db: open(t, at), gaps: make(chan struct{}, 100), ever: map[string]bool{}, lost: map[engine.Queue]int{}}
	f.db.patience.echo = time.Hour
	f.clear()
	f.db.OnCommit(f.apply)
	f.db.OnGap(func() { f.clear(); f.gaps <- struct{}{} })
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- f.db.Serve(ctx) }()
	t.Cleanup(func() { stop(); must(t, <-served) })
	f.reload()
	return f
}

func (f *follower) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told, f.jobs, f.ended = nil, map[engine.JobID]engine.Job{}, map[engine.JobID]bool{}
}

// reload waits for a gap, and reads what was missed.
func (f *follower) reload() {
	f.t.Helper()
	<-f.gaps
	for j, err := range f.db.Live(f.t.Context()) {
		must(f.t, err)
		f.mu.Lock()
		if !f.ended[j.ID] && f.jobs[j.ID].Rev < j.Rev {
			f.jobs[j.ID] = asStored(j)
		}
		f.mu.Unlock()
	}
}

func (f *follower) apply(_ uint64, changes []engine.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range changes {
		if c.Job != nil {
			move := fmt.Sprint(c.Job.ID, "@", c.Job.Rev)
			f.told, f.ever[move] = append(f.told, move), true
		}
		switch {
		case c.Job != nil && c.Job.State.Terminal():
			delete(f.jobs, c.Job.ID)
			f.ended[c.Job.ID] = true
		case c.Job != nil:
			f.jobs[c.Job.ID] = asStored(*c.Job)
		case c.Totals != nil:
			f.totals = *c.Totals
		case c.Discards != nil:
			f.lost[c.Discards.Queue] = c.Discards.Jobs
		}
	}
}

// asStored is a job as it comes out of the database, whose instants are milliseconds.
func asStored(j engine.Job) engine.Job {
	j.Created = j.Created.Truncate(time.Millisecond)
	if len(j.Args) == 0 {
		j.Args = nil
	}
	return j
}

func (f *follower) has(what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ever[what]
}

// await waits until it is told of a job that others have made, with all that came before.
func (f *follower) await(id engine.JobID) {
	for !f.has(fmt.Sprint(id, "@1")) {
		time.Sleep(time.Millisecond)
	}
}

// equal wants that it knows what is stored.
func (f *follower) equal(who string) {
	f.t.Helper()
	stored := map[engine.JobID]engine.Job{}
	for j, err := range f.db.Live(f.t.Context()) {
		must(f.t, err)
		stored[j.ID] = asStored(j)
	}
	totals, err := f.db.Totals(f.t.Context())
	must(f.t, err)
	lost, err := f.db.Discards(f.t.Context())
	must(f.t, err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !reflect.DeepEqual(f.jobs, stored) {
		f.t.Errorf("%s: %d jobs are known, %d stored", who, len(f.jobs), len(stored))
		for id, j := range stored {
			if !reflect.DeepEqual(f.jobs[id], j) {
				f.t.Fatalf("%s: known %.500s, stored %.500s", who, fmt.Sprintf("%+v", f.jobs[id]), fmt.Sprintf("%+v", j))
			}
		}
	}
	if f.totals != totals || !reflect.DeepEqual(f.lost, lost) {
		f.t.Errorf("%s: told of %+v and %v, stored %+v and %v", who, f.totals, f.lost, totals, lost)
	}
}

// work makes jobs and moves those of everybody, and wants that each own move is told of when it
// has been answered.
func (f *follower) work(seed uint64, rounds int) {
	r := rand.New(rand.NewPCG(seed, 0))
	for n := range rounds {
		out := insert(f.t, f.db, spec(fmt.Sprint(seed, "/", n)), engine.Spec{Kind: "match.fetch", Queue: "q", Args: []byte(`{"text":"` + strings.Repeat("ü€", r.IntN(6000)) + `"}`)})
		f.mu.Lock()
		var ids []engine.JobID
		for id := range f.jobs {
			ids = append(ids, id)
		}
		f.mu.Unlock()
		slices.Sort(ids)
		ids = append(ids, out...)
		id, moved := ids[r.IntN(len(ids))], ""
		err := f.db.Write(f.t.Context(), func(tx engine.Tx) error {
			j, err := f.db.Job(tx, id)
			if err != nil || j.State.Terminal() {
				moved = ""
				return err
			}
			j.Rev++
			j.State = []engine.State{engine.Running, engine.Retryable, engine.Discarded}[r.IntN(3)]
			j.LastError, j.Started = strings.Repeat("ä<\x01>", r.IntN(3000)), time.Now().UTC().Truncate(time.Millisecond)
			if j.State.Terminal() {
				j.Finished = j.Started
			}
			moved = fmt.Sprint(j.ID, "@", j.Rev)
			return errors.Join(f.db.SaveJob(tx, j), f.db.AddAttempt(tx, j.ID, engine.Attempt{Number: 1, Err: j.LastError}))
		})
		if err != nil {
			f.t.Error(err)
		}
		if moved != "" && !f.has(moved) {
			f.t.Errorf("%s was not told of when it was answered", moved)
		}
	}
}

// However many write at once, all hear of all commits in one order, and know what is stored.
func TestAllHearOfAllInOneOrder(t *testing.T) {
	at := pgtest.Schema(t)
	members := []*follower{follow(t, at), follow(t, at), follow(t, at)}
	var all sync.WaitGroup
	for i, f := range members {
		for n := range 2 {
			all.Go(func() { f.work(uint64(10*i+n), 15) })
		}
	}
	all.Wait()
	last := insert(t, members[0].db, spec("last"))[0]
	for i, f := range members {
		f.await(last)
		f.equal(fmt.Sprint("member ", i))
		if !slices.Equal(f.told, members[0].told) {
			t.Errorf("member %d was told of %d moves, the first of %d, or in another order", i, len(f.told), len(members[0].told))
		}
	}
}

// cutListeners ends every connection that hears of commits.
func cutListeners(t *testing.T, at string) {
	do(t, at, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = '"+listenerName+"'")
}

// A listener that is lost in the midst of writing comes back, again and again: then there is a gap,
// and who reads anew knows what is stored. What is written meanwhile is told of at once, and once.
func TestACutListener(t *testing.T) {
	at := pgtest.Schema(t)
	members := []*follower{follow(t, at), follow(t, at)}
	for range 4 {
		var all sync.WaitGroup
		for i, f := range members {
			all.Go(func() { f.work(rand.Uint64()+uint64(i), 8) })
		}
		cutListeners(t, at)
		for _, f := range members {
			f.reload()
		}
		all.Wait()
		last := insert(t, members[0].db, spec(""))[0]
		for i, f := range members {
			f.await(last)
			f.equal(fmt.Sprint("member ", i))
		}
	}
}

// While there is no listener, who writes waits for nobody; and one that hears nothing is given up.
func TestADeafListener(t *testing.T) {
	at := pgtest.Schema(t)
	f := follow(t, at)
	f.db.patience.echo = 10 * time.Millisecond
	last := &f.db.atEnd[len(f.db.atEnd)-1]
	*last = tellOn("farsight_elsewhere") // what it writes is not heard
	id := insert(t, f.db, spec("a"))[0]
	if !f.has(fmt.Sprint(id, "@1")) {
		t.Error("not told of when it was answered")
	}
	*last, f.db.patience.echo = tellOn(f.db.channel), time.Hour
	f.reload()
	f.equal("after the gap")
	insert(t, f.db, spec("b"))
	f.equal("at the end")
}

// A text that is cut into parts is the same when it is put together.
func TestNewsInParts(t *testing.T) {
	for _, n := range []int{0, 1, newsPart - 1, newsPart, newsPart + 1, 3*newsPart + 2} {
		want := strings.Repeat("x", n%2) + strings.Repeat("€", n/3)
		var h heard
		parts := inParts(want)
		for i, part := range parts {
			whole, err := h.add(fmt.Sprintf("743 %d/%d %s", i, len(parts), part))
			if err != nil || whole != (i == len(parts)-1) || len(part) > newsPart {
				t.Errorf("part %d of %d, %d bytes: %t, %v", i, len(parts), len(part), whole, err)
			}
		}
		if h.words.String() != want || h.xid != 743 {
			t.Errorf("%d bytes became %d, of %d", len(want), h.words.Len(), h.xid)
		}
	}
}

func TestVisible(t *testing.T) {
	v, err := readVisible("740:745:741,743")
	must(t, err)
	for xid, want := range map[uint64]bool{739: true, 740: true, 741: false, 742: true, 743: false, 744: true, 745: false, 746: false} {
		if v.has(xid) != want {
			t.Errorf("%d: %t", xid, !want)
		}
	}
	for _, bad := range []string{"", "1", "1:2", "1:x:", "1:2:a"} {
		if _, err := readVisible(bad); err == nil {
			t.Errorf("%q is a snapshot", bad)
		}
	}
}
