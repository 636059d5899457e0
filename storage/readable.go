package storage

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/key"
)

// What views of SQL read of a shared store is in typed tables, which are written with the rows that they tell of:
//
//	matches "KR_1"      fs_match   k \x4b525f31 | id KR_1 | status success | played 2026-11-21 14:00:00+00 …
//	participants "KR_1" fs_seat    k \x4b525f31 | index 0 | riot_id Faker#KR1 …, and nine more
//
// A value that such a table could not take would keep all others from it: texts and numbers are made to fit.

// Readable gives the typed table of a row, "" = it has none, and its rows there: none of a row that is removed, that
// cannot be read, or that no view shows. Each is its columns by name, as JSON, with our key in k, by which the rows of
// before are deleted when ours changes.
func Readable(s Step) (table string, rows []map[string]any) {
	of, known := shown[s.Table]
	if !known || s.Key == nil {
		return "", nil
	}
	if s.Value != nil {
		rows = of.rows(s.Key, s.Value)
	}
	k := `\x` + hex.EncodeToString(s.Key)
	for _, row := range rows {
		row["k"] = k
	}
	return of.table, rows
}

// ReadableTables names all typed tables.
func ReadableTables() (tables []string) {
	for _, of := range shown {
		tables = append(tables, of.table)
	}
	slices.Sort(tables)
	return tables
}

// columns are the values of a row by its columns.
type columns = map[string]any

// shownAs is how a row is shown.
type shownAs struct {
	table string
	rows  func(k, v []byte) []columns
}

// showAs makes rows of each record.
func showAs[T any](r *collection.Records[T], table string, as func(k []byte, v *T) []columns) shownAs {
	return shownAs{table, func(k, v []byte) []columns {
		out, err := r.Decode(k, v)
		if err != nil {
			return nil // check names it
		}
		return as(k, &out)
	}}
}

// shown are the tables of which views tell.
var shown = map[string]shownAs{
	tAccounts.Name: showAs(tAccounts, "fs_account", func(_ []byte, a *league.Account) []columns {
		return []columns{{
			"id": storable(a.ID), "riot_id": storable(a.RiotID()), "platform": storable(a.Platform), "tracked": a.Tracked,
			"tags": document(append([]string{}, a.Tags...)), "policy": document(a.Policy), "status": storable(a.Status),
			"run": storable(a.Run), "created": instant(a.Created), "updated": instant(a.Updated), "last_sync": instant(a.LastSync),
			"last_error": storable(a.LastError), "puuid": short(onePUUID(*a)),
		}}
	}),
	tPlayers.Name: showAs(tPlayers, "fs_player", func(_ []byte, a *league.Account) []columns {
		return []columns{{"id": storable(a.ID), "riot_id": storable(a.RiotID()), "platform": storable(a.Platform), "puuid": short(onePUUID(*a)),
			"collection": storable(a.Collection), "found": instant(a.Created)}}
	}),
	tCollections.Name: showAs(tCollections, "fs_collection", func(_ []byte, c *engine.Collection) []columns {
		return []columns{{"id": storable(c.ID), "name": storable(c.Name)}}
	}),
	accountPUUID.Name: {"fs_puuid", func(k, v []byte) []columns {
		account, err := accountPUUID.TextOf(k, v)
		if err != nil {
			return nil
		}
		return []columns{{"puuid": short(string(k)), "account": storable(account)}}
	}},
	tMatches.Name: showAs(tMatches, "fs_match", func(_ []byte, m *league.Match) []columns {
		row := columns{
			"id": storable(m.ID), "played": instant(m.Played), "duration_us": m.Duration.Microseconds(), "queue_id": number(m.QueueID),
			"mode": storable(m.Mode), "patch": storable(m.Patch), "aborted": m.Aborted, "remake": m.Remake,
			"participants": number(m.Participants), "listed": instant(m.Listed),
		}
		for of, f := range map[string]*league.Fetch{"": &m.Match, "timeline_": &m.Timeline} {
			row[of+"status"], row[of+"attempts"] = f.Status.String(), number(f.Attempts)
			row[of+"fetched_at"], row[of+"last_attempt_at"] = instant(f.FetchedAt), instant(f.LastAttemptAt)
			row[of+"last_error"], row[of+"last_class"] = storable(f.LastError), storable(f.LastClass)
		}
		return []columns{row}
	}),
	tParticipants.Name: showAs(tParticipants, "fs_seat", func(_ []byte, s *seating) (rows []columns) {
		for _, p := range s.seats {
			rows = append(rows, columns{
				"index": number(p.Index), "puuid": short(p.PUUID), "riot_id": storable(p.RiotID), "champion": storable(p.Champion),
				"team": number(p.Team), "won": p.Won, "kills": number(p.Kills), "deaths": number(p.Deaths), "assists": number(p.Assists),
			})
		}
		return rows
	}),
	tRuns.Name: showAs(tRuns, "fs_run", func(_ []byte, r *league.Run) []columns {
		var job any
		if n, err := jobNumber(engine.JobID(r.Job)); err == nil {
			job = int64(n)
		}
		return []columns{{
			"id": storable(r.ID), "account": storable(r.Account), "job": job, "mode": storable(r.Ask.Mode),
			"timelines": storable(string(r.Ask.Timelines)), "phase": storable(r.Phase), "result": storable(r.Result),
			"error": storable(r.Error), "listed": number(r.Listed), "had": number(r.Had), "lost": number(r.Lost),
			"too_old": number(r.TooOld), "triggered": instant(r.Triggered), "started": instant(r.Started),
			"finished": instant(r.Finished), "asked_by": storable(r.By),
		}}
	}),
	tRunOfJob.Name: showAs(tRunOfJob, "fs_run_calls", func(_ []byte, r *jobRun) []columns {
		return []columns{{"calls": number(r.calls), "throttled": number(r.throttled)}}
	}),
	tGroups.Name: showAs(tGroups, "fs_group", func(_ []byte, g *engine.GroupStat) []columns {
		return []columns{{
			"total": number(g.Total), "done": number(g.Done), "calls": number(g.Calls), "throttled": number(g.Throttled),
		}}
	}),
	tRanks.Name: showAs(tRanks, "fs_rank", func(_ []byte, r *league.Rank) []columns {
		if r.Unsure {
			return nil
		}
		return []columns{{
			"account": storable(r.Account), "queue": storable(r.Queue), "at": instant(r.At), "unranked": r.Unranked,
			"tier": storable(r.Tier), "division": storable(r.Division), "points": number(r.Points), "wins": number(r.Wins),
			"losses": number(r.Losses),
		}}
	}),
	tReports.Name: showAs(tReports, "fs_report", func(k []byte, r *engine.PlayReport) []columns {
		return []columns{{"account": storable(string(k)), "report": document(r)}}
	}),
	tJobState.Name: showAs(tJobState, "fs_job_state", func(_ []byte, j *engine.Job) []columns { return []columns{stateOf(j)} }),
	tJobSpec.Name:  showAs(tJobSpec, "fs_job_spec", func(_ []byte, j *engine.Job) []columns { return []columns{specOf(j)} }),
	tJobError.Name: showAs(tJobError, "fs_job_error", func(_ []byte, j *engine.Job) []columns { return []columns{errorOf(j)} }),
	tArchive.Name: showAs(tArchive, "fs_job_ended", func(_ []byte, j *engine.Job) []columns {
		row := stateOf(j)
		maps.Copy(row, specOf(j))
		maps.Copy(row, errorOf(j))
		return []columns{row}
	}),
	tAttempts.Name: showAs(tAttempts, "fs_attempt", func(k []byte, a *engine.Attempt) []columns {
		return []columns{{
			"job": int64(key.Read(k).Uint64()), "number": number(a.Number), "round": number(a.Round), "try": number(a.Try), "phase": number(a.Phase),
			"started": instant(a.Start), "ended": instant(a.End), "verb": a.Verb.String(), "hold": a.Hold.String(),
			"class": storable(string(a.Class)), "error": storable(a.Err), "status": number(a.Status),
			"queued_us": a.Queued.Microseconds(), "paced_us": a.Paced.Microseconds(), "limiter_us": a.Limiter.Microseconds(),
			"http_us": a.HTTP.Microseconds(), "next": instant(a.Next), "decision": storable(a.Decision),
		}}
	}),
}

