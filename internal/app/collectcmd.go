package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/ui/cli"
)

// collectOptions are the flags of `farsight collect`.
type collectOptions struct {
	ask         engine.CollectAsk
	platforms   string // with commas, as typed
	players     string // a file; - = standard input
	from        string // a Riot ID
	noTimelines bool
	detach      bool
}

// collectCommand makes `farsight collect`.
func collectCommand() commandDecl {
	var opt collectOptions
	return commandDecl{
		use: "collect [TIER]...", group: groupStart,
		short: "Collect the ranked games of the players of a ladder, each match once",
		long: "Collect the ranked games of the players of a ladder, or of a list of players.\n\n" +
			"Tiers are master+, challenger, diamond1, emerald or diamond1..diamond4. It lists every\n" +
			"player there, and fetches each match once, whoever lists it; what is stored costs\n" +
			"nothing. It says what it costs and asks before it begins. Ctrl-C leaves it in the data\n" +
			"directory, and the same command goes on. --from 'Name#TAG' --spread 2 begins with a\n" +
			"player instead: those of their matches, and of theirs, breadth first. An ended\n" +
			"collection that is asked for again reads the ladders anew and fetches what is new.\n" +
			"Another --since, --matches or --every changes the collection, also while it runs.\n" +
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
	if platforms := cmp.Or(o.platforms, g.cfg.Platform); platforms != "" {
		ask.Platforms = strings.Split(platforms, ",")
	}
	if o.noTimelines {
		ask.Timelines = "none"
	}
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
	// Whoever has opened the directory has the key: it is taken out of the environment when it is read.
	var keys *keyring.Ring
	detached := func(ctx context.Context, on engine.Console, own *parts) error {
		if own != nil {
			keys = own.keys
		}
		agree := func(r engine.Receipt) error {
			if r.Joined {
				return nil
			}
			err := g.yesNo("collect makes many calls", "nothing was started", func() error {
				return cli.Acted(g.out, beside(r), true, "")
			})
			if err == nil && !o.detach {
				err = errAgreed
			}
			return err
		}
		if g.yes { // nobody asks what it costs, which takes calls
			agree = nil
		}
		r, err := g.planned(ctx, on, engine.Command{Op: engine.OpCollect, Collect: &ask}, agree)
		if err != nil {
			return err
		}
		if !g.dry && !o.detach { // it is under way
			if r.Applied > 0 && !g.out.JSON {
				err = cli.Acted(g.out, r, false, "")
			}
			return cmp.Or(err, errAgreed)
		}
		later := ""
		if own != nil && !g.dry {
			later = nextEngine
		}
		return cli.Acted(g.out, beside(r), g.dry, later)
	}
	if err := commanding(ctx, g.cfg, mayBegin, detached); !errors.Is(err, errAgreed) {
		return err
	}
	s := newSyncRun(g.cfg, cli.SyncOptions{Collect: &ask}, g.out)
	s.keys = keys
	return s.run(ctx)
}

// beside adds to the cost of a collection when it is done while everything else goes on, where somebody has looked.
func beside(r engine.Receipt) engine.Receipt {
	if r.Cost != nil && r.Cost.Delays != nil {
		r.Text += ", beside what is under way it is " + r.Cost.DoneText(time.Now())
	}
	return r
}

// errAgreed says that the collection is to be carried out, and followed.
var errAgreed = errors.New("agreed")

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
		args:    cobra.MaximumNArgs(1), dryRun: doNothing, reason: keptWhy, yes: true,
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
