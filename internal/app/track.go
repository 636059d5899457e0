package app

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/ui/cli"
)

// trackCommand makes `farsight track`: one account, a list of them, or the policy of a tag.
func trackCommand() commandDecl {
	var file string // CSV; - = standard input
	var ask engine.SyncAsk
	return commandDecl{
		use: "track ['Name#TAG']", group: groupAccounts, short: "Keep accounts in sync: one, or a list from a file",
		long: "Keep accounts in sync.\n\n" +
			"With --file, each line of a CSV file in UTF-8 is an account: Riot ID, platform, tags. A\n" +
			"first line \"riot_id,platform,tags\" is left out, tags are separated by spaces or\n" +
			"semicolons. Lines that make no sense are written to FILE.rejects.csv with the\n" +
			"reason; the others are tracked, and those that are already stay as they are.\n\n" +
			"With --tag and --policy but without an account, the policy is that of the tag:\n" +
			"  --policy 'queues=420,440 lookback=90d timelines=ranked cadence=6h priority=2'\n" +
			"  cadence=adaptive goes by the last game: each hour to once a day. Without a cadence\n" +
			"  each run of the schedule latest (CRON_LATEST_EVERY) looks at the account.\n" +
			"  --policy default removes it.",
		example: "farsight track 'Name#TAG' --platform euw1 --tag team\nfarsight track --file accounts.csv",
		args:    cobra.MaximumNArgs(1), complete: onlyFirst(completeAccounts),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&file, "file", "", "a CSV file with one account per line; - reads standard input")
			f.StringSliceVar(&ask.Tags, "tag", nil, "tag of the account; may be given more than once")
			f.StringVar(&ask.Policy, "policy", "", "what its syncs cover, such as 'queues=420 cadence=6h'")
		},
		run: func(ctx context.Context, g given) error {
			account := strings.Join(g.args, "") // "" with a file or a tag's policy
			ask.Platform = g.cfg.Platform
			// What does not go together is refused before anything is opened.
			switch {
			case file != "" && (account != "" || ask.Policy != ""):
				return usagef("--file names the accounts: leave out the account and --policy; `track --tag T --policy P` sets a policy for a tag")
			case file != "":
				return g.trackFile(ctx, file, ask)
			case account == "" && (len(ask.Tags) == 0 || ask.Policy == ""):
				return usagef("name an account as 'Name#TAG', a --file, or a --tag with a --policy")
			}
			if account != "" {
				err := riotID(account)
				if err == nil {
					ask.Platform, err = g.platformFor(account)
				}
				if err != nil {
					return err
				}
			}
			return g.track(ctx, engine.Command{Op: engine.OpTrack, Account: account, Sync: ask})
		},
	}.acting()
}

// untrackCommand makes `farsight untrack`. It stops schedules only: `farsight forget` is what
// deletes.
func untrackCommand() commandDecl {
	return commandDecl{
		use: "untrack 'Name#TAG'", group: groupAccounts, short: "Stop keeping an account in sync; its data stays",
		example: "farsight untrack 'Name#TAG' --platform euw1", args: oneAccount, complete: onlyFirst(completeAccounts),
		run: func(ctx context.Context, g given) error {
			if err := riotID(g.args[0]); err != nil {
				return err
			}
			return g.track(ctx, engine.Command{Op: engine.OpUntrack, Account: g.args[0], Sync: engine.SyncAsk{Platform: g.cfg.Platform}})
		},
	}.acting()
}

// riotID refuses what is no Riot ID.
func riotID(account string) error {
	_, _, err := route.ParseRiotID(account)
	return usage(err)
}

// track carries out one command on tracked accounts or schedules, and prints its receipt.
func (g given) track(ctx context.Context, c engine.Command) error {
	var r engine.Receipt
	err := commanding(ctx, g.cfg, mayBegin, func(ctx context.Context, con engine.Console, _ *parts) (err error) {
		r, err = con.Do(ctx, g.by(c))
		return err
	})
	if err != nil {
		// The policy's text is at fault, which is the command line: it ends with the code for that.
		if errors.Is(err, engine.ErrInvalid) {
			return usage(err)
		}
		return err
	}
	return cli.Tracked(g.out, r)
}

// maxTrackFile bounds what is read of a list, in bytes: a hundred thousand
// accounts fit.
const maxTrackFile = 16 << 20

