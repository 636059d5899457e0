package app

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/riot/route"
)

// syncCommand makes `farsight sync`, for scripts and cron: it ends when the sync has.
func syncCommand() commandDecl {
	var opt syncOptions
	return commandDecl{
		use: "sync 'Name#TAG'", group: groupStart,
		short:   "Sync one account until it is complete, without a console",
		example: "farsight sync 'Name#TAG' --platform euw1\nfarsight sync 'Name#TAG' --platform euw1 --since 30d --json | tail -n 1",
		// Accounts that are known are offered; any other name can be typed, for that is how one comes
		// in.
		args: oneAccount, complete: onlyFirst(completeAccounts),
		starts: true,
		json:   "progress as NDJSON, a summary object last",
		flags:  func(f *pflag.FlagSet) { opt.flags(f, "", "; empty = as the account's policy says, else all") },
		run: func(ctx context.Context, g given) error {
			opt.account = g.args[0]
			return runSync(ctx, g.cfg, opt, g.out)
		},
	}
}

// triggerCommand makes `farsight trigger`. Without an engine it puts the sync in line in the data
// directory: the next engine begins it.
func triggerCommand() commandDecl {
	var opt syncOptions
	var mode string
	return commandDecl{
		use: "trigger 'Name#TAG'", group: groupAccounts,
		short:   "Start a sync of an account, or put it in line for the next engine",
		example: "farsight trigger 'Name#TAG' --platform euw1 --mode latest",
		args:    oneAccount, complete: onlyFirst(completeAccounts),
		reason: keptWhy,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&mode, "mode", ingest.ModeFull, "how much: full, or latest for the newest few")
			opt.flags(f, string(league.TimelinesAll), "")
		},
		run: func(ctx context.Context, g given) error {
			opt.account = g.args[0]
			ask, err := opt.ask(g.cfg)
			if err != nil {
				return err
			}
			if mode != ingest.ModeFull && mode != ingest.ModeLatest {
				return usagef("--mode %q is unknown: use full or latest", mode)
			}
			// A sync by `farsight sync` is always a full one.
			ask.Mode = mode
			return g.act(ctx, []engine.Command{{Op: engine.OpTrigger, Account: opt.account, Sync: ask}}, nil)
		},
	}.acting()
}

// syncOptions are the flags of the commands that ask for a sync.
type syncOptions struct {
	account   string // its Riot ID, as typed
	count     int    // only so many of the newest listed; 0 = all
	since     string // an age such as 30d; "" = whatever Riot keeps
	timelines string // a word of [league.Timelines]; "" = as the account's policy says
	force     bool   // also within the cooldown, and what could not be had
}

// flags gives a command these flags. The commands differ in what --timelines is when it is not given.
func (o *syncOptions) flags(f *pflag.FlagSet, timelines, usual string) {
	f.IntVar(&o.count, "count", 0, "only the newest N listed; 0 = all")
	f.StringVar(&o.since, "since", "", "only what was played since: 30d, 6w, 18mo, 2y")
	f.BoolVar(&o.force, "force", false, "skip the cooldown, and try again what could not be had")
	f.StringVar(&o.timelines, "timelines", timelines, "which timelines: all, ranked or none"+usual)
}

// ask checks the flags and makes the request of them. It refuses what the engine would refuse, too, so
// that nothing is opened, and no key is needed, to find out about a typing error.
func (o syncOptions) ask(cfg config.Config) (engine.SyncAsk, error) {
	if _, _, err := route.ParseRiotID(o.account); err != nil {
		return engine.SyncAsk{}, usage(err)
	}
	platform, err := platformFor(cfg, o.account)
	if err != nil {
		return engine.SyncAsk{}, err
	}
	// The flag library takes negative numbers, too.
	if o.count < 0 {
		return engine.SyncAsk{}, usagef("--count %d makes no sense: use 1 or more, or 0 for all", o.count)
	}
	ask := engine.SyncAsk{Platform: platform, Mode: "full", Count: o.count, Timelines: o.timelines, Force: o.force}
	// The engine takes these three words, and "" for the account's own policy.
	switch league.Timelines(o.timelines) {
	case "", league.TimelinesAll, league.TimelinesRanked, league.TimelinesNone:
	default:
		return ask, usagef("--timelines %q is unknown: use all, ranked or none", o.timelines)
	}
	if o.since == "" {
		return ask, nil
	}
	// In calendar units, as retention is: 18mo is not 540 days.
	span, err := league.ParseSpan(o.since)
	if err != nil {
		return ask, usagef("--since: %v", err)
	}
	// 0 is no limit, as in the settings of retention, and so the same as nothing.
	if !span.Off() {
		ask.Since = span.Before(time.Now())
	}
	return ask, nil
}

// platformFor is where an account plays, as it is written everywhere: EUW1 was typed, euw1 is stored. It is
// "" where none is named: the engine knows that of an account that is stored, and asks for that of another.
func platformFor(cfg config.Config, account string) (string, error) {
	p, err := route.ParsePlatform(cfg.Platform)
	switch {
	case cfg.Platform != "":
		return string(p), usage(err)
	case !hasStore(cfg): // nor has it an account: refused before a directory is made
		return "", usagef("say where %s plays: --platform %s (one of %s)", safe.Text(account), route.Likely(account), strings.Join(texts(route.Platforms()), ", "))
	}
	return "", nil
}
