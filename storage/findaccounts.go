package storage

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Accounts lists accounts in the order they were added. Total counts all that fit, on every page.
func (db *DB) Accounts(ctx context.Context, q engine.AccountsQuery) (page engine.AccountsPage, err error) {
	err = db.view(ctx, func(t *txn) (err error) {
		// The total is of all that fit, and not of what is left behind the cursor: a screen shows
		// it beside the list.
		if page.Total, err = t.countAccounts(q); err != nil {
			return err
		}
		limit := pageSize(q.Page)
		for a, err := range tAccounts.From(t, []byte(q.After)) {
			// From begins at the cursor itself, which was the last row of the page before.
			if err != nil || a.ID == q.After || !fitsAccount(q, a) {
				continue // a corrupt one is named by check
			}
			if len(page.Accounts) == limit {
				page.Next = page.Accounts[limit-1].ID
				return nil
			}
			row, err := t.accountRow(a)
			if err != nil {
				return err
			}
			page.Accounts = append(page.Accounts, row)
		}
		return nil
	})
	return page, err
}

// countAccounts counts the accounts that fit: all of them by their counter, so that a page of a
// long list costs no more than its rows.
func (t *txn) countAccounts(q engine.AccountsQuery) (n int, err error) {
	if q.Text == "" && !q.Open {
		totals, err := t.totals()
		return int(totals.Accounts), err
	}
	for a, err := range tAccounts.Under(t, nil) {
		if err == nil && fitsAccount(q, a) {
			n++
		}
	}
	return n, nil
}

// AccountRow finds an account by id or "Name#TAG"; engine.ErrNotFound.
// The same Riot ID may be on several platforms: it is then the first of them.
func (db *DB) AccountRow(ctx context.Context, id string) (engine.AccountRow, error) {
	return db.AccountRowOn(ctx, id, "")
}

// AccountRowOn is AccountRow for one platform of a "Name#TAG"; "" = any.
func (db *DB) AccountRowOn(ctx context.Context, id, platform string) (engine.AccountRow, error) {
	return look(ctx, db, func(t *txn) (row engine.AccountRow, err error) {
		a, err := t.accountOn(id, platform)
		if err == nil {
			row, err = t.accountRow(a)
		}
		return row, err
	})
}

// Identities lists an account's PUUIDs by key project.
func (db *DB) Identities(ctx context.Context, account string) (list []engine.Identity, err error) {
	err = db.view(ctx, func(t *txn) error {
		a, err := t.account(account)
		if err != nil {
			return err
		}
		for _, project := range slices.Sorted(maps.Keys(a.PUUIDs)) {
			list = append(list, engine.Identity{Project: project, PUUID: a.PUUIDs[project]})
		}
		return nil
	})
	return list, err
}

func (t *txn) findAccount(id string) (league.Account, error) { return t.accountOn(id, "") }

// accountOn takes an id or a Riot ID; only the latter has a '#'.
func (t *txn) accountOn(id, platform string) (league.Account, error) {
	// A name may hold a '#' of its own, a tag line may not.
	if i := strings.LastIndexByte(id, '#'); i >= 0 {
		return t.accountNamed(id[:i], id[i+1:], platform)
	}
	return t.account(id)
}

// AllAccounts iterates every account in the order they were added. One that cannot be read is left
// out; check names it.
func (db *DB) AllAccounts(tx engine.Tx) iter.Seq[league.Account] {
	t := own(tx)
	return func(yield func(league.Account) bool) {
		for a, err := range tAccounts.Under(t, nil) {
			if err == nil && !yield(a) {
				return
			}
		}
	}
}

// fitsAccount reports whether an account is one of those that are asked for.
func fitsAccount(q engine.AccountsQuery, a league.Account) bool {
	var status engine.SyncStatus // never, where the record says none
	return (!q.Open || status.UnmarshalText([]byte(a.Status)) == nil && status.Open()) &&
		(q.Text == "" || a.ID == q.Text || strings.Contains(strings.ToLower(a.RiotID()), strings.ToLower(q.Text)))
}
