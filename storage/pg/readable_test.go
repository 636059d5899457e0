package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/storage"
)

// columnsFit wants the rows of each table to have its columns: one that nobody writes, or a value without one, would be null
// without a word.
func columnsFit(t *testing.T, db *DB) {
	t.Helper()
	_, err := db.Log().Rows(t.Context(), func(s storage.Step) error {
		table, rows := storage.Readable(s)
		var names []string
		if table != "" {
			must(t, db.pool.QueryRow(t.Context(), "select array_agg(column_name::text) from information_schema.columns where table_schema = current_schema() and table_name = $1", table).Scan(&names))
		}
		slices.Sort(names)
		for _, row := range rows {
			if have := slices.Sorted(maps.Keys(row)); !slices.Equal(have, names) {
				t.Errorf("%s has columns\n%v, rows have\n%v", table, names, have)
			}
		}
		return nil
	})
	must(t, err)
}

// rowsOf gives a query's rows as text.
func rowsOf(t *testing.T, c *pgx.Conn, sql string) (rows []string) {
	t.Helper()
	found, err := c.Query(t.Context(), sql)
	must(t, err)
	rows, err = pgx.CollectRows(found, pgx.RowTo[string])
	must(t, err)
	return rows
}

// viewColumns are what programs of others go by. Those of exports follow, see docs/data.md.
const viewColumns = `accounts: account_id text, riot_id text, platform text, tracked boolean, tags json, policy json, status text, run_id text, created timestamp with time zone, updated timestamp with time zone, last_sync timestamp with time zone, last_error text
attempts: job_id text, owner text, kind text, number integer, round integer, try integer, phase integer, started timestamp with time zone, ended timestamp with time zone, verb text, hold text, class text, error text, status integer, queued interval, paced interval, limiter interval, http interval, next timestamp with time zone, decision text
calls: job_id text, owner text, kind text, started timestamp with time zone, ended timestamp with time zone, status integer, class text, error text, queued interval, paced interval, limiter interval, http interval
jobs: id text, kind text, queue text, key text, owner text, state text, hold text, due timestamp with time zone, priority smallint, phase integer, round integer, tries integer, attempts integer, holds integer, args json, class text, last_error text, by text, bytes bigint, created timestamp with time zone, started timestamp with time zone, finished timestamp with time zone
matches: match_id text, status text, attempts integer, played timestamp with time zone, duration interval, queue_id integer, mode text, patch text, participants integer, remake boolean, aborted boolean, fetched_at timestamp with time zone, last_attempt_at timestamp with time zone, last_error text, last_class text, timeline_status text, listed timestamp with time zone, codec text, bytes bigint, raw_bytes bigint, payload bytea, json json
participants: match_id text, index integer, puuid text, riot_id text, account_id text, champion text, team integer, won boolean, kills integer, deaths integer, assists integer, played timestamp with time zone, queue_id integer, mode text
players: account_id text, riot_id text, platform text, puuid text, collection text, found_at timestamp with time zone
ranks: account_id text, queue text, at timestamp with time zone, unranked boolean, tier text, division text, points integer, wins integer, losses integer
reports: account_id text, report json
runs: run_id text, account_id text, job_id text, mode text, timelines_wanted text, phase text, result text, error text, listed integer, had integer, lost integer, too_old integer, matches integer, matches_stored integer, timelines integer, timelines_stored integer, calls integer, rate_limited integer, triggered timestamp with time zone, started timestamp with time zone, finished timestamp with time zone, by text
timelines: match_id text, status text, attempts integer, played timestamp with time zone, fetched_at timestamp with time zone, last_attempt_at timestamp with time zone, last_error text, last_class text, codec text, bytes bigint, raw_bytes bigint, payload bytea`

// withTold adds the columns of exports to those of each view that they lack.
func withTold(views string) string {
	lines := strings.Split(views, "\n")
	for i, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		for _, t := range columns.Tables {
			for _, c := range t.Columns {
				if t.Name == name && !strings.Contains(line, " "+c.Name+" ") {
					lines[i] += ", " + c.Name + " " + strings.NewReplacer("timestamptz", "timestamp with time zone", "integer[]", "ARRAY").Replace(typeOf[c.Type])
				}
			}
		}
	}
	return strings.Join(lines, "\n")
}

