package storage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// sumsOf are all stored sums up to an instant, by day.
func sumsOf(t testing.TB, db *DB, now time.Time) map[string]engine.DaySum {
	t.Helper()
	list, err := db.Days(context.Background(), 400, now)
	must(t, err)
	if !slices.IsSortedFunc(list, func(a, b engine.DaySum) int { return cmpString(a.Day, b.Day) }) {
		t.Errorf("days are out of order: %+v", list)
	}
	out := map[string]engine.DaySum{}
	for _, d := range list {
		day := d.Day
		if d.Day = ""; d != (engine.DaySum{}) {
			out[day] = d
		}
	}
	return out
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// dayBook does to a store what an engine does, and sums up beside it.
type dayBook struct {
	t    *testing.T
	db   *DB
	rnd  *rand.Rand
	now  time.Time
	jobs []engine.Job
	want map[string]engine.DaySum
}

func (b *dayBook) on(at time.Time, f func(*engine.DaySum)) {
	d := b.want[engine.UTCDay(at)]
	f(&d)
	b.want[engine.UTCDay(at)] = d
}

func (b *dayBook) attempt(j engine.Job) {
	a := engine.Attempt{
		Number: b.rnd.IntN(3), Try: 1 + b.rnd.IntN(3), Start: b.now, End: b.now.Add(time.Second),
		Verb: []engine.Verb{engine.VerbDone, engine.VerbWait, engine.VerbRetry, engine.VerbFail, engine.VerbInterrupted, engine.VerbAbort}[b.rnd.IntN(6)],
	}
	write(b.t, b.db, func(tx engine.Tx) error { return b.db.AddAttempt(tx, j.ID, a) })
	if a.Number == 0 {
		return // a hold
	}
	b.on(a.End, func(d *engine.DaySum) {
		d.Attempts++
		told := a.Verb != engine.VerbInterrupted && a.Verb != engine.VerbAbort
		if a.Try > 1 && told {
			d.Retries++
		}
		if a.Try > 1 && (a.Verb == engine.VerbDone || a.Verb == engine.VerbWait) {
			d.Won++
		}
	})
}

func (b *dayBook) step() {
	b.now = b.now.Add(time.Duration(b.rnd.IntN(40)) * time.Hour)
	if len(b.jobs) == 0 || b.rnd.IntN(3) == 0 {
		b.jobs = append(b.jobs, enqueue(b.t, b.db, engine.Spec{Kind: "k", Queue: "q", Owner: "01A"}))
		return
	}
	i := b.rnd.IntN(len(b.jobs))
	j := b.jobs[i]
	if j.State.Terminal() { // it is opened again, and counts no more
		b.on(j.Finished, func(d *engine.DaySum) { d.CountEnded(j.State, -1) })
		j.Finished = time.Time{}
		b.jobs[i] = move(b.t, b.db, j, engine.Available)
		return
	}
	b.attempt(j)
	if b.rnd.IntN(2) == 0 {
		return
	}
	j.Finished = b.now
	b.jobs[i] = move(b.t, b.db, j, []engine.State{engine.Completed, engine.Discarded, engine.Cancelled}[b.rnd.IntN(3)])
	b.on(b.now, func(d *engine.DaySum) { d.CountEnded(b.jobs[i].State, 1) })
}

func (b *dayBook) agrees(when string) {
	b.t.Helper()
	for day, d := range b.want {
		if d == (engine.DaySum{}) {
			delete(b.want, day)
		}
	}
	if got := sumsOf(b.t, b.db, b.now); fmt.Sprint(got) != fmt.Sprint(b.want) {
		b.t.Fatalf("%s the days are\n%+v, want\n%+v", when, got, b.want)
	}
}

// TestP33_DaySumsSurvivePruning: whatever ends, is opened again and is pruned, a day's sums are those of what ended on it, and
// check recounts them.
func TestP33_DaySumsSurvivePruning(t *testing.T) {
	db := start(t, "")
	b := &dayBook{t: t, db: db, rnd: rand.New(rand.NewPCG(1, 2)), now: time.Date(2026, 9, 1, 23, 0, 0, 0, time.UTC), want: map[string]engine.DaySum{}}
	for range 3 {
		for range 60 {
			b.step()
		}
		b.agrees("before pruning")
		r, err := db.Prune(context.Background(), engine.PruneAsk{Completed: 10 * 24 * time.Hour, Failed: 20 * 24 * time.Hour}, b.now, false)
		if err != nil || r.Completed+r.Failed == 0 || r.Attempts == 0 {
			t.Fatalf("%+v %v", r, err)
		}
		b.agrees("after pruning")
		wantSound(t, db)
		b.jobs = slices.DeleteFunc(b.jobs, func(j engine.Job) bool {
			_, err := db.Detail(context.Background(), engine.JobQuery{ID: j.ID})
			return err != nil
		})
	}
}

func TestDaysLeaveOutTheFutureAndEndToday(t *testing.T) {
	db := start(t, "")
	now := time.Date(2026, 11, 21, 0, 30, 0, 0, time.FixedZone("east", 3600)) // UTC: the day before
	for _, at := range []time.Time{now.AddDate(0, 0, -9), now.AddDate(0, 0, -8), now.AddDate(0, 0, 3)} {
		j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
		j.Finished = at
		move(t, db, j, engine.Completed)
	}
	list, err := db.Days(context.Background(), 9, now)
	want := []engine.DaySum{{Day: "2026-11-12", Completed: 1}, {Day: "2026-11-20"}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v %v, want %+v", list, err, want)
	}
	if list, err := db.Days(context.Background(), 0, now); err != nil || list != nil {
		t.Errorf("no days: %+v %v", list, err)
	}
}

// A refused write counts nowhere, also when it had counted before it was refused.
func TestARefusedWriteIsInNoDay(t *testing.T) {
	db := start(t, "")
	j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
	err := db.Write(context.Background(), func(tx engine.Tx) error {
		if err := db.AddAttempt(tx, j.ID, engine.Attempt{Number: 1, Try: 2, End: noon, Verb: engine.VerbDone}); err != nil {
			return err
		}
		return engine.ErrConflict
	})
	if got := sumsOf(t, db, noon); err == nil || len(got) != 0 {
		t.Errorf("%v: %+v", err, got)
	}
}

func TestCheckRecountsTheDays(t *testing.T) {
	db := start(t, "")
	j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
	write(t, db, func(tx engine.Tx) error {
		return db.AddAttempt(tx, j.ID, engine.Attempt{Number: 1, Try: 1, End: noon})
	})
	j.Finished = noon
	move(t, db, j, engine.Completed)
	spoil := func(d dayRow) {
		write(t, db, func(tx engine.Tx) error { return tDays.Put(own(tx), []byte(engine.UTCDay(noon)), &d) })
	}
	spoil(dayRow{all: engine.DaySum{Completed: 2, Attempts: 1}})
	r, err := db.Check(context.Background())
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Table != "days" || r.Findings[0].Key != engine.UTCDay(noon) {
		t.Errorf("%+v %v", r.Findings, err)
	}
	write(t, db, func(tx engine.Tx) error { return own(tx).Remove(tDays.Table, []byte(engine.UTCDay(noon))) })
	if r, err := db.Check(context.Background()); err != nil || len(r.Findings) != 1 {
		t.Errorf("a row that is gone: %+v %v", r.Findings, err)
	}
	spoil(dayRow{all: engine.DaySum{Completed: 1, Attempts: 1}})
}

// Attempts and holds are told in the order of their commits, with the job's change of the same commit.
func TestEndedAttemptsArePublished(t *testing.T) {
	var got []engine.Change
	db, err := Open(Options{Dir: t.TempDir()})
	must(t, err)
	db.OnCommit(func(_ uint64, changes []engine.Change) { got = append(got, changes...) })
	stop := serve(t, db)
	j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
	for n := range 3 {
		j.Rev++
		j.State = engine.Retryable
		write(t, db, func(tx engine.Tx) error {
			if err := db.AddAttempt(tx, j.ID, engine.Attempt{Number: n, Try: n, End: noon}); err != nil {
				return err
			}
			return db.SaveJob(tx, j)
		})
	}
	stop()
	must(t, db.Close())
	n := 0
	for i, c := range got {
		if c.Attempt == nil {
			continue
		}
		if c.Of != j.ID || c.Attempt.Number != n || c.Job != nil || c.Seq == 0 || got[i+1].Job == nil || got[i+1].Seq != c.Seq {
			t.Errorf("change %d: %+v, then %+v", i, c, got[i+1])
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d attempts were told, want 3", n)
	}
}
