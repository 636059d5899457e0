package local_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
)

// sender is a launcher that has attempts carried out elsewhere.
type sender struct {
	sent chan engine.Job
	has  bool
}

func newSender() *sender { return &sender{sent: make(chan engine.Job, 100)} }

func (s *sender) Claimed(engine.Tx, engine.Job) error { return nil }
func (s *sender) Dropped(engine.JobID)                {}
func (s *sender) Has(engine.Job) bool                 { return s.has }

func (s *sender) Launch(j engine.Job, _ func()) bool {
	s.sent <- j
	return true
}

// away is a leader, with one worker, and a member of one store.
type away struct {
	*flaky
	*sender
	leader, member *local.Backend
	ids            []engine.JobID
	stop           func() error
}

func newAway(t *testing.T, jobs ...string) *away {
	t.Helper()
	a := &away{flaky: &flaky{Store: memstore.New()}, sender: newSender()}
	a.leader = member(t, a.flaky, local.Options{Boot: "one", Launcher: a.sender, Workers: func() int { return 1 }})
	a.member = member(t, a.flaky, local.Options{Boot: "two"})
	a.OnCommit(a.leader.Apply)
	for _, key := range jobs {
		out, err := a.leader.Insert(context.Background(), engine.Spec{Kind: fetch, Queue: fullQ, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		a.ids = append(a.ids, out[0].ID)
	}
	a.stop = serving(a.leader)
	t.Cleanup(func() {
		if err := a.stop(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *away) job(t *testing.T, id engine.JobID) engine.JobDetail {
	t.Helper()
	d, err := a.Detail(context.Background(), engine.JobQuery{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What one process claims another one carries out, and what is to be written with the outcome is;
// then the worker's place is free for the next job.
func TestAnAttemptElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAway(t, "a", "b")
		for i, id := range a.ids {
			synctest.Wait()
			if len(a.sent) != 1 || a.leader.Stats().Slots != 1 {
				t.Fatalf("%d sent, %+v", len(a.sent), a.leader.Stats())
			}
			j, also := <-a.sent, 0
			err := a.member.Attempt(t.Context(), j.ID, j.Rev, func(engine.Tx) error { also++; return nil })
			if d := a.job(t, id); err != nil || also != 1 || d.Job.State != engine.Completed || len(d.Attempts) != 1 {
				t.Errorf("job %d: %v, %d times along, %s, %+v", i, err, also, d.Job.State, d.Attempts)
			}
		}
		synctest.Wait()
		if s := a.leader.Stats(); s.Slots != 0 || s.InFlight != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A job that has moved on before its attempt begins is not carried out, and nothing is written.
func TestAnAttemptElsewhereThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAway(t, "a")
		j := <-a.sent
		nothing := func(engine.Tx) error { return nil }
		if err := a.leader.Return(t.Context(), j.ID, j.Rev, "nobody took it up", false, nothing); err != nil {
			t.Error(err)
		}
		again := <-a.sent // it is claimed anew
		if d := a.job(t, j.ID); d.Job.Crashes != 0 || d.Job.Attempts != 1 || d.Job.Holds != 1 {
			t.Errorf("%+v", d.Job)
		}
		err := a.member.Attempt(t.Context(), j.ID, j.Rev, func(engine.Tx) error { t.Error("it was written"); return nil })
		if !errors.Is(err, engine.ErrStale) || again.Rev <= j.Rev {
			t.Errorf("%v, revision %d after %d", err, again.Rev, j.Rev)
		}
		refused := errors.New("it was taken up after all")
		if err := a.leader.Return(t.Context(), again.ID, again.Rev, "", false, func(engine.Tx) error { return refused }); !errors.Is(err, refused) {
			t.Errorf("Return = %v", err)
		}
		if d := a.job(t, j.ID); d.Job.State != engine.Running {
			t.Errorf("%s", d.Job.State)
		}
	})
}

// What the member brings whose job was given back meanwhile is discarded; what is to be written
// along is written.
func TestALateResultFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAway(t, "a")
		j, along := <-a.sent, false
		ended := make(chan error)
		go func() {
			ended <- a.member.Attempt(t.Context(), j.ID, j.Rev, func(engine.Tx) error { along = true; return nil })
		}()
		time.Sleep(time.Minute)
		if err := a.leader.Return(t.Context(), j.ID, j.Rev, "its member is gone", true, func(engine.Tx) error { return nil }); err != nil {
			t.Error(err)
		}
		<-a.sent
		if err := <-ended; err != nil || !along || a.member.Stats().Late != 1 {
			t.Errorf("%v, along %t, %+v", err, along, a.member.Stats())
		}
		if d := a.job(t, j.ID); d.Job.State != engine.Running || d.Job.Crashes != 1 {
			t.Errorf("%s after %d crashes", d.Job.State, d.Job.Crashes)
		}
	})
}

// A leader that carries out itself what it has sent learns of a cancel, and its end does not touch
// such an attempt.
func TestAnAttemptOfAMemberThatLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAway(t, "a", "b")
		attempt := func() (engine.JobID, chan error) {
			j, ended := <-a.sent, make(chan error, 1)
			go func() {
				ended <- a.leader.Attempt(context.Background(), j.ID, j.Rev, func(engine.Tx) error { return nil })
			}()
			synctest.Wait()
			return j.ID, ended
		}
		id, ended := attempt()
		if _, err := a.leader.Act(t.Context(), engine.Command{Op: engine.OpCancel, Job: id, By: engine.Actor{User: "ana"}}); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil || a.job(t, id).Job.State != engine.Cancelled {
			t.Errorf("%v, %s", err, a.job(t, id).Job.State)
		}
		id, ended = attempt()
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		a.stop = func() error { return nil }
		if j := a.job(t, id).Job; j.State != engine.Running {
			t.Errorf("%s", j.State)
		}
		if err := <-ended; err != nil || a.job(t, id).Job.State != engine.Completed {
			t.Errorf("%v, %s", err, a.job(t, id).Job.State)
		}
	})
}

