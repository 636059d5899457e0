package cli

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Freshness prints what keeping the tracked accounts fresh needs, beside what the
// key allows.
func Freshness() List { return answered(engine.FreshnessQuery{}, freshness) }

// freshness prints a sentence, what each region needs of what it allows, and the accounts that were
// not looked at in time. An engine sends the first of those and their number.
func freshness(o Out, f engine.Freshness) error {
	_, _ = fmt.Fprintf(o.W, "%s tracked accounts: %s\n", count(f.Accounts), o.clean(f.Text))
	if f.Outlook != "" {
		_, _ = fmt.Fprintln(o.W, o.clean(f.Outlook))
	}
	cols := []column{words("REGION"), figures("NEEDS/H"), figures("ALLOWED/H"), figures("SHARE"), wide("TIGHTEST")}
	err := further(o, cols, f.Regions, func(r engine.FreshnessHost) []string {
		return []string{r.Region, perHour(r.Needs), perHour(r.Allowed), share(r.Needs, r.Allowed), engine.LimitWords(r.Bucket)}
	})
	if err != nil {
		return err
	}
	now := time.Now()
	cols = []column{wide("LATE ACCOUNT"), words("LAST SYNC"), figures("EVERY")}
	err = further(o, cols, f.Late, func(a engine.LateAccount) []string {
		return []string{a.RiotID, human.SpanAgo(a.Last, now), human.Span(a.Cadence)}
	})
	if err != nil || f.Lates <= len(f.Late) {
		return err
	}
	_, err = fmt.Fprintf(o.W, "and %s more\n", count(f.Lates-len(f.Late)))
	return err
}

// perHour prints calls per hour, rounded; "?" when nobody knows yet: a region's limits are learnt from
// its first answer.
func perHour(n float64) string { return human.Either(n <= 0, "?", count(int(n+0.5))) }

// share says how much of what is allowed is needed: "4 %", and more than 100 % where the accounts
// cannot be kept fresh. "-" = nobody knows what is allowed.
func share(needs, allowed float64) string {
	return human.Either(allowed <= 0, "-", fmt.Sprintf("%.0f %%", 100*needs/allowed))
}
