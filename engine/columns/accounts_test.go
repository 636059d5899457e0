package columns

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// B-6: what is told of an account's matches adds up to what was listed, in its columns and in a sentence.
func TestB6_CountsOfAnAccountAddUp(t *testing.T) {
	number := regexp.MustCompile(`\d[\d,]*`)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SliceOfN(rapid.IntRange(0, 2000), 7, 7).Draw(t, "counts")
		p := engine.Progress{Stored: n[0], Had: n[1], Failed: n[2], TooOld: n[3], Unaskable: n[4], Cancelled: n[5], Open: n[6]}
		for _, n := range n {
			p.Total += n
		}
		row, sum := account{Matches: p, Status: engine.SyncCompleted, Result: "incomplete"}, 0
		for _, name := range []string{"new", "had", "open", "failed", "too_old", "unaskable", "cancelled"} {
			c := Accounts.Pick(name)[0]
			n, ok := c.JSON(&row).(int)
			if !ok {
				t.Fatalf("%s is %v", name, c.JSON(&row))
			}
			sum += n
		}
		if sum != p.Total || p.Done()+p.Cancelled+p.Open != p.Total {
			t.Errorf("the counts add up to %d and %d, listed are %d", sum, p.Done()+p.Cancelled+p.Open, p.Total)
		}
		var told []int // had, of all, and each gap
		for _, word := range number.FindAllString(SyncText(row), -1) {
			n, _ := strconv.Atoi(strings.ReplaceAll(word, ",", ""))
			told = append(told, n)
		}
		if sum = told[0]; len(told) > 2 {
			for _, n := range told[2:] {
				sum += n
			}
		}
		if sum != told[1] || told[1] != p.Total {
			t.Errorf("%q of %+v", SyncText(row), p)
		}
	})
}

// TestATimelineThatIsTriedAgainIsCounted: else no account seems to have one of the retries of an outage.
func TestATimelineThatIsTriedAgainIsCounted(t *testing.T) {
	row := account{Matches: engine.Progress{Retrying: 1}, Timelines: engine.Progress{Retrying: 2}}
	if n := Accounts.Pick("retrying")[0].JSON(&row); n != 3 {
		t.Errorf("%v are retrying, want 3", n)
	}
}
