package cli

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// B-6: the summary of a sync, as a line and as JSON, adds up to what was listed.
func TestB6_TheSummaryOfASyncAddsUp(t *testing.T) {
	number := regexp.MustCompile(`\d[\d,]*`)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SliceOfN(rapid.IntRange(0, 2000), 7, 7).Draw(t, "counts")
		row := engine.AccountRow{RiotID: "Ana#EUW", Result: ResultIncomplete, Matches: engine.Progress{
			Stored: n[0], Had: n[1], Failed: n[2], TooOld: n[3], Unaskable: n[4], Cancelled: n[5], Open: n[6]}}
		for _, n := range n {
			row.Matches.Total += n
		}
		sum := summarize(row, time.Now())
		if c := sum.Matches; c.Success+c.Temporary+c.Permanent+c.TooOld+c.Unaskable+c.Cancelled != c.Total {
			t.Errorf("%+v", c)
		}
		var text strings.Builder
		if err := (&show{out: Out{W: &text}}).end(sum); err != nil {
			t.Fatal(err)
		}
		matches, _, _ := strings.Cut(text.String(), ";")
		told := 0
		for _, word := range number.FindAllString(matches, -1) {
			n, _ := strconv.Atoi(strings.ReplaceAll(word, ",", ""))
			told += n
		}
		if told != row.Matches.Total {
			t.Errorf("%q of %d", text.String(), row.Matches.Total)
		}
	})
}
