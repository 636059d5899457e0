package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
)

// keeper does what a store needs while the engine runs: backups, and retention
// if the operator has configured one.
type keeper struct {
	db    *storage.DB
	log   zerolog.Logger
	every time.Duration // between two backups; 0 = none
	keep  league.Span   // of payloads; off = for ever
}

// keeperLook is how often the keeper looks at the wall clock, so that a machine
// that slept catches up soon. It begins with a pause: a start has more urgent
// work, and a short run needs no backup.
const keeperLook = 10 * time.Minute

// Run works until ctx ends. What fails is logged and tried again at the next
// look: the engine does not depend on it.
func (k keeper) Run(ctx context.Context) error {
	var dropped time.Time
	for {
		select {
		case <-time.After(keeperLook):
		case <-ctx.Done():
			return nil
		}
		if k.due() {
			k.backup(ctx)
		}
		if now := time.Now(); now.Sub(dropped) > 24*time.Hour {
			dropped = now
			k.retain(ctx, now)
		}
	}
}

// due reports whether the newest backup is too old. One from the future counts
// as old too: a clock was put back.
func (k keeper) due() bool {
	if k.every <= 0 {
		return false
	}
	list, err := storage.Backups(storage.BackupsDir(k.db.Dir()))
	if err != nil {
		k.log.Warn().Err(err).Msg("could not look at the backups")
		return false
	}
	for _, b := range list {
		if b.Problem == "" && b.Note == "" {
			return time.Since(b.Taken).Abs() > k.every
		}
	}
	return true
}

func (k keeper) backup(ctx context.Context) {
	r, err := k.db.Backup(ctx, storage.BackupOptions{Verify: verifyCopy})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		k.log.Error().Err(err).Msg("the scheduled backup failed")
		return
	}
	k.log.Info().Str("path", r.Path).Int64("bytes", r.Copied).Dur("took", r.Took).Msg("backup made")
	for month, why := range r.Failed {
		k.log.Error().Str("month", month).Str("err", why).Msg("payloads have no new copy")
	}
}

func (k keeper) retain(ctx context.Context, now time.Time) {
	if _, err := k.db.DropExpired(ctx, k.keep, now, false); err != nil && ctx.Err() == nil {
		k.log.Error().Err(err).Msg("retention of payloads failed")
	}
}
