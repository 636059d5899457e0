package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/farsight-console/farsight/storage"
)

// runSelf runs a command of this program in a process of its own, which a damaged page of the file or
// directory at path may end: that is *storage.Damaged. It gives what the command said and its exit
// code; err says why there is none.
func runSelf(ctx context.Context, path string, complaints io.Writer, args ...string) (said []byte, code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, fmt.Errorf("start the check of %s: %w", path, err)
	}
	child := exec.CommandContext(ctx, self, args...)
	// What the child complains of goes to whoever asked for the check; what it found is on its standard
	// output, and read here.
	child.Stderr = complaints
	said, err = child.Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return said, exitDone, nil
	case ctx.Err() != nil:
		return said, 0, context.Cause(ctx)
	case !failed:
		return said, 0, fmt.Errorf("check %s: %w", path, err)
	// Ended by a signal. SIGBUS is what a page does that the file promises and the disk cannot give.
	case exit.ExitCode() < 0:
		return said, 0, &storage.Damaged{Path: path, Why: "reading it ended the process (" + exit.String() + ")"}
	}
	return said, exit.ExitCode(), nil
}

// verifyCopy proves a copy in a child process, which a damaged page may end.
func verifyCopy(ctx context.Context, path string) error {
	said, code, err := runSelf(ctx, path, os.Stderr, checkCopy, path)
	switch {
	case err != nil || code == exitDone:
		return err
	case code == exitIncomplete && len(said) > 0:
		return &storage.Damaged{Path: path, Why: string(said)}
	}
	return fmt.Errorf("check %s: exit status %d", path, code)
}

// checkCopy is the hidden command that reads one database file to its last
// record. Like check-pages it runs as a process of its own.
const checkCopy = "check-copy"
