package jobs

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
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

// OfClass lists the jobs of an error class: its class and the shape of its
// message. Where their calls go is known to the engine alone.
func OfClass(queue engine.Queue, r engine.ClassRow) *Jobs {
	p := New(queue, page.ShownLive)
	p.part = &jobPart{name: "class " + string(r.Class), states: block.FailedStates, class: engine.Class(r.ID), fits: func(j *engine.JobRow) bool {
		return j.Class == r.Class && engine.Shape(j.LastError) == r.Shape
	}}
	p.stand()
	return p
}

// OfGroup lists all jobs of a group.
func OfGroup(queue engine.Queue, g block.JobGroup) *Jobs {
	p := New(queue, page.ShownLive)
	p.part = &jobPart{
		name: strings.ToLower(g.Word()), states: []engine.State{g.State}, reason: g.Shape,
		fits: func(j *engine.JobRow) bool { return block.GroupOf(j) == g.GroupKey },
	}
	if first, ok := g.First(); ok && g.Shape != "" {
		p.part.name = first.Reason()
	}
	p.stand()
	return p
}
