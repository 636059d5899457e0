// Package pagetest gives tests of screens and blocks a view to draw on.
package pagetest

import (
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// View is a screen of 120x36 cells without colour at [uitest.Noon], where d is both what is
// shown and the newest there is.
func View(d *page.Data) *page.View {
	return &page.View{Data: d, Live: d, Theme: themes.NewMono(themes.Unicode), Now: uitest.Noon, W: 120, H: 36, Size: page.M, Tall: page.Normal, Foot: &page.Foot{}, Past: &page.Past{}}
}