// trackFile tracks a whole list: it says the cost first, then what was done.
func (g given) trackFile(ctx context.Context, file string, ask engine.SyncAsk) error {
	body, err := readList(g.cmd.InOrStdin(), file)
	if err != nil {
		return err
	}
	list, err := parseTrackList(body, ask.Platform, ask.Tags)
	if err != nil {
		return err
	}
	if len(list.lines) == 0 {
		if file == "-" {
			file = "standard input"
		}
		return fmt.Errorf("%s names no account: write one per line as Name#TAG,euw1", file)
	}
	var r engine.Receipt
	engineRuns := false
	err = commanding(ctx, g.cfg, mayBegin, func(ctx context.Context, con engine.Console, own *parts) (err error) {
		engineRuns = own == nil
		// The number of calls that a list of accounts costs, and the days that they take under the
		// limits, are told before the first is tracked.
		r, err = g.planned(ctx, con, engine.Command{Op: engine.OpTrackMany, Lines: list.lines}, func(r engine.Receipt) error {
			return cli.TrackCost(g.out, r, engineRuns)
		})
		return err
	})
	if err != nil {
		return err
	}
	if g.dry && !g.out.JSON { // nothing has told it before
		if err := cli.TrackCost(g.out, r, engineRuns); err != nil {
			return err
		}
	}
	if err := cli.Tracked(g.out, r); err != nil || len(r.Rejects) == 0 {
		return err
	}
	// A dry run leaves no file behind.
	if first := r.Rejects[0]; g.dry {
		return fmt.Errorf("%d of %d lines would be rejected, line %d because %s", len(r.Rejects), len(list.lines), first.Line, safe.Text(first.Reason))
	}
	path, err := list.writeRejects(file, r.Rejects)
	if err != nil {
		return fmt.Errorf("%d lines were rejected, and could not be written down: %w", len(r.Rejects), err)
	}
	return &coded{code: exitIncomplete, err: fmt.Errorf("%d of %d lines were rejected: they are in %s with their reasons",
		len(r.Rejects), len(list.lines), path)}
}

// trackList is a list as it was read.
type trackList struct {
	lines []engine.TrackLine
	raw   map[int][]string // fields by line, for the file of rejects
}

// readList reads a list that a person has made, a file or with - standard input, whole.
func readList(in io.Reader, name string) (string, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("the list cannot be read: %w", err)
		}
		defer f.Close()
		in = f
	}
	// One byte more than fits tells a list that is too long from one that fits exactly.
	body, err := io.ReadAll(io.LimitReader(in, maxTrackFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the list cannot be read: %w", err)
	case len(body) > maxTrackFile:
		return "", fmt.Errorf("the list has more than %d MiB: cut it into parts", maxTrackFile>>20)
	}
	if !utf8.Valid(body) {
		return "", errors.New("the list is not UTF-8, and names in it would be lost: save it as UTF-8 (in Excel: CSV UTF-8)")
	}
	// Spreadsheets begin a CSV file with a byte order mark, which would be part of the first name.
	return strings.TrimPrefix(string(body), "\ufeff"), nil
}

// parseTrackList reads CSV. platform and tags are of the lines that name none, or none of their own; a line of the wrong shape is kept, to be rejected with
// its reason.
func parseTrackList(body, platform string, tags []string) (list trackList, err error) {
	list.raw = map[int][]string{}
	r := csv.NewReader(strings.NewReader(body))
	// Riot IDs may hold quotes, and lines written by hand have blanks after their commas and leave
	// the last fields out.
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, fmt.Errorf("the list is no CSV: %w", err)
		}
		// The line on which a record begins: one in quotes may go over several.
		n, _ := r.FieldPos(0)
		if n == 1 && strings.EqualFold(strings.TrimSpace(fields[0]), "riot_id") {
			continue
		}
		l := engine.TrackLine{Line: n, Account: strings.TrimSpace(fields[0]), Platform: platform, Tags: tags}
		// The line's own platform goes before --platform.
		if len(fields) > 1 && strings.TrimSpace(fields[1]) != "" {
			l.Platform = strings.TrimSpace(fields[1])
		}
		for _, f := range fields[min(2, len(fields)):] {
			// The full slice expression makes append copy: all lines begin with the same slice of
			// --tag.
			l.Tags = append(l.Tags[:len(l.Tags):len(l.Tags)], strings.FieldsFunc(f, func(c rune) bool { return c == ' ' || c == ';' })...)
		}
		list.lines, list.raw[n] = append(list.lines, l), fields
	}
}

