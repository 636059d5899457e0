package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/cli"
)

// newActCommands are the console's commands for scripts. They are carried out by the
// engine that runs, else on the data directory.
// Operations that act on nothing but their target, or on jobs, are made from the table of
// [operation.Commands]: one that is added there is a command here, with its help and its
// completion. Those that need more words (trigger, freeze, undo) are written out.
func newActCommands() []*cobra.Command {
	var out []*cobra.Command
	for _, o := range operation.Commands() {
		if len(o.States) > 0 {
			out = append(out, jobCommand(o))
		} else {
			out = append(out, targetCommand(o))
		}
	}
	return append(out, triggerCommand(), freezeCommand(), undoCommand())
}

// targets are how the arguments of a command name what it acts on: each makes one command
// to the engine, but for a bucket, which they name together.
var targets = map[operation.Target]struct {
	use      string // after the command's name in its help
	check    cobra.PositionalArgs
	complete cobra.CompletionFunc
	each     func(c *engine.Command, arg string)    // one command to the engine for each argument
	all      func(c *engine.Command, args []string) // one command of all arguments, instead of each
}{
	operation.Nothing: {check: noArgs, all: func(*engine.Command, []string) {}},
	operation.Queue:   {use: " QUEUE…", check: someQueues, complete: completeQueues, each: func(c *engine.Command, arg string) { c.Queue = engine.Queue(arg) }},
	operation.Alert:   {use: " ALERT", check: oneAlert, complete: onlyFirst(completeAlerts()), each: func(c *engine.Command, arg string) { c.Alert = arg }},
	operation.Bucket:  {use: " HOST [METHOD]", check: bucketArgs, complete: completeBuckets, all: func(c *engine.Command, args []string) { c.Bucket = bucketOf(args) }},
}

// targetCommand is the command of an operation that needs no more than its target.
// With several arguments (`farsight pause ingest.summoner.full ingest.rank.daily`) all are checked
// before the first is carried out: see [acts.run].
func targetCommand(o operation.Operation) *cobra.Command {
	var reason string
	t := targets[o.Target]
	cmd := &cobra.Command{
		Use: string(o.Op) + t.use, Short: o.Short, Example: o.Example, ValidArgsFunction: t.complete, Args: t.check,
		RunE: func(cmd *cobra.Command, args []string) error {
			c := engine.Command{Op: o.Op, Reason: reason}
			if t.all != nil {
				t.all(&c, args)
				return runAct(cmd, []engine.Command{c}, nil)
			}
			all := slices.Repeat([]engine.Command{c}, len(args))
			for i, arg := range args {
				t.each(&all[i], arg)
			}
			return runAct(cmd, all, nil)
		},
	}
	addActFlags(cmd, &reason)
	return cmd
}

// someQueues wants one queue at least. Whether it exists is asked later, of the engine: see
// [acts.check].
func someQueues(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("name a queue: %s %s", cmd.CommandPath(), ingest.QueueFull)
	}
	return nil
}

// jobFlags are the flags of a command on jobs.
type jobFlags struct {
	filter  engine.JobFilter // filled in by command from class, queue, states and account
	class   string
	queue   string
	states  []string
	account string
	reason  string
	confirm string
	canary  bool   // with retry: see [engine.Command]
	at, in  string // with reschedule: an instant, or a time from now
}

