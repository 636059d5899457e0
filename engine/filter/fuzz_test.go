package filter_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"state:retrying,snoozed age<1d -queue:report.*", `"a b" -/x\/(y)/ ~fz`, ">12:30 due<=@now-1h30m", `key:match:KR_72* err:"" try:5x?`, `a\`, "-", "카인 queu:x", "/(/", "size:1.5KB", "state:c", "\xff",
	} {
		f.Add(seed, len(seed))
	}
	f.Fuzz(func(t *testing.T, query string, at int) {
		for _, x := range columns.Jobs.Complete(query, at) {
			if x.From < 0 || x.To < x.From || x.To > len(query) {
				t.Errorf("Complete(%q, %d) replaces %d:%d", query, at, x.From, x.To)
			}
		}
		p, err := filter.Parse(query, columns.Jobs.Schema)
		if err != nil {
			checkError(t, query, err)
			return
		}
		for i := range jobs {
			p.Match(&jobs[i], noon)
		}
		again, err := filter.Parse(p.String(), columns.Jobs.Schema)
		tooLong := len(p.String()) > 2000 // quotes and full names make it longer
		if !tooLong && (err != nil || again.String() != p.String() || again.Empty() != p.Empty()) {
			t.Errorf("%q is %q, which parses to %q, %v", query, p.String(), again.String(), err)
		}
	})
}

func checkError(t *testing.T, query string, err error) {
	e, ok := errors.AsType[*filter.Error](err)
	if !ok || e.At < 0 || e.End < e.At || e.End > len(query) || e.Cell < 0 || e.Cells < 1 || e.Sentence == "" {
		t.Errorf("Parse(%q): %#v", query, err)
		return
	}
	if utf8.ValidString(query) && !utf8.ValidString(query[e.At:e.End]) {
		t.Errorf("Parse(%q) marks part of a character: %d:%d", query, e.At, e.End)
	}
}
