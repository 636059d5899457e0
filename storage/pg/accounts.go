package pg

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// named is an account with what it is found by.
// They are columns of their own because the server's lower() goes by the database's locale, and
// names must be the same in both stores: see [both.Fold].
type named struct {
	league.Account
	name, tag, search string
}

// nameOf adds what an account is found by: "ana", "euw" and "ana#euw" of Ana#EUW.
func nameOf(a league.Account) named {
	return named{a, both.Fold(a.GameName), both.Fold(a.TagLine), strings.ToLower(a.RiotID())}
}

var (
	tAccounts = declare("fs_account", "id", func(a *named) []column {
		return append(accountColumns(&a.Account), column{"name_key", (*text)(&a.name)},
			column{"tag_key", (*text)(&a.tag)}, column{"search_key", (*text)(&a.search)})
	})
	accountColumns = fields[league.Account](called{"Collection": "-"}) // which is refused here

	tPUUIDs       = declare("fs_puuid", "puuid", fields[both.PUUID](nil))
	tCachedPUUIDs = declare("fs_puuid_cache", "project, name, tag", fields[both.CachedPUUID](nil))
)

// Account gives an account by its id; engine.ErrNotFound.
//
// Within a transaction that writes, t.lock ends the question with "for update": two members that
// change the same account do so one after the other.
func (db *DB) Account(tx engine.Tx, id string) (league.Account, error) {
	t := own(tx)
	a, err := tAccounts.need(t, fmt.Sprintf("account %q", id), (*text)(&id))
	return a.Account, err
}

// AccountNamed finds an account by its Riot ID, whatever the case; platform "" = any.
// engine.ErrNotFound. Of several platforms it gives the first by name, as the other store does.
func (db *DB) AccountNamed(tx engine.Tx, name, tag, platform string) (league.Account, error) {
	t, w := own(tx), &where{}
	w.and("name_key = ?", storable(both.Fold(name)))
	w.and("tag_key = ?", storable(both.Fold(tag)))
	if platform != "" {
		w.and("lower(platform) = ?", storable(strings.ToLower(platform)))
	}
	a, err := tAccounts.want(t, "account "+name+"#"+tag, w.sql()+" order by lower(platform), id limit 1"+t.lock, w.args...)
	return a.Account, err
}

// accountOn takes an id or a Riot ID; only the latter has a '#'. Of a name that has one itself the
// last one counts: tag lines have letters and digits only.
func (t *txn) accountOn(id, platform string) (league.Account, error) {
	if i := strings.LastIndexByte(id, '#'); i >= 0 {
		return t.db.AccountNamed(t, id[:i], id[i+1:], platform)
	}
	return t.db.Account(t, id)
}

// AccountOfPUUID finds whose PUUID it is, under any key project.
func (db *DB) AccountOfPUUID(tx engine.Tx, puuid string) (id string, ok bool, err error) {
	return value[string](own(tx), "select account from fs_puuid where puuid = $1", (*text)(&puuid))
}

// AllAccounts iterates every account in the order they were added. One that cannot be read is
// left out; check names it.
func (db *DB) AllAccounts(tx engine.Tx) iter.Seq[league.Account] {
	return func(yield func(league.Account) bool) {
		// The rows are read whole first: one connection cannot ask another question, as the caller's loop
		// does, while it is in the middle of an answer.
		all, _ := tAccounts.sound(own(tx), "order by id") // its error is kept
		for _, a := range all {
			if !yield(a.Account) {
				return
			}
		}
	}
}

// SaveAccount stores the account with what it is found by, and emits its row.
func (db *DB) SaveAccount(tx engine.Tx, a league.Account) error {
	t := own(tx)
	if err := both.LegalAccount(a); err != nil {
		return err
	}
	if _, known, err := tAccounts.find(t, (*text)(&a.ID)); err != nil {
		return err
	} else if !known {
		t.sums.count(both.CountAccounts, 1)
	}
	tAccounts.put(t, nameOf(a))
	puuids := []string{}
	for _, p := range slices.Sorted(maps.Values(a.PUUIDs)) {
		if p != "" {
			puuids = append(puuids, storable(p))
		}
	}
	// A PUUID is of one account: of the one that was stored with it last.
	t.exec("delete from fs_puuid where account = $1 and puuid <> all($2)", (*text)(&a.ID), puuids)
	t.exec(`insert into fs_puuid (puuid, account) select unnest($2::text[]), $1
on conflict (puuid) do update set account = excluded.account`, (*text)(&a.ID), puuids)
	t.touch(a.ID)
	return nil
}

// CachedPUUID gives what Riot last answered for a Riot ID under a key project, while it is fresh.
func (db *DB) CachedPUUID(tx engine.Tx, name, tag, project string, now time.Time) (puuid string, ok bool, err error) {
	return value[string](own(tx), "select puuid from fs_puuid_cache where project = $1 and name = $2 and tag = $3 and until > $4",
		storable(project), storable(both.Fold(name)), storable(both.Fold(tag)), now)
}

