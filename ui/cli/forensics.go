package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Forensics prints what is known about one 429; a Seq of 0 in the query asks for the latest.
func Forensics(q engine.ForensicsQuery) List {
	return answered(q, forensics).otherwise(func(o Out, err error) error {
		if q.Seq != 0 || !errors.Is(err, engine.ErrNotFound) {
			return err
		}
		// That there was no 429 yet is good news, not a failure.
		if o.JSON {
			return o.json(nil)
		}
		return o.printSentence(err.Error())
	})
}

// forensics prints the call, what became clear of it, how the windows stood as each side counted them,
// and who spent them.
//
//	call 211, 2026-01-20 12:31:11: 429 (application) to match-v5.match on europe, retry after 10 s, job j655
func forensics(o Out, f engine.Forensics) error {
	c := f.Call
	head := human.List(
		fmt.Sprintf("call %d, %s: 429 (%s) to %s on %s", c.Seq, human.Stamp(c.At), f.Kind, c.Method, c.Host),
		human.If(c.RetryAfter > 0, "retry after "+human.Span(c.RetryAfter)), human.If(c.Job != "", "job "+string(c.Job)))
	_, _ = fmt.Fprintf(o.W, "%s\n%s\n", o.clean(head), o.clean(f.Text))
	if err := windows(o, f.Windows); err != nil {
		return err
	}
	return spent(o, f)
}

// windows prints how many calls we had counted in each window and how many the server had. A drift of
// +9 is nine calls that others made with this key.
func windows(o Out, list []engine.WindowCount) error {
	cols := []column{
		words("SCOPE"), figures("WINDOW"), figures("LIMIT"), figures("OURS"), figures("SERVER"), figures("DRIFT"),
	}
	return further(o, cols, list, func(w engine.WindowCount) []string {
		server, drift := "-", "-" // the answer did not tell of this window
		if w.Server >= 0 {
			server, drift = strconv.Itoa(w.Server), strconv.Itoa(w.Drift())
		}
		if w.Drift() > 0 { // below 0 its sign is there already: calls of ours that the server forgot
			drift = "+" + drift
		}
		return []string{w.Scope, human.Span(w.Window), strconv.Itoa(w.Limit), strconv.Itoa(w.Ours), server, drift}
	})
}

// spentWords say what is no method of Riot's.
var spentWords = map[string]string{"others": "others with this key", "before": "of ours, before what is recorded"}

// spent prints what filled the window, and the numbers of the other 429s that are still kept.
func spent(o Out, f engine.Forensics) error {
	err := further(o, []column{words("SPENT BY"), figures("CALLS")}, f.Spent, func(s engine.SpentCalls) []string {
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
