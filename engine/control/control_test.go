package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/storage"
)

func TestMain(m *testing.M) { leak.Main(scratch.OnDisk(m)) }

// browse is the console of a store on which no engine works.
func browse(db control.Store, s control.Stored) *control.Browse {
	s.Store, s.Policies, s.Limits = db, engine.DefaultPolicies(), func() engine.LimitsRow { return engine.LimitsRow{} }
	return control.NewBrowse(s)
}

// script guards what a test changes of its fakes while a control reads them.
var script sync.RWMutex

// rewrite changes fakes that are in use.
func rewrite(change func()) {
	script.Lock()
	defer script.Unlock()
	change()
}

func told[T any](what *T) T {
	script.RLock()
	defer script.RUnlock()
	return *what
}

// backend answers commands from a script: the real one has its own tests.
type backend struct {
	queues  []engine.QueueRow
	refuse  error
	calls   []string
	halted  string // why it starts nothing
	reading string // it does not know all jobs yet

	externals map[engine.JobID]string // of attempts under way
}

func (b *backend) Run(ctx context.Context) error    { <-ctx.Done(); return nil }
func (b *backend) Follow(ctx context.Context) error { <-ctx.Done(); return nil }

func (b *backend) did(what string) (engine.Receipt, error) {
	b.calls = append(b.calls, what)
	return engine.Receipt{Matched: 1, Applied: 1, Text: what}, b.refuse
}

func (b *backend) Act(_ context.Context, c engine.Command) (engine.Receipt, error) {
	return b.did(string(c.Op) + " " + string(c.Job))
}

func (b *backend) Bulk(_ context.Context, c engine.Command) (engine.Receipt, error) {
	if c.DryRun {
		return engine.Receipt{Matched: len(c.Select.IDs), Applied: len(c.Select.IDs)}, nil
	}
	return b.did(string(c.Op) + " in bulk")
}

func (b *backend) RestoreQueue(context.Context, engine.QueueState, engine.Actor, string) (engine.Receipt, error) {
	return engine.Receipt{}, nil
}
func (b *backend) Undo(context.Context, []engine.JobMove, engine.Actor, string, bool) (engine.Receipt, error) {
	return b.did("undo")
}

func (b *backend) Pause(_ context.Context, q engine.Queue, _ engine.Actor, _ string) (engine.Receipt, error) {
	return b.did("pause " + string(q))
}

func (b *backend) Resume(_ context.Context, q engine.Queue, _ engine.Actor, _ string) (engine.Receipt, error) {
	return b.did("resume " + string(q))
}

func (b *backend) Why(engine.Job) (string, time.Time, int)                { return "3rd in line", time.Time{}, 3 }
func (b *backend) Queues() []engine.QueueRow                              { return told(&b.queues) }
func (b *backend) Load() (int, int)                                       { return 2, 5 }
func (b *backend) Halted() string                                         { return told(&b.halted) }
func (b *backend) Reading() string                                        { return told(&b.reading) }
func (b *backend) Held(engine.Job) (h engine.Held)                        { return h }
func (b *backend) Externals() map[engine.JobID]string                     { return told(&b.externals) }
func (b *backend) NextRetries(context.Context, int) ([]engine.Job, error) { return nil, nil }
func (b *backend) Soonest(context.Context, int) ([]engine.Job, error)     { return nil, nil }

// syncer plans nothing and starts nothing.
type syncer struct{}

func (syncer) Trigger(_ context.Context, account string, _ engine.SyncAsk, _ engine.Actor) (engine.Receipt, error) {
	return engine.Receipt{Account: account, Matched: 1, Applied: 1, Text: "triggered"}, nil
}

func (syncer) Track(context.Context, string, engine.SyncAsk) (engine.Receipt, error) {
	return engine.Receipt{Text: "tracked"}, nil
}

func (syncer) Untrack(context.Context, string, string) (engine.Receipt, error) {
	return engine.Receipt{Text: "not tracked"}, nil
}

