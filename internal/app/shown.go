package app

import (
	"context"
	"errors"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/columns"
	filters "github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/journal"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/ui/cli"
)

// partHelp is for the short lists.
const partHelp = "The filter is a part of a name."

// nothingHidden is what --all says where it adds nothing: scripts may give it to
// every list.
const nothingHidden = "taken by every list; this one hides nothing"

// filterHelp is for lists that take the filter language of the console.
const filterHelp = "The filter is the console's: words that all must occur, field:value (with * and a,b),\n" +
	"-term for none of these, or between two sides, field>5, durations and times (age>2h, next<12:30), /regex/, ~fuzzy.\n" +
	"Quote it; begin with -- if its first sign is a -."

// withFields is help for a filter with its fields.
func withFields[T any](s *filters.Schema[T]) string {
	text := filterHelp + fieldsHead
	for _, f := range s.Fields() {
		text += " " + f.Name
	}
	return text
}

// filtered is one list command with a filter.
type filtered struct {
	use, short, example string
	all                 string // what --all adds
	help                string // what the filter can be
	complete            cobra.CompletionFunc
	of                  func(filter string, all bool) cli.List
}

// always is a list that --all adds nothing to.
func always(of func(filter string) cli.List) func(string, bool) cli.List {
	return func(filter string, _ bool) cli.List { return of(filter) }
}

// filteredLists are the list commands of rows that the console's screens show, too. Their columns are
// those of engine/columns, of which the screens are made; package cli asks for the rows and prints
// them.
func filteredLists() []filtered {
	return []filtered{
		{
			// It is a text in parts, not rows: --columns and --sort are not offered.
			use: "status", short: "Show the engine, its queues and what syncs", example: "farsight status --all",
			all: "accounts that do not sync, too", help: partHelp, complete: onlyFirst(completeQueues), of: cli.Status,
		},
		{
			use: "queues", short: "List queues, and why their jobs do not start", example: "farsight queues",
			all: nothingHidden, help: partHelp, complete: onlyFirst(completeQueues), of: always(cli.Queues),
		},
		{
			use: "jobs", short: "List jobs",
			example: "farsight jobs 'state:retryable try>2'\nfarsight jobs --watch --sort -created --limit 20\n" +
				"farsight jobs --all -o csv --columns id,state,result\nfarsight jobs --classes",
			all: "ended jobs too", help: withFields(columns.Jobs.Schema), complete: completeFilter(columns.Jobs.Schema), of: cli.Jobs,
		},
		{
			// Jobs, too, but in the order of their next tries.
			use: "retries", short: "List jobs that wait for their next try", example: "farsight retries 'class:5xx'",
			all: nothingHidden, help: withFields(columns.Jobs.Schema), complete: completeFilter(columns.Jobs.Schema), of: always(cli.Retries),
		},
		{
			use: "accounts", short: "List accounts", example: "farsight accounts 'status:failed'",
			all: nothingHidden, help: withFields(columns.Accounts.Schema), complete: completeFilter(columns.Accounts.Schema), of: always(cli.Accounts),
		},
		{
			use: "matches", short: "List matches; a Riot ID shows one account's", example: "farsight matches 'Name#TAG champion:Lux len>20m'",
			all:  "permanently unfetchable ones too",
			help: "A filter that begins with a Riot ID is about that account: 'Name#TAG state:stored len>20m'.\n" + withFields(columns.Matches.Schema),
			// A name is offered where no field fits what was typed.
			complete: orAccount(completeFilter(columns.Matches.Schema)), of: cli.Matches,
		},
		{
			use: "reports", short: "List play-time reports; a Riot ID shows its hours and weekdays", example: "farsight reports 'Name#TAG'",
			all: nothingHidden, help: partHelp, complete: onlyFirst(completeAccounts), of: always(cli.Reports),
		},
		{
			// Of a data directory it says that there are none.
			use: "members", short: "List the processes that share a database: who leads, and what each has in hand",
			example: "farsight members --store postgres://farsight@db.example/lol",
			all:     nothingHidden, help: withFields(columns.Members.Schema), complete: completeFilter(columns.Members.Schema), of: always(cli.Members),
		},
		{
			use: "limits", short: "Show the rate limits as last known", example: "farsight limits europe",
			all: nothingHidden, help: partHelp, complete: onlyFirst(completeHosts), of: always(cli.Limits),
		},
	}
}

