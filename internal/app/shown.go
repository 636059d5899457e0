package app

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	filters "github.com/farsight-console/farsight/engine/filter"
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
	text := filterHelp + "\n\nFields:"
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
	return append(all, alertsCommand(), auditCommand(), ranksCommand(), schedulesCommand(),
		metricsCommand(), jobLogCommand(), forensicsCommand(), weeklyCommand(), freshnessCommand())
}

// alertsCommand makes `farsight alerts`. Without an engine it shows how the last one left them.
func alertsCommand() commandDecl {
	return commandDecl{
		use: "alerts", group: groupWhy, short: "List alerts as the engine evaluated them last", example: "farsight alerts --json",
		list: func(*cobra.Command, []string) (cli.List, error) { return cli.Alerts(), nil },
	}
}

// auditCommand makes `farsight audit`.
func auditCommand() commandDecl {
	var q engine.AuditQuery
	var op string
	var last int
	return commandDecl{
		use: "audit", group: groupWhy,
		short:   "Show which commands operators gave, when, why and with what result",
		example: "farsight audit --op cancel --last 20",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&op, "op", "", "only this command: cancel, retry, pause, freeze …")
			// Searched by the engine, which has the texts as they are shown.
			f.StringVar(&q.Text, "text", "", "only those with this text in who gave it, target, reason or result")
			f.IntVar(&last, "last", 200, "at most so many of the newest; 0 = all")
		},
		list: func(*cobra.Command, []string) (cli.List, error) {
			// An operation that does not exist fits nothing, as a filter that fits nothing.
			q.Op = engine.Op(op)
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
	var kind string
	return commandDecl{
		use: "metrics", group: groupWhy, short: "Show what jobs and retries add up to: the last hour, and each day",
		example: "farsight metrics --days 7", json: "as one JSON object",
		flags: func(f *pflag.FlagSet) {
			f.DurationVar(&q.Window, "window", time.Hour, "how far the sums of now look back, 1m to 1h")
			f.IntVar(&q.Days, "days", 30, "how many days to show, at most 400")
			f.StringVar(&kind, "kind", "", "only jobs of this kind, such as match.fetch or alert.call: of the window, not of days")
		},
		tell: func([]string) (cli.List, error) {
			q.Kind = engine.Kind(kind)
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
	var kind, queue string
	var limit int
	return commandDecl{
		use: "joblog", group: groupWhy, short: "List ended jobs, newest first: how they ended, retries, error, times",
		example: "farsight joblog --kind match.fetch --limit 50",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&kind, "kind", "", "jobs of this kind, such as match.fetch")
			f.StringVar(&queue, "queue", "", "jobs of this queue")
			f.IntVar(&limit, "limit", 0, "at most so many; 0 = all")
		},
		list: func(*cobra.Command, []string) (cli.List, error) {
			q := engine.JobLogQuery{Kind: engine.Kind(kind), Queue: engine.Queue(queue)}
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

// weeklyCommand makes `farsight weekly`.
func weeklyCommand() commandDecl {
	return commandDecl{
		use: "weekly [WEEK]", group: groupSee,
		short:   "Show the weekly report over all tracked accounts: the latest, or that of a day such as 2026-11-16",
		example: "farsight weekly 2026-11-16", args: atMostOne("name one week at most, by a day of it: %s 2026-11-16"), json: "as JSON",
		tell: func(args []string) (cli.List, error) { return cli.Weekly(strings.Join(args, "")), nil },
	}
}

// freshnessCommand makes `farsight freshness`. Where no engine runs it wires one that does not start:
// what the key allows is known to a limiter, and the store alone has only its last state.
func freshnessCommand() commandDecl {
	return commandDecl{
		use: "freshness", group: groupAccounts, short: "Show what keeping the tracked accounts fresh needs, beside what the key allows",
		example: "farsight freshness", json: "as JSON",
		run: func(ctx context.Context, g given) error {
			return commanding(ctx, g.cfg, mustBeThere, func(ctx context.Context, c engine.Console, _ *parts) error {
				return cli.Freshness().Show(ctx, c, g.out)
			})
		},
	}
}

// notBelow0 refuses a number of rows below 0; 0 is for everything, which without names.
func notBelow0(flag string, n int, without string) error {
	if n < 0 {
		return usagef("--%s %d makes no sense: use 1 or more, or 0 for %s", flag, n, without)
	}
	return nil
}
