package riot

import (
	"encoding/json"
	"strings"
	"testing"
)

var jsonSeeds = []string{
	`{}`, `[]`, `null`, `true`, `false`, `""`, `0`, `-0`, `-1.5e+10`, `1E5`, ` [1, 2 ,{"a":[]}] `, `{"a":{"b":[null,"\u00e9\n\\\""]}}`,
	``, ` `, `{`, `}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `01`, `1.`, `.5`, `-`, `1e`, `+1`, `nul`, `truex`, `{} {}`,
	`"\x"`, `"\u12"`, `"a`, "\"\x01\"", "\"\xff\"", "\"\x7f\"", "[\x00]", `[1 2]`, `{"a":1 "b":2}`, `[1}`, "\ufeff{}", `"\ud800"`, `NaN`,
}

// FuzzScanner: our one pass accepts exactly what encoding/json accepts, but for extreme nesting.
func FuzzScanner(f *testing.F) {
	for _, seed := range jsonSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := scanner{buf: raw}
		s.skip()
		got := s.end() == nil
		if want := json.Valid(raw); got != want && !tooDeep(raw) {
			t.Fatalf("accepted %v, encoding/json says %v: %q", got, want, raw)
		}
		typed(t, raw)
	})
}

func tooDeep(raw []byte) bool {
	return strings.Count(string(raw), "[")+strings.Count(string(raw), "{") > maxDepth
}

// typed: the reading methods take any value whole, whatever its type, and strings agree with encoding/json.
func typed(t *testing.T, raw []byte) {
	if !json.Valid(raw) || tooDeep(raw) {
		return
	}
	var want any
	_ = json.Unmarshal(raw, &want)
	for name, read := range map[string]func(*scanner){
		"str":     func(s *scanner) { checkString(t, s.str(), want) },
		"integer": func(s *scanner) { s.integer() },
		"small":   func(s *scanner) { s.small() },
		"boolean": func(s *scanner) { yes, _ := want.(bool); mustBe(t, s.boolean() == yes, raw) },
		"object":  func(s *scanner) { s.object(func([]byte) { s.skip() }) },
		"array":   func(s *scanner) { s.array(s.skip) },
	} {
		s := scanner{buf: raw}
		if read(&s); s.end() != nil {
			t.Fatalf("%s does not take %q whole", name, raw)
		}
	}
}

func checkString(t *testing.T, got string, want any) {
	if text, ok := want.(string); ok && got != text {
		t.Fatalf("string %q, encoding/json says %q", got, text)
	}
}

func mustBe(t *testing.T, ok bool, raw []byte) {
	if !ok {
		t.Fatalf("wrong value for %q", raw)
	}
}

func TestScannerNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-7": -7, "1771685249284": 1771685249284, "9007199254740993": 9007199254740993, "1.9": 1, "-1.9": -1, "1e3": 1000,
		"9223372036854775807": 1<<63 - 1, "9223372036854775808": 0, "1e400": 0, "-1e99": 0, `"12"`: 0, "null": 0, "[1]": 0, "true": 0,
	} {
		s := scanner{buf: []byte(text)}
		if got := s.integer(); got != want || s.end() != nil {
			t.Errorf("integer of %s = %d (%v), want %d", text, got, s.end(), want)
		}
	}
	s := scanner{buf: []byte("2147483648")}
	if s.small() != 0 {
		t.Error("small lets a number beyond int32 through")
	}
}

func TestScannerBoundsNesting(t *testing.T) {
	for depth, ok := range map[int]bool{maxDepth: true, maxDepth + 1: false, 1 << 20: false} {
		s := scanner{buf: []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))}
		if s.skip(); (s.end() == nil) != ok {
			t.Errorf("depth %d: %v", depth, s.end())
		}
	}
}
