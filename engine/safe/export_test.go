package safe

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b"}`:                  `{"a":"b"}`,
		"{\n\t\"a\": 1\r\n}":         "{\n\t\"a\": 1\r\n}",
		"{\"n\":\"\u202eevil\"}":     `{"n":"\u202eevil"}`,
		"{\"n\":\"카인\"}":             `{"n":"카인"}`,
		"{\"n\":\"\U000e0041\"}":     `{"n":"\udb40\udc41"}`,
		"{\"n\":\"\x7f\u009b\xff\"}": `{"n":"\u007f\u009b\ufffd"}`,
		"{\"n\":\"👨\u200d👩\"}":       `{"n":"👨\u200d👩"}`,
		"":                           "",
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("JSON(%+q) = %+q, want %+q", in, got, want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, c := range cases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		out := JSON(doc)
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%q became %q: %v", doc, out, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Errorf("%q came back as %q", s, back)
		}
		if strings.ContainsFunc(string(out), dangerous) {
			t.Errorf("%q holds a dangerous rune", out)
		}
	})
}

func TestCSV(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "",
		"Blue Heron":        "Blue Heron",
		"=HYPERLINK(\"x\")": "'=HYPERLINK(\"x\")",
		"+1":                "+1",
		"-12.5":             "-12.5",
		"-1+1":              "'-1+1",
		"--1":               "'--1",
		"@SUM(A1)":          "'@SUM(A1)",
		"\t=1":              "' =1",
		"  =1":              "'  =1",
		"＝1":                "'＝1",
		"'=1":               "''=1",
		"'Lux":              "''Lux",
		"O'Lux":             "O'Lux",
		"a\nb":              "a⏎b",
	} {
		if got := CSV(in); got != want {
			t.Errorf("CSV(%q) = %q, want %q", in, got, want)
		}
	}
}

// Riot's ids are left alone, whatever they begin with; shorter text that begins
// like one is somebody's choice.
func TestCSV_LeavesIDsAlone(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringOfN(rapid.RuneFrom([]rune(alphabet)), 47, 78, -1).Draw(t, "id")
		for _, id := range []string{id, "-" + id[1:], "--" + id[2:]} {
			if got := CSV(id); got != id {
				t.Errorf("CSV(%q) = %q", id, got)
			}
		}
	})
	for _, text := range []string{"-A1", "-" + strings.Repeat("a", 21), "=" + strings.Repeat("a", 77), "-" + strings.Repeat("(", 77)} {
		if got := CSV(text); got != "'"+text {
			t.Errorf("CSV(%q) = %q", text, got)
		}
	}
}

// A reader gets every cell back by taking a leading apostrophe away.
func TestCSV_CanBeUndone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`['=+@ -]{0,4}.{0,12}`).Draw(t, "cell")
		cell := CSV(s)
		if got := strings.TrimPrefix(cell, "'"); got != Letters(s) {
			t.Errorf("%q is written %q and read %q", s, cell, got)
		}
		if isFormula(strings.TrimLeft(cell, " ")) && !isNumber(cell) {
			t.Errorf("%q is written %q", s, cell)
		}
	})
}

// Each name keeps its vowels in files and in lists, which are as wide as a terminal draws them.
func TestW3a_VowelSignsSurvive(t *testing.T) {
	for name, cells := range map[string]int{"แมวน้ำเงิน#TH2": 12, "मारुति": 5, "தமிழ்": 4, "ກຳ": 2, "क्ष": 2} {
		if got := Letters(name); got != name || Width(got) != cells {
			t.Errorf("%q is %q in %d cells, want %d", name, got, Width(got), cells)
		}
		if got := CSV(name); got != name {
			t.Errorf("%q is %q in a file", name, got)
		}
	}
	for name, want := range map[string]string{"แมวน้ำเงิน#TH2": "แมวน\u0e4d\u0e49าเงิน#TH2", "ກຳ": "ກ\u0ecdາ"} {
		if got := Text(name); got != want || Width(got) != Width(name) {
			t.Errorf("%q is drawn as %q in %d cells", name, got, Width(got))
		}
	}
	if got := Letters("a\u202eb\u0e33"); got != "a‹U+202E›b\u0e33" {
		t.Errorf("%q", got)
	}
}
