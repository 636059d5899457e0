package matches

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
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
