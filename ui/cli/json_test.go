package cli

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

type listedInner struct {
	Names []string       `json:"names"`
	By    map[string]int `json:"by"`
	Raw   []byte         `json:"raw,omitempty"`
}

type listedOuter struct {
	ListedEmbedded
	Inner   listedInner     `json:"inner"`
	Pointer *listedInner    `json:"pointer"`
	Many    []listedInner   `json:"many"`
	Any     any             `json:"any"`
	Free    []int           `json:"free,omitempty"`
	Unknown []int           `json:"unknown,omitzero"` // nil and empty are not the same
	Args    json.RawMessage `json:"args"`
	At      time.Time       `json:"at"`
	None    *listedInner    `json:"none"`
	hidden  []int
}

type ListedEmbedded struct {
	Own []int `json:"own"`
}

// A list of nothing is [] in every JSON that a command prints, never null; what is
// printed is not changed.
func TestJSON_AListOfNothingIsNoNull(t *testing.T) {
	v := listedOuter{Pointer: &listedInner{}, Many: []listedInner{{}}, Any: listedInner{}, hidden: nil}
	var b bytes.Buffer
	if err := JSON(Out{W: &b}, &v); err != nil {
		t.Fatal(err)
	}
	const inner = `{"names":[],"by":{}}`
	want := `{"own":[],"inner":` + inner + `,"pointer":` + inner + `,"many":[` + inner + `],"any":` + inner +
		`,"args":null,"at":"0001-01-01T00:00:00Z","none":null}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
	if v.Pointer.Names != nil || v.Many[0].Names != nil || v.hidden != nil {
		t.Error("what was printed has changed")
	}
	b.Reset()
	v = listedOuter{Unknown: []int{}, Many: []listedInner{{Names: []string{"a"}, Raw: []byte("b")}}}
	if err := JSON(Out{W: &b}, v); err != nil {
		t.Fatal(err)
	}
	want = `{"own":[],"inner":` + inner + `,"pointer":null,"many":[{"names":["a"],"by":{},"raw":"Yg=="}],"any":null,"unknown":[]` +
		`,"args":null,"at":"0001-01-01T00:00:00Z","none":null}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
	b.Reset()
	if err := JSON(Out{W: &b}, nil); err != nil || b.String() != "null\n" {
		t.Errorf("%q %v", b.String(), err)
	}
}
