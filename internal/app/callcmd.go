package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/cli"
)

// callOptions are the flags of `farsight call`.
type callOptions struct {
	ask    engine.CallAsk
	wait   time.Duration
	reason string
}

func callCommand() *cobra.Command {
	var o callOptions
	cmd := &cobra.Command{
		Use:   "call NUMBER",
		Short: "Call a number that you have allowed, and say a text",
		Long: "Call a number that you have allowed, and say a text, twice.\n\n" +
			"Only numbers in call_numbers of [pager] can be called, and only so many calls a day\n" +
			"(calls_per_day) can be asked for. The engine that runs makes the call: a line that\n" +
			"is busy, or that nobody picks up, is tried again by the table of retry_call. With\n" +
			"--key, asking again calls nobody twice. docs/pager.md has more.",
		Example: "farsight call +4930123456 --say 'The import is done.'\n" +
			"farsight call +4930123456 --say 'The import is done.' --key import-4711 --dry-run",
		Args: exactlyOne("name one number: %s +4930123456 --say 'The import is done.'"),
		RunE: configured(func(cmd *cobra.Command, cfg config.Config, args []string) error {
			o.ask.To = args[0]
			return o.run(cmd, cfg)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.ask.Say, "say", "", "the text to say")
	f.StringVar(&o.ask.Key, "key", "", "idempotency key: a second request with it calls nobody again")
	addWait(f, &o.wait)
	addActFlags(cmd, &o.reason)
	return cmd
}

func (o callOptions) run(cmd *cobra.Command, cfg config.Config) error {
	if err := checkWait(o.wait); err != nil {
		return err
	}
	ctx, out, dry := cmd.Context(), stdout(cmd), flagBool(cmd, "dry-run")
	c, err := dialEngine(ctx, cfg)
	if err != nil {
		return err
	}
	if c == nil {
		return noEngine(cfg, "start `farsight serve` first, which makes the call")
	}
	defer c.Close()
	r, err := c.Do(ctx, engine.Command{Op: engine.OpCall, Call: &o.ask, Reason: o.reason, DryRun: dry, By: operator("cli")})
	if err != nil {
		return err
	}
	if err := cli.Acted(out, r, dry, ""); err != nil || dry || out.JSON || o.wait == 0 {
		return err
	}
	return o.follow(ctx, c, out, r.Job)
}

// follow waits until a try of the call has ended, and says how. The error says that
// nobody has heard it yet.
func (o callOptions) follow(ctx context.Context, c *api.Client, out cli.Out, job engine.JobID) error {
	ctx, cancel := waiting(ctx, o.wait)
	defer cancel()
	d, err := became(ctx, c, engine.JobQuery{ID: job})
	if err != nil {
		return err
	}
	if d.Job.State == engine.Completed {
		_, err := fmt.Fprintln(out.W, "heard")
		return err
	}
	if _, err := fmt.Fprintln(out.W, safe.Text(whatBecame(d))); err != nil {
		return err
	}
	return errors.New("nobody has heard it: `farsight jobs --all 'queue:calls'` shows the tries, docs/pager.md what to look at")
}
