package page

import (
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// logRows are the newest records, of one job or of all, the newest first.
func logRows(v *View, w, h int, job engine.JobID) []string {
	rows := make([]string, 0, max(h, 0))
	for i := len(v.Logs) - 1; i >= 0 && len(rows) < h; i-- {
		r := &v.Logs[i]
		if levelRank(r.Level) < usualLevel || job != "" && r.Job != job || v.Frozen && r.At.After(v.Now) {
			continue
		}
		rows = append(rows, logRow(v, w, r, job == "", false))
	}
	return rows
}

// logRow is one record; named says that the rows are of several jobs.
func logRow(v *View, w int, r *engine.LogRow, named, here bool) string {
	l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, r.At.In(v.Now.Location()).Format("15:04:05.0")), 10, part.Words).Gap(2)
	l.Field(levelSign(r.Level), 3, part.Words).Gap(1)
	text := part.Plain(r.Text + " ")
	if here {
		text.Token = themes.Figure
	}
	return l.Cells(text, part.As(themes.Dim, tellingFields(r, named))).String()
}

// logAround are the records before and after one, the newest first; none when it is not among
// those that are known.
func logAround(v *View, w, h int, seq uint64) (rows []string) {
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

// logKeys are the fields that say most of a record in the least room.
var logKeys = []string{"target", "match", "account", "bucket", "rule", "class", "err", "error"}

// tellingFields are those of a record, in that order, after its job where the rows are
// of several.
func tellingFields(r *engine.LogRow, named bool) string {
	var b strings.Builder
	if named && r.Job != "" {
		b.WriteString(" job=" + string(r.Job))
	}
	for _, key := range logKeys {
		for i := range r.Fields {
			if r.Fields[i].Key == key {
				b.WriteString(" " + key + "=" + columns.InShort(r.Fields[i].Value))
			}
		}
	}
	return b.String()
}
