package block

import (
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// LeastBlocks is what blocks need below sections of fixed heights.
const LeastBlocks = 5

// tallBlocks is how many rows they take on a large screen with room for more below them.
const tallBlocks = 11

// Above draws sections of fixed heights, where they leave room blocks side by side below
// them, and below those the end of the log and the foot.
func Above(v *page.View, sections []part.Section, blocks []func(w, h int) part.Section, f *Foot) []string {
	left := v.Leaves(sections)
	if left < LeastBlocks {
		return v.Whole(sections...)
	}
	top := v.H - left - 1
	if v.Size == page.L && left > tallBlocks+LeastFoot {
		left = tallBlocks
	}
	rows := part.Stack(v.Sections(0, 0, v.W, top, sections...), []string{v.Row(v.W)}, v.Abreast(top+1, left, blocks))
	return f.Fill(v, rows, func(w, h int) part.Section { return LogPanel(v, w, h) })
}