// jobCommand makes the command of an operation on jobs, such as
//
//	farsight retry match:KR_7214550881
//	farsight cancel --class 503 --queue ingest.summoner.full --dry-run
func jobCommand(v operation.Operation) *cobra.Command {
	var o jobFlags
	cmd := &cobra.Command{
		Use:   string(v.Op) + " [ID|KEY…]",
		Short: v.Short, Example: v.Example,
		Long: v.Short + ".\n\n" + v.Long + "\n\nName jobs by id or key, such as match:KR_7214550881, or say which by --class,\n" +
			"--queue, --state or --account. --dry-run counts them and tells the cost first.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.command(v.Op, args, time.Now())
			if err != nil {
				return err
			}
			return runAct(cmd, []engine.Command{c}, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.class, "class", "", "jobs that failed last with this class, such as 503, or an id of `farsight jobs --classes`")
	f.StringVar(&o.queue, "queue", "", "jobs of this queue")
	f.StringSliceVar(&o.states, "state", nil, "jobs in these states, such as retryable,discarded")
	f.StringVar(&o.account, "account", "", "jobs of this account, such as 'Name#TAG'")
	f.StringVar(&o.reason, "reason", "", "why; kept in the audit and with each job")
	f.StringVar(&o.confirm, "confirm", "", fmt.Sprintf("the word %q lets a command act that nothing narrows down", engine.ConfirmAll))
	if v.Canary {
		f.BoolVar(&o.canary, "canary", false, "one job first, the rest when it has succeeded")
	}
	if v.Arg == operation.When {
		f.StringVar(&o.at, "at", "", "instant, such as 2026-11-21T18:30:00Z or 18:30")
		f.StringVar(&o.in, "in", "", "time from now, such as 10m")
	}
	addActFlags(cmd, nil)
	_ = cmd.RegisterFlagCompletionFunc("queue", completeQueues)
	_ = cmd.RegisterFlagCompletionFunc("state", completeStates)
	return cmd
}

// command makes the command of the flags; the jobs that args name are looked up
// later.
func (o jobFlags) command(op engine.Op, args []string, now time.Time) (engine.Command, error) {
	c := engine.Command{Op: op, Reason: o.reason, Confirm: o.confirm, Canary: o.canary}
	for _, word := range o.states {
		s, err := engine.ParseState(strings.ToLower(word))
		if err != nil {
			return c, usagef("--state %q is unknown: use %s", word, wordList(stateNames(), "or"))
		}
		o.filter.States = append(o.filter.States, s)
	}
	o.filter.Class, o.filter.Queue, o.filter.Owner = engine.Class(o.class), engine.Queue(o.queue), o.account
	switch {
	// Which of both is meant cannot be told, and the wrong one may act on thousands of jobs.
	case len(args) > 0 && !o.filter.Empty():
		return c, usagef("name jobs, or say which by flags, but not both")
	// Nothing given is not "all of them": that has to be said with --confirm.
	case len(args) == 0 && o.filter.Empty() && o.confirm == "":
		return c, usagef("name a job by id or key, such as match:KR_7214550881, or say which by --class, --queue, --state or --account")
	case o.confirm != "" && o.confirm != engine.ConfirmAll:
		return c, usagef("--confirm %q is not the word: it is %q", o.confirm, engine.ConfirmAll)
	// A forced try goes round what the engine has decided; the one who reads the job later must
	// find out why.
	case op == engine.OpForce && strings.TrimSpace(o.reason) == "":
		return c, usagef("force needs --reason: it is kept with the job")
	case op == engine.OpReschedule:
		at, err := instant(flagged{"at", o.at}, flagged{"in", o.in}, now)
		if err != nil {
			return c, err
		}
		c.At = at
	}
	if len(args) == 0 {
		c.Select = &engine.Selection{Filter: &o.filter}
	}
	return c, nil
}

// flagged is what a flag was given.
type flagged struct{ flag, value string }

// instant reads a flag for an instant or one for a time from now; exactly one of them.
func instant(at, in flagged, now time.Time) (time.Time, error) {
	switch {
	// both, or none
	case (at.value == "") == (in.value == ""):
		return time.Time{}, usagef("say when: --%[1]s 18:30, --%[1]s 2026-11-21T18:30:00Z or --%[2]s 10m", at.flag, in.flag)
	case in.value != "":
		d, err := time.ParseDuration(in.value)
		if err != nil || d < 0 {
			return time.Time{}, usagef("--%s %q is no time from now: use 90s, 10m or 2h", in.flag, in.value)
		}
		return now.Add(d), nil
	}
	return clock(at.value, now)
}

// ahead is an instant that is still to come.
// An instant that has passed would freeze nothing and look as if it had; [instant] takes one,
// because a job that is due in the past is merely due.
func ahead(at, in flagged, now time.Time) (time.Time, error) {
	t, err := instant(at, in, now)
	if err != nil || t.After(now) {
		return t, err
	}
	if at.value == "" {
		at = in
	}
	return t, usagef("--%s %q has passed: give an instant in the future", at.flag, at.value)
}

// clock reads an instant: RFC 3339, or a time of day, the next one to come.
func clock(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	// 23:50 typed at 00:10 is tonight, 00:05 is tomorrow: nobody who plans ahead means a time that
	// has gone by. The date is put together from its fields, so that a change of the clocks between
	// now and then does not move the hour.
	for _, layout := range []string{"15:04", "15:04:05"} {
		d, err := time.ParseInLocation(layout, s, now.Location())
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), d.Hour(), d.Minute(), d.Second(), 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, nil
	}
	return time.Time{}, usagef("%q is no instant: use 18:30 or 2026-11-21T18:30:00Z", s)
}

