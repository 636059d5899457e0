package screen_test

import (
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// three is a whole screen: the limits, a chart of the last day and the log, at any size.
type three struct{ page.Quiet }

func (three) Screen() page.Screen                     { return page.ScreenMessages }
func (three) Crumb(*page.View) string                 { return "Three" }
func (three) Act(*page.View, page.Action) page.Effect { return page.Effect{} }
func (three) Cannot(*page.View, page.Action) string   { return "" }
func (three) Draw(v *page.View) []string {
	w := v.Inner(v.W)
	one := func(s func(h int) part.Section) func(y, h int) []string {
		return func(y, h int) []string { return v.Sections(0, y, v.W, h, s(h-1)) }
	}
	return v.Bands(
		page.Band{Least: 3, Most: 12, Draw: one(func(h int) part.Section { return block.LimitsBlock(v, "asia", w, h) })},
		page.Band{Least: charts.DayRows + 1, Most: charts.DayRows + 1, Keep: 2, Draw: one(func(h int) part.Section { return charts.Day(v, w, h) })},
		page.Band{Least: 4, Most: v.H, Keep: 1, Draw: one(func(h int) part.Section { return block.LogPanel(v, w, h) })},
	)
}
