package storage

import (
	"fmt"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// TagPolicy gives what the syncs of accounts with a tag cover; the zero policy when nothing is said.
func (db *DB) TagPolicy(tx engine.Tx, tag string) (p league.Policy, err error) {
	k := []byte(tag)
	d, ok, err := own(tx).get(tTagPolicies, k, fPolicy)
	if err != nil || !ok {
		return p, err
	}
	p = decodePolicy(d)
	p.Cadence = d.Dur()
	return p, tTagPolicies.done(k, d)
}

// SaveTagPolicy sets a tag's policy; the zero one removes it.
func (db *DB) SaveTagPolicy(tx engine.Tx, tag string, p league.Policy) error {
	if strings.TrimSpace(tag) == "" {
		return fmt.Errorf("a policy of no tag: %w", engine.ErrInvalid)
	}
	t := own(tx)
	if p.IsZero() {
		return t.remove(tTagPolicies, []byte(tag))
	}
	e := rec.NewEnc(fPolicy, 32)
	encodePolicy(e, p)
	e.Dur(p.Cadence)
	return t.put(tTagPolicies, []byte(tag), e)
}

// Coverage gives the range that is known to be complete of one list of an account's games, or of a run in the making.
func (db *DB) Coverage(tx engine.Tx, owner, list string) (c league.Coverage, err error) {
	k := key.Strings(owner, list)
	d, ok, err := own(tx).get(tCoverage, k, fCoverage)
	if err != nil || !ok {
		return c, err
	}
	c = league.Coverage{Head: d.Str(), HeadAt: d.Time(), Floor: d.Time(), ReachedEnd: d.Bool(), Timelines: league.Timelines(d.Str())}
	return c, tCoverage.done(k, d)
}

// SaveCoverage stores it. The range of all games of an account is the account's own: see league.Account.
func (db *DB) SaveCoverage(tx engine.Tx, owner, list string, c league.Coverage) error {
	e := rec.NewEnc(fCoverage, 48)
	e.Str(c.Head)
	e.Time(c.HeadAt)
	e.Time(c.Floor)
	e.Bool(c.ReachedEnd)
	e.Str(string(c.Timelines))
	return own(tx).put(tCoverage, key.Strings(owner, list), e)
}

// DropCoverage forgets all ranges of an owner.
func (db *DB) DropCoverage(tx engine.Tx, owner string) error {
	return own(tx).removeAll(tCoverage, key.Strings(owner))
}

// MoveCoverage gives all ranges of an owner to another.
func (db *DB) MoveCoverage(tx engine.Tx, from, to string) error {
	t := own(tx)
	moved := map[string]league.Coverage{}
	for r := range t.rows(tCoverage, key.Strings(from)) {
		read := key.Read(r.k)
		_ = read.String()
		list := read.String()
		c, err := db.Coverage(t, from, list)
		if err != nil {
			return err
		}
		moved[list] = c
	}
	for list, c := range moved {
		if err := db.SaveCoverage(t, to, list, c); err != nil {
			return err
		}
	}
	return db.DropCoverage(t, from)
}

// CachedIDs gives the newest ids of a list as they were listed last; false when there are none.
func (db *DB) CachedIDs(tx engine.Tx, account, list string) (c league.CachedIDs, ok bool, err error) {
	k := key.Strings(account, list)
	d, ok, err := own(tx).get(tIDsCache, k, fIDs)
	if err != nil || !ok {
		return c, false, err
	}
	c = league.CachedIDs{At: d.Time(), Floor: d.Time(), Whole: d.Bool(), IDs: d.Strs()}
	return c, true, tIDsCache.done(k, d)
}

// CacheIDs keeps what was listed, in place of what was there.
func (db *DB) CacheIDs(tx engine.Tx, account, list string, c league.CachedIDs) error {
	e := rec.NewEnc(fIDs, 24+16*len(c.IDs))
	e.Time(c.At)
	e.Time(c.Floor)
	e.Bool(c.Whole)
	e.Strs(c.IDs)
	return own(tx).put(tIDsCache, key.Strings(account, list), e)
}
