package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// NoLogs says that no record is kept, or none fits.
func NoLogs(o Out, all bool) error {
	switch {
	case o.JSON:
		return nil
	case all:
		return o.say("no record is kept: an engine writes them while it runs")
	}
	return o.say("no record of the log fits: `farsight logs --last 0` shows all that is kept")
}

// Logs prints records of the log, one line each, in the order given.
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

// logWords are levels as wide as each other.
var logWords = map[string]string{"debug": "DEBUG", "info": "INFO ", "warn": "WARN ", "error": "ERROR"}

func logLine(r engine.LogRow) string {
	return fmt.Sprintf("%s %s %-8s %s", r.At.Local().Format("2006-01-02 15:04:05.000"), logWords[r.Level], r.Area, r.Line())
}

// Forensics prints what is known about one 429.
func Forensics(q engine.ForensicsQuery) List {
	l := answered(q, forensics)
	return document(func(ctx context.Context, c engine.Console, o Out) error {
		err := l.show(ctx, c, o)
		if q.Seq == 0 && errors.Is(err, engine.ErrNotFound) {
			return noneKnown(o, err)
		}
		return err
	})
}

func forensics(o Out, f engine.Forensics) error {
	head := fmt.Sprintf("call %d, %s: 429 (%s) to %s on %s", f.Call.Seq, human.Stamp(f.Call.At), f.Kind, f.Call.Method, f.Call.Host)
	if f.Call.RetryAfter > 0 {
		head += ", retry after " + human.Span(f.Call.RetryAfter)
	}
	if f.Call.Job != "" {
		head += ", job " + string(f.Call.Job)
	}
	_, _ = fmt.Fprintf(o.W, "%s\n%s\n", o.clean(head), o.clean(f.Text))
	if err := windows(o, f.Windows); err != nil {
		return err
	}
	return spent(o, f)
}

// noneKnown is good news, not a failure.
func noneKnown(o Out, why error) error {
	if o.JSON {
		return o.json(nil)
	}
	_, err := fmt.Fprintln(o.W, o.clean(why.Error()))
	return err
}

func windows(o Out, list []engine.WindowCount) error {
	cols := []column{{Title: "SCOPE"}, {Title: "WINDOW", Kind: number}, {Title: "LIMIT", Kind: number}, {Title: "OURS", Kind: number}, {Title: "SERVER", Kind: number}, {Title: "DRIFT", Kind: number}}
	return tableOf(o, cols, list, func(w engine.WindowCount) []string {
		server, drift := "-", "-"
		if w.Server >= 0 {
			server, drift = strconv.Itoa(w.Server), strconv.Itoa(w.Drift())
		}
		if w.Drift() > 0 {
			drift = "+" + drift
		}
		return []string{w.Scope, human.Span(w.Window), strconv.Itoa(w.Limit), strconv.Itoa(w.Ours), server, drift}
	})
}

// spentWords say what is no method.
var spentWords = map[string]string{"others": "others with this key", "before": "of ours, before what is recorded"}

func spent(o Out, f engine.Forensics) error {
	err := tableOf(o, []column{{Title: "SPENT BY"}, {Title: "CALLS", Kind: number}}, f.Spent, func(s engine.SpentCalls) []string {
		return []string{cmp.Or(spentWords[s.What], s.What), count(s.Calls)}
	})
	if err != nil || len(f.Others) == 0 {
		return err
	}
	words := make([]string, len(f.Others))
	for i, seq := range f.Others {
		words[i] = strconv.FormatUint(seq, 10)
	}
	_, err = fmt.Fprintf(o.W, "\nother 429s: %s; `farsight forensics CALL` shows one\n", strings.Join(words, ", "))
	return err
}
