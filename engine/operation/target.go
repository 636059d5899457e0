package operation

import (
	"fmt"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// targetOf is target, but for an account that was forgotten: it is not named again.
func targetOf(cmd engine.Command, r engine.Receipt) string {
	if cmd.Op == engine.OpForget {
		return r.Forget.Target()
	}
	return target(cmd)
}

// target names what a command is about. The key of OpKey is never named. The order is that of how
// narrow it is: a command on a job may name its queue as well. undoTarget must write a command's number
// as it is written here: toUndo finds by it what was taken back already.
func target(cmd engine.Command) string {
	switch {
	case cmd.Select != nil:
		return describe(*cmd.Select)
	case cmd.Audit != 0:
		return fmt.Sprintf("command #%d", cmd.Audit)
	case cmd.Job != "":
		return "job " + string(cmd.Job)
	case cmd.Schedule != "":
		return "schedule " + cmd.Schedule
	case cmd.Alert != "":
		return "alert " + cmd.Alert
	case cmd.Account != "":
		return "account " + cmd.Account
	case cmd.Call != nil:
		return "number " + engine.CutNumber(cmd.Call.To)
	case cmd.Own != nil:
		return strings.TrimSpace(cmd.Own.Name + " " + cmd.Own.On)
	case cmd.Channel != "":
		return "pager " + cmd.Channel
	case Of(cmd.Op).About != "":
		return Of(cmd.Op).About
	case cmd.Queue != "":
		return "queue " + string(cmd.Queue)
	case cmd.Bucket.Host != "":
		return "bucket " + bucketName(cmd.Bucket)
	}
	return string(cmd.Op)
}

// describe names a selection in an audit entry.
func describe(s engine.Selection) string {
	if len(s.IDs) > 0 {
		return human.Counted(len(s.IDs), "job", "jobs")
	}
	if s.Filter == nil || s.Filter.Empty() {
		return "all jobs"
	}
	// "jobs: class 5xx, queue ingest.match.fetch, retryable"
	var parts []string
	for _, p := range []struct{ name, value string }{
		{"class", string(s.Filter.Class)}, {"queue", string(s.Filter.Queue)}, {"kind", string(s.Filter.Kind)},
		{"account", s.Filter.Owner}, {"key", s.Filter.Text},
	} {
		if p.value != "" {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	for _, st := range s.Filter.States {
		parts = append(parts, st.String())
	}
	return "jobs: " + strings.Join(parts, ", ")
}
