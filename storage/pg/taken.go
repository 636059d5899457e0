package pg

import (
	"reflect"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// What is made of each kind of record that another store hands over.

// taker is the table that records of one type come into.
type taker struct {
	table   string
	columns []string
	values  func(v any) []any
}

// sql lists its columns.
func (tk taker) sql() string { return strings.Join(tk.columns, ", ") }

// takes lets records come into a table as they are.
func takes[T any](tb *table[T]) taker { return takesAs(tb, func(v T) T { return v }) }

// takesAs is takes of records that a row is made of.
func takesAs[H, T any](tb *table[T], as func(H) T) taker {
	tk := taker{table: tb.name, values: func(v any) []any {
		row := as(v.(H))
		return tb.values(&row)
	}}
	for _, c := range tb.columns(new(T)) {
		tk.columns = append(tk.columns, c.name)
	}
	return tk
}

// firstXID is the transaction of all that was there before the first one of this server: its
// places come before all others, in the order of their numbers.
const firstXID = 3

// placeColumns are the place of an item in a feed; none of 0.
func placeColumns(feed string, place *uint64) []column {
	var xid, id *uint64
	if first := uint64(firstXID); *place != 0 {
		xid, id = &first, place
	}
	return []column{{feed + "_xid", xid}, {feed + "_id", id}}
}

// takenAttempts keeps attempts as they come: by their jobs. In fs_attempt they are in the order in
// which they ended.
const takenAttempts = "fs_moving_attempt"

// takers are those of all types of records.
var takers = map[reflect.Type]taker{
	reflect.TypeFor[league.Account](): takesAs(tAccounts, nameOf),
	reflect.TypeFor[both.PUUID](): takes(declare("fs_puuid", 1, func(p *both.PUUID) []column {
		return []column{{"puuid", (*text)(&p.PUUID)}, {"account", (*text)(&p.Account)}}
	})),
	reflect.TypeFor[both.CachedPUUID](): takes(declare("fs_puuid_cache", 3, func(p *both.CachedPUUID) []column {
		return []column{{"project", (*text)(&p.Project)}, {"name", (*text)(&p.Name)}, {"tag", (*text)(&p.Tag)}, {"puuid", (*text)(&p.PUUID)}, {"until", (*instant)(&p.Until)}}
	})),
	reflect.TypeFor[both.CostedRun](): takes(declare("fs_run", 1, func(r *both.CostedRun) []column {
		return append(runColumns(&r.Run), column{"own_calls", &r.Calls}, column{"own_throttled", &r.Throttled})
	})),
	reflect.TypeFor[both.StagedID](): takes(declare("fs_staged", 0, func(s *both.StagedID) []column {
		return append(tStaged.columns(&s.Staged), column{"run", (*text)(&s.Run)})
	})),
	reflect.TypeFor[both.Range]():     takes(tCoverage),
	reflect.TypeFor[both.ListedIDs](): takes(tListedIDs),
	reflect.TypeFor[both.TagPolicy](): takes(tTagPolicies),
	reflect.TypeFor[both.FedMatch](): takes(declare("fs_match", 1, func(m *both.FedMatch) []column {
		columns := append(tMatches.columns(&m.Match), placeColumns("feed", &m.Place)...)
		return append(append(columns, placeColumns("timeline", &m.TimelinePlace)...), placeColumns("seats", &m.SeatsPlace)...)
	})),
	reflect.TypeFor[league.Participant](): takes(tSeats),
	reflect.TypeFor[both.Listing](): takes(declare("fs_listing", 2, func(l *both.Listing) []column {
		return []column{{"account", (*text)(&l.Account)}, {"match", (*text)(&l.Match)}, {"played", (*instant)(&l.Played)}}
	})),
	reflect.TypeFor[league.Gap](): takes(tGaps),
	reflect.TypeFor[both.FedRank](): takes(declare("fs_rank", 3, func(r *both.FedRank) []column {
		return append(tRanks.columns(&r.Rank), placeColumns("feed", &r.Place)...)
	})),
	reflect.TypeFor[engine.PlayReport]():   takes(tReports),
	reflect.TypeFor[engine.WeeklyReport](): takes(tWeekly),
	reflect.TypeFor[engine.Job]():          takes(tLive),
	reflect.TypeFor[both.EndedJob](): takes(declare("fs_job_ended", 1, func(j *both.EndedJob) []column {
		return append(jobColumns(&j.Job), placeColumns("feed", &j.Place)...)
	})),
	reflect.TypeFor[both.Tried](): takes(declare(takenAttempts, 0, tAttempts.columns)),
	reflect.TypeFor[both.Member](): takes(declare("fs_mark", 3, func(m *both.Member) []column {
		return []column{
			{"parent", (*jobID)(&m.Parent)}, {"grp", &m.Group}, {"child", (*jobID)(&m.Child)}, {"mark", (*uint8)(&m.Mark)}, {"calls", &m.Calls}, {"throttled", &m.Throttled},
		}
	})),
	reflect.TypeFor[engine.GroupStat]():  takes(tGroups),
	reflect.TypeFor[engine.QueueState](): takes(tQueues),
	reflect.TypeFor[both.Moved]():        takes(tHistory),
	reflect.TypeFor[engine.AuditEntry](): takesAs(tAudit, asAudited),
	reflect.TypeFor[cron.State]():        takesAs(tSchedules, func(s cron.State) recurring { return recurring{s.Name, s} }),
	reflect.TypeFor[cron.Tick](): takes(declare("fs_tick", 1, func(t *cron.Tick) []column {
		return []column{{"id", (*text)(&t.ID)}, {"schedule", (*text)(&t.Schedule)}, {"at", (*instant)(&t.At)}}
	})),
	reflect.TypeFor[both.DayPart](): takes(tDays),
	reflect.TypeFor[both.State](): takes(declare("fs_state", 1, func(s *both.State) []column {
		return []column{{"name", (*text)(&s.Name)}, {"blob", &s.Blob}}
	})),
	reflect.TypeFor[both.Payload](): takes(tPayloads),
}
