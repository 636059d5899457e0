package api

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// readTimeout is how long the engine may take for one reading.
const readTimeout = 5 * time.Second

// ofBucket are the labels of one rate limit: "europe", "match-v5.match", "method", "10s".
var ofBucket = []string{"host", "method", "kind", "window"}

// What is read from the console at each scrape.
var (
	metricUp       = gauge("up", "Whether the engine answers and has not stopped for good.")
	metricState    = gauge("engine_state", "The engine's state: 1 for the one that holds.", "state")
	metricBuild    = gauge("build_info", "The program's version.", "version")
	metricStarted  = gauge("start_time_seconds", "When the engine was started, since 1970.")
	metricWorkers  = gauge("workers", "How many calls may be under way at once.")
	metricRunning  = gauge("jobs_running", "Jobs that run.")
	metricMatches  = gauge("matches", "Listed matches by status; waiting are those that are not settled.", "status")
	metricAccounts = gauge("accounts", "Accounts that are known.")
	metricSyncing  = gauge("accounts_syncing", "Accounts whose syncs are under way.")
	metricCallRate = gauge("calls_per_minute", "Calls to the API in the last minute.")
	metricUnseen   = counter("throttled_unforeseen_total", "Answers 429 that the limiter did not expect, since the start.")
	metricLogDrops = counter("log_records_dropped_total", "Records that the log file could not take, since the start.")
	metricQueue    = gauge("queue_jobs", "Live jobs by queue and state.", "queue", "state")
	metricHeld     = gauge("queue_held_jobs", "Scheduled jobs that were sent back uncharged, by queue.", "queue")
	metricAge      = gauge("queue_oldest_due_seconds", "How long the oldest job that may run has waited, by queue.", "queue")
	metricPaused   = gauge("queue_paused", "Whether an operator has paused the queue.", "queue")
	metricLimit    = gauge("limit_calls", "Calls that a bucket allows in its window.", ofBucket...)
	metricUsed     = gauge("limit_used_calls",
		"Calls counted in a bucket's window: own, in flight and foreign.", ofBucket...)
	metricForeign   = gauge("limit_foreign_calls", "Calls of others in a bucket's window.", ofBucket...)
	metricWaiting   = gauge("limit_waiting_calls", "Calls that wait for a bucket.", ofBucket...)
	metricAlerts    = gauge("alerts", "Alerts by state.", "state")
	metricFiring    = gauge("alerts_firing", "Alerts that fire, by rule.", "rule")
	metricCommit    = histogram("commit_seconds", "Time of the commits since the start, by store.", nil, "store")
	metricStoreSize = gauge("store_size_bytes", "Bytes of the store's files, by part; free = what the disk still takes.",
		"part")
	metricLeftOut = gauge("series_left_out",
		"What is left out of this reading, because one gauge has 256 series at most: queues, limits, rules or collections.", "of")
	metricCollectPlayers = gauge("collection_players",
		"Players of a collection: seen by any round, and listed or failed in this one.", "collection", "state")
	metricCollectMatches = gauge("collection_matches",
		"Matches that a collection has found, by status; waiting are those that are not settled.", "collection", "status")
	metricCollectAgain = gauge("collection_listed_again",
		"Ids that a collection has listed of matches that it had found already.", "collection")
	metricReadTime = gauge("read_seconds", "How long it took to read these values.")
)

// most is how many of n there is room for; those that are left out are counted.
func (s sheet) most(of string, n int) int {
	s.add(metricLeftOut, float64(max(n-maxSeries, 0)), of)
	return min(n, maxSeries)
}

// read reads what is not counted. What cannot be read is left out.
func (m *Metrics) read(ctx context.Context, out sheet) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	began := time.Now()
	out.add(metricBuild, 1, m.opt.Version)
	status, err := engine.Ask[engine.StatusAnswer](ctx, m.opt.Console, engine.StatusQuery{})
	out.add(metricUp, truth(err == nil && !slices.Contains(ill, status.Engine.State)))
	if err == nil {
		m.engine(out, status)
		m.queues(out, status.Queues)
	}
	if limits, err := engine.Ask[engine.LimitsRow](ctx, m.opt.Console, engine.LimitsQuery{}); err == nil {
		m.limits(out, limits)
	}
	if alerts, err := engine.Ask[engine.AlertsAnswer](ctx, m.opt.Console, engine.AlertsQuery{}); err == nil {
		m.firing(out, alerts.Alerts)
	}
	if a, err := engine.Ask[engine.CollectionsAnswer](ctx, m.opt.Console, engine.CollectionsQuery{}); err == nil {
		m.collections(out, a.Collections)
	}
	m.store(out)
	out.add(metricReadTime, time.Since(began).Seconds())
}

