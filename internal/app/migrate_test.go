package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
)

// inTheWay lets nobody at a table until let go is called; waits reports whether somebody
// waits for it.
func inTheWay(t *testing.T, at, table string) (waits func() bool, letGo func()) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "begin; lock table "+table+" in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	waits = func() bool {
		return sql(t, at, "select count(*)::text from pg_locks where not granted and relation = $1::regclass", table)[0] != "0"
	}
	return waits, func() { _ = c.Close(ctx) }
}

// killedOften kills a command at random instants, until it has ended by itself, and runs it to its end.
func killedOften(t *testing.T, c command, times int) result {
	t.Helper()
	for n := range times {
		p := c.start(t)
		select {
		case <-p.exited:
			return p.wait()
		case <-time.After(time.Duration(n+1) * 40 * time.Millisecond * time.Duration(1+rand.IntN(3)) / 2):
			p.kill()
		}
	}
	return c.asked(t)
}

// A directory moves into a PostgreSQL and back although it is killed again and again on the way: what is exported,
// cursors included, is the same at both ends, and sound, and what was left is closed to engines.
func TestPostgres_ADirectoryMovesAndComesBack(t *testing.T) {
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	// In full more rows than one transaction goes through; the kills fall within the first third of a second anyway.
	at, accounts, n := pgtest.Schema(t), scratch.Sized(2, 4), scratch.Sized(20, 600)
	var players []sim.PlayerSpec
	for i := range accounts {
		players = append(players, player(fmt.Sprintf("Mover %d#EUW", i), n))
	}
	first := players[0].RiotID
	s := inSchema{t: t, sim: startSim(t, quick(players...)), dir: freshDir(t)}
	for _, p := range players {
		s.run(exitDone, "sync", p.RiotID, "--platform", "euw1", "--json")
	}
	s.run(exitDone, "compact") // packs what came of closed months
	all := func(s inSchema) (said string) {
		t.Helper()
		for _, args := range [][]string{{"export", "matches", "--payload"}, {"accounts", "--json"}, {"jobs", "--all", "--json"}, {"audit", "--json"}} {
			said += s.run(exitDone, args...).stdout
		}
		return said
	}
	same := func(where, before, after string) {
		t.Helper()
		if before != after {
			t.Errorf("%s: %d bytes were told before, %d after, and they differ", where, len(before), len(after))
		}
	}
	closed := func(s inSchema, says string) {
		t.Helper()
		for _, args := range [][]string{{"serve"}, {"accounts"}, {"sync", first, "--platform", "euw1"}} {
			if r := s.run(exitFailed, args...); !strings.Contains(r.stderr, says) || strings.Count(strings.TrimSpace(r.stderr), "\n") > 0 {
				t.Errorf("%s of what has moved: %q", args[0], r.stderr)
			}
		}
	}
	moves := func(r result) {
		t.Helper()
		if r.code != exitDone && strings.Contains(r.stderr, "was moved to") { // it was killed when all was done
			return
		}
		if r.wants(t, exitDone); !strings.Contains(r.stdout, "payloads") || !strings.Contains(r.stdout, "is the same") {
			t.Errorf("it said %q", r.stdout)
		}
	}

	before := all(s)
	migrate := s.command("migrate", "--to", at)
	named := s
	named.at = at // as it will be afterwards
	if r := named.run(exitDone, "migrate", "--to", at, "--dry-run"); !strings.Contains(r.stdout, "nothing was changed") {
		t.Errorf("the trial said %q", r.stdout)
	}
	if len(sql(t, at, "select nspname::text from pg_namespace where nspname = current_schema() and to_regclass('fs_store') is not null")) > 0 {
		t.Error("the trial made the schema's tables")
	}
	same("after the trial", before, all(s))
	empty, err := pg.Open(t.Context(), pg.Options{URL: at}) // its tables, to stand in the way
	if err != nil {
		t.Fatal(err)
	}
	_ = empty.Close()
	there := inSchema{t, s.sim, at, freshDir(t)}
	for _, table := range []string{"fs_number", "fs_payload"} {
		waits, letGo := inTheWay(t, at, table)
		p := migrate.start(t)
		p.until("it waits for "+table, waits)
		p.kill()
		letGo()
		closed(there, "has not got all that is stored in "+s.dir)
	}
	moves(killedOften(t, migrate, scratch.Sized(2, 6)))
	closed(s, "was moved to schema t")
	there.sound()
	there.wantNowhere(canaryTail)
	same("in the schema", before, all(there))

	there.run(exitDone, "sync", first, "--platform", "euw1", "--force", "--json")
	there.sound()
	before = all(there)
	back := inSchema{t: t, sim: s.sim, dir: freshDir(t)}
	migrate = there.command("migrate", "--to", back.dir)
	if r := there.run(exitDone, "migrate", "--to", back.dir, "--dry-run"); !strings.Contains(r.stdout, "nothing was changed") {
		t.Errorf("the trial back said %q", r.stdout)
	}
	if waits, letGo := inTheWay(t, at, "fs_payload"); true {
		p := migrate.start(t)
		p.until("it waits for payloads", waits)
		p.kill()
		letGo()
	}
	same("in between", before, all(there))
	moves(killedOften(t, migrate, scratch.Sized(2, 6)))
	closed(there, "was moved to "+back.dir)
	if left, _ := filepath.Glob(back.dir + ".*"); len(left) > 0 {
		t.Errorf("%q were left", left)
	}
	back.sound()
	same("back in a directory", before, all(back))
	back.run(exitDone, "sync", first, "--platform", "euw1", "--force", "--json")
	back.sound()
}