// The views show what is in the rows of a log, by names and types that stay, and nothing of what was forgotten.
func TestViewsShowTheRowsOfALog(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	server := open(t, at)
	c, err := pgx.Connect(t.Context(), at)
	must(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	if have := strings.Join(rowsOf(t, c, `select table_name||': '||string_agg(column_name||' '||data_type, ', ' order by ordinal_position)
		from information_schema.columns join information_schema.views using (table_schema, table_name)
		where table_schema = current_schema() group by table_name order by table_name`), "\n"); have != withTold(viewColumns) {
		t.Errorf("the views have\n%s, want\n%s", have, withTold(viewColumns))
	}

	db, shown := leading(t, server)
	noon, bad := time.Date(2026, 11, 21, 12, 0, 0, 1e6, time.UTC), "Fa\x00ker\xff"
	must(t, db.Write(t.Context(), func(tx engine.Tx) error {
		out, err := tx.Enqueue(engine.Spec{Kind: "account.sync", Queue: "q", Owner: "01A", Args: json.RawMessage(`{"z":"\u0000","a":1}`)}, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "dead"})
		if err != nil {
			return err
		}
		sync, _ := db.Job(tx, out[0].ID)
		sync.Rev++
		sync.State, sync.Due, sync.Class, sync.LastError = engine.Scheduled, noon, "5xx", bad
		dead, err := db.Job(tx, out[1].ID)
		dead.Rev++
		dead.State, dead.Finished, dead.Class, dead.LastError = engine.Discarded, noon, "503", "503 Service Unavailable"
		m := league.Match{ID: "KR_1", Played: noon, Duration: 31 * time.Minute, QueueID: 420, Mode: "CLASSIC", Patch: "16.1", Participants: 2, Listed: noon}
		return errors.Join(err,
			db.SaveAccount(tx, league.Account{ID: "01A", GameName: bad, TagLine: "KR1", Platform: "kr", Tracked: true, Run: "R1", Status: "completed", Created: noon, PUUIDs: map[string]string{"dev": "p0", "prod": "p9"}}),
			db.SaveRun(tx, league.Run{ID: "R1", Account: "01A", Job: string(sync.ID), Ask: league.Ask{Mode: "full"}, Triggered: noon}),
			db.SaveCollection(tx, engine.Collection{ID: "01C", CollectAsk: engine.CollectAsk{Name: "kr"}}),
			db.SaveAccount(tx, league.Account{ID: "01P", Collection: "01C", Platform: "kr", Created: noon, PUUIDs: map[string]string{"dev": "p2"}}),
			db.SaveRun(tx, league.Run{ID: "R2", Account: "01P", Triggered: noon}), // of a player of a collection
			db.SaveJob(tx, sync), db.SaveJob(tx, dead),
			db.AddAttempt(tx, dead.ID, engine.Attempt{Number: 1, Start: noon, End: noon, Verb: engine.VerbRetry, Status: 503, HTTP: time.Second}),
			db.AddAttempt(tx, sync.ID, engine.Attempt{Start: noon, End: noon, Verb: engine.VerbSnooze, Hold: engine.HoldOutage}),
			db.AddAttempt(tx, sync.ID, engine.Attempt{Number: 1, Start: noon, End: noon, Status: 200, HTTP: time.Millisecond}),
			db.SaveRank(tx, league.Rank{Account: "01A", Queue: league.RankedSolo, At: noon, Tier: "GOLD", Division: "II", Points: 40}),
			db.SaveReport(tx, engine.PlayReport{Account: "01A", Zone: bad, Built: noon}),
			db.SaveMatch(tx, m, false),
			db.SaveParticipants(tx, m.ID, []league.Participant{
				{PUUID: "p0", RiotID: bad, Champion: "Ahri", Team: 100, Won: true}, {Index: 1, PUUID: "p1", Champion: "Annie", Team: 200},
			}))
	}))
	must(t, db.Write(t.Context(), func(tx engine.Tx) error { // the rows of a group move
		_, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Parents: []engine.GroupID{{Parent: "a1", Group: 1}, {Parent: "a1", Group: 2}}})
		if err == nil {
			_, err = db.Mark(tx, "a3", engine.MarkDone, 2, 1)
		}
		return err
	}))
	shown()
	columnsFit(t, server)
	for sql, want := range map[string]string{
		"select account_id||riot_id||status||run_id||created from accounts":                                                            "01AFa\uFFFDker\uFFFD#KR1completedR12026-11-21 12:00:00.001+00",
		"select tags||' '||(policy->>'Queues' is null) from accounts":                                                                  "[] true",
		"select job_id||matches||matches_stored||timelines||timelines_stored||' '||calls||rate_limited from runs":                      "a11111 52",
		"select concat_ws(' ', id, kind, owner, state, args, class, last_error, due) from jobs where id = 'a1'":                        "a1 account.sync 01A scheduled {\"z\":\"\uFFFD\",\"a\":1} 5xx Fa\uFFFDker\uFFFD 2026-11-21 12:00:00.001+00",
		"select concat_ws(' ', id, kind, key, state, class, last_error, finished) from jobs where state = 'discarded'":                 "a2 match.fetch dead discarded 503 503 Service Unavailable 2026-11-21 12:00:00.001+00",
		"select string_agg(concat_ws(' ', job_id, owner, kind, number, verb, hold, http), ', ' order by job_id, number) from attempts": "a1 01A account.sync 0 snooze outage 00:00:00, a1 01A account.sync 1 done 00:00:00.001, a2  match.fetch 1 retry 00:00:01",
		"select count(*)::text from calls": "2",
		"select concat_ws(' ', match_id, status, timeline_status, duration, played) from matches":                                              "KR_1 unfetched unfetched 00:31:00 2026-11-21 12:00:00.001+00",
		"select concat_ws(' ', match_id, status, attempts) from timelines":                                                                     "KR_1 unfetched 0",
		"select string_agg(concat_ws(' ', match_id, index, puuid, riot_id, account_id, won, queue_id), ', ' order by index) from participants": "KR_1 0 p0 Fa\uFFFDker\uFFFD 01A t 420, KR_1 1 p1  f 420",
		"select concat_ws(' ', account_id, queue, at, tier, points) from ranks":                                                                "01A RANKED_SOLO_5x5 2026-11-21 12:00:00.001+00 GOLD 40",
		"select concat_ws(' ', account_id, riot_id, platform, puuid, collection, found_at) from players":                                       "01P kr p2 kr 2026-11-21 12:00:00.001+00",
		"select account_id||(report->>'zone') from reports":                                                                                    "01AFa\uFFFDker\uFFFD",
	} {
		if rows := rowsOf(t, c, sql); len(rows) != 1 || rows[0] != want {
			t.Errorf("%s:\n%q, want %q", sql, rows, want)
		}
	}
	if _, err := c.Exec(t.Context(), "set role farsight_reader"); err == nil {
		_, err := c.Exec(t.Context(), "select from fs_match")
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" {
			t.Errorf("a reader reads a table: %v", err)
		}
		for _, view := range strings.Split(viewColumns, "\n") {
			name, _, _ := strings.Cut(view, ":")
			if n := rowsOf(t, c, "select count(*)::text from "+name); n[0] == "0" {
				t.Errorf("a reader finds no %s", name)
			}
		}
		_, err = c.Exec(t.Context(), "reset role")
		must(t, err)
	}

	must(t, db.Write(t.Context(), func(tx engine.Tx) error { // of a live job nothing is forgotten
		sync, err := db.Job(tx, "a1")
		sync.Rev++
		sync.State, sync.Finished = engine.Cancelled, noon
		return errors.Join(err, db.SaveJob(tx, sync))
	}))
	_, _, err = db.Forget(t.Context(), "01A", engine.Actor{}, "", 0)
	must(t, err)
	shown()
	for _, table := range append(storage.ReadableTables(), "fs_row", "fs_log") {
		for _, trace := range []string{"01A", "R1", "p0", "ker", fmt.Sprintf("%x", "01A")} {
			if n := rowsOf(t, c, fmt.Sprintf("select r::text from %s r where r::text like '%%%s%%'", table, trace)); len(n) > 0 {
				t.Errorf("%s of one that was forgotten: %q", table, n)
			}
		}
	}
}
