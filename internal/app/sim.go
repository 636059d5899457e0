package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/simview"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/cli"
	"github.com/farsight-console/farsight/ui/page"
)

// simCommand makes `farsight sim`. It serves any client of Riot's API, not only this program:
// RIOT_BASE_URL is what the line "try:" of [runSim] sets. It reads no configuration but for --watch,
// whose screen has the user's theme.
func simCommand() commandDecl {
	var opt simOptions
	return commandDecl{
		use: "sim", group: groupStart, short: "Serve a simulated Riot API, strict about its limits, to debug any client against",
		example: "farsight sim --limits 20:1,100:120 --player 'Name#TAG,euw1,879'",
		json:    "the players, each call and the figures as NDJSON", flags: opt.flags,
		bare: func(cmd *cobra.Command, _ []string) error {
			out := stdout(cmd)
			if !opt.watch {
				return runSim(cmd.Context(), opt, out)
			}
			c := console{plain: !isTerminal(), load: func() (config.Config, error) { return configOf(cmd) }}
			switch {
			case out.JSON || opt.quiet:
				return usagef("--watch shows a screen: leave out --json and --quiet")
			case c.plain:
				return usagef("--watch needs a terminal: without it each call is printed")
			}
			return watchSim(cmd.Context(), opt, c, out)
		},
	}
}

// simOptions are the flags of `farsight sim`.
type simOptions struct {
	listen, limits, window, fixtures, epoch, latency, retention string // as typed: see build

	seed    uint64
	speed   float64 // divides windows and answer times; 1 = Riot's own
	players []string
	ladders []string
	faults  []string
	quiet   bool // no line for each call
	watch   bool // the Limits screen instead
}

// flags gives the command its flags. What is typed as text is read by build, which says how to write
// it.
func (o *simOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "listen", "127.0.0.1:9000", "address to listen on")
	f.StringVar(&o.limits, "limits", "20:1,100:120", "application limits of every key, as Riot's headers write them")
	f.StringVar(&o.window, "window", "lazy", "how windows begin: lazy, wall or sliding")
	addSeed(f, &o.seed)
	f.Float64Var(&o.speed, "speed", 1, "divides windows and answer times")
	f.StringVar(&o.fixtures, "fixtures", "", "folder with recorded payloads to serve besides")
	f.StringVar(&o.epoch, "epoch", "", "instant of the newest game, such as 2026-11-21T12:00:00Z")
	f.StringVar(&o.latency, "latency", "60ms,30ms", "answer time and how far it swings")
	f.StringArrayVar(&o.players, "player", nil, "an account as 'Name#TAG,platform,matches'; may be given more than once")
	f.StringArrayVar(&o.ladders, "ladder", nil, "ranked players who play with each other, as 'platform,queue,players[,division][,days]': kr,solo,300 or euw1,flex,500,diamond1,90d; may be given more than once")
	f.StringVar(&o.retention, "retention", "on", "on: old games answer 404 as Riot's do; off: everything is served")
	f.StringArrayVar(&o.faults, "fault", nil, "what goes wrong: a scene (outage), or a kind and its bounds (503,rate=0.05); may be given more than once, see docs/sim.md")
	f.BoolVar(&o.quiet, "quiet", false, "no line for each call")
	f.BoolVar(&o.watch, "watch", false, "the Limits screen, fed by what the clients' calls use")
}

// build reads the flags and says which of them is at fault. What a player or a fault needs is
// told by the error of its parser, with an example of what to write.
func (o simOptions) build() (sim.Options, error) {
	// "20:1,100:120" is 20 calls in 1 s and 100 in 2 minutes.
	limits, err := sim.ParseLimits(o.limits)
	if err != nil {
		return sim.Options{}, usagef("--limits: %v", err)
	}
	opt := sim.Options{
		Seed: o.seed, Limits: sim.Limits{App: limits}, WindowRule: sim.WindowRule(o.window),
		Speed: o.speed, FixturesDir: o.fixtures,
	}
	if opt.Latency, err = parseLatency(o.latency); err != nil {
		return opt, usage(err)
	}
	if o.epoch != "" {
		if opt.Epoch, err = time.Parse(time.RFC3339, o.epoch); err != nil {
			return opt, usagef("--epoch %q is no instant: write 2026-11-21T12:00:00Z", o.epoch)
		}
	}
	switch o.retention {
	// The zero value of the option: Riot's two years.
	case "on":
	case "off":
		opt.Retention = sim.KeepForever
	default:
		return opt, usagef("--retention %q is unknown: use on or off", o.retention)
	}
	// Players that are named come to the usual ones, which are otherwise made by sim.New.
	if len(o.players) > 0 {
		opt.Players = sim.DefaultPlayers(o.seed)
	}
	for _, text := range o.players {
		p, err := parsePlayer(text)
		if err != nil {
			return opt, usage(err)
		}
		opt.Players = append(opt.Players, p)
	}
	for _, text := range o.ladders {
		l, err := sim.ParseLadder(text)
		if err != nil {
			return opt, usage(err)
		}
		opt.Ladders = append(opt.Ladders, l)
	}
	for _, text := range o.faults {
		list, err := sim.ParseFault(text)
		if err != nil {
			return opt, usage(err)
		}
		opt.Faults = append(opt.Faults, list...)
	}
	return opt, usage(opt.Validate())
}

