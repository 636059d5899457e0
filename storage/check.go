package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/key"
)

// Finding is one thing that is not as it must be.
type Finding struct {
	Table string `json:"table"`
	Key   string `json:"key"` // as text where it is one, else in hexadecimal
	Why   string `json:"why"`
}

// CheckReport is what Check found. The store is sound when there are no findings.
type CheckReport struct {
	Rows     map[string]int `json:"rows"` // per table
	Payloads int            `json:"payloads"`
	Bytes    int64          `json:"payload_bytes"`
	Orphans  int            `json:"orphans"` // payloads that no match names: a crash may leave some; they are adopted
	Findings []Finding      `json:"findings"`
	More     int            `json:"more"` // findings above maxFindings, only counted
}

// Sound reports whether nothing was found.
func (r CheckReport) Sound() bool { return len(r.Findings) == 0 }

// maxFindings are listed; a destroyed table would fill memory otherwise.
const maxFindings = 1000

// checker goes through the whole store in one transaction.
type checker struct {
	*Tx
	ctx      context.Context
	payloads *Payloads
	report   *CheckReport
}

// Check reads every record and payload: each checksum, each index row in both directions, each counter against a recount,
// each payload against the match that names it. It keeps one reading transaction open for as long as it takes, so it is
// meant for a store that nobody writes to. Use it after CheckFiles, in a process of its own.
func (db *DB) Check(ctx context.Context) (CheckReport, error) {
	r := CheckReport{Rows: map[string]int{}}
	err := db.view(ctx, func(t *Tx) error {
		c := &checker{Tx: t, ctx: ctx, payloads: db.payloads, report: &r}
		for _, step := range []func() error{
			c.sums, c.liveJobs, c.endedJobs, c.attempted, c.days, c.membership, c.accounts, c.runs, c.matches, c.lists, c.gaps, c.feeds, c.shards,
		} {
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
	findings := pageCheck(stateFile, db.bolt)
	months, err := db.payloads.Months()
	if err != nil {
		return findings, err
	}
	for _, m := range months {
		err := db.payloads.with(m, false, func(s *shard) error {
			findings = append(findings, pageCheck(payloadDir+"/"+m+shardExt, s.bolt)...)
			return nil
		})
		if err != nil {
			findings = append(findings, Finding{Table: payloadDir + "/" + m + shardExt, Why: err.Error()})
		}
	}
	return findings, nil
}

func pageCheck(name string, b *bolt.DB) (findings []Finding) {
	err := b.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			if len(findings) < maxFindings {
				findings = append(findings, Finding{Table: name, Why: err.Error()})
			}
		}
		return nil
	})
	if err != nil {
		findings = append(findings, Finding{Table: name, Why: err.Error()})
	}
	return findings
}

func (c *checker) bad(tb string, k []byte, format string, args ...any) {
	if len(c.report.Findings) >= maxFindings {
		c.report.More++
		return
	}
	c.report.Findings = append(c.report.Findings, Finding{Table: tb, Key: showKey(k), Why: fmt.Sprintf(format, args...)})
}

// fault lists an error if it is about a record, and returns it if it is not.
func (c *checker) fault(err error) error {
	if e, ok := asCorrupt(err); ok {
		c.bad(e.Bucket, e.Key, "%v", e.Err)
		return nil
	}
	if isNotFound(err) {
		c.bad("", nil, "%v", err)
		return nil
	}
	return err
}

