package api

import (
	"context"
	"errors"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/fold"
)

// boxJobs is how many changed and gone jobs wait at most for a screen that does not
// take them.
const boxJobs = 20000

// errBehind says that too much waits: a snapshot costs less.
var errBehind = errors.New("too far behind")

// box merges updates until they are taken. One goroutine puts and closes, one takes.
type box struct {
	bell await.Bell // capacity 1

	mu   sync.Mutex
	some bool
	rows fold.Rows
	end  error
}

func newBox() *box { return &box{bell: await.NewBell()} }

// put lays an update over what waits. errBehind ends the stream: a snapshot of everything is smaller
// than that many changed rows.
func (b *box) put(u engine.Update) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.some = true
	b.rows.Add(u)
	b.bell.Ring()
	if !b.rows.Whole().Snapshot && b.rows.Changed() > boxJobs {
		return errBehind
	}
	return nil
}

// close says that nothing more will come.
func (b *box) close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = err
	// What waits is dropped: the snapshot of the next stream holds it.
	if errors.Is(err, errBehind) {
		b.some, b.rows = false, fold.Rows{}
	}
	b.bell.Ring()
}

// take waits for something and takes everything out. What came before the end is
// given first.
func (b *box) take(ctx context.Context) (engine.Update, error) {
	for {
		if u, ok, err := b.look(); ok || err != nil {
			return u, err
		}
		select {
		case <-b.bell:
		case <-ctx.Done():
			if u, ok, err := b.look(); ok || err != nil {
				return u, err
			}
			return engine.Update{}, context.Cause(ctx)
		}
	}
}

// look takes what there is without waiting. Once everything was taken it gives the error of the end.
func (b *box) look() (u engine.Update, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// What came before the end is told before it.
	if !b.some {
		return u, false, b.end
	}
	u, b.some, b.rows = b.rows.Update(), false, fold.Rows{}
	return u, true, nil
}
