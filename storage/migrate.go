package storage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/keep"
)

// oldestSchema is the first that is brought up to date. Earlier ones were in no release.
const oldestSchema = 6

// migration brings state.db from the schema version before one to that one.
//
// It is for records that mean something else than before. A new table needs none, nor do fields that are
// added at the end of a record (rec.Coder.More). It decodes what the version before it wrote, with decoders of its
// own if the present ones have moved on, and is tested on a golden file of that version.
type migration struct {
	to uint64
	do func(t *txn) error
}

// migrations lead to the present schema, in their order. A variable so that tests can add to it.
//
// A version is either that of a migration or one that only brought tables (CameWith), never both: whoever adds either
// takes newestSchema()+1, and a test holds that there is no gap and nothing twice.
var migrations = []migration{{8, (*txn).daysOfCollections}, {9, (*txn).orderOfPlayers}}

// daysOfCollections counts the matches of each collection by their days. Check names what cannot be read.
func (t *txn) daysOfCollections() error {
	counted := map[string]collected{}
	for r := range t.Rows(tCollected.Table, nil) {
		n, err := tCollected.Decode(r.Key, r.Value)
		if err != nil {
			continue
		}
		n.Days = nil
		for m, err := range t.matchesOf(string(r.Key)) {
			if err == nil {
				n.played(m.Played, 1)
			}
		}
		counted[string(r.Key)] = n
	}
	for id, n := range counted {
		if err := tCollected.Put(t, []byte(id), &n); err != nil {
			return err
		}
	}
	return nil
}

// orderOfPlayers gives the players of collections their place in the feed, by id.
func (t *txn) orderOfPlayers() error {
	for r := range t.Rows(tPlayers.Table, nil) {
		a, err := tPlayers.Decode(r.Key, r.Value)
		if err != nil {
			continue
		}
		if err := t.feedPlayer(nil, a); err != nil {
			return err
		}
	}
	return nil
}

// newestSchema is what this program writes and reads: the version of the last migration, or that a
// later table came with.
func newestSchema() uint64 {
	newest := uint64(oldestSchema)
	for _, m := range migrations {
		newest = max(newest, m.to)
	}
	for _, tb := range collection.Tables {
		newest = max(newest, tb.Since)
	}
	return newest
}

// outdated refuses a file that is older than this program's: one that is only to be read, since bringing it up to date is
// writing, and one that is too old.
func outdated(path string, have uint64) error {
	e := &disk.ErrUnusable{
		Path: path,
		Why:  fmt.Sprintf("an earlier Farsight wrote it (schema %d, this one needs %d)", have, newestSchema()),
		Do:   "start farsight or `farsight serve` once: it makes a backup and brings the file up to date",
	}
	if have < oldestSchema {
		e.Why = fmt.Sprintf("a Farsight of before the first release wrote it (schema %d, this one reads %d and later ones)", have, oldestSchema)
		e.Do = "go on with the program that wrote it, or name another directory and have everything fetched again"
	}
	return e
}

// migrate brings an older state file up to date, after a backup of it, in one transaction.
func (db *DB) migrate(o Options) error {
	path := disk.StatePath(db.dir)
	var have uint64
	err := db.bolt.View(func(b *bolt.Tx) (err error) {
		have, err = disk.SchemaOf(b, path, newestSchema())
		return err
	})
	if err != nil || have == newestSchema() {
		return err
	}
	if db.readOnly || have < oldestSchema {
		return outdated(path, have)
	}
	change := func(do func(t *txn) error) error {
		return db.guarded(func() error {
			return db.bolt.Update(func(b *bolt.Tx) error {
				if err := collection.Create(b); err != nil {
					return err
				}
				t := newTx(b, disk.Now())
				return errors.Join(do(t), t.PutNumber(tMeta, disk.MetaSchema, newestSchema()))
			})
		})
	}
	if db.share != nil { // a copy that is brought up to date by itself would differ from the others: it is filled anew
		return change(func(t *txn) error { return errors.Join(t.Remove(tMeta, metaLog), t.Empty()) })
	}
	if err := db.backupBefore(o, have); err != nil {
		return fmt.Errorf("back up %s before it is brought to schema %d: %w; nothing was changed", path, newestSchema(), err)
	}
	err = change(func(t *txn) error {
		for _, m := range migrations {
			if m.to > have {
				if err := m.do(t); err != nil {
					return err
				}
			}
		}
		crash.Point("migration-before-commit")
		return nil
	})
	crash.Point("migration-after-commit")
	if disk.NoRoom(err) {
		err = fmt.Errorf("%w: %w", disk.ErrDiskFull, err)
	}
	if err != nil {
		return fmt.Errorf("bring %s to schema %d: %w; a backup of it as it was is in %s",
			path, newestSchema(), err, filepath.Base(keep.BackupsDir(db.dir)))
	}
	db.log.Info().Uint64("schema", newestSchema()).Msg("brought the state up to date")
	return nil
}

// backupBefore keeps the state as it is, unless a start that was cut off has done so. Migrations do
// not touch payloads.
func (db *DB) backupBefore(o Options, have uint64) error {
	note := fmt.Sprintf("before schema %d", newestSchema())
	kept, err := keep.Backups(keep.BackupsDir(db.dir))
	if err != nil {
		return err
	}
	now, err := disk.FileMeta(disk.StatePath(db.dir))
	if err != nil {
		return err
	}
	for _, k := range kept {
		// The same transaction means the same bytes: that backup is of the file as it is.
		if k.Note == note && k.State.Seq == now.Txid && k.Problem == "" {
			return nil
		}
	}
	r, err := db.Backup(context.Background(), keep.BackupOptions{Verify: o.Verify, StateOnly: true, Note: note})
	if err != nil {
		return err
	}
	db.log.Info().Str("path", r.Path).Uint64("schema", have).Msg("backed up the state before its migration")
	crash.Point("migration-backed-up")
	return nil
}
