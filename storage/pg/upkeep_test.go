package pg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/pgtest"
)

// share lets the last sync of an account wait for a match that syncs of others may wait for, tells
// somebody of the account, or lets a job fail.
func (w *twins) share(r *rand.Rand) {
	account, match := pick(r, someAccounts...), fmt.Sprint("match:EUW1_", 100+r.IntN(9))
	w.write("share", func(s store, tx engine.Tx) (any, error) {
		a, err := s.Account(tx, account)
		if err != nil {
			return nil, err
		}
		run, err := s.Run(tx, a.Run)
		if err != nil {
			return nil, err
		}
		child := engine.Spec{Kind: "match.fetch", Queue: "q1", Key: match, Owner: account, Parents: []engine.GroupID{{Parent: engine.JobID(run.Job), Group: 1}}}
		return tx.Enqueue(child, engine.Spec{Kind: "event.webhook", Queue: "q2", Args: []byte(`{"account":"` + account + `"}`)})
	})
	w.remember()
	if len(w.jobs) == 0 {
		return
	}
	id, now := w.job(r), time.Now().UTC()
	class := pick[engine.Class](r, "404.match", "503", "")
	w.write("fail", func(s store, tx engine.Tx) (any, error) {
		j, err := s.Job(tx, id)
		if err != nil || j.State.Terminal() {
			return nil, err
		}
		j.Rev, j.State, j.Finished, j.Class = j.Rev+1, engine.Discarded, now, class
		_, err = s.Mark(tx, id, engine.MarkDead, 1, 0)
		return nil, errors.Join(err, s.SaveJob(tx, j), s.AddAttempt(tx, id, engine.Attempt{Number: 1, Round: 1, Try: 1, Verb: engine.VerbFail, Start: now, End: now, Status: 503}),
			s.AddHistory(tx, string(id), engine.Transition{At: now, To: "discarded", Reason: "no"}))
	})
}

// endJobs ends the live jobs of both, but for those that fit.
func (w *twins) endJobs(but func(engine.Job) bool) {
	w.write("end jobs", func(s store, tx engine.Tx) (any, error) {
		var live []engine.Job
		for _, id := range w.jobs {
			if j, err := s.Job(tx, id); err == nil && j.State.Live() && !but(j) {
				live = append(live, j)
			}
		}
		for _, j := range live {
			j.Rev, j.State, j.Finished = j.Rev+1, engine.Completed, time.Now().UTC()
			_, err := s.Mark(tx, j.ID, engine.MarkDone, 1, 0)
			if err := errors.Join(err, s.SaveJob(tx, j)); err != nil {
				return nil, err
			}
		}
		return len(live), nil
	})
}

// What goes when it is old, and when an account is forgotten, is the same of both stores; so is
// what is left, and that account is named nowhere but in the audit.
func TestBothStoresForgetAndPruneTheSame(t *testing.T) {
	eachTwin(t, func(w *twins) {
		r, ctx := rand.New(rand.NewPCG(13, 3)), context.Background()
		for w.round = range 160 {
			w.play(r)
			w.share(r)
			time.Sleep(time.Duration(r.IntN(7200_000)) * time.Millisecond)
		}
		w.remember()
		ask := func() {
			w.askOfJobs(r)
			w.askOfTheLeague(r)
		}
		rule := engine.PruneAsk{Completed: 24 * time.Hour, Failed: 72 * time.Hour, KeepFailed: 5, Classes: map[engine.Class]time.Duration{"404": time.Hour}}
		for _, dry := range []bool{true, false, false} {
			w.same(fmt.Sprint("prune, dry: ", dry), func(s store) (any, error) { return s.Prune(ctx, rule, time.Now(), dry) })
			ask()
		}
		for i, account := range someAccounts {
			w.same("live jobs", func(s store) (any, error) { return s.LiveJobsOf(ctx, account) })
			w.same("forget while jobs live", func(s store) (any, error) {
				done, audit, err := s.Forget(ctx, account, engine.Actor{User: "ana"}, "asked for", 0)
				return []any{done, audit}, err
			})
			w.endJobs(func(j engine.Job) bool { return i == 0 && j.Owner != account && j.Owner != "" })
			w.same("would forget", func(s store) (any, error) { return s.WouldForget(ctx, account) })
			w.same("forget", func(s store) (any, error) {
				done, audit, err := s.Forget(ctx, account, engine.Actor{User: "ana"}, "asked for", 2)
				return []any{done, audit}, err
			})
			w.both[1].(*DB).wantNoTrace(t, account, "puuid-"+account, "p-"+account)
			ask()
		}
		keep := league.Span{Days: 7}
		for _, dry := range []bool{true, false, false} {
			w.same(fmt.Sprint("retention, dry: ", dry), func(s store) (any, error) {
				list, err := s.DropExpired(ctx, keep, time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), dry)
				for i := range list {
					list[i].Bytes = 0 // each store's own
				}
				return list, err
			})
		}
		ask()
	})
}

