package storage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/keep"
)

// migration brings state.db from the schema version before one to that one. It works in steps, each
// in a transaction of its own, so that a large table neither fills memory nor is begun anew after a
// crash.
//
// A migration is for good: its code decodes what the version before it wrote, with decoders of its
// own if the present ones have moved on, and is tested on a golden file of that version.
type migration struct {
	to   uint64
	name string
	// step does the next piece of work after the place that the last one answered; nil at the
	// start, and nil when done.
	step func(t *txn, after []byte) (next []byte, err error)
}

// pass goes through the rows of a table under prefix. What it does not delete it leaves readable: a
// step may stop behind any.
type pass struct {
	tb     *collection.Table
	prefix []byte
	do     func(t *txn, k []byte) error
}

// through is a migration's step that goes through tables, one pass after the other, a page of rows
// at a time. begin is done once before; nil = nothing. A place is the last key that has been done,
// led by the number of its pass where there are several: 01 00000000000002A1 is job b673 in the
// second of toDays.
func through(begin func(*txn) error, passes ...pass) func(t *txn, after []byte) ([]byte, error) {
	return func(t *txn, after []byte) (next []byte, err error) {
		if after == nil {
			if err := collection.Create(t.Bolt); err != nil {
				return nil, err
			}
			if begin != nil {
				if err := begin(t); err != nil {
					return nil, err
				}
			}
			if after = []byte{}; len(passes) > 1 {
				after = []byte{0}
			}
		}
		at, lead := 0, []byte{}
		if len(passes) > 1 {
			at, lead, after = int(after[0]), after[:1:1], after[1:]
		}
		if at >= len(passes) {
			return nil, nil
		}
		p := passes[at]
		// Keys are read first and then worked on: a cursor of bbolt's must not see rows come and
		// go.
		page, last := t.KeysAfter(p.tb, p.prefix, after, t.page)
		for _, k := range page {
			if err := p.do(t, k); err != nil {
				return nil, err
			}
		}
		switch {
		case last != nil:
			next = append(lead, last...)
		case at+1 < len(passes):
			next = []byte{byte(at + 1)}
		}
		return next, t.saveDays()
	}
}

// newestSchema is what this program writes and reads: the version of the last migration, or that a
// later table came with.
func newestSchema() uint64 {
	newest := uint64(firstSchema)
	for _, m := range migrations {
		newest = max(newest, m.to)
	}
	for _, tb := range collection.Tables {
		newest = max(newest, tb.Since)
	}
	return newest
}

// migrationTo leads to a version from the one before it. One that only brings new tables is not
// written down.
func migrationTo(version uint64) migration {
	for _, m := range migrations {
		if m.to == version {
			return m
		}
	}
	return migration{version, "new tables", func(t *txn, _ []byte) ([]byte, error) {
		return nil, collection.Create(t.Bolt)
	}}
}

// outdated refuses a file that is only to be read: bringing it up to date is writing.
func outdated(path string, have uint64) error {
	return &disk.ErrUnusable{
		Path: path,
		Why:  fmt.Sprintf("an earlier Farsight wrote it (schema %d, this one needs %d)", have, newestSchema()),
		Do:   "start farsight or `farsight serve` once: it makes a backup and brings the file up to date",
	}
}

// metaMigration is the key under which the place of a migration that is under way is kept.
var metaMigration = []byte("migration")

// migrate brings an older state file up to date, after a backup of it. It goes on where a crash has
// left it.
func (db *DB) migrate(o Options) error {
	path := disk.StatePath(db.dir)
	var have uint64
	var begun bool
	err := db.bolt.View(func(b *bolt.Tx) (err error) {
		if have, err = disk.SchemaOf(b, path, newestSchema()); err == nil {
			begun = disk.MetaOf(b).Has(metaMigration)
		}
		return err
	})
	if err != nil || have == newestSchema() {
		return err
	}
	if db.readOnly {
		return outdated(path, have)
	}
	// One that was interrupted has made its backup, and the file is not what it was any more.
	if !begun {
		if err := db.backupBefore(o, have); err != nil {
			return fmt.Errorf("back up %s before it is brought to schema %d: %w; nothing was changed", path, newestSchema(), err)
		}
	}
	// A file of version 2 goes through 3, 4, 5 and 6, each in its own steps.
	for ; have < newestSchema(); have++ {
		m := migrationTo(have + 1)
		if err := db.runMigration(m); err != nil {
			return fmt.Errorf("bring %s to schema %d (%s): %w; a backup of it as it was is in %s",
				path, m.to, m.name, err, filepath.Base(keep.BackupsDir(db.dir)))
		}
	}
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

// migrationTell is how often a long migration says in the log that it goes on.
const migrationTell = 5 * time.Second

// runMigration does the steps of one migration, until there is none left.
func (db *DB) runMigration(m migration) error {
	db.log.Info().Uint64("schema", m.to).Str("name", m.name).Msg("migration begun")
	told, steps := time.Now(), 0
	for done := false; !done; steps++ {
		var err error
		if done, err = db.migrationStep(m); err != nil {
			return err
		}
		if time.Since(told) > migrationTell {
			told = time.Now()
			db.log.Info().Uint64("schema", m.to).Int("steps", steps).Msg("migration goes on")
		}
	}
	db.log.Info().Uint64("schema", m.to).Int("steps", steps).Msg("migration done")
	return nil
}

// migrationStep runs one step and notes in its own transaction how far it got, or that the version
// is reached.
func (db *DB) migrationStep(m migration) (done bool, err error) {
	err = db.guarded(func() error {
		return db.bolt.Update(func(b *bolt.Tx) error {
			t := newTx(b, disk.Now())
			t.page = db.pages.Migrate
			after, err := t.migrationPlace(m.to)
			if err != nil {
				return err
			}
			next, err := m.step(t, after)
			if err != nil {
				return err
			}
			done = next == nil
			crash.Point("migration-before-commit")
			if !done {
				return t.putPlace(place{m.to, next})
			}
			return errors.Join(t.PutNumber(tMeta, disk.MetaSchema, m.to), t.leavePlace(m.to))
		})
	})
	crash.Point("migration-after-commit")
	if disk.NoRoom(err) {
		err = fmt.Errorf("%w: %w", disk.ErrDiskFull, err)
	}
	return done, err
}

// place is how far the migration to a version is.
type place struct {
	to    uint64
	after []byte // what its last step answered; nil = it has not begun
}

var places = collection.Shape[place]{Format: rec.Place, Fields: func(c *rec.Coder, p *place) {
	c.Uint(&p.to)
	c.Bytes(&p.after)
}}

// migrationPlace is where the last step of the migration to a version stopped.
func (t *txn) migrationPlace(to uint64) ([]byte, error) {
	p, _, err := places.Get(t, tMeta, metaMigration)
	if err != nil || p.to != to {
		return nil, err
	}
	return p.after, nil
}

// leavePlace ends one migration. While others follow, the note stays: it also says that the backup
// was made.
func (t *txn) leavePlace(to uint64) error {
	if to < newestSchema() {
		return t.putPlace(place{to: to + 1})
	}
	return t.Remove(tMeta, metaMigration)
}

// putPlace notes how far a migration is.
func (t *txn) putPlace(p place) error { return places.Put(t, tMeta, metaMigration, p) }