// A live job is in three rows, of which one alone changes with each move; an ended one is in one: the view joins them.

func stateOf(j *engine.Job) columns {
	return columns{
		"id": int64(mustNumber(j.ID)), "state": j.State.String(), "hold": j.Hold.String(), "due": instant(j.Due), "phase": number(j.Phase),
		"round": number(j.Round), "tries": number(j.Tries), "attempts": number(j.Attempts), "holds": number(j.Holds), "crashes": number(j.Crashes),
		"asked_by": storable(j.By), "bytes": j.Bytes, "started": instant(j.Started), "finished": instant(j.Finished),
	}
}

func specOf(j *engine.Job) columns {
	return columns{
		"kind": storable(string(j.Kind)), "queue": storable(string(j.Queue)), "key": storable(j.Key), "owner": storable(j.Owner),
		"priority": j.Priority, "args": storableJSON(j.Args), "created": instant(j.Created),
	}
}

func errorOf(j *engine.Job) columns {
	return columns{"class": storable(string(j.Class)), "last_error": storable(j.LastError)}
}

// storable is a text as PostgreSQL takes it: neither with a NUL nor with what is no UTF-8, which a name or an error may
// have as they came from outside.
func storable(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// short is a text of Riot's that an index has, which takes none that is long.
func short(s string) string { return storable(s[:min(len(s), 3*engine.PUUIDLength)]) }

// number is one that an integer takes.
func number(n int) int { return min(max(n, math.MinInt32), math.MaxInt32) }

// instant is a time; null when it is not known, or in a year that no clock of ours has shown.
func instant(at time.Time) any {
	if at = at.UTC(); at.IsZero() || at.Year() < 1 || at.Year() > 9999 {
		return nil
	}
	return at.Format(time.RFC3339Nano)
}

// document is a value as JSON.
func document(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return storableJSON(raw)
}

// escapes are those in JSON: of two halves of a character; of what text of PostgreSQL cannot have, a NUL and half a
// character; and the first two bytes of any other.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(?:0000|[dD][89a-fA-F]..)|\\.`)
})

// storableJSON is storable of JSON; null for what is none.
func storableJSON(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return nil
	}
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	return escapes().ReplaceAllFunc(raw, func(e []byte) []byte {
		if len(e) == len(`\u0000`) {
			return []byte("\uFFFD")
		}
		return e
	})
}
