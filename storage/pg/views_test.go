package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/pgtest"
)

// aReader opens a connection that is a reader's, and nothing else.
func aReader(t *testing.T, at string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at)
	must(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	_, err = c.Exec(t.Context(), "set role farsight_reader")
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "22023" {
		t.Skip("the role of this server may not make roles")
	}
	must(t, err)
	return c
}

// aLittleOfEverything stores an account with a run, matches, ranks and calls.
func aLittleOfEverything(t *testing.T, server *DB) {
	db, shown := leading(t, server)
	now := time.Now()
	must(t, db.Write(t.Context(), func(tx engine.Tx) error {
		account := league.Account{ID: "01A", GameName: "Faker", TagLine: "KR1", Platform: "kr", Run: "R1", Status: "completed", Created: now, PUUIDs: map[string]string{"dev": "p0"}}
		out, err := tx.Enqueue(engine.Spec{Kind: "account.sync", Queue: "q", Owner: "01A"}, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "dead"})
		if err != nil {
			return err
		}
		run := league.Run{ID: "R1", Account: "01A", Job: string(out[0].ID), Ask: league.Ask{Mode: "full"}, Triggered: now, Finished: now}
		dead, err := db.Job(tx, out[1].ID)
		dead.Rev++
		dead.State, dead.Finished, dead.Class, dead.LastError = engine.Discarded, now, "503", "503 Service Unavailable"
		errs := []error{
			err, db.SaveAccount(tx, account), db.SaveRun(tx, run), db.SaveJob(tx, dead),
			db.AddAttempt(tx, dead.ID, engine.Attempt{Number: 1, Round: 1, Try: 1, Start: now, End: now, Verb: engine.VerbRetry, Status: 503, HTTP: time.Second}),
			db.SaveRank(tx, league.Rank{Account: "01A", Queue: league.RankedSolo, At: now, Tier: "GOLD", Division: "II", Points: 40}),
			db.SaveCollection(tx, engine.Collection{ID: "01C", CollectAsk: engine.CollectAsk{Name: "kr"}}),
			db.SaveAccount(tx, league.Account{ID: "01P", Collection: "01C", Platform: "kr", Created: now, PUUIDs: map[string]string{"dev": "p2"}}),
			db.SaveReport(tx, engine.PlayReport{Account: "01A", Built: now}),
		}
		for i := range 10 {
			m := league.Match{ID: fmt.Sprint("KR_", i), Listed: now, Played: now, Duration: 1800 * time.Second, QueueID: 420, Mode: "CLASSIC", Patch: "16.1", Participants: 2}
			m.Match.Status, m.Match.FetchedAt = league.Success, now
			m.Match.Ref = league.PayloadRef{Month: "2026-11", Codec: "gzip", Size: 4, RawLen: 70}
			m.Timeline.Status = league.TemporaryFailure
			errs = append(errs, db.SaveMatch(tx, m, false), db.SaveParticipants(tx, m.ID, []league.Participant{
				{Match: m.ID, PUUID: "p0", RiotID: "Faker#KR1", Champion: "Ahri", Team: 100, Won: i%2 == 0},
				{Match: m.ID, Index: 1, PUUID: "p1", RiotID: "Keria#KR1", Champion: "Annie", Team: 100, Won: i%2 == 0},
			}))
		}
		return errors.Join(errs...)
	}))
	must(t, db.PutPayload(t.Context(), "KR_1", league.PartMatch, league.PayloadRef{Month: "2026-11", Codec: "gzip", Size: 4, RawLen: 70}, []byte("gzip")))
	ref, body := gzipped(`{"info":{"teams":[{"bans":[{"championId":103}]}]}}`)
	must(t, db.PutPayload(t.Context(), "KR_2", league.PartMatch, ref, body))
	shown()
}

// Every query of the page answers a reader, the columns of the views are those that it tells, and
// a reader can neither write nor read anything else.
func TestThePageOnSQLHolds(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	db := open(t, at)
	aLittleOfEverything(t, db)
	raw, err := os.ReadFile("../../docs/sql.md")
	must(t, err)
	page := string(raw)
	c := aReader(t, at)
	ctx := t.Context()

	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(page, -1)
	for _, q := range queries {
		rows, err := c.Query(ctx, q[1])
		must(t, err)
		n := 0
		for rows.Next() {
			n++
		}
		if rows.Err() != nil || n == 0 {
			t.Errorf("%d rows, %v:\n%s", n, rows.Err(), q[1])
		}
	}
	views := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| .* \\| (`.*`)(?:, and those of \\[exports\\]\\(data.md#([a-z]+)\\))? \\|$").FindAllStringSubmatch(page, -1)
	for _, v := range views {
		rows, err := c.Query(ctx, "select * from "+v[1])
		must(t, err)
		var names []string
		for _, f := range rows.FieldDescriptions() {
			names = append(names, "`"+f.Name+"`")
		}
		n := 0
		for rows.Next() {
			n++
		}
		for _, table := range columns.Tables {
			for _, c := range table.Columns {
				if name := "`" + c.Name + "`"; table.Name == v[3] && !strings.Contains(v[2], name) {
					v[2] += ", " + name
				}
			}
		}
		if have := strings.Join(names, ", "); have != v[2] || n == 0 || rows.Err() != nil {
			t.Errorf("%s: %d rows, %v, columns\n%s, the page says\n%s", v[1], n, rows.Err(), have, v[2])
		}
	}
	if len(queries) != 11 || len(views) != 11 {
		t.Errorf("%d queries and %d views on the page", len(queries), len(views))
	}
	for _, sql := range []string{
		"select from fs_row", "select from fs_job_state", "insert into reports values ('01A', '{}')", "delete from jobs", "update accounts set status = 'x'",
		"create table mine ()",
	} {
		_, err := c.Exec(ctx, sql)
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" && e.Code != "55000" {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
