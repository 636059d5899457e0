package traffic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot/limit"
)

// StoredLimits reads what the last engine knew of the limits, for a directory on
// which none runs. The zero row = nothing was ever saved. Windows that have ended since are counted as
// they are now.
func StoredLimits(ctx context.Context, store Loader) (engine.LimitsRow, error) {
	blob, err := store.LoadState(ctx, LimiterState)
	if err != nil || blob == nil {
		return engine.LimitsRow{}, err
	}
	var st limit.State
	if err := json.Unmarshal(blob, &st); err != nil {
		return engine.LimitsRow{}, fmt.Errorf("read the limiter's state: %w", err)
	}
	l := New(Options{Limiter: limit.New(limit.Options{})})
	l.limiter.Restore(st, wall.Now(), nil)
	return l.Rows(), nil
}
