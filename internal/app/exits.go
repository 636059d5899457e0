package app

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/farsight-console/farsight/storage"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitIncomplete  = 3 // some matches could not be had, some lines were rejected, or the store is damaged
	exitHeld        = 4 // the data directory belongs to another process
	exitCancelled   = 5 // an operator cancelled the sync
	exitInterrupted = 130
)

// coded is an error with an exit code of its own. A quiet one was told already.
type coded struct {
	code  int
	err   error
	quiet bool
}

// Error is that of the error inside.
func (c *coded) Error() string { return c.err.Error() }

// Unwrap gives what to look for with errors.Is and errors.AsType.
func (c *coded) Unwrap() error { return c.err }

// usage marks an error as the caller's: wrong words on the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &coded{code: exitUsage, err: err}
}

// usagef makes such an error of a sentence: what is wrong, and what to write instead.
func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// isHeld reports whether an error says that another process has the directory.
func isHeld(err error) bool {
	_, held := errors.AsType[*storage.ErrHeld](err)
	return held
}

// opening counts the stores that are just being opened.
var opening atomic.Int32
