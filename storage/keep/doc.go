// Package keep keeps a data directory: backup and restore, compaction, and a new beginning. It
// knows files, what leads to a month's payloads and who may be at work; what the tables of state.db
// mean is package storage's, which hands in the little that is needed of it. What keeps rows is
// there: check, prune, retention, forget.
//
//	backup/20261121T140000Z/   one backup; payload/ beside it has the copies of months that all of them share
//	state.db.compacting        a half-made copy; the next run begins anew
//	before-reset-…/            what a reset has moved aside: itself a data directory
package keep

import (
	"context"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// Store is an open data directory.
type Store struct {
	Dir      string
	Bolt     *bolt.DB // of state.db
	Payloads *payload.Store
	Schema   uint64 // newest version of state.db that this program knows
}

// guarded runs code of bbolt's on the state file; a page that cannot be read is damage, not a
// crash.
func (s Store) guarded(f func() error) error { return disk.GuardFile(disk.StatePath(s.Dir), f) }

// What the archiver is asked for and tells.
type (
	ArchiveOptions  = payload.ArchiveOptions
	ArchiveProgress = payload.ArchiveProgress
)

// CheckCopy verifies one database file that nobody has open.
func CheckCopy(ctx context.Context, path string) error { return payload.CheckCopy(ctx, path) }
