package safe

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
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
		"'=1":               "'=1",
		"a\nb":              "a⏎b",
	} {
		if got := CSV(in); got != want {
			t.Errorf("CSV(%q) = %q, want %q", in, got, want)
		}
		if again := CSV(CSV(in)); again != CSV(in) {
			t.Errorf("CSV twice of %q = %q", in, again)
		}
	}
}
