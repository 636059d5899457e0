package filter

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine/safe"
)

var (
	seoul = time.FixedZone("KST", 9*3600)
	noon  = time.Date(2026, 11, 20, 12, 31, 35, 0, seoul)
)

// field makes a field that does not depend on the present.
func field(name string, kind Kind, value func(*thing) Value) Field[thing] {
	return Field[thing]{Name: name, Kind: kind, Value: func(row *thing, _ time.Time) Value { return value(row) }}
}

func ofColor(f Field[thing]) Field[thing] { f.Words = colors; return f }

// thing is a row with one field of each kind.
type thing struct {
	name, prose string
	tags        []string
	number      int
	age         time.Duration
	past, ahead time.Time
	color       int // 0 = none
}

var colors = []Word{{Name: "red", Bits: 1}, {Name: "green", Aliases: []string{"lime"}, Bits: 2}, {Name: "dark green", Bits: 4}, {Name: "greenish", Bits: 6}}

var things = New(Options{Free: []string{"name", "prose", "tag", "number", "color"}, Fuzzy: []string{"name"}, Age: "age", When: "past", Keys: []string{"match"}},
	field("name", Name, func(r *thing) Value { return Text(r.name) }),
	field("prose", Prose, func(r *thing) Value { return Text(r.prose) }),
	field("tag", Name, func(r *thing) Value { return Texts(&r.tags) }),
	field("number", Number, func(r *thing) Value { return Count(r.number) }),
	field("age", Duration, func(r *thing) Value { return Span(r.age) }),
	field("past", Past, func(r *thing) Value { return At(r.past) }),
	field("ahead", Ahead, func(r *thing) Value { return At(r.ahead) }),
	ofColor(field("color", Enum, func(r *thing) Value { return Bits(1 << r.color >> 1) })),
	Field[thing]{Name: "text", Of: []string{"name", "prose"}},
)

// wish is a term as a test makes it: the query it is written as, and a slow
// answer that shares no code with the package.
type wish struct {
	query string
	holds func(thing) bool
}

var letterGen = rapid.SampledFrom([]rune("aAbB1_kKſKéÉσςΣ카인 .,:\"\\*?-/~<>=!\t\xa0"))

// textGen is text as received: now and then broken UTF-8.
func textGen(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := string(rapid.SliceOfN(letterGen, 0, most).Draw(t, "letters"))
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			s += "\xff\xea"
		}
		return s
	})
}

func thingGen(t *rapid.T) thing {
	at := func(label string) time.Time {
		if rapid.IntRange(0, 4).Draw(t, label+" none") == 0 {
			return time.Time{}
		}
		return noon.Add(time.Duration(rapid.IntRange(-200_000, 200_000).Draw(t, label)) * time.Second)
	}
	return thing{
		name: textGen(6).Draw(t, "name"), prose: textGen(12).Draw(t, "prose"), tags: rapid.SliceOfN(textGen(4), 0, 2).Draw(t, "tags"),
		number: rapid.IntRange(-3, 120).Draw(t, "number"), age: time.Duration(rapid.IntRange(0, 200_000).Draw(t, "age")) * time.Second / 2,
		past: at("past"), ahead: at("ahead"), color: rapid.IntRange(0, 3).Draw(t, "color"),
	}
}

// slowGlob matches runes one by one. Stars and question marks are many and one.
func slowGlob(pattern, text []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(text) == 0
	case pattern[0] == many:
		return slowGlob(pattern[1:], text) || len(text) > 0 && slowGlob(pattern, text[1:])
	}
	return len(text) > 0 && (pattern[0] == one || sameLetter(pattern[0], text[0])) && slowGlob(pattern[1:], text[1:])
}

func sameLetter(a, b rune) bool {
	ascii := a < 0x80 && b < 0x80
	return a == b || (ascii || a >= 0x80 && b >= 0x80) && strings.EqualFold(string(a), string(b))
}

func anywhere(p []rune) []rune { return append(append([]rune{many}, p...), many) }

