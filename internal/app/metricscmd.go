package app

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

// newMetricsCommands show what the jobs add up to, and each of those that ended.
func newMetricsCommands() []*cobra.Command {
	return []*cobra.Command{metricsCommand(), jobLogCommand()}
}

func metricsCommand() *cobra.Command {
	var q engine.MetricsQuery
	var kind string
	cmd := &cobra.Command{
		Use: "metrics", Short: "Show what jobs and retries add up to: the last hour, and each day", Args: noArgs,
		RunE: telling(func([]string) (cli.List, error) {
			q.Kind = engine.Kind(kind)
			if q.Window < time.Minute {
				return cli.List{}, usagef("--window %s is too short: use 1m to 1h", q.Window)
			}
			return cli.Metrics(q), nil
		}),
	}
	f := cmd.Flags()
	f.DurationVar(&q.Window, "window", time.Hour, "how far the sums of now look back, 1m to 1h")
	f.IntVar(&q.Days, "days", 30, "how many days to show, at most 400")
	f.StringVar(&kind, "kind", "", "only jobs of this kind, such as match.fetch or alert.call: of the window, not of days")
	f.Bool("json", false, "as one JSON object")
	return cmd
}

func jobLogCommand() *cobra.Command {
	var kind, queue string
	var limit int
	cmd := &cobra.Command{
		Use: "joblog", Short: "List ended jobs, newest first: how they ended, retries, error, times", Args: noArgs,
		RunE: telling(func([]string) (cli.List, error) {
			if limit < 0 {
				return cli.List{}, usagef("--limit %d makes no sense: use 1 or more, or 0 for all", limit)
			}
			q := engine.JobLogQuery{Kind: engine.Kind(kind), Queue: engine.Queue(queue)}
			return cli.JobLog(q, limit), nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&kind, "kind", "", "jobs of this kind, such as match.fetch")
	f.StringVar(&queue, "queue", "", "jobs of this queue")
	f.IntVar(&limit, "limit", 0, "at most so many; 0 = all")
	f.Bool("json", false, "one JSON object per line")
	_ = cmd.RegisterFlagCompletionFunc("queue", completeQueues)
	return cmd
}
