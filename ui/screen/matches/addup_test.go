package matches

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// B-6: the figures above an account's matches add up to what was listed.
func TestB6_FiguresOfMatchesAddUp(t *testing.T) {
	number := regexp.MustCompile(`\d[\d,]*`)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SliceOfN(rapid.IntRange(0, 2000), 7, 7).Draw(t, "counts")
		p := engine.Progress{Stored: n[0], Had: n[1], Failed: n[2], TooOld: n[3], Unaskable: n[4], Cancelled: n[5], Open: n[6]}
		p.Retrying = rapid.IntRange(0, p.Open).Draw(t, "retrying")
		for _, n := range n {
			p.Total += n
		}
		v := &page.View{Data: &page.Data{Accounts: []engine.AccountRow{{ID: "a", Matches: p}}}}
		sum := 0
		for _, c := range New("a").(*screen).counts(v) {
			if n, _ := strconv.Atoi(strings.ReplaceAll(number.FindString(c.Text), ",", "")); !strings.HasPrefix(c.Text, "of ") {
				sum += n
			}
		}
		if sum != p.Total {
			t.Errorf("%d of %+v", sum, p)
		}
	})
}

// TestV1s_TheFiguresAreOfTheReadingOfTheRows: they stand above sums of the same rows, and are the engine's own again where
// no other reading follows.
func TestV1s_TheFiguresAreOfTheReadingOfTheRows(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{Stored: 2, Waiting: 1000}})
	p := New("")
	p.Got(v, p.Want(v), engine.MatchesPage{Next: "2", Matches: []engine.MatchRow{{ID: "1", Status: "success"}, {ID: "2", Status: "success"}}}, nil)
	v.Engine.Stored, v.Engine.Waiting = 24, 979
	for _, want := range []string{"stored 2 ", "of 1,002 ", "stored 24 ", "of 1,003 "} {
		if strings.HasSuffix(want, "24 ") {
			v.Now = v.Now.Add(stands)
		}
		if got := ansi.Strip(strings.Join(p.Draw(v), "\n")); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
