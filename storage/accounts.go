package storage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
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

// emitAccounts emits the row of every touched account, and the totals if they changed, as they are
// at the end of the transaction: a hundred matches that settle in one group make one row.
func (t *txn) emitAccounts() error {
	for _, id := range t.touched {
		a, err := t.account(id)
		if a.Collection != "" { // no list of accounts has it
			continue
		}
		if err == nil {
			var row engine.AccountRow
			if row, err = t.accountRow(a); err == nil {
				t.Emit(engine.Change{Account: &row})
				continue
			}
		}
		if _, corrupt := errors.AsType[*disk.ErrCorrupt](err); !corrupt && !disk.IsNotFound(err) {
			return err
		}
		// A row that cannot be made is not shown; check names the record that is at fault.
	}
	return t.emitCounted()
}

// emitCounted publishes what counts towards the counters that this transaction has changed.
func (t *txn) emitCounted() error {
	changed := false
	// The number of discarded jobs is each queue's own change; all other counters are totals, which
	// go out once, whichever of them has changed.
	for _, name := range t.Counted {
		queue, discards := strings.CutPrefix(name, countDiscards)
		if changed = changed || !discards; !discards {
			continue
		}
		n, _, err := t.Number(collection.Counters, []byte(name))
		if err != nil {
			return err
		}
		t.Emit(engine.Change{Discards: &engine.QueueDiscards{Queue: engine.Queue(queue), Jobs: int(n)}})
	}
	if !changed {
		return nil
	}
	totals, err := t.totals()
	if err != nil {
		return err
	}
	t.Emit(engine.Change{Totals: &totals})
	return nil
}

// accountRow joins an account with its last run and that run's groups.
func (t *txn) accountRow(a league.Account) (engine.AccountRow, error) {
	row := engine.AccountRow{
		ID: a.ID, RiotID: a.RiotID(), Platform: a.Platform, Region: t.region(a.Platform), PUUID: onePUUID(a),
		Tags: a.Tags, Policy: a.Policy.String(), Tracked: a.Tracked, Run: a.Run, LastSync: a.LastSync, LastError: a.LastError, Updated: a.Updated,
	}
	if a.Status != "" {
		if err := row.Status.UnmarshalText([]byte(a.Status)); err != nil {
			return row, err
		}
	}
	if a.Run == "" {
		return row, nil
	}
	run, err := t.run(a.Run)
	// The run may have been dropped with a forgotten account, or be of before a restore.
	if disk.IsNotFound(err) {
		return row, nil
	}
	if err != nil {
		return row, err
	}
	work, err := t.workOf(run)
	return withRun(row, run, work), err
}

// workOf is what its job and groups tell of a run; nil when it has no job yet.
func (t *txn) workOf(r league.Run) (*runWork, error) {
	// A run that was just made names no job, and "" is no job's id.
	k, err := jobKey(engine.JobID(r.Job))
	if err != nil {
		return nil, nil
	}
	j, _, err := t.readJob(k)
	if err != nil {
		return nil, err
	}
	bound, _, err := tRunOfJob.Get(t, k)
	if err != nil {
		return nil, err
	}
	matches, err := t.group(groupKey(mustNumber(engine.JobID(r.Job)), league.GroupMatches))
	if err != nil {
		return nil, err
	}
	timelines, err := t.group(groupKey(mustNumber(engine.JobID(r.Job)), league.GroupTimelines))
	return &runWork{
		Queue: j.Queue, Calls: bound.calls, Throttled: bound.throttled, Matches: matches, Timelines: timelines,
	}, err
}

// runWork is what the job of a run and its groups tell of it: the job's queue and own calls, and
// how its children stand.
type runWork struct {
	Queue              engine.Queue
	Calls, Throttled   int
	Matches, Timelines engine.GroupStat
}

// withRun adds a run to its account's row; w is nil while the run has no job.
func withRun(row engine.AccountRow, r league.Run, w *runWork) engine.AccountRow {
	row.Job, row.Kind, row.Phase = engine.JobID(r.Job), r.Ask.Mode, engine.Phase(r.Phase)
	row.Pages, row.Listed, row.Resumed, row.ResumedAt = r.Pages, r.Listed, r.Resumed, r.ResumedAt
	row.WantsTimelines = r.Ask.Timelines != league.TimelinesNone
	row.Triggered, row.Started, row.Finished, row.Closed, row.Result = r.Triggered, r.Started, r.Finished, r.Closed, r.Result
	if row.LastError == "" {
		row.LastError = r.Error
	}
	if w == nil {
		return row
	}
	row.Queue = w.Queue
	row.Calls = w.Calls + w.Matches.Calls + w.Timelines.Calls
	row.Throttled = w.Throttled + w.Matches.Throttled + w.Timelines.Throttled
	row.Matches = progress(w.Matches, apart{had: r.Had, lost: r.Lost - r.TimelinesLost, tooOld: r.TooOld, left: r.Left,
		unaskable: r.Unaskable})
	row.Timelines = progress(w.Timelines, apart{had: r.TimelinesHad, lost: r.TimelinesLost,
		tooOld: r.TimelinesTooOld, left: r.TimelinesLeft})
	if isListing(r) {
		row.Matches.Total, row.Timelines.Total = -1, -1
	}
	return row
}

// apart is what a run counts without a job of its own: lost are those of had that were given up
// before, unaskable those of had whose ids say nothing, left those that an operator had cancelled before.
type apart struct{ had, lost, tooOld, left, unaskable int }

// progress counts so that done + open is the total at every commit (P5): whatever a child does, it
// stays one of them.
func progress(g engine.GroupStat, a apart) engine.Progress {
	a.lost = min(a.lost, a.had)
	return engine.Progress{
		Total:  g.Total + a.had + a.tooOld + a.left,
		Stored: g.Done, Had: a.had - a.lost - a.unaskable, Unaskable: a.unaskable, Retrying: g.Retrying, Failed: g.Dead + a.lost, TooOld: a.tooOld,
		Cancelled: g.Cancelled + a.left, Open: g.Open,
	}
}

// isListing reports whether the run does not know yet how much it has to do.
func isListing(r league.Run) bool {
	p := engine.Phase(r.Phase)
	return r.Result == "" && r.Looks == 0 && (p == "" || p == engine.PhaseResolve || p == engine.PhaseList)
}

// onePUUID is an account's PUUID for lists: under one key project there is only one.
func onePUUID(a league.Account) string {
	for _, project := range slices.Sorted(maps.Keys(a.PUUIDs)) {
		return a.PUUIDs[project]
	}
	return ""
}

// Accounts lists accounts in the order they were added. Total counts all that fit, on every page.
func (db *DB) Accounts(ctx context.Context, q engine.AccountsQuery) (page engine.AccountsPage, err error) {
	err = db.view(ctx, func(t *txn) (err error) {
		// The total is of all that fit, and not of what is left behind the cursor: a screen shows
		// it beside the list.
		if page.Total, err = t.countAccounts(q); err != nil {
			return err
		}
		limit := q.Rows()
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

// RowOf is the row of an account by the reading that it is of.
func (db *DB) RowOf(tx engine.Tx, a league.Account) (engine.AccountRow, error) {
	return own(tx).accountRow(a)
}

// AccountRowOn is AccountRow for one platform of a "Name#TAG"; "" = any.
func (db *DB) AccountRowOn(ctx context.Context, id, platform string) (engine.AccountRow, error) {
	return readIn(ctx, db, func(t *txn) (row engine.AccountRow, err error) {
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
