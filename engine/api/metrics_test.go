package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/farsight-console/farsight/engine"
)

// measured are metrics of an engine in which everything has happened once.
func measured() *Metrics {
	o := quiet()
	rest := o.find
	o.find = func(q engine.Query) (engine.Answer, error) {
		switch q.(type) {
		case engine.StatusQuery:
			return engine.StatusAnswer{
				Engine: engine.EngineRow{State: engine.EngineLive, Stored: 12, Workers: 5, Meter: engine.Meter{Unforeseen: 1}},
				Queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: "ingest.summoner.full", Paused: true}, Counts: map[engine.State]int{engine.Retryable: 3}, Held: 1, OldestDue: time.Now().Add(-time.Minute)}},
			}, nil
		case engine.LimitsQuery:
			b := engine.BucketRow{Host: "europe", Kind: "app", Window: 10 * time.Second, Limit: 100, Used: 97}
			return engine.LimitsRow{Buckets: []engine.BucketRow{b, b}}, nil // as while a header changes a limit
		case engine.CollectionsQuery:
			return engine.CollectionsAnswer{Collections: []engine.CollectionRow{{
				Collection: engine.Collection{CollectAsk: engine.CollectAsk{Name: "kr"}, Players: 6000}, Listed: 134, Failed: 1,
				Collected: engine.Collected{Found: 100, Stored: 60, Lost: 2, TooOld: 3, Again: 40},
			}}}, nil
		case engine.AlertsQuery:
			return engine.AlertsAnswer{Alerts: []engine.AlertRow{{ID: "429", Rule: "429", State: engine.AlertFiring}}}, nil
		}
		return rest(q)
	}
	m := NewMetrics(MetricsOptions{
		Console: o, Version: "v1",
		Queue:    func(q engine.Queue) string { return "fitlol:" + string(q) },
		Policies: engine.DefaultPolicies(),
		Commits: func() map[string]Histogram {
			return map[string]Histogram{"state": {Bounds: []float64{.01}, Counts: []uint64{1}, Count: 2, Sum: .5}}
		},
		Sizes: func() map[string]float64 { return map[string]float64{"state": 4096} },
	})
	job := engine.Job{Queue: "ingest.summoner.full", State: engine.Discarded, Attempts: 5, Tries: 5}
	m.Publish([]engine.Change{
		{Job: &job, Before: engine.Running},
		{Job: &job, Before: engine.Discarded}, // as it was
		{Attempt: &engine.Attempt{Number: 1, Try: 1, Verb: engine.VerbRetry, Class: "503", Status: 503, HTTP: time.Second}},
		{Attempt: &engine.Attempt{Number: 2, Try: 2, Verb: engine.VerbDone, Status: 200, HTTP: time.Second, Paced: time.Second}},
		{Attempt: &engine.Attempt{Verb: engine.VerbSnooze, Class: "429.method", Status: 429, HTTP: time.Second}},
		{Attempt: &engine.Attempt{Verb: engine.VerbSnooze, Class: "429.new-kind", Status: 429, HTTP: time.Second}},
		{Attempt: &engine.Attempt{Number: 3, Try: 1, Verb: engine.VerbInterrupted}},
	})
	return m
}

// gathered reads what a scrape gets, as Prometheus does.
func gathered(m *Metrics) prometheus.Gatherer {
	return prometheus.Gatherers{prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		text, err := m.Text(context.Background())
		if err != nil {
			return nil, err
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
		return slices.Collect(maps.Values(families)), err
	})}
}