// wantNoTrace looks for names in every row of every table but the audit, also within bytes.
func (db *DB) wantNoTrace(t *testing.T, names ...string) {
	t.Helper()
	must(t, db.view(context.Background(), func(tx *txn) error {
		for _, table := range tx.strings("select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'fs_audit'") {
			err := tx.query(func(rows pgx.Rows) {
				var row string
				if scan(rows, []any{&row}) == nil {
					t.Errorf("table %s has %s", table, row)
				}
			}, "select to_jsonb(r)::text from "+table+" r where exists (select from unnest($1::text[]) name where strpos(to_jsonb(r)::text, name) > 0 or strpos(to_jsonb(r)::text, encode(convert_to(name, 'UTF8'), 'hex')) > 0) limit 3", names)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// A player who was forgotten and comes back finds the seat in a match that had stayed.
func TestAForgottenPlayerFindsTheSeatAgain(t *testing.T) {
	db, ctx := open(t, pgtest.Schema(t)), t.Context()
	seats := func() (list []league.Participant) {
		must(t, db.view(ctx, func(t *txn) (err error) {
			list, err = tSeats.list(t, "where match = $1 order by index", "EUW1_1")
			return err
		}))
		return list
	}
	player := league.Account{ID: "01A", GameName: "Faker", TagLine: "KR1", Platform: "kr", PUUIDs: map[string]string{"dev": "puuid-a"}}
	must(t, db.Write(ctx, func(tx engine.Tx) error {
		return errors.Join(db.SaveAccount(tx, player), db.SaveMatch(tx, league.Match{ID: "EUW1_1"}, true), db.LinkMatch(tx, "01A", "EUW1_1"), db.LinkMatch(tx, "01B", "EUW1_1"),
			db.SaveParticipants(tx, "EUW1_1", []league.Participant{{PUUID: "puuid-a", RiotID: "Faker#KR1"}, {Index: 1, PUUID: "BOT"}}))
	}))
	if _, _, err := db.Forget(ctx, "faker#kr1", engine.Actor{}, "", 0); err != nil {
		t.Fatal(err)
	}
	if s := seats(); len(s) != 2 || !strings.HasPrefix(s[0].PUUID, "forgotten:") || s[0].RiotID != "" || s[1].PUUID != "BOT" {
		t.Errorf("forgotten: %+v", s)
	}
	player.ID, player.GameName = "01C", "Renamed"
	must(t, db.Write(ctx, func(tx engine.Tx) error {
		return errors.Join(db.SaveAccount(tx, player), db.LinkMatch(tx, "01C", "EUW1_1"))
	}))
	if s := seats(); s[0].PUUID != "puuid-a" || s[0].RiotID != "Renamed#KR1" {
		t.Errorf("back again: %+v", s)
	}
}
