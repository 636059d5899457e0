package alert

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

var ana = engine.Actor{User: "ana", Via: "console"}

func fresh(t testing.TB) *Monitor {
	t.Helper()
	m := New(Options{Policies: engine.DefaultPolicies()})
	return m
}

// end folds a job that ended after so many tries.
func end(m *Monitor, at time.Time, id string, s engine.State, tries int) {
	m.Changes(at, []engine.Change{{
		Before: engine.Running,
		Job:    &engine.Job{ID: engine.JobID(id), Key: "match:" + id, State: s, Tries: tries, Attempts: tries, Class: "503"},
	}})
}

func endMany(m *Monitor, at time.Time, n int, s engine.State, tries int) {
	for i := range n {
		end(m, at, fmt.Sprint(s, at.Unix(), i), s, tries)
	}
}

// tried folds an attempt.
func tried(m *Monitor, at time.Time, job string, verb engine.Verb, try int, class engine.Class) {
	m.attempt(engine.JobID(job), "", engine.Attempt{Number: try, Try: try, Start: at, End: at, Verb: verb, Class: class})
}

func failMany(m *Monitor, at time.Time, n int, class engine.Class) {
	for i := range n {
		tried(m, at, fmt.Sprint(class, at.Unix(), i), engine.VerbRetry, 1, class)
	}
}

// lookup evaluates and gives one alert. One that is not told is ok.
func lookup(m *Monitor, now time.Time, id string) (engine.AlertRow, bool) {
	for _, r := range m.Evaluate(now) {
		if r.ID == id {
			return r, true
		}
	}
	return engine.AlertRow{State: engine.AlertOK}, false
}

func row(t testing.TB, m *Monitor, now time.Time, id string) engine.AlertRow {
	t.Helper()
	r, ok := lookup(m, now, id)
	if !ok {
		t.Fatalf("there is no alert %s", id)
	}
	return r
}

// until feeds for so long from noon on.
func until(end time.Duration, feed func(at time.Time)) func(at time.Time) {
	return func(at time.Time) {
		if at.Sub(noon) <= end {
			feed(at)
		}
	}
}

// watch evaluates every 30 s and gives the states the alert went through, with
// the minutes at which it entered them.
func watch(m *Monitor, from time.Time, d time.Duration, id string, each ...func(at time.Time)) string {
	var states []string
	last := engine.AlertState("")
	for at := from; at.Sub(from) <= d; at = at.Add(30 * time.Second) {
		for _, feed := range each {
			feed(at)
		}
		if r, _ := lookup(m, at, id); r.State != last {
			states, last = append(states, fmt.Sprintf("%s@%g", r.State, at.Sub(from).Minutes())), r.State
		}
	}
	return strings.Join(states, " ")
}

func TestS2_9_Metrics(t *testing.T) {
	m := fresh(t)
	gaveUp := &engine.Job{ID: "3", Key: "match:3", State: engine.Discarded, Tries: 5, Attempts: 5, Class: "503"}
	end(m, noon, "1", engine.Completed, 1)
	end(m, noon, "2", engine.Completed, 3)
	end(m, noon, "3", engine.Discarded, 5) // at max
	end(m, noon, "4", engine.Discarded, 1) // a 404
	end(m, noon, "5", engine.Cancelled, 2)
	m.Changes(noon, []engine.Change{
		{Before: engine.Running, Job: &engine.Job{State: engine.Retryable}},
		{Before: engine.Discarded, Job: &engine.Job{ID: "3", State: engine.Available, Attempts: 5}, Ended: gaveUp}, // a reclass, and its undo
		{Before: engine.Available, Job: gaveUp},
		{Account: &engine.AccountRow{}},
	})
	tried(m, noon, "2", engine.VerbRetry, 1, "503")
	tried(m, noon, "2", engine.VerbRetry, 2, "timeout")
	tried(m, noon, "2", engine.VerbDone, 3, "")
	tried(m, noon, "3", engine.VerbFail, 2, "404")
	tried(m, noon, "6", engine.VerbWait, 2, "")
	tried(m, noon, "7", engine.VerbInterrupted, 2, "")
	m.attempt("8", "", engine.Attempt{Number: 1, Try: 2, Start: noon, Verb: engine.VerbDone}) // runs still
	m.attempt("9", "", engine.Attempt{Try: 3, End: noon, Verb: engine.VerbSnooze, Class: "429.app"})
	m.attempt("10", "", engine.Attempt{Try: 3, End: noon, Verb: engine.VerbSnooze, Hold: engine.HoldFrozen})
	m.attempt("11", "", engine.Attempt{Number: 1, Try: 1, End: noon, Verb: engine.VerbRetry, Status: 500})

	now := noon.Add(30 * time.Minute)
	got := m.Metrics("", now, time.Hour)
	want := engine.Metrics{
		Since: noon.Add(-29 * time.Minute), Until: now,
		Completed: 2, Discarded: 2, Cancelled: 1, AtMax: 1, MeanAttempts: 2.5, PerMin: 4.0 / 60, FailureRate: 0.5,
		Retries: 4, RetriesWon: 2, RetryRate: 4.0 / 7, RetrySuccess: 0.5,
		Tries:    []engine.TryCount{{Made: 2}, {Made: 3, Won: 1}, {Made: 1, Won: 1}},
		Statuses: map[string]int{"ok": 2, "503": 1, "timeout": 1, "404": 1, "429.app": 1, "frozen": 1, "500": 1},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("metrics are\n%+v, want\n%+v", got, want)
	}
	if short := m.Metrics("", now, 30*time.Minute); short.Completed != 0 || len(short.Statuses) != 0 || !short.Since.Equal(noon.Add(time.Minute)) {
		t.Errorf("half an hour: %+v", short)
	}
	later := m.Metrics("", noon.Add(61*time.Minute), time.Hour)
	if later.RetrySuccess != 0 || later.Completed != 0 || later.MeanAttempts != 0 || len(later.Statuses) != 0 {
		t.Errorf("an hour later: %+v", later)
	}
}

