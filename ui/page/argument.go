package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
)

// ReadArg reads what an operation needs besides its target, such as "+10m a deploy", into
// its command, or says what is wrong with it.
func ReadArg(c *engine.Command, text string, now time.Time) (wrong string) {
	o := operation.Of(c.Op)
	ok := true
	switch text = strings.TrimSpace(text); o.Arg {
	case operation.Why:
		c.Reason, ok = text, text != ""
	case operation.When:
		when, why, _ := strings.Cut(text, " ")
		c.Reason = strings.TrimSpace(why)
		c.At, ok = whenOf(when, now)
	case operation.Share:
		return readShare(c, text, now)
	case operation.Plan:
		c.Expr, c.Zone, wrong = readPlan(text)
		return wrong
	}
	if !ok {
		return o.Needs
	}
	return ""
}

// AskArg asks for what an operation needs besides its target.
func AskArg(c engine.Command, label, ghost string) Effect {
	return Effect{Text: &Text{Label: label, Ghost: ghost, Read: func(text string, now time.Time) (engine.Command, string) {
		c := c
		wrong := ReadArg(&c, text, now)
		return c, wrong
	}}}
}

// readShare reads "60% until 14:00 deploy of the site": a cap, an end, a reason.
func readShare(c *engine.Command, text string, now time.Time) (wrong string) {
	words := strings.Fields(strings.ReplaceAll(text, " %", "%"))
	for len(words) > 0 {
		n, fault := freezeWord(&c.Bucket, words, now)
		if fault != "" {
			return fault
		}
		if n == 0 {
			break
		}
		words = words[n:]
	}
	c.Reason = strings.Join(words, " ")
	switch {
	case c.Bucket.Until.IsZero() && c.Bucket.Cap == 0:
		return "say how long, then why: +10m deploy, until 14:00 deploy, or a cap: 60% deploy"
	case c.Reason == "":
		return "say why behind it, as in " + strings.TrimSpace(text) + " deploy: the reason stands beside the bucket and in the audit"
	}
	return ""
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

// whenOf reads an instant: +10m, 14:00, now; ok is false for anything else.
func whenOf(text string, now time.Time) (time.Time, bool) {
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

// readPlan parts the expression from the zone behind it. Whether either can be read is
// for the engine to say.
func readPlan(text string) (expr, zone, wrong string) {
	words := strings.Fields(text)
	n := 5
	switch {
	case len(words) > 0 && words[0] == "@every":
		n = 2
	case len(words) > 0 && words[0][0] == '@':
		n = 1
	}
	n = min(n, len(words))
	switch rest := words[n:]; len(rest) {
	case 0:
	case 1:
		zone = rest[0]
	default:
		return "", "", `write a schedule and its zone, such as 0 */2 * * * Asia/Seoul`
	}
	return strings.Join(words[:n], " "), zone, ""
}
