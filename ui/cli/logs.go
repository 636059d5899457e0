package cli

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/farsight-console/farsight/engine"
)

// NoLogs says that no record is kept, or none fits. all says that every record was asked for. As JSON
// nothing is printed: there is no line for what is not there.
func NoLogs(o Out, all bool) error {
	switch {
	case o.JSON:
		return nil
	case all:
		return o.printSentence("no record is kept: an engine writes them while it runs")
	}
	return o.printSentence("no record of the log fits: `farsight logs --limit 0` shows all that is kept")
}

// Logs prints records of the log, one line each, in the order given. They are cut to the width of a
// terminal; without one they are whole.
func Logs(o Out, rows []engine.LogRow) error {
	if o.JSON {
		return lines(o, rows)
	}
	w := bufio.NewWriter(o.W)
	for _, r := range rows {
		line := o.clean(logLine(r))
		if o.Width > 0 {
			line = o.cut(line, o.Width)
		}
		_, _ = w.WriteString(line)
		_ = w.WriteByte('\n')
	}
	return w.Flush()
}

// logLine is a record in columns of fixed widths:
//
//	2026-01-20 12:31:34.980 WARN  riot     503 service unavailable try=2 next=60s
func logLine(r engine.LogRow) string {
	at := r.At.Local().Format("2006-01-02 15:04:05.000")
	return fmt.Sprintf("%s %-5s %-8s %s", at, strings.ToUpper(r.Level), r.Area, r.Line())
}
