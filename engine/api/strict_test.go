package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// TestWhatIsNotClearIsNoCommand: a body that two programs could read differently is
// refused, with a sentence that names neither Go nor its types.
func TestWhatIsNotClearIsNoCommand(t *testing.T) {
	for body, says := range map[string]string{
		`{"op":"pause","dry_run":true,"dry_run":false}`:           `"dry_run" is there twice`,
		`{"op":"pause","Dry_Run":true}`:                           `no field "Dry_Run"`,
		`{"op":"pause","dry_run":true,"DRY_RUN":false}`:           `no field "DRY_RUN"`,
		`{"op":"pause","\u0064ry_run":true,"dry_run":false}`:      `"dry_run" is there twice`,
		`{"op":"trigger","sync":{"count":1,"count":2}}`:           `"sync.count" is there twice`,
		`{"op":"trigger","sync":{"counts":1}}`:                    `no field "sync.counts"`,
		`{"op":"prune","prune":{"classes_ns":{"404":1,"404":2}}}`: `"prune.classes_ns.404" is there twice`,
		"{\"op\":\"pause\",\"reason\":\"\xff\"}":                  "no UTF-8",
		`{"op":"pause"`:                                           "ends too early",
		`{"op":"pause"}{}`:                                        "something follows it",
		` `:                                                       "empty",
		`[]`:                                                      "it is an array, not an object",
		`7`:                                                       "it is a number, not an object",
		`{"op":"pause","dry_run":"yes"}`:                          `"dry_run" takes true or false, not a string`,
		`{"op":"pause","if_rev":-1}`:                              `"if_rev" takes a whole number from 0 on, not a number -1`,
		`{"op":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000): "no JSON",
	} {
		c, err := readCommand([]byte(body))
		if err == nil || c.Op != "" {
			t.Errorf("%.80q was read as %+v", body, c)
			continue
		}
		if text := err.Error(); !strings.Contains(text, says) || strings.Contains(text, "Go ") || strings.Contains(text, "engine.") {
			t.Errorf("%.80q is refused with %q, want %q", body, text, says)
		}
	}
}

// TestEveryFieldIsTaken: what this program writes it reads, to the last field.
func TestEveryFieldIsTaken(t *testing.T) {
	all := []reflect.Type{
		reflect.TypeFor[engine.Command](), reflect.TypeFor[syncRequest](), reflect.TypeFor[triggerRequest](),
		reflect.TypeFor[retryRequest](), reflect.TypeFor[keyChange](),
	}
	for _, k := range queries {
		all = append(all, k.query)
	}
	for _, typ := range all {
		raw, err := json.Marshal(filled(typ))
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(typ)
		if err := strict(raw, got.Interface()); err != nil {
			t.Errorf("%s: %s: %v", typ, raw, err)
			continue
		}
		if again, _ := json.Marshal(got.Interface()); string(again) != string(raw) {
			t.Errorf("%s: %s became %s", typ, raw, again)
		}
	}
}

// FuzzStrict: whatever is taken, json takes as well, and means the same without the
// case of its fields.
func FuzzStrict(f *testing.F) {
	f.Add([]byte(`{"op":"retry","if_rev":3,"sync":{"count":2},"select":{"ids":["a","b"]}}`))
	f.Add([]byte(`{"op":"x","op":"y"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, want engine.Command
		if strict(body, &got) != nil {
			return
		}
		if err := json.Unmarshal(body, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q was read as %+v, by json as %+v (%v)", body, got, want, err)
		}
	})
}