// writeRejects writes the rejected lines to a new file beside the list.
// Its lines are those of the list with their number and reason in front: what is left after
// mending is to be cut off, and the rest can be tracked as it is. Every field is made safe for a
// spreadsheet, which would carry out one that begins with "=".
func (t trackList) writeRejects(name string, rejects []engine.TrackReject) (path string, err error) {
	// Of standard input the file has a name of its own, in the working directory.
	if name == "-" {
		name = "track"
	}
	f, err := newRejects(name)
	if err != nil {
		return "", err
	}
	w := csv.NewWriter(f)
	rows := [][]string{{"line", "reason", "riot_id", "platform", "tags"}}
	for _, r := range rejects {
		// The fields as they were read, so that a name with a comma is quoted again.
		row := []string{strconv.Itoa(r.Line), safe.CSV(r.Reason)}
		for _, field := range t.raw[r.Line] {
			row = append(row, safe.CSV(field))
		}
		rows = append(rows, row)
	}
	return f.Name(), errors.Join(w.WriteAll(rows), f.Close())
}

// newRejects makes a file that does not exist yet.
// One that does is of an earlier run, and somebody may be at work on it.
func newRejects(name string) (*os.File, error) {
	for n := 1; ; n++ {
		path := name + ".rejects.csv"
		if n > 1 {
			path = fmt.Sprintf("%s.rejects-%d.csv", name, n)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		// A thousand such files are a script that goes wrong, and no reason to go on for ever.
		if !errors.Is(err, fs.ErrExist) || n == 1000 {
			return f, err
		}
	}
}

// reresolveCommand makes `farsight reresolve`.
func reresolveCommand() commandDecl {
	return commandDecl{
		use: "reresolve", group: groupAccounts, short: "Accept a key of another project: resolve every account again",
		long: "Riot encrypts player ids per API project, so a key of another project can read none\n" +
			"that is stored. This accepts the project of the key in use and gives every account a\n" +
			"job that resolves it again, one call each. It says the cost first.",
		example: "farsight reresolve --dry-run", reason: keptWhy,
		run: func(ctx context.Context, g given) error {
			return commanding(ctx, g.cfg, mustBeThere, func(ctx context.Context, c engine.Console, own *parts) error {
				if own == nil {
					return g.reresolve(ctx, c, "")
				}
				if err := own.findProject(ctx); err != nil {
					return err
				}
				return g.reresolve(ctx, c, nextEngine)
			})
		},
	}.acting()
}

// findProject asks Riot once which project the key in use is of: a running engine
// knows it, a directory at rest does not.
func (p *parts) findProject(ctx context.Context) error {
	// Which project shall be accepted only a key can tell.
	if p.keys.Get().IsZero() {
		return p.keys.None()
	}
	// One call: an id that only keys of the same project can read tells which project it is.
	known, err := p.projects.Identify(ctx)
	if err == nil && !known {
		err = errors.New("the project of the key is not known, because Riot refuses the key or was not reached: see `farsight doctor --network`, and try again")
	}
	return err
}

// reresolve says the cost, and accepts the key's project. later is when it takes effect.
func (g given) reresolve(ctx context.Context, con engine.Console, later string) error {
	r, err := g.planned(ctx, con, engine.Command{Op: engine.OpReresolve}, func(r engine.Receipt) error {
		if g.out.JSON { // one object: of what was done
			return nil
		}
		return cli.Acted(g.out, costed(r), true, "")
	})
	if err != nil {
		return err
	}
	if g.dry {
		// Nothing was done, so nothing takes effect later.
		r, later = costed(r), ""
	}
	return cli.Acted(g.out, r, g.dry, later)
}

// costed names the calls and what paces them in the receipt's sentence.
func costed(r engine.Receipt) engine.Receipt {
	if r.Cost != nil && r.Cost.Bucket != "" {
		// "would resolve 12 accounts again: 12 calls, paced by europe account-v1".
		r.Text += ": " + human.Counted(r.Cost.Calls, "call", "calls") + ", paced by " + r.Cost.Bucket
	}
	return r
}

// collectOptions are the flags of `farsight collect`.
type collectOptions struct {
	ask         engine.CollectAsk
	platforms   string // with commas, as typed
	players     string // a file; - = standard input
	from        string // a Riot ID
	priority    uint8
	noTimelines bool
	detach      bool
}

// collectCommand makes `farsight collect`.
func collectCommand() commandDecl {
	var opt collectOptions
	return commandDecl{
		use: "collect [TIER…]", group: groupStart,
		short: "Collect the ranked games of the players of a ladder, each match once",
		long: "Collect the ranked games of the players of a ladder, or of a list of players.\n\n" +
			"Tiers are master+, challenger, diamond1, emerald or diamond1..diamond4. It lists every\n" +
			"player there, and fetches each match once, whoever lists it; what is stored costs\n" +
			"nothing. It says what it costs and asks before it begins. Ctrl-C leaves it in the data\n" +
			"directory, and the same command goes on. --from 'Name#TAG' --spread 2 begins with a\n" +
			"player instead: those of their matches, and of theirs, breadth first. An ended\n" +
			"collection that is asked for again reads the ladders anew and fetches what is new.\n" +
			"Another --since, --matches, --every or --priority changes it, also while it runs.\n" +
			"`farsight collections` lists all.",
		example: "farsight collect master+ --platform kr --since 14d --yes\nfarsight collect diamond1..diamond4 --platform euw1 --matches 50000 --no-timelines --name euw-diamond --dry-run",
		args:    cobra.ArbitraryArgs, starts: true, yes: true,
		dryRun: "say what it would cost, and do nothing",
		json:   "progress as NDJSON, a summary object last",
		before: opt.platformsOf,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&opt.ask.Queue, "queue", "solo", "ranked queue of the ladder and of the matches: solo or flex")
			f.StringVar(&opt.ask.Since, "since", "", "only what was played since: 14d, 6w, 3mo")
			f.IntVar(&opt.ask.Matches, "matches", 0, "list no further player once about so many are found; 0 = all")
			f.BoolVar(&opt.noTimelines, "no-timelines", false, "leave the timelines out: they are most of the calls and bytes")
			f.StringVar(&opt.ask.Name, "name", "", "name of the collection; without it one is made of what it asks for")
			f.DurationVar(&opt.ask.Every, "every", 0, "go on for good: read the ladders anew so often, such as 24h")
			f.Uint8Var(&opt.priority, "priority", 0, "whose calls go first: 1 to 4, as in a policy; without it 4, behind all accounts")
			f.StringVar(&opt.players, "players", "", "a file of players besides, a PUUID or Riot ID a line; - reads standard input")
			f.StringVar(&opt.from, "from", "", "a player besides: Name#TAG")
			f.IntVar(&opt.ask.Spread, "spread", 0, "collect the players of their matches, too: 1 = who played with them, 2 = who played with those")
			f.BoolVar(&opt.detach, "detach", false, "do not wait: the engine that runs goes on with it, or the next one begins")
		},
		run: func(ctx context.Context, g given) error {
			opt.ask.Tiers = g.args
			return opt.run(ctx, g)
		},
	}
}

