package payload

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func wantColumns(t interface{ Fatalf(string, ...any) }, raw []byte) {
	cols, err := splitColumns(raw)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	back, err := joinColumns(cols, len(raw))
	if err != nil || !bytes.Equal(back, raw) {
		t.Fatalf("%q came back as %q, %v", raw, back, err)
	}
}

func TestColumnsComeBackAsTheyWere(t *testing.T) {
	for _, raw := range []string{
		`{}`, `[]`, `""`, `0`, `null`, ` { "a" : [ 1 , 2 ,3 ] }` + "\n\t\r", `[[[]],{}]`, `{"a":{"a":{"a":1}}}`,
		`{"n":[1,2,3,9223372036854775807,-9223372036854775808,0]}`, `{"n":[01,1.50,-0,1e5,1E+5]}`, `{"n":["1","2",3]}`,
		`{"a":1,"a":2}`, `{"s":"quote \" backslash \\ unicode \u0000 é ` + "\u202e" + `"}`, `[true,false,null,"true"]`,
		`{"":{"":""}}`, `{"a\"b":1}`, `[{"x":1},{"x":2},{"y":"z","x":30000}]`,
	} {
		wantColumns(t, []byte(raw))
	}
}

func TestWhatIsNoJSONIsNotTakenApart(t *testing.T) {
	for _, raw := range []string{
		"", " ", "{", "[1,", `{"a"}`, `{"a":}`, `{a:1}`, `"open`, "\"line\nfeed\"", `[1 2]`, `1 2`, `{"a":1}}`, `#`, "\x00",
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		if cols, err := splitColumns([]byte(raw)); err == nil {
			t.Errorf("%.20q was taken apart to %q", raw, cols)
		}
	}
}

func TestColumnsOfAnyJSON(t *testing.T) {
	value := rapid.Deferred(anyJSON)
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(value.Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			_ = json.Indent(&b, raw, "", " ")
			raw = b.Bytes()
		}
		wantColumns(t, raw)
	})
}

func anyJSON() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Int64().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
		rapid.SliceOfN(rapid.Int64(), 0, 20).AsAny(),
		rapid.SliceOfN(rapid.Deferred(anyJSON), 0, 3).AsAny(),
		rapid.MapOfN(rapid.String(), rapid.Deferred(anyJSON), 0, 3).AsAny(),
	)
}

// FuzzColumns: no bytes may panic on the way back or grow beyond what was promised, and what can be taken apart comes back.
func FuzzColumns(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,3],"b":"x"}`, `[`, `{"participantFrames":{"1":{"xp":100},"2":{"xp":200}}}`} {
		f.Add([]byte(s))
		if cols, err := splitColumns([]byte(s)); err == nil {
			f.Add(cols)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if back, err := joinColumns(b, 1<<16); err == nil && len(back) > 1<<16+len(b)+20 {
			t.Fatalf("%d bytes became %d", len(b), len(back))
		}
		if _, err := splitColumns(b); err == nil {
			wantColumns(t, b)
		}
	})
}
