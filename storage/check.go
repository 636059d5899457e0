package storage

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// Finding is one thing that is not as it must be.
type Finding = payload.Finding

// CheckReport is what Check found. The store is sound when there are no findings.
type CheckReport struct {
	Rows     map[string]int `json:"rows"` // per table
	Payloads int            `json:"payloads"`
	Bytes    int64          `json:"payload_bytes"`
	Orphans  int            `json:"orphans"` // payloads that no match names: a crash may leave some; they are adopted
	Findings []Finding      `json:"findings"`
	More     int            `json:"more"` // findings above payload.MaxFindings, only counted
}

// Sound reports whether nothing was found.
func (r CheckReport) Sound() bool { return len(r.Findings) == 0 }

// bad adds a finding.
func (r *CheckReport) bad(table, key, format string, args ...any) {
	r.add(Finding{Table: table, Key: key, Why: fmt.Sprintf(format, args...)})
}

// badPayload adds a finding about a stored part of a match.
func (r *CheckReport) badPayload(table, match string, part league.Part, format string, args ...any) {
	r.add(Finding{Table: table, Key: match, Why: fmt.Sprintf(format, args...), Match: match, Part: part})
}

func (r *CheckReport) add(f Finding) {
	if len(r.Findings) >= payload.MaxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}

// checker goes through the whole store in one transaction.
type checker struct {
	*txn
	ctx      context.Context
	payloads payloadStore
	files    *payload.Store
	report   *CheckReport
	tables   *collection.Checker
}

// Check reads every record and payload: each checksum, each index row in both directions, each
// counter against a recount, each payload against the match that names it. It keeps one reading
// transaction open for as long as it takes, so it is meant for a store that nobody writes to. Use
// it after CheckFiles, in a process of its own.
//
// What it finds are findings and no errors: it goes on, so that a report names everything that is
// wrong. An error is one of the reading itself.
func (db *DB) Check(ctx context.Context) (CheckReport, error) {
	r := CheckReport{Rows: map[string]int{}}
	err := db.view(ctx, func(t *txn) error {
		c := &checker{txn: t, ctx: ctx, payloads: db.payloads, files: db.files, report: &r}
		c.tables = collection.NewChecker(t, c.bad)
		c.relations()
		if err := c.tables.Sums(ctx, r.Rows); err != nil {
			return err
		}
		if err := c.tables.Declared(ctx); err != nil {
			return err
		}
		for _, recount := range []func(){c.heldKeys, c.days, c.membership, c.feeds, c.calledBy} {
			if recount(); ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		if db.share != nil {
			return db.share.Payloads(ctx, c.unnamed)
		}
		months, err := c.files.Months()
		if err != nil {
			return err
		}
		for _, m := range months {
			if err := c.shard(m); err != nil {
				return err
			}
		}
		return nil
	})
	return r, err
}

// bad adds a finding about a row, or about a whole file where k is nil.
func (c *checker) bad(table string, k []byte, format string, args ...any) {
	c.report.bad(table, payload.ShowKey(k), format, args...)
}

// CheckFiles runs bbolt's own page check on the state file and on every shard of a directory that
// nobody holds. A file that is damaged in a way that bbolt does not survive ends the process, so
// run it in a child.
func CheckFiles(o Options) ([]Finding, error) {
	db, err := OpenReadOnly(o)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	findings := payload.PageCheck(disk.StateFile, db.bolt)
	// A month that cannot be opened is a finding, and the others are read all the same.
	months, err := db.files.Months()
	for _, m := range months {
		name := payload.Dir + "/" + m + payload.Ext
		err := db.files.With(m, false, func(s *payload.Shard) error {
			findings = append(findings, payload.PageCheck(name, s.Bolt)...)
			return nil
		})
		if err != nil {
			findings = append(findings, Finding{Table: name, Why: err.Error()})
		}
	}
	return findings, err
}

// shard reads each payload of a month. A month whose file cannot be read is one finding; the others
// are read all the same.
func (c *checker) shard(month string) error {
	name := payload.Dir + "/" + month
	err := c.files.With(month, false, func(s *payload.Shard) error {
		return s.Guard(func() error {
			return s.Bolt.View(func(b *bolt.Tx) error {
				p := b.Bucket([]byte(payload.Table))
				return p.ForEachBucket(func(match []byte) error {
					return p.Bucket(match).ForEach(func(k, v []byte) error {
						return c.payload(s, string(match), k, v)
					})
				})
			})
		})
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if err != nil {
		c.bad(name, nil, "%v", err)
	}
	return nil
}

// payload checks one payload down to Riot's JSON. One that no match names is an orphan: a crash
// left it before its state was written, and it is adopted when the match is fetched again. Orphans
// are counted, and no fault.
func (c *checker) payload(s *payload.Shard, match string, k, v []byte) error {
	c.report.Payloads++
	c.report.Bytes += int64(len(v))
	part := payload.PartOfKey(k)
	frame, err := payload.Open(s.Month, match, part, v)
	if err == nil {
		_, err = frame.Raw()
	}
	named := c.names(match, part, s.Month)
	switch {
	case err != nil && named:
		c.report.badPayload(payload.Dir+"/"+s.Month, match, part, "the %s: %v", part, err)
	case err != nil:
		c.bad(payload.Dir+"/"+s.Month, []byte(match+"/"+string(k)), "%v", err)
	}
	return context.Cause(c.ctx)
}

// names reports whether a match names a payload of a month, and counts one that none does.
func (c *checker) names(match string, part league.Part, month string) bool {
	m, unread := c.match(match)
	f := m.Of(part)
	named := unread == nil && f.Status == league.Success && f.Ref.Month == month
	if !named {
		c.report.Orphans++
	}
	return named
}

// unnamed counts a payload that all have. Those that a match names are proved with it.
func (c *checker) unnamed(match string, part league.Part, month string, bytes int64) {
	c.report.Payloads++
	c.report.Bytes += bytes
	c.names(match, part, month)
}
