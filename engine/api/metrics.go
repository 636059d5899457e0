package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/farsight-console/farsight/engine"
)

const typeMetrics = "text/plain"

// Histogram is what some part has measured since it was started.
type Histogram struct {
	Bounds []float64 // seconds, the least first
	Counts []uint64  // how many were up to each
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
	maxStatuses = 64
	maxSeries   = 256 // of one gauge in one reading
	otherStatus = "other"
)

// What is counted.
var (
	metricJobsEnded = counter("jobs_ended_total",
		"Jobs that have ended, by queue and state: less jobs_reopened_total those that stay so.", "queue", "state")
	metricJobsReopened = counter("jobs_reopened_total",
		"Ended jobs that were opened again, by queue and the state in which they had ended.", "queue", "state")
	metricKindEnded    = counter("kind_jobs_ended_total", "Jobs that have ended, by kind and state.", "kind", "state")
	metricAttempts     = counter("attempts_total", "Attempts and holds of jobs that have ended, by what was decided.", "result")
	metricStatuses     = counter("attempt_statuses_total", "Charged attempts by the status that they ended with.", "status")
	metricKindStatuses = counter("kind_attempt_statuses_total",
		"Charged attempts by the kind of their job and the status that they ended with.", "kind", "status")
	metricKindRetries = counter("kind_retries_total",
		"Charged attempts after the first one of a round, by the kind of their job.", "kind")
	metricKindWon = counter("kind_retries_succeeded_total",
		"Charged attempts after the first one of a round that succeeded, by the kind of their job.", "kind")
	metricAnswers = counter("answers_total",
		"Answers that jobs have got, by HTTP status; none = there was no answer.", "code")
	metricThrottled   = counter("throttled_total", "Answers 429 by the limit that they named.", "kind")
	metricAtMax       = counter("jobs_at_max_attempts_total", "Jobs that gave up with every attempt used, by queue.", "queue")
	metricRetries     = counter("retries_total", "Charged attempts after the first one of a round.")
	metricRetriesWon  = counter("retries_succeeded_total", "Charged attempts after the first one of a round that succeeded.")
	metricJobAttempts = histogram("job_attempts",
		"Charged attempts of jobs that completed or gave up: the mean is sum by count.", []float64{0, 1, 2, 3, 4, 5, 10})
	metricAnswerTime  = histogram("answer_seconds", "Time of an attempt on the wire.", []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10})
	metricLimiterWait = histogram("limiter_wait_seconds",
		"Time that an attempt waited for the limiter at the head of its line and after its claim.",
		[]float64{.01, .1, 1, 5, 10, 30, 60, 120})
)

// Metrics counts what is committed, and reads the rest when it is asked. Counters begin at 0 with the
// process, as Prometheus expects of one that was started again. Publish belongs to the committer,
// scrapes to any goroutine.
type Metrics struct {
	opt     MetricsOptions
	scrapes chan struct{} // that are under way: two at most

	mu      sync.Mutex
	counted sheet
	known   map[string]bool // statuses that have a series
	ends    engine.Ends
}

// NewMetrics begins to count.
func NewMetrics(opt MetricsOptions) *Metrics {
	if opt.Queue == nil {
		opt.Queue = func(q engine.Queue) string { return string(q) }
	}
	m := &Metrics{opt: opt, scrapes: make(chan struct{}, 2), counted: sheet{}, known: map[string]bool{}, ends: engine.Ends{}}
	// Those that are all there are have a series from the start.
	for _, kind := range throttles {
		m.counted.add(metricThrottled, 0, kind)
	}
	for _, one := range []*metric{metricRetries, metricRetriesWon, metricJobAttempts, metricAnswerTime, metricLimiterWait} {
		m.counted.of(one)
	}
	return m
}

// Text is what a scrape gets; a third one beside two others is sent away.
func (m *Metrics) Text(ctx context.Context) ([]byte, error) {
	select {
	case m.scrapes <- struct{}{}:
		defer func() { <-m.scrapes }()
	default:
		return nil, faultf(http.StatusServiceUnavailable, engine.ErrRefused, "ask again later", "two scrapes are under way")
	}
	out := sheet{}
	m.read(ctx, out)
	out.process()
	text := out.text()
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(text, m.counted.text()...), nil
}

// Publish counts the changes of one commit.
func (m *Metrics) Publish(changes []engine.Change) {
	kinds := engine.KindsOf(changes)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range changes {
		c := &changes[i]
		if c.Attempt != nil {
			m.countAttempt(kinds[c.Of], *c.Attempt)
		}
		// A job that ends, or an ended one that is opened again.
		if end, ok := m.ends.Of(c); ok {
			m.countJob(end)
		}
	}
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
		m.counted.add(metricJobsEnded, 0, queue, s.String())
		m.counted.add(metricJobsReopened, 0, queue, s.String())
		m.counted.add(metricKindEnded, 0, string(j.Kind), s.String())
	}
	// Prometheus reads a counter's first value as where it began, not as a rise.
	m.counted.add(metricAtMax, 0, queue)
	if e.Count < 0 {
		m.counted.add(metricJobsReopened, 1, queue, j.State.String())
		return
	}
	m.counted.add(metricJobsEnded, 1, queue, j.State.String())
	m.counted.add(metricKindEnded, 1, string(j.Kind), j.State.String())
	if j.State != engine.Cancelled {
		m.counted.observe(metricJobAttempts, float64(e.Attempts))
	}
	if m.opt.Policies.UsedUp(j) {
		m.counted.add(metricAtMax, 1, queue)
	}
}

// countAttempt counts one attempt or hold, when it is stored. Only an attempt that was on the wire has
// times and an answer.
func (m *Metrics) countAttempt(kind engine.Kind, a engine.Attempt) {
	m.counted.add(metricAttempts, 1, a.Verb.String())
	if a.HTTP > 0 {
		m.counted.observe(metricAnswerTime, a.HTTP.Seconds())
		m.counted.observe(metricLimiterWait, (a.Paced + a.Limiter).Seconds())
		m.counted.add(metricAnswers, 1, codeOf(a.Status))
	}
	if a.Status == http.StatusTooManyRequests {
		m.counted.add(metricThrottled, 1, throttleOf(a.Class))
	}
	status, told := a.Ending(kind)
	if a.Number == 0 || !told {
		return // a hold, or cut off: it says nothing about the other side
	}
	again, won := 0.0, 0.0
	if a.Try > 1 {
		again, won = 1, truth(engine.Succeeded(status))
	}
	label := m.label(status)
	m.counted.add(metricStatuses, 1, label)
	m.counted.add(metricKindStatuses, 1, string(kind), label)
	m.counted.add(metricRetries, again)
	m.counted.add(metricRetriesWon, won)
	m.counted.add(metricKindRetries, again, string(kind))
	m.counted.add(metricKindWon, won, string(kind))
}

// label is the label of a status; what is new when there are many statuses is counted
// with the others.
func (m *Metrics) label(status string) string {
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