func (syncer) Cost(_ context.Context, q engine.CostQuery) (engine.Cost, error) {
	return engine.Cost{
		Calls: 889, Takes: 18 * time.Minute, Bucket: "app:europe 120s", AtMost: q.Account == "nobody#knows",
		Loads: []engine.Load{{Host: "europe", Calls: 889}},
	}, nil
}
func (syncer) Resume(context.Context) error { return nil }

// limiter makes one call a second whatever the method.
type limiter struct {
	state engine.EngineState
	rows  engine.LimitsRow
}

func (l *limiter) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (l *limiter) Restore(context.Context, bool, iter.Seq2[engine.Job, error]) error {
	return nil
}
func (l *limiter) Rows() engine.LimitsRow                   { return told(&l.rows) }
func (l *limiter) Freeze(engine.Bucket, string) error       { return nil }
func (l *limiter) Thaw(engine.Bucket) (string, error)       { return "", nil }
func (l *limiter) Calls(engine.CallsQuery) engine.CallsPage { return engine.CallsPage{} }
func (l *limiter) LastCall(j engine.JobID) *engine.CallRow {
	return &engine.CallRow{Job: j, Headers: []string{"Date: today"}, Body: "busy"}
}
func (l *limiter) CallsAfter(uint64) []engine.CallRow   { return nil }
func (l *limiter) CallsBy() map[string][]int            { return nil }
func (l *limiter) Meter() engine.Meter                  { return engine.Meter{CallsPerMin: 60} }
func (l *limiter) Health() (engine.EngineState, string) { return told(&l.state), "" }
func (l *limiter) Held(string) (h engine.Held)          { return h }
func (l *limiter) KeyChanged()                          {}
func (l *limiter) Outlook(string) forecast.Limits       { return secondly{} }

// secondly are limits that let one call through each second.
type secondly struct{}

func (secondly) After(_ string, n int) forecast.Wait {
	return forecast.Wait{Wait: time.Duration(n) * time.Second, Bucket: "app:europe", Known: true}
}
func (s secondly) Turn(method string, n int) forecast.Wait   { return s.After(method, n) }
func (secondly) By(_ string, in time.Duration, most int) int { return min(most, int(in/time.Second)) }
func (secondly) Rate(string) (float64, string)               { return 1, "app:europe" }

type keys struct{ shown string }

func (k *keys) Replace(key string) error {
	if !strings.HasPrefix(key, "RGAPI-") {
		return errors.New("that is no key")
	}
	rewrite(func() { k.shown = "…" + key[len(key)-4:] })
	return nil
}
func (k *keys) Shown() string    { return told(&k.shown) }
func (k *keys) Since() time.Time { return time.Time{} }

// rig is a control on a real store.
type rig struct {
	*control.Control
	db      *storage.DB
	backend *backend
	limiter *limiter
	keys    *keys
}

func newRig(t *testing.T) *rig { return newRigWith(t, func(*control.Options) {}) }

