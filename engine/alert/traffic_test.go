package alert

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestTrafficOfADayOutlivesARestart: calls, 429s and stored matches by half an hour,
// from the one in which counting began, for a day at most; also when the process was
// another one.
func TestTrafficOfADayOutlivesARestart(t *testing.T) {
	start := time.Date(2026, 1, 20, 12, 10, 0, 0, time.UTC)
	m := New(Options{})
	if got := m.Metrics("", start, time.Hour).Traffic; got != nil { // nothing is counted yet
		t.Errorf("before the first evaluation: %v", got)
	}
	m.Evaluate(start)
	m.Calls([]engine.CallRow{{Seq: 1, At: start, Status: 200}, {Seq: 2, At: start, Status: 429}, {Seq: 3, At: start.Add(40 * time.Minute), Status: 200}})
	m.CatchUp(start, nil, 7)
	for _, stored := range []int64{8, 7, 8} { // one is stored, and fetched anew
		m.Changes(start.Add(40*time.Minute), []engine.Change{{Totals: &engine.Totals{Success: stored}}})
	}
	blob, err := m.Save()
	if err != nil {
		t.Fatal(err)
	}
	m = New(Options{})
	for range 3 { // a member that follows reads them every two seconds
		if err := m.Load(blob); err != nil {
			t.Fatal(err)
		}
	}
	now := start.Add(90 * time.Minute) // 13:40
	m.Evaluate(now)
	noon := start.Truncate(engine.TrafficEvery)
	want := []engine.TrafficSpan{
		{At: noon, Calls: 2, Throttled: 1}, {At: noon.Add(30 * time.Minute), Calls: 1, Stored: 1}, {At: noon.Add(time.Hour)}, {At: noon.Add(90 * time.Minute)},
	}
	got := m.Metrics("", now, time.Hour).Traffic
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if !got[i].At.Equal(want[i].At) || got[i].Calls != want[i].Calls || got[i].Throttled != want[i].Throttled || got[i].Stored != want[i].Stored {
			t.Errorf("span %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
	if n := len(m.Metrics("", start.Add(72*time.Hour), time.Hour).Traffic); n != 48 {
		t.Errorf("three days later there are %d spans, want those of a day", n)
	}
}

// TestW10c_SpeedLeavesCancelledOut: who cancels a thousand jobs has made none.
func TestW10c_SpeedLeavesCancelledOut(t *testing.T) {
	m := New(Options{})
	now := time.Date(2026, 1, 20, 12, 10, 0, 0, time.UTC)
	for _, s := range []engine.State{engine.Completed, engine.Discarded, engine.Cancelled, engine.Cancelled} {
		m.Changes(now, []engine.Change{{Job: &engine.Job{State: s}, Before: engine.Available}})
	}
	if got := m.Metrics("", now, 2*time.Minute).PerMin; got != 1 {
		t.Errorf("%g per min, want 1", got)
	}
}

// TestB2e_AWrongClockIsAnAlert: by more than five minutes, and it ends with the trouble.
func TestB2e_AWrongClockIsAnAlert(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 10, 0, 0, time.UTC)
	m := New(Options{})
	for _, c := range []struct {
		ahead time.Duration
		want  engine.AlertState
	}{{0, engine.AlertOK}, {-17520 * time.Hour, engine.AlertFiring}, {6 * time.Minute, engine.AlertFiring}, {0, engine.AlertOK}} {
		var got engine.AlertState
		for range 4 {
			now = now.Add(30 * time.Second)
			m.Read(now, Reading{ClockAhead: c.ahead})
			for _, row := range m.Evaluate(now) {
				if row.Rule == "clock" {
					got = row.State
				}
			}
		}
		if got != c.want {
			t.Errorf("%v ahead: %v", c.ahead, got)
		}
	}
}
