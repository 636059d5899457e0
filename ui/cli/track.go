package cli

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// developmentPace is what a development key allows, for as long as nobody knows
// better: 100 calls in 120 s.
const developmentPace = 1200 * time.Millisecond

// TrackCost says what a list will take, before it is tracked. r is the receipt of
// a dry run; engineRuns says whether there is an engine that begins at once.
func TrackCost(o Out, r engine.Receipt, engineRuns bool) error {
	switch {
	case o.JSON:
		return JSON(o, r)
	case r.Cost == nil: // the receipt says why
		return nil
	}
	_, err := fmt.Fprintln(o.W, costLine(r, time.Now(), engineRuns))
	return err
}

// costLine names calls, beginning and end of the first look at the new accounts.
//
//	the first look begins at once, and takes about 2,011 calls, 40 min,
//	until Tue 2026-01-20 13:12 (paced by the europe 2 min window)
func costLine(r engine.Receipt, now time.Time, engineRuns bool) string {
	if r.Cost.Calls == 0 {
		return "no account is new: this costs no calls"
	}
	takes, by := r.Cost.Takes, "paced by the "+engine.LimitWords(r.Cost.Bucket)+" window"
	if takes == 0 { // no engine has learnt the limits yet
		takes = time.Duration(r.Cost.Calls) * developmentPace
		by = "at a development key's 100 calls per 2 minutes"
	}
	cost := fmt.Sprintf("takes %s, %s", r.Cost.CallsText(), human.Span(takes))
	if !engineRuns {
		return fmt.Sprintf("the first look begins when an engine runs, and %s (%s)", cost, by)
	}
	until := now.Add(takes).Format("Mon 2006-01-02 15:04")
	return fmt.Sprintf("the first look begins at once, and %s, until %s (%s)", cost, until, by)
}

// Tracked prints the receipt of a track command.
func Tracked(o Out, r engine.Receipt) error {
	if o.JSON {
		return JSON(o, r)
	}
	_, err := fmt.Fprintln(o.W, o.clean(r.Text))
	return err
}
