package both

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
)

var (
	// ErrDiskFull: the disk (or the configured maximum size) has no room. Nothing was written; the
	// same write may be tried again when there is room. It is also the system's ENOSPC, which is
	// how those who do not see this package know it.
	ErrDiskFull error = diskFull{}
	// ErrUnknown: a commit failed in a way that leaves open whether its writes will survive. The
	// store takes no more writes; close it, open it again and recover as after a crash.
	ErrUnknown = errors.New("it is unknown whether the commit is on disk")
	// ErrDropped: retention, as the operator configured it, took the payload; its match keeps its
	// row. It is an engine.ErrNotFound too.
	ErrDropped = fmt.Errorf("its month was dropped by retention: %w", engine.ErrNotFound)
)

type diskFull struct{}

func (diskFull) Error() string { return "no room left on the disk" }

func (diskFull) Is(target error) bool { return target == syscall.ENOSPC }

// ErrHeld is returned (as *ErrHeld) when another process has the store for itself.
type ErrHeld struct {
	PID   int // 0: the holder had not yet written who it is
	Host  string
	Since time.Time
	Store string // "data directory /var/lib/farsight"
	Do    string // what else to do than wait; "" = nothing
}

// Error says who: "data directory /var/lib/farsight is held by process 4711 on web1 since
// 2026-11-21T09:12:44Z".
func (e *ErrHeld) Error() string {
	if e.PID == 0 {
		return e.Store + " is held by another Farsight"
	}
	text := fmt.Sprintf("%s is held by process %d on %s since %s", e.Store, e.PID, e.Host,
		e.Since.UTC().Format(time.RFC3339))
	if e.Do != "" {
		text += ": " + e.Do
	}
	return text
}

// ErrDeposed says that who wrote does not lead any more. Nothing was written.
var ErrDeposed = errors.New("this process does not lead the fleet any more")
