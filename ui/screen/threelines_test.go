package screen_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestAScreenOfThreeBlocksIsOneFile: it declares what its blocks need, and is laid out at any size; those that have no
// room are left out by their rank.
func TestAScreenOfThreeBlocksIsOneFile(t *testing.T) {
	if text, err := os.ReadFile("three_test.go"); err != nil || bytes.Count(text, []byte("\n")) > 60 {
		t.Errorf("%v, %d lines", err, bytes.Count(text, []byte("\n")))
	}
	u := uitest.Busy().Update
	d := &page.Data{Ready: true, Engine: *u.Engine, Limits: *u.Limits, Logs: u.Logs}
	for _, c := range []struct {
		w, h  int
		size  page.Size
		shows string
	}{{80, 24, page.S, "LIMITS SINCE LOG"}, {120, 36, page.M, "LIMITS SINCE LOG"}, {200, 60, page.L, "LIMITS SINCE LOG"},
		{80, 12, page.S, "LIMITS LOG"}, {80, 4, page.S, "LIMITS"}} {
		v := pagetest.View(d)
		v.W, v.H, v.Size = c.w, c.h, c.size
		v.Foot.Day = []engine.TrafficSpan{{At: v.Now.Add(-engine.TrafficEvery), Calls: 7}}
		var p page.Page = three{}
		rows := p.Draw(v)
		var titles []string
		for _, row := range rows {
			if word := strings.Fields(ansi.Strip(row) + " x")[0]; slices.Contains([]string{"LIMITS", "SINCE", "LOG"}, word) {
				titles = append(titles, word)
			}
		}
		if got := strings.Join(titles, " "); len(rows) != c.h || got != c.shows {
			t.Errorf("%dx%d has %d rows with %s, want %s", c.w, c.h, len(rows), got, c.shows)
		}
	}
}
