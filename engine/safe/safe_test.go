package safe

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

var cases = []struct{ name, in, want string }{
	{"ascii", "Blue Heron#KR1", "Blue Heron#KR1"},
	{"korean", "카인#KR1", "카인#KR1"},
	{"accents stay", "Ólafur Åström", "Ólafur Åström"},
	{"composed", "e\u0301", "é"},
	{"bell", "a\ab", "a‹U+0007›b"},
	{"escape sequence", "\x1b[31mred\x1b]8;;http://x\x1b\\", `‹U+001B›[31mred‹U+001B›]8;;http://x‹U+001B›\`},
	{"c1 control sequence", "\u009b31m", "‹U+009B›31m"},
	{"delete", "\x7f", "‹U+007F›"},
	{"line separators", "a\u2028b\u2029c", "a‹U+2028›b‹U+2029›c"},
	{"tab and breaks", "a\tb\nc\r\nd\re", "a b⏎c⏎d⏎e"},
	{"bidi", "\u202eevil\u2066x\u200f\u061c", "‹U+202E›evil‹U+2066›x‹U+200F›‹U+061C›"},
	{"zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff", "a‹U+200B›b‹U+200C›c‹U+200D›d‹U+2060›e‹U+FEFF›f"},
	{"tags", "x\U000e0041", "x‹U+E0041›"},
	{"soft hyphen", "a\u00adb", "a‹U+00AD›b"},
	{"hangul fillers", "\u115f\u1160\u3164\uffa0", "‹U+115F›‹U+1160›‹U+3164›‹U+FFA0›"},
	{"selector that smuggles", "a\U000e0100b", "a‹U+E0100›b"},
	{"broken bytes", "a\xffb\xc3", `a\xFFb\xC3`},
	{"too many marks", "z\u0351\u0352\u0357\u0358\u0359", "z\u0359\u0351"},
	{"mark without a letter", "\u0301a", "‹U+0301›a"},
	{"family", "👨‍👩‍👧!", "👨!"},
	{"flag", "🇰🇷!", "□!"},
	{"keycap", "1\ufe0f\u20e3", "1"},
	{"emoji style", "❤\ufe0f", "❤"},
	{"skin tone", "👍🏽", "👍"},
	{"conjunct", "क्ष", "कष"},
	{"private use", "\ue0b0", "‹U+E0B0›"},
}

func TestText(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("Text(%+q) = %+q, want %+q", c.in, got, c.want)
			}
			checkClean(t, Text(c.in))
		})
	}
}

// checkClean is the law of the package.
func checkClean(t interface{ Errorf(string, ...any) }, s string) {
	for i, r := range s {
		if r == utf8.RuneError && s[i] == 0xff || r < 0x20 || r >= 0x7f && r < 0xa0 {
			t.Errorf("%+q holds control %U", s, r)
		}
		if unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) {
			t.Errorf("%+q holds hidden %U", s, r)
		}
	}
	if !utf8.ValidString(s) || !norm.NFC.IsNormalString(s) {
		t.Errorf("%+q is not composed UTF-8", s)
	}
	if again := Text(s); again != s {
		t.Errorf("cleaning again makes %+q of %+q", again, s)
	}
	sum := 0
	for _, r := range s {
		sum += cond.RuneWidth(r)
	}
	plain := &runewidth.Condition{StrictEmojiNeutral: true}
	if a, b := uniseg.StringWidth(s), plain.StringWidth(s); a != sum || b != sum || Width(s) != sum {
		t.Errorf("%+q: graphemes %d, go-runewidth %d, Width %d, wcwidth %d", s, a, b, Width(s), sum)
	}
}

// interesting is where trouble lives: every plane and class, not all of CJK.
func interesting(yield func(rune) bool) {
	spans := [][2]rune{{0, 0x33ff}, {0x4dc0, 0x4e10}, {0xa000, 0xac10}, {0xd7a0, 0xffff},
		{0x10000, 0x11fff}, {0x1b000, 0x1b2ff}, {0x1d000, 0x1d7ff}, {0x1e000, 0x1faff}, {0xe0000, 0xe01ff}}
	for _, span := range spans {
		for r := span[0]; r <= span[1]; r++ {
			if !yield(r) {
				return
			}
		}
	}
}

func TestTextOfEveryRuneBetweenLetters(t *testing.T) {
	for r := range interesting {
		checkClean(t, Text("a"+string(r)+"b"))
		checkClean(t, Text(string(r)+"각"))
		if t.Failed() {
			t.Fatalf("at %U", r)
		}
	}
}

func TestSimpleRunesAreWhatTheSlowPathKeeps(t *testing.T) {
	for r := rune(0x20); r < 0x10000; r++ {
		if s := string(r); unicode.Is(simple, r) && pass(s, false) != s {
			t.Fatalf("%U is not simple: %q", r, pass(s, false))
		}
	}
}

// nasty draws text from the runes that make clusters, controls and bytes.
func nasty() *rapid.Generator[string] {
	r := rapid.SampledFrom([]rune("a1 #\t\n\x1b\u0301\u0302\u0323\u200d\ufe0f\u20e3\u202e🇰🇷👩👍🏽❤⚡" +
		"कष्ािक़กำิ한\u1100\u1161\u11a8\u0d4e\u0600\u0903ｱﾞ\u3099か\u115f\u00ad\U000e0041\u034f\u09c7\u09be…‹›□"))
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringOfN(r, 0, 24, -1).Draw(t, "runes")
		if rapid.Bool().Draw(t, "broken") {
			s += string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bytes")) + "\u0301x"
		}
		return s
	})
}

func TestTextProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := nasty().Draw(t, "s")
		checkClean(t, Text(s))
		if got := Width(ASCII(s)); got != Width(Text(s)) || !isPlain(ASCII(s)) {
			t.Errorf("ASCII(%+q) = %+q: %d cells, want %d", s, ASCII(s), got, Width(Text(s)))
		}
	})
}

func TestBlockKeepsLineBreaks(t *testing.T) {
	if got := Block("a\r\nb\x1b\nc"); got != "a\nb‹U+001B›\nc" {
		t.Errorf("got %q", got)
	}
}

func TestLineOfAMegabyte(t *testing.T) {
	got := Line(strings.Repeat("\u202ex", 1<<20), 20)
	if Width(got) > 20 || strings.Count(got, "…") != 1 {
		t.Errorf("got %q, %d cells", got, Width(got))
	}
}

func TestPlainTextIsNotCopied(t *testing.T) {
	for _, s := range []string{"match:KR_7214550881", "카인#KR1", "● RUNNING — ‹U+202E›"} {
		if n := testing.AllocsPerRun(100, func() { Text(s) }); n != 0 {
			t.Errorf("Text(%q) allocates %v times", s, n)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, c := range cases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkClean(t, Text(s))
		if !isPlain(ASCII(s)) {
			t.Errorf("ASCII(%+q) = %+q", s, ASCII(s))
		}
		for _, w := range []int{0, 1, 7, 40} {
			if got := Line(s, w); Width(got) > w {
				t.Errorf("Line(%+q, %d) = %+q", s, w, got)
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	for _, c := range []struct{ name, in string }{{"ascii", "match:KR_7214550881"}, {"korean", "카인#KR1"}, {"hostile", "\u202eevil\x1b[31m👨‍👩‍👧"}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Text(c.in)
			}
		})
	}
}