// command declares the command of a list.
func (l filtered) command() commandDecl {
	return commandDecl{
		use: l.use + " [FILTER]", group: groupSee, short: l.short, long: l.short + ".\n\n" + l.help, example: l.example,
		args: oneFilter, complete: l.complete,
		// --all is taken by every list, so that a script need not know which ones hide something.
		flags: func(f *pflag.FlagSet) {
			f.Bool("all", false, l.all)
			// The classes of errors are a list of jobs, too, seen from further away.
			if l.use == "jobs" {
				f.Bool("classes", false, "the error classes of failed jobs instead; FILTER is then a queue")
			}
		},
		list: func(cmd *cobra.Command, args []string) (cli.List, error) {
			// A filter without quotes is several arguments; oneFilter has refused that before.
			filter := strings.Join(args, " ")
			if flagBool(cmd, "classes") {
				return cli.Classes(filter), nil
			}
			return l.of(filter, flagBool(cmd, "all")), nil
		},
	}
}

// shownCommands are the commands that show what the engine that runs, or else the store, can tell.
func shownCommands() (all []commandDecl) {
	for _, l := range filteredLists() {
		all = append(all, l.command())
	}
	// Those above have screens of rows; these have a page of their own, or only this command.
	return append(all, auditCommand(), ranksCommand(), schedulesCommand(), metricsCommand(), jobLogCommand(), forensicsCommand(),
		commandDecl{
			use: "job ID|KEY", group: groupWhy, short: "Show one job with its tries", example: "farsight job match:KR_7214550881", json: "as JSON",
			args: between(1, 1, "name one job by its id or key: %s match:KR_7214550881"), complete: onlyFirst(completeJobs(engine.States())),
			tell: func(args []string) (cli.List, error) { return cli.Job(args[0]), nil },
		},
		commandDecl{
			use: "alerts", group: groupWhy, short: "List alerts as the engine evaluated them last", example: "farsight alerts --json",
			list: func(*cobra.Command, []string) (cli.List, error) { return cli.Alerts(), nil }, // without an engine: as the last one left them
		},
		commandDecl{
			use: "weekly [WEEK]", group: groupSee,
			short:   "Show the weekly report over all tracked accounts: the latest, or that of a day such as 2026-11-16",
			example: "farsight weekly 2026-11-16", args: between(0, 1, "name one week at most, by a day of it: %s 2026-11-16"), json: "as JSON",
			tell: func(args []string) (cli.List, error) { return cli.Weekly(strings.Join(args, "")), nil },
		},
		// Where no engine runs one is wired that does not start: what the key allows is known to a limiter, and the store
		// alone has only its last state.
		commandDecl{
			use: "freshness", group: groupAccounts, short: "Show what keeping the tracked accounts fresh needs, beside what the key allows",
			example: "farsight freshness", json: "as JSON",
			run: func(ctx context.Context, g given) error {
				return commanding(ctx, g.cfg, mustBeThere, func(ctx context.Context, c engine.Console, _ *parts) error {
					return cli.Freshness().Show(ctx, c, g.out)
				})
			},
		})
}

// auditCommand makes `farsight audit`.
func auditCommand() commandDecl {
	var q engine.AuditQuery
	var last int
	return commandDecl{
		use: "audit", group: groupWhy,
		short:   "Show which commands operators gave, when, why and with what result",
		example: "farsight audit --op cancel --last 20",
		flags: func(f *pflag.FlagSet) {
			f.StringVar((*string)(&q.Op), "op", "", "only this command: cancel, retry, pause, freeze …")
			// Searched by the engine, which has the texts as they are shown.
			f.StringVar(&q.Text, "text", "", "only those with this text in who gave it, target, reason or result")
			f.IntVar(&last, "last", 200, "at most so many of the newest; 0 = all")
		},
		list: func(*cobra.Command, []string) (cli.List, error) {
			// An operation that does not exist fits nothing, as a filter that fits nothing.
			return cli.Audit(q, last), notBelow0("last", last, "all")
		},
	}
}

