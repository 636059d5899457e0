package storage

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"

	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
)

// rowsToRead gives all rows that a store has for views, by their tables, and tries each with damage.
func rowsToRead(t *testing.T, db *DB) map[string][]map[string]any {
	t.Helper()
	all := map[string][]map[string]any{}
	read(t, db, func(tx *txn) error {
		return tx.All(func(s collection.Step) error {
			table, rows := Readable(s)
			for _, row := range rows {
				if row["k"] != `\x`+hex.EncodeToString(s.Key) {
					t.Errorf("%s: key %v of %x", table, row["k"], s.Key)
				}
				all[table] = append(all[table], row)
			}
			gone := Step{Table: s.Table, Key: s.Key}
			if of, none := Readable(gone); of != table || none != nil {
				t.Errorf("%s: one that is removed stands in %s with %v", table, of, none)
			}
			damaged := gone
			if damaged.Value = bytes.Clone(s.Value); len(damaged.Value) > 0 {
				damaged.Value[len(damaged.Value)/2] ^= 1
			}
			if _, none := Readable(damaged); none != nil {
				t.Errorf("%s: a damaged one has %v", table, none)
			}
			return nil
		})
	})
	return all
}

// What a view shows of a row is what was written, in a form that PostgreSQL takes.
func TestReadableRowsSayWhatWasWritten(t *testing.T) {
	db := start(t, "")
	const at, bad, good = "2026-11-21T12:00:00Z", "Fa\x00ker\xff", "Fa\uFFFDker\uFFFD"
	a := account("01A", bad, "KR1")
	a.LastError = bad
	saveAccount(t, db, a)
	write(t, db, func(tx engine.Tx) error { // a player of a collection is no account
		p := player("01P0000000000000000000000")
		p.Collection, p.Run, p.Status = "01C", "", "never"
		return errors.Join(db.SaveCollection(tx, engine.Collection{ID: "01C"}), db.SaveAccount(tx, p))
	})
	sync := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Owner: "01A", Key: "sync", Args: json.RawMessage(`{"b":"\u0000\ud83d\ude00\ud83d\\u0000","a":1}`)})
	fetch := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Parents: []engine.GroupID{{Parent: sync.ID, Group: league.GroupMatches}}})
	sync.Class, sync.LastError, sync.Due, sync.By, sync.Hold = "5xx", bad, noon, "ana", engine.HoldOutage
	sync = move(t, db, sync, engine.Scheduled)
	write(t, db, func(tx engine.Tx) error {
		_, err := db.Mark(tx, fetch.ID, engine.MarkDead, 3, 1)
		return errors.Join(err,
			db.SaveRun(tx, league.Run{ID: "R1", Account: "01A", Job: string(sync.ID), Ask: league.Ask{Mode: "full", Timelines: league.TimelinesAll}, Phase: "list", Listed: 1 << 40, Had: 2, Lost: 3, TooOld: 4, Triggered: noon, By: "ana"}),
			db.AddAttempt(tx, sync.ID, engine.Attempt{Number: 1, Round: 2, Try: 3, Phase: 4, Start: noon, End: noon, Verb: engine.VerbSnooze, Hold: engine.HoldThrottled, Class: "429", Err: bad, Status: 429, Queued: time.Millisecond, Paced: 2, Limiter: time.Hour, HTTP: time.Second, Next: noon, Decision: "d"}))
	})
	fetch = move(t, db, fetch, engine.Running)
	fetch.Class, fetch.LastError, fetch.Finished, fetch.Bytes = "404", "gone", noon.AddDate(9000, 0, 0), 9
	move(t, db, fetch, engine.Discarded)
	write(t, db, func(tx engine.Tx) error {
		m := league.Match{ID: "KR_1", Played: noon, Duration: 31 * time.Minute, QueueID: 420, Mode: bad, Patch: "16.1", Remake: true, Participants: 2, Listed: noon}
		m.Match = league.Fetch{Status: league.TemporaryFailure, Attempts: 2, LastAttemptAt: noon, LastError: bad, LastClass: "5xx"}
		return errors.Join(db.SaveMatch(tx, m, false),
			db.SaveParticipants(tx, m.ID, []league.Participant{
				{PUUID: "puuid-01A", RiotID: bad, Champion: "Ahri", Team: 100, Won: true, Kills: 1, Deaths: 2, Assists: 3},
				{Index: 1, PUUID: string(bytes.Repeat([]byte("p"), 3000))},
			}),
			db.SaveRank(tx, league.Rank{Account: "01A", Queue: league.RankedSolo, At: noon, Tier: "GOLD", Division: "II", Points: 40, Wins: 5, Losses: 4}),
			db.SaveRank(tx, league.Rank{Account: "01A", Queue: league.RankedSolo, At: noon.Add(time.Hour), Unranked: true, Unsure: true}),
			db.SaveReport(tx, engine.PlayReport{Account: "01A", Zone: bad, Built: noon}))
	})
	report, err := json.Marshal(engine.PlayReport{Account: "01A", Zone: good, Built: noon})
	must(t, err)
	all := rowsToRead(t, db)
	for table, want := range map[string]string{
		"fs_account":    `{"created":"` + at + `","id":"01A","last_error":"` + good + `","last_sync":"` + at + `","platform":"euw1","policy":{"Queues":[420,440],"Type":"ranked","Lookback":2592000000000000,"Timelines":"all","Cadence":0,"Priority":2},"puuid":"puuid-01A","riot_id":"` + good + `#KR1","run":"","status":"never","tags":["team"],"tracked":true,"updated":"` + at + `"}`,
		"fs_collection": `{"id":"01C","name":""}`,
		"fs_player":     `{"collection":"01C","found":"` + at + `","id":"01P0000000000000000000000","platform":"euw1","puuid":"puuid-of-01p0000000000000000000000","riot_id":"Player0000000#EUW"}`,
		"fs_puuid":      `{"account":"01A","puuid":"puuid-01A"}`,
		"fs_run":        `{"account":"01A","asked_by":"ana","error":"","finished":null,"had":2,"id":"R1","job":1,"listed":2147483647,"lost":3,"mode":"full","phase":"list","result":"","started":null,"timelines":"all","too_old":4,"triggered":"` + at + `"}`,
		"fs_run_calls":  `{"calls":1,"throttled":1}`,
		"fs_group":      `{"calls":3,"done":0,"throttled":1,"total":1}`,
		"fs_rank":       `{"account":"01A","at":"` + at + `","division":"II","losses":4,"points":40,"queue":"RANKED_SOLO_5x5","tier":"GOLD","unranked":false,"wins":5}`,
		"fs_report":     `{"account":"01A","report":` + string(report) + `}`,
		"fs_match":      `{"aborted":false,"attempts":2,"duration_us":1860000000,"fetched_at":null,"id":"KR_1","last_attempt_at":"` + at + `","last_class":"5xx","last_error":"` + good + `","listed":"` + at + `","mode":"` + good + `","participants":2,"patch":"16.1","played":"` + at + `","queue_id":420,"remake":true,"status":"temporary_failure","timeline_attempts":0,"timeline_fetched_at":null,"timeline_last_attempt_at":null,"timeline_last_class":"","timeline_last_error":"","timeline_status":"unfetched"}`,
		"fs_seat": `{"assists":3,"champion":"Ahri","deaths":2,"index":0,"kills":1,"puuid":"puuid-01A","riot_id":"` + good + `","team":100,"won":true}` +
			`{"assists":0,"champion":"","deaths":0,"index":1,"kills":0,"puuid":"` + string(bytes.Repeat([]byte("p"), 234)) + `","riot_id":"","team":0,"won":false}`,
		"fs_job_state": `{"asked_by":"ana","attempts":0,"bytes":0,"crashes":0,"due":"` + at + `","finished":null,"hold":"outage","holds":0,"id":1,"phase":0,"round":1,"started":null,"state":"scheduled","tries":0}`,
		"fs_job_spec":  `{"args":{"b":"�\ud83d\ude00�\\u0000","a":1},"created":"` + sync.Created.Format(time.RFC3339Nano) + `","key":"sync","kind":"account.sync","owner":"01A","priority":3,"queue":"q"}`,
		"fs_job_error": `{"class":"5xx","last_error":"` + good + `"}`,
		"fs_job_ended": `{"args":null,"asked_by":"","attempts":0,"bytes":9,"class":"404","crashes":0,"created":"` + fetch.Created.Format(time.RFC3339Nano) + `","due":null,"finished":null,"hold":"","holds":0,"id":2,"key":"","kind":"match.fetch","last_error":"gone","owner":"","phase":0,"priority":3,"queue":"q","round":1,"started":null,"state":"discarded","tries":0}`,
		"fs_attempt":   `{"class":"429","decision":"d","ended":"` + at + `","error":"` + good + `","hold":"throttled","http_us":1000000,"job":1,"limiter_us":3600000000,"next":"` + at + `","number":1,"paced_us":0,"phase":4,"queued_us":1000,"round":2,"started":"` + at + `","status":429,"try":3,"verb":"snooze"}`,
	} {
		var got []byte
		for _, row := range all[table] {
			delete(row, "k")
			b, err := json.Marshal(row)
			must(t, err)
			got = append(got, b...)
		}
		if string(got) != want {
			t.Errorf("%s has\n%s, want\n%s", table, got, want)
		}
		delete(all, table)
		if !slices.Contains(ReadableTables(), table) {
			t.Errorf("%s is not named", table)
		}
	}
	if len(all) > 0 || len(ReadableTables()) != 16 {
		t.Errorf("%v, and of others %v", ReadableTables(), all)
	}
}

// A number of a table is no row, and what views do not show is in none.
func TestReadableLeavesOut(t *testing.T) {
	for _, s := range []Step{{Table: tJobState.Name, Number: 7}, {Table: tCoverage.Name, Key: []byte("k"), Value: []byte("v")}, {Table: "unknown"}} {
		if table, rows := Readable(s); table != "" || rows != nil {
			t.Errorf("%+v: %s, %v", s, table, rows)
		}
	}
}
