package api

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/farsight-console/farsight/engine"
)

const typeMetrics = "text/plain"

// Histogram is what some part has measured since it was started.
type Histogram struct {
	Bounds map[float64]uint64 // upper bound in seconds → how many up to it
	Count  uint64
	Sum    float64 // seconds
}

// MetricsOptions say where metrics are read besides the committed changes.
type MetricsOptions struct {
	Console engine.Console
	Version string
	// Queue is a queue's name outside of the program; nil = its own.
	Queue func(engine.Queue) string
	// Policies are the retry policies in force; nil = nobody knows them.
	Policies engine.Policies
	// Commits are the times of commits by store; nil = nobody measures.
	Commits func() map[string]Histogram
	// Sizes are bytes by part of the store; nil = nobody knows.
	Sizes func() map[string]float64
}

// Bounds of label sets: what comes from outside could make any number of series.
const (
	maxStatuses  = 64
	maxSeries    = 256 // of one gauge in one reading
	otherStatus  = "other"
	metricsUnder = "farsight"
)

// Metrics counts what is committed, and reads the rest when it is asked. Counters begin at 0 with the
// process, as Prometheus expects of one that was started again. Publish belongs to the committer,
// scrapes to any goroutine.
type Metrics struct {
	opt      MetricsOptions
	registry *prometheus.Registry

	ended, reopened, byKind, attempts, statuses, answers, throttled, atMax *prometheus.CounterVec
	kindStatuses, kindRetries, kindWon                                     *prometheus.CounterVec
	retries, won                                                           prometheus.Counter
	tries                                                                  prometheus.Histogram
	took, waited                                                           prometheus.Histogram

	mu    sync.Mutex
	known map[string]bool // statuses that have a series
	ends  engine.Ends
}

// NewMetrics makes a registry of its own with every metric.
func NewMetrics(opt MetricsOptions) *Metrics {
	if opt.Queue == nil {
		opt.Queue = func(q engine.Queue) string { return string(q) }
	}
	m := &Metrics{opt: opt, registry: prometheus.NewRegistry(), known: map[string]bool{}, ends: engine.Ends{}}
	m.registry.MustRegister(reading{m}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	to := promauto.With(m.registry)
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return to.NewCounterVec(prometheus.CounterOpts{Namespace: metricsUnder, Name: name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter {
		return to.NewCounter(prometheus.CounterOpts{Namespace: metricsUnder, Name: name, Help: help})
	}
	histogram := func(name, help string, bounds ...float64) prometheus.Histogram {
		return to.NewHistogram(prometheus.HistogramOpts{Namespace: metricsUnder, Name: name, Help: help, Buckets: bounds})
	}
	m.ended = counters("jobs_ended_total",
		"Jobs that have ended, by queue and state: less jobs_reopened_total those that stay so.", "queue", "state")
	m.reopened = counters("jobs_reopened_total",
		"Ended jobs that were opened again, by queue and the state in which they had ended.", "queue", "state")
	m.byKind = counters("kind_jobs_ended_total", "Jobs that have ended, by kind and state.", "kind", "state")
	m.attempts = counters("attempts_total", "Attempts and holds of jobs that have ended, by what was decided.", "result")
	m.statuses = counters("attempt_statuses_total", "Charged attempts by the status that they ended with.", "status")
	m.kindStatuses = counters("kind_attempt_statuses_total",
		"Charged attempts by the kind of their job and the status that they ended with.", "kind", "status")
	m.kindRetries = counters("kind_retries_total",
		"Charged attempts after the first one of a round, by the kind of their job.", "kind")
	m.kindWon = counters("kind_retries_succeeded_total",
		"Charged attempts after the first one of a round that succeeded, by the kind of their job.", "kind")
	m.answers = counters("answers_total",
		"Answers that jobs have got, by HTTP status; none = there was no answer.", "code")
	m.throttled = counters("throttled_total", "Answers 429 by the limit that they named.", "kind")
	m.atMax = counters("jobs_at_max_attempts_total", "Jobs that gave up with every attempt used, by queue.", "queue")
	m.retries = counter("retries_total", "Charged attempts after the first one of a round.")
	m.won = counter("retries_succeeded_total", "Charged attempts after the first one of a round that succeeded.")
	m.tries = histogram("job_attempts",
		"Charged attempts of jobs that completed or gave up: the mean is sum by count.", 0, 1, 2, 3, 4, 5, 10)
	m.took = histogram("answer_seconds", "Time of an attempt on the wire.", .025, .05, .1, .25, .5, 1, 2.5, 5, 10)
	m.waited = histogram("limiter_wait_seconds",
		"Time that an attempt waited for the limiter at the head of its line and after its claim.",
		.01, .1, 1, 5, 10, 30, 60, 120)
	// They are all there are, so that each has a series from the start.
	for _, kind := range throttles {
		m.throttled.WithLabelValues(kind)
	}
	return m
}

// Handler answers a scrape.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 2, Timeout: scrapeTimeout,
	})
}

