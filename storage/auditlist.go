package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/key"
)

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
	limit, fits := pageSize(q.Page), auditFilter(q)
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
