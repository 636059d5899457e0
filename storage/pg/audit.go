package pg

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// changed is what a command has changed, before and after: what undo needs, and people read.
//
//	{"jobs":[{"job":"b41","rev":7,"before":{…},"after":{…}}]}
type changed struct {
	Jobs     []engine.JobMove     `json:"jobs,omitempty"`
	Queue    *engine.QueueMove    `json:"queue,omitempty"`
	Schedule *engine.ScheduleMove `json:"schedule,omitempty"`
}

// audited is an entry as a row.
type audited struct {
	engine.AuditEntry
	moved changed
}

func asAudited(a engine.AuditEntry) audited { return audited{a, changed{a.Moves, a.Queue, a.Schedule}} }

var (
	tAudit = declare("fs_audit", "seq", func(a *audited) []column {
		return append(auditColumns(&a.AuditEntry), column{"moved", &a.moved})
	})
	auditColumns = fields[engine.AuditEntry](called{"By": "by_*", "Moves": "-", "Queue": "-", "Schedule": "-"})
)

// AddAudit appends an operator's command, emits it and answers its number. Of one that is taken
// back the number is not used again.
func (db *DB) AddAudit(tx engine.Tx, a engine.AuditEntry) (seq uint64, err error) {
	t := own(tx)
	if a.Seq, _, err = value[uint64](t, "select nextval('fs_audit_seq')"); err != nil {
		return 0, err
	}
	tAudit.add(t, asAudited(a))
	t.Emit(engine.Change{Audit: &a})
	return a.Seq, nil
}

// Audit gives the last n operator commands, newest first, without what each has changed.
func (db *DB) Audit(ctx context.Context, n int) ([]engine.AuditEntry, error) {
	page, err := db.audits(ctx, &where{}, n)
	return page.Entries, err
}

// AuditEntry gives one operator command with what it has changed; engine.ErrNotFound.
func (db *DB) AuditEntry(ctx context.Context, seq uint64) (engine.AuditEntry, error) {
	return answer(ctx, db, func(t *txn) (engine.AuditEntry, error) {
		row, err := tAudit.need(t, fmt.Sprintf("audit entry %d", seq), int64(seq))
		a := row.AuditEntry
		a.Moves, a.Queue, a.Schedule = row.moved.Jobs, row.moved.Queue, row.moved.Schedule
		return a, err
	})
}

// Audits lists operator commands, newest first, without what each has changed. The cursor is the
// number that a page begins below. One that is asked for by its number comes with what it has
// changed; engine.ErrNotFound.
func (db *DB) Audits(ctx context.Context, q engine.AuditQuery) (page engine.AuditPage, err error) {
	if q.Seq != 0 {
		return both.OneEntry(db.AuditEntry(ctx, q.Seq))
	}
	before, err := both.AuditCursor(q.After)
	if err != nil {
		return page, err
	}
	w := &where{}
	if q.After != "" {
		w.and("seq < ?", int64(before))
	}
	if q.Op != "" {
		w.and("op = ?", (*text)(&q.Op))
	}
	if q.Text != "" {
		w.and(`strpos(lower(concat_ws(E'\n', by_user, by_session, by_via, target, reason, result)), ?) > 0`,
			storable(strings.ToLower(q.Text)))
	}
	return db.audits(ctx, w, both.PageSize(q.Page))
}

// audits is a page of the commands that fit. They are read with what each has changed, which is
// left out: a page of commands that had 500 jobs each would be megabytes.
func (db *DB) audits(ctx context.Context, w *where, limit int) (engine.AuditPage, error) {
	return answer(ctx, db, func(t *txn) (page engine.AuditPage, err error) {
		place := func(a audited) string { return strconv.FormatUint(a.Seq, 10) }
		rows, next, err := tAudit.page(t, limit, place, w.sql()+" order by seq desc", w.args...)
		page.Next = next
		for _, row := range rows {
			page.Entries = append(page.Entries, row.AuditEntry)
		}
		return page, err
	})
}
