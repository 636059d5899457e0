package pg

import (
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// What is made of each kind of record that another store hands over.

// taker is the table that records of one type come into.
type taker struct {
	of      reflect.Type
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
	tk := taker{of: reflect.TypeFor[H](), table: tb.name, values: func(v any) []any {
		row := as(v.(H))
		return tb.values(&row)
	}}
	for _, c := range tb.columns(new(T)) {
		tk.columns = append(tk.columns, c.name)
	}
	return tk
}

// takesMade is takes of records of which rows are made before they come here: see mover.encode.
func takesMade[H, T any](tb *table[T]) taker {
	tk := takes(tb)
	tk.of = reflect.TypeFor[H]()
	return tk
}

// takesInto is takes of records that nothing else reads or writes so: a record has more than one
// table of its own, or a row more than its record.
func takesInto[T any](name string, columns func(v *T) []column) taker {
	return takes(declare(name, "", columns))
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
var takers = sync.OnceValue(func() map[reflect.Type]taker {
	return byType(
		takesAs(tAccounts, nameOf),
		takes(tPUUIDs),
		takes(tCachedPUUIDs),
		takesInto("fs_run", func(r *both.CostedRun) []column {
			return append(runColumns(&r.Run), column{"own_calls", &r.Calls}, column{"own_throttled", &r.Throttled})
		}),
		takes(tStaged),
		takes(tCoverage),
		takes(tListedIDs),
		takes(tTagPolicies),
		takesInto("fs_match", func(m *both.FedMatch) []column {
			return slices.Concat(tMatches.columns(&m.Match),
				placeColumns("feed", &m.Place), placeColumns("timeline", &m.TimelinePlace), placeColumns("seats", &m.SeatsPlace))
		}),
		takes(tSeats),
		takesInto("fs_listing", fields[both.Listing](nil)),
		takes(tGaps),
		takesInto("fs_rank", func(r *both.FedRank) []column {
			return append(tRanks.columns(&r.Rank), placeColumns("feed", &r.Place)...)
		}),
		takes(tReports),
		takes(tWeekly),
		takes(tLive),
		takesInto("fs_job_ended", func(j *both.EndedJob) []column {
			return append(jobColumns(&j.Job), placeColumns("feed", &j.Place)...)
		}),
		takesInto(takenAttempts, attemptColumns),
		takesInto("fs_mark", fields[both.Member](called{"Group": "grp"})),
		takes(tGroups),
		takes(tQueues),
		takes(tHistory),
		takesAs(tAudit, asAudited),
		takesAs(tSchedules, func(s cron.State) recurring { return recurring{s.Name, s} }),
		takesInto("fs_tick", fields[cron.Tick](called{"Planned": "-", "By": "-", "Every": "-"})),
		takes(tDays),
		takes(tStates),
		takesMade[both.Payload](tPayloads),
	)
})

// layout is a word for all columns that records come into. The checksums of a copy are those of the
// columns in their order, so that a program with others must begin it anew.
func layout() string {
	var all []string
	for _, tk := range takers() {
		all = append(all, tk.table+": "+tk.sql())
	}
	slices.Sort(all)
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(strings.Join(all, "; "))))
}

func byType(all ...taker) map[reflect.Type]taker {
	takers := map[reflect.Type]taker{}
	for _, tk := range all {
		takers[tk.of] = tk
	}
	return takers
}
