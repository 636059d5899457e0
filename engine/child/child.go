// Package child runs a program that somebody has configured, and ends it with everything that
// it has started.
package child

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// Program is one to be run.
type Program struct {
	Args  []string // the program and its arguments
	Env   []string // all that it gets of an environment
	Stdin string
	Keep  int // bytes of the end of its output that are kept
}

// waitDelay is how long what a program left behind may hold its output.
const waitDelay = time.Second

// Run runs it until it ends or ctx does, in a process group of its own (Unix). The output is what it
// has written to either stream, its end. Errors: those of [exec.Cmd.Run]. When ctx ends the whole group
// is killed at once: a program is asked nothing, since it may not answer. Args must name one.
func (p Program) Run(ctx context.Context) (out []byte, err error) {
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	cmd.Env, cmd.Stdin = p.Env, strings.NewReader(p.Stdin)
	kept := &tail{most: p.Keep}
	cmd.Stdout, cmd.Stderr = kept, kept
	together(cmd)
	cmd.WaitDelay = waitDelay
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it has ended well; something that it left behind holds its output
		err = nil
	}
	return kept.b, err
}

// tail keeps the end of what is written.
type tail struct {
	b    []byte
	most int
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	t.b = t.b[max(len(t.b)-t.most, 0):]
	return len(p), nil
}
