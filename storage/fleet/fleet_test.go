package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/pg"
)

// envMember makes of the test program a member of the fleet at the URL that it holds.
const envMember = "FARSIGHT_TEST_MEMBER"

const ttl = time.Second

func TestMain(m *testing.M) {
	if at := os.Getenv(envMember); at != "" {
		if err := beMember(at, os.Args[1]); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		return
	}
	scratch.AtOnce(6)
	leak.Main(scratch.OnDisk(m))
}

// made gives a schema of a test's own, with its tables.
var made = pgtest.Made(func(at string) error {
	return pgtest.Closed(pg.Open(context.Background(), pg.Options{URL: at}))
})

// beMember leads as a bad leader does: it goes on writing, whatever its context says, until it is
// refused. It ends when its input does.
func beMember(at, id string) error {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	db, err := pg.Open(ctx, pg.Options{URL: at})
	if err != nil {
		return err
	}
	defer db.Close()
	dir, err := os.MkdirTemp("", "member")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := storage.Open(storage.Options{Dir: dir + "/data", Shared: db.Log()})
	if err != nil {
		return err
	}
	go func() { _ = store.Serve(context.Background()) }()
	err = Run(ctx, db, Options{ID: id, Host: "here", Version: "test", TTL: ttl, Lead: func(_ context.Context, t *Term) error {
		if err := store.Lead(context.Background(), t.Epoch, func() {}); err != nil {
			return err
		}
		for told := false; ; told = true {
			err := store.Write(context.Background(), func(tx engine.Tx) error {
				_, err := tx.Enqueue(engine.Spec{Kind: "k", Queue: "q", Owner: fmt.Sprintf("%08d", t.Epoch), By: id})
				return err
			})
			if errors.Is(err, pg.ErrDeposed) {
				fmt.Println("refused", t.Epoch)
				return err
			}
			if err != nil {
				return err
			}
			if !told {
				fmt.Println("wrote", t.Epoch)
			}
			if ctx.Err() != nil {
				return nil
			}
			time.Sleep(time.Millisecond) // others want the core, too
		}
	}})
	fmt.Println("ended 0")
	return err
}

// said is a line of a member.
type said struct {
	by    string
	what  string
	epoch int64
}

// fleet are members as processes of their own.
type fleet struct {
	t     *testing.T
	url   string
	lines chan said
	heard []said
	open  sync.WaitGroup
	procs map[string]*proc
}

type proc struct {
	*exec.Cmd
	in io.Closer
}

func newFleet(t *testing.T, ids ...string) *fleet {
	f := &fleet{t: t, url: made(t), lines: make(chan said, 10_000), procs: map[string]*proc{}}
	t.Cleanup(func() {
		for id := range f.procs {
			f.kill(id)
		}
		f.open.Wait()
	})
	for _, id := range ids {
		f.start(id)
	}
	return f
}

func (f *fleet) start(id string) {
	c := exec.Command(os.Args[0], id)
	c.Env = append(os.Environ(), envMember+"="+f.url)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	must(f.t, err)
	out, err := c.StdoutPipe()
	must(f.t, err)
	must(f.t, c.Start())
	f.procs[id] = &proc{c, in}
	f.open.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s := said{by: id}
			if _, err := fmt.Sscan(lines.Text(), &s.what, &s.epoch); err != nil {
				s.what = lines.Text()
			}
			f.lines <- s
		}
		_ = c.Wait()
	})
}

func (f *fleet) kill(id string) { f.signal(id, syscall.SIGKILL); delete(f.procs, id) }

func (f *fleet) signal(id string, s syscall.Signal) {
	if p := f.procs[id]; p != nil {
		_ = p.Process.Signal(s)
	}
}

// await gives the first line that is as it should be, and waits for it if nobody has said it yet.
func (f *fleet) await(what string, is func(said) bool) said {
	f.t.Helper()
	for i := 0; ; i++ {
		if i == len(f.heard) {
			f.heard = append(f.heard, <-f.lines)
		}
		s := f.heard[i]
		if strings.HasPrefix(s.what, "failed") {
			f.t.Fatalf("%s %s", s.by, s.what)
		}
		if s.what == what && is(s) {
			return s
		}
	}
}