// scrapeTimeout is what Prometheus waits by default.
const scrapeTimeout = 10 * time.Second

// Registry is where every metric is, for tests of names.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Publish counts the changes of one commit. It never blocks.
func (m *Metrics) Publish(changes []engine.Change) {
	kinds := engine.KindsOf(changes)
	for i := range changes {
		c := &changes[i]
		if c.Attempt != nil {
			m.countAttempt(kinds[c.Of], *c.Attempt)
		}
		if end, ok := m.end(c); ok {
			m.countJob(end)
		}
	}
}

// end reports whether a change ends a job, or opens an ended one again: see [engine.Ends].
func (m *Metrics) end(c *engine.Change) (engine.End, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ends.Of(c)
}

// ends are the states in which a job may end.
var ends = []engine.State{engine.Completed, engine.Cancelled, engine.Discarded}

// countJob counts a job that has ended, or one that was opened again. Counters never fall, so the
// second has its own: those that stay ended are the difference.
func (m *Metrics) countJob(e engine.End) {
	j := e.Job
	queue := m.opt.Queue(j.Queue)
	// All of a queue's series begin together: of one that is not there no rate is 0, and
	// of one that begins with 1 the first is in no increase.
	for _, s := range ends {
		m.ended.WithLabelValues(queue, s.String())
		m.reopened.WithLabelValues(queue, s.String())
		m.byKind.WithLabelValues(string(j.Kind), s.String())
	}
	// Prometheus reads a counter's first value as where it began, not as a rise.
	// It is asked for before anything is counted: asking makes the series, at 0.
	atMax := m.atMax.WithLabelValues(queue)
	if e.Count < 0 {
		m.reopened.WithLabelValues(queue, j.State.String()).Inc()
		return
	}
	m.ended.WithLabelValues(queue, j.State.String()).Inc()
	m.byKind.WithLabelValues(string(j.Kind), j.State.String()).Inc()
	if j.State != engine.Cancelled {
		m.tries.Observe(float64(e.Attempts))
	}
	if m.opt.Policies.UsedUp(j) {
		atMax.Inc()
	}
}

// countAttempt counts one attempt or hold, when it is stored. Only an attempt that was on the wire has
// times and an answer.
func (m *Metrics) countAttempt(kind engine.Kind, a engine.Attempt) {
	m.attempts.WithLabelValues(a.Verb.String()).Inc()
	if a.HTTP > 0 {
		m.took.Observe(a.HTTP.Seconds())
		m.waited.Observe((a.Paced + a.Limiter).Seconds())
		m.answers.WithLabelValues(codeOf(a.Status)).Inc()
	}
	if a.Status == http.StatusTooManyRequests {
		m.throttled.WithLabelValues(throttleOf(a.Class)).Inc()
	}
	status, told := a.Ending(kind)
	if a.Number == 0 || !told {
		return // a hold, or cut off: it says nothing about the other side
	}
	label := m.series(status)
	retries, won := m.kindRetries.WithLabelValues(string(kind)), m.kindWon.WithLabelValues(string(kind))
	m.statuses.WithLabelValues(label).Inc()
	m.kindStatuses.WithLabelValues(string(kind), label).Inc()
	if a.Try <= 1 {
		return
	}
	m.retries.Inc()
	retries.Inc()
	if engine.Succeeded(status) {
		m.won.Inc()
		won.Inc()
	}
}

// series is the label of a status; what is new when there are many statuses is counted
// with the others.
func (m *Metrics) series(status string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.known[status] {
		if len(m.known) >= maxStatuses {
			return otherStatus
		}
		m.known[status] = true
	}
	return status
}

// codeOf is a label for a status: what is none of HTTP's goes with the others, so that no server makes
// series without end.
func codeOf(status int) string {
	switch {
	case status == 0:
		return "none"
	case http.StatusText(status) == "":
		return otherStatus
	}
	return strconv.Itoa(status)
}

// throttles are the kinds of a 429, by the last part of its class.
var throttles = map[string]string{"app": "application", "method": "method", "service": "service", "": "unknown"}

// throttleOf is the kind of a 429 by its class: "429.app" is "application".
func throttleOf(c engine.Class) string {
	if limit, ok := strings.CutPrefix(string(c), "429."); ok && throttles[limit] != "" {
		return throttles[limit]
	}
	return throttles[""]
}
