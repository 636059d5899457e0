package alert

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
)

// lines is a log in memory.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// shelf is a store in memory that can refuse.
type shelf struct {
	mu     sync.Mutex
	blob   []byte
	saves  int
	refuse error
}

func (s *shelf) LoadState(context.Context, string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blob, s.refuse
}

func (s *shelf) Days(context.Context, int, time.Time) ([]engine.DaySum, error) { return nil, nil }
func (s *shelf) Totals(context.Context) (engine.Totals, error)                 { return engine.Totals{}, nil }

func (s *shelf) SaveState(_ context.Context, _ string, blob []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return s.refuse
	}
	s.blob, s.saves = blob, s.saves+1
	return nil
}

func (s *shelf) saved() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saves
}

func (s *shelf) refuses(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = err
}

// bench is a runner with everything that it reads.
type bench struct {
	*Runner
	t       *testing.T
	store   *shelf
	mu      sync.Mutex
	reading Reading
	fall    bool
	calls   []engine.CallRow
	notes   []string
	log     lines
	stop    func()
}

func (b *bench) read(context.Context, time.Time) Reading {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fall {
		panic("no luck")
	}
	return b.reading
}

func (b *bench) set(r Reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = r
}

func (b *bench) callsAfter(seq uint64) []engine.CallRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.calls), func(c engine.CallRow) bool { return c.Seq <= seq })
}

// run starts a runner on a store, as a process would.
func run(t *testing.T, store *shelf) *bench {
	t.Helper()
	b := &bench{t: t, store: store}
	b.Runner = NewRunner(RunnerOptions{
		Monitor: fresh(t), Store: store, Read: b.read, Calls: b.callsAfter, Log: zerolog.New(&b.log),
		OnNote: func(n engine.Note) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.notes = append(b.notes, string(n.Level)+" "+n.Text)
		},
	})
	b.Load(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) state(id string) engine.AlertState {
	for _, r := range b.Rows() {
		if r.ID == id {
			return r.State
		}
	}
	return engine.AlertOK
}

func (b *bench) wants(id string, s engine.AlertState, firing int) {
	b.t.Helper()
	if got := b.state(id); got != s || b.Firing() != firing {
		b.t.Errorf("%s is %s with %d firing, want %s with %d", id, got, b.Firing(), s, firing)
	}
}

func (b *bench) told(want ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	ok := len(b.notes) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(b.notes[i], want[i])
	}
	if !ok {
		b.t.Errorf("notes are %q, want %q", b.notes, want)
	}
	b.notes = nil
}

func TestRunner_TellsOnceWhatBeginsAndWhatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &shelf{})
		defer b.stop()
		time.Sleep(6 * time.Second)
		b.told()
		b.set(Reading{KeyRejected: true})
		time.Sleep(10 * time.Second)
		b.wants("key", engine.AlertFiring, 1)
		b.told("warn alert: no valid key; paste a new key")
		if got, err := b.Acknowledge(t.Context(), "key", ana); err != nil || got.Applied != 1 {
			t.Errorf("%+v %v", got, err)
		}
		b.wants("key", engine.AlertAcknowledged, 0)
		b.set(Reading{})
		time.Sleep(5 * time.Second)
		b.wants("key", engine.AlertOK, 0)
		b.told("ok alert is over: no valid key")
		if got, err := b.Silence(t.Context(), "key", time.Now().Add(time.Hour), ana); err != nil || got.Applied != 1 {
			t.Errorf("%+v %v", got, err)
		}
		b.set(Reading{KeyRejected: true})
		time.Sleep(30 * time.Minute)
		b.wants("key", engine.AlertSilenced, 0)
		b.told()
		time.Sleep(31 * time.Minute) // it still holds when the silence ends
		b.wants("key", engine.AlertFiring, 1)
		b.told("warn alert: no valid key")
		for _, line := range []string{"alert began to fire", "alert ended"} {
			if !strings.Contains(b.log.String(), line) {
				t.Errorf("the log lacks %q", line)
			}
		}
	})
}