// platformsOf takes several platforms out of --platform, which names one everywhere else.
func (o *collectOptions) platformsOf(f *pflag.FlagSet) error {
	flag := f.Lookup("platform")
	if flag == nil || !strings.Contains(flag.Value.String(), ",") {
		return nil
	}
	o.platforms, flag.Changed = flag.Value.String(), false
	return flag.Value.Set(flag.DefValue)
}

// run asks what it would cost, then a person, and then lets the engine that is there carry it out.
func (o *collectOptions) run(ctx context.Context, g given) error {
	ask := o.ask
	ask.Priority = engine.Priority(o.priority)
	if platforms := cmp.Or(o.platforms, g.cfg.Platform); platforms != "" {
		ask.Platforms = strings.Split(platforms, ",")
	}
	if o.noTimelines {
		ask.Timelines = "none"
	}
	o.detach = o.detach || g.out.Spoken
	if o.players != "" {
		named, err := readPlayers(g.cmd.InOrStdin(), o.players)
		if err != nil {
			return usage(err)
		}
		ask.Named = named
	}
	if o.from != "" {
		ask.Named = append(ask.Named, o.from)
	}
	// Before anything is opened, and no key is needed to learn of a typing error.
	if _, err := ingest.CheckCollect(ask); err != nil {
		return usage(err)
	}
	agree := func(r engine.Receipt) error {
		if r.Joined {
			return nil
		}
		return g.yesNo("collect makes many calls", "nothing was started", func() error {
			return cli.Acted(g.out, beside(r), true, "")
		})
	}
	switch {
	case g.yes: // nobody asks what it costs, which takes calls
		agree = nil
	case !g.dry && !g.asks() && !hasStore(g.cfg): // nor is there anything to join
		return agree(engine.Receipt{})
	}
	// What has counted the ladders reads them: who waits opens the directory once.
	if !g.dry && !o.detach {
		return newSyncRun(g.cfg, cli.SyncOptions{Collect: &ask, Agree: agree}, g.out).run(ctx)
	}
	return commanding(ctx, g.cfg, mayBegin, func(ctx context.Context, on engine.Console, own *parts) error {
		r, err := g.planned(ctx, on, engine.Command{Op: engine.OpCollect, Collect: &ask}, agree)
		if err != nil {
			return err
		}
		later := ""
		if own != nil && !g.dry {
			later = nextEngine
		}
		return cli.Acted(g.out, beside(r), g.dry, later)
	})
}