// nextLeader waits for a write in a later term than that of an epoch.
func (f *fleet) nextLeader(after int64) said {
	f.t.Helper()
	return f.await("wrote", func(s said) bool { return s.epoch > after })
}

// inOrder wants that in the order of all that was written no term follows a later one, and that
// each has one writer.
func (f *fleet) inOrder() {
	f.t.Helper()
	c, err := pgx.Connect(context.Background(), f.url)
	must(f.t, err)
	defer c.Close(context.Background())
	rows, err := c.Query(context.Background(), "select term, convert_from(changes, 'UTF8') from fs_log order by seq")
	must(f.t, err)
	writer := regexp.MustCompile(`"(a|b|c|new \d)"`)
	n, last, by := 0, int64(0), ""
	for ; rows.Next(); n++ {
		var epoch int64
		var changes string
		must(f.t, rows.Scan(&epoch, &changes))
		who := writer.FindString(changes)
		if who == "" || epoch < last || epoch == last && who != by {
			f.t.Fatalf("commit %d is of term %d by %s, after term %d by %s", n, epoch, who, last, by)
		}
		last, by = epoch, who
	}
	if err := rows.Err(); err != nil || n == 0 {
		f.t.Errorf("%d rows, %v", n, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// When the leader is killed another one leads, again and again.
func TestAKilledLeaderIsFollowed(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "a", "b", "c")
	leader := f.nextLeader(0)
	for round := range 2 {
		f.kill(leader.by)
		f.start(fmt.Sprint("new ", round))
		leader = f.nextLeader(leader.epoch)
	}
	f.inOrder()
}

// A leader that stands still is followed, and what it writes when it goes on is refused: also
// when it stood still in the middle of a transaction, which then keeps the others waiting.
func TestF4_AStaleEpochWritesNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "a", "b")
	leader := f.nextLeader(0)
	for range 2 {
		f.signal(leader.by, syscall.SIGSTOP)
		next := f.await("wrote", func(s said) bool { return s.epoch > leader.epoch && s.by != leader.by })
		f.signal(leader.by, syscall.SIGCONT)
		f.await("refused", func(s said) bool { return s == said{leader.by, "refused", leader.epoch} })
		leader = next
	}
	f.inOrder()
}

// An election waits for a commit of the term before that is under way, and what that writes later is refused.
func TestB19f_AnElectionWaitsForATransaction(t *testing.T) {
	t.Parallel()
	at := made(t)
	term, release, err := Take(t.Context(), open(t, at), Options{ID: "a", Host: "here", TTL: time.Hour})
	must(t, err)
	other, err := pgx.Connect(t.Context(), at)
	must(t, err)
	defer other.Close(context.Background())
	third, err := pgx.Connect(t.Context(), at)
	must(t, err)
	defer third.Close(context.Background())
	_, err = other.Exec(t.Context(), "set lock_timeout = '300ms'")
	must(t, err)
	elected := func() (err error) {
		for err = pgx.ErrNoRows; errors.Is(err, pgx.ErrNoRows); { // who leads may renew its term between the two
			var beat, epoch int64
			var since time.Time
			must(t, other.QueryRow(t.Context(), "select beat from fs_fleet").Scan(&beat))
			err = other.QueryRow(t.Context(), elect, "b", time.Hour, term.Epoch, beat, "here", time.Now()).Scan(&epoch, &since)
		}
		return err
	}
	log := open(t, at).Log()
	tx, err := third.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), "insert into fs_log (seq, term, rows, changes) values (1, 0, '', '')") // which the commit waits for
	must(t, err)
	added := make(chan error)
	go func() {
		added <- log.Append(t.Context(), term.Epoch, storage.Commit{Seq: 1, Rows: []byte{}, Changes: []byte{}})
	}()
	for waits := false; !waits; {
		must(t, other.QueryRow(t.Context(), "select exists (select from pg_stat_activity where $1 = any(pg_blocking_pids(pid)))", tx.Conn().PgConn().PID()).Scan(&waits))
	}
	if refused, ok := errors.AsType[*pgconn.PgError](elected()); !ok || refused.Code != "55P03" {
		t.Errorf("an election beside a commit: %v", refused)
	}
	must(t, tx.Rollback(t.Context()))
	must(t, <-added)
	must(t, elected())
	if err := log.Append(t.Context(), term.Epoch, storage.Commit{Seq: 2, Rows: []byte{}, Changes: []byte{}}); !errors.Is(err, pg.ErrDeposed) {
		t.Errorf("a commit after the election: %v", err)
	}
	must(t, release())
}