func TestRunner_RefusesAndStoresAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shelf{}
		b := run(t, store)
		defer b.stop()
		synctest.Wait()
		began := store.saved() // at the start
		if _, err := b.Acknowledge(t.Context(), "key", ana); !errors.Is(err, engine.ErrConflict) {
			t.Errorf("acknowledged what does not fire: %v", err)
		}
		if _, err := b.Silence(t.Context(), "nonsense", time.Now().Add(time.Hour), ana); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("silenced nothing: %v", err)
		}
		if n := store.saved() - began; n != 0 {
			t.Errorf("what was refused was saved %d times", n)
		}
		if _, err := b.Silence(t.Context(), "key", time.Now().Add(time.Hour), ana); err != nil || store.saved() != began+1 {
			t.Errorf("%d saves, %v", store.saved()-began, err)
		}
		store.refuses(errors.New("the disk is full"))
		if _, err := b.Silence(t.Context(), "429", time.Now().Add(time.Hour), ana); err == nil || !strings.Contains(err.Error(), "a restart will not know") {
			t.Errorf("it was not saved: %v", err)
		}
		store.refuses(nil)
	})
}

// A restart keeps pending, firing and acknowledged alerts, and tells nobody again.
func TestRunner_ARestartKeepsEveryState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shelf{}
		trouble := Reading{KeyRejected: true, LogDrops: 3, Queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: "q"}, OldestDue: time.Now().Add(-2 * time.Hour)}}}
		b := run(t, store)
		b.set(trouble)
		time.Sleep(66 * time.Second) // a second after an evaluation
		if store.saved() != 2 {      // at its start, too
			t.Errorf("saved %d times in a minute", store.saved())
		}
		if _, err := b.Acknowledge(t.Context(), "log-drops", ana); err != nil {
			t.Fatal(err)
		}
		b.told("warn alert: no valid key", "warn alert: dropped log lines")
		before := b.Rows()
		b.stop()

		seen := NewRunner(RunnerOptions{Monitor: fresh(t), Store: store}) // who only looks
		seen.Load(t.Context())
		if got := seen.Rows(); len(got) != len(before) || seen.Evaluated().IsZero() || seen.Firing() != 1 {
			t.Errorf("%d rows, want %d, evaluated %s", len(got), len(before), seen.Evaluated())
		}
		for i, r := range seen.Rows() {
			if w := before[i]; r.ID != w.ID || r.State != w.State || r.Now() != w.Now() || r.By != w.By || !r.Since.Equal(w.Since) {
				t.Errorf("stored %+v, was %+v", r, w)
			}
		}

		time.Sleep(30 * time.Second)
		again := run(t, store)
		defer again.stop()
		trouble.LogDrops = 0 // the new process has dropped nothing; the hour's count stays
		again.set(trouble)
		time.Sleep(10 * time.Second)
		again.wants("key", engine.AlertFiring, 1)
		again.wants("log-drops", engine.AlertAcknowledged, 1)
		again.wants("queue-age/q", engine.AlertPending, 1)
		again.told()
		time.Sleep(8*time.Minute + 30*time.Second) // ten minutes since it began to hold
		again.wants("queue-age/q", engine.AlertFiring, 2)
		again.told("ok alert is over: dropped log lines", "warn alert: queue age (q)")
	})
}

