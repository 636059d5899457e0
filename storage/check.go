package storage

import (
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/key"
)

// Check reads every record and payload: each checksum, each index row in both directions, each counter against a recount,
// each payload against the match that names it. It keeps one reading transaction open for as long as it takes, so it is
// meant for a store that nobody writes to. Use it after CheckFiles, in a process of its own.
//
// What it finds are findings and no errors: it goes on, so that a report names everything that is
// wrong. An error is one of the reading itself.
func (db *DB) Check(ctx context.Context) (CheckReport, error) {
	r := CheckReport{Rows: map[string]int{}}
	err := db.view(ctx, func(t *txn) error {
		c := &checker{txn: t, ctx: ctx, payloads: db.payloads, report: &r, counts: map[string]int{}}
		for _, step := range []func() error{c.sums, c.declared, c.heldKeys, c.days, c.membership, c.feeds, c.calledBy, c.shards} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	return r, err
}

// CheckFiles runs bbolt's own page check on the state file and on every shard of a directory that nobody holds. A file that
// is damaged in a way that bbolt does not survive ends the process, so run it in a child.
func CheckFiles(o Options) ([]Finding, error) {
	db, err := OpenReadOnly(o)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	findings := payload.PageCheck(disk.StateFile, db.bolt)
	months, err := db.payloads.Months()
	if err != nil {
		return findings, err
	}
	for _, m := range months {
		err := db.payloads.With(m, false, func(s *payload.Shard) error {
			findings = append(findings, payload.PageCheck(payload.Dir+"/"+m+payload.Ext, s.Bolt)...)
			return nil
		})
		if err != nil {
			findings = append(findings, Finding{Table: payload.Dir + "/" + m + payload.Ext, Why: err.Error()})
		}
	}
	return findings, nil
}

// sums verifies the checksum of every value.
func (c *checker) sums() error {
	for _, tb := range tables {
		for r := range c.rows(tb, nil) {
			c.report.Rows[tb.name]++
			if _, _, err := tb.seed.Open(r.k, r.v); err != nil {
				c.bad(tb.name, r.k, "%v", err)
			}
		}
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
	}
	return nil
}

// declared checks what the tables of records say of themselves, and recounts.
func (c *checker) declared() error {
	for _, r := range declared {
		if r.check(c); c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
	}
	c.recount()
	return nil
}

// heldKeys checks that each unique key leads to a job that has it.
func (c *checker) heldKeys() error {
	for _, tb := range []*table{tJobKey, tArchiveKey} {
		for r := range c.rows(tb, nil) {
			n, _, err := c.number(tb, r.k)
			if err != nil {
				continue // named by sums
			}
			j, ok, err := c.readJob(key.Uint64(n))
			switch {
			case err != nil: // named by its own table
			case !ok:
				c.bad(tb.name, r.k, "names job %s, which is not there", jobID(n))
			case j.Key != string(r.k):
				c.bad(tb.name, r.k, "names job %s, whose key is %q", j.ID, j.Key)
			case tb == tJobKey && j.State.Terminal():
				c.bad(tb.name, r.k, "is held by job %s, which has ended", j.ID)
			}
		}
	}
	return nil
}

// membership recounts every group from its members (P6, P-16). The sums decide when a sync ends: wrong ones would end it early,
// or never.
func (c *checker) membership() error {
	derived := map[string]engine.GroupStat{}
	for r := range c.rows(tMembers.table, nil) {
		m, err := tMembers.decode(r.k, r.v)
		if err != nil {
			continue
		}
		g := string(m.groupKey())
		stat := derived[g]
		addMember(&stat, m, 1)
		derived[g] = stat
		j, ok, err := c.readJob(key.Uint64(m.child))
		if err == nil && (!ok || !m.mark.Settled() && j.State.Terminal()) {
			c.bad(tMembers.name, r.k, "child %s is open in its group, but has ended", jobID(m.child))
		}
	}
	for r := range c.rows(tGroups.table, nil) {
		stored, err := tGroups.decode(r.k, r.v)
		want := derived[string(r.k)]
		want.GroupID = stored.GroupID
		if err == nil && stored != want {
			c.bad(tGroups.name, r.k, "says %+v, its members say %+v", stored, want)
		}
		delete(derived, string(r.k))
	}
	for g := range derived {
		c.bad(tMembers.name, []byte(g), "has members but no totals")
	}
	return nil
}

// shards reads every payload of every month.
func (c *checker) shards() error {
	months, err := c.payloads.Months()
	if err != nil {
		return err
	}
	for _, m := range months {
		if err := c.shard(m); err != nil {
			return err
		}
	}
	return nil
}

// shard reads each payload of a month. A month whose file cannot be read is one finding; the others are read all the same.
func (c *checker) shard(month string) error {
	name := payload.Dir + "/" + month
	err := c.payloads.With(month, false, func(s *payload.Shard) error {
		return s.Guard(func() error {
			c.dictionaries(name, s.Dicts)
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

// dictionaries names those that cannot be used: all that was packed with them is lost.
func (c *checker) dictionaries(name string, ds *payload.Dictionaries) {
	for id, err := range ds.Bad {
		c.bad(name, payload.DictKey(id), "dictionary: %v", err)
	}
}

// payload checks one payload down to Riot's JSON. One that no match names is an orphan: a crash left it before its state was
// written, and it is adopted when the match is fetched again. Orphans are counted, and no fault.
func (c *checker) payload(s *payload.Shard, match string, k, v []byte) error {
	c.report.Payloads++
	c.report.Bytes += int64(len(v))
	part := payload.PartOfKey(k)
	f, err := payload.Open(s.Month, match, part, v)
	if err == nil {
		_, err = f.Raw(s.Dicts)
	}
	if err != nil {
		c.bad(payload.Dir+"/"+s.Month, []byte(match+"/"+string(k)), "%v", err)
	}
	m, err := c.match(match)
	if f := m.Of(part); err != nil || f.Status != league.Success || f.Ref.Month != s.Month {
		c.report.Orphans++
	}
	return context.Cause(c.ctx)
}