// Whatever ends when, the metrics are a recount of the window's minutes.
func TestS2_9_MetricsAreARecount(t *testing.T) {
	type event struct {
		at    time.Time
		state engine.State
		tries int
		verb  engine.Verb
	}
	rapid.Check(t, func(t *rapid.T) {
		m := New(Options{Policies: engine.DefaultPolicies()})
		at := noon
		var all []event
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "pause")) * time.Second)
			e := event{at, rapid.SampledFrom(engine.States()).Draw(t, "state"), rapid.IntRange(1, 5).Draw(t, "tries"),
				rapid.SampledFrom([]engine.Verb{engine.VerbDone, engine.VerbRetry, engine.VerbFail}).Draw(t, "verb")}
			all = append(all, e)
			end(m, e.at, "x", e.state, e.tries)
			tried(m, e.at, "x", e.verb, e.tries, "503")
		}
		now := at.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "later")) * time.Second)
		var want engine.Metrics
		attempts, charged := 0, 0
		for _, e := range all {
			if now.Unix()/60-e.at.Unix()/60 >= 60 {
				continue
			}
			switch e.state {
			case engine.Completed:
				want.Completed++
				attempts += e.tries
			case engine.Discarded:
				want.Discarded++
				attempts += e.tries
				if e.tries == 5 {
					want.AtMax++
				}
			case engine.Cancelled:
				want.Cancelled++
			}
			charged++
			if e.tries > 1 {
				want.Retries++
				if e.verb == engine.VerbDone {
					want.RetriesWon++
				}
			}
		}
		finished := want.Completed + want.Discarded
		want.PerMin = float64(finished) / 60
		want.MeanAttempts, _ = ratio(attempts, finished)
		want.FailureRate, _ = ratio(want.Discarded, finished)
		want.RetryRate, _ = ratio(want.Retries, charged)
		want.RetrySuccess, _ = ratio(want.RetriesWon, want.Retries)
		got := m.Metrics("", now, time.Hour)
		sum := 0
		for _, n := range got.Statuses {
			sum += n
		}
		if sum != charged {
			t.Fatalf("%d statuses of %d attempts", sum, charged)
		}
		want.Since, want.Until, want.Statuses, want.Tries = got.Since, got.Until, got.Statuses, got.Tries
		made, retriesWon := 0, 0
		for i, try := range got.Tries {
			made += try.Made
			if i > 0 {
				retriesWon += try.Won
			}
		}
		if made != charged || retriesWon != want.RetriesWon {
			t.Fatalf("%d tries, %d retries won: %v", made, retriesWon, got.Tries)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("metrics are\n%+v, want\n%+v", got, want)
		}
	})
}

func TestS2_10_GiveUpShare(t *testing.T) {
	for _, c := range []struct {
		completed, gaveUp, missing int
		holds, known               bool
	}{
		{13, 6, 0, false, false},  // 19 jobs are too few
		{14, 6, 0, false, true},   // 30 % is not above it
		{13, 7, 0, true, true},    // 35 %
		{0, 20, 0, true, true},    // all
		{10, 4, 30, false, true},  // a 404 has not used up its attempts
		{100, 42, 0, false, true}, // 29.6 %
	} {
		m := fresh(t)
		endMany(m, noon, c.completed, engine.Completed, 1)
		endMany(m, noon, c.gaveUp, engine.Discarded, 5)
		endMany(m, noon, c.missing, engine.Discarded, 1)
		if r := row(t, m, noon, "give-ups"); r.Holds != c.holds || r.Known != c.known {
			t.Errorf("%+v: holds %v, known %v", c, r.Holds, r.Known)
		}
	}
}

