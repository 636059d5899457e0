package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Metrics prints what the jobs of a window add up to, and the sums of days.
func Metrics(ctx context.Context, c engine.Console, q engine.MetricsQuery, o Out) error {
	m, err := ask[engine.Metrics](ctx, c, q)
	if err != nil {
		return err
	}
	if o.JSON {
		return o.json(m)
	}
	if err := windowMetrics(o, m); err != nil {
		return err
	}
	for _, part := range []func(Out, engine.Metrics) error{statuses, waitingJobs, days} {
		if err := part(o, m); err != nil {
			return err
		}
	}
	return nil
}

func windowMetrics(o Out, m engine.Metrics) error {
	rows := [][]string{
		{"jobs ended", fmt.Sprintf("%s completed, %s discarded, %s cancelled", count(m.Completed), count(m.Discarded), count(m.Cancelled))},
		{"speed", fmt.Sprintf("%.1f per min", m.PerMin)},
		{"failure rate", percent(m.FailureRate, m.Completed+m.Discarded)},
		{"gave up with every attempt used", count(m.AtMax)},
		{"mean attempts", known(fmt.Sprintf("%.2f", m.MeanAttempts), m.Completed+m.Discarded)},
		{"retries", fmt.Sprintf("%s, %s won", count(m.Retries), count(m.RetriesWon))},
		{"retry rate", percent(m.RetryRate, m.Retries)},
		{"retry success", percent(m.RetrySuccess, m.Retries)},
	}
	return o.table([]column{{Title: "LAST " + strings.ToUpper(human.Window((m.Until.Sub(m.Since) + time.Minute - 1).Truncate(time.Minute)))}, {Title: "", Flex: 1}}, rows)
}

// percent is a share of something; a dash when there was nothing.
func percent(share float64, of int) string { return known(fmt.Sprintf("%.1f %%", 100*share), of) }

func known(text string, of int) string {
	if of == 0 {
		return "-"
	}
	return text
}

func statuses(o Out, m engine.Metrics) error {
	if len(m.Statuses) == 0 {
		return nil
	}
	total := 0
	for _, n := range m.Statuses {
		total += n
	}
	names := slices.SortedFunc(maps.Keys(m.Statuses), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Statuses[b], m.Statuses[a]), cmp.Compare(a, b))
	})
	rows := make([][]string, len(names))
	for i, name := range names {
		n := m.Statuses[name]
		rows[i] = []string{name, count(n), percent(float64(n)/float64(total), total)}
	}
	_, _ = fmt.Fprintln(o.W)
	return o.table([]column{{Title: "ATTEMPTS ENDED"}, {Title: "COUNT", Kind: number}, {Title: "SHARE", Kind: number}}, rows)
}

func waitingJobs(o Out, m engine.Metrics) error {
	if len(m.Waiting) == 0 {
		return nil
	}
	var rows [][]string
	for _, q := range slices.Sorted(maps.Keys(m.Waiting)) {
		rows = append(rows, []string{string(q), count(m.Waiting[q])})
	}
	_, _ = fmt.Fprintln(o.W)
	return o.table([]column{{Title: "QUEUE"}, {Title: "WAITING", Kind: number}}, rows)
}

func days(o Out, m engine.Metrics) error {
	if len(m.Days) == 0 {
		return nil
	}
	rows := make([][]string, len(m.Days))
	for i, d := range m.Days {
		share := 0.0
		if d.Retries > 0 {
			share = float64(d.Won) / float64(d.Retries)
		}
		rows[i] = []string{d.Day, count(d.Completed), count(d.Discarded), count(d.Cancelled), count(d.Attempts), count(d.Retries), percent(share, int(d.Retries))}
	}
	_, _ = fmt.Fprintln(o.W)
	return o.table([]column{{Title: "DAY (UTC)"}, {Title: "COMPLETED", Kind: number}, {Title: "DISCARDED", Kind: number}, {Title: "CANCELLED", Kind: number}, {Title: "ATTEMPTS", Kind: number}, {Title: "RETRIES", Kind: number}, {Title: "WON", Kind: number}}, rows)
}

// JobLog prints ended jobs, newest first, at most limit of them; 0 = all.
func JobLog(ctx context.Context, c engine.Console, q engine.JobLogQuery, limit int, o Out) error {
	q.Limit = pageSize
	var rows []engine.JobLog
	for left := limit; ; {
		page, err := ask[engine.JobLogPage](ctx, c, q)
		if err != nil {
			return err
		}
		if limit > 0 {
			page.Jobs = page.Jobs[:min(left, len(page.Jobs))]
			left -= len(page.Jobs)
		}
		if o.JSON { // an archive may be larger than memory
			err = lines(o, page.Jobs)
		} else {
			rows = append(rows, page.Jobs...)
		}
		if err != nil {
			return err
		}
		if page.Next == "" || limit > 0 && left == 0 {
			break
		}
		q.After = page.Next
	}
	switch {
	case o.JSON:
		return nil
	case len(rows) == 0 && (q.Kind != "" || q.Queue != ""):
		return o.say("no job of that kind and queue has ended: `farsight joblog` lists all")
	case len(rows) == 0:
		return o.say("no job has ended yet")
	}
	return jobLog(o, rows)
}

func jobLog(o Out, rows []engine.JobLog) error {
	out := make([][]string, len(rows))
	for i, j := range rows {
		what := j.Key
		if what == "" {
			what = string(j.Type)
		}
		took := "-"
		if !j.Started.IsZero() && !j.Finished.IsZero() {
			took = human.Span(j.Finished.Sub(j.Started))
		}
		out[i] = []string{string(j.Job), what, string(j.Queue), strings.ToUpper(j.Status.String()), count(j.Retries), human.Stamp(j.Created), human.Stamp(j.Finished), took, j.Error}
	}
	return o.table([]column{{Title: "ID", Kind: number}, {Title: "JOB"}, {Title: "QUEUE"}, {Title: "STATE"}, {Title: "RETRIES", Kind: number}, {Title: "CREATED"}, {Title: "FINISHED"}, {Title: "LAST RUN", Kind: number}, {Title: "ERROR", Flex: 1}}, out)
}