// engineStates are all there are, so that a panel can show them by name.
var engineStates = []engine.EngineState{
	engine.EngineLive, engine.EnginePaused, engine.EngineDegraded, engine.EngineNoKey, engine.EngineAPIDown,
	engine.EngineHeld, engine.EngineOpening, engine.EngineStopping, engine.EngineBroken,
}

// engine sends what the engine's one row tells. Every state has a series, 1 for the one that holds.
func (m *Metrics) engine(out sheet, s engine.StatusAnswer) {
	e := s.Engine
	for _, state := range engineStates {
		out.add(metricState, truth(state == e.State), string(state))
	}
	out.add(metricStarted, float64(e.Started.UnixMilli())/1000)
	out.add(metricWorkers, float64(e.Workers))
	out.add(metricRunning, float64(e.InFlight))
	out.add(metricMatches, float64(e.Stored), "success")
	out.add(metricMatches, float64(e.Failed), "permanently_unfetchable")
	out.add(metricMatches, float64(e.TooOld), "outside_retention_window")
	out.add(metricMatches, float64(e.Waiting), "waiting")
	out.add(metricAccounts, float64(e.Accounts))
	out.add(metricSyncing, float64(len(s.Open)))
	out.add(metricCallRate, e.CallsPerMin)
	out.add(metricUnseen, float64(e.Unforeseen))
	out.add(metricLogDrops, float64(e.LogDrops))
}

// queues sends the counts of each queue, zeroes too: a series that is not there cannot be alerted on.
func (m *Metrics) queues(out sheet, queues []engine.QueueRow) {
	for _, q := range queues[:out.most("queues", len(queues))] {
		name := m.opt.Queue(q.Name)
		for _, s := range engine.LiveStates() {
			out.add(metricQueue, float64(q.Counts[s]), name, s.String())
		}
		out.add(metricHeld, float64(q.Held), name)
		out.add(metricPaused, truth(q.Paused), name)
		age := 0.0
		if !q.OldestDue.IsZero() {
			age = max(0, time.Since(q.OldestDue).Seconds())
		}
		out.add(metricAge, age, name)
	}
}

// limits gives each bucket once: the limiter may know two of one name for a moment,
// when a header has changed its limit.
func (m *Metrics) limits(out sheet, row engine.LimitsRow) {
	seen := map[string]bool{}
	buckets := slices.DeleteFunc(slices.Clone(row.Buckets), func(b engine.BucketRow) bool {
		name := strings.Join(labelsOf(b), " ")
		again := seen[name]
		seen[name] = true
		return again
	})
	for _, b := range buckets[:out.most("limits", len(buckets))] {
		labels := labelsOf(b)
		out.add(metricLimit, float64(b.Limit), labels...)
		out.add(metricUsed, float64(b.Used), labels...)
		out.add(metricForeign, float64(b.Foreign), labels...)
		out.add(metricWaiting, float64(b.Waiting), labels...)
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
func (m *Metrics) firing(out sheet, rows []engine.AlertRow) {
	states, rules := map[engine.AlertState]int{}, map[string]int{}
	for _, a := range rows {
		states[a.State]++
		rules[a.Rule] += 0
		if a.State == engine.AlertFiring {
			rules[a.Rule]++
		}
	}
	for _, s := range alertStates {
		out.add(metricAlerts, float64(states[s]), string(s))
	}
	names := slices.Sorted(maps.Keys(rules))
	for _, rule := range names[:out.most("rules", len(names))] {
		out.add(metricFiring, float64(rules[rule]), rule)
	}
}

// collections sends how far each collection is, the newest first.
func (m *Metrics) collections(out sheet, rows []engine.CollectionRow) {
	for _, c := range rows[:out.most("collections", len(rows))] {
		out.add(metricCollectPlayers, float64(c.Players), c.Name, "seen")
		out.add(metricCollectPlayers, float64(c.Listed), c.Name, "listed")
		out.add(metricCollectPlayers, float64(c.Failed), c.Name, "failed")
		out.add(metricCollectMatches, float64(c.Collected.Stored), c.Name, "success")
		out.add(metricCollectMatches, float64(c.Collected.Lost), c.Name, "permanently_unfetchable")
		out.add(metricCollectMatches, float64(c.Collected.TooOld), c.Name, "outside_retention_window")
		out.add(metricCollectMatches, float64(c.Collected.Open()), c.Name, "waiting")
		out.add(metricCollectAgain, float64(c.Collected.Again), c.Name)
	}
}

// store sends what the store itself measures.
func (m *Metrics) store(out sheet) {
	if m.opt.Commits != nil {
		for store, h := range m.opt.Commits() {
			out.of(metricCommit, store).Histogram = h
		}
	}
	if m.opt.Sizes != nil {
		for part, bytes := range m.opt.Sizes() {
			out.add(metricStoreSize, bytes, part)
		}
	}
}