// triggerCommand makes `farsight trigger`. Without an engine it puts the sync in line in the
// data directory: the next engine begins it.
func triggerCommand() *cobra.Command {
	var opt syncOptions
	var mode, reason string
	cmd := &cobra.Command{
		Use: "trigger 'Name#TAG'", Short: "Start a sync of an account, or put it in line for the next engine", Args: oneAccount,
		RunE: configured(func(cmd *cobra.Command, cfg config.Config, args []string) error {
			opt.account = args[0]
			ask, err := opt.ask(cfg)
			if err != nil {
				return err
			}
			if mode != ingest.ModeFull && mode != ingest.ModeLatest {
				return usagef("--mode %q is unknown: use full or latest", mode)
			}
			ask.Mode = mode
			return runAct(cmd, []engine.Command{{Op: engine.OpTrigger, Account: opt.account, Sync: ask, Reason: reason}}, nil)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&mode, "mode", ingest.ModeFull, "how much: full, or latest for the newest few")
	opt.flags(f)
	f.StringVar(&opt.timelines, "timelines", "all", "which timelines: all, ranked or none")
	addActFlags(cmd, &reason)
	return cmd
}

// bucketArgs reads a host and, optionally, a method.
func bucketArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 1 || len(args) == 2 {
		return nil
	}
	return usagef("name a host, and a method if only that is meant: %s europe match-v5.match", cmd.CommandPath())
}

// bucketOf names the limit of a host, or that of one method on it: [europe match-v5.match].
// The arguments were checked by [bucketArgs].
func bucketOf(args []string) engine.Bucket {
	b := engine.Bucket{Host: args[0]}
	if len(args) == 2 {
		b.Method = args[1]
	}
	return b
}

// freezeCommand makes `farsight freeze`. What is frozen is kept in the store and so outlives
// the engine; without an instant it holds until `farsight thaw`.
func freezeCommand() *cobra.Command {
	var until, span, reason string
	var percent int
	cmd := &cobra.Command{
		Use: "freeze HOST [METHOD]", Short: "Stop the calls to a host or method, or cap them, until an instant", Args: bucketArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			b := bucketOf(args)
			b.Cap = percent
			if until != "" || span != "" {
				at, err := ahead(flagged{"until", until}, flagged{"for", span}, time.Now())
				if err != nil {
					return err
				}
				b.Until = at
			}
			return runAct(cmd, []engine.Command{{Op: engine.OpFreeze, Bucket: b, Reason: reason}}, nil)
		},
	}
	f := cmd.Flags()
	f.StringVar(&until, "until", "", "an instant, such as 18:30; without it and --for until `farsight thaw`")
	f.StringVar(&span, "for", "", "for so long, such as 10m")
	f.SetNormalizeFunc(untilFlags)
	f.IntVar(&percent, "cap", 0, "let this percentage of the limit through, 1 to 99; 0 = nothing")
	addActFlags(cmd, &reason)
	return cmd
}

// untilFlags takes reschedule's words for freeze's: one says when something starts,
// the other when it ends, and both are typed.
func untilFlags(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "at":
		name = "until"
	case "in":
		name = "for"
	}
	return pflag.NormalizedName(name)
}