// ranksCommand makes `farsight ranks`. Its --queue is Riot's name of a ladder, not one of our queues.
func ranksCommand() commandDecl {
	var queue string
	return commandDecl{
		use: "ranks 'Name#TAG'", group: groupSee, short: "Show an account's rank history, newest first",
		example: "farsight ranks 'Name#TAG' --queue RANKED_SOLO_5x5", args: oneAccount, complete: onlyFirst(completeAccounts),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&queue, "queue", "", "this ranked queue only, such as RANKED_SOLO_5x5")
		},
		list: func(_ *cobra.Command, args []string) (cli.List, error) {
			return cli.Ranks(strings.Join(args, " "), queue), nil
		},
	}
}

// metricsCommand makes `farsight metrics`.
func metricsCommand() commandDecl {
	var q engine.MetricsQuery
	return commandDecl{
		use: "metrics", group: groupWhy, short: "Show what jobs and retries add up to: the last hour, and each day",
		example: "farsight metrics --days 7", json: "as one JSON object",
		flags: func(f *pflag.FlagSet) {
			f.DurationVar(&q.Window, "window", time.Hour, "how far the sums of now look back, 1m to 1h")
			f.IntVar(&q.Days, "days", 30, "how many days to show, at most 400")
			f.StringVar((*string)(&q.Kind), "kind", "", "only jobs of this kind, such as match.fetch or alert.call: of the window, not of days")
			f.StringP("output", "o", forms[0], "form: table or json")
		},
		tell: func([]string) (cli.List, error) {
			if q.Window < time.Minute { // the engine bounds it above, by what it keeps
				return cli.List{}, usagef("--window %s is too short: use 1m to 1h", q.Window)
			}
			return cli.Metrics(q), nil
		},
	}
}

// jobLogCommand makes `farsight joblog`. It is no list with columns to choose: a line of it is a
// whole history.
func jobLogCommand() commandDecl {
	var q engine.JobLogQuery
	var limit int
	return commandDecl{
		use: "joblog", group: groupWhy, short: "List ended jobs, newest first: how they ended, retries, error, times",
		example: "farsight joblog --kind match.fetch --limit 50",
		flags: func(f *pflag.FlagSet) {
			f.StringVar((*string)(&q.Kind), "kind", "", "jobs of this kind, such as match.fetch")
			f.StringVar((*string)(&q.Queue), "queue", "", "jobs of this queue")
			f.IntVar(&limit, "limit", 0, "at most so many; 0 = all")
		},
		list: func(*cobra.Command, []string) (cli.List, error) {
			return cli.JobLog(q, limit), notBelow0("limit", limit, "all")
		},
	}
}

// forensicsCommand makes `farsight forensics`; without a number it is about the latest 429.
func forensicsCommand() commandDecl {
	return commandDecl{
		use: "forensics [CALL]", group: groupWhy, short: "Show what led to a 429: our counts beside Riot's, and who spent them",
		example: "farsight forensics 31", args: oneAtMost("call", "4711"), json: "as JSON",
		tell: func(args []string) (cli.List, error) {
			var q engine.ForensicsQuery
			if len(args) > 0 {
				n, err := strconv.ParseUint(args[0], 10, 64)
				// 0 is the query's own word for the latest 429, and no number of a call.
				if q.Seq = n; err != nil || n == 0 {
					return cli.List{}, usagef("%q is no number of a call: give one that `farsight forensics` names, or none for the latest 429", args[0])
				}
			}
			return cli.Forensics(q), nil
		},
	}
}

// notBelow0 refuses a number of rows below 0. without says what 0 stands for, such as every row.
func notBelow0(flag string, n int, without string) error {
	if n < 0 {
		return usagef("--%s %d makes no sense: use 1 or more, or 0 for %s", flag, n, without)
	}
	return nil
}