func TestS2_10_GiveUpShareFiresAndEnds(t *testing.T) {
	m := fresh(t)
	endMany(m, noon, 20, engine.Completed, 1)
	endMany(m, noon, 20, engine.Discarded, 5)
	if got, want := watch(m, noon, 75*time.Minute, "give-ups"), "pending@0 firing@5 ok@65"; got != want {
		t.Errorf("went through %q, want %q", got, want)
	}
	m = fresh(t)
	endMany(m, noon, 20, engine.Discarded, 5)
	r := row(t, m, noon, "give-ups")
	if r.State != engine.AlertPending || !r.Fires.Equal(noon.Add(5*time.Minute)) || r.Now() != "100 %" || r.Bound() != "> 30 %" {
		t.Errorf("pending: %+v", r)
	}
	if len(r.Evidence) != 20 || r.Evidence[0].Kind != "job" || !strings.Contains(r.Evidence[0].Text, "503") || r.Next == "" {
		t.Errorf("evidence: %+v", r.Evidence)
	}
	endMany(m, noon.Add(time.Minute), 100, engine.Completed, 1)
	if r := row(t, m, noon.Add(time.Minute), "give-ups"); r.State != engine.AlertOK {
		t.Errorf("clear before it fired: %s", r.State)
	}
}

// A policy with three attempts gives up at the third.
func TestS2_10_GiveUpsByTheJobsOwnMaximum(t *testing.T) {
	m := fresh(t)
	for i := range 20 {
		kind := []engine.Kind{engine.KindCall, "match.fetch"}[i%2]
		m.Changes(noon, []engine.Change{{Before: engine.Running, Job: &engine.Job{Kind: kind, State: engine.Discarded, Tries: 3, Attempts: 3}}})
	}
	if got := m.Metrics("", noon, time.Hour).AtMax; got != 10 {
		t.Errorf("%d at max, want 10", got)
	}
}

func TestS2_10_RetrySuccess(t *testing.T) {
	for _, c := range []struct {
		won, lost    int
		holds, known bool
	}{
		{0, 19, false, false},
		{0, 20, true, true},
		{3, 17, true, true},   // 15 %
		{4, 16, false, true},  // 20 % is not below it
		{20, 20, false, true}, // 50 %
	} {
		m := fresh(t)
		for i := range c.won {
			tried(m, noon, fmt.Sprint("w", i), engine.VerbDone, 2, "")
		}
		for i := range c.lost {
			tried(m, noon, fmt.Sprint("l", i), engine.VerbRetry, 3, "503")
			tried(m, noon, fmt.Sprint("l", i), engine.VerbRetry, 1, "503") // no retry
		}
		if r := row(t, m, noon, "retries"); r.Holds != c.holds || r.Known != c.known {
			t.Errorf("%+v: holds %v, known %v, value %s", c, r.Holds, r.Known, r.Now())
		}
	}
	m := fresh(t)
	if got, want := watch(m, noon, 70*time.Minute, "retries", until(15*time.Minute, func(at time.Time) {
		tried(m, at, fmt.Sprint("a", at), engine.VerbRetry, 2, "503")
		tried(m, at, fmt.Sprint("b", at), engine.VerbRetry, 2, "503")
	})), "ok@0 pending@4.5 firing@9.5 ok@30.5"; got != want {
		t.Errorf("went through %q, want %q", got, want)
	}
}

