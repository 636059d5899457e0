package app

import (
	"os"
	"time"

	"golang.org/x/term"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/riot/route"
)

// syncOptions are the flags of `farsight sync`.
type syncOptions struct {
	account   string
	count     int
	since     string
	timelines string
	force     bool
}

// flags gives a command those that mean the same for all that sync.
func (o *syncOptions) flags(f *pflag.FlagSet) {
	f.IntVar(&o.count, "count", 0, "only the newest N listed; 0 = all")
	f.StringVar(&o.since, "since", "", "only what was played since: 30d, 6w, 18mo, 2y")
	f.BoolVar(&o.force, "force", false, "skip the cooldown, and try again what could not be had")
}

// ask checks the flags and makes the request of them.
func (o syncOptions) ask(cfg config.Config) (engine.SyncAsk, error) {
	if _, _, err := route.ParseRiotID(o.account); err != nil {
		return engine.SyncAsk{}, usage(err)
	}
	if cfg.Platform == "" {
		return engine.SyncAsk{}, usagef("say where %s plays: --platform euw1 (one of %s)", safe.Text(o.account), platforms())
	}
	p, err := route.ParsePlatform(cfg.Platform)
	if err != nil {
		return engine.SyncAsk{}, usage(err)
	}
	if o.count < 0 {
		return engine.SyncAsk{}, usagef("--count %d makes no sense: use 1 or more, or 0 for all", o.count)
	}
	ask := engine.SyncAsk{Platform: string(p), Mode: "full", Count: o.count, Timelines: o.timelines, Force: o.force}
	switch league.Timelines(o.timelines) {
	case "", league.TimelinesAll, league.TimelinesRanked, league.TimelinesNone:
	default:
		return ask, usagef("--timelines %q is unknown: use all, ranked or none", o.timelines)
	}
	if o.since == "" {
		return ask, nil
	}
	span, err := league.ParseSpan(o.since)
	if err != nil {
		return ask, usagef("--since: %v", err)
	}
	if !span.Off() {
		ask.Since = span.Before(time.Now())
	}
	return ask, nil
}

func platforms() string {
	var s string
	for i, p := range route.Platforms() {
		if i > 0 {
			s += ", "
		}
		s += string(p)
	}
	return s
}

// isTerminal reports whether both ends are a terminal that can show a console.
func isTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}
