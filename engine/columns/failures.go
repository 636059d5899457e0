package columns

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type class = engine.ClassRow

// Classes is what is told of failures of one fingerprint.
// The id is what `--class` takes: a class, and a hash of where it happened and of its words.
//
//	CLASS         JOBS  SHARE  WAIT  DEAD  FIRST    LAST      WHERE
//	503:1f2e3d4c  12    86 %   9     3     2 h ago  41 s ago  europe match-v5.match
var Classes = catalogue(filter.Options{
	Free: []string{"class", "method", "host", "err"}, Fuzzy: []string{"method", "err"}, When: "last",
},
	name("class", "429.app, 5xx, timeout", func(r *class) engine.Class { return r.Class }).
		head("CLASS", table.Words, 9, 11).colour(themes.Err).rising(),
	name("method", "", func(r *class) string { return r.Method }),
	name("host", "europe, kr", func(r *class) string { return r.Host }),
	prose("err", "of the latest one", func(r *class) string { return r.Error }).
		head("LATEST ERROR", table.Sentence, 23, 40).flex(1).drop(4).
		says(func(r *class) string { return InShort(r.Error) }),
	number("jobs", "", func(r *class) int { return r.Jobs }).head("JOBS", table.Number, 4, 6).rising(),
	number("waiting", "", func(r *class) int { return r.Waiting }).head("WAIT", table.Number, 4, 5).
		dimZero(themes.Retry).rising().line("WAIT", table.Number, 0),
	number("discarded", "", func(r *class) int { return r.Dead }).head("GAVE UP", table.Number, 7, 7).
		dimZero(themes.Err).rising().line("DEAD", table.Number, 0),
	past("first", "", func(r *class) time.Time { return r.First }).head("FIRST", table.Number, 6, 6).drop(3).
		colour(themes.Dim).penned(func(p Pen, r *class) string { return p.Age(r.First) }).greatestFirst(),
	past("last", "", func(r *class) time.Time { return r.Last }).head("LAST", table.Number, 6, 6).drop(1).
		colour(themes.Dim).penned(func(p Pen, r *class) string { return p.Age(r.Last) }).greatestFirst(),
	shown[class]("id").line("CLASS", table.Words, 0).prints(func(r *class) string { return r.ID }),
	shown[class]("where").head("WHERE", table.Words, 18, 22).drop(2).reads(ClassWhere).
		line("", table.Words, 1).prints(func(r *class) string { return strings.TrimSpace(r.Host + " " + r.Method) }),
	shown[class]("answer").head("LAST ANSWER", table.ID, 15, 22).reads(ClassAnswer),
	shown[class]("share").head("SHARE", table.Progress, 5, 14).tail(5).
		sort(func(a, b *class) int { return cmp.Compare(a.Share, b.Share) }).
		cell(func(_ Pen, r *class) table.Cell {
			return table.Cell{Text: human.Percent(r.Share), Ratio: r.Share, Token: themes.Err}
		}).line("", table.Number, 0).prints(func(r *class) string { return fmt.Sprintf("%.0f %%", 100*r.Share) }),
)

// Where error classes are shown, with the columns in their order.
var (
	ClassList = Classes.Pick("answer where jobs share waiting discarded first last").fit("first", 6, 6, 3).
			fit("last", 6, 6, 1)
	ClassLines = Classes.Pick("id jobs share waiting discarded first last where err")
)

// ClassAnswer is what the jobs of a class failed with: 503 unavailable.
func ClassAnswer(r *class) string { return Answer(r.Class, r.Error) }

// ClassWhere is host and method of a class, as the limits call them: asia match.
func ClassWhere(r *class) string {
	return strings.TrimSpace(r.Host + " " + engine.MethodWord(r.Method))
}

// Versionless takes the version out of a method's name: match-v5.ids is match.ids. The version is
// Riot's business, and a list has other uses for its room.
func Versionless(method string) string {
	at := strings.Index(method, "-v")
	if at < 0 {
		return method
	}
	rest := strings.TrimLeft(method[at+2:], "0123456789")
	return method[:at] + rest
}
