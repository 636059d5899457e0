package local_test

import (
	"context"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	bt "github.com/farsight-console/farsight/engine/backendtest"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/internal/scratch"
)

// Row P-16: thousands of random schedules on the model, and fewer on the real store,
// where every write waits for the disk and pruning takes part; the check at its end
// recounts everything.
func TestP16_SummariesEqualTheirMembers(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		bt.P16_SummariesEqualTheirMembers(t, memstore.New(), scratch.Sized(600, 10_000), nil)
	})
	t.Run("bbolt", func(t *testing.T) {
		db, stop, err := serve(t.TempDir() + "/data")
		if err != nil {
			t.Fatal(err)
		}
		prune := func() {
			rule := engine.PruneAsk{Completed: time.Hour, Failed: time.Hour}
			if _, err := db.Prune(context.Background(), rule, time.Now().AddDate(1, 0, 0), false); err != nil {
				t.Error(err)
			}
		}
		bt.P16_SummariesEqualTheirMembers(t, db, 100, prune)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		db, stop, err := serveShared(made(t), t.TempDir()+"/data")
		if err != nil {
			t.Fatal(err)
		}
		bt.P16_SummariesEqualTheirMembers(t, db, 30, nil)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestP30_StuckHandlerGivesItsSlotUp(t *testing.T) { onEach(t, bt.P30_StuckHandlerGivesItsSlotUp) }