// Killed between its last two steps each way, a move is ended by the same command.
func TestPostgres_AMoveThatLacksItsLastStep(t *testing.T) {
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	at := pgtest.Schema(t)
	s := inSchema{t: t, sim: startSim(t, quick(player("Late#EUW", 3))), dir: freshDir(t)}
	s.run(exitDone, "sync", "Late#EUW", "--platform", "euw1")
	closed := "select closed from fs_store"
	s.run(exitDone, "migrate", "--to", at)
	there := inSchema{t, s.sim, at, freshDir(t)}
	if said := sql(t, at, closed)[0]; said != "" {
		t.Fatalf("the schema is closed: %q", said)
	}
	// The directory has its mark, and the schema is not open yet.
	_ = sql(t, at, "update fs_store set seq = 0, closed = $1 || E'\\n' || instance returning closed",
		"has not got all that is stored in "+s.dir+" yet\nlet `farsight migrate` of that end, or drop the schema")
	s.run(exitFailed, "accounts")
	there.run(exitFailed, "accounts")
	s.run(exitDone, "migrate", "--to", at)
	there.sound()

	to := filepath.Join(filepath.Dir(freshDir(t)), "back")
	there.run(exitDone, "migrate", "--to", to)
	if err := os.Rename(to, to+halfDone); err != nil {
		t.Fatal(err)
	}
	there.run(exitDone, "migrate", "--to", to)
	back := inSchema{t: t, sim: s.sim, dir: to}
	back.sound()
	// A second time there is nothing to be done, and a sentence that says where everything is.
	for _, r := range []result{there.run(exitFailed, "migrate", "--to", to), s.run(exitFailed, "migrate", "--to", at)} {
		if !strings.Contains(r.stderr, "was moved to ") {
			t.Errorf("a second time: %q", r.stderr)
		}
	}
}