func showKey(k []byte) string {
	for _, b := range k {
		if b < ' ' || b > '~' {
			return fmt.Sprintf("%x", k)
		}
	}
	return string(k)
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

// pointsTo checks that the number under k leads to a job with that unique key.
func (c *checker) pointsTo(tb *table, liveOnly bool) error {
	for r := range c.rows(tb, nil) {
		n, _, err := c.number(tb, r.k)
		if err != nil {
			continue // named by sums
		}
		j, ok, err := c.readJob(key.Uint64(n))
		if err := c.fault(err); err != nil {
			return err
		}
		switch {
		case !ok:
			c.bad(tb.name, r.k, "names job %s, which is not there", jobID(n))
		case j.Key != string(r.k):
			c.bad(tb.name, r.k, "names job %s, whose key is %q", j.ID, j.Key)
		case liveOnly && j.State.Terminal():
			c.bad(tb.name, r.k, "is held by job %s, which has ended", j.ID)
		}
	}
	return nil
}

func (c *checker) liveJobs() error {
	for r := range c.rows(tJobState, nil) {
		j, ok, err := c.readLive(r.k)
		if err := c.fault(err); err != nil {
			return err
		}
		if !ok {
			continue
		}
		if j.State.Terminal() {
			c.bad(tJobState.name, r.k, "job %s is %s but not in the archive", j.ID, j.State)
		}
		if c.has(tArchive, r.k) {
			c.bad(tJobState.name, r.k, "job %s is live and in the archive", j.ID)
		}
		if n, held, err := c.number(tJobKey, []byte(j.Key)); j.Key != "" && err == nil && (!held || jobID(n) != j.ID) {
			c.bad(tJobState.name, r.k, "job %s does not hold its key %q", j.ID, j.Key)
		}
	}
	for _, tb := range []*table{tJobSpec, tJobError} {
		for r := range c.rows(tb, nil) {
			if !c.has(tJobState, r.k) {
				c.bad(tb.name, r.k, "belongs to no live job")
			}
		}
	}
	return c.pointsTo(tJobKey, true)
}

func (c *checker) endedJobs() error {
	discards, whole := map[string]int{}, true
	for r := range c.rows(tArchive, nil) {
		j, err := decodeEnded(r.k, r.v)
		if err := c.fault(err); err != nil {
			return err
		}
		if err != nil {
			whole = false
			continue
		}
		if j.State == engine.Discarded {
			discards[countDiscards+string(j.Queue)]++
		}
		if !j.State.Terminal() {
			c.bad(tArchive.name, r.k, "job %s is %s", j.ID, j.State)
		}
		if listed(j.State) && !c.has(tArchiveState, stateKey(j.State, r.k)) {
			c.bad(tArchive.name, r.k, "job %s is not listed as %s", j.ID, j.State)
		}
		// Of completed ones the latest may have been pruned.
		if j.Key != "" && listed(j.State) && !c.has(tArchiveKey, []byte(j.Key)) {
			c.bad(tArchive.name, r.k, "job %s is not found by its key %q", j.ID, j.Key)
		}
	}
	if whole { // the queue of a row that cannot be read is not known
		c.recountDiscards(discards)
	}
	for r := range c.rows(tArchiveState, nil) {
		j, ok, err := c.readEnded(r.k[1:])
		if err == nil && (!ok || byte(j.State) != r.k[0]) {
			c.bad(tArchiveState.name, r.k, "lists job %s as %s, which it is not", jobID(key.Read(r.k[1:]).Uint64()), engine.State(r.k[0]))
		}
	}
	return c.pointsTo(tArchiveKey, false)
}

// attempted checks attempts, what owners did last, and history.
func (c *checker) attempted() error {
	for r := range c.rows(tAttempts, nil) {
		_, err := decodeAttempt(r.k, r.v)
		if err := c.fault(err); err != nil {
			return err
		}
		if len(r.k) != 16 || !c.has(tJobState, r.k[:8]) && !c.has(tArchive, r.k[:8]) {
			c.bad(tAttempts.name, r.k, "belongs to no job")
		}
	}
	for r := range c.rows(tRecent, nil) {
		d, err := tRecent.open(r.k, r.v, fRecent)
		if err != nil {
			continue
		}
		if !c.has(tAttempts, key.AppendUint64(key.Uint64(d.Uint()), d.Uint())) {
			c.bad(tRecent.name, r.k, "names an attempt that is not there")
		}
	}
	return c.calledBy()
}

// membership recounts every group from its members (P6, P-16).
func (c *checker) membership() error {
	derived := map[string]engine.GroupStat{}
	for r := range c.rows(tMembers, nil) {
		m, err := decodeMember(r.k, r.v)
		if err := c.fault(err); err != nil {
			return err
		}
		if err != nil || len(r.k) != 17 {
			continue
		}
		g, child := r.k[:9], r.k[9:]
		stat := derived[string(g)]
		addMember(&stat, m, 1)
		derived[string(g)] = stat
		if !c.has(tMemberOf, append(bytes.Clone(child), g...)) {
			c.bad(tMembers.name, r.k, "the child does not know its group")
		}
		j, ok, err := c.readJob(child)
		if err == nil && (!ok || !m.mark.Settled() && j.State.Terminal()) {
			c.bad(tMembers.name, r.k, "child %s is open in its group, but has ended", jobID(key.Read(child).Uint64()))
		}
	}
	for r := range c.rows(tMemberOf, nil) {
		if len(r.k) != 17 || !c.has(tMembers, append(bytes.Clone(r.k[8:]), r.k[:8]...)) {
			c.bad(tMemberOf.name, r.k, "the group does not know its child")
		}
	}
	return c.recountGroups(derived)
}

func (c *checker) recountGroups(derived map[string]engine.GroupStat) error {
	for r := range c.rows(tGroups, nil) {
		stored, err := decodeGroup(r.k, r.v)
		if err := c.fault(err); err != nil {
			return err
		}
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

func (c *checker) shard(month string) error {
	name := payloadDir + "/" + month
	err := c.payloads.with(month, false, func(s *shard) error {
		return s.guard(func() error {
			c.dictionaries(name, s.dicts)
			return s.bolt.View(func(b *bolt.Tx) error {
				p := b.Bucket([]byte(payloadTable))
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

func (c *checker) dictionaries(name string, ds *dictionaries) {
	for id, err := range ds.bad {
		c.bad(name, dictKey(id), "dictionary: %v", err)
	}
}

func (c *checker) payload(s *shard, match string, k, v []byte) error {
	c.report.Payloads++
	c.report.Bytes += int64(len(v))
	part := partOfKey(k)
	f, err := openPayload(s.month, match, part, v)
	if err == nil {
		_, err = f.raw(s.dicts)
	}
	if err != nil {
		c.bad(payloadDir+"/"+s.month, []byte(match+"/"+string(k)), "%v", err)
	}
	m, err := c.match(match)
	if f := fetchOf(m, part); err != nil || f.Status != league.Success || f.Ref.Month != s.month {
		c.report.Orphans++
	}
	return context.Cause(c.ctx)
}

func fetchOf(m league.Match, p league.Part) league.Fetch {
	if p == league.PartTimeline {
		return m.Timeline
	}
	return m.Match
}