// beside adds to the cost of a collection when it is done while everything else goes on, where somebody has looked.
func beside(r engine.Receipt) engine.Receipt {
	if r.Cost != nil && r.Cost.Delays != nil {
		r.Text += ", beside what is under way it is " + r.Cost.DoneText(time.Now())
	}
	return r
}

// puuidForm is what Riot calls a player.
var puuidForm = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_-]{%d}$`, engine.PUUIDLength))

// readPlayers reads a list of players. A line that is none stops it: a list of something else would cost many calls.
func readPlayers(in io.Reader, name string) (list []string, err error) {
	body, err := readList(in, name)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(body) {
		n++
		switch text := strings.TrimSpace(line); {
		case text == "" || strings.EqualFold(text, "puuid"):
		case !puuidForm.MatchString(text) && riotID(text) != nil:
			return nil, fmt.Errorf("line %d of the list is no player: write a PUUID of %d characters a line, or a Riot ID such as Name#TAG", n, engine.PUUIDLength)
		default:
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the list names nobody: write a PUUID or a Riot ID a line")
	}
	return list, nil
}

// collectionsCommand makes `farsight collections`, which lists them or, with a flag that names one, acts on it.
func collectionsCommand() commandDecl {
	ops := map[string]*string{}
	return commandDecl{
		use: "collections [NAME]", group: groupSee, short: "List collections; pause, resume, cancel or forget one, or retry what failed in it",
		long: "List collections; pause, resume, cancel or forget one, or retry what failed in it.\n\n" +
			"A paused collection starts no call, over restarts too. What is cancelled comes back by\n" +
			"`farsight undo`, and whoever collects the same again goes on with what is stored.\n" +
			"--forget deletes one that has ended or was cancelled for good, with its players, their\n" +
			"places on the ladders, its jobs, and the matches that no account and no other collection\n" +
			"has. It asks for the name, or wants --yes; what stays behind `farsight forget --help`\n" +
			"tells.",
		example: "farsight collections --pause kr-solo-master+",
		args:    oneAtMost("collection", "kr-solo-master+"), complete: onlyFirst(completeCollections), dryRun: doNothing, reason: keptWhy, yes: true,
		flags: func(f *pflag.FlagSet) {
			for op, does := range map[string]string{
				"pause": "start no job of this collection, over restarts too", "resume": "let this collection go on",
				"cancel": "end this collection; what is stored stays", "retry": "try again what failed in this collection",
				"forget": "delete this collection, which has ended, for good",
			} {
				ops[op] = f.String(op, "", does)
			}
		},
		list: func(_ *cobra.Command, args []string) (cli.List, error) {
			return cli.Collections(strings.Join(args, "")), nil
		},
		instead: func() (func(context.Context, given) error, error) {
			var act func(context.Context, given) error
			for op, name := range ops {
				switch {
				case *name == "":
				case act != nil:
					return nil, usagef("--pause, --resume, --cancel, --retry and --forget are one at a time")
				default:
					act = func(ctx context.Context, g given) error {
						if op == string(engine.OpForget) {
							return g.forget(ctx, *name, engine.Command{Op: engine.OpForget, Collect: &engine.CollectAsk{Name: *name}})
						}
						return g.steer(ctx, op, *name)
					}
				}
			}
			return act, nil
		},
	}
}

// steer carries out a command on a collection that is named.
func (g given) steer(ctx context.Context, op, name string) error {
	return commanding(ctx, g.cfg, mustBeThere, func(ctx context.Context, on engine.Console, own *parts) error {
		a, err := engine.Ask[engine.CollectionsAnswer](ctx, on, engine.CollectionsQuery{Name: name})
		if err != nil {
			return err
		}
		c, queue := engine.Command{Op: engine.Op(op)}, engine.CollectionQueue(name)
		switch c.Op {
		case engine.OpCancel:
			c.Job = a.Collections[0].Job
		case engine.OpRetry:
			c.Select = &engine.Selection{Filter: &engine.JobFilter{Queue: queue, States: []engine.State{engine.Retryable, engine.Discarded}}}
		default:
			c.Queue = queue
		}
		r, err := on.Do(ctx, g.by(c))
		if err != nil {
			return err
		}
		later := ""
		if own != nil && (c.Op == engine.OpResume || c.Op == engine.OpRetry) {
			later = nextEngine
		}
		return cli.Acted(g.out, r, g.dry, later)
	})
}
