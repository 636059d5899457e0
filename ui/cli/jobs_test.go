package cli_test

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

// jobList answers with jobs and keeps what it was asked.
type jobList struct {
	rows  []engine.JobRow
	asked engine.JobsQuery
}

func (l *jobList) Find(_ context.Context, q engine.Query) (engine.Answer, error) {
	l.asked = q.(engine.JobsQuery)
	return engine.JobsPage{Jobs: slices.Clone(l.rows)}, nil
}
func (l *jobList) Watch(context.Context) iter.Seq[engine.Update] { return nil }
func (l *jobList) Do(context.Context, engine.Command) (engine.Receipt, error) {
	return engine.Receipt{}, nil
}

// TestJobs_ASyncHasItsPlayer: in front of its key, which is of the id of an account.
func TestJobs_ASyncHasItsPlayer(t *testing.T) {
	l := &jobList{rows: []engine.JobRow{{Job: engine.Job{ID: "7", Key: "full:01M7", State: engine.Pending}, Player: "Ana#EUW"}}}
	text := printed(t, false, func(o cli.Out) error { return cli.Jobs("", false).Show(t.Context(), l, o) })
	if !strings.Contains(text, " Ana#EUW full:01M7 ") {
		t.Error(text)
	}
	if text = printed(t, true, func(o cli.Out) error { return cli.Jobs("", false).Show(t.Context(), l, o) }); !strings.Contains(text, `"player":"Ana#EUW"`) {
		t.Error(text)
	}
}

// TestJobs_TheNextOneIsFirst: the list begins with what runs and goes on with what may run
// next, and NEXT says when, by the instant of a retry and by the turn of what waits in line.
func TestJobs_TheNextOneIsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := func(key string, s engine.State, due, until time.Duration, why string) engine.JobRow {
			r := engine.JobRow{Job: engine.Job{ID: engine.JobID("j" + key), Key: key, State: s}, Why: why}
			if due > 0 {
				r.Due = time.Now().Add(due)
			}
			if until > 0 {
				r.Until = time.Now().Add(until)
			}
			return r
		}
		l := &jobList{rows: []engine.JobRow{
			row("far", engine.Available, 0, 0, "far back in line"), row("later", engine.Available, 0, 53*time.Second, "512th in line"),
			row("retry", engine.Retryable, 12*time.Second, 0, ""), row("runs", engine.Running, 0, 0, ""),
		}}
		var out bytes.Buffer
		if err := cli.Jobs("", false).Show(t.Context(), l, cli.Out{W: &out}); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
			keys = append(keys, strings.Fields(line)[1])
		}
		if want := []string{"runs", "retry", "later", "far"}; !slices.Equal(keys, want) || !l.asked.Oldest {
			t.Errorf("%q, want %q\n%s", keys, want, out.String())
		}
		err := cli.Jobs("", false).Show(t.Context(), l, cli.Out{W: io.Discard, View: cli.View{Limit: 2}})
		if err != nil || !l.asked.Soonest || l.asked.Limit != 2 {
			t.Errorf("of the first 2 it asks %+v, %v", l.asked, err)
		}
		// No list of all is kept for a limit.
		err = cli.Jobs("state:live", false).Show(t.Context(), l, cli.Out{W: io.Discard, View: cli.View{Limit: 2}})
		if err != nil || l.asked.Soonest || l.asked.Filter != "state:live" {
			t.Errorf("with a filter it asks %+v, %v", l.asked, err)
		}
		if text := out.String(); !strings.Contains(text, "  12 s ") || !strings.Contains(text, "  53 s ") || strings.Contains(text, "line, 53 s") {
			t.Error(text)
		}
	})
}

// TestJob_AFaultIsOneLine: whatever the error of a try holds, a try is a line, and no line is one that it made up.
func TestJob_AFaultIsOneLine(t *testing.T) {
	d := engine.JobDetail{MaxAttempts: 5, Attempts: []engine.Attempt{
		{Number: 1, Start: friday, End: friday, Err: "no\ntry 2: all is well\r\x1b[2J", Decision: "retry\nin 10 s"},
	}}
	d.Job.ID, d.Job.Key, d.Job.State = "7", "match:KR_1", engine.Retryable
	at := answering{answer: func(engine.Query) (engine.Answer, error) { return d, nil }}
	text := printed(t, false, func(o cli.Out) error { return cli.Job("7").Show(t.Context(), at, o) })
	if lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "all is well") || strings.ContainsAny(text, "\r\x1b") {
		t.Errorf("%q", text)
	}
}
