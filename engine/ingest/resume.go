package ingest

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

// Resume notes on every open run that the engine was started again, and how far
// the run had come: consoles say "resumed at 134". Call it once at the start,
// before the backend runs; the jobs go on by themselves.
func (in *Ingest) Resume(ctx context.Context) error {
	for row, err := range engine.EachAccount(ctx, in.store.Accounts, engine.AccountsQuery{}) {
		if err != nil {
			return fmt.Errorf("look for open runs: %w", err)
		}
		if err := in.resume(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// resume notes it on one run, in a transaction of its own. Accounts that are pending have no run that
// was under way.
func (in *Ingest) resume(ctx context.Context, row engine.AccountRow) error {
	if row.Status != engine.Syncing {
		return nil
	}
	err := in.store.Write(ctx, func(tx engine.Tx) error {
		run, err := in.store.Run(tx, row.Run)
		if err != nil {
			return err
		}
		run.Resumed++
		run.ResumedAt = row.Matches.Done()
		return in.store.SaveRun(tx, run)
	})
	if err != nil {
		return fmt.Errorf("note that run %s was resumed: %w", row.Run, err)
	}
	return nil
}
