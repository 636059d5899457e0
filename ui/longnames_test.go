package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestNamesOfAThousandCharacters: of one, two and three bytes, with combining marks,
// without a space, and no UTF-8 at all: every screen keeps its shape at every size, and
// a name costs one ellipsis.
func TestNamesOfAThousandCharacters(t *testing.T) {
	long(t)
	scene := uitest.HostileOf([]string{
		strings.Repeat("x", 1000) + "#KR1", strings.Repeat("한", 1000) + "#KR1", strings.Repeat("\xff\xc3(", 333) + "#KR1",
		strings.Repeat("é\u0301\u0302\u0303", 250) + "#KR1", strings.Repeat("👨‍👩‍👧‍👦", 250) + "#KR1", strings.Repeat("\u202e\x1b[31m", 200),
	})
	bubble(t, func(t *testing.T) {
		d := open(t, scene, 120, 40, testOptions())
		for _, v := range views {
			d.press("esc", "1")
			d.m.stack = nil
			v.open(d)
			for _, size := range scratch.Sized([][2]int{{1, 1}, {80, 24}}, [][2]int{{1, 1}, {13, 3}, {60, 16}, {80, 24}, {120, 40}, {250, 80}}) {
				d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				checkFrame(t, d.m.frame, size[0], size[1], false)
			}
		}
		d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		d.press("1", "2")
		if n := strings.Count(d.underCursor(), "…"); n > 2 {
			t.Errorf("%d ellipses in %q", n, d.underCursor())
		}
	})
}

// At 100x30 there are three rows too few for the figures: the sawteeth give one, their title and their notes two.
func TestTheFiguresHaveRoomAt100x30(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 100, 30, testOptions())
		if text := ansi.Strip(d.m.frame); !strings.Contains(text, " in line  ") || strings.Count(text, "NEEDS YOU") != 1 {
			t.Error(text)
		}
	})
}

// Where blocks are narrow the windows keep their names and lose their bars.
func TestLimitsKeepTheirNamesInNarrowBlocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 100, 30, testOptions())
		rows := block.LimitsBlock(d.m.view(d.m.now()), "asia", 31, 6).Rows
		if text := ansi.Strip(strings.Join(rows, "\n")); !strings.Contains(text, "app      1 s      17/20") {
			t.Errorf("%s", text)
		}
	})
}

// Neither the name of a ladder nor the longest state touches what stands beside it.
func TestNarrowBlocksPartTheirColumns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Busy()
		s.Update.Limits.Buckets = []engine.BucketRow{{Host: "kr", Method: "league-v4.challengerleagues-by-queue", Kind: "method", Window: 10 * time.Minute, Limit: 500, Used: 1}}
		s.Update.Accounts = []engine.AccountRow{{ID: "a1", RiotID: "Kain#KR1", Tracked: true, Status: engine.SyncCompleted, Result: "incomplete"}}
		d := open(t, s, 120, 40, testOptions())
		v := d.m.view(d.m.now())
		for _, rows := range [][]string{block.LimitsBlock(v, "kr", 38, 6).Rows, block.TrackedBlock(v, 54, 3).Rows} {
			if text := ansi.Strip(strings.Join(rows, "\n")); !strings.Contains(text, "… 10 min") && !strings.Contains(text, "INCOMPLETE Kain") {
				t.Errorf("%q", text)
			}
		}
	})
}
