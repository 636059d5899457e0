package app

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/riot/sim"
)

// inFleet are members that share a database, each with a data directory of its own. Nobody else has
// it: one that stands still keeps what it has locked.
type inFleet struct {
	inSchema
	members map[int]*child // by their process ids
	dirs    map[int]string
}

func newFleet(t *testing.T, o sim.Options) *inFleet {
	t.Helper()
	farsight(t) // where no program is started, no server need be
	return &inFleet{inSchema{t, startSim(t, o), pgtest.Own(t).URL, freshDir(t)}, map[int]*child{}, map[int]string{}}
}

// join starts a member.
func (f *inFleet) join(flags ...string) (pid int) {
	f.t.Helper()
	dir := freshDir(f.t)
	p := f.sim.serving(f.t, dir, map[string]string{"FARSIGHT_STORE": f.at}, flags...)
	pid = p.cmd.Process.Pid
	f.members[pid], f.dirs[pid] = p, dir
	return pid
}

// leader waits for a member that leads, and is not that one.
func (f *inFleet) leader(but int) (pid int) {
	f.t.Helper()
	for _, p := range f.members {
		p.until("another leader", func() bool {
			pid = f.leads()
			return pid != 0 && pid != but
		})
		break
	}
	return pid
}

// leads is the process that leads the schema's members; 0 = none does.
func (s inSchema) leads() (pid int) {
	for _, holder := range sql(s.t, s.at, "select holder from fs_fleet where expires > clock_timestamp()") {
		id, _, _ := strings.Cut(holder, "-")
		pid, _ = strconv.Atoi(id)
	}
	return pid
}

// named waits until `status` beside a member names who leads, as soon as that member has seen it.
func (f *inFleet) named(beside inSchema) {
	f.t.Helper()
	for !strings.Contains(beside.run(exitDone, "status").stdout, "leader: "+strconv.Itoa(f.leader(0))+"-") {
		if f.t.Failed() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// stored waits until so many matches are.
func (f *inFleet) stored(by *child, n int) {
	f.t.Helper()
	by.until(strconv.Itoa(n)+" matches", func() bool {
		have := sql(f.t, f.at, "select count(*)::text from matches where status = 'success'")
		m, _ := strconv.Atoi(have[0])
		return m >= n
	})
}

// goesOnAfter waits until a console on another member goes on after the leader was killed: its screen is told who
// leads next, and shows how that one carries out what is asked beside it. For how long nobody led the terms tell.
func (f *inFleet) goesOnAfter(killed int, screen *watching, beside inSchema, asked string) {
	f.t.Helper()
	var old, next engine.TermRow
	f.waits("who leads next", func() bool {
		a, err := screen.Find(f.t.Context(), engine.MembersQuery{})
		page, _ := a.(engine.MembersPage)
		at := slices.IndexFunc(page.Terms, func(r engine.TermRow) bool { return strings.HasPrefix(r.Leader, strconv.Itoa(killed)+"-") })
		if err != nil || at < 1 {
			return false
		}
		old, next = page.Terms[at], page.Terms[at-1]
		return true
	})
	if next.Epoch != old.Epoch+1 || old.Until.IsZero() || next.Since.Before(old.Until) {
		f.t.Errorf("after %+v came %+v", old, next)
	}
	screen.until(f.t, "a word of who leads next", func(u engine.Update) bool {
		return slices.ContainsFunc(u.Notes, func(n engine.Note) bool {
			_, text, _ := strings.Cut(n.Text, " leads, in term ")
			term, _ := strconv.ParseInt(text, 10, 64)
			return term >= next.Epoch // on a busy machine a term may be over before it is seen
		})
	})
	beside.run(exitDone, "trigger", asked, "--platform", "euw1")
	screen.until(f.t, "the sync of "+asked, func(u engine.Update) bool {
		return slices.ContainsFunc(u.Accounts, func(a engine.AccountRow) bool { return a.RiotID == asked && a.Status == engine.SyncCompleted })
	})
	gap := func(query string, args ...any) {
		s, _ := strconv.ParseFloat(sql(f.t, f.at, query, args...)[0], 64)
		f.t.Logf("%.2f s: %s", s, query)
	}
	// By the database's clock: from the last sign of life of who was killed, and between two attempts.
	gap("select extract(epoch from t.since - m.seen)::text from fs_term t, fs_member m where t.epoch = $1 and m.id = $2", next.Epoch, old.Leader)
	gap("select extract(epoch from max(still))::text from (select ended - lag(ended) over (order by ended) as still from attempts where verb <> 'interrupted') gaps")
}

// The leader is killed, its successor stands still, and one that never leads stays there: who looks
// on at that one goes on looking (Show 6), and the sync goes on to its end. No limit is passed.
func TestPostgres_Show6_MembersTakeOver(t *testing.T) {
	t.Parallel()
	const who, matches, later, more = "Members#EUW", 60, "Later#EUW", 3
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches), player(later, more)}})
	f.join()
	watches := f.join("--no-lead")
	screen := attached(t, f.dirs[watches])
	screen.until(t, "what is stored", func(u engine.Update) bool { return u.Snapshot })
	f.join()
	f.join()
	leads := func(but int) int { // one that stands still for 3 s on a busy machine is followed by another
		pid := f.leader(but)
		if pid == watches {
			t.Fatal("who never leads leads")
		}
		return pid
	}
	beside := f.inSchema
	beside.dir = f.dirs[watches]
	beside.run(exitDone, "trigger", who, "--platform", "euw1")
	screen.until(t, "a job of another member", func(u engine.Update) bool { return len(u.Jobs) > 0 })
	if r := beside.run(exitDone, "freeze", "kr"); !strings.Contains(r.stdout, "kr frozen") { // the leader does
		t.Errorf("freeze beside the leader: %q", r.stdout)
	}

	f.stored(f.members[watches], 5)
	first := leads(0)
	f.named(beside)
	f.members[first].kill()
	delete(f.members, first)
	f.goesOnAfter(first, screen, beside, later)
	next := leads(first)
	f.stored(f.members[watches], 10)
	_ = f.members[next].cmd.Process.Signal(syscall.SIGSTOP)
	last := leads(next)
	f.stored(f.members[last], 15)
	f.named(beside)
	_ = f.members[next].cmd.Process.Signal(syscall.SIGCONT)

	f.stored(f.members[last], matches+more)
	screen.until(t, "all matches", func(u engine.Update) bool { return u.Engine != nil && u.Engine.Stored == matches+more })
	if r := f.run(exitDone, "accounts", "--json"); !strings.Contains(r.stdout, who) {
		t.Errorf("accounts: %s", r.stdout)
	}
	leads(first)
	if n := f.sim.Stats().Violations; n != 0 {
		t.Errorf("%d violations of the limits", n)
	}
	for _, p := range f.members {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		p.wait().wants(t, exitDone)
	}
	f.sound()
}