// parseLatency reads "60ms,30ms": the usual answer time and how far it swings to both sides.
func parseLatency(s string) (sim.Latency, error) {
	// The swing may be left out: "60ms".
	base, jitter, _ := strings.Cut(s, ",")
	b, err := time.ParseDuration(base)
	if err != nil || b < 0 {
		return sim.Latency{}, fmt.Errorf("--latency %q: write the answer time and its swing, such as 60ms,30ms", s)
	}
	// The zero of sim.Latency is the usual one; none at all has a name of its own.
	if b == 0 {
		return sim.Instant, nil
	}
	l := sim.Latency{Base: b}
	if jitter != "" {
		if l.Jitter, err = time.ParseDuration(jitter); err != nil || l.Jitter < 0 {
			return l, fmt.Errorf("--latency %q: write the answer time and its swing, such as 60ms,30ms", s)
		}
	}
	return l, nil
}

// playerForm is "Name#TAG,platform,matches"; the name may hold commas.
var playerForm = regexp.MustCompile(`^(.*),([^,]*),([^,]*)$`)

// parsePlayer reads what --player was given.
func parsePlayer(s string) (sim.PlayerSpec, error) {
	bad := fmt.Errorf("--player %q: write 'Name#TAG,platform,matches', such as 'Blue Heron#EUW,euw1,400'", s)
	m := playerForm.FindStringSubmatch(s)
	if m == nil {
		return sim.PlayerSpec{}, bad
	}
	n, err := strconv.Atoi(m[3])
	if err != nil || n < 0 {
		return sim.PlayerSpec{}, bad
	}
	p, err := route.ParsePlatform(m[2])
	return sim.PlayerSpec{RiotID: m[1], Platform: p, Matches: n}, err
}

// simRun is a simulator that listens.
type simRun struct {
	*sim.Sim
	l    net.Listener
	base string // for RIOT_BASE_URL
}

// newSim listens before it serves, so that a port that is taken is an error at once, and port
// 0, which the tests use, is known when the address is printed.
func newSim(opt simOptions) (*simRun, error) {
	o, err := opt.build()
	if err != nil {
		return nil, err
	}
	// Any address: unlike an engine's, a simulator's listener gives nothing away.
	l, err := net.Listen("tcp", opt.listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; name another address with --listen", opt.listen, err)
	}
	return &simRun{Sim: sim.New(o), l: l, base: "http://" + l.Addr().String() + "/{routing}"}, nil
}

// runSim serves the simulator until it is interrupted and prints what it makes of each
// call, then says what it saw.
func runSim(ctx context.Context, opt simOptions, out cli.Out) error {
	s, err := newSim(opt)
	if err != nil {
		return err
	}
	// Who can be synced comes first: without a name of the list nobody gets an answer but 404.
	var rows []cli.Player
	for _, p := range s.Players() {
		rows = append(rows, cli.Player{RiotID: p.RiotID, Platform: string(p.Platform), Matches: p.Matches})
	}
	if err := cli.Players(out, rows); err != nil {
		return errors.Join(err, s.l.Close())
	}
	// With the key that every simulator takes and a player who is there: it works as it is pasted.
	if !out.JSON {
		_, _ = fmt.Fprintf(out.W, "\nsimulated Riot API at %s, limits %s; figures at http://%s/sim/stats\n"+
			"try: RIOT_API_KEY=RGAPI-00000000-0000-0000-0000-000000000000 RIOT_BASE_URL='%s' farsight sync '%s' --platform %s --data-dir d\n",
			s.base, opt.limits, s.l.Addr(), s.base, safe.Text(s.Players()[0].RiotID), s.Players()[0].Platform)
	}
	var g errgroup.Group
	// Telling goes on after ctx has ended until serving has: the calls that were being answered
	// then are printed too, and the sum below agrees with the lines above it.
	telling, told := context.WithCancel(context.WithoutCancel(ctx))
	if !opt.quiet {
		g.Go(func() error { return simview.Follow(telling, s.Sim, out.W, out.JSON) })
	}
	err = s.Serve(ctx, s.l)
	told()
	return errors.Join(err, g.Wait(), s.sum(out))
}

// sum says what the simulator saw.
func (s *simRun) sum(out cli.Out) error {
	// Also after an interruption: for many clients this sum is what the run was for.
	st := s.Stats()
	if out.JSON {
		return json.NewEncoder(out.W).Encode(st)
	}
	_, err := fmt.Fprintf(out.W, "%d calls, %d violations of the limits, %d made before a Retry-After was over\n", st.Calls, st.Violations, st.Early)
	return err
}

// watchSim serves the simulator and shows its clients' traffic on the Limits screen.
// It is the console's own screen on a source that has nothing but limits; every operation is
// refused with the reason [simview.Only].
func watchSim(ctx context.Context, opt simOptions, c console, out cli.Out) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	o, err := c.options(cfg)
	if err != nil {
		return err
	}
	// The console opens on Limits and can show nothing else.
	o.Start, o.Only, o.ReadOnly, o.ReadOnlyWhy = page.ScreenLimits, simview.Only, true, simview.Only
	s, err := newSim(opt)
	if err != nil {
		return err
	}
	// It ends with the screen, whatever clients are still waiting.
	serving, stop := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return s.Serve(serving, s.l) })
	err = c.show(ctx, simview.NewConsole(s.Sim, "clients of "+s.base), o)
	stop()
	return errors.Join(err, g.Wait(), s.sum(out))
}
