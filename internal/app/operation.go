package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/cli"
)

// operationCommands are the console's operations for scripts. They are carried out by the engine
// that runs, else on the data directory.
// Each is made from its entry in the table of [operation.Commands]: one that is added there is a
// command here, with its help and its completion.
func operationCommands() (all []commandDecl) {
	for _, o := range operation.Commands() {
		if len(o.States) > 0 {
			all = append(all, jobCommand(o))
		} else {
			all = append(all, targetCommand(o))
		}
	}
	return all
}

// targets are how the arguments of a command name what it acts on.
var targets = map[operation.Target]struct {
	use      string // after the command's name in its help
	check    cobra.PositionalArgs
	complete cobra.CompletionFunc
	each     bool // one command to the engine for each argument; else one of all of them
	fill     func(c *engine.Command, args []string) error
}{
	operation.Queue: {
		use: " QUEUE…", check: between(1, math.MaxInt, "name a queue: %s "+string(ingest.QueueFull)), complete: completeQueues, each: true,
		fill: func(c *engine.Command, args []string) error { c.Queue = engine.Queue(args[0]); return nil },
	},
	operation.Alert: {
		use: " ALERT", complete: onlyFirst(completeAlerts()),
		// An empty one, as of a script's variable that is not set, would be all alerts to the engine.
		check: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] != "" {
				return nil
			}
			return usagef("name one alert, such as 503/europe: `farsight alerts` lists them, see `%s --help`", cmd.CommandPath())
		},
		fill: func(c *engine.Command, args []string) error { c.Alert = args[0]; return nil },
	},
	operation.Bucket: {use: " HOST [METHOD]", complete: completeBuckets,
		check: between(1, 2, "name a host, and a method if only that is meant: %s europe match-v5.match"),
		fill: func(c *engine.Command, args []string) error {
			c.Bucket = engine.Bucket{Host: args[0], Method: strings.Join(args[1:], "")}
			return nil
		},
	},
	operation.Entry: {
		use: " [NUMBER]", check: oneAtMost("command", "31"), complete: onlyFirst(completeUndo),
		// Its number in the audit, such as 31 or #31. Without one it is the last command that can be undone; the engine
		// refuses when what it changed has changed again since.
		fill: func(c *engine.Command, args []string) (err error) {
			if len(args) == 0 {
				return nil
			}
			if c.Audit, err = strconv.ParseUint(strings.TrimPrefix(args[0], "#"), 10, 64); err != nil || c.Audit == 0 {
				return usagef("%q is no number of a command: a command that can be undone tells its number", args[0])
			}
			return nil
		},
	},
}

// argFlags are the flags by which a command says what its operation needs besides a target. What they
// return reads them into the command once they have been parsed.
var argFlags = map[operation.Arg]func(*pflag.FlagSet) (read func(c *engine.Command, now time.Time) error){
	operation.NoArg: func(*pflag.FlagSet) func(*engine.Command, time.Time) error {
		return func(*engine.Command, time.Time) error { return nil }
	},
	operation.When:  silenceFlags,
	operation.Share: freezeFlags,
}

// targetCommand is the command of an operation on anything but jobs.
// With several arguments (`farsight pause ingest.summoner.full ingest.rank.daily`) all are checked
// before the first is carried out: see [given.act].
func targetCommand(o operation.Operation) commandDecl {
	t := targets[o.Target]
	if o.Op == engine.OpAck { // an alert that does not fire cannot be acknowledged
		t.complete = onlyFirst(completeAlerts(engine.AlertFiring))
	}
	var read func(*engine.Command, time.Time) error
	return commandDecl{
		use: string(o.Op) + t.use, group: groupAct, short: o.Short, example: o.Example, args: t.check, complete: t.complete,
		reason: keptWhy,
		flags:  func(f *pflag.FlagSet) { read = argFlags[o.Arg](f) },
		run: func(ctx context.Context, g given) error {
			of := [][]string{g.args}
			if t.each {
				of = slices.Collect(slices.Chunk(g.args, 1))
			}
			all := slices.Repeat([]engine.Command{{Op: o.Op}}, len(of))
			for i, args := range of {
				if err := t.fill(&all[i], args); err != nil {
					return err
				}
				if err := read(&all[i], time.Now()); err != nil {
					return err
				}
			}
			return g.act(ctx, all, nil)
		},
	}.acting()
}