// Members make the calls of one key between them, and another program starts a sync in its own
// transaction: no limit is passed, and what was rolled back starts nothing.
func TestPostgres_MembersShareTheCalls(t *testing.T) {
	longest(t)
	t.Parallel()
	const who, matches = "Shared#EUW", 60
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	one := f.members[f.join()]
	f.join()
	one.until("two members", func() bool {
		return sql(t, f.at, "select count(*)::text from fs_member where seen > clock_timestamp() - interval '3 seconds'")[0] == "2"
	})
	f.leader(0)
	const trigger = `insert into river_job (kind, queue, max_attempts, args) values ('farsight.trigger', 'farsight', 25, '{"riot_id": "Shared#EUW", "platform": "euw1"}') returning id::text`
	rolledBack(t, f.at, trigger)
	sql(t, f.at, trigger)
	f.stored(one, matches)
	if n := sql(t, f.at, "select count(*)::text from fs_call where how = 'answered' and member <> ''")[0]; n == "0" {
		t.Error("nobody made a call for the leader")
	}
	if n := sql(t, f.at, "select count(*)::text from runs")[0]; n != "1" {
		t.Errorf("%s runs", n)
	}
	if s := f.sim.Stats(); s.Violations != 0 {
		t.Errorf("%d violations of the limits", s.Violations)
	}
	for _, p := range f.members {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		p.wait().wants(t, exitDone)
	}
	f.sound()
}

// A member that makes no calls leads, and says why nothing moves until another one makes them. A sync
// beside them has them carry it out, and follows it to its end.
func TestPostgres_AMemberThatMakesNoCalls(t *testing.T) {
	longest(t)
	t.Parallel()
	const who, matches = "Idle#EUW", 12
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	idle := f.join("--no-work")
	f.leader(0)
	f.join("--no-work", "--no-lead")
	beside := f.command("sync", who, "--platform", "euw1").start(t)
	asked := f.inSchema
	asked.dir = f.dirs[idle]
	beside.until("the reason", func() bool {
		return strings.Contains(asked.run(exitDone, "status", "--json").stdout, "no other member makes calls: start one without --no-work")
	})
	works := f.join("--no-lead")
	beside.wait().wants(t, exitDone)
	for _, by := range sql(t, f.at, "select distinct member from fs_call where how = 'answered'") {
		if !strings.HasPrefix(by, strconv.Itoa(works)+"-") {
			t.Errorf("%s made a call", by)
		}
	}
	if n := sql(t, f.at, "select count(*)::text from fs_call where how = 'answered'")[0]; n == "0" || f.leader(0) != idle {
		t.Errorf("%s calls were made for the leader", n)
	}
	for _, p := range f.members {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		p.wait().wants(t, exitDone)
	}
}

// rolledBack carries a statement out in a transaction that is rolled back.
func rolledBack(t *testing.T, at, sql string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	tx, err := c.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), sql)
	}
	if err == nil {
		err = tx.Rollback(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
