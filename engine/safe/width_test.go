package safe

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCuts(t *testing.T) {
	cases := []struct {
		name string
		cut  func(string, int) string
		in   string
		w    int
		want string
	}{
		{"fits", Cut, "abc", 3, "abc"},
		{"end", Cut, "503 service unavailable", 10, "503 servi…"},
		{"one sign for a thousand", Cut, strings.Repeat("x", 1000), 5, "xxxx…"},
		{"no room", Cut, "abc", 0, ""},
		{"negative room", Cut, "abc", -3, ""},
		{"one cell", Cut, "abc", 1, "…"},
		{"wide letter at the edge", Cut, "카인카인", 4, "카…"},
		{"marks stay on their letter", Cut, "x\u0323\u0302yz", 2, "x\u0323\u0302…"},
		{"start", cutStart, "KR_7214550881", 5, "…0881"},
		{"start of wide", cutStart, "카인카", 4, "…카"},
		{"match id", CutMiddle, "KR_7214550881", 7, "KR_…881"},
		{"job", CutMiddle, "match:KR_7214550881", 14, "match:KR_…0881"},
		{"puuid", CutMiddle, "8Qfxxxxxxxxxxxxxxx2c", 7, "8Qf…x2c"},
		{"prefix too long", CutMiddle, "a-very-long-prefix:1234567", 9, "a-ve…4567"},
		{"tiny", CutMiddle, "KR_7214550881", 4, "…881"},
		{"nothing", CutMiddle, "KR_7214550881", 0, ""},
		{"pad right", PadRight, "카", 4, "카  "},
		{"pad left", PadLeft, "12", 4, "  12"},
		{"pad cuts", PadRight, "카인", 3, "카…"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.cut(c.in, c.w); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCutsKeepTheirWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w := Text(nasty().Draw(t, "s")), rapid.IntRange(-1, 30).Draw(t, "w")
		for name, cut := range map[string]func(string, int) string{"end": Cut, "start": cutStart, "middle": CutMiddle} {
			got := cut(s, w)
			if Width(got) > max(w, 0) {
				t.Errorf("%s of %q to %d = %q, %d cells", name, s, w, got, Width(got))
			}
			if Width(s) <= w && got != s {
				t.Errorf("%s changed %q that fits %d: %q", name, s, w, got)
			}
		}
		if w >= 0 && (Width(PadRight(s, w)) != w || Width(PadLeft(s, w)) != w) {
			t.Errorf("padding %q to %d: %q, %q", s, w, PadRight(s, w), PadLeft(s, w))
		}
	})
}

// TestV11e_NamesWithoutUnicode: names are written with Latin letters as wide as theirs; of letters for which there
// are none it is told how many there are.
func TestV11e_NamesWithoutUnicode(t *testing.T) {
	for in, want := range map[string]string{
		"Ólafur":   "Olafur",
		"카인#KR1":   "kain#KR1",
		"달빛 여우":    "dabi yeoo",
		"さくらー":     "sakura--",
		"カゲロウ":     "kagerooo",
		"李小龍#1":    "(3)---#1",
		"龍":        "??",
		"Иван Ёж":  "Ivan Ej",
		"Άλφα":     "Alfa",
		"\u202eab": "<U+202E>ab",
		"~16–19 s": "~16-19 s",
		"Łódź…":    "Lodz~",
	} {
		if got := ASCII(in); got != want {
			t.Errorf("ASCII(%q) = %q, want %q", in, got, want)
		}
	}
}