// jobFlags are the flags of a command on jobs.
type jobFlags struct {
	filter engine.JobFilter
	states []string
	order  engine.Command // with --confirm and --canary
	at, in string         // with reschedule: an instant, or a time from now
}

// jobCommand makes the command of an operation on jobs, such as
//
//	farsight retry match:KR_7214550881
//	farsight cancel --class 5xx --queue ingest.summoner.full --dry-run
func jobCommand(v operation.Operation) commandDecl {
	var o jobFlags
	return commandDecl{
		use: string(v.Op) + " [ID|KEY…]", group: groupAct, short: v.Short, example: v.Example,
		long: v.Short + ".\n\n" + v.Long + "\n\nName jobs by id or key, such as match:KR_7214550881, or say which by --class,\n" +
			"--queue, --state or --account. --dry-run counts them and tells the cost first.",
		args: cobra.ArbitraryArgs, complete: completeJobs(v.States),
		reason: "why; kept in the audit and with each job",
		flags:  func(f *pflag.FlagSet) { o.flags(f, v) },
		run: func(ctx context.Context, g given) error {
			c, err := o.command(v.Op, g, time.Now())
			if err != nil {
				return err
			}
			return g.act(ctx, []engine.Command{c}, g.args)
		},
	}.acting()
}

// flags gives the command of an operation the flags that say which jobs. Which of them it has
// besides, the table of operations says.
func (o *jobFlags) flags(f *pflag.FlagSet, v operation.Operation) {
	f.StringVar((*string)(&o.filter.Class), "class", "", "jobs that failed last with this class, such as 5xx, or an id of `farsight jobs --classes`")
	f.StringVar((*string)(&o.filter.Queue), "queue", "", "jobs of this queue")
	f.StringSliceVar(&o.states, "state", nil, "jobs in these states, such as retryable,discarded")
	f.StringVar(&o.filter.Owner, "account", "", "jobs of this account, such as 'Name#TAG'")
	f.StringVar(&o.order.Confirm, "confirm", "", fmt.Sprintf("the word %q lets a command act that nothing narrows down", engine.ConfirmAll))
	if v.Canary {
		f.BoolVar(&o.order.Canary, "canary", false, "one job first, the rest when it has succeeded")
	}
	// Reschedule alone; a silence has words of its own, for it says until when.
	if v.Arg == operation.When {
		f.StringVar(&o.at, "at", "", "instant, such as 2026-11-21T18:30:00Z or 18:30")
		f.StringVar(&o.in, "in", "", "time from now, such as 10m")
	}
}

// command makes the command of the flags; the jobs that the arguments name are looked up later, by
// [nameJobs].
func (o jobFlags) command(op engine.Op, g given, now time.Time) (engine.Command, error) {
	c := o.order
	c.Op = op
	for _, word := range o.states {
		s, err := engine.ParseState(strings.ToLower(word))
		if err != nil {
			return c, usagef("--state %q is unknown: use %s", word, wordList(stateNames(), "or"))
		}
		o.filter.States = append(o.filter.States, s)
	}
	switch {
	// Which of both is meant cannot be told, and the wrong one may act on thousands of jobs.
	case len(g.args) > 0 && !o.filter.Empty():
		return c, usagef("name jobs, or say which by flags, but not both")
	// Nothing given is not "all of them": that has to be said with --confirm.
	case len(g.args) == 0 && o.filter.Empty() && c.Confirm == "":
		return c, usagef("name a job by id or key, such as match:KR_7214550881, or say which by --class, --queue, --state or --account")
	case c.Confirm != "" && c.Confirm != engine.ConfirmAll:
		return c, usagef("--confirm %q is not the word: it is %q", c.Confirm, engine.ConfirmAll)
	// A forced try goes round what the engine has decided; the one who reads the job later must
	// find out why.
	case op == engine.OpForce && strings.TrimSpace(g.reason) == "":
		return c, usagef("force needs --reason: it is kept with the job")
	case op == engine.OpReschedule:
		at, err := instant(flagged{"at", o.at}, flagged{"in", o.in}, now)
		if err != nil {
			return c, err
		}
		c.At = at
	}
	if len(g.args) == 0 {
		c.Select = &engine.Selection{Filter: &o.filter}
	}
	return c, nil
}