func TestS2_10_SpikeOfOneStatus(t *testing.T) {
	const id = "spike/503"
	t.Run("without a history ten are a spike", func(t *testing.T) {
		m := fresh(t)
		failMany(m, noon, 9, "503")
		if r := row(t, m, noon, id); r.Holds || r.Bound() != "≥ 10" {
			t.Errorf("9 of them: %+v", r)
		}
		failMany(m, noon.Add(time.Minute), 1, "503")
		r := row(t, m, noon.Add(time.Minute), id)
		if !r.Holds || r.Subject != "503" || len(r.Evidence) != 10 {
			t.Errorf("10 of them: %+v", r)
		}
	})
	t.Run("against the median of the day before", func(t *testing.T) {
		m := fresh(t)
		for hour := range 24 { // 8 in each of 13 hours, 100 in the others: the median is 8
			n := 8
			if hour%2 == 1 && hour < 22 {
				n = 100
			}
			failMany(m, noon.Add(-time.Duration(hour)*time.Hour-90*time.Minute), n, "503")
		}
		failMany(m, noon, 23, "503")
		if r := row(t, m, noon, id); r.Holds || r.Limit != 24 {
			t.Errorf("23 against a median of 8: %+v", r)
		}
		failMany(m, noon.Add(time.Second), 1, "503")
		if r := row(t, m, noon.Add(time.Second), id); !r.Holds {
			t.Errorf("24 against a median of 8: %+v", r)
		}
	})
	t.Run("success and others are not meant", func(t *testing.T) {
		m := fresh(t)
		for i := range 1000 {
			tried(m, noon, fmt.Sprint(i), engine.VerbDone, 1, "")
		}
		failMany(m, noon, 5, "timeout")
		for _, r := range m.Evaluate(noon) {
			if r.Rule == "spike" && r.Holds {
				t.Errorf("%+v", r)
			}
		}
	})
	t.Run("it ends, and is forgotten", func(t *testing.T) {
		m := fresh(t)
		if got, want := watch(m, noon, 70*time.Minute, id, until(10*time.Minute, func(at time.Time) { failMany(m, at, 2, "503") })), "ok@0 pending@2 firing@7 ok@25.5"; got != want {
			t.Errorf("went through %q, want %q", got, want)
		}
		m.Evaluate(noon.Add(27 * time.Hour))
		if len(m.statuses) != 0 || len(m.trails) != 0 || m.alerts[id] != nil {
			t.Errorf("a day later: %v, %v", m.statuses, m.trails)
		}
	})
}

func call(seq uint64, at time.Time, status int, unforeseen bool) engine.CallRow {
	return engine.CallRow{Seq: seq, At: at, Host: "asia", Method: "match-v5.match", Target: "KR_1", Job: engine.JobID(fmt.Sprint(seq)), Status: status, Unforeseen: unforeseen}
}

// A telephone call whose end is in no table is not retried: it raises an alert.
func TestS2_10_AnUnknownEndOfACallRaisesAnAlert(t *testing.T) {
	m := fresh(t)
	for i, class := range []engine.Class{"busy", "failed.invalid-number", "no-answer"} {
		m.Changes(noon, []engine.Change{{Before: engine.Running, Job: &engine.Job{ID: engine.JobID(fmt.Sprint(i)), Kind: engine.KindCall, State: engine.Discarded, Class: class, Tries: 1}}})
	}
	end(m, noon, "another kind", engine.Discarded, 1)
	if a, ok := lookup(m, noon, "calls"); ok && a.State != engine.AlertOK {
		t.Fatalf("it is %s after known ends", a.State)
	}
	m.Changes(noon, []engine.Change{{Before: engine.Running, Job: &engine.Job{ID: "7", Key: "alert.call:x", Kind: engine.KindCall, State: engine.Discarded, Class: "teleported", Tries: 1}}})
	a, ok := lookup(m, noon.Add(time.Second), "calls")
	if !ok || a.State != engine.AlertFiring || a.Value != 1 || len(a.Evidence) != 1 || a.Evidence[0].ID != "7" {
		t.Errorf("%+v", a)
	}
}

func TestAlerts_UnforeseenAndBursts(t *testing.T) {
	m := fresh(t)
	m.Calls([]engine.CallRow{call(1, noon, 200, false), call(2, noon, 429, false)})
	if r := row(t, m, noon, "429"); r.State != engine.AlertOK {
		t.Errorf("a 429 that was foreseen: %+v", r)
	}
	m.Calls([]engine.CallRow{call(2, noon, 429, true), call(3, noon, 429, true)})
	if r := row(t, m, noon, "429"); r.State != engine.AlertFiring || r.Value != 1 || r.Evidence[0].ID != "3" {
		t.Errorf("one that was not: %+v", r)
	}
	// When somebody is forgotten it goes on firing, and what it named is named no more.
	m.Changes(noon, []engine.Change{{Forgotten: "01A"}})
	m.Evaluate(noon)
	if r := row(t, m, noon, "429"); r.State != engine.AlertFiring || len(r.Evidence) != 0 {
		t.Errorf("after somebody was forgotten: %+v", r)
	}
	if m.CallSeq() != 3 {
		t.Errorf("sequence is %d", m.CallSeq())
	}
	for i := range 3 {
		m.Calls([]engine.CallRow{call(uint64(10+i), noon.Add(time.Duration(i)*5*time.Second), 503, false)})
	}
	if got, want := watch(m, noon.Add(10*time.Second), 3*time.Minute, "503/asia"), "pending@0 firing@0.5 ok@1.5"; got != want {
		t.Errorf("503s went through %q, want %q", got, want)
	}
}

