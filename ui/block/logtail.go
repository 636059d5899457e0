package block

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// LogRows are the newest records of one job, "" = of all jobs, the newest first. A record that
// says the same again and again takes one row: "23 times". Debug records are left
// out; so are, in a frozen view, those after its instant.
func LogRows(v *page.View, w, h int, job engine.JobID) []string {
	type line struct {
		of    *engine.LogRow
		times int
	}
	var lines []line
	for i := len(v.Logs) - 1; i >= 0; i-- {
		r := &v.Logs[i]
		if LevelRank(r.Level) < UsualLevel || job != "" && r.Job != job || v.Frozen && r.At.After(v.Now) {
			continue
		}
		if n := len(lines); n > 0 && saysTheSame(lines[n-1].of, r) {
			lines[n-1].times++
			continue
		}
		if len(lines) >= h {
			break
		}
		lines = append(lines, line{r, 1})
	}
	rows := make([]string, 0, len(lines))
	for _, l := range lines {
		times := ""
		if l.times > 1 {
			times = "  " + strconv.Itoa(l.times) + " times"
		}
		row := logRow(v, w-len(times), l.of, job == "", false)
		rows = append(rows, row+v.Row(len(times), part.As(themes.Dim, times)))
	}
	return rows
}

// logRow is the row of one record. named says that the rows around it are of several jobs, so that
// it has to name its own; here makes its text bright.
func logRow(v *page.View, w int, r *engine.LogRow, named, here bool) string {
	at := r.At.In(v.Now.Location()).Format("15:04:05.0")
	l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, at), 10, part.Words).Gap(2)
	l.Field(LevelSign(r.Level), 3, part.Words).Gap(1)
	text := part.Plain(r.Text)
	if here {
		text.Token = themes.Figure
	}
	l.Cells(text).Gap(1)
	for _, field := range tellingFields(r, named) {
		if safe.Width(field) >= l.Room() && l.Room() < leastField { // a sign or two of it tell nothing
			break
		}
		l.Gap(1).Put(themes.Dim, field)
	}
	return l.String()
}

// leastField is how many cells the rest of the row must have for a field of the record that does
// not fit to be begun: a sign or two of it would tell nothing.
const leastField = 16

// LogAround are the records before and after the one with a number, the newest first, h rows in
// all. There are none if the record is not among those that the console still knows.
func LogAround(v *page.View, w, h int, seq uint64) (rows []string) {
	at := slices.IndexFunc(v.Logs, func(r engine.LogRow) bool { return r.Seq == seq })
	if at < 0 || h < 2 {
		return nil
	}
	first := max(min(at-h/2, len(v.Logs)-h), 0)
	for i := min(first+h, len(v.Logs)) - 1; i >= first; i-- {
		rows = append(rows, logRow(v, w, &v.Logs[i], true, i == at))
	}
	return rows
}

// logKeys are the fields that say most about a record in the least room, the best first. The others
// are on the record's own page.
var logKeys = []string{"target", "match", "account", "bucket", "rule", "class", "err", "error"}

// tellingFields are those of a record, in that order, after its job where the rows are
// of several.
func tellingFields(r *engine.LogRow, named bool) (fields []string) {
	if named && r.Job != "" {
		fields = append(fields, "job="+string(r.Job))
	}
	for _, key := range logKeys {
		if value, ok := fieldOf(r, key); ok {
			fields = append(fields, key+"="+value)
		}
	}
	return fields
}

// fieldOf is what a record has under a key, as its row tells it.
func fieldOf(r *engine.LogRow, key string) (value string, ok bool) {
	for i := range r.Fields {
		if r.Fields[i].Key == key {
			return columns.InShort(r.Fields[i].Value), true
		}
	}
	return "", false
}

// saysTheSame reports whether the rows of two records differ in nothing but their time. It is asked of each record
// for each frame, and makes no text.
func saysTheSame(a, b *engine.LogRow) bool {
	return a.Text == b.Text && a.Job == b.Job && (slices.Equal(a.Fields, b.Fields) || !slices.ContainsFunc(logKeys, func(key string) bool {
		of, inA := fieldOf(a, key)
		is, inB := fieldOf(b, key)
		return of != is || inA != inB
	}))
}

// BeforeLog shares h rows between a list of n rows and the end of the log below it. The list has
// its rows in steps of four, so that the log does not move with each row. log = 0 means that there
// is no room for a log.
func BeforeLog(v *page.View, h, n int) (list, log int) {
	const step, least = 4, 3
	list = (n + step) / step * step // with its header
	if log = h - list - 2; log < least {
		return h, 0
	}
	return list, log
}

// LogPanel is the end of the log, the newest record first like the calls above it.
func LogPanel(v *page.View, w, h int) part.Section {
	return part.Section{Title: "LOG", Tail: v.Keyed("more on {logs}"), Height: h, Empty: "  " + cmp.Or(v.Waiting(), "nothing has been logged yet"),
		Rows: LogRows(v, w-1, h, "")} // its margin stays empty
}
