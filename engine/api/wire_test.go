package api

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/fold"
)

// TestEveryQueryHasARow reads engine's own source: a new query must be named here.
func TestEveryQueryHasARow(t *testing.T) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "query" {
				continue
			}
			n++
			name := fn.Recv.List[0].Type.(*ast.Ident).Name
			found := false
			for _, k := range queries {
				found = found || k.query.Name() == name
			}
			if !found {
				t.Errorf("engine.%s is in no row of the table of queries", name)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d queries were found in the source", n)
	}
}

// TestEveryQueryAndAnswerKeepsItsMeaning fills every field of every type that goes
// over the wire, and compares what comes out at the other end.
func TestEveryQueryAndAnswerKeepsItsMeaning(t *testing.T) {
	for _, k := range queries {
		t.Run(k.name, func(t *testing.T) {
			q := filled(k.query).(engine.Query)
			env, row, err := ask(q)
			if err != nil || row.name != k.name {
				t.Fatal(row, err)
			}
			body, err := encode(env)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := readQuestion(body)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, q) {
				t.Errorf("the query came out as\n%+v, was\n%+v", got, q)
			}
			a := filled(k.answer)
			raw, err := encode(a)
			if err != nil {
				t.Fatal(err)
			}
			back, err := k.got(raw)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(back, a) {
				t.Errorf("the answer came out as\n%+v, was\n%+v", back, a)
			}
		})
	}
}

func TestUpdatesAndCommandsKeepTheirMeaning(t *testing.T) {
	u := filled(reflect.TypeFor[engine.Update]()).(engine.Update)
	raw, err := encode(frame{N: 3, Update: &u})
	if err != nil {
		t.Fatal(err)
	}
	var f frame
	if err := json.Unmarshal(raw, &f); err != nil || !reflect.DeepEqual(*f.Update, u) {
		t.Errorf("an update came out as\n%+v, was\n%+v (%v)", f.Update, u, err)
	}
	empty := engine.Update{Alerts: []engine.AlertRow{}, Queues: []engine.QueueRow{}}
	raw, _ = encode(empty)
	var back engine.Update
	if err := json.Unmarshal(raw, &back); err != nil || back.Alerts == nil || back.Queues == nil {
		t.Errorf("no alerts any more came out as no news: %s", raw)
	}

	c := filled(reflect.TypeFor[engine.Command]()).(engine.Command)
	c.Op, c.Key = engine.OpRetry, "RGAPI-secret"
	raw, _ = encode(c)
	if strings.Contains(string(raw), "secret") {
		t.Error("the key is in the body of a command")
	}
	got, err := readCommand(raw)
	if err != nil {
		t.Fatal(err)
	}
	c.By, c.Key = engine.Actor{}, "" // told by the kernel, and sent by a route of its own
	if !reflect.DeepEqual(got, c) {
		t.Errorf("a command came out as\n%+v, was\n%+v", got, c)
	}
}

// filled makes a value of a type with something in every field that is sent.
func filled(t reflect.Type) any {
	v := reflect.New(t).Elem()
	fill(v, rand.New(rand.NewPCG(1, 2)), 0)
	return v.Interface()
}

func fill(v reflect.Value, r *rand.Rand, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.UnixMilli(1_790_000_000_000 + r.Int64N(1e9)).UTC()
		return
	case *json.RawMessage:
		*x = json.RawMessage(`{"a":1}`)
		return
	case *engine.State, *engine.Hold, *engine.SyncStatus, *engine.Verb, *Role:
		v.SetUint(1)
		return
	}
	if isFew(v.Type()) {
		v.SetString(fromSource().wordsOf(v.Type())[1])
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("söme <text> & \u202e")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1 + r.Int64N(100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1 + r.Uint64N(100))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(r.IntN(1000)) / 8)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), r, depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), r, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, r, depth+1)
		fill(value, r, depth+1)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("json") != "-" && f.IsExported() {
				fill(v.Field(i), r, depth+1)
			}
		}
	}
}

// empty makes a value of a type with nothing in it but what is never without a word.
func empty(t reflect.Type) any {
	v := reflect.New(t).Elem()
	word(v)
	return v.Interface()
}

func word(v reflect.Value) {
	switch {
	case isFew(v.Type()):
		v.SetString(fromSource().wordsOf(v.Type())[0])
	case v.Kind() == reflect.Struct && v.Type() != timeType:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				word(v.Field(i))
			}
		}
	}
}

// isFew reports whether a type is text with few words; those that are numbers have none
// that is empty.
func isFew(t reflect.Type) bool { return t.Kind() == reflect.String && slices.Contains(few, t) }

func TestProblemsComeBackAsTheyWere(t *testing.T) {
	for _, c := range codes {
		was := &engine.Problem{Code: c.code, Sentence: "a sentence", Do: "do this", Job: "j1", Why: "why"}
		wire := ProblemOf(was)
		if wire.Status != c.status || wire.Type != urn+c.word {
			t.Errorf("%v is %d %s", c.code, wire.Status, wire.Type)
		}
		raw, _ := encode(wire)
		if _, got := readProblem(wire.Status, raw); !reflect.DeepEqual(got, was) {
			t.Errorf("%+v came back as %+v", was, got)
		}
	}
	if p := ProblemOf(os.ErrPermission); strings.Contains(p.Detail, "permission") {
		t.Errorf("the text of an inner error is told: %q", p.Detail)
	}
	for _, body := range []string{"", "<html>", "{}", `{"detail":""}`, "[1]"} {
		if _, p := readProblem(502, []byte(body)); p.Code != engine.ErrBroken || p.Sentence == "" {
			t.Errorf("%q became %+v", body, p)
		}
	}
}

