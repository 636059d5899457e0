package storage

import (
	"fmt"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var (
	tTagPolicies = collection.Declare(
		collection.New("tag_policies", "tag", "what the syncs of accounts with the tag cover"),
		collection.Records[league.Policy]{Format: 28, Fields: func(c *rec.Coder, p *league.Policy) {
			policyFields(c, p)
			c.Dur(&p.Cadence)
		}})
	tCoverage = collection.Declare(
		collection.New("coverage", "str account or run, str list", "the complete range of a list that is not of all games").BelongsTo(ofAccount|ofRun),
		collection.Records[league.Coverage]{Format: 29, Fields: coverageFields})
	tIDsCache = collection.Declare(
		collection.New("ids_cache", "str account, str list", "the newest ids as listed, and when").BelongsTo(ofAccount),
		collection.Records[league.CachedIDs]{Format: 30, Fields: func(c *rec.Coder, ids *league.CachedIDs) {
			c.Time(&ids.At, &ids.Floor)
			c.Bool(&ids.Whole)
			c.Strs(&ids.IDs)
		}})
)

// TagPolicy gives what the syncs of accounts with a tag cover; the zero policy when nothing is
// said.
func (db *DB) TagPolicy(tx engine.Tx, tag string) (p league.Policy, err error) {
	p, _, err = tTagPolicies.Get(own(tx), []byte(tag))
	return p, err
}

// SaveTagPolicy sets a tag's policy; the zero one removes it.
func (db *DB) SaveTagPolicy(tx engine.Tx, tag string, p league.Policy) error {
	if strings.TrimSpace(tag) == "" {
		return fmt.Errorf("a policy of no tag: %w", engine.ErrInvalid)
	}
	t := own(tx)
	if p.IsZero() {
		return t.Remove(tTagPolicies.Table, []byte(tag))
	}
	return tTagPolicies.Put(t, []byte(tag), &p)
}

// Coverage gives the range that is known to be complete of one list of an account's games, or of a
// run in the making.
func (db *DB) Coverage(tx engine.Tx, owner, list string) (c league.Coverage, err error) {
	c, _, err = tCoverage.Get(own(tx), key.Strings(owner, list))
	return c, err
}

// SaveCoverage stores it. The range of all games of an account is the account's own: see
// league.Account.
func (db *DB) SaveCoverage(tx engine.Tx, owner, list string, c league.Coverage) error {
	return tCoverage.Put(own(tx), key.Strings(owner, list), &c)
}

// DropCoverage forgets all ranges of an owner.
func (db *DB) DropCoverage(tx engine.Tx, owner string) error {
	return own(tx).RemoveAll(tCoverage.Table, key.Strings(owner))
}

// MoveCoverage gives all ranges of an owner to another.
func (db *DB) MoveCoverage(tx engine.Tx, from, to string) error {
	t := own(tx)
	moved := map[string]league.Coverage{}
	for r := range t.Rows(tCoverage.Table, key.Strings(from)) {
		read := key.Read(r.Key)
		_ = read.String()
		list := read.String()
		c, err := tCoverage.Decode(r.Key, r.Value)
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
	return tIDsCache.Get(own(tx), key.Strings(account, list))
}

// CacheIDs keeps what was listed, in place of what was there.
func (db *DB) CacheIDs(tx engine.Tx, account, list string, c league.CachedIDs) error {
	return tIDsCache.Put(own(tx), key.Strings(account, list), &c)
}
