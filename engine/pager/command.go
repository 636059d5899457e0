package pager

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// DefaultCommandTimeout is how long a command may run.
const DefaultCommandTimeout = 30 * time.Second

const (
	maxOutput = 4 << 10 // bytes of a command's output that are kept
	waitDelay = time.Second
)

// inherited is all that a command gets of the environment: nothing that may hold a
// secret.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// command is one attempt to tell a local program of an alert: the JSON of a signed
// webhook on its standard input, exit code 0 when it has been told.
func (p *Pager) command(ctx context.Context, r engine.Run) engine.Outcome {
	var n notice
	if err := json.Unmarshal(r.Job.Args, &n); err != nil {
		return engine.Fail(fmt.Errorf("the job's arguments cannot be read: %w", err)).As("args")
	}
	s := p.set.Load()
	c, ok := s.channel(n.Channel)
	if !ok || len(c.Command) == 0 {
		return engine.Fail(fmt.Errorf("the configuration has no command %s any more", n.Channel)).As("no-channel")
	}
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultCommandTimeout
	}
	limited, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	out, err := p.runProgram(limited, c.Command, n)
	switch {
	case ctx.Err() != nil:
		return engine.Retry(context.Cause(ctx))
	case limited.Err() != nil:
		return engine.Retry(fmt.Errorf("%s ran for more than %s and was ended", c.Command[0], timeout)).As("timeout")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrPermission):
		return engine.Fail(fmt.Errorf("%s cannot be run: %w", c.Command[0], err)).As("command")
	case err != nil:
		return engine.Retry(fmt.Errorf("%s: %w%s", c.Command[0], err, s.said(out))).As(exitClass(err))
	}
	return engine.Done(nil)
}

// runProgram runs a program in a process group of its own, so that what it has
// started ends with it when its time is over.
func (p *Pager) runProgram(ctx context.Context, argv []string, n notice) (out []byte, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = p.environment(n)
	cmd.Stdin = bytes.NewReader(p.alertJSON(n))
	var kept tail
	cmd.Stdout, cmd.Stderr = &kept, &kept
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if errors.Is(syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL), syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return nil
	}
	cmd.WaitDelay = waitDelay
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it has ended well; something that it left behind holds its output
		err = nil
	}
	return kept.b, err
}

func (p *Pager) environment(n notice) []string {
	env := []string{"FARSIGHT_EVENT=" + n.event()}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	slices.Sort(env)
	return env
}

func (s *setup) said(out []byte) string {
	if text := s.client.clean(strings.TrimSpace(string(out))); text != "" {
		return ": " + text
	}
	return ""
}

func exitClass(err error) engine.Class {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return "command"
	}
	return engine.Class(fmt.Sprintf("exit.%d", exit.ExitCode()))
}

// tail keeps the end of what is written.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	t.b = t.b[max(len(t.b)-maxOutput, 0):]
	return len(p), nil
}
