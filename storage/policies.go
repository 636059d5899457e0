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
		collection.Records[tagPolicy]{
			Format: 28,
			Key:    func(c *key.Coder, p *tagPolicy) { c.Rest(&p.Tag) },
			Fields: func(c *rec.Coder, p *tagPolicy) {
				policyFields(c, &p.Policy)
				c.Dur(&p.Policy.Cadence)
			}})
	// Owner is an account, or a run that has not listed everything yet. List is a filter's name, as
	// league.List gives it; "" = all games.
	tCoverage = collection.Declare(
		collection.New("coverage", "str account or run, str list", "the complete range of a list that is not of all games").
			BelongsTo(ofAccount|ofRun),
		collection.Records[listRange]{
			Format: 29,
			Key:    func(c *key.Coder, r *listRange) { c.Str(&r.Owner, &r.List) },
			Fields: func(c *rec.Coder, r *listRange) {
				coverageFields(c, &r.Coverage)
				if c.More(true) {
					c.Time(&r.Coverage.Walked)
				}
			},
		})
	tIDsCache = collection.Declare(
		collection.New("ids_cache", "str account, str list", "the newest ids as listed, and when").BelongsTo(ofAccount),
		collection.Records[listedIDs]{
			Format: 30,
			Key:    func(c *key.Coder, ids *listedIDs) { c.Str(&ids.Account, &ids.List) },
			Fields: func(c *rec.Coder, ids *listedIDs) {
				c.Time(&ids.At, &ids.Floor)
				c.Bool(&ids.Whole)
				c.Strs(&ids.IDs)
			}})
)

// tagPolicy is the policy of a tag.
type tagPolicy struct {
	Tag    string
	Policy league.Policy
}

// listRange is what is complete of one list of an account, or of a run in the making.
type listRange struct {
	Owner, List string
	league.Coverage
}

// listedIDs are what Riot listed last of one list of an account.
type listedIDs struct {
	Account, List string
	league.CachedIDs
}

// TagPolicy gives what the syncs of accounts with a tag cover; the zero policy when nothing is
// said.
func (db *DB) TagPolicy(tx engine.Tx, tag string) (league.Policy, error) {
	p, _, err := tTagPolicies.Get(own(tx), []byte(tag))
	return p.Policy, err
}

// SaveTagPolicy sets a tag's policy; the zero one removes it.
func (db *DB) SaveTagPolicy(tx engine.Tx, tag string, p league.Policy) error {
	if strings.TrimSpace(tag) == "" {
		return fmt.Errorf("a policy of no tag: %w", engine.ErrInvalid)
	}
	t := own(tx)
	// A tag without a policy has no row: the accounts' own policies then count alone.
	if p.IsZero() {
		return t.Remove(tTagPolicies.Table, []byte(tag))
	}
	return tTagPolicies.Put(t, []byte(tag), &tagPolicy{Tag: tag, Policy: p})
}

// Coverage gives the range that is known to be complete of one list of an account's games, or of a
// run in the making.
func (db *DB) Coverage(tx engine.Tx, owner, list string) (league.Coverage, error) {
	r, _, err := tCoverage.Get(own(tx), key.Strings(owner, list))
	return r.Coverage, err
}

// SaveCoverage stores it. The range of all games of an account is the account's own: see
// league.Account.
func (db *DB) SaveCoverage(tx engine.Tx, owner, list string, c league.Coverage) error {
	r := listRange{Owner: owner, List: list, Coverage: c}
	return tCoverage.Put(own(tx), tCoverage.KeyOf(&r), &r)
}

// DropCoverage forgets all ranges of an owner.
func (db *DB) DropCoverage(tx engine.Tx, owner string) error {
	return own(tx).RemoveAll(tCoverage.Table, key.Strings(owner))
}

// MoveCoverage gives all ranges of an owner to another.
func (db *DB) MoveCoverage(tx engine.Tx, from, to string) error {
	t := own(tx)
	// All are read before any is written: the new rows are in the same table.
	moved, err := collection.All(tCoverage.Under(t, key.Strings(from)))
	if err != nil {
		return err
	}
	for _, r := range moved {
		if err := db.SaveCoverage(t, to, r.List, r.Coverage); err != nil {
			return err
		}
	}
	return db.DropCoverage(t, from)
}

// CachedIDs gives the newest ids of a list as they were listed last; false when there are none.
func (db *DB) CachedIDs(tx engine.Tx, account, list string) (league.CachedIDs, bool, error) {
	ids, ok, err := tIDsCache.Get(own(tx), key.Strings(account, list))
	return ids.CachedIDs, ok, err
}

// CacheIDs keeps what was listed, in place of what was there.
func (db *DB) CacheIDs(tx engine.Tx, account, list string, c league.CachedIDs) error {
	ids := listedIDs{Account: account, List: list, CachedIDs: c}
	return tIDsCache.Put(own(tx), tIDsCache.KeyOf(&ids), &ids)
}
