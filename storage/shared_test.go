package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// logged is a Shared in memory.
type logged struct {
	mu      sync.Mutex
	name    string
	term    int64 // that goes on
	commits []Commit
	trimmed int             // so many of them are gone
	rows    map[string]Step // as of those
	moved   chan struct{}   // closed at the next commit
	lose    bool            // the next one is added, and its answer is lost with the process
	bodies  map[string]Payload
	unasked []string
	asked   func() // for all rows; nil = nothing
}

func newLogged() *logged {
	return &logged{name: "one", rows: map[string]Step{}, bodies: map[string]Payload{}, moved: make(chan struct{})}
}

func (l *logged) Append(_ context.Context, term int64, c Commit) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if term != l.term || c.Seq != uint64(len(l.commits))+1 {
		return disk.ErrDeposed
	}
	l.commits = append(l.commits, Commit{c.Seq, bytes.Clone(c.Rows), bytes.Clone(c.Changes)})
	close(l.moved)
	l.moved = make(chan struct{})
	if l.lose {
		l.lose = false
		return fmt.Errorf("%w: the process is gone", disk.ErrUnknown)
	}
	return nil
}

func (l *logged) After(_ context.Context, at Place, carry func(Commit) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Instance != l.name || int(at.Seq) < l.trimmed || int(at.Seq) > len(l.commits) {
		return ErrTrimmed
	}
	for _, c := range l.commits[at.Seq:] {
		if err := carry(c); err != nil {
			return err
		}
	}
	return nil
}