func TestEnvelopesAreStrict(t *testing.T) {
	for _, body := range []string{
		"", "{", "null x", `{"type":"jobs"} {}`, `{"type":"nothing"}`, `{"type":"jobs","query":{"nonsense":1}}`, `{"type":"jobs","more":1}`,
		`{"type":"jobs","query":[1]}`, `{"type":"jobs","query":{"states":["no such"]}}`, `{"type":7}`,
	} {
		if q, _, err := readQuestion([]byte(body)); err == nil {
			t.Errorf("%q was read as %+v", body, q)
		}
	}
	for _, body := range []string{"", "{}", `{"op":"retry","dryrun":true}`, `{"op":"key"}`, `{"op":"retry","if_rev":-1}`, `{"op":"retry"}{}`} {
		if c, err := readCommand([]byte(body)); err == nil {
			t.Errorf("%q was read as %+v", body, c)
		}
	}
	if _, _, err := readQuestion([]byte(`{"type":"status"}`)); err != nil {
		t.Error(err)
	}
}

func FuzzQuestion(f *testing.F) {
	for _, k := range queries {
		env, _, _ := ask(filled(k.query).(engine.Query))
		raw, _ := encode(env)
		f.Add(raw)
	}
	f.Add([]byte(`{"type":"jobs","query":{"states":["running"],"limit":-1}}`))
	f.Add([]byte(`{"type":"jobs","query":{"states":[]}}`)) // asks for what no list asks for
	f.Fuzz(func(t *testing.T, body []byte) {
		q, k, err := readQuestion(body)
		if err != nil {
			return
		}
		env, row, err := ask(q)
		if err != nil || row != k {
			t.Fatalf("%q was read as %+v, which cannot be asked: %v", body, q, err)
		}
		raw, err := encode(env)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := readQuestion(raw)
		if err != nil {
			t.Fatal(err)
		}
		env, _, _ = ask(again)
		if same, err := encode(env); err != nil || string(same) != string(raw) {
			t.Fatalf("%+v became %+v: %s, was %s (%v)", q, again, same, raw, err)
		}
	})
}

func FuzzCommand(f *testing.F) {
	raw, _ := encode(engine.Command{Op: engine.OpRetry, Job: "j1", Select: &engine.Selection{IDs: []engine.JobID{"a"}}})
	f.Add(raw)
	f.Add([]byte(`{"op":"cancel","by":{"user":"root","via":"console"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := readCommand(body)
		if err == nil && (c.Op == "" || c.Op == engine.OpKey || c.Key != "" || c.By != (engine.Actor{})) {
			t.Fatalf("%q was read as %+v", body, c)
		}
	})
}

func TestBoxMergesAndIsBounded(t *testing.T) {
	b := newBox()
	put := func(u engine.Update) {
		if err := b.merge(u); err != nil {
			t.Fatal(err)
		}
	}
	job := func(id engine.JobID, rev engine.Revision) engine.JobRow {
		return engine.JobRow{Job: engine.Job{ID: id, Rev: rev}}
	}
	put(engine.Update{Seq: 1, Jobs: []engine.JobRow{job("old", 1)}, Notes: []engine.Note{{Text: "kept"}}})
	put(engine.Update{Seq: 2, Snapshot: true, Jobs: []engine.JobRow{job("a", 1), job("b", 1)}, Accounts: []engine.AccountRow{{ID: "x"}}})
	put(engine.Update{Seq: 3, Jobs: []engine.JobRow{job("a", 2), job("c", 1)}, Gone: []engine.JobID{"b"}, Calls: []engine.CallRow{{Seq: 1}}})
	put(engine.Update{Seq: 4, Gone: []engine.JobID{"c"}, Calls: []engine.CallRow{{Seq: 2}}, Alerts: []engine.AlertRow{}})
	u, err := b.next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !u.Snapshot || u.Seq != 4 || len(u.Jobs) != 1 || u.Jobs[0].Rev != 2 || len(u.Accounts) != 1 || len(u.Gone) != 0 || len(u.Calls) != 2 || len(u.Notes) != 1 || u.Alerts == nil {
		t.Errorf("merged into %+v", u)
	}
	many := engine.Update{}
	for i := range 2 * fold.KeptCalls {
		many.Calls = append(many.Calls, engine.CallRow{Seq: uint64(i)})
		many.Notes = append(many.Notes, engine.Note{})
	}
	put(many)
	if u, _ = b.next(t.Context()); len(u.Calls) != fold.KeptCalls || u.Calls[0].Seq != fold.KeptCalls || len(u.Notes) != fold.KeptNotes {
		t.Errorf("%d calls from %d on, %d notes", len(u.Calls), u.Calls[0].Seq, len(u.Notes))
	}
	many = engine.Update{}
	for i := range boxJobs + 1 {
		many.Gone = append(many.Gone, engine.JobID(strconv.Itoa(i)))
	}
	if err := b.merge(many); !errors.Is(err, errBehind) {
		t.Errorf("a flood of jobs: %v", err)
	}
	b.close(errBehind)
	if u, err := b.next(t.Context()); !errors.Is(err, errBehind) {
		t.Errorf("%+v %v", u, err)
	}
}
