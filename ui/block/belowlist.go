package block

import (
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// LeastBlocks is how many free rows below sections of fixed heights are worth blocks: a title and
// four rows. With fewer the sections take the whole page.
const LeastBlocks = 5

// tallBlocks is how many rows the blocks take where there is room for the log and the foot below
// them too.
const tallBlocks = 11

// Above draws sections of fixed heights at the top of a page. Where they leave at least LeastBlocks
// rows, the blocks stand below them side by side, and below those the end of the log and the foot.
func Above(v *page.View, sections []part.Section, blocks []func(w, h int) part.Section) []string {
	left := v.Leaves(sections)
	if left < LeastBlocks {
		return v.Whole(sections...)
	}
	// One row stays empty between the sections and the blocks.
	top := v.H - left - 1
	if left > tallBlocks+LeastFoot {
		left = tallBlocks
	}
	rows := part.Stack(v.Sections(0, 0, v.W, top, sections...), []string{v.Row(v.W)}, v.Abreast(top+1, left, blocks))
	return Fill(v, Trim(rows), func(w, h int) part.Section { return LogPanel(v, w, h) })
}
