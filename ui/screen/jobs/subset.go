package jobs

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
)

// subset is a part of all jobs that a filter cannot name.
// The engine picks the same jobs by states, class and reason as fits does for rows that come with
// Watch.
type subset struct {
	name   string
	states []engine.State // none = live ones
	class  engine.Class   // the ID of an error class; "" = any
	reason string         // the shape of a reason; "" = any
	fits   func(j *engine.JobRow) bool
}

// has reports whether a job belongs to the part; all do where there is none.
func (p *subset) has(j *engine.JobRow) bool { return p == nil || p.fits(j) }

// OfClass lists the jobs of an error class: its class and the shape of its message. The class's
// method and host are known to the engine alone, but where the message names them.
func OfClass(queue engine.Queue, r engine.ClassRow) page.Page {
	p := New(queue, page.ShownLive).(*Screen)
	p.subset = &subset{name: strings.TrimSpace(columns.ClassAnswer(&r) + " " + columns.ClassWhere(&r)), states: block.FailedStates, class: engine.Class(r.ID),
		fits: func(j *engine.JobRow) bool {
			names := func(name string) bool { return !strings.Contains(r.Error, name) || strings.Contains(j.LastError, name) }
			return j.Class == r.Class && engine.Shape(j.LastError) == r.Shape && names(r.Method) && names(r.Host)
		}}
	p.stand()
	return p
}

// OfGroup lists all jobs of a group.
// Its title is the reason of the first job where there is one, but for what counts on, else the word of their state.
func OfGroup(queue engine.Queue, g block.JobGroup) page.Page {
	p := New(queue, page.ShownLive).(*Screen)
	p.subset = &subset{
		name: strings.ToLower(g.Word()), states: []engine.State{g.State}, reason: g.Shape,
		fits: func(j *engine.JobRow) bool { return block.GroupOf(j) == g.GroupKey },
	}
	switch first, ok := g.First(); {
	case g.Shape == engine.ShapeInLine:
		p.subset.name = g.Shape
	case ok && g.Shape != "":
		p.subset.name = first.Reason()
	}
	p.stand()
	return p
}