// patternGen draws a pattern and one of the ways to write it.
func patternGen(t *rapid.T, least int) (p []rune, query string) {
	var b strings.Builder
	for _, r := range rapid.SliceOfN(rapid.OneOf(letterGen, rapid.SampledFrom([]rune{one, many})), least, 5).Draw(t, "pattern") {
		p = append(p, r)
		switch {
		case r == one:
			b.WriteByte('?')
		case r == many:
			b.WriteByte('*')
		case r == '"' || r == '\\' || rapid.Bool().Draw(t, "escape"):
			b.WriteString(`\` + string(r))
		default:
			b.WriteString(`"` + string(r) + `"`)
		}
	}
	if len(p) == 0 {
		return p, `""`
	}
	return p, b.String()
}

func textWish(t *rapid.T) wish {
	p, q := patternGen(t, 0)
	name := func(r thing) bool { return slowGlob(p, []rune(r.name)) }
	part := p
	if len(p) > 0 {
		part = anywhere(p)
	}
	prose := func(r thing) bool { return slowGlob(part, []rune(r.prose)) }
	return rapid.SampledFrom([]wish{
		{"name:" + q, name},
		{"prose:" + q, prose},
		{"text:" + q, func(r thing) bool { return name(r) || prose(r) }},
		{"tag:" + q, func(r thing) bool {
			if len(r.tags) == 0 {
				return slowGlob(p, nil)
			}
			return slowGlob(p, []rune(r.tags[0])) || len(r.tags) > 1 && slowGlob(p, []rune(r.tags[1]))
		}},
	}).Draw(t, "field")
}

func wordWish(t *rapid.T) wish {
	p, q := patternGen(t, 1)
	return wish{q, func(r thing) bool {
		some := slowGlob(anywhere(p), []rune(r.name)) || slowGlob(anywhere(p), []rune(r.prose)) || slowGlob(anywhere(p), nil)
		for _, tag := range r.tags {
			some = some || slowGlob(anywhere(p), []rune(tag))
		}
		for i, w := range []string{"red", "green", "dark green"} {
			some = some || r.color == i+1 && slowGlob(anywhere(p), []rune(w))
		}
		n, err := strconv.Atoi(string(p))
		return some || err == nil && n == r.number
	}}
}

func compare(t *rapid.T) (sign string, holds func(a, b int64) bool) {
	sign = rapid.SampledFrom([]string{"<", "<=", ">", ">="}).Draw(t, "sign")
	return sign, func(a, b int64) bool {
		return a < b && sign[0] == '<' || a > b && sign[0] == '>' || a == b && len(sign) == 2
	}
}

func amountWish(t *rapid.T) wish {
	n := rapid.IntRange(-3, 120).Draw(t, "n")
	sign, holds := compare(t)
	secs := strconv.Itoa(max(n, 0)*997) + "s"
	span := int64(max(n, 0)) * 997 * int64(time.Second)
	clock := time.Date(2026, 11, 20, max(n, 0)%24, 30, 0, 0, seoul)
	return rapid.SampledFrom([]wish{
		{"number" + sign + strconv.Itoa(n), func(r thing) bool { return holds(int64(r.number), int64(n)) }},
		{"number:" + strconv.Itoa(n), func(r thing) bool { return r.number == n }},
		{"age" + sign + secs, func(r thing) bool { return holds(int64(r.age), span) }},
		{sign + secs, func(r thing) bool { return holds(int64(r.age), span) }},
		{"past" + sign + secs, func(r thing) bool { return !r.past.IsZero() && holds(int64(noon.Sub(r.past)), span) }},
		{"ahead" + sign + secs, func(r thing) bool { return !r.ahead.IsZero() && holds(int64(r.ahead.Sub(noon)), span) }},
		{"ahead" + sign + clock.Format("15:04"), func(r thing) bool { return !r.ahead.IsZero() && holds(r.ahead.UnixNano(), clock.UnixNano()) }},
		{sign + "now-" + secs, func(r thing) bool { return !r.past.IsZero() && holds(r.past.UnixNano(), noon.UnixNano()-span) }},
		{"past:yesterday", func(r thing) bool { return r.past.In(seoul).Format(time.DateOnly) == "2026-11-19" }},
		{"past>2026-11-19", func(r thing) bool { return !r.past.IsZero() && r.past.In(seoul).Format(time.DateOnly) > "2026-11-19" }},
		{"past<=2026-11-19", func(r thing) bool { return !r.past.IsZero() && r.past.In(seoul).Format(time.DateOnly) <= "2026-11-19" }},
		{"ahead:none", func(r thing) bool { return r.ahead.IsZero() }},
	}).Draw(t, "amount")
}

func otherWish(t *rapid.T) wish {
	expr := rapid.SampledFrom([]string{"a", "a1", "b+1", "^a", "[ab]k", "카.", "(aa|b)1?", "a/b", "k1_b", "a.*1$", "k$", "카$", "(a|b)B$", "a\\n?$", "sK1$", "İ?b$", "σ+1"}).Draw(t, "expr")
	re := regexp.MustCompile("(?i)" + expr)
	query := strings.ReplaceAll(expr, "/", `\/`)
	return rapid.SampledFrom([]wish{
		{"name:/" + query + "/", func(r thing) bool { return re.MatchString(r.name) }},
		{"color:red,dark", func(r thing) bool { return r.color == 1 || r.color == 3 }},
		{"color:lime", func(r thing) bool { return r.color == 2 }},
		{"color:greeni", func(r thing) bool { return r.color == 2 || r.color == 3 }},
		{"color:*green", func(r thing) bool { return r.color == 2 || r.color == 3 }},
		{"color:*", func(thing) bool { return true }},
		{"~a1", func(r thing) bool { return slowGlob([]rune{many, 'a', many, '1', many}, []rune(r.name)) }},
		{"name:~카b", func(r thing) bool { return slowGlob([]rune{many, '카', many, 'b', many}, []rune(r.name)) }},
	}).Draw(t, "other")
}

func wishGen(t *rapid.T) wish {
	makers := []func(*rapid.T) wish{textWish, wordWish, amountWish, otherWish}
	return makers[rapid.IntRange(0, len(makers)-1).Draw(t, "maker")](t)
}

func mustParse(t *rapid.T, query string) Filter[thing] {
	f, err := Parse(query, things)
	if err != nil {
		t.Fatalf("Parse(%q): %v", query, err)
	}
	return f
}

func TestPropertyMatchAgreesWithTheSlowWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var query []string
		want := true
		row := thingGen(t)
		for side := range rapid.IntRange(0, 3).Draw(t, "sides") {
			all := true
			if side > 0 {
				query = append(query, rapid.SampledFrom([]string{"or", "OR"}).Draw(t, "or"))
			}
			for range rapid.IntRange(1, 3).Draw(t, "terms") {
				w := wishGen(t)
				not := rapid.Bool().Draw(t, "not")
				if not {
					w.query = "-" + w.query
				}
				query = append(query, w.query)
				all = all && w.holds(row) != not
			}
			want = all || side > 0 && want
		}
		f := mustParse(t, strings.Join(query, " "))
		if got := f.Match(&row, noon); got != want {
			t.Fatalf("%q on %+v is %v", f, row, got)
		}
		if f.Empty() && !want {
			t.Fatalf("%q is empty, but excludes %+v", f, row)
		}
		again := mustParse(t, f.String())
		if again.String() != f.String() || again.Match(&row, noon) != want {
			t.Fatalf("%q parses to %q", f, again)
		}
	})
}

func TestPropertyNegation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row, w := thingGen(t), wishGen(t)
		is := func(query string) bool { f := mustParse(t, query); return f.Match(&row, noon) }
		if is(w.query) == is("-"+w.query) {
			t.Fatalf("%q and its opposite agree on %+v", w.query, row)
		}
		// De Morgan: not (a or b) is not a and not b.
		a, qa := patternGen(t, 1)
		_, qb := patternGen(t, 1)
		if is("-name:"+qa+","+qb) != is("-name:"+qa+" -name:"+qb) || is("name:"+qa+","+qb) != (is("name:"+qa) || is("name:"+qb)) {
			t.Fatalf("%q, %q, %v on %+v", qa, qb, a, row)
		}
	})
}

// TestPropertyCellsAreThoseOfTheScreen: an error is underlined below what it is about, whatever letters
// stand before it and in it.
func TestPropertyCellsAreThoseOfTheScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letter := rapid.RuneFrom(nil, unicode.Latin, unicode.Cyrillic, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Han, unicode.Greek)
		before, about := letter.Draw(t, "before"), letter.Draw(t, "about")
		if !safe.Simple(before) || !safe.Simple(about) {
			return
		}
		query := string(before) + string(about)
		e := wrong(len(string(before)), len(query), "", "wrong").in(query)
		if e.Cell != safe.RuneWidth(before) || e.Cells != safe.RuneWidth(about) {
			t.Fatalf("%U %U: the error stands at %d over %d cells, not at %d over %d", before, about, e.Cell, e.Cells,
				safe.RuneWidth(before), safe.RuneWidth(about))
		}
	})
}

func TestMoves(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "name:a": false, "a": false, "number>3": false, "color:red": false, "past:*": false,
		"<60s": true, ">12:30": true, "past<2h": true, "ahead:today": true, "-age>1h": true, "name:a or color:red past<1d": true,
	} {
		f, err := Parse(text, things)
		if err != nil || f.Moves() != want {
			t.Errorf("%q: %v, %v", text, f.Moves(), err)
		}
	}
}
