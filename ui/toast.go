package ui

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// toastLife is how long a message stays on the line, by its level. Errors are not in it: they stay
// until esc.
var toastLife = map[engine.Level]time.Duration{
	engine.LevelOK: 4 * time.Second, engine.LevelInfo: 4 * time.Second, engine.LevelWarn: 10 * time.Second,
}

// toastWord is the word in front of a message.
var toastWord = columns.LevelWord

// keptNotes is how many messages are kept for the list behind the line.
const keptNotes = 200

// toast is a message on the line.
type toast struct {
	engine.Note
	text string         // what the line shows of it
	zone *time.Location // for which that was written
	end  time.Time      // zero = until esc
}

// toasts are the messages on the line, the newest last, and all there were.
type toasts struct {
	shown []toast
	all   []engine.Note
	n     int // how many there ever were
}

// add puts a message on the line, in front of those that are there. It stays for as long as its
// level says; an error stays until esc.
func (t *toasts) add(n engine.Note, now time.Time) {
	if n.At.IsZero() {
		n.At = now
	}
	// Without a life in toastLife its end stays zero: an error is not taken away by time.
	shown := toast{Note: n}
	if life, ok := toastLife[n.Level]; ok {
		shown.end = now.Add(life)
	}
	if last := len(t.shown) - 1; last >= 0 && t.shown[last].Level == n.Level && t.shown[last].Text == n.Text {
		t.shown = t.shown[:last] // the same answer to each key of a row of them
	}
	t.shown = append(t.shown, shown)
	t.all = append(t.all, n)
	t.n++
	// The list would grow for as long as the console is open.
	if over := len(t.all) - keptNotes; over > 0 {
		t.all = slices.Delete(t.all, 0, over)
	}
	if over := len(t.shown) - keptNotes; over > 0 {
		t.shown = slices.Delete(t.shown, 0, over)
	}
}

// expire drops what has been shown long enough.
func (t *toasts) expire(now time.Time) {
	t.shown = slices.DeleteFunc(t.shown, func(x toast) bool { return !x.end.IsZero() && !x.end.After(now) })
}

// next is when the first message fades; zero = none does.
func (t *toasts) next(now time.Time) time.Time {
	var at time.Time
	for _, x := range t.shown {
		if !x.end.IsZero() && x.end.After(now) {
			at = earlier(x.end, at)
		}
	}
	return at
}

// top is what the message line shows.
func (t *toasts) top(zone *time.Location) part.Toast {
	n := len(t.shown)
	if n == 0 {
		return part.Toast{}
	}
	x := &t.shown[n-1]
	if x.zone != zone { // once, and not in each frame
		x.text, x.zone = glanced(&x.Note, zone), zone
	}
	return part.Toast{Word: toastWord[x.Level], Text: x.text, At: x.At.In(zone).Format("15:04:05"), More: n - 1}
}

// Nobody reads an id or a revision in the few seconds for which a message is shown; the list of messages keeps them.
var matchID = regexp.MustCompile(`\b(?:(match|timeline):)?[A-Z]{2,4}\d?_\d+\b| \(rev \d+\)`)

// glanced is a message without ids, and with instants as the clock shows them: of "job c405 is due at
// 2026-11-29T11:50:16Z" the message line says "the job is due at 12:50:16".
func glanced(n *engine.Note, zone *time.Location) string {
	text := page.Clocked(n.Text, n.At.In(zone))
	if n.Job != "" {
		text = regexp.MustCompile(`\b(?:job )?`+regexp.QuoteMeta(string(n.Job))+`\b`).ReplaceAllString(text, "the job")
	}
	return matchID.ReplaceAllStringFunc(text, func(said string) string {
		if said[0] == ' ' {
			return ""
		}
		return human.Either(strings.HasPrefix(said, "timeline:"), "the timeline", "the match")
	})
}

// earlier is the first of two instants of which b may be zero, which means none.
func earlier(a, b time.Time) time.Time { return human.Either(b.IsZero() || a.Before(b), a, b) }