func TestAlerts_Readings(t *testing.T) {
	for _, c := range []struct {
		name  string
		r     Reading
		id    string
		holds bool
		now   string
	}{
		{"key fine", Reading{KeyExpires: noon.Add(21*time.Hour + 14*time.Minute)}, "key-expires", false, "21 h 14 min"},
		{"key expires", Reading{KeyExpires: noon.Add(114 * time.Minute)}, "key-expires", true, "1 h 54 min"},
		{"key expired", Reading{KeyExpires: noon.Add(-time.Hour)}, "key-expires", true, "-1 h"},
		{"key unknown", Reading{}, "key-expires", false, "—"},
		{"key rejected", Reading{KeyRejected: true}, "key", true, "1"},
		{"long hold", Reading{Holds: []engine.LimitHold{{Host: "europe", Until: noon.Add(3 * time.Hour)}}}, "hold/europe", true, "3 h"},
		{"hold of a method", Reading{Holds: []engine.LimitHold{{Host: "kr", Method: "match-v5.ids", Until: noon.Add(time.Hour)}}}, "hold/kr-match-v5.ids", true, "1 h"},
		{"heartbeat", Reading{Syncing: []Beat{{"a", "Ana#1", noon.Add(-10 * time.Minute)}}}, "silent-sync", false, "10 min"},
		{"no heartbeat", Reading{Syncing: []Beat{{"a", "Ana#1", noon}, {"b", "Bob#1", noon.Add(-601 * time.Second)}}}, "silent-sync", true, "10 min 01 s"},
		{"queue", Reading{Queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: "q"}, OldestDue: noon.Add(-time.Hour)}}}, "queue-age/q", false, "1 h"},
		{"old queue", Reading{Queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: "q"}, OldestDue: noon.Add(-61 * time.Minute)}}}, "queue-age/q", true, "1 h 01 min"},
		{"paused queue", Reading{Queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: "q", Paused: true}, OldestDue: noon.Add(-61 * time.Minute)}}}, "queue-age/q", false, "—"},
		{"fast disk", Reading{Writes: map[string]time.Duration{"state": 100 * time.Millisecond}}, "writes/state", false, "100 ms"},
		{"slow disk", Reading{Writes: map[string]time.Duration{"state": 3 * time.Millisecond, "payload": 120 * time.Millisecond}}, "writes/payload", true, "120 ms"},
		{"log-drops", Reading{LogDrops: 7}, "log-drops", true, "7"},
	} {
		m := fresh(t)
		m.Read(noon, c.r)
		if r := row(t, m, noon, c.id); r.Holds != c.holds || r.Now() != c.now || r.Next == "" {
			t.Errorf("%s: holds %v, now %s: %+v", c.name, r.Holds, r.Now(), r)
		}
	}
}

func TestAlerts_SilentSyncNamesTheAccounts(t *testing.T) {
	m := fresh(t)
	m.Read(noon, Reading{Syncing: []Beat{{"a", "Ana#1", noon.Add(-20 * time.Minute)}, {"b", "Bob#1", noon}}})
	if r := row(t, m, noon, "silent-sync"); len(r.Evidence) != 1 || r.Evidence[0].ID != "a" || r.Evidence[0].Text != "Ana#1" {
		t.Errorf("%+v", r)
	}
}

func TestAlerts_LogDropsOfTwoProcesses(t *testing.T) {
	m := fresh(t)
	for _, drops := range []uint64{5, 5, 8, 2} { // 2: a new process
		m.Read(noon, Reading{LogDrops: drops})
	}
	if r := row(t, m, noon, "log-drops"); r.Value != 10 {
		t.Errorf("%g drops, want 10", r.Value)
	}
}

// A silence and an acknowledgement lie over the rule, which goes on below.
func TestAlerts_AcknowledgeAndSilence(t *testing.T) {
	m := fresh(t)
	if _, err := m.Acknowledge("key", ana, noon); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("acknowledged what does not fire: %v", err)
	}
	if _, err := m.Silence("nonsense", noon.Add(time.Hour), ana, noon); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("silenced nothing: %v", err)
	}
	m.Read(noon, Reading{KeyRejected: true})
	m.Evaluate(noon)
	if got, err := m.Acknowledge("key", ana, noon); err != nil || got.Applied != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := m.Acknowledge("key", ana, noon); err != nil || !got.Nothing {
		t.Errorf("twice: %+v, %v", got, err)
	}
	if r := row(t, m, noon, "key"); r.State != engine.AlertAcknowledged || r.By != ana {
		t.Errorf("acknowledged: %+v", r)
	}
	until := noon.Add(time.Hour)
	if got, err := m.Silence("key", until, ana, noon); err != nil || !got.Due.Equal(until) {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := m.Silence("key", noon.Add(8*24*time.Hour), ana, noon); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("silent for eight days: %v", err)
	}
	if r := row(t, m, until.Add(-time.Second), "key"); r.State != engine.AlertSilenced || !r.Until.Equal(until) || !r.Holds {
		t.Errorf("silenced: %+v", r)
	}
	if r := row(t, m, until, "key"); r.State != engine.AlertAcknowledged {
		t.Errorf("heard again: %+v", r)
	}
	m.Read(until, Reading{})
	m.Evaluate(until)
	m.Read(until, Reading{KeyRejected: true})
	if r := row(t, m, until, "key"); r.State != engine.AlertFiring {
		t.Errorf("a second time, an acknowledgement of the first does not count: %+v", r)
	}
	if got, err := m.Silence("key", until, ana, until); err != nil || !got.Nothing {
		t.Errorf("ended a silence that is over: %+v, %v", got, err)
	}
}

// A rule can be silenced as a whole, before it has any subject.
func TestAlerts_SilenceOfARuleCoversItsSubjects(t *testing.T) {
	m := fresh(t)
	if _, err := m.Silence("503", noon.Add(time.Hour), ana, noon); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		m.Calls([]engine.CallRow{call(uint64(i+1), noon, 503, false)})
	}
	if r := row(t, m, noon, "503/asia"); r.State != engine.AlertSilenced || !r.Holds || r.By != ana {
		t.Errorf("%+v", r)
	}
	if got, err := m.Silence("503", time.Time{}, ana, noon); err != nil || got.Applied != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if r := row(t, m, noon, "503/asia"); r.State != engine.AlertPending {
		t.Errorf("%+v", r)
	}
}

// life against a definition: an alert fires when its rule has held without a break
// for so long, and ends when it has not held for as long.
func TestS2_10_LifeAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wait := time.Duration(rapid.IntRange(0, 300).Draw(t, "wait")) * time.Second
		var l life
		on, was, streak, last := false, false, time.Time{}, time.Time{}
		now := noon
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 150).Draw(t, "pause")) * time.Second)
			if rapid.IntRange(0, 20).Draw(t, "jump") == 0 {
				now = now.Add(-time.Hour)
			}
			holds := rapid.Bool().Draw(t, "holds")
			if i == 0 || holds != was || now.Before(last) || now.Sub(last) > maxGap {
				streak = now
			}
			was, last = holds, now
			if now.Sub(streak) >= wait {
				on = holds
			}
			want := engine.AlertOK
			if on {
				want = engine.AlertFiring
			} else if holds {
				want = engine.AlertPending
			}
			l.step(holds, wait, now)
			if got, since := l.shown(&l, now); got != want || since.After(now) {
				t.Fatalf("step %d at %s: %s since %s, want %s", i, now, got, since, want)
			}
		}
	})
}

// A restart keeps what was counted and how each alert stands.
func TestAlerts_SurviveARestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(Options{Policies: engine.DefaultPolicies()})
		now := noon
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 119).Draw(t, "pause")) * time.Second)
			n := rapid.IntRange(1, 30).Draw(t, "n")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				endMany(m, now, n, engine.Discarded, 5)
			case 1:
				endMany(m, now, n, engine.Completed, 2)
			case 2:
				failMany(m, now, n, rapid.SampledFrom([]engine.Class{"503", "timeout", "429.app"}).Draw(t, "class"))
			case 3:
				m.Calls([]engine.CallRow{call(m.CallSeq()+1, now, 503, false), call(m.CallSeq()+2, now, 429, true)})
			case 4:
				_, _ = m.Acknowledge(rapid.SampledFrom([]string{"429", "give-ups"}).Draw(t, "ack"), ana, now)
			case 5:
				_, _ = m.Silence("spike", now.Add(time.Hour), ana, now)
			}
			m.Evaluate(now)
		}
		blob, err := m.Save()
		if err != nil {
			t.Fatal(err)
		}
		again := New(Options{})
		if err := again.Load(blob); err != nil {
			t.Fatal(err)
		}
		now = now.Add(10 * time.Second)
		if got, want := fmt.Sprintf("%+v", again.Rows(now)), fmt.Sprintf("%+v", m.Rows(now)); got != want {
			t.Fatalf("who only looks after the restart sees:\n%s\nbefore:\n%s", got, want)
		}
		if got, want := fmt.Sprintf("%+v", again.Evaluate(now)), fmt.Sprintf("%+v", m.Evaluate(now)); got != want {
			t.Fatalf("after the restart:\n%s\nbefore:\n%s", got, want)
		}
		if got, want := fmt.Sprint(again.Metrics("", now, time.Hour)), fmt.Sprint(m.Metrics("", now, time.Hour)); got != want {
			t.Fatalf("after the restart: %s, before: %s", got, want)
		}
	})
}