// A term lasts from when it was asked for, and not from the answer: the way may be long. Each renewal is a sign of
// life, without which another member would follow.
func TestB19f_ATermCountsFromItsQuestion(t *testing.T) {
	t.Parallel()
	at := made(t)
	db := open(t, at)
	other, err := pgx.Connect(t.Context(), at)
	must(t, err)
	defer other.Close(context.Background())
	count := func(sql string, args ...any) (n int64) {
		must(t, other.QueryRow(t.Context(), sql, args...).Scan(&n))
		return n
	}
	// held gives an instant at which a question waits already.
	held := func(ask func()) (seen time.Time) {
		tx, err := other.Begin(t.Context())
		must(t, err)
		count("select epoch from fs_fleet for update")
		ask()
		// Within a transaction pg_stat_activity stays as it was first read.
		for count("select count(*) from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))") == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		seen = time.Now()
		time.Sleep(10 * time.Millisecond)
		must(t, tx.Rollback(t.Context()))
		return seen
	}
	o := Options{ID: "a", Host: "here", TTL: time.Hour}
	var term *Term
	var release func() error
	taken := make(chan error)
	seen := held(func() {
		go func() {
			term, release, err = Take(t.Context(), db, o)
			taken <- err
		}()
	})
	must(t, <-taken)
	// Who is elected renews at once: what has been renewed tells nothing of the election.
	if until := term.Until(); until.After(seen.Add(o.TTL)) && count("select beat from fs_fleet") < 2 {
		t.Errorf("elected until %v after the answer", until.Sub(seen)-o.TTL)
	}
	for count("select beat from fs_fleet") < 2 { // who is elected hears of it, too, and renews at once
		time.Sleep(10 * time.Millisecond)
	}
	// The answer to the renewal before may come still: what ends later than asked is of the one that is held.
	asked, beat := time.Now(), count("select beat from fs_fleet")
	seen = held(func() { wake(t, at) })
	for !term.Until().After(asked.Add(o.TTL)) {
		time.Sleep(10 * time.Millisecond)
	}
	if until := term.Until(); until.After(seen.Add(o.TTL)) {
		t.Errorf("renewed until %v after the answer", until.Sub(seen)-o.TTL)
	}
	if now := count("select beat from fs_fleet"); now <= beat {
		t.Errorf("beat %d after %d", now, beat)
	}
	must(t, release())
}

// A leader that ends hands over at once: its term lasts an hour.
func TestALeaderThatEndsHandsOver(t *testing.T) {
	t.Parallel()
	db := open(t, made(t))
	leads := make(chan string)
	run := func(id string) (stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			done <- Run(ctx, db, Options{ID: id, TTL: time.Hour, Lead: func(ctx context.Context, term *Term) error {
				if !term.Held() {
					t.Error("a new term is over")
				}
				leads <- id
				<-ctx.Done()
				return context.Cause(ctx)
			}})
		}()
		return func() { cancel(); must(t, <-done) }
	}
	stopA := run("a")
	if who := <-leads; who != "a" {
		t.Errorf("%s leads", who)
	}
	seen := make(chan engine.MembersPage, 100)
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan error)
	go func() {
		watched <- Run(ctx, db, Options{ID: "w", TTL: time.Hour, OnLook: func(v engine.MembersPage) { seen <- v }})
	}()
	if v := <-seen; v.Leader != "a" || len(v.Members) != 2 || !v.Members[0].MayLead || v.Members[1].MayLead {
		t.Errorf("%+v", v)
	}
	stopB := run("b")
	for v, err := Look(ctx, db, time.Hour); len(v.Members) < 3; v, err = Look(ctx, db, time.Hour) {
		must(t, err)
	}
	stopA()
	if who := <-leads; who != "b" {
		t.Errorf("%s leads", who)
	}
	for v := range seen {
		if v.Leader == "b" {
			break
		}
	}
	stopB()
	cancel()
	must(t, <-watched)
	if v, err := Look(context.Background(), db, 0); err != nil || v.Leader != "" || len(v.Members) != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// Whatever the clocks show: a term is followed that the database's clock takes to last for another
