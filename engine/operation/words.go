package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// would says that an operation is only tried: "would cancel".
func would(op engine.Op) string { return "would " + Of(op).Does }

// callsOf says how many calls there will be, and how long they take. The limits of a
// host are learnt with its first answer: before that nobody can say.
func callsOf(cost engine.Cost) string {
	text := cost.CallsText()
	if cost.Bucket == "" {
		return text + ", at limits that the first answer will tell"
	}
	if cost.Takes < time.Second {
		return text + ", for which there is room at once in the " + engine.LimitWords(cost.Bucket) + " window"
	}
	return fmt.Sprintf("%s in %s, paced by the %s window", text, human.Span(cost.Takes), engine.LimitWords(cost.Bucket))
}

// receiptText is a bulk receipt in one sentence.
func receiptText(did string, r engine.Receipt) string {
	if r.Matched == 0 {
		return "no job fits: nothing to do"
	}
	// "let run 3 of 4 jobs; left as they are: 1 is running"
	s := fmt.Sprintf("%s %s of %s", did, human.Count(int64(r.Applied)), human.Counted(r.Matched, "job", "jobs"))
	if len(r.Skipped) > 0 {
		s += "; left as they are: " + leftOut(r.Skipped)
	}
	return s
}

// leftOut says of how many jobs each reason holds.
func leftOut(skipped map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		parts = append(parts, human.Count(int64(skipped[why]))+" "+why)
	}
	return strings.Join(parts, ", ")
}

// bucketName is "europe" or "europe match-v5.match", as a line of the console asks for it.
func bucketName(b engine.Bucket) string {
	if b.Method == "" {
		return b.Host
	}
	return b.Host + " " + b.Method
}

// targetOf is target, but for an account that was forgotten: it is not named again. A collection has its name from what
// it asks for, unless the command gives it one.
func targetOf(cmd engine.Command, r engine.Receipt) string {
	switch {
	case cmd.Op == engine.OpForget:
		return r.Forget.Target()
	case r.Collection != "":
		return "collection " + r.Collection
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

// whoseLook is how many of the last commands are looked through for the one that was
// faster: it was given while somebody looked at a screen.
const whoseLook = 50

// whoseLead is the newest command on a job, carried out by somebody: whoever comes
// second is told who was first. false = the engine itself moved the job.
func (o *Operator) whoseLead(ctx context.Context, id engine.JobID) (engine.AuditEntry, bool) {
	list, err := o.opt.Store.Audit(ctx, whoseLook)
	if err != nil {
		return engine.AuditEntry{}, false // the refusal stands without it
	}
	for _, e := range list {
		if e.Applied > 0 && e.Target == "job "+string(id) {
			return e, true
		}
	}
	return engine.AuditEntry{}, false
}

// named adds to the answer of a command that came too late who came first, and when. The problem is
// copied before words are added to it: it belongs to who refused.
func (o *Operator) named(ctx context.Context, cmd engine.Command, r engine.Receipt, err error) (engine.Receipt, error) {
	p, moved := errors.AsType[*engine.Problem](err)
	if moved = moved && errors.Is(err, engine.ErrConflict); !moved && !r.Nothing {
		return r, err
	}
	e, ok := o.whoseLead(ctx, cmd.Job)
	if !ok {
		return r, err
	}
	// "cancelled by ana@socket at 14:03:27"
	by := fmt.Sprintf("%s by %s at %s", cmp.Or(Of(e.Op).Did, string(e.Op)), byWhom(e.By), e.At.Format("15:04:05"))
	if !moved {
		r.Text += ", " + by
		return r, err
	}
	told := *p
	told.Sentence += ": " + by
	if cmd.IfRev != 0 {
		told.Sentence = fmt.Sprintf("job %s: changed since shown: %s", cmd.Job, by)
	}
	return r, &told
}

// byWhom is ana@console.
func byWhom(a engine.Actor) string {
	switch {
	case a.User == "":
		return a.Via
	case a.Via == "":
		return a.User
	}
	return a.User + "@" + a.Via
}