// follow lets the rows follow the log, and drops that.
func (l *logged) follow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.commits[l.trimmed:] {
		err := c.Steps(func(s Step) error {
			if k := s.Table + "\x00" + string(s.Key); s.Key != nil && s.Value == nil {
				delete(l.rows, k)
			} else {
				l.rows[k] = s
			}
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	l.trimmed = len(l.commits)
}

func (l *logged) Rows(_ context.Context, fill func(Step) error) (Place, error) {
	if l.asked != nil {
		l.asked()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.rows {
		if err := fill(s); err != nil {
			return Place{}, err
		}
	}
	return Place{l.name, uint64(l.trimmed)}, nil
}

func (l *logged) Wait(ctx context.Context, seq uint64) error {
	l.mu.Lock()
	moved, there := l.moved, uint64(len(l.commits)) > seq
	l.mu.Unlock()
	if there {
		return nil
	}
	select {
	case <-moved:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// within does something if a term goes on.
func (l *logged) within(term int64, do func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if term != l.term {
		return disk.ErrDeposed
	}
	do()
	return nil
}

func (l *logged) PutPayload(_ context.Context, term int64, p Payload) error {
	return l.within(term, func() { l.bodies[p.Match+"/"+string(p.Part)] = p })
}

func (l *logged) Rest() {}

func (l *logged) Payload(_ context.Context, match string, part league.Part) (Payload, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.bodies[match+"/"+string(part)]
	return p, ok, nil
}

func (l *logged) Payloads(_ context.Context, tell func(string, league.Part, string, int64)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.bodies {
		tell(p.Match, p.Part, p.Month, int64(p.Size))
	}
	return nil
}

func (l *logged) ByMonth(ctx context.Context) (all []MonthSize, err error) {
	by := map[string]MonthSize{}
	err = l.Payloads(ctx, func(_ string, _ league.Part, month string, bytes int64) {
		by[month] = MonthSize{month, by[month].Payloads + 1, by[month].Bytes + bytes}
	})
	for _, month := range slices.Sorted(maps.Keys(by)) {
		all = append(all, by[month])
	}
	return all, err
}

func (l *logged) MonthBytes(ctx context.Context, month string) (n int64, err error) {
	all, err := l.ByMonth(ctx)
	for _, m := range all {
		if m.Month == month {
			n = m.Bytes
		}
	}
	return n, err
}

func (l *logged) DiskBytes(ctx context.Context) (n int64, err error) {
	all, err := l.ByMonth(ctx)
	for _, m := range all {
		n += m.Bytes
	}
	return n, err
}

func (l *logged) DropPayloads(_ context.Context, term int64, month string) error {
	return l.within(term, func() { maps.DeleteFunc(l.bodies, func(_ string, p Payload) bool { return p.Month == month }) })
}

func (l *logged) ErasePayloads(_ context.Context, term int64, matches []string) error {
	return l.within(term, func() {
		maps.DeleteFunc(l.bodies, func(_ string, p Payload) bool { return slices.Contains(matches, p.Match) })
	})
}

func (l *logged) Unask(_ context.Context, term int64, riotIDs []string) error {
	return l.within(term, func() { l.unasked = append(l.unasked, riotIDs...) })
}

func (l *logged) Trim(_ context.Context, term int64) error {
	err := l.within(term, func() {})
	if err == nil {
		l.follow()
	}
	return err
}

// elect begins the next term.
func (l *logged) elect() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term++
	return l.term
}

// sharer is a process on a shared store.
type sharer struct {
	*DB
	stop func()
	gaps int
	told []uint64
	of   []engine.Change
}

func joinShared(t *testing.T, l *logged, dir string, beforeCommit ...func()) *sharer {
	t.Helper()
	db, err := Open(Options{Dir: dir, Shared: l, BeforeCommit: func() {
		for _, f := range beforeCommit {
			f()
		}
	}})
	must(t, err)
	s := &sharer{DB: db}
	db.OnGap(func() { s.gaps++ })
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		s.told, s.of = append(s.told, seq), append(s.of, changes...)
	})
	s.stop = serve(t, db)
	return s
}

func (s *sharer) leave(t *testing.T) {
	t.Helper()
	s.stop()
	must(t, s.Close())
}

// holds gives all that a file has of a store.
func (s *sharer) holds(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	read(t, s.DB, func(tx *txn) error {
		return tx.All(func(s collection.Step) error {
			all[fmt.Sprintf("%s %x", s.Table, s.Key)] = fmt.Sprintf("%x %d", s.Value, s.Number)
			return nil
		})
	})
	return all
}

// wantSame wants that a file has what another has.
func wantSame(t *testing.T, a, b *sharer) {
	t.Helper()
	as, bs := a.holds(t), b.holds(t)
	if !maps.Equal(as, bs) {
		t.Fatalf("%d rows, the other has %d, or others", len(as), len(bs))
	}
	if a.Seq() != b.Seq() {
		t.Fatalf("commit %d, the other is at %d", a.Seq(), b.Seq())
	}
}

// caughtUp waits until a follower has the last commit.
func (l *logged) caughtUp(s *sharer) {
	for {
		l.mu.Lock()
		last := uint64(len(l.commits))
		l.mu.Unlock()
		if s.Seq() >= last {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Whoever carries the log out has every row and number of who wrote it, and is told of the same changes; who leads next
// goes on from there, and who led writes no more. A file that the log has left behind is filled anew.
func TestH14a_AFollowerHasWhatTheLeaderHas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l, dir := newLogged(), t.TempDir()
		all := []*sharer{joinShared(t, l, filepath.Join(dir, "0")), joinShared(t, l, filepath.Join(dir, "1"))}
		at := 0
		must(t, all[0].Lead(t.Context(), l.elect(), func() {}))
		var jobs []engine.Job
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			leads := all[at]
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0, 1:
				jobs = append(jobs, enqueue(t, leads.DB, engine.Spec{Kind: "match.fetch", Queue: "q", Key: fmt.Sprint("match:", len(jobs))}))
			case 2:
				if len(jobs) > 0 {
					i := rapid.IntRange(0, len(jobs)-1).Draw(rt, "job")
					if jobs[i].State.Live() {
						jobs[i] = move(t, leads.DB, move(t, leads.DB, jobs[i], engine.Running), engine.Completed)
					}
				}
			case 3: // the other leads
				old := leads
				at = 1 - at
				must(t, all[at].Lead(t.Context(), l.elect(), func() {}))
				if err := old.SaveState(t.Context(), "late", nil); !errors.Is(err, disk.ErrDeposed) {
					rt.Fatalf("who led writes: %v", err)
				}
			case 4:
				l.caughtUp(all[1-at])
				wantSame(t, all[at], all[1-at])
			case 5: // the other is away, and the log goes on without it
				dir := all[1-at].dir
				all[1-at].leave(t)
				must(t, leads.SaveState(t.Context(), "state", []byte("x")))
				if rapid.Bool().Draw(rt, "trimmed") {
					l.follow()
				}
				all[1-at] = joinShared(t, l, dir)
			}
		}
		must(t, all[at].SaveState(t.Context(), "state", []byte("end")))
		l.caughtUp(all[1-at])
		wantSame(t, all[at], all[1-at])
		for _, s := range all {
			s.leave(t)
			if !slices.IsSorted(s.told) {
				rt.Fatalf("told of %v", s.told)
			}
		}
		if a, b := all[at].of, all[1-at].of; len(a) > 0 && len(b) > 0 && (a[len(a)-1].Job == nil) != (b[len(b)-1].Job == nil) {
			rt.Fatalf("told of %+v and %+v", a[len(a)-1], b[len(b)-1])
		}
	})
}