// CachePUUID keeps an answer until an instant. Riot IDs change hands, so none is kept for ever.
func (db *DB) CachePUUID(tx engine.Tx, name, tag, project, puuid string, until time.Time) error {
	tCachedPUUIDs.put(own(tx), both.CachedPUUID{Project: project, Name: both.Fold(name), Tag: both.Fold(tag),
		PUUID: puuid, Until: until})
	return nil
}

// Identities lists an account's PUUIDs by key project: Riot encrypts them for each one.
func (db *DB) Identities(ctx context.Context, account string) ([]engine.Identity, error) {
	return answer(ctx, db, func(t *txn) (list []engine.Identity, err error) {
		a, err := db.Account(t, account)
		for _, project := range slices.Sorted(maps.Keys(a.PUUIDs)) {
			list = append(list, engine.Identity{Project: project, PUUID: a.PUUIDs[project]})
		}
		return list, err
	})
}

// Accounts lists accounts in the order they were added. Total counts all that fit, on every page.
func (db *DB) Accounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error) {
	w := &where{}
	if q.Open {
		w.and("status = any(?)", []string{engine.SyncPending.String(), engine.Syncing.String()})
	}
	if q.Text != "" {
		w.and("(id = ? or strpos(search_key, ?) > 0)", storable(q.Text), storable(strings.ToLower(q.Text)))
	}
	// The number of all that fit, without the place to go on from, which is added below.
	count, args := "select count(*) from fs_account "+w.sql(), w.args
	if q.After != "" {
		w.and("id > ?", storable(q.After))
	}
	return answer(ctx, db, func(t *txn) (page engine.AccountsPage, err error) {
		if page.Total, _, err = value[int](t, count, args...); err != nil {
			return page, err
		}
		place := func(a named) string { return a.ID }
		found, next, err := tAccounts.page(t, both.PageSize(q.Page), place, w.sql()+" order by id", w.args...)
		if err != nil {
			return page, err
		}
		page.Next = next
		page.Accounts, err = t.accountRows(found)
		return page, err
	})
}

// AccountRow finds an account by id or "Name#TAG"; engine.ErrNotFound.
func (db *DB) AccountRow(ctx context.Context, id string) (engine.AccountRow, error) {
	return db.AccountRowOn(ctx, id, "")
}

// AccountRowOn is AccountRow for one platform of a "Name#TAG"; "" = any.
func (db *DB) AccountRowOn(ctx context.Context, id, platform string) (engine.AccountRow, error) {
	return answer(ctx, db, func(t *txn) (row engine.AccountRow, err error) {
		a, err := t.accountOn(id, platform)
		if err != nil {
			return row, err
		}
		rows, err := t.accountRows([]named{{Account: a}})
		if err == nil {
			row = rows[0]
		}
		return row, err
	})
}

// accountRows joins accounts with their last runs and what is told of those: for any number of
// them in one question.
func (t *txn) accountRows(accounts []named) (rows []engine.AccountRow, err error) {
	var ids []string
	for _, a := range accounts {
		if a.Run != "" {
			ids = append(ids, storable(a.Run))
		}
	}
	runs := map[string]shownRun{}
	if len(ids) > 0 {
		if runs, err = t.shownRuns(ids); err != nil {
			return nil, err
		}
	}
	for _, a := range accounts {
		row, err := both.AccountRow(a.Account, t.db.region(a.Platform))
		if err != nil {
			return nil, err
		}
		if r, there := runs[a.Run]; there {
			row = both.WithRun(row, r.Run, r.work())
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// touch asks for the account's row to be emitted as it is at the end of the transaction.
// A transaction that changes forty matches of an account emits one row of it.
func (t *txn) touch(account string) {
	if account != "" && !slices.Contains(t.touched, account) {
		t.touched = append(t.touched, account)
	}
}

// touchRunOf asks for the row of the account whose sync job it is, if it is one.
// Which account that is, is asked once for all of them at the end: see emitAccounts.
func (t *txn) touchRunOf(job int64) {
	if !slices.Contains(t.families, job) {
		t.families = append(t.families, job)
	}
}

// emitAccounts emits the row of every touched account. No lock is taken for it: what it tells of
// is locked by what has touched it.
func (t *txn) emitAccounts() error {
	if len(t.families) > 0 {
		accounts, err := values[string](t, "select distinct account from fs_run where job = any($1) order by account",
			t.families)
		if err != nil {
			return err
		}
		for _, account := range accounts {
			t.touch(account)
		}
	}
	if len(t.touched) == 0 {
		return nil
	}
	found, err := tAccounts.sound(t, "where id = any($1)", t.touched)
	if err != nil {
		return err
	}
	for _, id := range t.touched { // in the order in which they were
		if i := slices.IndexFunc(found, func(a named) bool { return a.ID == id }); i >= 0 {
			rows, err := t.accountRows(found[i : i+1])
			if t.err != nil {
				return t.err
			}
			if err == nil { // one that cannot be made is not shown; check names what is at fault
				t.Emit(engine.Change{Account: &rows[0]})
			}
		}
	}
	return nil
}