// lister makes a list command of cmd: its flags, their completion, and what runs.
// of is called once without arguments to learn the columns, for the help text and completion,
// and again with what was typed.
func lister(cmd *cobra.Command, of func(cmd *cobra.Command, args []string) (cli.List, error)) func(*cobra.Command, []string) error {
	f := cmd.Flags()
	f.Bool("json", false, "one JSON object per line, as -o json")
	f.StringP("output", "o", forms[0], "form of the list: table, json or csv")
	f.Bool("watch", false, "show it again when it has changed, until Ctrl-C; into a pipe, the rows that are new or changed")
	// A list without columns is a text in parts (status, limits), which cannot be sorted.
	if l, _ := of(cmd, nil); len(l.Columns) > 0 {
		f.StringSlice("columns", nil, "these columns only, in this order")
		f.String("sort", "", "order by a column; with a - in front the greatest stand first")
		f.Int("limit", 0, "at most so many rows; 0 = all")
		f.Bool("no-headers", false, "no names of columns, and no sentence below them")
		if cmd.Long == "" {
			cmd.Long = cmd.Short + "."
		}
		cmd.Long += "\n\nColumns:"
		for _, c := range l.Columns {
			cmd.Long += " " + c.Name
		}
	}
	// Names of columns that begin so; prefix is what stands before them in the word that is typed.
	names := func(cmd *cobra.Command, prefix, begun string) (words []cobra.Completion) {
		l, _ := of(cmd, nil)
		for _, c := range l.Columns {
			if strings.HasPrefix(c.Name, begun) {
				words = append(words, hint(prefix+c.Name, c.Help))
			}
		}
		return words
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		name := strings.TrimPrefix(begun, "-")
		return names(cmd, begun[:len(begun)-len(name)], name), cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.RegisterFlagCompletionFunc("columns", func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// --columns id,sta: what stands before the last comma is kept, and only the rest completed.
		at := strings.LastIndexByte(begun, ',') + 1
		return names(cmd, begun[:at], begun[at:]), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return func(cmd *cobra.Command, args []string) error {
		l, err := of(cmd, args)
		if err != nil {
			return err
		}
		out, err := listOut(cmd)
		if err != nil {
			return err
		}
		// Before the configuration is read and anything opened: a column that does not exist is told at
		// once.
		if err := l.Check(out); err != nil {
			return err
		}
		cfg, err := configOf(cmd)
		if err != nil {
			return err
		}
		if flagBool(cmd, "watch") {
			return watchList(cmd.Context(), cfg, l, out)
		}
		return browse(cmd.Context(), cfg, func(c engine.Console) error { return l.Show(cmd.Context(), c, out) })
	}
}

// listOut is stdout with what was asked of a list.
func listOut(cmd *cobra.Command) (cli.Out, error) {
	o, f := stdout(cmd), cmd.Flags()
	form, err := formed(cmd, forms)
	if err != nil {
		return o, err
	}
	// From here on --json and -o json are the same.
	o.JSON, o.CSV = o.JSON || form == "json", form == "csv"
	o.View.Sort, _ = f.GetString("sort")
	o.View.Limit, _ = f.GetInt("limit")
	limit := f.Lookup("limit")
	o.View.Brief = limit != nil && !limit.Changed
	o.View.NoHeaders = flagBool(cmd, "no-headers")
	// None given is the usual ones; an empty list that was given is a fault, which Check tells.
	if f.Changed("columns") {
		o.View.Columns, _ = f.GetStringSlice("columns")
	}
	return o, nil
}

// watchEvery is how often a list that is watched is asked for again.
const watchEvery = time.Second

// watchList shows a list until it is interrupted or nobody reads it any more.
func watchList(ctx context.Context, cfg config.Config, l cli.List, out cli.Out) error {
	// Go ends a program by SIGPIPE when a write to standard output fails; `… --watch | head` is the
	// usual end of a watch and no failure.
	signal.Ignore(syscall.SIGPIPE) // writing gives an error instead
	defer signal.Reset(syscall.SIGPIPE)
	watch, rest := cli.NewWatch(out), restingState{cfg: cfg}
	show := func(c engine.Console) error {
		return watch.Round(func(o cli.Out) error { return l.Show(ctx, c, o) })
	}
	for shown := false; ; {
		// Without an engine the directory is opened for each round, and only when its files have
		// changed: a watch that held it open would keep an engine from starting.
		if !rest.unchanged() {
			err := through(ctx, cfg, func(c *api.Client) error { return show(c) }, func() error {
				return browseStored(ctx, cfg, func(c engine.Console) error {
					if err := rest.note(); err != nil {
						return err
					}
					return show(c)
				})
			})
			switch {
			// Nobody reads any more, or Ctrl-C: the two ways in which a watch ends well.
			case isBrokenPipe(err), ctx.Err() != nil:
				return nil
			// An engine has begun or ended between two rounds. Before the first round the same is an
			// error: a script that waits for the first line must learn that there will be none.
			case shown && (isHeld(err) || errors.Is(err, engine.ErrGone)): // it is asked again
			case err != nil:
				return err
			}
			shown = true
		}
		if !await.Pause(ctx, watchEvery) || readerGone(out.W) {
			return nil
		}
	}
}

// schedulesCommand makes `farsight schedules`, which lists them or, with a flag that names one, acts
// on it.
func schedulesCommand() commandDecl {
	ops := map[engine.Op]*string{engine.OpRunSchedule: new(string), engine.OpPauseSchedule: new(string), engine.OpResumeSchedule: new(string)}
	edit := engine.Command{Op: engine.OpEditSchedule} // the plan is read by the engine, which knows the zone that is in force
	var reset bool                                    // it goes back to the configured plan
	return commandDecl{
		use: "schedules [FILTER]", group: groupSee,
		short: "List what recurs; run, pause, resume or edit one of it",
		long: "List what recurs; run, pause, resume or edit one of it.\n\n" + partHelp + "\n\n" +
			"An edit wins over the configuration, over restarts too, until --reset takes it back:\n" +
			"  farsight schedules --edit latest --cron '0 */2 * * *' --zone Asia/Seoul --dry-run",
		example: "farsight schedules --run rank.daily",
		args:    oneFilter, complete: onlyFirst(completeSchedules),
		dryRun: doNothing, reason: "why; kept with a pause or an edit and in the audit",
		flags: func(f *pflag.FlagSet) {
			f.Bool("all", false, nothingHidden)
			f.StringVar(ops[engine.OpRunSchedule], "run", "", "run this schedule now; its plan stays")
			f.StringVar(ops[engine.OpPauseSchedule], "pause", "", "let this schedule's runs pass, over restarts too")
			f.StringVar(ops[engine.OpResumeSchedule], "resume", "", "let this schedule run again")
			f.StringVar(&edit.Schedule, "edit", "", "give this schedule the plan of --cron and --zone")
			f.StringVar(&edit.Expr, "cron", "", "when it runs: minute, hour, day, month and weekday, such as '0 */2 * * *', or @every 90m")
			f.StringVar(&edit.Zone, "zone", "", "time zone of --cron, such as Asia/Seoul; without it the one in force stays")
			f.BoolVar(&reset, "reset", false, "with --edit: it runs as the configuration says again")
		},
		list: func(_ *cobra.Command, args []string) (cli.List, error) {
			return cli.Schedules(strings.Join(args, " ")), nil
		},
		instead: func() (func(context.Context, given) error, error) {
			var chosen []engine.Command
			for op, name := range ops {
				if *name != "" {
					chosen = append(chosen, engine.Command{Op: op, Schedule: *name})
				}
			}
			plans := edit.Expr != "" || edit.Zone != ""
			switch edits := edit.Schedule != "" || plans || reset; {
			case !edits:
			case edit.Schedule == "":
				return nil, usagef("name the schedule: --edit latest --cron '0 */2 * * *'; `farsight schedules` lists them")
			// To take an edit back and to make one are two things, and which would win nobody could tell.
			case reset && plans:
				return nil, usagef("give --cron and --zone, or --reset, but not both")
			case !reset && strings.TrimSpace(edit.Expr) == "":
				return nil, usagef("say when %s runs: --cron '0 */2 * * *', or --reset for what the configuration says", safe.Text(edit.Schedule))
			default:
				chosen = append(chosen, edit)
			}
			switch len(chosen) {
			case 0:
				return nil, nil
			case 1:
				// By the same way as tracking: it may begin a directory, and prints the receipt in the
				// same words.
				return func(ctx context.Context, g given) error { return g.track(ctx, chosen[0]) }, nil
			}
			// Their order would be nobody's choice.
			return nil, usagef("give one of --run, --pause, --resume and --edit")
		},
	}
}

// logsCommand makes `farsight logs`. It needs no console: a log can be read while nothing can be asked.
func logsCommand() commandDecl {
	var q engine.LogsQuery
	var last int // at most so many of the newest; 0 = all that is kept
	var follow bool
	return commandDecl{
		use: "logs", group: groupWhy, short: "Show the newest records of the engine's log, also while it runs",
		example: "farsight logs --level warn --follow", json: "one JSON object per line",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&q.Level, "level", "", "only this level and graver ones: "+wordList(engine.LogLevels(), "or"))
			f.StringVar((*string)(&q.Job), "job", "", "only records of the job with this id")
			f.StringVar(&q.Text, "text", "", "only records that hold this text, in any field")
			f.IntVar(&last, "limit", 200, "at most so many of the newest; 0 = all that is kept")
			f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
				return pflag.NormalizedName(strings.Replace(name, "last", "limit", 1)) // as it was called once
			})
			f.BoolVar(&follow, "follow", false, "go on with what is logged from now on")
			f.StringP("output", "o", forms[0], "form: table or json")
		},
		run: func(ctx context.Context, g given) error {
			q.Level = strings.ToLower(q.Level) // levels are small letters in the log, whatever is typed
			if err := notBelow0("limit", last, "all that is kept"); err != nil {
				return err
			}
			if err := q.Check(); err != nil {
				return err
			}
			return g.logs(ctx, q, last, follow)
		},
	}
}

