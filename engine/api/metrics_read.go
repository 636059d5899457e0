package api

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/farsight-console/farsight/engine"
)

// readTimeout is how long the engine may take for one reading.
const readTimeout = 5 * time.Second

// descs are all that follow.
var descs []*prometheus.Desc

// desc declares a value that is read at each scrape, and adds it to those that Describe tells.
func desc(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc(prometheus.BuildFQName(metricsUnder, "", name), help, labels, nil)
	descs = append(descs, d)
	return d
}

// ofBucket are the labels of one rate limit: "europe", "match-v5.match", "method", "10s".
var ofBucket = []string{"host", "method", "kind", "window"}

// What is read from the console at each scrape.
var (
	descUp       = desc("up", "Whether the engine answers and has not stopped for good.")
	descState    = desc("engine_state", "The engine's state: 1 for the one that holds.", "state")
	descBuild    = desc("build_info", "The program's version.", "version")
	descStarted  = desc("start_time_seconds", "When the engine was started, since 1970.")
	descWorkers  = desc("workers", "How many calls may be under way at once.")
	descRunning  = desc("jobs_running", "Jobs that run.")
	descMatches  = desc("matches", "Listed matches by status; waiting are those that are not settled.", "status")
	descAccounts = desc("accounts", "Accounts that are known.")
	descSyncing  = desc("accounts_syncing", "Accounts whose syncs are under way.")
	descCallRate = desc("calls_per_minute", "Calls to the API in the last minute.")
	descUnseen   = desc("throttled_unforeseen_total", "Answers 429 that the limiter did not expect, since the start.")
	descLogDrops = desc("log_records_dropped_total", "Records that the log file could not take, since the start.")
	descQueue    = desc("queue_jobs", "Live jobs by queue and state.", "queue", "state")
	descHeld     = desc("queue_held_jobs", "Scheduled jobs that were sent back uncharged, by queue.", "queue")
	descAge      = desc("queue_oldest_due_seconds", "How long the oldest job that may run has waited, by queue.", "queue")
	descPaused   = desc("queue_paused", "Whether an operator has paused the queue.", "queue")
	descLimit    = desc("limit_calls", "Calls that a bucket allows in its window.", ofBucket...)
	descUsed     = desc("limit_used_calls",
		"Calls counted in a bucket's window: own, in flight and foreign.", ofBucket...)
	descForeign   = desc("limit_foreign_calls", "Calls of others in a bucket's window.", ofBucket...)
	descWaiting   = desc("limit_waiting_calls", "Calls that wait for a bucket.", ofBucket...)
	descAlerts    = desc("alerts", "Alerts by state.", "state")
	descFiring    = desc("alerts_firing", "Alerts that fire, by rule.", "rule")
	descCommit    = desc("commit_seconds", "Time of the commits since the start, by store.", "store")
	descStoreSize = desc("store_size_bytes", "Bytes of the store's files, by part; free = what the disk still takes.",
		"part")
	descLeftOut = desc("series_left_out",
		"What is left out of this reading, because one gauge has 256 series at most: queues, limits, rules or collections.", "of")
	descCollectPlayers = desc("collection_players",
		"Players of a collection: seen by any round, and listed or failed in this one.", "collection", "state")
	descCollectMatches = desc("collection_matches",
		"Matches that a collection has found, by status; waiting are those that are not settled.", "collection", "status")
	descCollectAgain = desc("collection_listed_again",
		"Ids that a collection has listed of matches that it had found already.", "collection")
	descReadTime = desc("read_seconds", "How long it took to read these values.")
)

// reading is the collector of what is read at each scrape.
type reading struct{ *Metrics }

// Describe implements prometheus.Collector.
func (r reading) Describe(to chan<- *prometheus.Desc) {
	for _, d := range descs {
		to <- d
	}
}

// send gives values to Prometheus.
type send chan<- prometheus.Metric

// gauge sends a value that may rise and fall.
func (s send) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// most is how many of n there is room for; those that are left out are counted.
func (s send) most(of string, n int) int {
	s.gauge(descLeftOut, float64(max(n-maxSeries, 0)), of)
	return min(n, maxSeries)
}