func TestS2_9_MetricsCountWhatIsCommitted(t *testing.T) {
	const want = `
# HELP farsight_answers_total Answers that jobs have got, by HTTP status; none = there was no answer.
# TYPE farsight_answers_total counter
farsight_answers_total{code="200"} 1
farsight_answers_total{code="429"} 2
farsight_answers_total{code="503"} 1
# HELP farsight_attempt_statuses_total Charged attempts by the status that they ended with.
# TYPE farsight_attempt_statuses_total counter
farsight_attempt_statuses_total{status="503"} 1
farsight_attempt_statuses_total{status="ok"} 1
# HELP farsight_jobs_at_max_attempts_total Jobs that gave up with every attempt used, by queue.
# TYPE farsight_jobs_at_max_attempts_total counter
farsight_jobs_at_max_attempts_total{queue="fitlol:ingest.summoner.full"} 1
# HELP farsight_jobs_ended_total Jobs that have ended, by queue and state: less jobs_reopened_total those that stay so.
# TYPE farsight_jobs_ended_total counter
farsight_jobs_ended_total{queue="fitlol:ingest.summoner.full",state="cancelled"} 0
farsight_jobs_ended_total{queue="fitlol:ingest.summoner.full",state="completed"} 0
farsight_jobs_ended_total{queue="fitlol:ingest.summoner.full",state="discarded"} 1
# HELP farsight_limit_used_calls Calls counted in a bucket's window: own, in flight and foreign.
# TYPE farsight_limit_used_calls gauge
farsight_limit_used_calls{host="europe",kind="app",method="",window="10s"} 97
# HELP farsight_retries_succeeded_total Charged attempts after the first one of a round that succeeded.
# TYPE farsight_retries_succeeded_total counter
farsight_retries_succeeded_total 1
# HELP farsight_retries_total Charged attempts after the first one of a round.
# TYPE farsight_retries_total counter
farsight_retries_total 1
# HELP farsight_throttled_total Answers 429 by the limit that they named.
# TYPE farsight_throttled_total counter
farsight_throttled_total{kind="application"} 0
farsight_throttled_total{kind="method"} 1
farsight_throttled_total{kind="service"} 0
farsight_throttled_total{kind="unknown"} 1
`
	var names []string
	for _, line := range strings.Split(want, "\n") {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			names = append(names, strings.Fields(name)[0])
		}
	}
	if err := testutil.GatherAndCompare(gathered(measured()), strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

func TestL9_MetricsOfACollection(t *testing.T) {
	const want = `
# HELP farsight_collection_listed_again Ids that a collection has listed of matches that it had found already.
# TYPE farsight_collection_listed_again gauge
farsight_collection_listed_again{collection="kr"} 40
# HELP farsight_collection_matches Matches that a collection has found, by status; waiting are those that are not settled.
# TYPE farsight_collection_matches gauge
farsight_collection_matches{collection="kr",status="outside_retention_window"} 3
farsight_collection_matches{collection="kr",status="permanently_unfetchable"} 2
farsight_collection_matches{collection="kr",status="success"} 60
farsight_collection_matches{collection="kr",status="waiting"} 35
# HELP farsight_collection_players Players of a collection: seen by any round, and listed or failed in this one.
# TYPE farsight_collection_players gauge
farsight_collection_players{collection="kr",state="failed"} 1
farsight_collection_players{collection="kr",state="listed"} 134
farsight_collection_players{collection="kr",state="seen"} 6000
`
	if err := testutil.GatherAndCompare(gathered(measured()), strings.NewReader(want),
		"farsight_collection_players", "farsight_collection_matches", "farsight_collection_listed_again"); err != nil {
		t.Error(err)
	}
}

// Retries and statuses are counted by kind as well: a call's say nothing of Riot.
func TestMetricsCountAttemptsByKind(t *testing.T) {
	m := NewMetrics(MetricsOptions{Console: quiet()})
	for id, kind := range map[engine.JobID]engine.Kind{"a": engine.KindCall, "b": "match.fetch"} {
		job := engine.Job{ID: id, Kind: kind, State: engine.Running}
		m.Publish([]engine.Change{{Job: &job}, {Of: id, Attempt: &engine.Attempt{Number: 1, Try: 1, Verb: engine.VerbRetry, Class: "busy"}}})
		m.Publish([]engine.Change{{Job: &job}, {Of: id, Attempt: &engine.Attempt{Number: 2, Try: 2, Verb: engine.VerbDone}}})
	}
	const want = `
# HELP farsight_kind_attempt_statuses_total Charged attempts by the kind of their job and the status that they ended with.
# TYPE farsight_kind_attempt_statuses_total counter
farsight_kind_attempt_statuses_total{kind="alert.call",status="busy"} 1
farsight_kind_attempt_statuses_total{kind="alert.call",status="completed"} 1
farsight_kind_attempt_statuses_total{kind="match.fetch",status="busy"} 1
farsight_kind_attempt_statuses_total{kind="match.fetch",status="ok"} 1
# HELP farsight_kind_retries_succeeded_total Charged attempts after the first one of a round that succeeded, by the kind of their job.
# TYPE farsight_kind_retries_succeeded_total counter
farsight_kind_retries_succeeded_total{kind="alert.call"} 1
farsight_kind_retries_succeeded_total{kind="match.fetch"} 1
# HELP farsight_kind_retries_total Charged attempts after the first one of a round, by the kind of their job.
# TYPE farsight_kind_retries_total counter
farsight_kind_retries_total{kind="alert.call"} 1
farsight_kind_retries_total{kind="match.fetch"} 1
`
	err := testutil.GatherAndCompare(gathered(m), strings.NewReader(want),
		"farsight_kind_attempt_statuses_total", "farsight_kind_retries_succeeded_total", "farsight_kind_retries_total")
	if err != nil {
		t.Error(err)
	}
}

// A name from outside can break no line, and no scrape.
func TestMetricsEscapeLabels(t *testing.T) {
	m := NewMetrics(MetricsOptions{Console: quiet()})
	const name = "a\\b\"} 9\n# c"
	m.Publish([]engine.Change{{Job: &engine.Job{Queue: name + "\xff", State: engine.Completed}, Before: engine.Running}})
	families, err := gathered(m).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "farsight_jobs_ended_total" {
			if got := f.GetMetric()[0].GetLabel()[0].GetValue(); got != name+"\uFFFD" {
				t.Errorf("the queue is %q", got)
			}
			return
		}
	}
	t.Error("it is not counted")
}