// What was pending before a long stop waits anew: nobody knows what held meanwhile.
func TestAlerts_ALongStopProvesNothing(t *testing.T) {
	m := fresh(t)
	failMany(m, noon, 50, "503")
	m.Evaluate(noon)
	blob, err := m.Save()
	if err != nil {
		t.Fatal(err)
	}
	again := fresh(t)
	if err := again.Load(blob); err != nil {
		t.Fatal(err)
	}
	later := noon.Add(9 * time.Minute)
	if r := row(t, again, later, "spike/503"); r.State != engine.AlertPending || !r.Fires.Equal(later.Add(5*time.Minute)) {
		t.Errorf("%+v", r)
	}
}

// An id is one word.
func TestW9f_IDsHaveNoBlanks(t *testing.T) {
	m := fresh(t)
	for _, r := range m.rules {
		if id := idOf(r.Name, "europe match-v5.ids"); strings.Contains(id, " ") {
			t.Errorf("the id %q has a blank", id)
		}
	}
}

func TestAlerts_ClockSetBack(t *testing.T) {
	m := fresh(t)
	ahead := noon.Add(2 * 365 * 24 * time.Hour)
	failMany(m, ahead, 50, "503")
	endMany(m, ahead, 50, engine.Discarded, 5)
	m.Evaluate(ahead)
	for _, r := range m.Evaluate(noon) {
		if r.Holds || r.Since.After(noon) || len(r.Evidence) > 0 {
			t.Errorf("from the future: %+v", r)
		}
	}
	endMany(m, noon, 20, engine.Discarded, 5)
	if r := row(t, m, noon, "give-ups"); !r.Holds || r.Value != 1 {
		t.Errorf("the present counts again: %+v", r)
	}
}

// Of a rule's subjects only those that are not ok are told, or the one nearest to
// the limit.
func TestAlerts_SubjectsWorthTelling(t *testing.T) {
	m := fresh(t)
	ids := func(now time.Time) (out []string) {
		for _, r := range m.Evaluate(now) {
			if r.Rule == "spike" {
				out = append(out, r.ID)
			}
		}
		return out
	}
	failMany(m, noon, 3, "404")
	failMany(m, noon, 5, "503")
	failMany(m, noon, 4, "timeout")
	if got := ids(noon); !slices.Equal(got, []string{"spike/503"}) {
		t.Errorf("all ok: %q", got)
	}
	failMany(m, noon, 10, "404")
	failMany(m, noon, 10, "timeout")
	if got := ids(noon); !slices.Equal(got, []string{"spike/404", "spike/timeout"}) {
		t.Errorf("two spikes: %q", got)
	}
}

// A 404 that is final is an answer, and needs nobody, however many matches of a list are
// gone; one that is tried again is a failure.
func TestAlerts_FinalAnswersAreNoSpike(t *testing.T) {
	m := fresh(t)
	for i := range 50 {
		tried(m, noon, fmt.Sprint("gone", i), engine.VerbFail, 1, "404")
	}
	if _, told := lookup(m, noon, "spike/404"); told {
		t.Error("50 matches that are gone are a spike")
	}
	if got := m.Metrics("", noon, time.Hour); got.Statuses["404"] != 50 {
		t.Errorf("metrics: %+v", got)
	}
	failMany(m, noon, 11, "404")
	if r := row(t, m, noon, "spike/404"); !r.Holds || r.Value != 11 {
		t.Errorf("retried ones: %+v", r)
	}
}

// However many names are fed, memory stays bounded, and nothing is lost from sums.
func TestAlerts_BoundedMemory(t *testing.T) {
	m := fresh(t)
	for i := range 5000 {
		at := noon.Add(time.Duration(i) * time.Millisecond)
		tried(m, at, fmt.Sprint(i), engine.VerbRetry, 2, engine.Class(fmt.Sprint("class", i)))
		c := call(uint64(i+1), at, 503, true)
		c.Host = fmt.Sprint("host", i)
		m.Calls([]engine.CallRow{c})
	}
	var queues []engine.QueueRow
	for i := range 500 {
		queues = append(queues, engine.QueueRow{QueueState: engine.QueueState{Name: engine.Queue(fmt.Sprint("q", i))}, OldestDue: noon.Add(-time.Hour)})
	}
	m.Read(noon, Reading{Queues: queues})
	now := noon.Add(5 * time.Second)
	rows := m.Evaluate(now)
	if len(m.statuses) > maxStatuses || len(m.unavailable) > maxHosts || len(rows) > 11*maxSubjects {
		t.Errorf("%d statuses, %d hosts, %d rows", len(m.statuses), len(m.unavailable), len(rows))
	}
	for id, trail := range m.trails {
		if len(trail) > maxTrail {
			t.Errorf("%s has %d pieces of evidence", id, len(trail))
		}
	}
	if len(m.trails) > maxStatuses+maxHosts+10 {
		t.Errorf("%d trails", len(m.trails))
	}
	sum := 0
	for _, n := range m.Metrics("", now, time.Hour).Statuses {
		sum += n
	}
	if sum != 5000 {
		t.Errorf("%d attempts are counted, 5000 were fed", sum)
	}
	blob, err := m.Save()
	if err != nil || len(blob) > 1<<20 {
		t.Errorf("saved in %d bytes: %v", len(blob), err)
	}
}

