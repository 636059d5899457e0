package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage/pg"
)

// sql asks the database for the only column of some rows.
func sql(t *testing.T, at, query string, args ...any) (rows []string) {
	t.Helper()
	l := looker(t, at)
	l.Lock()
	defer l.Unlock()
	found, err := l.Query(context.Background(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	rows, err = pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return rows
}

// onlooker is a connection that a test looks at its database through, as often as it waits for something:
// the server starts a process for each connection.
type onlooker struct {
	sync.Mutex
	*pgx.Conn
}

// lookers are those of the tests under way, by the test and the address.
var lookers sync.Map

func looker(t *testing.T, at string) *onlooker {
	t.Helper()
	key := t.Name() + " " + at
	if l, ok := lookers.Load(key); ok {
		return l.(*onlooker)
	}
	c, err := pgx.Connect(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	l := &onlooker{Conn: c}
	lookers.Store(key, l)
	t.Cleanup(func() {
		lookers.Delete(key)
		_ = c.Close(context.Background())
	})
	return l
}

// inSchema runs the program on a schema, with a data directory of its own.
type inSchema struct {
	t   *testing.T
	sim *simulator
	at  string
	dir string
}

func (s inSchema) command(args ...string) command {
	return command{args: append(args, "--data-dir", s.dir), env: s.sim.env("FARSIGHT_STORE=" + s.at)}
}

// run runs the program to its end, as a process of its own if that has an engine. A command that stands still for 3 s on
// a busy machine loses the lead, says so, and is run again.
func (s inSchema) run(code int, args ...string) result {
	s.t.Helper()
	once := command.asked
	if args[0] == "sync" || args[0] == "serve" {
		once = command.run
	}
	r := once(s.command(args...), s.t)
	for r.code != code && strings.Contains(r.stderr, pg.ErrDeposed.Error()) {
		r = once(s.command(args...), s.t)
	}
	return r.wants(s.t, code)
}

func (s inSchema) sound() {
	s.t.Helper()
	if r := s.run(exitDone, "check"); !strings.Contains(r.stdout, "is sound") {
		s.t.Errorf("check said %q", r.stdout)
	}
}

// wantNowhere looks for a text in every row of every table but those.
func (s inSchema) wantNowhere(text string, but ...string) {
	s.t.Helper()
	for _, table := range sql(s.t, s.at, "select relname::text from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> all($1::text[])", but) {
		if table == "fs_row" { // the audit is kept on purpose, with a mask of who was forgotten
			table = "(select * from fs_row where tb <> 'audit')"
		}
		for _, row := range s.having(table, text) {
			s.t.Errorf("table %s has %q: %s", table, text, row)
		}
	}
}

// What a directory does a schema does: a sync, lists, an engine that others are told of, an
// export beside it, prune, forget and check. The key is in no table.
func TestPostgres_EverythingInASchema(t *testing.T) {
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	const gone, stays = "Gone#EUW", "Stays#EUW"
	s := inSchema{t, startSim(t, quick(player(gone, 6), sim.PlayerSpec{RiotID: stays, Platform: "euw1", Matches: 5})), pgtest.Schema(t), freshDir(t)}
	if r := s.run(exitDone, "doctor"); !strings.Contains(r.stdout, "yet: the first engine makes it") {
		t.Errorf("doctor before the first engine: %s", r.stdout)
	}
	if r := s.run(exitFailed, "accounts"); !strings.Contains(r.stderr, "nothing is stored in schema") {
		t.Errorf("nothing there: %q", r.stderr)
	}
	for _, name := range []string{gone, stays} {
		s.run(exitDone, "sync", name, "--platform", "euw1", "--json")
	}
	if _, err := os.Stat(filepath.Join(s.dir, "state.db")); err == nil {
		t.Error("there is a state.db beside the schema")
	}
	s.sound()
	s.wantNowhere(canaryTail)

	s.run(exitDone, "sync", stays, "--platform", "euw1", "--force", "--json")
	engine := s.command("serve").start(t)
	engine.says("ready: process")
	elsewhere := s
	elsewhere.dir = freshDir(t)
	if r := elsewhere.run(exitDone, "sync", stays, "--platform", "euw1"); !strings.Contains(r.stdout, "nothing to do for another") {
		t.Errorf("a sync beside the engine: %q", r.stdout)
	}
	if r := s.run(exitHeld, "serve"); !strings.Contains(r.stderr, "`farsight attach` opens a console on it") {
		t.Errorf("two members with one data directory: %q", r.stderr)
	}
	if r := elsewhere.run(exitHeld, "prune"); !strings.Contains(r.stderr, ": give the command where a member runs, with its data directory") {
		t.Errorf("what only who leads does, from elsewhere: %q", r.stderr)
	}
	if r := elsewhere.run(exitDone, "accounts", "--json"); strings.Count(r.stdout, `"riot_id"`) != 2 {
		t.Errorf("a list beside the engine: %s", r.stdout)
	}
	ids := map[string]bool{}
	for line := range strings.Lines(elsewhere.run(exitDone, "export", "matches", "--payload").stdout) {
		var e exportLine
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Status != "success" || len(e.Payload) < 100 {
			t.Errorf("line %q: %v", tail(line, 200), err)
		}
		ids[e.ID] = true
	}
	if len(ids) != 11 {
		t.Errorf("%d matches exported, want 11", len(ids))
	}
	if r := elsewhere.run(exitDone, "doctor"); !strings.Contains(r.stdout, " has led for ") {
		t.Errorf("doctor beside the engine: %s", r.stdout)
	}
	_ = engine.cmd.Process.Signal(os.Interrupt)
	engine.wait().wants(t, exitDone)

	s.sound()
	if did := s.run(exitDone, "prune").stdout; !strings.HasPrefix(did, "0 completed") { // nothing is old enough
		t.Errorf("prune said %q", did)
	}
	s.sound()
	s.run(exitDone, "forget", gone, "--yes")
	s.sound()
	s.wantNowhere("Gone", "fs_payload")
	if left := sql(t, s.at, "select count(*)::text from fs_payload"); left[0] != "10" {
		t.Errorf("%s payloads are left, want 10", left[0])
	}
	for command, how := range map[string]string{"backup": "pg_dump", "restore": "pg_restore", "compact": "vacuumdb", "reset": "drop schema"} {
		if r := s.run(exitFailed, command); !strings.Contains(r.stderr, how) {
			t.Errorf("%s says %q", command, r.stderr)
		}
	}
}

// The demo on a PostgreSQL makes a schema of its own and removes it; what is in the schema that is
// named stays as it is.
func TestPostgres_TheDemo(t *testing.T) {
	longest(t)
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	at := pgtest.Schema(t)
	schemas := func() string {
		return strings.Join(sql(t, at, "select nspname::text from pg_namespace where nspname like current_setting('search_path')||'%'"), " ")
	}
	demo := command{args: []string{"demo", "--headless", "--speed", "50", "--store", at}, env: map[string]string{"TMPDIR": t.TempDir()}}
	for range 2 { // the second finds what the first has left
		p := demo.start(t)
		p.until("a schema", func() bool { return schemas() != "" })
		p.kill()
	}
	if r := demo.run(t).wants(t, exitDone); !strings.Contains(r.stdout, " 0 violations") {
		t.Errorf("the demo said %s", tail(r.stdout, 300))
	}
	if left := schemas(); left != "" {
		t.Errorf("it has left %s", left)
	}
}

// Three demos share a schema: the chaos panel kills the one that leads, kill -9 its successor, and
// the third one goes on: in a long run to the end of all syncs. The simulator, which the first one
// keeps, has counted all calls.
func TestPostgres_DemosAreMembers(t *testing.T) {
	longest(t)
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	at := pgtest.Own(t).URL
	schema := at + "&search_path=farsight_demo"
	if !strings.Contains(at, "?") {
		schema = at + "?search_path=farsight_demo"
	}
	tmp := t.TempDir()
	start := func(flags ...string) (*child, io.Writer) {
		c := command{args: append([]string{"demo", "--plain", "--speed", "10", "--store", at}, flags...), env: map[string]string{"TMPDIR": tmp}}
		var in io.Writer
		c.as = func(cmd *exec.Cmd) {
			var err error
			if in, err = cmd.StdinPipe(); err != nil {
				t.Fatal(err)
			}
		}
		return c.start(t), in
	}
	members, inputs := map[string]*child{}, map[string]io.Writer{}
	// leader is the id of a member that leads, other than one that has: the process, and which of its starts.
	leader := func(p *child, but string) (id string) {
		p.until("another leader", func() bool {
			holder := sql(t, schema, "select holder from fs_fleet where expires > clock_timestamp() and holder <> ''")
			id = strings.Join(holder, "")
			return id != "" && id != but
		})
		return id
	}
	pid := func(member string) string {
		number, _, _ := strings.Cut(member, "-")
		return number
	}
	stored := func(p *child) (n int) {
		p.until("more matches", func() bool {
			have := sql(t, schema, "select count(*)::text from matches where status = 'success'")
			n, _ = strconv.Atoi(have[0])
			return n > 0
		})
		return n
	}
	ended := func() bool {
		return sql(t, schema, "select count(*)::text from accounts where status in ('completed', 'incomplete') and split_part(riot_id, '#', 1) in ('Night Heron', '달빛 여우', 'Quick Match')")[0] == "3"
	}
	more := func(p *child) {
		before := stored(p)
		p.until("what the next one stores", func() bool { return stored(p) > before+20 || ended() })
	}
	first, in := start()
	first.says("help lists them")
	for n := range 2 {
		p, in := start()
		id := strconv.Itoa(p.cmd.Process.Pid)
		members[id], inputs[id] = p, in
		p.until("another member", func() bool { return sql(t, schema, "select count(*)::text from fs_member")[0] == strconv.Itoa(n+2) })
	}
	killed := strconv.Itoa(first.cmd.Process.Pid)
	id := leader(first, "")
	for pid(id) != killed { // the first stood still for 3 s meanwhile
		_, _ = io.WriteString(inputs[pid(id)], "chaos kill this member\n")
		id = leader(first, id)
	}
	stored(first)
	for pid(id) == killed { // again, where the others stood still until it was back
		_, _ = io.WriteString(in, "chaos kill this member\n")
		id = leader(first, id)
	}
	more(first)
	next := pid(id)
	members[next].kill()
	delete(members, next)
	leader(first, id)
	more(first)
	if scratch.Whole {
		first.until("the end of all syncs", ended)
		first.until("that no match is open, of who came later either", func() bool {
			return sql(t, schema, "select count(*)::text from matches where status not in ('success', 'permanently_unfetchable')")[0] == "0"
		})
	}
	var w struct{ Addr string }
	if err := json.Unmarshal([]byte(sql(t, schema, "select convert_from(note, 'UTF8') from fs_store")[0]), &w); err != nil {
		t.Fatal(err)
	}
	res, err := http.Get("http://" + w.Addr + "/sim/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var st sim.Stats
	if err := json.NewDecoder(res.Body).Decode(&st); err != nil || st.Violations != 0 || st.Calls == 0 {
		t.Errorf("%d violations in %d calls, %v", st.Violations, st.Calls, err)
	}
	members[killed] = first
	for _, p := range members {
		_ = p.cmd.Process.Signal(os.Interrupt)
		p.wait()
	}
	if left := sql(t, at, "select nspname::text from pg_namespace where nspname = 'farsight_demo'"); len(left) != 0 {
		t.Error("the last one has left the schema")
	}
}

// An address that is no use is one sentence, and a password in it is told nobody.
func TestPostgres_BadAddresses(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	for at, c := range map[string]struct {
		code int
		says string
	}{
		"postgres://u:hunter2@h/d": {exitUsage, "PGPASSFILE"},
		"tomorrow":                 {exitUsage, "postgres://user@host/database"},
		"postgres://u@127.0.0.1:1/d?connect_timeout=2&sslmode=disable": {exitFailed, "cannot be reached"},
	} {
		r := command{args: []string{"serve", "--data-dir", dir, "--store", at}}.run(t).wants(t, c.code)
		if !strings.Contains(r.stderr, c.says) || strings.Count(strings.TrimSpace(r.stderr), "\n") > 0 || strings.Contains(r.stderr+r.stdout, "hunter2") {
			t.Errorf("%s: %q", at, r.stderr)
		}
	}
}