// hour, a member whose own clock is an hour ahead leads, and others see that it is.
func TestClocksAnHourOff(t *testing.T) {
	at := made(t)
	db := open(t, at)
	do(t, at, "update fs_fleet set epoch = 7, holder = 'gone', expires = clock_timestamp() + interval '1 hour'")
	defer wall.Step(time.Hour)()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	led := false
	must(t, Run(ctx, db, Options{
		ID: "a", TTL: 300 * time.Millisecond,
		Lead: func(ctx context.Context, term *Term) error {
			led = term.Epoch > 7
			<-ctx.Done()
			return context.Cause(ctx)
		},
		OnLook: func(v engine.MembersPage) {
			if v.Leader == "a" && v.Members[0].Ahead > 50*time.Minute {
				if off := wall.Own().Sub(wall.Now()); (off - time.Hour).Abs() > 10*time.Minute {
					t.Errorf("it keeps a clock that is %s behind its own", off)
				}
				cancel()
			}
		},
	}))
	if !led {
		t.Error("it did not lead")
	}
}

// An election on a server that has taken the place of another makes a store of its own of it: readers' cursors are of
// another store, and those who lead are told, so that the limits' windows count as full.
func TestAnElectionOnAnotherServer(t *testing.T) {
	t.Parallel()
	at := made(t)
	db := open(t, at)
	lead := func() (copied time.Time, instance string) {
		ctx, cancel := context.WithCancel(context.Background())
		must(t, Run(ctx, db, Options{ID: "a", TTL: time.Hour, Lead: func(ctx context.Context, term *Term) error {
			defer cancel()
			c, err := db.Connect(ctx)
			must(t, err)
			defer c.Close(context.Background())
			must(t, c.QueryRow(ctx, "select instance from fs_store").Scan(&instance))
			copied = db.Copied()
			return nil
		}}))
		return copied, instance
	}
	copied, before := lead()
	if !copied.IsZero() {
		t.Errorf("on the same server: copied at %s", copied)
	}
	do(t, at, "update fs_store set cluster = '7421840112342-00000001'")
	for range 2 {
		copied, instance := lead()
		if copied.IsZero() || instance == before {
			t.Errorf("on another server: copied at %s, a store of its own: %t", copied, instance != before)
		}
	}
}

// Who has another key than the one that the fleet works with is told so, and leads only when nobody
// is left that has it; when all have the new one, it is the fleet's. No term runs out, however long
// anything takes: the members look when they are woken.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	at := made(t)
	db := open(t, at)
	var keyOfA atomic.Value
	keyOfA.Store("old")
	leads := make(chan string, 10)
	run := func(id string, key func() string, look func(engine.MembersPage)) (stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			done <- Run(ctx, db, Options{ID: id, TTL: time.Hour, Key: key, OnLook: look, Lead: func(ctx context.Context, _ *Term) error {
				leads <- id
				<-ctx.Done()
				return context.Cause(ctx)
			}})
		}()
		return func() { cancel(); must(t, <-done) }
	}
	said := make(chan string, 10_000)
	stopA := run("a", func() string { return keyOfA.Load().(string) }, nil)
	<-leads
	stopB := run("b", func() string { return "new" }, func(v engine.MembersPage) { said <- v.KeyOf("b") })
	for s := range said {
		if strings.Contains(s, "API key new") && strings.Contains(s, "work with old") {
			break
		}
		wake(t, at)
	}
	keyOfA.Store("new")
	for wake(t, at); <-said != ""; {
		wake(t, at)
	}
	l := look{MembersPage: engine.MembersPage{Key: "old", Members: []engine.MemberRow{{Key: "old", MayLead: true}}}}
	if !l.yields("new", false) || l.yields("old", false) || !l.yields("", false) {
		t.Error("who has another key, or none, does not leave the lead to one that has the fleet's, or who has it does")
	}
	if l.Members[0].Role = engine.MemberGone; l.yields("new", false) || l.yields("", false) {
		t.Error("the lead is left to who has gone")
	}
	stopA()
	if who := <-leads; who != "b" {
		t.Errorf("%s leads", who)
	}
	stopB()
}

