package page

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
)

// jobPart is a part of all jobs that a filter cannot name.
type jobPart struct {
	name   string
	states []engine.State // none = live ones
	class  engine.Class   // the ID of an error class; "" = any
	reason string         // the shape of a reason; "" = any
	fits   func(j *engine.JobRow) bool
}

// has reports whether a job belongs to the part; all do where there is none.
func (p *jobPart) has(j *engine.JobRow) bool { return p == nil || p.fits(j) }

// failedStates are those of jobs that failed last and are not done.
var failedStates = append(engine.LiveStates(), engine.Discarded)

// NewJobsOfClass lists the jobs of an error class: its class and the shape of its
// message. Where their calls go is known to the engine alone.
func NewJobsOfClass(queue engine.Queue, r engine.ClassRow) *Jobs {
	p := NewJobs(queue, shownLive)
	p.part = &jobPart{name: "class " + string(r.Class), states: failedStates, class: engine.Class(r.ID), fits: func(j *engine.JobRow) bool {
		return j.Class == r.Class && engine.Shape(j.LastError) == r.Shape
	}}
	return p
}

// NewJobsOfReason lists the jobs that do not run for one reason.
func NewJobsOfReason(queue engine.Queue, shape, text string) *Jobs {
	p := NewJobs(queue, shownLive)
	p.part = &jobPart{name: text, reason: shape, fits: func(j *engine.JobRow) bool { return engine.Shape(j.Reason()) == shape }}
	return p
}

// forceJob runs a job past its limit of tries, or once more. It asks why: the
// reason stays with the job and in the audit.
func forceJob(v *View, j engine.JobRow) Effect {
	j = v.liveJob(j)
	return Effect{Text: &Text{
		Label: "force " + columns.JobKey(&j.Job), Ghost: "why? it is kept with the job",
		Read: func(text string, _ time.Time) (engine.Command, string) {
			why := strings.TrimSpace(text)
			if why == "" {
				return engine.Command{}, "say why: the reason stays with the job and in the audit"
			}
			return engine.Command{Op: engine.OpForce, Job: j.ID, IfRev: j.Rev, Reason: why}, ""
		},
	}}
}
