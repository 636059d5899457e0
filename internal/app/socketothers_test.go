package app

import (
	"slices"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// TestS1_11_ANoteOfACommandComesAfterItsEffect: a console that is told of another one's
// command, on a job that Watch tells nothing of, and reads at once, finds it done.
func TestS1_11_ANoteOfACommandComesAfterItsEffect(t *testing.T) {
	t.Parallel()
	who := player("In Line#SOCK", 60)
	s, dir := slowly(t, who), freshDir(t)
	d := s.serving(t, dir, nil)
	a, b := attached(t, dir), attached(t, dir)
	for _, w := range []*watching{a, b} {
		w.until(t, "a snapshot", func(u engine.Update) bool { return u.Snapshot })
	}
	cli := func(args ...string) { command{args: append(args, "--data-dir", dir)}.run(t).wants(t, exitDone) }
	cli("trigger", who.RiotID, "--platform", "euw1")
	var job engine.JobRow
	d.until("a match in line", func() bool {
		q := engine.JobsQuery{Kind: "match.fetch", States: []engine.State{engine.Available}}
		page := ask[engine.JobsPage](t, a, q)
		if len(page.Jobs) < 20 {
			return false
		}
		job = page.Jobs[0] // the last one of the line
		return true
	})
	cli("pause", "ingest.summoner.full") // nothing of it moves now but by command
	for _, c := range []struct {
		args []string
		want engine.State
	}{{[]string{"reschedule", "--in", "1h"}, engine.Scheduled}, {[]string{"cancel"}, engine.Cancelled}} {
		cli(slices.Insert(slices.Clone(c.args), 1, string(job.ID))...)
		for _, w := range []*watching{a, b} {
			n := w.note(t, c.args[0]+": job "+string(job.ID))
			found := ask[engine.JobDetail](t, w, engine.JobQuery{ID: job.ID}).Job
			if n.Job != job.ID || n.By.User == "" || found.State != c.want || found.By != n.By.User {
				t.Errorf("%s is told as %+v, the job is %s by %q", c.args[0], n, found.State, found.By)
			}
		}
	}
}
