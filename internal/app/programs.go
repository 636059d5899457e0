package app

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage"
)

// programs makes the routes for programs, and what counts and tells for them.
func (p *base) programs(cfg config.Config) []api.Route {
	// Events and metrics are told of commits from now on: see told.
	p.events = api.NewEvents(api.EventsOptions{Console: p.front, Boot: p.id, Log: logbook.Area(p.log, logbook.AreaSocket)})
	p.metrics = api.NewMetrics(api.MetricsOptions{
		Console: p.front, Version: version(),
		Queue:    func(q engine.Queue) string { return edgeQueue(cfg, q) },
		Policies: cfg.Policies, Commits: p.commitTimes, Sizes: p.storeSizes,
	})
	opt := api.ProgramsOptions{
		Console: p.front, Platform: cfg.Platform, Cooldown: cfg.Cooldown, Config: p.shownSettings,
		Metrics: p.metrics.Handler(), Events: p.events,
	}
	if cfg.HTTPListen != "" { // the gate is there before anybody asks: see openHTTP
		opt.Pass = func(until time.Time) string { return p.gate.Pass(until) }
	}
	return api.NewPrograms(opt).Routes()
}

// openHTTP opens the listener for programs when one is configured: loopback, with
// the token of the data directory.
func (p *base) openHTTP(cfg config.Config, opt api.Options) error {
	if cfg.HTTPListen == "" {
		return nil
	}
	// Made at the first start, mode 0600: who can read the directory may ask.
	token, err := api.LoadToken(cfg.DataDir)
	if err != nil {
		return err
	}
	l, err := api.ListenHTTP(cfg.HTTPListen)
	if err != nil {
		return err
	}
	p.gate = api.NewGate(token)
	opt.Who, opt.Conns = p.gate.Who, api.HTTPConns
	// A page in a browser could make its user call a loopback port: only its own names are answered.
	opt.Hosts, opt.Origins = api.HTTPHosts(l)
	opt.Pages = cfg.HTTPOrigins
	p.entrances = append(p.entrances, entrance{api.NewServer(opt), l})
	p.http = l.Addr()
	return nil
}

// told counts committed changes for programs, and tells them. Nobody is there before
// the sockets are open.
func (p *base) told(changes []engine.Change) {
	if p.events == nil {
		return
	}
	p.metrics.Publish(changes)
	p.events.Publish(changes)
}

// tellPrograms moves the events until ctx ends.
func (p *base) tellPrograms(ctx context.Context) error {
	if p.events == nil {
		return nil
	}
	return p.events.Run(ctx)
}

// commitTimes are how long commits took, by store, as Prometheus counts them: a bound's count holds
// those of all smaller bounds, too. Seconds.
func (p *base) commitTimes() map[string]api.Histogram {
	out := map[string]api.Histogram{}
	for store, sum := range p.store.WriteSums() {
		h := api.Histogram{Bounds: map[float64]uint64{}, Count: sum.Count, Sum: sum.Sum.Seconds()}
		// Counts are of their own range only; Prometheus wants each with all below it.
		upTo := uint64(0)
		for i, bound := range storage.WriteBounds {
			upTo += sum.Counts[i]
			h.Bounds[bound.Seconds()] = upTo
		}
		out[store] = h
	}
	return out
}

// storeSizes are bytes, by what takes them; nil while they are not known. A database has no "free".
func (p *base) storeSizes() map[string]float64 {
	s, err := p.store.Sizes()
	if err != nil {
		p.log.Warn().Str("area", logbook.AreaStorage).Err(err).Msg("the size of the store is not known")
		return nil
	}
	return map[string]float64{"state": float64(s.State), "payloads": float64(s.Payloads), "free": float64(s.Free)}
}

// keyShown is under which name the key is shown among the settings.
const keyShown = "api_key"

// shownSettings are the settings in force, secrets cut: the key, and what an address
// may hold of one.
func (p *base) shownSettings() []engine.Setting {
	// A console that stands still must not hold up a page of settings.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	key := engine.Setting{Name: keyShown, Value: "none", Source: cmp.Or(p.keys.From(), "default"), Env: keyring.Env}
	// As the engine shows it: the last characters, or that Riot refuses it.
	if a, err := p.front.Find(ctx, engine.StatusQuery{}); err == nil {
		if shown := a.(engine.StatusAnswer).Engine.Key; shown != "" {
			key.Value = shown
		}
	}
	out := []engine.Setting{key}
	for _, s := range p.config.Load().Sources {
		s.Value = withoutSecrets(s)
		out = append(out, s)
	}
	return out
}

// withoutSecrets cuts the user out of an address, and what looks like an API key out of anything.
func withoutSecrets(s engine.Setting) string {
	if u, err := url.Parse(s.Value); err == nil && u.User != nil {
		u.User = url.User("****")
		return u.String()
	}
	return riot.Redact(s.Value)
}

// serverOptions are those of every way in.
func (p *base) serverOptions(cfg config.Config) api.Options {
	return api.Options{
		Console: p.front, Refused: p.refuse, Log: logbook.Area(p.log, logbook.AreaSocket), Routes: p.programs(cfg),
		Version: version(), Dir: workplace(cfg), PID: os.Getpid(),
	}
}

// workplace is what an engine works on, by a name that holds in every process.
func workplace(cfg config.Config) string {
	if cfg.Store != "" {
		return storeName(cfg)
	}
	return cfg.Folder()
}

// onHTTP is what the ready line says of the listener for programs.
func onHTTP(at net.Addr) string {
	if at == nil {
		return ""
	}
	return ", programs on http://" + at.String() + " with the token in " + api.TokenName
}
