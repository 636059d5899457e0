package storage

import (
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var (
	// Names change and PUUIDs hang on the key's project: what an account is found by are indexes,
	// and its own key is an id that never changes.
	tAccounts = collection.Declare(collection.New("accounts", "id", "the account"), collection.Records[league.Account]{
		Format: 17, Key: func(c *key.Coder, a *league.Account) { c.Rest(&a.ID) }, Fields: accountFields,
		Indexes: []collection.Index[league.Account]{accountName, accountPUUID},
		Counts:  func(*league.Account) []string { return []string{countAccounts} },
	})
	accountName = collection.Index[league.Account]{
		Table: collection.New("account_name", "str name, str tag, str platform, str id",
			"marker; name and tag in lower case"),
		Rows: func(a *league.Account) []collection.Entry { return []collection.Entry{{Key: string(nameKey(*a))}} },
		Of: func(e collection.Entry) []byte {
			read := key.Read([]byte(e.Key))
			_, _, _ = read.String(), read.String(), read.String()
			return []byte(read.String())
		},
		Missing: "is not found by its Riot ID", Wrong: "leads to no account of that name",
	}
	// An account has a PUUID for each project of an API key: Riot encrypts them per project.
	accountPUUID = collection.Index[league.Account]{
		Table: collection.New("account_puuid", "PUUID", "account id"),
		Rows: func(a *league.Account) (list []collection.Entry) {
			for _, puuid := range a.PUUIDs {
				if puuid != "" {
					list = append(list, collection.Entry{Key: puuid, Text: a.ID})
				}
			}
			return list
		},
		Of:      func(e collection.Entry) []byte { return []byte(e.Text) },
		Missing: "is not found by its PUUID", Wrong: "leads to no account of that PUUID",
	}
	tPUUIDCache = collection.Declare(
		collection.New("puuid_cache", "str project, str name, str tag", "PUUID and when it expires"),
		collection.Records[cachedPUUID]{
			Format: 21,
			Key:    func(c *key.Coder, p *cachedPUUID) { c.Str(&p.Project, &p.Name, &p.Tag) },
			Fields: func(c *rec.Coder, p *cachedPUUID) {
				c.Str(&p.PUUID)
				c.Time(&p.Until)
			}})
)

// cachedPUUID is what Riot last answered for a Riot ID under a key project.
type cachedPUUID struct {
	Project, Name, Tag, PUUID string
	Until                     time.Time
}

// accountFields are the fields of a record, in their order for good: what came later stands behind
// c.More, which is false in a record that was written before.
func accountFields(c *rec.Coder, a *league.Account) {
	c.Str(&a.GameName, &a.TagLine, &a.Platform)
	c.Map(&a.PUUIDs)
	c.Time(&a.Resolved)
	c.Bool(&a.Tracked)
	c.Strs(&a.Tags)
	policyFields(c, &a.Policy)
	c.Str(&a.Status, &a.Run)
	coverageFields(c, &a.Coverage)
	c.Time(&a.Created, &a.Updated, &a.LastSync)
	c.Str(&a.LastError)
	// Always written since: a record that is saved anew has all fields.
	if c.More(true) {
		c.Dur(&a.Policy.Cadence)
	}
	if c.More(true) {
		c.Bool(&a.Home)
	}
	if c.More(true) {
		c.Time(&a.Coverage.Walked)
	}
}

// policyFields are those of a policy; its cadence came later, and stands at the end of the account.
func policyFields(c *rec.Coder, p *league.Policy) {
	rec.List(c, &p.Queues, 1, func(c *rec.Coder, q *int) { c.Int(q) })
	c.Str(&p.Type)
	c.Dur(&p.Lookback)
	c.Str((*string)(&p.Timelines))
	c.Byte(&p.Priority)
}

// coverageFields are those of what is known to be fetched; when it was walked came later.
func coverageFields(c *rec.Coder, v *league.Coverage) {
	c.Str(&v.Head)
	c.Time(&v.HeadAt, &v.Floor)
	c.Bool(&v.ReachedEnd)
	c.Str((*string)(&v.Timelines))
}

// fold makes Riot IDs comparable: they differ in case only by appearance.
func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// nameKey leads from a Riot ID to the account: "hide on bush", "kr1", "kr", id. Name and tag come
// first, so that an account is found without its platform.
func nameKey(a league.Account) []byte {
	return key.Strings(fold(a.GameName), fold(a.TagLine), strings.ToLower(a.Platform), a.ID)
}

// Account gives an account by its id; engine.ErrNotFound.
func (db *DB) Account(tx engine.Tx, id string) (league.Account, error) { return own(tx).account(id) }

// account is an account, or a player of a collection: syncs work on both alike.
func (t *txn) account(id string) (league.Account, error) {
	if !t.Has(tAccounts.Table, []byte(id)) {
		if p, ok, err := tPlayers.Get(t, []byte(id)); ok || err != nil {
			return p, err
		}
	}
	return tAccounts.Want(t, []byte(id), "account %q", id)
}

// AccountNamed finds an account by its Riot ID, whatever the case; platform "" = any.
// engine.ErrNotFound.
func (db *DB) AccountNamed(tx engine.Tx, name, tag, platform string) (league.Account, error) {
	return own(tx).accountNamed(name, tag, platform)
}

func (t *txn) accountNamed(name, tag, platform string) (league.Account, error) {
	prefix := key.Strings(fold(name), fold(tag))
	// Without a platform the prefix ends behind the tag, and fits all platforms.
	if platform != "" {
		prefix = key.AppendString(prefix, strings.ToLower(platform))
	}
	// The first one: without a platform a Riot ID may be several accounts'.
	for r := range t.Rows(accountName.Table, prefix) {
		return t.account(string(accountName.Of(collection.Entry{Key: string(r.Key)})))
	}
	return league.Account{}, fmt.Errorf("account %s#%s: %w", name, tag, engine.ErrNotFound)
}

// AccountOfPUUID finds whose PUUID it is, under any key project.
func (db *DB) AccountOfPUUID(tx engine.Tx, puuid string) (id string, ok bool, err error) {
	return own(tx).Text(accountPUUID.Table, []byte(puuid))
}

// SaveAccount stores the account with all its index rows and emits its row.
func (db *DB) SaveAccount(tx engine.Tx, a league.Account) error {
	t := own(tx)
	if a.ID == "" {
		return fmt.Errorf("save account %s: no id: %w", a.RiotID(), engine.ErrInvalid)
	}
	k := []byte(a.ID)
	if a.Collection != "" {
		return t.savePlayer(k, a)
	}
	was, known, err := tAccounts.Get(t, k)
	if err != nil {
		return err
	}
	// Save takes nil for a value that is new: there are no index rows of before to remove.
	old := &was
	if !known {
		old = nil
	}
	if err := tAccounts.Save(t, k, old, &a); err != nil {
		return fmt.Errorf("save account %s: %w", a.ID, err)
	}
	t.touch(a.ID)
	return nil
}

// CachedPUUID gives what Riot last answered for a Riot ID under a key project, while it is fresh.
func (db *DB) CachedPUUID(tx engine.Tx, name, tag, project string, now time.Time) (puuid string, ok bool, err error) {
	wanted := cachedPUUID{Project: project, Name: fold(name), Tag: fold(tag)}
	cached, ok, err := tPUUIDCache.Get(own(tx), tPUUIDCache.KeyOf(&wanted))
	if err != nil || !ok || !now.Before(cached.Until) {
		return "", false, err
	}
	return cached.PUUID, true, nil
}

// CachePUUID keeps an answer until an instant.
func (db *DB) CachePUUID(tx engine.Tx, name, tag, project, puuid string, until time.Time) error {
	p := cachedPUUID{Project: project, Name: fold(name), Tag: fold(tag), PUUID: puuid, Until: until}
	return tPUUIDCache.Put(own(tx), tPUUIDCache.KeyOf(&p), &p)
}
