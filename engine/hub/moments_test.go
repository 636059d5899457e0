package hub_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
)

// reading is a limiter's reading of so many hosts, each with two windows of its
// own and of five methods.
func reading(hosts int, seed uint64) (l engine.LimitsRow) {
	r := rand.New(rand.NewPCG(seed, seed))
	for h := range hosts {
		for m := range 6 {
			for w := range 2 {
				b := engine.BucketRow{
					Host: fmt.Sprintf("host%d", h), Kind: "app", Window: time.Duration(w*119+1) * time.Second, Limit: 100,
					Used: r.IntN(100), InFlight: r.IntN(5), Server: r.IntN(100), Mode: "sliding",
					Reset: time.Date(2026, 11, 21, 12, r.IntN(60), r.IntN(60), r.IntN(1e9), time.UTC),
				}
				if m > 0 {
					b.Kind, b.Method = "method", fmt.Sprintf("match-v5.%d", m)
				}
				l.Buckets = append(l.Buckets, b)
			}
		}
	}
	l.Waiting = []engine.WaiterRow{{Job: "1", Reason: "app:europe 100/100"}}
	return l
}

func TestMoments_TenMinutesAreKept(t *testing.T) {
	var m hub.Moments
	begin := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for i := range 700 {
		moment := engine.Moment{
			At: begin.Add(time.Duration(i) * time.Second), Limits: reading(1, uint64(i)),
			Engine: engine.EngineRow{State: engine.EngineLive, Stored: int64(i), Meter: engine.Meter{CallsPerMin: 12.5, Spark: []int{1, 2}}},
			Queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: "ingest"}, Counts: map[engine.State]int{engine.Running: i}}},
		}
		if err := m.Add(moment); err != nil {
			t.Fatal(err)
		}
	}
	all, err := m.Between(time.Time{}, time.Time{})
	if err != nil || len(all) != 600 {
		t.Fatalf("%d moments, %v", len(all), err)
	}
	for i, got := range all {
		n := i + 100
		if !got.At.Equal(begin.Add(time.Duration(n)*time.Second)) || got.Engine.Stored != int64(n) || got.Queues[0].Counts[engine.Running] != n {
			t.Fatalf("moment %d: %+v", i, got)
		}
		if len(got.Limits.Waiting) != 0 || fmt.Sprint(got.Limits.Buckets) != fmt.Sprint(reading(1, uint64(n)).Buckets) {
			t.Fatalf("moment %d has the limits %+v", i, got.Limits)
		}
	}
	at := begin.Add(300 * time.Second)
	if one, err := m.Between(at, at); err != nil || len(one) != 1 || one[0].Engine.Stored != 300 {
		t.Errorf("one instant: %+v, %v", one, err)
	}
	if rest, _ := m.Between(begin.Add(690*time.Second), time.Time{}); len(rest) != 10 {
		t.Errorf("%d moments since 690 s", len(rest))
	}
}

// A reading beyond all reason costs buckets, not the moment, and the caller's own
// reading stays whole.
func TestMoments_AreBoundedInSize(t *testing.T) {
	var m hub.Moments
	l := reading(200, 1)
	if err := m.Add(engine.Moment{At: time.Now(), Limits: l}); err != nil {
		t.Fatal(err)
	}
	got, err := m.Between(time.Time{}, time.Time{})
	if err != nil || len(got) != 1 || len(got[0].Limits.Buckets) >= len(l.Buckets) {
		t.Errorf("%v, %d moments", err, len(got))
	}
	if len(l.Buckets) != 200*12 || len(l.Waiting) != 1 {
		t.Error("the caller's reading was changed")
	}
}

// Records of the log reach each console once, in order, in one update however many
// they were; a reader that fell behind gets the newest.
func TestLogsReachEveryConsoleMergedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var rows []engine.LogRow
		log := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			for range n {
				rows = append(rows, engine.LogRow{Seq: uint64(len(rows) + 1)})
			}
		}
		h := hub.New(hub.Options{Source: still{}, Accounts: stored(), Logs: func(seq uint64, n int) []engine.LogRow {
			mu.Lock()
			defer mu.Unlock()
			after := rows[min(int(seq), len(rows)):]
			return append([]engine.LogRow(nil), after[max(0, len(after)-n):]...)
		}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = h.Run(ctx) }()
		log(5)
		updates := make(chan engine.Update)
		go func() {
			defer close(updates)
			for u := range h.Watch(ctx) {
				updates <- u
			}
		}()
		if u := <-updates; !u.Snapshot || len(u.Logs) != 5 {
			t.Errorf("the snapshot has %d records", len(u.Logs))
		}
		log(40)
		if u := <-updates; len(u.Logs) != 40 || u.Logs[0].Seq != 6 {
			t.Errorf("%d new records", len(u.Logs))
		}
		log(5000)
		if u := <-updates; len(u.Logs) != 1000 || u.Logs[999].Seq != 5045 {
			t.Errorf("%d new records", len(u.Logs))
		}
		time.Sleep(5 * time.Second)
		select {
		case u := <-updates:
			t.Errorf("nothing was logged, and yet: %+v", u)
		default:
		}
		cancel()
		for range updates {
		}
	})
}

// What the time cursor costs: once a second, and when somebody steps back.
func BenchmarkMoments(b *testing.B) {
	moments := make([]engine.Moment, 60)
	for i := range moments {
		moments[i] = engine.Moment{At: time.Unix(int64(i), 0), Limits: reading(3, uint64(i)), Queues: make([]engine.QueueRow, 7)}
	}
	var m hub.Moments
	b.Run("add", func(b *testing.B) {
		for i := range b.N {
			if err := m.Add(moments[i%len(moments)]); err != nil {
				b.Fatal(err)
			}
		}
	})
	at := moments[7].At
	b.Run("step", func(b *testing.B) {
		for range b.N {
			if list, err := m.Between(at, at); err != nil || len(list) == 0 {
				b.Fatal(len(list), err)
			}
		}
	})
}
