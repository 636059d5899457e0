package pager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/child"
)

// DefaultCommandTimeout is how long a command may run.
const DefaultCommandTimeout = 30 * time.Second

// maxOutput is how many bytes of a command's output are kept.
const maxOutput = 4 << 10

// inherited is all that a command gets of the environment: nothing that may hold a
// secret.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// command is one attempt to tell a local program of an alert: the JSON of a signed
// webhook on its standard input, exit code 0 when it has been told.
func (p *Pager) command(ctx context.Context, r engine.Run) engine.Outcome {
	var n notice
	if o, ok := argsOf(r, &n); !ok {
		return o
	}
	s := p.set.Load()
	c, ok := s.channel(n.Channel)
	if !ok || len(c.Command) == 0 {
		return engine.Fail(fmt.Errorf("the configuration has no command %s any more", n.Channel)).As("no-channel")
	}
	n.evidence = p.evidence(n)
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultCommandTimeout
	}
	limited, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	out, err := child.Program{Args: c.Command, Env: p.environment(n), Stdin: string(p.alertJSON(n)),
		Keep: maxOutput}.Run(limited)
	switch {
	case ctx.Err() != nil:
		return engine.Retry(context.Cause(ctx))
	case limited.Err() != nil:
		return engine.Retry(fmt.Errorf("%s ran for more than %s and was ended", c.Command[0], timeout)).As("timeout")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrPermission):
		return engine.Fail(fmt.Errorf("%s cannot be run: %w", c.Command[0], err)).As("command")
	case err != nil:
		return engine.Retry(fmt.Errorf("%s: %w%s", c.Command[0], err, s.output(out))).As(exitClass(err))
	}
	return engine.Done(nil)
}

// environment is what a command finds: the event's name and a few variables of ours, see inherited.
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

// output is what a command has written, behind its error; "" for nothing.
func (s *setup) output(out []byte) string {
	if text := s.client.clean(strings.TrimSpace(string(out))); text != "" {
		return ": " + text
	}
	return ""
}

// exitClass is exit.3, by the code with which a command ended.
func exitClass(err error) engine.Class {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return "command"
	}
	return engine.Class(fmt.Sprintf("exit.%d", exit.ExitCode()))
}
