package app

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
)

func TestBackupsAreDueByTheNewestOne(t *testing.T) {
	db, err := storage.Open(storage.Options{Dir: filledDir(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	k := keeper{files: db, log: zerolog.Nop(), every: time.Hour}
	if (keeper{files: db}).due() || !k.due() {
		t.Error("no backup yet: due if they are wanted, and only then")
	}
	if _, err := db.Backup(context.Background(), keep.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if k.due() {
		t.Error("due again at once")
	}
	if k.every = time.Nanosecond; !k.due() {
		t.Error("not due when the newest is too old")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTheKeeperEndsWithItsContext(t *testing.T) {
	dir := filledDir(t, 1)
	synctest.Test(t, func(t *testing.T) {
		db, err := storage.Open(storage.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- (keeper{files: db, log: zerolog.Nop(), failed: func(string) {}}).Run(ctx) }()
		time.Sleep(25 * time.Hour) // looks often, has nothing to do
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// dropping counts how often payloads are to be dropped.
type dropping struct {
	asked atomic.Int32
}

func (d *dropping) DropExpired(context.Context, league.Span, time.Time, bool) ([]storage.DroppedMonth, error) {
	d.asked.Add(1)
	return nil, nil
}

// TestB13h_NothingIsDeletedByAClockThatRiotsContradicts: nor before Riot's was heard.
func TestB13h_NothingIsDeletedByAClockThatRiotsContradicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, agrees := &dropping{}, &atomic.Bool{}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		k := keeper{db: db, log: zerolog.Nop(), keep: league.Span{Years: 1}, agreed: agrees.Load, failed: func(string) {}}
		go func() { done <- k.Run(ctx) }()
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		if n := db.asked.Load(); n != 0 {
			t.Errorf("deleted %d times by a clock that is not confirmed", n)
		}
		agrees.Store(true)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := db.asked.Load(); n != 1 {
			t.Errorf("deleted %d times by a clock that is", n)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
