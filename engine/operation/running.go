package operation

import (
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// upkeeps are the backups under way, the oldest first.
type upkeeps struct {
	mu   sync.Mutex
	runs []*engine.UpkeepRun
}

// begin adds a run; told and end are about what it gave.
func (u *upkeeps) begin(cmd engine.Command) *engine.UpkeepRun {
	run := &engine.UpkeepRun{Op: cmd.Op, By: cmd.By, Began: time.Now()}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.runs = append(u.runs, run)
	return run
}

// told notes how far a run is, in bytes. Running copies the runs under the same lock.
func (u *upkeeps) told(run *engine.UpkeepRun, done, total int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	run.Done, run.Total = done, total
}

func (u *upkeeps) end(run *engine.UpkeepRun) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.runs = slices.DeleteFunc(u.runs, func(r *engine.UpkeepRun) bool { return r == run })
}