func TestAlerts_OrderAndHistory(t *testing.T) {
	m := fresh(t)
	m.Read(noon, Reading{KeyRejected: true, LogDrops: 1})
	failMany(m, noon, 20, "503")
	m.Evaluate(noon)
	if _, err := m.Acknowledge("log-drops", ana, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Silence("writes", noon.Add(time.Hour), ana, noon); err != nil {
		t.Fatal(err)
	}
	rows := m.Evaluate(noon.Add(5*time.Minute - time.Second))
	var ids []string
	for _, r := range rows {
		if r.State != engine.AlertOK {
			ids = append(ids, r.ID)
		}
	}
	if want := []string{"key", "spike/503", "log-drops", "writes"}; !slices.Equal(ids, want) {
		t.Errorf("in the order %q, want %q", ids, want)
	}
	r := row(t, m, noon.Add(10*time.Minute), "spike/503")
	if len(r.History) != historyCells || r.History[11] != 20 || r.History[10] != -1 || r.History[9] != 20 {
		t.Errorf("history: %v", r.History)
	}
	if got := len(m.Evaluate(noon)); got < len(rules()) {
		t.Errorf("%d rows for %d rules", got, len(rules()))
	}
}

func TestRules_ThoseThatShip(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules() {
		if r.Name == "" || strings.Contains(r.Name, " ") || seen[r.Name] {
			t.Errorf("the name %q is none, has a blank or is there twice", r.Name)
		}
		seen[r.Name] = true
		if measures[r.Measure] == nil || r.Window <= 0 || r.Window > reach || r.For < 0 || r.For > reach {
			t.Errorf("%s measures nothing, or over no time: %+v", r.Name, r)
		}
	}
	measured := map[measure]bool{}
	for _, r := range rules() {
		measured[r.Measure] = true
	}
	for what := range maps.Keys(measures) {
		if !measured[what] {
			t.Errorf("no rule that ships measures %s", what)
		}
	}
}

// Limits and severities are an operator's, each by its rule's unit; what cannot be meant is refused with how to write it.
func TestW9d_RulesOfAnOperator(t *testing.T) {
	got, err := Rules([]string{"queue-age = 2h", "give-ups=50%", "disk-low=5GiB", "503=10"}, []string{"backup=critical", "429=off"})
	if err != nil || len(got) != len(rules())-1 {
		t.Fatalf("%d rules: %v", len(got), err)
	}
	want := map[string]float64{"queue-age": 7200, "give-ups": 0.5, "disk-low": 5 << 30, "503": 10}
	for _, r := range got {
		if limit, ok := want[r.Name]; ok && r.Limit != limit || r.Name == "429" || r.Name == "backup" && r.Severity != engine.SeverityCritical {
			t.Errorf("%+v", r)
		}
	}
	for _, bad := range []struct{ limits, severities []string }{
		{limits: []string{"lunch=1"}}, {limits: []string{"queue-age=2"}}, {limits: []string{"give-ups=NaN%"}},
		{limits: []string{"disk-low=5"}}, {limits: []string{"503"}}, {severities: []string{"key=loud"}},
	} {
		if _, err := Rules(bad.limits, bad.severities); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// A stored blob may be anything: it is refused or taken over, and the monitor goes on.
func FuzzLoad(f *testing.F) {
	m := fresh(f)
	failMany(m, noon, 30, "503")
	endMany(m, noon, 30, engine.Discarded, 5)
	m.Evaluate(noon)
	blob, err := m.Save()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(blob)
	f.Add([]byte(`{"version":1,"rings":{"won":{"-5":7,"9223372036854775807":9}},"alerts":{"503":[{"life":{"State":"burning"}}]}}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, blob []byte) {
		m := fresh(t)
		_ = m.Load(blob)
		rows := m.Evaluate(noon.Add(time.Minute))
		if len(rows) < len(rules()) || len(m.statuses) > maxStatuses {
			t.Fatalf("%d rows, %d statuses", len(rows), len(m.statuses))
		}
		if _, err := m.Save(); err != nil {
			t.Fatal(err)
		}
	})
}