// undoCommand makes `farsight undo`. Without a number it is the last command that can be undone;
// the engine refuses when what the command changed has changed again since.
func undoCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "undo [NUMBER]", Short: "Take a " + operation.UndoWords("or") + " back, if nothing has happened since",
		Args: oneAtMost("command", "31"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := engine.Command{Op: engine.OpUndo, Reason: reason}
			if len(args) == 1 {
				n, err := strconv.ParseUint(strings.TrimPrefix(args[0], "#"), 10, 64)
				if err != nil || n == 0 {
					return usagef("%q is no number of a command: a command that can be undone tells its number", args[0])
				}
				c.Audit = n
			}
			return runAct(cmd, []engine.Command{c}, nil)
		},
	}
	addActFlags(cmd, &reason)
	return cmd
}

// nextEngine is added to what lets jobs run, while no engine does.
const nextEngine = "no engine runs on this directory: the next one does it"

// runAct carries commands out, on the engine that holds the directory or else on
// the directory. jobs are the ids and keys that the first command is about, if it
// has no selection.
func runAct(cmd *cobra.Command, all []engine.Command, jobs []string) error {
	cfg, err := configOf(cmd)
	if err != nil {
		return err
	}
	// Only a trigger may begin a directory: on one that does not exist yet there is nothing that
	// another command could act on.
	return commanding(cmd.Context(), cfg, all[0].Op != engine.OpTrigger, func(_ context.Context, c engine.Console, own *parts) error {
		a := acts{all: all, jobs: jobs, on: c, alone: own != nil}
		a.knows = func(ctx context.Context, q engine.Queue) error { return hasQueue(ctx, c, q) }
		if own != nil {
			a.knows = own.knows
		}
		return a.run(cmd)
	})
}

// acts are commands with what carries them out.
type acts struct {
	all   []engine.Command
	jobs  []string
	on    engine.Console                            // the engine that runs, or one of our own on the directory
	knows func(context.Context, engine.Queue) error // refuses a queue that nobody has heard of
	alone bool                                      // no engine runs
}

// run carries them out in their order and prints the receipt of each. The first that fails ends
// it: its receipt says what was done before.
func (a acts) run(cmd *cobra.Command) error {
	ctx, dry, out := cmd.Context(), flagBool(cmd, "dry-run"), stdout(cmd)
	if len(a.jobs) > 0 {
		if err := nameJobs(ctx, a.on, &a.all[0], a.jobs); err != nil {
			return err
		}
	}
	for _, c := range a.all { // before the first of them changes anything
		if err := a.check(ctx, c); err != nil {
			return err
		}
	}
	for _, c := range a.all {
		c.By, c.DryRun = operator("cli"), dry
		r, err := a.on.Do(ctx, c)
		if err != nil {
			return err
		}
		later := ""
		if a.alone && operation.Of(c.Op).Starts {
			later = nextEngine
		}
		if err := cli.Acted(out, r, dry, later); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a queue or an account that is not known, where nothing would fit and
// look as if all were done. An account is put in by its id.
func (a acts) check(ctx context.Context, c engine.Command) error {
	queue := c.Queue
	var filter *engine.JobFilter
	if c.Select != nil {
		filter = c.Select.Filter
	}
	if filter != nil {
		queue = filter.Queue
	}
	if queue != "" {
		if err := a.knows(ctx, queue); err != nil {
			return err
		}
	}
	if filter == nil || filter.Owner == "" {
		return nil
	}
	found, err := a.on.Find(ctx, engine.AccountQuery{ID: filter.Owner})
	if err != nil {
		return err
	}
	// --account takes a Riot ID, and jobs are owned by the account's own id, which outlives a
	// change of name.
	filter.Owner = found.(engine.AccountDetail).Row.ID
	return nil
}

// knows refuses a queue that neither the engine nor the store has heard of: a
// mistyped one would be paused for nothing.
func (p *parts) knows(ctx context.Context, name engine.Queue) error {
	if slices.Contains(knownQueues(), name) {
		return nil
	}
	stored, err := p.db.Queues(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(stored, func(q engine.QueueState) bool { return q.Name == name }) {
		return nil
	}
	// A job of a version to come may stand in a queue that this one does not know.
	for j, err := range p.db.Live(ctx) {
		if err == nil && j.Queue == name {
			return nil
		}
	}
	return noQueue(name)
}