// total sends a value that only rises while the engine runs.
func (s send) total(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

// Collect implements prometheus.Collector. What cannot be read is left out.
func (r reading) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	began, out := time.Now(), send(to)
	out.gauge(descBuild, 1, r.opt.Version)
	status, err := engine.Ask[engine.StatusAnswer](ctx, r.opt.Console, engine.StatusQuery{})
	out.gauge(descUp, truth(err == nil && !slices.Contains(ill, status.Engine.State)))
	if err == nil {
		r.engine(out, status)
		r.queues(out, status.Queues)
	}
	if limits, err := engine.Ask[engine.LimitsRow](ctx, r.opt.Console, engine.LimitsQuery{}); err == nil {
		r.limits(out, limits)
	}
	if alerts, err := engine.Ask[engine.AlertsAnswer](ctx, r.opt.Console, engine.AlertsQuery{}); err == nil {
		r.firing(out, alerts.Alerts)
	}
	if a, err := engine.Ask[engine.CollectionsAnswer](ctx, r.opt.Console, engine.CollectionsQuery{}); err == nil {
		r.collections(out, a.Collections)
	}
	r.store(out)
	out.gauge(descReadTime, time.Since(began).Seconds())
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// engineStates are all there are, so that a panel can show them by name.
var engineStates = []engine.EngineState{
	engine.EngineLive, engine.EnginePaused, engine.EngineDegraded, engine.EngineNoKey, engine.EngineAPIDown,
	engine.EngineHeld, engine.EngineOpening, engine.EngineStopping, engine.EngineBroken,
}

// engine sends what the engine's one row tells. Every state has a series, 1 for the one that holds.
func (r reading) engine(out send, s engine.StatusAnswer) {
	e := s.Engine
	for _, state := range engineStates {
		out.gauge(descState, truth(state == e.State), string(state))
	}
	out.gauge(descStarted, float64(e.Started.UnixMilli())/1000)
	out.gauge(descWorkers, float64(e.Workers))
	out.gauge(descRunning, float64(e.InFlight))
	out.gauge(descMatches, float64(e.Stored), "success")
	out.gauge(descMatches, float64(e.Failed), "permanently_unfetchable")
	out.gauge(descMatches, float64(e.TooOld), "outside_retention_window")
	out.gauge(descMatches, float64(e.Waiting), "waiting")
	out.gauge(descAccounts, float64(e.Accounts))
	out.gauge(descSyncing, float64(len(s.Open)))
	out.gauge(descCallRate, e.CallsPerMin)
	out.total(descUnseen, float64(e.Unforeseen))
	out.total(descLogDrops, float64(e.LogDrops))
}

// queues sends the counts of each queue, zeroes too: a series that is not there cannot be alerted on.
func (r reading) queues(out send, queues []engine.QueueRow) {
	for _, q := range queues[:out.most("queues", len(queues))] {
		name := r.opt.Queue(q.Name)
		for _, s := range engine.LiveStates() {
			out.gauge(descQueue, float64(q.Counts[s]), name, s.String())
		}
		out.gauge(descHeld, float64(q.Held), name)
		out.gauge(descPaused, truth(q.Paused), name)
		age := 0.0
		if !q.OldestDue.IsZero() {
			age = max(0, time.Since(q.OldestDue).Seconds())
		}
		out.gauge(descAge, age, name)
	}
}

// limits gives each bucket once: the limiter may know two of one name for a moment,
// when a header has changed its limit.
func (r reading) limits(out send, row engine.LimitsRow) {
	seen := map[string]bool{}
	buckets := slices.DeleteFunc(slices.Clone(row.Buckets), func(b engine.BucketRow) bool {
		name := strings.Join(labelsOf(b), " ")
		again := seen[name]
		seen[name] = true
		return again
	})
	for _, b := range buckets[:out.most("limits", len(buckets))] {
		labels := labelsOf(b)
		out.gauge(descLimit, float64(b.Limit), labels...)
		out.gauge(descUsed, float64(b.Used), labels...)
		out.gauge(descForeign, float64(b.Foreign), labels...)
		out.gauge(descWaiting, float64(b.Waiting), labels...)
	}
}

// labelsOf are the values of ofBucket.
func labelsOf(b engine.BucketRow) []string {
	return []string{b.Host, b.Method, b.Kind, b.Window.String()}
}

var alertStates = []engine.AlertState{engine.AlertOK, engine.AlertPending, engine.AlertFiring,
	engine.AlertAcknowledged, engine.AlertSilenced}

// firing sends how many alerts stand so, and how many fire by rule; a rule of which none fires is told
// as 0.
func (r reading) firing(out send, rows []engine.AlertRow) {
	states, rules := map[engine.AlertState]int{}, map[string]int{}
	for _, a := range rows {
		states[a.State]++
		rules[a.Rule] += 0
		if a.State == engine.AlertFiring {
			rules[a.Rule]++
		}
	}
	for _, s := range alertStates {
		out.gauge(descAlerts, float64(states[s]), string(s))
	}
	names := slices.Sorted(maps.Keys(rules))
	for _, rule := range names[:out.most("rules", len(names))] {
		out.gauge(descFiring, float64(rules[rule]), rule)
	}
}

// collections sends how far each collection is, the newest first.
func (r reading) collections(out send, rows []engine.CollectionRow) {
	for _, c := range rows[:out.most("collections", len(rows))] {
		out.gauge(descCollectPlayers, float64(c.Players), c.Name, "seen")
		out.gauge(descCollectPlayers, float64(c.Listed), c.Name, "listed")
		out.gauge(descCollectPlayers, float64(c.Failed), c.Name, "failed")
		out.gauge(descCollectMatches, float64(c.Collected.Stored), c.Name, "success")
		out.gauge(descCollectMatches, float64(c.Collected.Lost), c.Name, "permanently_unfetchable")
		out.gauge(descCollectMatches, float64(c.Collected.TooOld), c.Name, "outside_retention_window")
		out.gauge(descCollectMatches, float64(c.Collected.Open()), c.Name, "waiting")
		out.gauge(descCollectAgain, float64(c.Collected.Again), c.Name)
	}
}

// store sends what the store itself measures.
func (r reading) store(out send) {
	if r.opt.Commits != nil {
		for store, h := range r.opt.Commits() {
			out <- prometheus.MustNewConstHistogram(descCommit, h.Count, h.Sum, h.Bounds, store)
		}
	}
	if r.opt.Sizes != nil {
		for part, bytes := range r.opt.Sizes() {
			out.gauge(descStoreSize, bytes, part)
		}
	}
}
