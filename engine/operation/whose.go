package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

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
