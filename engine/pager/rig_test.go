package pager_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/pager/voice"
	"github.com/farsight-console/farsight/storage"
)

const (
	account = "AC0123456789abcdef0123456789abcdef"
	canary  = "canary-token-3f9a77d2c1"
	from    = "+4930123456"
	first   = "+4917012345"
	second  = "+4916098765"
)

var errKilled = errors.New("the process was killed")

// diary is a log in memory.
type diary struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.Write(p)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.String()
}

// wire hands requests to a handler in memory. before and after see each one, and
// their error is what the caller gets in place of an answer.
type wire struct {
	h             http.Handler
	before, after func(*http.Request) error
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.before != nil {
		if err := w.before(r); err != nil {
			return nil, err
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	if w.after != nil {
		if err := w.after(r); err != nil {
			return nil, err
		}
	}
	return rec.Result(), nil
}

// shelf is the real store, which can be cut off like that of a killed process.
type shelf struct {
	*storage.DB
	dead atomic.Bool
}

func (s *shelf) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if s.dead.Load() {
		return errKilled
	}
	return s.DB.Write(ctx, fn)
}

func (s *shelf) SaveState(ctx context.Context, name string, blob []byte) error {
	if s.dead.Load() {
		return errKilled
	}
	return s.DB.SaveState(ctx, name, blob)
}

// rig is an engine with a pager and nothing else, on a real store.
type rig struct {
	t     *testing.T
	dir   string
	voice *voice.Service
	wire  *wire
	opt   pager.Options
	diary *diary
	fast  map[string]engine.Policy // nil = those that ship

	store   *shelf
	backend *local.Backend
	pager   *pager.Pager
	stop    func()
	up      bool
	boots   int

	mu    sync.Mutex
	notes []engine.Note
}

// newRig makes a rig whose calls end as scripted, per number.
func newRig(t *testing.T, dir string, numbers map[string][]string, to ...string) *rig {
	r := &rig{t: t, dir: dir, diary: &diary{}}
	r.voice = voice.New(voice.Options{Account: account, Token: canary, Numbers: numbers, Stage: 4 * time.Second})
	r.wire = &wire{h: r.voice}
	r.opt = pager.Options{Instance: "test"}
	if len(to) > 0 {
		r.opt.Call = &pager.CallOptions{BaseURL: "https://voice.example", Account: pager.NewSecret(account), Token: pager.NewSecret(canary), From: from, To: to}
	}
	t.Cleanup(func() {
		if r.up {
			r.down()
		}
	})
	return r
}

// start opens the store and runs the engine.
func (r *rig) start() {
	r.t.Helper()
	r.boots++
	db, err := storage.Open(storage.Options{Dir: r.dir + "/data"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.store = &shelf{DB: db}
	o := r.opt
	o.Store, o.OnNote, o.Log = r.store, r.note, zerolog.New(r.diary)
	if r.wire != nil {
		o.Transport = r.wire
	}
	policies := engine.DefaultPolicies()
	if r.fast != nil {
		policies = r.fast
	}
	if r.pager, err = pager.New(o); err != nil {
		r.t.Fatal(err)
	}
	r.backend, err = local.New(local.Options{
		Store: r.store, Kinds: r.pager.Kinds(), Policies: policies, Boot: string(rune('a' + r.boots)),
		OnNote: r.note, Log: zerolog.New(r.diary),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	db.OnCommit(r.backend.Apply)
	serving, close := context.WithCancel(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	var g, server sync.WaitGroup
	server.Go(func() { _ = db.Serve(serving) })
	if err := r.pager.Load(ctx); err != nil {
		r.t.Fatal(err)
	}
	r.pager.Use(r.backend)
	g.Go(func() { _ = r.backend.Run(ctx) })
	g.Go(func() { _ = r.pager.Run(ctx) })
	r.up = true
	r.stop = func() {
		cancel()
		g.Wait()
		close()
		server.Wait()
		if err := db.Close(); err != nil {
			r.t.Error(err)
		}
	}
}

// down stops the engine in good order.
func (r *rig) down() {
	r.stop()
	r.up = false
}

// crash ends the engine as kill -9 does: nothing more is written.
func (r *rig) crash() {
	r.store.dead.Store(true)
	r.down()
}

func (r *rig) note(n engine.Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, n)
}

func (r *rig) noted(part string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.notes, func(n engine.Note) bool { return strings.Contains(n.Text, part) })
}

// fires is an alert that has begun to fire at an instant.
func fires(since time.Time) engine.AlertRow {
	return engine.AlertRow{
		ID: "503/euw1", Rule: "503", About: "503 burst per 1 min", Subject: "euw1", State: engine.AlertFiring, Holds: true,
		Since: since, Unit: engine.AlertCount, Value: 7, Known: true, Limit: 2, Next: "wait: the engine goes on by itself",
	}
}

func (r *rig) alerts(rows ...engine.AlertRow) {
	r.pager.Alerts(rows)
	synctest.Wait()
}

// page is the call job of an alert; level 0 is the first number.
func (r *rig) page(a engine.AlertRow, suffix string) engine.JobDetail {
	r.t.Helper()
	d, err := r.store.Detail(r.t.Context(), engine.JobQuery{Key: r.pageKey(a) + suffix})
	if err != nil {
		r.t.Fatalf("there is no page about %s%s: %v", a.ID, suffix, err)
	}
	return d
}

func (r *rig) pageKey(a engine.AlertRow) string {
	return "alert.call:" + a.ID + ":" + a.Since.UTC().Format("20060102T150405.000Z")
}

// sound checks what holds at every moment (S2-4, S2-5).
func (r *rig) sound(d engine.JobDetail) {
	r.t.Helper()
	if d.Job.Attempts != len(d.Attempts) {
		r.t.Errorf("attempt_count %d, but %d attempts", d.Job.Attempts, len(d.Attempts))
	}
	if d.ShouldRetry == d.NextRetryAt.IsZero() {
		r.t.Errorf("should_retry %t, next_retry_at %v", d.ShouldRetry, d.NextRetryAt)
	}
}

// june lets the bubble's clock be in 2026.
func june() { time.Sleep(time.Until(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))) }

func sids(calls []voice.Call) (out []string) {
	for _, c := range calls {
		out = append(out, c.SID)
	}
	return out
}

func externals(d engine.JobDetail) (out []string) {
	for _, a := range d.Attempts {
		out = append(out, a.External)
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }
