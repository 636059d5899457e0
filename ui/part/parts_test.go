package part

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/mattn/go-runewidth"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// hostile is text that breaks layouts and terminals.
var hostile = []string{
	"카인#KR1", "\u202eevil\u2066#NA1", "\x1b[31mred\x1b]8;;http://x\a", "👨‍👩‍👧 fam", "e\u0301\u0302\u0303\u0304", "a\tb\r\nc",
	"\xff\xfe", "क्षत्रिय", "กำลัง", strings.Repeat("long ", 300), "", "🇰🇷🇰🇷", "ﾞｱﾞ", "\U000e0041\u115f", "plain",
}

// looks are the themes every part must hold its law in.
func looks() map[string]*themes.Theme {
	dark := themes.Palettes()[0]
	return map[string]*themes.Theme{
		"dark painted": themes.New(dark, themes.TrueColor, true, themes.Unicode),
		"light 256":    themes.New(themes.Palettes()[1], themes.ANSI256, false, themes.Unicode),
		"16 ascii":     themes.New(dark, themes.ANSI16, false, themes.Plain),
		"mono":         themes.NewMono(themes.Unicode),
		"blocks":       themes.New(dark, themes.ANSI16, false, themes.Blocks),
		"mono ascii":   themes.NewMono(themes.Plain),
	}
}

// scene is what the parts are given in one run.
type scene struct {
	th    *themes.Theme
	w, h  int
	text  func() string
	n     int
	ratio float64
}

// every part of the package, drawn at w x h from hostile data. A part of one
// row returns it alone.
var every = map[string]func(s scene) []string{
	"Row": func(s scene) []string { return one(Row(s.th, s.w, As(themes.Err, s.text()), Plain(s.text()))) },
	"Selected": func(s scene) []string {
		l := NewLine(s.th, 1)
		l.Reset(s.w, true)
		return one(l.Cells(s.cells()...).Field(As(themes.OK, s.text()), s.n, Number).String())
	},
	"Panel": func(s scene) []string {
		rows, _ := Panel(s.th.Raised(), s.w, s.h, nil, s.sections()...)
		return Height(s.th, s.w, s.h, rows)
	},
	"Terms": func(s scene) []string {
		return Height(s.th, s.w, s.h, Terms(s.th, s.w, []Group{{s.text(), []Hint{{Key: s.text(), Does: s.text()}}}}))
	},
	"Sections": func(s scene) []string {
		return Sections(s.th, 0, 0, s.w, s.h, s.n%3, nil, s.sections()...)
	},
	"Table": func(s scene) []string {
		src, c := s.source(), &Cursor{}
		c.Sync(src, s.h)
		c.Move(src, s.n, s.h)
		c.Toggle()
		return s.table().View(s.th, s.w, s.h, src, c)
	},
	"Table body": func(s scene) []string { return s.table().Body(s.th, s.w, s.h, s.source(), &Cursor{}) },
	"Header":     func(s scene) []string { return one(s.table().Header(s.th, s.w)) },
	"Bar":        func(s scene) []string { return one(bar(s.th, s.w, themes.Run, s.ratio)) },
	"NoBar":      func(s scene) []string { return one(NewLine(s.th, s.w).NoBar(s.n).String()) },
	"Past": func(s scene) []string {
		c := PastChart(s.th, s.w, s.h)
		c.Area(0, s.h, Series{Values: []float64{1, s.ratio, math.NaN(), math.Inf(1), -1, 7}, Top: 7, Token: themes.Run})
		return c.View()
	},
	"Meter":  func(s scene) []string { return one(NewLine(s.th, s.w).Meter(s.n, s.ratio, true).String()) },
	"Digits": func(s scene) []string { return one(NewLine(s.th, s.w).Digits(s.n%4, s.text()).String()) },
	"Legend": func(s scene) []string {
		shares := []Share{{Token: themes.Run, Name: s.text(), N: s.n}, {Token: themes.Line, Name: s.text(), N: -1, Short: "x"}, {Token: themes.Err, Name: "gave up", N: 3}}
		return one(NewLine(s.th, s.w).Stack(s.n, shares).On(themes.Fade(s.ratio)).Legend(shares).String())
	},
	"Chart": func(s scene) []string { return s.chart().View() },
	"Status": func(s scene) []string {
		return one(Status(s.th, 1, s.w, nil, s.cells(), Slots{Window: s.text(), Used: s.n, Limit: 100, Alerts: Plain(s.text()), Clock: "12:31", Hatched: s.n%2 == 0}, s.text(), s.text()))
	},
	"Short": func(s scene) []string {
		return one(Short(s.th, s.w, nil, []Tab{{Key: "1", Name: s.text()}}, 0, []string{s.text()}, s.cells(), Slots{Window: s.text(), Limit: s.n, Alerts: Plain(s.text())}))
	},
	"Messages": func(s scene) []string {
		return Messages(s.th, s.w, Toast{Word: "WARN", Text: s.text(), At: "12:31:00", More: s.n}, Plain("M messages"))
	},
	"Tabs": func(s scene) []string {
		return one(Tabs(s.th, 0, s.w, nil, s.text(), []Tab{{Key: "1", Name: "Overview"}, {Key: "2", Name: s.text()}, {Key: "3", Name: "Jobs"}}, s.n%3, Plain("? help")))
	},
	"Hints": func(s scene) []string {
		return one(Hints(s.th, 0, s.w, nil, []Hint{{Key: "t", Does: s.text()}, {Key: "x", Does: "cancel", Off: true}, {Key: "?", Does: "keys", Keep: true}}))
	},
	"Message": func(s scene) []string {
		return one(Message(s.th, s.w, Toast{Word: "WARN", Text: s.text(), More: s.n}, Plain("M messages")))
	},
	"Prompt": func(s scene) []string {
		p := Prompt{Label: s.text(), Ghost: s.text(), Mask: s.n%3 == 0, Bad: s.n % 4}
		p.Insert(s.text())
		p.Edit("left")
		row, at := p.View(s.th, s.w)
		if at < 0 || at > max(s.w-1, 0) {
			panic(fmt.Sprintf("cursor at %d of %d", at, s.w))
		}
		return one(row)
	},
	"Help": func(s scene) []string {
		g := []Group{{s.text(), []Hint{{Key: "j", Does: s.text()}, {Key: "k", Off: true}}}, {"all", []Hint{{Key: s.text()}}}}
		return Height(s.th, s.w, s.h, Help(s.th, s.w, g))
	},
	"Overlay": func(s scene) []string {
		base := every0(s)
		d := Dialog{Title: s.text(), Body: []string{s.text(), s.text()}, Yes: Hint{Key: "y", Does: s.text()}, No: Hint{Key: "n", Does: s.text()}, Word: "purge", Input: &Prompt{}}
		box, _ := d.View(s.th, s.w, s.h, &Hits{})
		return Overlay(s.th, s.w, s.h, base, box, 0, s.h-len(box))
	},
	"Beside": func(s scene) []string {
		left := Sections(s.th, 0, 0, s.w/2, s.h, 0, nil, Section{Title: s.text()})
		return Beside(left, Sections(s.th, 0, 0, s.w-s.w/2, s.h, 0, nil, Section{Title: s.text()}))
	},
	"Frame": func(s scene) []string {
		f := Frame(s.th, s.w, s.h, append(every0(s), s.text(), "\x1b[2J"+s.text(), "\u009bx"))
		if f == "" {
			return nil
		}
		return strings.Split(f, "\n")
	},
}

// every0 is a base of painted and of raw rows.
func every0(s scene) []string {
	return []string{Row(s.th, s.w+3, s.cells()...), s.text(), s.th.Paint(themes.Err, "한한한한한한한한한한한한한한한한한한한")}
}

// fixed parts have their own height.
var fixed = map[string]int{
	"Row": 1, "Meter": 1, "Digits": 1, "Legend": 1, "Split": 1, "Selected": 1, "Header": 1, "Bar": 1, "NoBar": 1, "Spark": 1, "Timeline": 3,
	"Fold": 5, "Status": 1, "Short": 1, "Messages": 2, "Tabs": 1, "Hints": 1, "Message": 1, "Prompt": 1,
}

// chart puts hostile text and heights anywhere on a chart of the scene's size.
func (s scene) chart() *Chart {
	c := NewChart(s.th, NewAxis(time.Unix(1_700_000_000, 0), time.Duration(s.n+1)*time.Second, s.w/3, s.w), s.h)
	values := make([]float64, s.w+3)
	for x := range values {
		values[x] = s.ratio * float64(x)
	}
	c.Area(s.n%3, s.h-s.n%3, Series{Values: values, Top: float64(s.w), Odd: func(x int) bool { return x/3%2 == 1 }})
	c.Put(s.n%5, s.n-4, themes.Dim, s.text())
	c.Mid(0, s.n, themes.OK, s.text())
	c.Sign(s.n%4, s.n, themes.Err, s.th.State("GAVE UP").Glyph)
	c.Run(1, s.n, s.w, themes.Planned(themes.Retry), s.th.Glyphs.Ahead)
	c.Seam(0, s.h)
	c.Words(s.h - 1)
	return c
}

func one(row string) []string { return []string{row} }

func (s scene) sections() []Section {
	return []Section{
		{Title: s.text(), Note: s.text(), Tail: s.text(), Rows: []string{s.text()}, Focus: true, Height: s.n % 5},
		{Title: s.text(), Head: s.table().Header(s.th, s.w-2)},
		{Title: s.text(), Rows: []string{Row(s.th, s.w, s.cells()...), s.text()}},
	}
}

func (s scene) cells() []Cell {
	return []Cell{As(themes.Held, s.text()), Plain(s.text()), StateCell(s.th, "GAVE UP")}
}

func (s scene) table() Table {
	return Table{
		Columns: []Column{
			{Title: "JOB", Kind: ID, Min: 8, Width: 26, Flex: 1},
			{Title: "QUEUE", Min: 6, Width: 20, Priority: 3},
			{Title: "STATE", Kind: State, Min: 9, Width: 11},
			{Title: "PROGRESS", Kind: Progress, Min: 8, Width: 24, Priority: 1},
			{Title: "TRY", Kind: Number, Min: 3, Width: 5, Priority: 2},
			{Title: s.text(), Min: 5, Flex: 2, Priority: 4},
		},
		Pan: s.n % 3, Empty: s.text(), Blur: s.n%2 == 0,
	}
}

func (s scene) source() Source {
	ids := make([]string, s.n)
	for i := range ids {
		ids[i] = fmt.Sprint("job-", i)
	}
	return Slice[string]{ids, func(id string) string { return id }, func(_ string, cells []Cell) []Cell {
		return append(cells, As(themes.Text, s.text()), Plain(s.text()), StateCell(s.th, "RUNNING"),
			Cell{Text: "134/879", Token: themes.Run, Ratio: s.ratio}, Plain("2/5"))
	}}
}

// checkRow is the law: exact width by every measure, no control but SGR, back
// in plain text at the end, 7 bits where the theme says so.
func checkRow(th *themes.Theme, row string, w int) error {
	text := ansi.Strip(row)
	sum := 0
	for _, r := range text {
		sum += (&runewidth.Condition{StrictEmojiNeutral: true}).RuneWidth(r)
	}
	for name, got := range map[string]int{
		"graphemes": ansi.StringWidth(row), "wcwidth": ansi.StringWidthWc(row), "uniseg": uniseg.StringWidth(text), "runes": sum,
	} {
		if got != w {
			return fmt.Errorf("%d cells by %s, want %d: %q", got, name, w, row)
		}
	}
	rest, last := row, ""
	for i := 0; i < len(rest); {
		if n := sgrLen(rest[i:]); n > 0 {
			last = rest[i : i+n]
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(rest[i:])
		if safe.Text(string(r)) != string(r) && safe.RuneWidth(r) > 0 || rest[i] < 0x20 || rest[i] == 0x7f || th.ASCII() && rest[i] > 0x7e {
			return fmt.Errorf("holds %U: %q", r, row)
		}
		i += n
	}
	if last != "" && last != th.Close() && last != th.Reset() {
		return fmt.Errorf("ends in %q: %q", last, row)
	}
	return nil
}

func TestEveryPartKeepsItsSize(t *testing.T) {
	for name, th := range looks() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := scene{th: th, w: rapid.IntRange(-1, 250).Draw(t, "w"), h: rapid.IntRange(-1, 80).Draw(t, "h"),
					n: rapid.IntRange(0, 300).Draw(t, "n"), ratio: rapid.Float64().Draw(t, "ratio")}
				if rapid.Bool().Draw(t, "small") {
					s.w, s.h = s.w%40, s.h%12
				}
				seed := rapid.IntRange(0, 1000).Draw(t, "texts")
				s.text = func() string { seed++; return hostile[seed%len(hostile)] }
				for part, draw := range every {
					checkPart(t, s, part, draw(s))
				}
			})
		})
	}
}

func checkPart(t *rapid.T, s scene, part string, rows []string) {
	want := max(s.h, 0)
	if n, ok := fixed[part]; ok {
		want = n
	}
	if part == "Frame" && s.w <= 0 {
		want = 0
	}
	if len(rows) != want {
		t.Errorf("%s at %dx%d: %d rows, want %d", part, s.w, s.h, len(rows), want)
	}
	for _, row := range rows {
		if err := checkRow(s.th, row, max(s.w, 0)); err != nil {
			t.Errorf("%s at %dx%d: %v", part, s.w, s.h, err)
		}
	}
}

func TestWordsSurviveWithoutColour(t *testing.T) {
	for name, th := range looks() {
		for _, word := range []string{"RUNNING", "HELD", "RETRYABLE", "GAVE UP", "TOO OLD"} {
			row := Row(th, 40, StateCell(th, word))
			if !strings.Contains(ansi.Strip(row), th.State(word).Glyph+" "+word) {
				t.Errorf("%s: %q", name, row)
			}
		}
	}
}

func TestOutsideTextPaintsNothing(t *testing.T) {
	th := themes.NewMono(themes.Unicode)
	row := Row(th, 80, Plain("\x1b[31mred\x1b[m"), Cell{Text: "kept", Clean: true})
	if strings.Contains(row, "\x1b[31m") || !strings.Contains(row, "‹U+001B›[31mred") {
		t.Errorf("%q", row)
	}
	if got := fit(th, "\x1b[2Jx\u202e", 30); strings.Contains(got, "\x1b[2J") || strings.Contains(got, "\u202e") {
		t.Errorf("%q", got)
	}
}

// A place may be narrower than nothing: what stands left of it was wider than the screen.
func TestAClauseThatFits(t *testing.T) {
	const text = "2 of 9 calls were held, 1 is due: in 3 s"
	for w, want := range map[int]string{
		80: text,
		39: "2 of 9 calls were held, 1 is due",
		31: "2 of 9 calls were held",
		5:  "",
		0:  "",
		-3: "",
	} {
		if got := Clause(text, w); got != want {
			t.Errorf("in %d cells: %q, want %q", w, got, want)
		}
	}
}

// TestANoteLosesClauses: where all of it has no room, before it is cut.
func TestANoteLosesClauses(t *testing.T) {
	s := Section{Title: "DEPARTURES", Note: "calls to Riot, in the order they leave · 3 hosts", Height: 1}
	for w, want := range map[int]string{70: "leave · 3 hosts ─", 52: "in the order they leave ", 40: "calls to Riot ─", 20: "call"} {
		if got := ansi.Strip(Sections(mono, 0, 0, w, 2, 0, nil, s)[0]); !strings.Contains(got, want) {
			t.Errorf("on %d cells: %q", w, got)
		}
	}
}