// A copy of an earlier schema is filled anew: brought up to date by itself it would have other places than the others.
func TestH14a_ACopyOfAnEarlierSchemaIsFilledAnew(t *testing.T) {
	l, dir := newLogged(), t.TempDir()
	leads, old := joinShared(t, l, filepath.Join(dir, "0")), joinShared(t, l, filepath.Join(dir, "1"))
	must(t, leads.Lead(t.Context(), l.elect(), func() {}))
	j := enqueue(t, leads.DB, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:KR_1"})
	l.caughtUp(old)
	old.leave(t)
	l.follow()
	b, err := bolt.Open(disk.StatePath(filepath.Join(dir, "1")), 0o600, nil)
	must(t, err)
	must(t, b.Update(func(tx *bolt.Tx) error {
		own := newTx(tx, disk.Now())
		k, err := own.jobKey(j.ID)
		return errors.Join(err, own.Remove(tJobState.Table, k), own.PutNumber(tMeta, disk.MetaSchema, newestSchema()-1))
	}))
	must(t, b.Close())
	old = joinShared(t, l, filepath.Join(dir, "1"))
	wantSame(t, leads, old)
	old.leave(t)
	leads.leave(t)
}

// beforeRead is a log of bbolt's that does something, once, when a reader is about to begin.
type beforeRead struct {
	bolt.DefaultLogger
	do func()
}

func (b *beforeRead) Debugf(_ string, v ...any) {
	if do := b.do; len(v) == 1 && v[0] == false && do != nil {
		b.do = nil
		do()
	}
}

// Whoever reads while a file is filled anew sees all or is told so, and never a part; also who came just before, and
// begins when it is empty already.
func TestH14a_NobodyReadsAPartOfACopy(t *testing.T) {
	l, dir := newLogged(), t.TempDir()
	leads, follows := joinShared(t, l, filepath.Join(dir, "0")), joinShared(t, l, filepath.Join(dir, "1"))
	must(t, leads.Lead(t.Context(), l.elect(), func() {}))
	first := enqueue(t, leads.DB, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:KR_0"})
	l.caughtUp(follows)
	l.follow()
	follows.stop()
	follows.stop = func() {}
	emptied, rest, filled := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	l.asked = func() { close(emptied); <-rest }
	must(t, follows.bolt.Close())
	o := disk.BoltOptions()
	o.Logger = &beforeRead{bolt.DefaultLogger{Logger: log.New(io.Discard, "", 0)}, func() {
		go func() { filled <- follows.fill(t.Context()) }()
		<-emptied
	}}
	var err error
	follows.bolt, err = bolt.Open(disk.StatePath(follows.dir), disk.FileMode, o)
	must(t, err)
	err = follows.Read(t.Context(), func(tx engine.Tx) error {
		_, err := follows.Job(tx, first.ID)
		return err
	})
	if !errors.Is(err, error(errFilling)) {
		t.Errorf("what is stored is read as %v", err)
	}
	close(rest)
	must(t, <-filled)
	wantSame(t, leads, follows)
	follows.leave(t)
	leads.leave(t)
}

// A commit that is in the log and not in the file of who wrote it comes there with the next opening; nobody writes
// behind it before.
func TestH14b_ACommitWhoseAnswerIsLost(t *testing.T) {
	l, dir := newLogged(), filepath.Join(t.TempDir(), "data")
	s := joinShared(t, l, dir)
	must(t, s.Lead(t.Context(), l.elect(), func() {}))
	must(t, s.SaveState(t.Context(), "a", []byte("1")))
	l.lose = true
	if err := s.SaveState(t.Context(), "a", []byte("2")); !errors.Is(err, disk.ErrUnknown) {
		t.Errorf("%v", err)
	}
	if err := s.SaveState(t.Context(), "a", []byte("3")); !errors.Is(err, disk.ErrClosed) {
		t.Errorf("it goes on: %v", err)
	}
	s.leave(t)
	again := joinShared(t, l, dir)
	defer again.leave(t)
	blob, err := again.LoadState(t.Context(), "a")
	if err != nil || string(blob) != "2" || again.Seq() != 2 {
		t.Errorf("%q at %d, %v", blob, again.Seq(), err)
	}
	must(t, again.Lead(t.Context(), l.elect(), func() {}))
	must(t, again.SaveState(t.Context(), "a", []byte("4")))
}

// What a log says is proved before it is stored; a store that was set back to an earlier state is another one.
func TestH14c_ALogThatIsWrong(t *testing.T) {
	l, dir := newLogged(), t.TempDir()
	s := joinShared(t, l, filepath.Join(dir, "a"))
	must(t, s.Lead(t.Context(), l.elect(), func() {}))
	must(t, s.SaveState(t.Context(), "a", []byte("right")))
	l.follow()
	must(t, s.SaveState(t.Context(), "a", []byte("wrong")))
	s.leave(t)

	bad := bytes.Replace(l.commits[1].Rows, []byte("wrong"), []byte("wrung"), 1)
	l.commits[1].Rows = bad
	if _, err := Open(Options{Dir: filepath.Join(dir, "b"), Shared: l}); !disk.IsDamage(err) {
		t.Errorf("a value that was changed on its way: %v", err)
	}
	l.commits[1].Rows = bad[:len(bad)-3]
	if _, err := Open(Options{Dir: filepath.Join(dir, "c"), Shared: l}); err == nil {
		t.Error("a commit that was cut short is carried out")
	}

	l.commits, l.name = l.commits[:1], "set back"
	again := joinShared(t, l, filepath.Join(dir, "a")) // which has the second commit
	defer again.leave(t)
	if blob, err := again.LoadState(t.Context(), "a"); err != nil || string(blob) != "right" || again.Seq() != 1 {
		t.Errorf("%q at %d, %v", blob, again.Seq(), err)
	}
}

// A term that ends while a commit is under way keeps neither the commit nor what others wrote from their end.
func TestH14b_ATermThatEndsWithinACommit(t *testing.T) {
	l, dir := newLogged(), t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	other := joinShared(t, l, filepath.Join(dir, "other"))
	defer other.leave(t)
	var s *sharer
	s = joinShared(t, l, filepath.Join(dir, "s"), func() {
		stop()
		must(t, other.Lead(t.Context(), l.elect(), func() {}))
		must(t, other.SaveState(t.Context(), "a", []byte("the other's")))
		for s.share.mu.TryLock() { // until it carries that out, and waits for the commit
			s.share.mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	})
	defer s.leave(t)
	must(t, s.Lead(ctx, l.elect(), func() {}))
	if err := s.SaveState(t.Context(), "a", []byte("late")); !errors.Is(err, disk.ErrDeposed) {
		t.Errorf("%v", err)
	}
	l.caughtUp(s)
	wantSame(t, s, other)
}

// A key that a server's index would not take is refused at once, and nothing else with it.
func TestH14c_ALongKeyIsRefused(t *testing.T) {
	l := newLogged()
	s := joinShared(t, l, t.TempDir()+"/a")
	defer s.leave(t)
	must(t, s.Lead(t.Context(), l.elect(), func() {}))
	if err := s.SaveState(t.Context(), strings.Repeat("x", 2001), nil); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("2001 bytes: %v", err)
	}
	must(t, s.SaveState(t.Context(), strings.Repeat("x", 2000), nil))
}

// The payloads of a shared store are given by any process, deleted by who leads alone, and counted by a check; of who is
// forgotten neither they, nor the log, nor what was asked elsewhere are left.
func TestH14f_PayloadsOfASharedStore(t *testing.T) {
	l := newLogged()
	leads, other := joinShared(t, l, t.TempDir()+"/a"), joinShared(t, l, t.TempDir()+"/b")
	defer leads.leave(t)
	defer other.leave(t)
	ctx, raw := t.Context(), `{"info":{}}`
	must(t, leads.Lead(ctx, l.elect(), func() {}))
	ref, body := gzipped(raw)
	write(t, leads.DB, func(tx engine.Tx) error {
		errs := []error{leads.SaveAccount(tx, league.Account{ID: "01A", GameName: "Gone", TagLine: "EUW", PUUIDs: map[string]string{"k": "p0"}})}
		for _, id := range []string{"EUW1_1", "EUW1_2"} {
			m := league.Match{ID: id, Match: league.Fetch{Status: league.Success, Ref: ref}}
			errs = append(errs, leads.PutPayload(ctx, id, league.PartMatch, ref, body), leads.SaveMatch(tx, m, true))
		}
		return errors.Join(append(errs, leads.LinkMatch(tx, "01A", "EUW1_1"))...)
	})
	must(t, leads.PutPayload(ctx, "EUW1_3", league.PartMatch, ref, body)) // which no match names
	l.caughtUp(other)
	if got, err := other.Raw(ctx, "EUW1_1", league.PartMatch); err != nil || string(got) != raw {
		t.Errorf("another reads %q, %v", got, err)
	}
	if r, err := other.Check(ctx); err != nil || !r.Sound() || r.Payloads != 3 || r.Orphans != 1 {
		t.Errorf("check: %+v, %v", r, err)
	}
	late := league.Span{Days: 1}
	if _, err := other.DropExpired(ctx, late, time.Now().AddDate(9, 0, 0), false); !errors.Is(err, disk.ErrDeposed) {
		t.Errorf("one that follows drops a month: %v", err)
	}
	_, _, err := leads.Forget(ctx, "Gone#EUW", engine.Actor{}, "", 0)
	must(t, err)
	if _, there := l.bodies["EUW1_1/match"]; there || len(l.bodies) != 2 || !slices.Equal(l.unasked, []string{"Gone#EUW"}) || l.trimmed != len(l.commits) {
		t.Errorf("%d payloads are left, unasked %q, %d of %d commits trimmed", len(l.bodies), l.unasked, l.trimmed, len(l.commits))
	}
	l.bodies["EUW1_2/match"] = Payload{Match: "EUW1_2", Part: league.PartMatch, PayloadRef: ref, Body: []byte("spoilt")}
	if _, err := leads.Raw(ctx, "EUW1_2", league.PartMatch); !disk.IsDamage(err) {
		t.Errorf("a damaged one: %v", err)
	}
	if page, err := leads.Matches(ctx, engine.MatchesQuery{}); err != nil || len(page.Matches) != 1 || !page.Matches[0].Corrupt {
		t.Errorf("its row: %+v, %v", page.Matches, err)
	}
	dropped, err := leads.DropExpired(ctx, late, time.Now().AddDate(9, 0, 0), false)
	if err != nil || len(dropped) != 1 || dropped[0].Payloads != 1 || len(l.bodies) != 0 {
		t.Errorf("%+v, %v: %d are left", dropped, err, len(l.bodies))
	}
}

// What was half forgotten when its process was killed is forgotten by who leads next, also where that was open before: the
// payloads, too.
func TestH14f_AnotherForgetsTheRest(t *testing.T) {
	l := newLogged()
	leads, other := joinShared(t, l, t.TempDir()+"/a"), joinShared(t, l, t.TempDir()+"/b")
	defer leads.leave(t)
	defer other.leave(t)
	ctx := t.Context()
	must(t, leads.Lead(ctx, l.elect(), func() {}))
	ref, body := gzipped("{}")
	must(t, leads.PutPayload(ctx, "EUW1_1", league.PartMatch, ref, body))
	write(t, leads.DB, func(tx engine.Tx) error { // as it stands between the two
		return own(tx).putForgotten(Forgotten{Account: "01A", Doomed: []string{"EUW1_1"}})
	})
	lost := false
	must(t, other.Lead(ctx, l.elect(), func() { lost = true }))
	must(t, other.FinishForgotten(ctx, func(Forgotten) {}))
	if len(l.bodies) != 0 {
		t.Errorf("%d payloads are left", len(l.bodies))
	}
	if err := leads.PutPayload(ctx, "EUW1_1", league.PartMatch, ref, body); !errors.Is(err, disk.ErrDeposed) || len(l.bodies) != 0 {
		t.Errorf("who led puts one: %v, %d are there", err, len(l.bodies))
	}
	// The log refuses who leads by its own watch: that is told.
	l.elect()
	if err := other.SaveState(ctx, "x", nil); !errors.Is(err, disk.ErrDeposed) || !lost {
		t.Errorf("a commit that is refused: %v, told %t", err, lost)
	}
}