// Who leads and is cut off from Riot leaves the lead to a member with its key that is not; when all are,
// it stays where it is. A guest leads when it is none any more, and who lacks some of what is stored when
// it has all.
func TestH14g_ALeaderThatIsCutOff(t *testing.T) {
	t.Parallel()
	at := made(t)
	db := open(t, at)
	var cut [2]atomic.Bool
	var guest atomic.Bool
	guest.Store(true)
	leads := make(chan string, 10)
	run := func(id string, change func(*Options)) (stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		o := Options{ID: id, TTL: time.Hour, Key: func() string { return "k" }, Lead: func(ctx context.Context, _ *Term) error {
			leads <- id
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		change(&o)
		go func() { done <- Run(ctx, db, o) }()
		return func() { cancel(); must(t, <-done) }
	}
	for i, id := range []string{"a", "b"} {
		defer run(id, func(o *Options) {
			o.CutOff = func() (at time.Time) {
				if cut[i].Load() {
					at = time.Now().Add(-leadPatience)
				}
				return at
			}
		})()
		if i == 0 {
			<-leads
		}
	}
	page := func() engine.MembersPage {
		wake(t, at)
		p, err := Look(t.Context(), db, time.Hour)
		must(t, err)
		return p
	}
	is := func(id string, ok func(m engine.MemberRow) bool) {
		for p := page(); !ok(p.Of(id)); p = page() {
		}
	}
	is("b", func(m engine.MemberRow) bool { return m.Carries() })
	cut[1].Store(true)
	is("b", func(m engine.MemberRow) bool { return !m.CutOff.IsZero() && !m.Carries() && m.Works })
	cut[0].Store(true)
	is("a", func(m engine.MemberRow) bool { return !m.CutOff.IsZero() && m.Role == engine.MemberLeads })
	cut[1].Store(false)
	is("b", func(m engine.MemberRow) bool { return m.Role == engine.MemberLeads })
	if who := <-leads; who != "b" {
		t.Errorf("%s leads", who)
	}

	var lacks atomic.Bool
	lacks.Store(true)
	stop := run("c", func(o *Options) { o.Looks, o.Lacks = guest.Load, lacks.Load })
	defer func() { stop() }()
	is("c", func(m engine.MemberRow) bool { return m.Role == engine.MemberFollows && !m.Works })
	guest.Store(false)
	is("c", func(m engine.MemberRow) bool { return m.Role == engine.MemberFollows && m.Works })
	lacks.Store(false)
	is("c", func(m engine.MemberRow) bool { return m.Role == engine.MemberStandsBy && m.Works })
	cut[1].Store(true)
	is("c", func(m engine.MemberRow) bool { return m.Role == engine.MemberLeads })
}

// wake lets all members look at once, as an election does.
func wake(t *testing.T, at string) {
	do(t, at, "select pg_notify('farsight.' || current_schema(), 'look')")
}

// A member that is older than the schema which another one has made says what to do, and its term
// is over.
func TestAMemberOfAnotherVersion(t *testing.T) {
	t.Parallel()
	at := made(t)
	db := open(t, at)
	ended := false
	err := Run(t.Context(), db, Options{ID: "a", TTL: 300 * time.Millisecond, Lead: func(ctx context.Context, term *Term) error {
		do(t, at, "insert into fs_schema (version) select max(version) + 1 from fs_schema")
		<-ctx.Done()
		ended = true
		return context.Cause(ctx)
	}})
	if !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "start the program of the version") || !ended {
		t.Errorf("%v, ended %t", err, ended)
	}
}

// What a leader ends with that is not the end of its term ends its process's part in the fleet.
func TestALeaderThatFails(t *testing.T) {
	t.Parallel()
	db := open(t, made(t))
	broken := errors.New("the disk is full")
	err := Run(t.Context(), db, Options{ID: "a", TTL: time.Hour, Lead: func(context.Context, *Term) error { return broken }})
	if !errors.Is(err, broken) {
		t.Errorf("Run = %v", err)
	}
	if v, err := Look(t.Context(), db, 0); err != nil || v.Leader != "" {
		t.Errorf("%+v, %v", v, err)
	}
}

// What a leader ends with after its term does not.
func TestALeaderThatFailsWithItsTerm(t *testing.T) {
	t.Parallel()
	at := made(t)
	db := open(t, at)
	ctx, stop := context.WithCancel(t.Context())
	terms := 0
	must(t, Run(ctx, db, Options{ID: "a", TTL: time.Hour, Lead: func(ctx context.Context, _ *Term) error {
		if terms++; terms == 2 {
			stop()
			return nil
		}
		do(t, at, "update fs_fleet set epoch = epoch + 1, holder = '', expires = '-infinity'")
		for ctx.Err() == nil {
			wake(t, at)
		}
		return errors.New("the connection is closed")
	}}))
	if terms != 2 {
		t.Errorf("%d terms", terms)
	}
	term := newTerm(t.Context(), 7, time.Now().Add(time.Hour), func(ctx context.Context, _ *Term) error {
		<-ctx.Done()
		return errTaken
	})
	term.End()
	if err := <-term.ended; !errors.Is(err, errTaken) {
		t.Errorf("a task whose term is over goes on: %v", err)
	}
}

// A database that is away for longer than a term ends it, and when it is there again somebody
// leads.
func TestADatabaseThatIsStoppedHard(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db := open(t, server.URL)
	ctx, cancel := context.WithCancel(context.Background())
	epochs, overs := make(chan int64), make(chan bool)
	done := make(chan error)
	go func() {
		done <- Run(ctx, db, Options{ID: "a", TTL: 300 * time.Millisecond, Lead: func(ctx context.Context, term *Term) error {
			epochs <- term.Epoch
			<-ctx.Done()
			overs <- term.Held()
			return context.Cause(ctx)
		}})
	}()
	first := <-epochs
	server.Stop(t)
	if <-overs {
		t.Error("the term goes on without a database")
	}
	server.Start(t)
	if next := <-epochs; next <= first {
		t.Errorf("term %d after term %d", next, first)
	}
	cancel()
	<-overs
	must(t, <-done)
}

func open(t *testing.T, at string) *pg.DB {
	t.Helper()
	db, err := pg.Open(t.Context(), pg.Options{URL: at})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func do(t *testing.T, at, sql string) {
	c, err := pgx.Connect(context.Background(), at)
	if err == nil {
		_, err = c.Exec(context.Background(), sql)
		_ = c.Close(context.Background())
	}
	if err != nil {
		t.Error(err)
	}
}

// A task leads if nobody else does, waits for the end of one that is gone, and gives the lead back.
func TestATaskTakesTheLead(t *testing.T) {
	t.Parallel()
	at := made(t)
	db := open(t, at)
	o := func(id string) Options { return Options{ID: id, Host: "here", TTL: time.Hour} } // longer than anything takes
	do(t, at, "update fs_fleet set epoch = 7, holder = 'gone', expires = clock_timestamp() + interval '1 second'")
	term, release, err := Take(t.Context(), db, o("4711-a"))
	must(t, err)
	if term.Epoch != 8 || !term.Held() {
		t.Errorf("term %d", term.Epoch)
	}
	refused := make(chan error)
	go func() {
		_, _, err := Take(t.Context(), db, o("4711-b"))
		refused <- err
	}()
	for waits := true; waits; { // for a sign of life of who leads
		select {
		case err = <-refused:
			waits = false
		default:
			wake(t, at)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "is held by process 4711 on here") {
		t.Errorf("beside another: %v", err)
	}
	must(t, release())
	err = db.Log().Append(t.Context(), term.Epoch, storage.Commit{Seq: 1, Rows: []byte{}, Changes: []byte{}})
	if !errors.Is(err, pg.ErrDeposed) || !errors.Is(context.Cause(term.Within), pg.ErrDeposed) {
		t.Errorf("a commit after the task: %v", err)
	}
	_, release, err = Take(t.Context(), db, o("4711-b"))
	must(t, err)
	must(t, release())
}
