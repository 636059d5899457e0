package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// AddAudit appends an operator's command, emits it and answers its number. What the command has
// changed is kept in a row of its own: most entries are listed, few are undone.
func (db *DB) AddAudit(tx engine.Tx, a engine.AuditEntry) (uint64, error) {
	t := own(tx)
	last, err := t.LastNumber(tAudit.Table, nil)
	if err != nil {
		return 0, err
	}
	// Entries are never deleted, so the last key tells the next number.
	a.Seq = last + 1
	if err := tAudit.Put(t, key.Uint64(a.Seq), &a); err != nil {
		return 0, err
	}
	if err := t.putMoves(a); err != nil {
		return 0, err
	}
	t.Emit(engine.Change{Audit: &a})
	return a.Seq, nil
}

var (
	tAudit = collection.Declare(
		collection.New("audit", "u64 seq", "one operator command").Grows(),
		collection.Records[engine.AuditEntry]{Format: 16, Key: func(c *key.Coder, a *engine.AuditEntry) { c.Uint64(&a.Seq) },
			Fields: func(c *rec.Coder, a *engine.AuditEntry) {
				c.Time(&a.At)
				actorFields(c, &a.By)
				c.Str((*string)(&a.Op), &a.Target, &a.Reason, &a.Result)
				c.Int(&a.Matched, &a.Applied)
			}})
	tAuditMoves = collection.Declare(
		collection.New("audit_moves", "u64 seq", "what that command has changed, before and after").Grows(),
		collection.Records[moved]{Format: 33, Fields: func(c *rec.Coder, m *moved) { c.JSON(m) }})
)

// moved is what one command has changed. Only undo and people read it, so it is JSON.
type moved struct {
	Jobs  []engine.JobMove  `json:"jobs,omitempty"`
	Queue *engine.QueueMove `json:"queue,omitempty"`

	Schedule *engine.ScheduleMove `json:"schedule,omitempty"`
}

func (t *txn) putMoves(a engine.AuditEntry) error {
	// Most commands change nothing that could be taken back, and have no second row.
	if len(a.Moves) == 0 && a.Queue == nil && a.Schedule == nil {
		return nil
	}
	return tAuditMoves.Put(t, key.Uint64(a.Seq), &moved{a.Moves, a.Queue, a.Schedule})
}

// Audit gives the last n operator commands, newest first, without what each has changed.
func (db *DB) Audit(ctx context.Context, n int) (list []engine.AuditEntry, err error) {
	err = db.view(ctx, func(t *txn) error {
		// One entry that cannot be read ends the list with its error: a list of commands with a gap
		// would be taken for whole.
		for a, err := range tAudit.Back(t, nil, nil) {
			if len(list) == n {
				return nil
			}
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

// AuditEntry gives one operator command with what it has changed; engine.ErrNotFound.
func (db *DB) AuditEntry(ctx context.Context, seq uint64) (a engine.AuditEntry, err error) {
	err = db.view(ctx, func(t *txn) error {
		k := key.Uint64(seq)
		if a, err = tAudit.Want(t, k, "audit entry %d", seq); err != nil {
			return err
		}
		// An entry without a second row has changed nothing that can be taken back.
		m, _, err := tAuditMoves.Get(t, k)
		a.Moves, a.Queue, a.Schedule = m.Jobs, m.Queue, m.Schedule
		return err
	})
	return a, err
}

// Audits lists operator commands, newest first, without what each has changed. The cursor is the
// number that a page begins below. One that is asked for by its number comes with what it has
// changed; engine.ErrNotFound.
func (db *DB) Audits(ctx context.Context, q engine.AuditQuery) (page engine.AuditPage, err error) {
	if q.Seq != 0 {
		a, err := db.AuditEntry(ctx, q.Seq)
		if err == nil {
			page.Entries = []engine.AuditEntry{a}
		}
		return page, err
	}
	var before []byte
	if q.After != "" {
		seq, err := strconv.ParseUint(q.After, 10, 63)
		if err != nil {
			return page, fmt.Errorf("audit: %w: %q is no cursor", engine.ErrInvalid, q.After)
		}
		before = key.Uint64(seq)
	}
	limit, fits := q.Rows(), auditFilter(q)
	err = db.view(ctx, func(t *txn) error {
		seen := 0
		for a, err := range tAudit.Back(t, nil, before) {
			if err != nil {
				return err
			}
			// The cursor is exclusive: a page begins below it. This entry was read and not judged,
			// so the next page must begin with it, and the cursor is one more than its number.
			if seen++; seen > maxScan {
				page.Next = strconv.FormatUint(a.Seq+1, 10)
				return nil
			}
			if !fits(a) {
				continue
			}
			// One entry more than the page fits, so there is a next page, and it begins below the
			// last of this one.
			if len(page.Entries) == limit {
				page.Next = strconv.FormatUint(page.Entries[limit-1].Seq, 10)
				return nil
			}
			page.Entries = append(page.Entries, a)
		}
		return nil
	})
	return page, err
}

// auditFilter looks for the text without regard to case, in what a person wrote or reads.
func auditFilter(q engine.AuditQuery) func(engine.AuditEntry) bool {
	want := strings.ToLower(q.Text)
	return func(a engine.AuditEntry) bool {
		if q.Op != "" && a.Op != q.Op {
			return false
		}
		if want == "" {
			return true
		}
		said := strings.Join([]string{a.By.User, a.By.Session, a.By.Via, a.Target, a.Reason, a.Result}, "\n")
		return strings.Contains(strings.ToLower(said), want)
	}
}
