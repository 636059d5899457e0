package pg

import (
	"fmt"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// What syncs cover and how far lists are known.

var (
	tTagPolicies = declare("fs_tag_policy", "tag", fields[both.TagPolicy](nil))
	tCoverage    = declare("fs_coverage", "owner, list", fields[both.Range](nil))
	tListedIDs   = declare("fs_cache", "account, list", fields[both.ListedIDs](nil))
)

// TagPolicy gives what the syncs of accounts with a tag cover; the zero policy when nothing is
// said.
func (db *DB) TagPolicy(tx engine.Tx, tag string) (league.Policy, error) {
	p, _, err := tTagPolicies.find(own(tx), (*text)(&tag))
	return p.Policy, err
}

// SaveTagPolicy sets a tag's policy; the zero one removes it.
func (db *DB) SaveTagPolicy(tx engine.Tx, tag string, p league.Policy) error {
	switch t := own(tx); {
	case strings.TrimSpace(tag) == "":
		return fmt.Errorf("a policy of no tag: %w", engine.ErrInvalid)
	case p.IsZero():
		tTagPolicies.drop(t, (*text)(&tag))
	default:
		tTagPolicies.put(t, both.TagPolicy{Tag: tag, Policy: p})
	}
	return nil
}

// Coverage gives the range that is known to be complete of one list of an account's games, or of
// a run in the making.
func (db *DB) Coverage(tx engine.Tx, owner, list string) (league.Coverage, error) {
	c, _, err := tCoverage.find(own(tx), (*text)(&owner), (*text)(&list))
	return c.Coverage, err
}

// SaveCoverage stores it. The range of all games of an account is the account's own: see
// league.Account.
func (db *DB) SaveCoverage(tx engine.Tx, owner, list string, c league.Coverage) error {
	tCoverage.put(own(tx), both.Range{Owner: owner, List: list, Coverage: c})
	return nil
}

// DropCoverage forgets all ranges of an owner.
func (db *DB) DropCoverage(tx engine.Tx, owner string) error {
	own(tx).exec("delete from fs_coverage where owner = $1", (*text)(&owner))
	return nil
}

// MoveCoverage gives all ranges of an owner to another.
func (db *DB) MoveCoverage(tx engine.Tx, from, to string) error {
	t := own(tx)
	t.exec("delete from fs_coverage where owner = $2 and list in (select list from fs_coverage where owner = $1)",
		(*text)(&from), (*text)(&to))
	t.exec("update fs_coverage set owner = $2 where owner = $1", (*text)(&from), (*text)(&to))
	return nil
}

// CachedIDs gives the newest ids of a list as they were listed last; false when there are none.
func (db *DB) CachedIDs(tx engine.Tx, account, list string) (league.CachedIDs, bool, error) {
	l, ok, err := tListedIDs.find(own(tx), (*text)(&account), (*text)(&list))
	return l.CachedIDs, ok, err
}

// CacheIDs keeps what was listed, in place of what was there.
func (db *DB) CacheIDs(tx engine.Tx, account, list string, c league.CachedIDs) error {
	tListedIDs.put(own(tx), both.ListedIDs{Account: account, List: list, CachedIDs: c})
	return nil
}