// An outcome waits in memory while the store is away; the handler is called once.
func TestAnOutcomeWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAway(t, "a")
		j, also := <-a.sent, 0
		ended := make(chan error)
		go func() {
			ended <- a.member.Attempt(t.Context(), j.ID, j.Rev, func(engine.Tx) error { also++; return nil })
		}()
		time.Sleep(9 * time.Minute)
		a.failing.Store(true)
		time.Sleep(3 * time.Minute)
		a.failing.Store(false)
		err := <-ended
		if d := a.job(t, j.ID); err != nil || d.Job.State != engine.Completed || also != 1 || len(d.Attempts) != 1 {
			t.Errorf("%v, %s, %d times along, %+v", err, d.Job.State, also, d.Attempts)
		}
	})
}

// A member that stops gives the job back uncharged.
func TestAMemberThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAway(t, "a")
		j := <-a.sent
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := a.member.Attempt(ctx, j.ID, j.Rev, func(engine.Tx) error { return nil }); err != nil {
			t.Error(err)
		}
		<-a.sent
		if d := a.job(t, j.ID); d.Job.Attempts != 1 || d.Job.Holds != 1 || d.Job.Crashes != 0 {
			t.Errorf("%+v", d.Job)
		}
	})
}

// Who leads next gives nothing back that is in somebody's hand.
func TestWhatIsCarriedOutElsewhereIsNotGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAway(t, "a")
		j := <-a.sent
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		hand := newSender()
		hand.has = true
		next := member(t, a.flaky, local.Options{Boot: "three", Launcher: hand})
		a.OnCommit(next.Apply)
		a.stop = serving(next)
		if d := a.job(t, j.ID); d.Job.State != engine.Running || d.Job.Rev != j.Rev || next.Stats().Recovered != 0 {
			t.Errorf("%s at revision %d, %+v", d.Job.State, d.Job.Rev, next.Stats())
		}
		if err := next.Return(t.Context(), j.ID, j.Rev, "its member is gone", true, func(engine.Tx) error { return nil }); err != nil {
			t.Error(err)
		}
		if again := <-hand.sent; again.ID != j.ID {
			t.Errorf("%s", again.ID)
		}
	})
}
