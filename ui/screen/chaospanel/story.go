package chaospanel

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// telling are the areas of the log that say what the engine made of a fault.
var telling = []string{"limiter", "riot", "jobs", "engine", "storage"}

// untold are records of single calls and attempts, which the table counts, and what
// is told as a message besides.
var untold = []string{"call ", "attempt ", "command", "handler panicked"}

// said is one line of what happened, from a message or from the log.
type said struct {
	at    time.Time
	level string // as the log names it
	text  string
	times int
}

// noteLevels are the levels of messages as the log names them.
var noteLevels = map[engine.Level]string{engine.LevelOK: "info", engine.LevelInfo: "info", engine.LevelWarn: "warn",
	engine.LevelErr: "error"}

// storyRows joins messages and records of the log, the newest first. What repeats
// is told once.
// Clocks have one width, so that the texts stand below each other.
func storyRows(v *page.View, w, h int) []string {
	var rows []string
	story, when := storyOf(v, h), 0
	for _, s := range story {
		when = max(when, len(v.Clock(s.at)))
	}
	for _, s := range story {
		times := ""
		if s.times > 1 {
			times = " ×" + page.Count(s.times)
			if v.Theme.ASCII() {
				times = " x" + page.Count(s.times)
			}
		}
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, v.Clock(s.at)), when, part.Words).Gap(2)
		rows = append(rows, l.Cells(block.LevelSigns[s.level]).Gap(1).
			Cells(part.Plain(s.text), part.As(themes.Dim, times)).String())
	}
	if len(rows) == 0 {
		rows = append(rows, v.Row(w,
			part.As(themes.Dim, " nothing yet "+v.Theme.Glyphs.Sep+
				v.Keyed(" {inject} injects the selected fault once"))))
	}
	return rows
}

// storyOf gives the newest h lines.
// Only lines that follow each other are joined: the same fault an hour later is news.
func storyOf(v *page.View, h int) []said {
	var all []said
	for _, n := range v.Notes {
		all = append(all, said{n.At, noteLevels[n.Level], n.Text, 1})
	}
	for i := range v.Logs {
		if r := &v.Logs[i]; tells(r) {
			all = append(all, said{r.At, r.Level, recordText(r), 1})
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return b.at.Compare(a.at) })
	var out []said
	for _, s := range all {
		if n := len(out); n > 0 && out[n-1].text == s.text {
			out[n-1].times++
			continue
		}
		if len(out) == h {
			break
		}
		out = append(out, s)
	}
	return out
}

// tells reports whether a record belongs to the story: not every call does, and what
// is told as a message is not told twice.
func tells(r *engine.LogRow) bool {
	return r.Level != "debug" && slices.Contains(telling, r.Area) &&
		!slices.ContainsFunc(untold, func(text string) bool { return strings.HasPrefix(r.Text, text) })
}

// shownFields are those that say where and how long.
var shownFields = []string{"route", "method", "bucket", "type", "kind", "jobs", "took", "boot", "err"}

// recordText is a record with the fields that matter, such as "bucket held bucket=app:100:120
// took=10s".
func recordText(r *engine.LogRow) string {
	var b strings.Builder
	b.WriteString(r.Text)
	for _, f := range r.Fields {
		if slices.Contains(shownFields, f.Key) {
			b.WriteString(" " + f.Key + "=" + f.Value)
		}
	}
	return b.String()
}
