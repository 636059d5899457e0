package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/cli"
)

// callCommand makes `farsight call`. It needs an engine, which makes the call and tries it again.
func callCommand() commandDecl {
	var ask engine.CallAsk
	var wait time.Duration
	return commandDecl{
		use: "call NUMBER", group: groupAct, short: "Call a number that you have allowed, and say a text",
		long: "Call a number that you have allowed, and say a text, twice.\n\n" +
			"Only numbers in call_numbers of [pager] can be called, and only so many calls a day\n" +
			"(calls_per_day) can be asked for. The engine that runs makes the call: a line that\n" +
			"is busy, or that nobody picks up, is tried again by the table of retry_call. With\n" +
			"--key, asking again calls nobody twice. docs/pager.md has more.",
		example: "farsight call +4930123456 --say 'The import is done.'\n" +
			"farsight call +4930123456 --say 'The import is done.' --key import-4711 --dry-run",
		args:   exactlyOne("name one number: %s +4930123456 --say 'The import is done.'"),
		reason: keptWhy,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&ask.Say, "say", "", "the text to say")
			f.StringVar(&ask.Key, "key", "", "idempotency key: a second request with it calls nobody again")
			addWait(f, &wait)
		},
		run: func(ctx context.Context, g given) error {
			ask.To = g.args[0]
			return g.call(ctx, &ask, wait)
		},
	}.acting()
}

func (g given) call(ctx context.Context, ask *engine.CallAsk, wait time.Duration) error {
	if err := checkWait(wait); err != nil {
		return err
	}
	c, err := neededEngine(ctx, g.cfg, "start `farsight serve` first, which makes the call")
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := c.Do(ctx, g.by(engine.Command{Op: engine.OpCall, Call: ask}))
	if err != nil {
		return err
	}
	if err := cli.Acted(g.out, r, g.dry, ""); err != nil || g.dry || g.out.JSON || wait == 0 {
		return err
	}
	return g.heard(ctx, c, wait, r.Job)
}

// heard waits until a try of the call has ended, and says how. The error says that
// nobody has heard it yet.
func (g given) heard(ctx context.Context, c *api.Client, wait time.Duration, job engine.JobID) error {
	ctx, cancel := waiting(ctx, wait)
	defer cancel()
	d, err := became(ctx, c, engine.JobQuery{ID: job})
	if err != nil {
		return err
	}
	if d.Job.State == engine.Completed {
		_, err := fmt.Fprintln(g.out.W, "heard")
		return err
	}
	if _, err := fmt.Fprintln(g.out.W, safe.Text(whatBecame(d))); err != nil {
		return err
	}
	return errors.New("nobody has heard it: `farsight jobs --all 'queue:calls'` shows the tries, docs/pager.md what to look at")
}
