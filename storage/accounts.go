package storage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

func accountRecord(a league.Account) *rec.Enc {
	e := rec.NewEnc(fAccount, 320)
	e.Str(a.GameName)
	e.Str(a.TagLine)
	e.Str(a.Platform)
	e.Uint(uint64(len(a.PUUIDs)))
	for _, project := range slices.Sorted(maps.Keys(a.PUUIDs)) {
		e.Str(project)
		e.Str(a.PUUIDs[project])
	}
	e.Time(a.Resolved)
	e.Bool(a.Tracked)
	e.Strs(a.Tags)
	encodePolicy(e, a.Policy)
	e.Str(a.Status)
	e.Str(a.Run)
	e.Str(a.Coverage.Head)
	e.Time(a.Coverage.HeadAt)
	e.Time(a.Coverage.Floor)
	e.Bool(a.Coverage.ReachedEnd)
	e.Str(string(a.Coverage.Timelines))
	e.Time(a.Created)
	e.Time(a.Updated)
	e.Time(a.LastSync)
	e.Str(a.LastError)
	e.Dur(a.Policy.Cadence)
	e.Bool(a.Home)
	return e
}

func encodePolicy(e *rec.Enc, p league.Policy) {
	e.Uint(uint64(len(p.Queues)))
	for _, q := range p.Queues {
		e.Int(int64(q))
	}
	e.Str(p.Type)
	e.Dur(p.Lookback)
	e.Str(string(p.Timelines))
	e.Byte(p.Priority)
}

func decodeAccount(k, v []byte) (a league.Account, err error) {
	d, err := tAccounts.open(k, v, fAccount)
	if err != nil {
		return a, err
	}
	a.ID = string(k)
	a.GameName, a.TagLine, a.Platform = d.Str(), d.Str(), d.Str()
	if n := d.Count(2); n > 0 {
		a.PUUIDs = make(map[string]string, n)
		for range n {
			project := d.Str()
			a.PUUIDs[project] = d.Str()
		}
	}
	a.Resolved, a.Tracked, a.Tags = d.Time(), d.Bool(), d.Strs()
	a.Policy = decodePolicy(d)
	a.Status, a.Run = d.Str(), d.Str()
	a.Coverage = league.Coverage{Head: d.Str(), HeadAt: d.Time(), Floor: d.Time(), ReachedEnd: d.Bool(), Timelines: league.Timelines(d.Str())}
	a.Created, a.Updated, a.LastSync = d.Time(), d.Time(), d.Time()
	a.LastError = d.Str()
	if d.More() {
		a.Policy.Cadence = d.Dur()
	}
	if d.More() {
		a.Home = d.Bool()
	}
	return a, tAccounts.done(k, d)
}

func decodePolicy(d *rec.Dec) (p league.Policy) {
	for range d.Count(1) {
		p.Queues = append(p.Queues, d.Num())
	}
	p.Type, p.Lookback = d.Str(), d.Dur()
	p.Timelines, p.Priority = league.Timelines(d.Str()), d.Byte()
	return p
}

// fold makes Riot IDs comparable: they differ in case only by appearance.
func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func nameKey(a league.Account) []byte {
	return key.Strings(fold(a.GameName), fold(a.TagLine), strings.ToLower(a.Platform), a.ID)
}

// Account gives an account by its id; engine.ErrNotFound.
func (db *DB) Account(tx engine.Tx, id string) (league.Account, error) { return own(tx).account(id) }

func (t *Tx) account(id string) (league.Account, error) {
	v := t.bucket(tAccounts).Get([]byte(id))
	if v == nil {
		return league.Account{}, fmt.Errorf("account %q: %w", id, engine.ErrNotFound)
	}
	return decodeAccount([]byte(id), v)
}

// AccountNamed finds an account by its Riot ID, whatever the case; platform "" = any. engine.ErrNotFound.
func (db *DB) AccountNamed(tx engine.Tx, name, tag, platform string) (league.Account, error) {
	return own(tx).accountNamed(name, tag, platform)
}

func (t *Tx) accountNamed(name, tag, platform string) (league.Account, error) {
	prefix := key.Strings(fold(name), fold(tag))
	if platform != "" {
		prefix = key.AppendString(prefix, strings.ToLower(platform))
	}
	for r := range t.rows(tAccountName, prefix) {
		read := key.Read(r.k)
		_, _, _ = read.String(), read.String(), read.String()
		id := read.String()
		if err := read.Done(); err != nil {
			return league.Account{}, tAccountName.corrupt(r.k, err)
		}
		return t.account(id)
	}
	return league.Account{}, fmt.Errorf("account %s#%s: %w", name, tag, engine.ErrNotFound)
}

// AccountOfPUUID finds whose PUUID it is, under any key project.
func (db *DB) AccountOfPUUID(tx engine.Tx, puuid string) (id string, ok bool, err error) {
	return own(tx).text(tAccountPUUID, []byte(puuid))
}

// SaveAccount stores the account with all its index rows and emits its row.
func (db *DB) SaveAccount(tx engine.Tx, a league.Account) error {
	t := own(tx)
	if a.ID == "" {
		return fmt.Errorf("save account %s: no id: %w", a.RiotID(), engine.ErrInvalid)
	}
	old, err := t.account(a.ID)
	known := err == nil
	if err != nil && !isNotFound(err) {
		return err
	}
	if err := t.indexAccount(old, a, known); err != nil {
		return fmt.Errorf("save account %s: %w", a.ID, err)
	}
	t.touch(a.ID)
	return t.put(tAccounts, []byte(a.ID), accountRecord(a))
}

// indexAccount writes the rows by which an account is found, and removes those that no longer hold.
func (t *Tx) indexAccount(old, a league.Account, known bool) error {
	var errs []error
	if !known {
		errs = append(errs, t.countTotal(countAccounts, 1))
	}
	was, is := nameKey(old), nameKey(a)
	if known && string(was) != string(is) {
		errs = append(errs, t.remove(tAccountName, was))
	}
	if !known || string(was) != string(is) {
		errs = append(errs, t.mark(tAccountName, is))
	}
	for project, puuid := range old.PUUIDs {
		if a.PUUIDs[project] != puuid {
			errs = append(errs, t.remove(tAccountPUUID, []byte(puuid)))
		}
	}
	for project, puuid := range a.PUUIDs {
		if puuid != "" && old.PUUIDs[project] != puuid {
			errs = append(errs, t.putText(tAccountPUUID, []byte(puuid), a.ID))
		}
	}
	return errors.Join(errs...)
}

// CachedPUUID gives what Riot last answered for a Riot ID under a key project, while it is fresh.
func (db *DB) CachedPUUID(tx engine.Tx, name, tag, project string, now time.Time) (puuid string, ok bool, err error) {
	k := key.Strings(project, fold(name), fold(tag))
	d, ok, err := own(tx).get(tPUUIDCache, k, fCached)
	if err != nil || !ok {
		return "", false, err
	}
	puuid = d.Str()
	until := d.Time()
	if err := tPUUIDCache.done(k, d); err != nil || !now.Before(until) {
		return "", false, err
	}
	return puuid, true, nil
}

// CachePUUID keeps an answer until an instant.
func (db *DB) CachePUUID(tx engine.Tx, name, tag, project, puuid string, until time.Time) error {
	e := rec.NewEnc(fCached, 100)
	e.Str(puuid)
	e.Time(until)
	return own(tx).put(tPUUIDCache, key.Strings(project, fold(name), fold(tag)), e)
}
