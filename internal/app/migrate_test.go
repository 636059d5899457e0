package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
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

// matchesOf exports all matches with their payloads, in their order, without the cursors of the store.
func matchesOf(t *testing.T, c command) (lines []string) {
	t.Helper()
	for line := range strings.Lines(c.run(t).wants(t, exitDone).stdout) {
		before, rest, _ := strings.Cut(line, `"cursor":"`)
		_, after, _ := strings.Cut(rest, `"`)
		lines = append(lines, before+after)
	}
	return lines
}

// A directory moves into a PostgreSQL although it is killed twice on the way: there is the same as
// before, sound, and it goes on. The directory is closed to engines then.
func TestPostgres_ADirectoryMoves(t *testing.T) {
	longest(t)
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	at, accounts, n := pgtest.Schema(t), scratch.Sized(2, 8), scratch.Sized(100, 1000)
	var players []sim.PlayerSpec
	for i := range accounts {
		players = append(players, player(fmt.Sprintf("Mover %d#EUW", i), n))
	}
	first := players[0].RiotID
	s := inSchema{t: t, sim: startSim(t, quick(players...)), dir: freshDir(t)}
	for _, p := range players {
		name := p.RiotID
		s.run(exitDone, "sync", name, "--platform", "euw1", "--json")
	}
	export := []string{"export", "matches", "--payload"}
	before := matchesOf(t, s.command(export...))
	counts := s.run(exitDone, "accounts", "--json").stdout
	migrate := s.command("migrate", "--to", at)
	named := s
	named.at = at // as it will be afterwards
	if r := named.run(exitDone, "migrate", "--to", at, "--dry-run"); !strings.Contains(r.stdout, "nothing was changed") {
		t.Errorf("the trial said %q", r.stdout)
	}
	empty, err := pg.Open(t.Context(), pg.Options{URL: at}) // its tables, to stand in the way
	if err != nil {
		t.Fatal(err)
	}
	_ = empty.Close()
	for _, table := range []string{"fs_seat", "fs_payload"} {
		waits, letGo := inTheWay(t, at, table)
		p := migrate.start(t)
		p.until("it waits for "+table, waits)
		p.kill()
		letGo()
		if r := (inSchema{t, s.sim, at, freshDir(t)}).run(exitFailed, "accounts"); !strings.Contains(r.stderr, "has not got all that is stored in "+s.dir) {
			t.Errorf("half way: %q", r.stderr)
		}
	}
	if r := migrate.run(t).wants(t, exitDone); !strings.Contains(r.stdout, human.Counted(2*accounts*n, "payload", "payloads")) || !strings.Contains(r.stdout, "is the same") {
		t.Errorf("it said %q", r.stdout)
	}
	for _, args := range [][]string{{"serve"}, {"accounts"}, {"sync", first, "--platform", "euw1"}} {
		if r := s.run(exitFailed, args...); !strings.Contains(r.stderr, "was moved to schema t") || strings.Count(strings.TrimSpace(r.stderr), "\n") > 0 {
			t.Errorf("%s of the directory: %q", args[0], r.stderr)
		}
	}
	there := inSchema{t, s.sim, at, freshDir(t)}
	there.sound()
	there.wantNowhere(canaryTail)
	if after := matchesOf(t, there.command(export...)); !slices.Equal(before, after) {
		t.Errorf("%d matches were exported before, %d after, and they differ", len(before), len(after))
	}
	if after := there.run(exitDone, "accounts", "--json").stdout; after != counts {
		t.Errorf("accounts before:\n%safter:\n%s", counts, after)
	}
	there.run(exitDone, "sync", first, "--platform", "euw1", "--force", "--json")
	there.sound()
}

// What stands in the way of a move is one sentence.
func TestPostgres_WhatCannotMove(t *testing.T) {
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	at, dir := pgtest.Schema(t), freshDir(t)
	used, err := pg.Open(t.Context(), pg.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	if err := used.SaveState(t.Context(), "limiter", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	_ = used.Close()
	full := freshDir(t)
	s := inSchema{t: t, sim: startSim(t, quick(player("One#EUW", 3))), dir: full}
	s.run(exitDone, "sync", "One#EUW", "--platform", "euw1")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "--to is missing", nil},
		{exitUsage, "write postgres://user@host/database", []string{"--to", "tomorrow"}},
		{exitUsage, "PGPASSFILE", []string{"--to", "postgres://u:hunter2@h/d"}},
		{exitFailed, "nothing is stored in", []string{"--to", at, "--data-dir", dir}},
		{exitFailed, "cannot be reached", []string{"--to", "postgres://u@127.0.0.1:1/d?connect_timeout=2&sslmode=disable"}},
		{exitFailed, "has what Farsight has stored there: name an empty one", []string{"--to", at}},
		{exitFailed, "is kept by PostgreSQL", []string{"--to", "postgres://u@127.0.0.1:1/d", "--store", at}},
	} {
		args := append([]string{"migrate"}, c.args...)
		if !slices.Contains(args, "--data-dir") {
			args = append(args, "--data-dir", full)
		}
		r := command{args: args, env: s.sim.env()}.run(t).wants(t, c.code)
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
}
