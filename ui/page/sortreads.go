package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// How the rows of the lists that may be long are read for sorting. Each agrees with
// the order of its column.
var (
	jobReads = &reads[engine.JobRow]{id: jobKeyID, by: map[string]func(*engine.JobRow) sortKey{
		"JOB":   readText(jobKeyText),
		"QUEUE": readText(func(j *engine.JobRow) string { return string(j.Queue) }),
		"STATE": readUp(func(j *engine.JobRow) int64 { return int64(rank(stateRank[:], int(j.State))) }),
		"TRY":   readUp(func(j *engine.JobRow) int64 { return int64(j.Tries) }),
		"NEXT":  readDue(nextAt),
		"AGE":   readNewest(func(j *engine.JobRow) time.Time { return j.Created }),
		"RESULT OR REASON": readText(func(j *engine.JobRow) string {
			if j.LastError == "" || j.Why == "" {
				return or(j.LastError, j.Why) // nothing to join: most rows have one of them
			}
			return j.LastError + j.Why
		}),
		"ID":      readText(jobKeyID),
		"HOLD":    readUp(func(j *engine.JobRow) int64 { return int64(j.Hold) }),
		"CREATED": readUp(func(j *engine.JobRow) int64 { return nanos(j.Created) }),
		"WORKER":  readUp(func(j *engine.JobRow) int64 { return int64(j.Worker) }),
		"BYTES":   readDown(func(j *engine.JobRow) int64 { return int64(j.Bytes) }),
		"BY":      readText(func(j *engine.JobRow) string { return j.Asker() }),
	}}

	retryReads = &reads[engine.JobRow]{id: jobKeyID, by: map[string]func(*engine.JobRow) sortKey{
		"IN":          readDue(func(j *engine.JobRow) time.Time { return j.Due }),
		"JOB":         readText(jobKeyText),
		"NEXT TRY":    readUp(func(j *engine.JobRow) int64 { return int64(j.Tries) }),
		"CLASS":       readText(func(j *engine.JobRow) string { return string(j.Class) }),
		"LAST RESULT": readText(func(j *engine.JobRow) string { return j.LastError }),
		"QUEUE":       readText(func(j *engine.JobRow) string { return string(j.Queue) }),
		"DUE":         readDue(func(j *engine.JobRow) time.Time { return j.Due }),
	}}

	accountReads = &reads[engine.AccountRow]{id: func(a *engine.AccountRow) string { return a.ID }, by: map[string]func(*engine.AccountRow) sortKey{
		"ACCOUNT":   readText(func(a *engine.AccountRow) string { return a.RiotID }),
		"REGION":    readText(func(a *engine.AccountRow) string { return a.Region }),
		"STATE":     readUp(func(a *engine.AccountRow) int64 { return int64(rank(accountRank[:], int(a.Status))) }),
		"LAST SYNC": readNewest(func(a *engine.AccountRow) time.Time { return a.LastSync }),
		"NEW":       readDown(func(a *engine.AccountRow) int64 { return int64(a.Matches.Stored) }),
		"FAIL":      readDown(func(a *engine.AccountRow) int64 { return int64(a.Matches.Failed) }),
		"RETRY":     readDown(func(a *engine.AccountRow) int64 { return int64(a.Matches.Retrying) }),
	}}
)

func jobKeyID(j *engine.JobRow) string   { return string(j.ID) }
func jobKeyText(j *engine.JobRow) string { return keyText(&j.Job) }
