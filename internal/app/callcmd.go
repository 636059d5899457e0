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
		// One call names one number: who else is to be called is a job of its own.
		args:   exactlyOne("name one number: %s +4930123456 --say 'The import is done.'"),
		reason: keptWhy,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&ask.Say, "say", "", "the text to say")
			f.StringVar(&ask.Language, "language", "", "of the text, such as de-DE (en-US)")
			f.StringVar(&ask.Key, "key", "", "idempotency key: a second request with it calls nobody again")
			addWait(f, &wait)
		},
		run: func(ctx context.Context, g given) error {
			// Whether it is a number that is allowed the engine knows: its settings count.
			ask.To = g.args[0]
			return g.call(ctx, &ask, wait)
		},
	}.acting()
}

// call asks the engine for the call, and waits for what becomes of it unless --wait 0s, --json or
// --dry-run was given: a script that reads JSON wants one object, at once.
func (g given) call(ctx context.Context, ask *engine.CallAsk, wait time.Duration) error {
	// Before anybody is called.
	if err := checkWait(wait); err != nil {
		return err
	}
	c, err := neededEngine(ctx, g.cfg, "start `farsight serve` first, which makes the call")
	if err != nil {
		return err
	}
	defer c.Close()
	// The receipt names the job, which is stored before anybody is called.
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
	// One try: the next may be minutes away, and who waits at a shell wants to know that now.
	d, err := became(ctx, c, engine.JobQuery{ID: job})
	if err != nil {
		return err
	}
	// Completed means that somebody picked up and heard it to its end.
	if d.Job.State == engine.Completed {
		_, err := fmt.Fprintln(g.out.W, "heard")
		return err
	}
	if _, err := fmt.Fprintln(g.out.W, safe.Text(whatBecame(d))); err != nil {
		return err
	}
	return errors.New("nobody has heard it: `farsight jobs --all 'queue:calls'` shows the tries, docs/pager.md what to look at")
}