// A scrape is packed for whoever wants it so; a third one beside two others is told to come again.
func TestScrapes(t *testing.T) {
	m := measured()
	w := listen(t, quiet(), func(p *ProgramsOptions, _ *Options) { p.Metrics = m })
	text, h := w.ask(t, "GET", "/metrics", "", 200, "Accept-Encoding", "deflate, gzip")
	if got := h.Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("its type is %s", got)
	}
	z, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := io.ReadAll(z); err != nil || !bytes.Contains(raw, []byte("\nfarsight_up 1\n")) {
		t.Errorf("%v: %s", err, raw)
	}
	if text, _ := w.ask(t, "GET", "/metrics", "", 200, "Accept-Encoding", "identity"); !strings.Contains(text, "\nfarsight_up 1\n") {
		t.Error(text)
	}
	m.scrapes <- struct{}{}
	w.ask(t, "GET", "/metrics", "", 200)
	m.scrapes <- struct{}{}
	w.ask(t, "GET", "/metrics", "", 503)
}

// One gauge has 256 series at most, and the reading says how many are missing.
func TestMetricsSayWhatTheyLeaveOut(t *testing.T) {
	o := quiet()
	rest := o.find
	o.find = func(q engine.Query) (engine.Answer, error) {
		switch q.(type) {
		case engine.StatusQuery:
			var a engine.StatusAnswer
			for i := range 300 {
				a.Queues = append(a.Queues, engine.QueueRow{QueueState: engine.QueueState{Name: engine.Queue(fmt.Sprintf("q%d", i))}})
			}
			return a, nil
		case engine.LimitsQuery:
			var a engine.LimitsRow
			for i := range 257 {
				a.Buckets = append(a.Buckets, engine.BucketRow{Method: fmt.Sprint(i)}, engine.BucketRow{Method: fmt.Sprint(i)})
			}
			return a, nil
		}
		return rest(q)
	}
	const want = `
# HELP farsight_series_left_out What is left out of this reading, because one gauge has 256 series at most: queues, limits, rules or collections.
# TYPE farsight_series_left_out gauge
farsight_series_left_out{of="limits"} 1
farsight_series_left_out{of="queues"} 44
farsight_series_left_out{of="rules"} 0
`
	m := NewMetrics(MetricsOptions{Console: o})
	if err := testutil.GatherAndCompare(gathered(m), strings.NewReader(want), "farsight_series_left_out"); err != nil {
		t.Error(err)
	}
}