// logs reads the log file, not the store: the log of an engine that runs is as
// good to read as that of one that fell.
func (g given) logs(ctx context.Context, q engine.LogsQuery, last int, follow bool) error {
	if on := typedIn(ctx); on != nil {
		q.Limit = last
		page, err := engine.Ask[engine.LogsPage](ctx, on, q)
		slices.Reverse(page.Logs)
		switch {
		case err != nil:
			return err
		case len(page.Logs) == 0:
			return cli.NoLogs(g.out, false)
		}
		return cli.Logs(g.out, page.Logs)
	}
	// A log is written also where nothing is stored yet, but a wrong --data-dir is likelier.
	if !hasStore(g.cfg) {
		return errNothingStored(g.cfg)
	}
	// The tail reads on where the file was set aside meanwhile, as farsight.log.1.
	tail := logbook.Tail(g.cfg.DataDir)
	defer tail.Close()
	// The ring bounds what is read: an old log may have gigabytes before its end. Without a log it is empty: an engine
	// that never ran has written none.
	ring := journal.NewRing(journal.KeepRecords, journal.KeepBytes)
	if err := tail.Fill(ring); err != nil {
		return err
	}
	rows := slices.DeleteFunc(ring.After(0, journal.KeepRecords), func(row engine.LogRow) bool { return !q.Fits(row) })
	if last > 0 {
		rows = rows[max(len(rows)-last, 0):]
	}
	// Who follows waits for the first record, and needs no sentence.
	if len(rows) == 0 && !follow {
		return cli.NoLogs(g.out, q == engine.LogsQuery{})
	}
	if err := cli.Logs(g.out, rows); err != nil || !follow {
		return err
	}
	// Follow ends in order when nobody takes a record any more: why not is kept here.
	var printing error
	err := tail.Follow(ctx, func(row engine.LogRow) bool {
		if q.Fits(row) {
			printing = cli.Logs(g.out, []engine.LogRow{row})
		}
		return printing == nil
	})
	if err != nil {
		return err
	}
	return printing
}