// What an earlier try has copied and is no more in the source does not come along.
func TestPostgres_AMoveForgetsWhatWasForgotten(t *testing.T) {
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	at := pgtest.Schema(t)
	s := inSchema{t: t, sim: startSim(t, quick(player("Stays#EUW", 4), player("Goes#EUW", 4))), dir: freshDir(t)}
	for _, name := range []string{"Stays#EUW", "Goes#EUW"} {
		s.run(exitDone, "sync", name, "--platform", "euw1")
	}
	empty, err := pg.Open(t.Context(), pg.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	_ = empty.Close()
	// It has copied the rows and the payloads, and is killed when it would say so.
	halfway := func(c command, table string, done func() bool) {
		t.Helper()
		for {
			p := c.start(t)
			p.until("it has copied", done)
			if r := p.kill(); r.code != exitDone {
				return
			}
			t.Fatalf("it was too fast to be killed before %s", table)
		}
	}
	waits, letGo := inTheWay(t, at, "fs_payload")
	halfway(s.command("migrate", "--to", at), "fs_payload", waits)
	letGo()
	const one = "insert into fs_payload (match, part, month, codec, size, raw_len, crc, body) values ('EUW1_1', 'match', '2026-11', 'gzip', 1, 1, 1, '') returning match"
	_ = sql(t, at, one)
	s.run(exitDone, "forget", "Goes#EUW", "--platform", "euw1", "--yes")
	s.run(exitDone, "migrate", "--to", at)
	there := inSchema{t, s.sim, at, freshDir(t)}
	there.sound()
	there.wantNowhere("Goes")
	if n := sql(t, at, "select count(*)::text from fs_payload where match = 'EUW1_1'"); n[0] != "0" {
		t.Error("a payload that the directory has not was left in the schema")
	}
}

// What stands in the way of a move is one sentence.
func TestPostgres_WhatCannotMove(t *testing.T) {
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	at, dir := pgtest.Schema(t), freshDir(t)
	full := freshDir(t)
	s := inSchema{t: t, sim: startSim(t, quick(player("One#EUW", 3))), dir: full}
	s.run(exitDone, "sync", "One#EUW", "--platform", "euw1")
	there := inSchema{t, s.sim, at, freshDir(t)}
	there.run(exitDone, "sync", "One#EUW", "--platform", "euw1")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "--to is missing", nil},
		{exitUsage, "which --store names; else write --to postgres://", []string{"--to", "tomorrow"}},
		{exitUsage, "PGPASSFILE", []string{"--to", "postgres://u:hunter2@h/d"}},
		{exitFailed, "nothing is stored in", []string{"--to", at, "--data-dir", dir}},
		{exitFailed, "cannot be reached", []string{"--to", "postgres://u@127.0.0.1:1/d?connect_timeout=2&sslmode=disable"}},
		{exitFailed, "has what Farsight has stored there: name an empty one", []string{"--to", at}},
		{exitFailed, "has what Farsight has stored there: name an empty one", []string{"--to", at, "--dry-run"}},
		{exitFailed, "is kept by PostgreSQL", []string{"--to", "postgres://u@127.0.0.1:1/d", "--store", at}},
		{exitFailed, "is there, and not empty: name a directory that is not there", []string{"--to", full, "--store", at}},
		{exitFailed, "nothing is stored in schema nowhere", []string{"--to", dir, "--store", at + "&search_path=nowhere"}},
	} {
		args := append([]string{"migrate"}, c.args...)
		if !slices.Contains(args, "--data-dir") {
			args = append(args, "--data-dir", full)
		}
		r := command{args: args, env: s.sim.env()}.asked(t).wants(t, c.code)
		if !strings.Contains(r.stderr, c.says) || strings.Count(strings.TrimSpace(r.stderr), "\n") > 0 || strings.Contains(r.stderr+r.stdout, "hunter2") {
			t.Errorf("%q: %q", c.args, r.stderr)
		}
	}
	engine := s.command("serve").start(t)
	engine.says("ready: process")
	if r := s.run(exitHeld, "migrate", "--to", at); !strings.Contains(r.stderr, "`farsight migrate` needs it for itself") {
		t.Errorf("beside an engine: %q", r.stderr)
	}
	engine.kill()
	engine = there.command("serve").start(t)
	engine.until("it leads", func() bool { return there.leads() == engine.cmd.Process.Pid }) // before it does, a move may
	beside := inSchema{t, s.sim, at, freshDir(t)}
	if r := beside.run(exitHeld, "migrate", "--to", dir); !strings.Contains(r.stderr, fmt.Sprintf("is held by process %d", engine.cmd.Process.Pid)) ||
		!strings.Contains(r.stderr, "end all its engines") {
		t.Errorf("beside a member: %q", r.stderr)
	}
	engine.kill()
}

// One that waits to lead does not lead a schema that was moved while it waited. Not beside other tests: their process
// keeps the server's clock.
func TestPostgres_NobodyLeadsWhatHasMoved(t *testing.T) {
	farsight(t) // where no program is started, no server need be
	at := pgtest.Schema(t)
	s := inSchema{t, startSim(t, quick(player("One#EUW", 1))), at, freshDir(t)}
	s.run(exitDone, "sync", "One#EUW", "--platform", "euw1")
	waits, err := pg.Open(t.Context(), pg.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	defer waits.Close()
	s.run(exitDone, "migrate", "--to", filepath.Join(filepath.Dir(s.dir), "moved"))
	_, _, err = fleet.Take(t.Context(), waits, fleet.Options{ID: "1-later", Host: "here", Version: "test"})
	if err == nil || !strings.Contains(err.Error(), "was moved to") || errors.Is(err, context.Canceled) {
		t.Errorf("it leads: %v", err)
	}
}