// Whatever classes errors have, there are only so many series.
func TestMetricsHaveBoundedLabels(t *testing.T) {
	m := measured()
	for i := range 1000 {
		m.Publish([]engine.Change{{Attempt: &engine.Attempt{Number: 1, Verb: engine.VerbRetry, Class: engine.Class(strings.Repeat("x", i)), Status: i, HTTP: 1}}})
	}
	families, err := gathered(m).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if n := len(f.GetMetric()); n > 70 {
			t.Errorf("%s has %d series", f.GetName(), n)
		}
	}
}

func TestMetricNamesAreGood(t *testing.T) {
	m := measured()
	problems, err := testutil.GatherAndLint(gathered(m))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "farsight_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	w := listen(t, quiet(), func(p *ProgramsOptions, _ *Options) { p.Metrics = m })
	text, _ := w.ask(t, "GET", "/metrics", "", 200)
	promtool, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("there is no promtool here; .ci/run installs it")
	}
	if err != nil {
		t.Skip("promtool is not here")
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v: %s", err, out)
	}
}

// TestTheDashboardShowsMetricsThatThereAre reads every expression of the Grafana
// dashboard.
func TestTheDashboardShowsMetricsThatThereAre(t *testing.T) {
	raw, err := os.ReadFile("../../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board any
	if err := json.Unmarshal(raw, &board); err != nil {
		t.Fatal(err)
	}
	families, err := gathered(measured()).Gather()
	if err != nil {
		t.Fatal(err)
	}
	there, shown := map[string]bool{}, map[string]bool{}
	for _, f := range families {
		name := f.GetName()
		there[name] = true
		if f.GetType().String() == "HISTOGRAM" {
			there[name+"_bucket"], there[name+"_sum"], there[name+"_count"] = true, true, true
		}
	}
	name := regexp.MustCompile(`\b(farsight|go|process)_\w+`)
	exprs := 0
	eachExpr(board, func(expr string) {
		exprs++
		for _, n := range name.FindAllString(expr, -1) {
			if shown[n] = true; !there[n] {
				t.Errorf("%s is in no registry: %s", n, expr)
			}
		}
	})
	if exprs < 20 {
		t.Errorf("the dashboard has only %d expressions", exprs)
	}
	// And nothing of ours is left out.
	for _, f := range families {
		n := f.GetName()
		if strings.HasPrefix(n, "farsight_") && !shown[n] && !shown[n+"_bucket"] && !shown[n+"_sum"] {
			t.Errorf("%s is on no panel", n)
		}
	}
}

// TestW9h_TheRulesForPrometheusReadMetricsThatThereAre: each expression, and promtool, where it is here, each rule.
func TestW9h_TheRulesForPrometheusReadMetricsThatThereAre(t *testing.T) {
	const file = "../../docs/prometheus.rules.yml"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	families, err := gathered(measured()).Gather()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range families {
		there[f.GetName()] = true
	}
	rules := regexp.MustCompile(`(?m)^      - alert: \w+\n        expr: (.+)\n(?:        for: \d+m\n)?        labels: \{severity: (?:critical|warning)\}\n        annotations: \{summary: ".+"\}$`).FindAllStringSubmatch(string(raw), -1)
	if n := strings.Count(string(raw), "- alert:"); len(rules) != n || n < 4 {
		t.Errorf("%d of %d rules can be read", len(rules), n)
	}
	for _, r := range rules {
		for _, name := range regexp.MustCompile(`\bfarsight_\w+`).FindAllString(r[1], -1) {
			if !there[name] {
				t.Errorf("%s is in no registry: %s", name, r[1])
			}
		}
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		if out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput(); err != nil {
			t.Errorf("promtool: %v: %s", err, out)
		}
	}
}

func eachExpr(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if text, ok := e.(string); ok && (k == "expr" || k == "query" || k == "definition") {
				f(text)
			}
			eachExpr(e, f)
		}
	case []any:
		for _, e := range v {
			eachExpr(e, f)
		}
	}
}