// Whatever falls over, the runner goes on, and says so once.
func TestRunner_OutlivesWhatFallsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shelf{blob: []byte("nonsense")}
		b := run(t, store)
		defer b.stop()
		b.mu.Lock()
		b.fall = true
		b.mu.Unlock()
		time.Sleep(time.Minute)
		b.told("error alerts failed to evaluate the rules: no luck; the engine goes on without them")
		b.Publish([]engine.Change{{}, {Attempt: &engine.Attempt{}}, {Of: "1"}})
		b.mu.Lock()
		b.fall = false
		b.mu.Unlock()
		b.set(Reading{KeyRejected: true})
		time.Sleep(10 * time.Second)
		b.wants("key", engine.AlertFiring, 1)
		store.refuses(errors.New("the disk is full"))
		time.Sleep(3 * time.Minute)
		b.wants("key", engine.AlertFiring, 1)
		if !strings.Contains(b.log.String(), "alerts could not be saved") || !strings.Contains(b.log.String(), "could not be read") {
			t.Errorf("the log is silent: %s", b.log.String())
		}
		store.refuses(nil)
	})
}

func TestRunner_FoldsChangesAndCallsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &shelf{})
		defer b.stop()
		b.mu.Lock()
		b.calls = []engine.CallRow{call(1, time.Now(), 429, true)}
		b.mu.Unlock()
		a := engine.Attempt{Number: 2, Try: 2, Start: time.Now(), End: time.Now(), Verb: engine.VerbDone}
		b.Publish([]engine.Change{
			{Attempt: &a, Of: "7"},
			{Before: engine.Running, Job: &engine.Job{ID: "7", State: engine.Completed, Attempts: 2, Tries: 2}},
			{Deleted: "8"}, {Account: &engine.AccountRow{}}, {Queue: &engine.QueueState{}},
		})
		time.Sleep(time.Minute)
		m, err := b.Metrics("", 0)
		if err != nil || m.Completed != 1 || m.Retries != 1 || m.RetriesWon != 1 || m.MeanAttempts != 2 || m.Statuses["ok"] != 1 {
			t.Errorf("%+v %v", m, err)
		}
		for _, r := range b.Rows() {
			if r.ID == "429" && r.Value != 1 {
				t.Errorf("%g 429s, there was one", r.Value)
			}
		}
		for _, window := range []time.Duration{-time.Second, 2 * time.Hour} {
			if _, err := b.Metrics("", window); !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("metrics over %s: %v", window, err)
			}
		}
	})
}

// TestV8b_TrafficHasTheNewestCalls: the half hour that has begun counts the calls and matches that no evaluation has seen yet,
// each once.
func TestV8b_TrafficHasTheNewestCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &shelf{})
		defer b.stop()
		for i := range 3 {
			b.mu.Lock()
			b.calls = append(b.calls, engine.CallRow{Seq: uint64(i + 1), At: time.Now(), Status: 200})
			b.mu.Unlock()
			if got := b.Traffic(int64(i + 1)); got.Calls != i+1 || got.Stored != i+1 || !got.At.Equal(time.Now().Truncate(engine.TrafficEvery)) {
				t.Errorf("after %d calls: %+v", i+1, got)
			}
		}
		time.Sleep(2 * evaluateEvery)
		if m, err := b.Metrics("", 0); err != nil || len(m.Traffic) != 1 || m.Traffic[0].Calls != 3 || m.Traffic[0].Stored != 3 {
			t.Errorf("evaluated: %+v, %v", m.Traffic, err)
		}
	})
}

// TestAnAlertBeginsInWords: what it is about, how much of it there is, and what follows.
func TestAnAlertBeginsInWords(t *testing.T) {
	told := []engine.Evidence{{Kind: "text", Text: "it answers 503"}}
	for want, a := range map[string]engine.AlertRow{
		"alert: 503 burst per 1 min (europe): 3, fires above 2; the engine probes the host": {About: "503 burst per 1 min", Subject: "europe", Value: 3, Limit: 2, Known: true, Next: "the engine probes the host"},
		"alert: an endpoint is down (asia ids): 2 min 02 s; it answers 503":                 {About: "an endpoint is down", Subject: "asia ids", Value: 122, Known: true, Unit: engine.AlertDuration, Holds: true, Evidence: told},
		"alert: no valid key: it answers 503":                                               {About: "no valid key", Unit: engine.AlertCount, Value: 1, Known: true, Holds: true, Evidence: told},
	} {
		if got := beginning(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