func newRigWith(t *testing.T, change func(*control.Options)) *rig {
	t.Helper()
	db, err := storage.Open(storage.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{db: db, backend: &backend{}, limiter: &limiter{state: engine.EngineLive}, keys: &keys{shown: "…0000"}}
	opt := control.Options{
		Store: db, Backend: r.backend, Syncer: syncer{}, Limiter: r.limiter, Keys: r.keys,
		Policies: engine.DefaultPolicies(), Boot: "boot", SyncOn: true,
	}
	change(&opt)
	r.Control = control.New(opt)
	db.OnCommit(r.Publish)
	ctx, cancel := context.WithCancel(context.Background())
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	running, stop := context.WithCancel(context.Background())
	go func() { ran <- r.Run(running) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		cancel()
		if err := errors.Join(<-served, db.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// job stores one job and gives its id.
func (r *rig) job(t *testing.T, key string) engine.JobID {
	t.Helper()
	var got []engine.Enqueued
	err := r.db.Write(t.Context(), func(tx engine.Tx) (err error) {
		got, err = tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "ingest.summoner.full", Key: key, Policy: engine.PolicyMatch})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got[0].ID
}

var ana = engine.Actor{User: "ana", Via: "console"}

func TestEveryCommandLeavesAnAuditEntry(t *testing.T) {
	r := newRig(t)
	id := r.job(t, "match:EUW1_1")
	commands := []engine.Command{
		{Op: engine.OpCancel, Job: id},
		{Op: engine.OpRetry, Job: id},
		{Op: engine.OpPause, Queue: "ingest.summoner.full"},
		{Op: engine.OpResume, Queue: "ingest.summoner.full"},
		{Op: engine.OpFreeze, Bucket: engine.Bucket{Host: "europe"}},
		{Op: engine.OpThaw, Bucket: engine.Bucket{Host: "europe"}},
		{Op: engine.OpTrigger, Account: "Name#TAG"},
		{Op: engine.OpTrack, Account: "Name#TAG"},
		{Op: engine.OpUntrack, Account: "Name#TAG"},
		{Op: engine.OpUntrack, Account: "a1"}, // as consoles name it
		{Op: engine.OpKey, Key: "RGAPI-secret-7f3a"},
	}
	if err := r.db.Write(t.Context(), func(tx engine.Tx) error {
		return r.db.SaveAccount(tx, league.Account{ID: "a1", GameName: "Ana", TagLine: "EUW", Platform: "euw1"})
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		c.By, c.Reason = ana, "because"
		if _, err := r.Do(t.Context(), c); err != nil {
			t.Errorf("%s: %v", c.Op, err)
		}
	}
	r.backend.refuse = engine.Problemf(engine.ErrConflict, "", "changed since shown: now running (rev 9)")
	if _, err := r.Do(t.Context(), engine.Command{Op: engine.OpCancel, Job: id, By: ana}); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("a refused command answered %v", err)
	}
	entries, err := r.db.Audit(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(commands)+1 {
		t.Fatalf("%d audit entries for %d commands", len(entries), len(commands)+1)
	}
	for _, e := range entries {
		if e.By != ana || e.Result == "" || e.At.IsZero() {
			t.Errorf("audit entry %+v lacks who, when or what came of it", e)
		}
		if e.Op == engine.OpUntrack && !strings.Contains(e.Target, "#") {
			t.Errorf("an account is not named: %s", e.Target)
		}
		if strings.Contains(e.Target+e.Result+e.Reason, "secret") {
			t.Errorf("the key stands in the audit: %+v", e)
		}
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	r := newRig(t)
	id := r.job(t, "match:EUW1_1")
	for _, c := range []engine.Command{
		{Op: engine.OpCancel, Job: id}, {Op: engine.OpRetry, Job: id}, {Op: engine.OpPause, Queue: "q"}, {Op: engine.OpResume, Queue: "q"},
		{Op: engine.OpFreeze, Bucket: engine.Bucket{Host: "europe"}}, {Op: engine.OpThaw, Bucket: engine.Bucket{Host: "europe"}},
		{Op: engine.OpTrack, Account: "a#b"}, {Op: engine.OpUntrack, Account: "a#b"},
	} {
		c.DryRun = true
		got, err := r.Do(t.Context(), c)
		if err != nil || got.Applied != 0 || got.Text == "" {
			t.Errorf("dry run of %s = %+v, %v", c.Op, got, err)
		}
	}
	got, err := r.Do(t.Context(), engine.Command{Op: engine.OpTrigger, Account: "a#b", DryRun: true})
	if err != nil || got.Cost == nil || got.Cost.Calls != 889 {
		t.Errorf("dry run of a trigger = %+v, %v: want its cost", got, err)
	}
	if len(r.backend.calls) != 0 {
		t.Errorf("dry runs reached the backend: %v", r.backend.calls)
	}
	if entries, err := r.db.Audit(t.Context(), 10); err != nil || len(entries) != 0 {
		t.Errorf("dry runs were audited: %v, %v", entries, err)
	}
}

// TestS3_12_ABoundStaysOne: the cost of several syncs is a bound when that of one of them is.
func TestS3_12_ABoundStaysOne(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		accounts []string
		calls    string
	}{
		{[]string{"a#b", "c#d"}, "about 1,778 calls"},
		{[]string{"a#b", "nobody#knows", "c#d"}, "at most 2,667 calls"},
	} {
		a, err := r.Find(t.Context(), engine.CostQuery{Accounts: c.accounts})
		if cost, _ := a.(engine.Cost); err != nil || cost.CallsText() != c.calls {
			t.Errorf("%v: %s (%+v), %v; want %s", c.accounts, cost.CallsText(), cost, err, c.calls)
		}
	}
	got, err := r.Do(t.Context(), engine.Command{Op: engine.OpTrigger, Account: "nobody#knows", DryRun: true})
	if err != nil || !strings.HasPrefix(got.Text, "would make at most 889 calls in ") {
		t.Errorf("%q, %v", got.Text, err)
	}
}

func TestErrorsAreProblemsWithASentence(t *testing.T) {
	r := newRig(t)
	cases := []struct {
		name string
		code error
		ask  func() error
	}{
		{"unknown op", engine.ErrInvalid, func() error { _, err := r.Do(t.Context(), engine.Command{Op: "explode"}); return err }},
		{"no queue named", engine.ErrInvalid, func() error { _, err := r.Do(t.Context(), engine.Command{Op: engine.OpPause}); return err }},
		{"bad key", engine.ErrInvalid, func() error {
			_, err := r.Do(t.Context(), engine.Command{Op: engine.OpKey, Key: "hunter2"})
			return err
		}},
		{"no such job", engine.ErrNotFound, func() error { _, err := r.Find(t.Context(), engine.JobQuery{ID: "99"}); return err }},
		{"no such key", engine.ErrNotFound, func() error { _, err := r.Find(t.Context(), engine.JobQuery{Key: "match:X"}); return err }},
		{"no such account", engine.ErrNotFound, func() error { _, err := r.Find(t.Context(), engine.AccountQuery{ID: "a#b"}); return err }},
		{"matches of nobody", engine.ErrNotFound, func() error { _, err := r.Find(t.Context(), engine.MatchesQuery{Account: "a#b"}); return err }},
	}
	for _, c := range cases {
		err := c.ask()
		if p, ok := errors.AsType[*engine.Problem](err); !ok || !errors.Is(err, c.code) || p.Sentence == "" {
			t.Errorf("%s: %v is no problem with code %v", c.name, err, c.code)
		}
	}
}

func TestTheInspectorKnowsPolicyAndReason(t *testing.T) {
	r := newRig(t)
	id := r.job(t, "match:EUW1_7")
	a, err := r.Find(t.Context(), engine.JobQuery{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	d := a.(engine.JobDetail)
	if d.MaxAttempts != 5 || d.Policy.Name != engine.PolicyMatch {
		t.Errorf("policy = %+v, at most %d attempts", d.Policy, d.MaxAttempts)
	}
	if d.Job.Why != "3rd in line" || d.Job.Place != 3 {
		t.Errorf("reason = %q, place %d", d.Job.Why, d.Job.Place)
	}
	if d.Call == nil || d.Call.Job != id || len(d.Call.Headers) != 1 || d.Call.Body != "busy" {
		t.Errorf("what was answered: %+v", d.Call)
	}
	if d.ShouldRetry || !d.NextRetryAt.IsZero() {
		t.Errorf("an untried job claims a retry: %+v", d)
	}
}

func TestTheWorstStateWins(t *testing.T) {
	r := newRig(t)
	paused := engine.QueueRow{QueueState: engine.QueueState{Name: "q", Paused: true}, Counts: map[engine.State]int{engine.Retryable: 4}}
	open := engine.QueueRow{QueueState: engine.QueueState{Name: "p"}, Counts: map[engine.State]int{engine.Completed: 7, engine.Pending: 1}}
	busy := engine.QueueRow{QueueState: engine.QueueState{Name: "p"}, Counts: map[engine.State]int{engine.Scheduled: 1}}
	unused := engine.QueueRow{QueueState: engine.QueueState{Name: "pager", Paused: true}} // before the first job: the others have no row
	steps := []struct {
		queues []engine.QueueRow
		health engine.EngineState
		want   engine.EngineState
	}{
		{nil, engine.EngineLive, engine.EngineLive},
		{[]engine.QueueRow{paused, open}, engine.EngineLive, engine.EnginePaused}, // nothing that is left to do may start
		{[]engine.QueueRow{paused, busy}, engine.EngineLive, engine.EngineLive},
		{[]engine.QueueRow{paused}, engine.EngineLive, engine.EnginePaused},
		{[]engine.QueueRow{paused}, engine.EngineNoKey, engine.EngineNoKey},
		{[]engine.QueueRow{unused, unused}, engine.EngineLive, engine.EngineLive},
	}
	for _, s := range steps {
		rewrite(func() { r.backend.queues, r.limiter.state = s.queues, s.health })
		a, err := r.Find(t.Context(), engine.StatusQuery{})
		if err != nil {
			t.Fatal(err)
		}
		e := a.(engine.StatusAnswer).Engine
		if e.State != s.want {
			t.Errorf("queues %v, health %s: state %s, want %s", s.queues, s.health, e.State, s.want)
		}
		if len(s.queues) == 1 && e.Retrying != 4 {
			t.Errorf("retrying = %d, want 4", e.Retrying)
		}
	}
}

func TestBrowseShowsAndRefuses(t *testing.T) {
	dir := t.TempDir()
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	err = db.Write(t.Context(), func(tx engine.Tx) error {
		_, err := tx.Enqueue(engine.Spec{Kind: "k", Queue: "q", Key: "a"}, engine.Spec{Kind: "k", Queue: "q", Key: "b"})
		return err
	})
	stop()
	if err = errors.Join(err, <-served, db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = storage.OpenReadOnly(storage.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := browse(db, control.Stored{Do: "start it"})
	if _, err := c.Do(t.Context(), engine.Command{Op: engine.OpPause, Queue: "q"}); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("browsing let a command through: %v", err)
	}
	a, err := c.Find(t.Context(), engine.StatusQuery{})
	if err != nil {
		t.Fatal(err)
	}
	s := a.(engine.StatusAnswer)
	if s.Engine.State != engine.EngineBrowse || len(s.Queues) != 1 || s.Queues[0].Counts[engine.Available] != 2 {
		t.Errorf("status = %+v", s)
	}
	watching, end := context.WithCancel(t.Context())
	for u := range c.Watch(watching) {
		if !u.Snapshot || u.Engine.State != engine.EngineBrowse {
			t.Errorf("update = %+v", u)
		}
		end()
	}
	end()
}

// A command with a key in its words, or with a reason that nobody reads, is refused: neither is kept, in
// the audit of the refusal either.
func TestB16e_WhatIsNotKeptIsRefused(t *testing.T) {
	r := newRig(t)
	id := r.job(t, "match:EUW1_1")
	const key = "RGAPI-0badcafe-0000-4000-8000-00000000f00d"
	for _, c := range []engine.Command{
		{Op: engine.OpTrigger, Account: key + "#x"},
		{Op: engine.OpTrack, Account: "Name#TAG", Sync: engine.SyncAsk{Tags: []string{key}}},
		{Op: engine.OpCancel, Job: id, Reason: "my key is " + key},
		{Op: engine.OpForce, Job: id, Reason: strings.Repeat("because ", 1<<14)},
	} {
		c.By = ana
		_, err := r.Do(t.Context(), c)
		if !errors.Is(err, engine.ErrInvalid) || strings.Contains(err.Error(), "cafe") || len(err.Error()) > 200 {
			t.Errorf("%s: %.300v", c.Op, err)
		}
	}
	if err := r.Refuse(t.Context(), engine.Command{Op: engine.OpCancel, Job: id, By: ana, Reason: key + strings.Repeat("x", 1<<17)}, "no"); err != nil {
		t.Error(err)
	}
	entries, err := r.db.Audit(t.Context(), 100)
	if err != nil || len(entries) != 5 {
		t.Fatalf("%d audit entries, %v", len(entries), err)
	}
	for _, e := range entries {
		if text := fmt.Sprint(e); strings.Contains(text, "cafe") || len(text) > 4000 {
			t.Errorf("the audit keeps %.300s", text)
		}
	}
	if _, err := r.Do(t.Context(), engine.Command{Op: engine.OpCancel, Job: id, By: ana, Reason: strings.Repeat("é", 1000)}); err != nil {
		t.Errorf("a long reason: %v", err)
	}
}