// silenceFlags say until when an alert is silent; the zero time ends a silence that is under way.
func silenceFlags(f *pflag.FlagSet) func(*engine.Command, time.Time) error {
	span := f.String("for", "", "for so long, such as 30m or 2h")
	until := f.String("until", "", "until then, such as 18:30 or 2026-11-21T18:30:00Z")
	end := f.Bool("end", false, "let it be heard again")
	return func(c *engine.Command, now time.Time) (err error) {
		// Two of them would contradict each other, and none would silence an alert for nobody knows
		// how long.
		given := 0
		for _, set := range []bool{*span != "", *until != "", *end} {
			if set {
				given++
			}
		}
		switch {
		case given != 1:
			return usagef("say how long: --for 2h, --until 18:30, or --end to hear it again")
		case *until != "":
			c.At, err = ahead(flagged{"until", *until}, flagged{}, now)
			return err
		case *end:
			return nil
		}
		d, err := time.ParseDuration(*span)
		if err != nil || d <= 0 {
			return usagef("--for %q is no time: use 30m, 2h or 48h", *span)
		}
		c.At = now.Add(d)
		return nil
	}
}

// freezeFlags say how much of a limit is let through and until when. What is frozen is kept in the
// store and so outlives the engine; without an instant it holds until `farsight thaw`.
func freezeFlags(f *pflag.FlagSet) func(*engine.Command, time.Time) error {
	until := f.String("until", "", "an instant, such as 18:30; without it and --for until `farsight thaw`")
	span := f.String("for", "", "for so long, such as 10m")
	percent := f.Int("cap", 0, "let this percentage of the limit through, 1 to 99; 0 = nothing")
	f.SetNormalizeFunc(untilFlags)
	return func(c *engine.Command, now time.Time) (err error) {
		// Whether it is from 1 to 99 the engine checks, for the console asks it, too.
		c.Bucket.Cap = *percent
		if *until != "" || *span != "" {
			c.Bucket.Until, err = ahead(flagged{"until", *until}, flagged{"for", *span}, now)
		}
		return err
	}
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

// nextEngine is added to what lets jobs run, while no engine does.
const nextEngine = "no engine runs on this directory: the next one does it"

// act carries commands out in their order, on the engine that holds the directory or else on the
// directory, and prints the receipt of each. The first that fails ends it: its receipt says what was
// done before. jobs are the ids and keys that the first command is about, if it has no selection.
func (g given) act(ctx context.Context, all []engine.Command, jobs []string) error {
	// Only a trigger may begin a directory: on one that does not exist yet there is nothing that
	// another command could act on.
	return commanding(ctx, g.cfg, all[0].Op != engine.OpTrigger, func(ctx context.Context, on engine.Console, own *parts) error {
		queues := func(ctx context.Context) ([]engine.QueueRow, error) {
			a, err := engine.Ask[engine.StatusAnswer](ctx, on, engine.StatusQuery{})
			return a.Queues, err
		}
		if own != nil { // no engine has read its jobs
			queues = own.store.QueueRows
		}
		if len(jobs) > 0 {
			var err error
			if all, err = nameJobs(ctx, on, all[0], jobs); err != nil {
				return err
			}
		}
		for _, c := range all { // before the first of them changes anything
			if err := checkNames(ctx, on, queues, c); err != nil {
				return err
			}
		}
		for _, c := range all {
			r, err := on.Do(ctx, g.by(c))
			if err != nil {
				return err
			}
			later := "" // what jobs wait for that may run now, beside their own turn
			switch starts := operation.Of(c.Op).Starts; {
			case starts && own != nil:
				later = nextEngine
			case starts:
				if s := found[engine.StatusAnswer](ctx, on, engine.StatusQuery{}); s.Engine.State != "" && s.Engine.State != engine.EngineLive {
					later = s.Engine.Cause()
				}
			}
			if err := cli.Acted(g.out, r, g.dry, later); err != nil {
				return err
			}
		}
		return nil
	})
}

// nameJobs looks jobs up by id or key and puts them into the command, at the
// revision that they have now. A key that no job has makes a command of its own: a match can be brought back
// without one.
func nameJobs(ctx context.Context, con engine.Console, c engine.Command, names []string) (all []engine.Command, err error) {
	sel, alone := engine.Selection{}, c
	for _, name := range names {
		q := engine.JobQuery{ID: engine.JobID(strings.TrimPrefix(name, "#"))}
		// Keys have a colon (match:KR_7214550881), ids have none; lists show ids as #d6280.
		if strings.Contains(name, ":") {
			q = engine.JobQuery{Key: name}
		}
		a, err := con.Find(ctx, q)
		if errors.Is(err, engine.ErrNotFound) && q.Key != "" && (c.Op == engine.OpRetry || c.Op == engine.OpForce) {
			alone.Job = engine.JobID(name)
			all = append(all, alone)
			continue
		}
		if err != nil {
			return nil, err
		}
		j := a.(engine.JobDetail).Job.Job
		// With its revision: a job that has moved on since is left as it is, and told.
		sel.IDs, sel.Revs = append(sel.IDs, j.ID), append(sel.Revs, j.Rev)
	}
	switch {
	case len(sel.IDs) == 0:
		return all, nil
	// One job by itself is refused with its own reason; of a selection only the number that did not
	// fit is told.
	case len(sel.IDs) == 1 && c.Op != engine.OpReclass:
		c.Job = sel.IDs[0]
	default:
		c.Select = &sel
	}
	return append(all, c), nil
}

// checkNames refuses a queue or an account that is not known, where nothing would fit and look as if
// all were done. An account is put in by its id.
func checkNames(ctx context.Context, on engine.Console, queues func(context.Context) ([]engine.QueueRow, error), c engine.Command) error {
	queue := c.Queue
	var filter *engine.JobFilter
	if c.Select != nil {
		filter = c.Select.Filter
	}
	if filter != nil {
		queue = filter.Queue
	}
	if queue != "" {
		if err := checkQueue(ctx, queues, queue); err != nil {
			return err
		}
	}
	if filter == nil || filter.Owner == "" {
		return nil
	}
	found, err := on.Find(ctx, engine.AccountQuery{ID: filter.Owner})
	if err != nil {
		return err
	}
	// --account takes a Riot ID, and jobs are owned by the account's own id, which outlives a
	// change of name.
	filter.Owner = found.(engine.AccountDetail).Row.ID
	return nil
}

// checkQueue refuses a queue that neither this program nor the store has heard of: a mistyped one would be paused for
// nothing. One of a version to come, or of one before, may still stand in the store.
func checkQueue(ctx context.Context, queues func(context.Context) ([]engine.QueueRow, error), name engine.Queue) error {
	if slices.Contains(knownQueues(), name) {
		return nil
	}
	rows, err := queues(ctx)
	if err != nil || slices.ContainsFunc(rows, func(q engine.QueueRow) bool { return q.Name == name }) {
		return err
	}
	// A name is mistyped more often than made up.
	return usagef("there is no queue %q: use one of %s", name, strings.Join(texts(knownQueues()), ", "))
}

// completeQueues offers the queues that are not named yet.
func completeQueues(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return starting(slices.DeleteFunc(texts(knownQueues()), func(q string) bool { return slices.Contains(args, q) }), begun), cobra.ShellCompDirectiveNoFileComp
}

// completeStates completes the last of the states that commas set apart.
func completeStates(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexByte(begun, ',') + 1
	words := starting(stateNames(), begun[at:])
	for i := range words {
		words[i] = begun[:at] + words[i]
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// starting sorts words in place and takes those away that do not begin so.
func starting(words []string, begun string) []string {
	slices.SortFunc(words, cmp.Compare)
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, begun) })
}

// stateNames are the words of the states of a job, in the order in which it goes through them.
func stateNames() (words []string) {
	for _, s := range engine.States() {
		words = append(words, s.String())
	}
	return words
}
