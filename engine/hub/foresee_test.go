package hub_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
)

// foreseeing is a source of which only what is to come moves.
type foreseeing struct {
	still
	mu    sync.Mutex
	eta   engine.ETA
	start time.Time
	late  string
	place int
}

func (f *foreseeing) ETA(string) engine.ETA {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.eta
}

func (f *foreseeing) Start(engine.JobID) (time.Time, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.start, f.late
}

func (f *foreseeing) Row(j engine.Job) engine.JobRow {
	at, late := f.Start(j.ID)
	f.mu.Lock()
	defer f.mu.Unlock()
	return engine.JobRow{Job: j, Starts: at, LateBy: late, Place: f.place}
}

func (f *foreseeing) set(eta engine.ETA, start time.Time, late string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eta, f.start, f.late = eta, start, late
}

// TestI3_ConsolesAreToldWhatIsForeseenAnew: nothing is committed, but an open run ends
// later, a pause keeps it from going on, or a retry starts late: its row is told again. Less
// than a tenth is noise.
func TestI3_ConsolesAreToldWhatIsForeseenAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		due := time.Now().Add(time.Minute)
		src := &foreseeing{eta: engine.ETA{Known: true, Low: 100 * time.Second, High: 100 * time.Second}, start: due}
		open, ended := engine.AccountRow{ID: "open", Status: engine.Syncing}, engine.AccountRow{ID: "ended", Status: engine.SyncCompleted}
		h := hub.New(hub.Options{Source: src, Accounts: stored(open, ended)})
		publish(h, []engine.AccountRow{open})
		publish(h, nil, engine.Job{ID: "1", Rev: 1, State: engine.Retryable, Due: due})
		var got []engine.Update
		defer watching(t, h, &got)()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		first := got[0]
		if len(got) != 1 || first.Accounts[0].ETA.High != 100*time.Second || first.Accounts[1].ETA != (engine.ETA{}) || !first.Jobs[0].Starts.Equal(due) {
			t.Fatalf("%d updates, the snapshot is %+v", len(got), first)
		}
		told := func(eta engine.ETA, start time.Time, late string) (u engine.Update) {
			n := len(got)
			src.set(eta, start, late)
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if len(got) > n+1 {
				t.Errorf("told %d times", len(got)-n)
			}
			if len(got) > n {
				u = got[n]
			}
			return u
		}
		eta := src.eta
		eta.High, eta.Low = 95*time.Second, 95*time.Second
		if u := told(eta, due, ""); len(u.Accounts)+len(u.Jobs) != 0 {
			t.Errorf("a move of 5 %%: %+v", u)
		}
		eta.High = 180 * time.Second
		if u := told(eta, due, ""); len(u.Accounts) != 1 || u.Accounts[0].ETA.High != eta.High || len(u.Jobs) != 0 {
			t.Errorf("it ends later: %+v", u)
		}
		eta = engine.ETA{Why: "queue paused by ana", Stand: engine.StandPaused}
		if u := told(eta, due, ""); len(u.Accounts) != 1 || u.Accounts[0].Stand != engine.StandPaused {
			t.Errorf("its queue is paused: %+v", u)
		}
		if u := told(eta, due.Add(30*time.Second), "app:asia 100/120s"); len(u.Accounts) != 0 || len(u.Jobs) != 1 || u.Jobs[0].LateBy == "" {
			t.Errorf("a retry is late: %+v", u)
		}
		h.Publish(2, []engine.Change{{Account: &engine.AccountRow{ID: "open", Status: engine.Syncing, Calls: 9}}})
		synctest.Wait()
		if u := got[len(got)-1]; len(u.Accounts) != 1 || u.Accounts[0].Calls != 9 || u.Accounts[0].Stand != engine.StandPaused {
			t.Errorf("a changed row lacks what is foreseen: %+v", u)
		}
	})
}

// TestARetryThatIsDueIsToldUntilItRuns: its instant has come and it waits in line. It stays
// on the screens, is told again when its turn moves by more than a second, and is no job that
// waits for an instant any more.
func TestARetryThatIsDueIsToldUntilItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		due := time.Now()
		src := &foreseeing{start: due.Add(30 * time.Second)}
		h := hub.New(hub.Options{Source: src, Accounts: stored()})
		again := engine.Job{ID: "1", Rev: 1, State: engine.Retryable, Tries: 1, Due: due}
		publish(h, nil, again)
		var got []engine.Update
		defer watching(t, h, &got)()
		time.Sleep(3 * time.Second)
		again.Rev, again.State = 2, engine.Available
		h.Publish(1, []engine.Change{{Job: &again}, job("2", 1, engine.Available)})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if u := got[len(got)-1]; len(u.Gone) != 0 || len(u.Jobs) != 1 || u.Jobs[0].State != engine.Available || len(h.Waiting()) != 0 {
			t.Errorf("when it is due: %+v", u)
		}
		n := len(got)
		src.set(engine.ETA{}, due.Add(90*time.Second), "")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if len(got) != n+1 || !got[n].Jobs[0].Starts.Equal(due.Add(90*time.Second)) {
			t.Errorf("told %d times more when its turn comes later", len(got)-n)
		}
		stands := func(place int) (told int) {
			n := len(got)
			src.mu.Lock()
			src.place = place
			src.mu.Unlock()
			time.Sleep(3 * time.Second)
			synctest.Wait()
			return len(got) - n
		}
		if a, b, c := stands(40), stands(38), stands(30); a != 1 || b != 0 || c != 1 || got[len(got)-1].Jobs[0].Place != 30 {
			t.Errorf("told %d, %d and %d times when it stands in place 40, 38 and 30", a, b, c)
		}
		again.Rev, again.State = 3, engine.Completed
		h.Publish(2, []engine.Change{{Job: &again}})
		synctest.Wait()
		if u := got[len(got)-1]; len(u.Gone) != 1 {
			t.Errorf("when it has ended: %+v", u)
		}
	})
}
