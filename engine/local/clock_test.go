package local

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// waiting commits a retry that is due in half a minute, and a job for an instant
// that an operator has named.
func waiting(m *machine) {
	due := m.now.Add(30 * time.Second)
	m.commit(&engine.Job{ID: "retry", Rev: 1, Kind: knownKind, Queue: "q", State: engine.Retryable, Due: due, Started: m.now})
	m.commit(&engine.Job{ID: "named", Rev: 1, Kind: knownKind, Queue: "q", State: engine.Scheduled, Due: due})
}

func (m *machine) wantDue(t *testing.T, after time.Duration, want ...engine.JobID) {
	t.Helper()
	got := map[engine.JobID]bool{}
	for _, c := range m.x.dueNow(m.now.Add(after), 10) {
		got[c.id] = true
	}
	if len(got) != len(want) {
		t.Errorf("after %s %v are due, want %v", after, got, want)
	}
	for _, id := range want {
		if !got[id] {
			t.Errorf("after %s %s is not due", after, id)
		}
	}
}

func (m *machine) stepWall(t *testing.T, d time.Duration) {
	t.Cleanup(wall.Step(d))
	m.x.mindClock(m.now)
}

// One hour back is not one hour deaf: a retry waits for its delay, and an instant
// that was named is an instant of the wall clock.
func TestP26_AClockSetBackMakesNoRetryWaitLonger(t *testing.T) {
	m := newMachine()
	waiting(m)
	m.stepWall(t, -time.Hour)
	m.wantDue(t, 29*time.Second)
	m.wantDue(t, 30*time.Second, "retry")
	m.wantDue(t, time.Hour+29*time.Second, "retry")
	m.wantDue(t, time.Hour+30*time.Second, "retry", "named")
	if wait := m.x.nextWake(m.now.Add(29500 * time.Millisecond)); wait != 500*time.Millisecond {
		t.Errorf("sleeps %s", wait)
	}
}

// After a sleep of the machine what fell due meanwhile runs; back and forth is as
// if nothing had been.
func TestP26_AClockSetAheadMakesDue(t *testing.T) {
	m := newMachine()
	waiting(m)
	m.stepWall(t, -time.Hour)
	m.stepWall(t, time.Hour)
	m.wantDue(t, 29*time.Second)
	m.wantDue(t, 30*time.Second, "retry", "named")
	m.stepWall(t, 8*time.Hour)
	m.wantDue(t, 0, "retry", "named")
}

// A clock that was set back while nobody ran is told by the attempt, which lies
// in the future.
func TestP26_AClockSetBackWhileNobodyRan(t *testing.T) {
	m := newMachine()
	t.Cleanup(wall.Step(-365 * 24 * time.Hour))
	waiting(m)
	m.wantDue(t, 29*time.Second)
	m.wantDue(t, 30*time.Second, "retry")
}
