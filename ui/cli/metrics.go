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
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// Metrics prints what the jobs of a window add up to, and the sums of days. A table of which nothing is
// known is left out, but for that of the window.
func Metrics(q engine.MetricsQuery) List {
	return answered(q, func(o Out, m engine.Metrics) error {
		for _, part := range []func(Out, engine.Metrics) error{windowMetrics, statuses, waitingJobs, days} {
			if err := part(o, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// windowMetrics prints the window's sums, a line for each: its column is called LAST 1 H.
func windowMetrics(o Out, m engine.Metrics) error {
	ends := count(m.Completed) + " completed, " + count(m.Discarded) + " discarded, " + count(m.Cancelled) + " cancelled"
	rows := [][]string{
		{"jobs ended", ends},
		{"speed", fmt.Sprintf("%.1f per min", m.PerMin)},
		{"failure rate", percent(m.FailureRate, m.Completed+m.Discarded)},
		{"gave up with every attempt used", count(m.AtMax)},
		{"mean attempts", known(fmt.Sprintf("%.2f", m.MeanAttempts), m.Completed+m.Discarded)},
		{"retries", fmt.Sprintf("%s, %s won", count(m.Retries), count(m.RetriesWon))},
		{"retry rate", percent(m.RetryRate, m.Retries)},
		{"retry success", percent(m.RetrySuccess, m.Retries)},
	}
	span := (m.Until.Sub(m.Since) + time.Minute - 1).Truncate(time.Minute) // up to whole minutes
	return o.table([]column{words("LAST " + strings.ToUpper(human.Window(span))), wide("")}, rows)
}

// percent is a share of something; a dash when there was nothing.
func percent(share float64, of int) string { return known(fmt.Sprintf("%.1f %%", 100*share), of) }

// known is a figure that was made of so many; a dash when there were none.
func known(text string, of int) string { return human.Either(of == 0, "-", text) }

// statuses prints how attempts ended, the most frequent way first; of equals by their names, so that
// two runs of the command can be compared.
func statuses(o Out, m engine.Metrics) error {
	// Shares are of all attempts of the window, not of jobs.
	total := 0
	for _, n := range m.Statuses {
		total += n
	}
	names := slices.SortedFunc(maps.Keys(m.Statuses), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Statuses[b], m.Statuses[a]), cmp.Compare(a, b))
	})
	cols := []column{words("ATTEMPTS ENDED"), figures("COUNT"), figures("SHARE")}
	return further(o, cols, names, func(name string) []string {
		n := m.Statuses[name]
		return []string{name, count(n), percent(float64(n)/float64(total), total)}
	})
}

// waitingJobs prints how many jobs wait in each queue.
func waitingJobs(o Out, m engine.Metrics) error {
	queues := slices.Sorted(maps.Keys(m.Waiting))
	return further(o, []column{words("QUEUE"), figures("WAITING")}, queues, func(q engine.Queue) []string {
		return []string{string(q), count(m.Waiting[q])}
	})
}

// days prints the sums of days, which begin at midnight of UTC, in the order in which they came.
func days(o Out, m engine.Metrics) error {
	cols := []column{
		words("DAY (UTC)"), figures("COMPLETED"), figures("DISCARDED"), figures("CANCELLED"),
		figures("ATTEMPTS"), figures("RETRIES"), figures("WON"),
	}
	return further(o, cols, m.Days, func(d engine.DaySum) []string {
		won := percent(float64(d.Won)/float64(max(d.Retries, 1)), int(d.Retries))
		return []string{
			d.Day, count(d.Completed), count(d.Discarded), count(d.Cancelled), count(d.Attempts), count(d.Retries), won,
		}
	})
}

// JobLog prints ended jobs, newest first, at most limit of them; 0 = all. As JSON each page is
// printed as it comes: an archive may be larger than memory.
func JobLog(q engine.JobLogQuery, limit int) List {
	none := "no job has ended yet"
	if q.Kind != "" || q.Queue != "" {
		none = "no job of that kind and queue has ended: `farsight joblog` lists all"
	}
	l := listing[engine.JobLog]{
		shown: columns.JobLogLines, none: none,
		read: pages(func(p engine.Page) engine.Query {
			q.Page = p
			return q
		}, func(p engine.JobLogPage) ([]engine.JobLog, string) { return p.Jobs, p.Next }),
	}
	// It is no list for --columns and --sort: nothing but its own order goes through an archive.
	return List{show: func(ctx context.Context, c engine.Console, o Out) error {
		o.View.Limit = limit
		return l.show(ctx, c, o)
	}, check: func(View) error { return nil }} // it has rows, so that -o csv makes sense
}
