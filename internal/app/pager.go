package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/cli"
)

// pagerCommand makes `farsight pager` and, below it, `farsight pager test`.
func pagerCommand() commandDecl {
	return commandDecl{
		use: "pager", group: groupAct, short: "Show who is told of alerts and events, and how",
		long: "Show who is told of alerts and events, and how: what [pager] and [webhooks] in\n" +
			"config.toml name. Numbers are cut to their last digits. docs/pager.md has the settings\n" +
			"and how a receiver checks a signature. `farsight call` makes a call of your own.",
		example: "farsight pager", json: asReceipt,
		run:   showPager,
		below: []commandDecl{pagerTestCommand()},
	}
}

// showPager asks the engine that runs, whose settings may be older than the file's.
func showPager(ctx context.Context, g given) error {
	c, err := dialEngine(ctx, g.cfg)
	if err != nil {
		return err
	}
	var r engine.Receipt
	if c != nil {
		defer c.Close()
		r, err = c.Do(ctx, engine.Command{Op: engine.OpPage, DryRun: true, By: operator("cli")})
	} else {
		// A pager without a store can tell who would be told, and tell nobody.
		p, err := pager.New(pager.Options{Targets: g.cfg.Pager.Targets})
		if err != nil {
			return usage(err)
		}
		r, err = p.Try(ctx, "", engine.Actor{}, true)
		if err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	// The receipt has cut numbers and addresses: what is printed here ends up in screenshots.
	return cli.Report(g.out, r, func(r engine.Receipt, out cli.Out) error {
		for _, line := range r.Sample {
			if _, err := fmt.Fprintln(out.W, safe.Text(line)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pagerTestCommand makes `farsight pager test`. It needs an engine: a test that went another way
// than a real alert would prove nothing.
func pagerTestCommand() commandDecl {
	var wait time.Duration
	return commandDecl{
		use: "test [WHO]", short: "Let those who are told of alerts hear a test, once they are shown and you agree",
		long: "Let those who are told of alerts hear a test: all, or one of call, webhook, discord,\n" +
			"slack, ntfy, telegram, pagerduty, command and webhooks.\n\n" +
			"The engine that runs sends it the way a real alert goes: stored first, tried again\n" +
			"when it fails, visible in the console, and on to the next number when nobody picks\n" +
			"up. It says who would hear it and asks first; --dry-run only says it. A demo tells\n" +
			"nobody.",
		example: "farsight pager test discord --yes", args: between(0, 1, "name one of those who are told at most: %s call"),
		complete: onlyFirst(offer("call", "webhook", "discord", "slack", "ntfy", "telegram", "pagerduty", "command", "webhooks")),
		yes:      true, reason: keptWhy,
		flags: func(f *pflag.FlagSet) { addWait(f, &wait) },
		run: func(ctx context.Context, g given) error {
			if err := checkWait(wait); err != nil {
				return err
			}
			return g.testPager(ctx, strings.Join(g.args, ""), wait)
		},
	}.acting()
}

// addWait adds --wait; `farsight call` has it too.
func addWait(f *pflag.FlagSet, wait *time.Duration) {
	f.DurationVar(wait, "wait", 2*time.Minute, "how long to wait for what becomes of it; 0s = not at all")
}

// checkWait refuses what [addWait] let through.
func checkWait(wait time.Duration) error {
	// 0 is not to wait; below it there is nothing.
	if wait < 0 {
		return usagef("--wait %s is no time: use 2m, or 0s not to wait", wait)
	}
	return nil
}

// waiting bounds what is waited for by --wait.
func waiting(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, wait, errors.New("the wait is over"))
}

// testPager lets who is told of alerts hear a test; "" = all of them. It asks dry first, to show who
// would hear it: a call in the night cannot be taken back.
func (g given) testPager(ctx context.Context, who string, wait time.Duration) error {
	c, err := neededEngine(ctx, g.cfg, "a test goes the way of a real alert, so start `farsight serve` first")
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := g.planned(ctx, c, engine.Command{Op: engine.OpPage, Channel: who}, func(plan engine.Receipt) error {
		if plan.Matched == 0 {
			return errors.New(plan.Text)
		}
		text := safe.Text(plan.Text)
		return g.yesNo("this "+text, "nobody was told", func() error {
			_, err := fmt.Fprintln(g.out.W, text)
			return err
		})
	})
	switch {
	case err != nil:
		return err
	// Nobody is configured: an error, too, for a script that checks its pager this way.
	case g.dry && r.Matched == 0:
		return errors.New(r.Text)
	case g.dry && !g.out.JSON:
		r.Sample = nil // its text names them all
	}
	if err := cli.Acted(g.out, r, g.dry, ""); err != nil || g.dry || g.out.JSON || wait == 0 {
		return err
	}
	return g.waitForJobs(ctx, c, wait, r.Sample)
}

// testLook is how often [became] asks how a job stands.
const testLook = 300 * time.Millisecond

// waitForJobs waits until each job has come to something, and says to what. The error says
// who was not told.
func (g given) waitForJobs(ctx context.Context, c *api.Client, wait time.Duration, keys []string) error {
	ctx, cancel := waiting(ctx, wait)
	defer cancel()
	failed := 0
	// One after the other: they go on beside each other, so the longest decides how long it takes.
	for _, key := range keys {
		d, err := became(ctx, c, engine.JobQuery{Key: key})
		if err != nil {
			return err
		}
		// Told is who took it: an answer of 500 is a try that failed.
		if d.Job.State != engine.Completed {
			failed++
		}
		if _, err := fmt.Fprintln(g.out.W, safe.Text(key+": "+whatBecame(d))); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d were not told: `farsight jobs --all` shows the tries to come, docs/pager.md what to look at", failed, len(keys))
	}
	return nil
}

// became waits until a job has had a try that has ended.
func became(ctx context.Context, c engine.Console, job engine.JobQuery) (engine.JobDetail, error) {
	for {
		// The context first: an interrupted request is an error of the request, too.
		a, err := c.Find(ctx, job)
		if ctx.Err() != nil {
			return engine.JobDetail{}, fmt.Errorf("job %s%s has not ended: %w; `farsight jobs` shows it", job.ID, job.Key, context.Cause(ctx))
		}
		if err != nil {
			return engine.JobDetail{}, err
		}
		d := a.(engine.JobDetail)
		// A try that failed and will be made again is an answer too: retries go on for hours, and who
		// waits wants to know now that the first has failed, and why.
		if n := len(d.Attempts); d.Job.State.Terminal() || n > 0 && !d.Attempts[n-1].End.IsZero() && d.ShouldRetry {
			return d, nil
		}
		await.Pause(ctx, testLook)
	}
}

// whatBecame says it after the job's name: "told", "connection refused; try 2 of 5 at 18:30:07",
// "discarded: 404".
func whatBecame(d engine.JobDetail) string {
	switch {
	case d.Job.State == engine.Completed:
		return "told"
	// In the zone of who reads it, and without a date: the next try is minutes away.
	case d.ShouldRetry:
		return fmt.Sprintf("%s; try %d of %d at %s", d.Job.LastError, len(d.Attempts)+1, d.MaxAttempts, d.NextRetryAt.Local().Format("15:04:05"))
	}
	return d.Job.State.String() + ": " + d.Job.LastError
}

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
		args:   between(1, 1, "name one number: %s +4930123456 --say 'The import is done.'"),
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
			if g.out.Spoken && !g.cmd.Flags().Changed("wait") { // nothing is told meanwhile
				wait = 0
			}
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
	c := typedIn(ctx)
	if c == nil {
		found, err := neededEngine(ctx, g.cfg, "start `farsight serve` first, which makes the call")
		if err != nil {
			return err
		}
		defer found.Close()
		c = found
	}
	// The receipt names the job, which is stored before anybody is called.
	r, err := c.Do(ctx, g.by(engine.Command{Op: engine.OpCall, Call: ask}))
	if err != nil {
		return err
	}
	if err := cli.Acted(g.out, r, g.dry, ""); err != nil || g.dry || g.out.JSON || wait == 0 {
		return err
	}
	return g.waitForTry(ctx, c, wait, r.Job)
}

// waitForTry waits until a try of the call has ended, and says how. The error says that
// nobody has heard it yet.
func (g given) waitForTry(ctx context.Context, c engine.Console, wait time.Duration, job engine.JobID) error {
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
