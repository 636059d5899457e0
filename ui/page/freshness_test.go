package page

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// What is late is said with when it is not, or that it stays so.
func TestFreshnessSaysWhenAllAreFresh(t *testing.T) {
	v := view(&Data{})
	for _, c := range []struct {
		late  int
		at    time.Time
		never bool
		says  string
		not   string
	}{
		{0, v.Now, false, "7 tracked", "late"},
		{2, v.Now.Add(70 * time.Minute), false, "2 late, all fresh in 1 h 10 min", "never"},
		{2, time.Time{}, true, "2 late, never all fresh", "fresh in"},
		{2, time.Time{}, false, "2 late", "fresh"},
	} {
		f := Freshness{Data: engine.Freshness{Accounts: 7, Lates: c.late, FreshAt: c.at, Never: c.never, Text: "needs 1 of 2 calls per hour in europe"}}
		if got := f.Text(v); !strings.Contains(got, c.says) || strings.Contains(got, c.not) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
