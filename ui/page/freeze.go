package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
)

// steerBucket resumes a bucket that is frozen or capped, and else asks until when
// and why it shall be. A host's windows are frozen together, and so are those of
// a method: that is how Riot counts them.
func steerBucket(b engine.BucketRow) Effect {
	at := engine.Bucket{Host: b.Host, Method: b.Method}
	if frozen(b) || b.Cap > 0 {
		return do(engine.Command{Op: engine.OpThaw, Bucket: at})
	}
	return Effect{Text: &Text{
		Label: "freeze " + b.Host + " " + columns.Versionless(or(b.Method, b.Kind)),
		Ghost: "+10m or until 14:00, or a cap: 60% +10m; then why",
		Read: func(text string, now time.Time) (engine.Command, string) {
			c, wrong := FreezeOf(text, now)
			c.Bucket.Host, c.Bucket.Method = at.Host, at.Method
			return c, wrong
		},
	}}
}

// FreezeOf reads "60% until 14:00 deploy of the site": a cap, an end, a reason.
func FreezeOf(text string, now time.Time) (c engine.Command, wrong string) {
	c.Op = engine.OpFreeze
	words := strings.Fields(strings.ReplaceAll(text, " %", "%"))
	for len(words) > 0 {
		n, fault := freezeWord(&c.Bucket, words, now)
		if fault != "" {
			return c, fault
		}
		if n == 0 {
			break
		}
		words = words[n:]
	}
	c.Reason = strings.Join(words, " ")
	switch {
	case c.Bucket.Until.IsZero() && c.Bucket.Cap == 0:
		return c, "say how long, then why: +10m deploy, until 14:00 deploy, or a cap: 60% deploy"
	case c.Reason == "":
		return c, "say why behind it, as in " + strings.TrimSpace(text) + " deploy: the reason stands beside the bucket and in the audit"
	}
	return c, ""
}

// freezeWord takes what the words begin with into b and says how many words that
// was; 0 = the reason begins.
func freezeWord(b *engine.Bucket, words []string, now time.Time) (n int, wrong string) {
	word := words[0]
	switch {
	case word == "until" && len(words) == 1:
		return 0, "until when? write until 14:00"
	case word == "until":
		at, ok := clockAfter(words[1], now)
		if !ok {
			return 0, words[1] + " is no time of day: write until 14:00"
		}
		b.Until = at
		return 2, ""
	case strings.HasSuffix(word, "%"):
		percent, err := strconv.Atoi(strings.TrimSuffix(word, "%"))
		if err != nil || percent < 1 || percent > 99 {
			return 0, word + " is no cap: write 1% to 99%, or only an end to stop all calls"
		}
		b.Cap = percent
		return 1, ""
	}
	if at, ok := clockAfter(word, now); ok {
		b.Until = at
		return 1, ""
	}
	if d, err := time.ParseDuration(strings.TrimPrefix(word, "+")); err == nil && d > 0 {
		b.Until = now.Add(d)
		return 1, ""
	}
	if strings.HasPrefix(word, "+") {
		return 0, word + " is no duration: write +90s, +10m or +2h"
	}
	return 0, ""
}

// clockAfter is the next time the clock shows text, 14:00.
func clockAfter(text string, now time.Time) (time.Time, bool) {
	clock, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{}, false
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if !at.After(now) {
		at = time.Date(now.Year(), now.Month(), now.Day()+1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	return at, true
}

// WhenOf reads an instant: +10m, 14:00, now; ok is false for anything else.
func WhenOf(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if text == "now" {
		return now, true
	}
	if at, ok := clockAfter(text, now); ok {
		return at, true
	}
	d, err := time.ParseDuration(strings.TrimPrefix(text, "+"))
	return now.Add(d), err == nil && d >= 0
}

// rescheduleJob asks when a waiting job shall run.
func rescheduleJob(v *View, j engine.JobRow) Effect {
	j = v.liveJob(j)
	return Effect{Text: &Text{
		Label: "run " + columns.JobKey(&j.Job) + " at", Ghost: "+10m, 14:00 or now",
		Read: func(text string, now time.Time) (engine.Command, string) {
			at, ok := WhenOf(text, now)
			if !ok {
				return engine.Command{}, "write when: +10m, 14:00 or now"
			}
			return engine.Command{Op: engine.OpReschedule, Job: j.ID, IfRev: j.Rev, At: at}, ""
		},
	}}
}
