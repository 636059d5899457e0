package api

import (
	"encoding"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// source is what the document takes from the code besides its types: the comments, and the
// words of types that have few. It is read once.
type source struct {
	about map[string]string   // "engine.JobRow", "engine.JobRow.Why"
	words map[string][]string // "engine.Op": cancel, retry …
}

// fromSource reads the packages whose types are in the document.
var fromSource = sync.OnceValue(func() *source {
	s := &source{about: map[string]string{}, words: map[string][]string{}}
	for _, folder := range []string{"engine", "engine/api", "engine/league"} {
		if err := s.read(folder); err != nil {
			panic(err)
		}
	}
	return s
})

func (s *source) read(folder string) error {
	dir, set := filepath.Join("..", "..", folder), token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, f)
		s.comments(f)
	}
	// What is imported is not looked at: the values of constants need none of it.
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check(folder, set, files, nil)
	scope := pkg.Scope()
	var consts []*types.Const
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok {
			consts = append(consts, c)
		}
	}
	slices.SortFunc(consts, func(a, b *types.Const) int { return int(a.Pos() - b.Pos()) })
	for _, c := range consts {
		if named, ok := c.Type().(*types.Named); ok && c.Val().Kind() == constant.String {
			key := pkg.Name() + "." + named.Obj().Name()
			s.words[key] = append(s.words[key], constant.StringVal(c.Val()))
		}
	}
	return nil
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, fs.ErrNotExist }

// comments keeps what is written above types, and above or behind their fields.
func (s *source) comments(f *ast.File) {
	for _, d := range f.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			spec := spec.(*ast.TypeSpec)
			name := f.Name.Name + "." + spec.Name.Name
			s.about[name] = capital(said(spec.Doc, gen.Doc))
			if fields, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					for _, n := range field.Names {
						s.about[name+"."+n.Name] = said(field.Comment, field.Doc)
					}
				}
			}
		}
	}
}

// said is the first of some comments that there is, as one paragraph.
func said(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}

// capital begins a sentence as one: the document calls callRetry CallRetry.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// few are the types with few words, those of which are in the document. Classes, kinds and
// queues are not among them: there may be others at any time.
var few = []reflect.Type{
	reflect.TypeFor[engine.Op](), reflect.TypeFor[engine.State](), reflect.TypeFor[engine.Hold](), reflect.TypeFor[engine.SyncStatus](),
	reflect.TypeFor[engine.Verb](), reflect.TypeFor[Role](), reflect.TypeFor[engine.FeedKind](), reflect.TypeFor[engine.Level](),
	reflect.TypeFor[engine.Phase](), reflect.TypeFor[engine.Stand](), reflect.TypeFor[engine.EngineState](), reflect.TypeFor[engine.AlertState](),
	reflect.TypeFor[engine.AlertUnit](), reflect.TypeFor[engine.TickResult](), reflect.TypeFor[engine.CallStatus](),
}

// wordsOf are the words of a type that has few; nil = it has many.
func (s *source) wordsOf(t reflect.Type) []string {
	switch {
	case !slices.Contains(few, t):
		return nil
	case t.Kind() == reflect.String:
		return s.words[t.String()]
	}
	word := func(n uint64) string {
		v := reflect.New(t).Elem()
		v.SetUint(n)
		raw, _ := v.Interface().(encoding.TextMarshaler).MarshalText()
		return string(raw)
	}
	var words []string
	for n := uint64(0); word(n) != word(255) && !strings.HasSuffix(word(n), fmt.Sprintf("(%d)", n)); n++ { // state(9): there is none
		words = append(words, word(n))
	}
	return words
}

// operationIDs are the names of functions in generated clients.
var operationIDs = map[string]string{
	"GET /healthz": "getHealth", "GET /readyz": "getReadiness", "GET /metrics": "getMetrics", "GET /openapi.json": "getDocument",
	"GET /v1/hello": "getHello", "GET /v1/watch": "watch", "POST /v1/find": "find", "POST /v1/do": "do", "POST /v1/key": "replaceKey",
	"GET /v1/summary": "getSummary", "GET /v1/members": "listMembers", "GET /v1/config": "getConfig", "GET /v1/events": "streamEvents",
	"POST /v1/events/pass": "makeEventPass",
	"GET /v1/accounts":     "listAccounts", "GET /v1/accounts/{name}/{tag}": "getAccount", "POST /v1/accounts/{name}/{tag}/sync": "syncAccount",
	"POST /v1/trigger/{what}": "trigger", "GET /v1/stats/{name}/{tag}": "getStats", "GET /stats/{name}/{tag}": "getPlayerStats",
	"GET /v1/matches": "listMatches", "GET /v1/matches/participants": "listParticipants", "GET /v1/matches/{name}/{tag}": "listAccountMatches",
	"GET /v1/collections": "listCollections", "GET /v1/collections/{name}": "getCollection", "POST /v1/collections": "collect",
	"GET /v1/jobs": "listJobs", "GET /v1/jobs/{id}": "getJob", "GET /v1/jobs/{id}/progress": "getJobProgress",
	"POST /v1/jobs/{id}/retry": "retryJob", "DELETE /v1/jobs/{id}/retry": "cancelJobRetry",
	"GET /v1/calls": "listCalls", "POST /v1/calls": "placeCall", "GET /v1/calls/{sid}": "getJobOfCall",
	"POST /v1/calls/{sid}/retry": "retryJobOfCall", "DELETE /v1/calls/{sid}/retry": "cancelRetryOfCall",
	"GET /calls/{sid}/debug": "debugCall", "POST /calls/{sid}/retry": "retryCall", "DELETE /calls/{sid}/retry": "cancelCallRetry",
}

// tags are the groups of routes, by how their addresses begin.
var tags = []struct {
	name, about string
	paths       []string
}{
	{"console", "What a console does: typed queries, commands, a stream of updates.", []string{"/v1/hello", "/v1/watch", "/v1/find", "/v1/do", "/v1/key"}},
	{"accounts", "Accounts, their syncs, their play-time reports.", []string{"/v1/accounts", "/v1/trigger", "/v1/stats", "/stats"}},
	{"matches", "The ordered feeds of what is stored.", []string{"/v1/matches"}},
	{"collections", "Durable requests for the matches of many players.", []string{"/v1/collections"}},
	{"jobs", "Jobs: how far, again, not again.", []string{"/v1/jobs"}},
	{"calls", "Telephone calls, and jobs by the ids of others.", []string{"/v1/calls", "/calls"}},
	{"engine", "How the engine stands, and what happens.", []string{"/"}},
}

func tagOf(path string) string {
	for _, t := range tags {
		if slices.ContainsFunc(t.paths, func(p string) bool { return strings.HasPrefix(path, p) }) {
			return t.name
		}
	}
	panic(errors.New(path + " is of no group"))
}

func allTags() (all []any) {
	for _, t := range tags {
		all = append(all, object{"name": t.name, "description": t.about})
	}
	return all
}

// inPaths says what the parts of addresses are.
var inPaths = map[string]object{
	"name": {"description": "of the Riot ID, before the #; of the collection", "schema": object{"type": "string"}, "example": "Name"},
	"tag":  {"description": "of the Riot ID, behind the #", "schema": object{"type": "string"}, "example": "TAG"},
	"id":   {"description": "of the job, or its key, such as match:EUW1_7214550881", "schema": object{"type": "string"}},
	"sid":  {"description": "id that the other side gave to any of the job's attempts", "schema": object{"type": "string"}},
	"what": {"description": "what is started", "schema": object{"type": "string", "enum": []any{"latest", "full", "rank", "weekly"}}},
}

// description says what a route does and who may ask.
func description(r Route) string {
	text := strings.TrimSuffix(r.Summary, ".") + "."
	if r.About != "" {
		text = r.About
	}
	if r.Role == Operator {
		return text + " It takes the role operator; what is asked stands in the audit."
	}
	return text + " Every role may ask."
}

// union is one of several schemas by the word in their member `type`.
func (g *schemas) union(name, member string, of func(k queryKind) reflect.Type, always bool) {
	var one []any
	mapping := object{}
	for _, k := range queries {
		part := name + titled(k.name)
		ref := "#/components/schemas/" + part
		required := []string{"type"}
		if always {
			required = []string{member, "type"}
		}
		g.all[part] = object{
			"type": "object", "additionalProperties": false, "required": required,
			"properties": object{"type": object{"type": "string", "enum": []any{k.name}}, member: g.of(of(k))},
		}
		one, mapping[k.name] = append(one, object{"$ref": ref}), ref
	}
	g.all[name] = object{
		"description": g.source.about["api."+strings.ToLower(name)], "oneOf": one,
		"discriminator": object{"propertyName": "type", "mapping": mapping},
	}
}

// titled makes JobLog of job_log.
func titled(word string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(word, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// TestOpenAPIKnowsTheWords: a type with few words has all of them in the document.
func TestOpenAPIKnowsTheWords(t *testing.T) {
	s := fromSource()
	for _, typ := range few {
		if words := s.wordsOf(typ); len(words) < 2 {
			t.Errorf("%s has the words %q", typ, words)
		}
	}
	if got := s.wordsOf(reflect.TypeFor[engine.State]()); !slices.Equal(got, strings.Fields("pending available scheduled running retryable completed cancelled discarded")) {
		t.Errorf("%q", got)
	}
	if s.about["engine.JobRow.Worker"] == "" && len(slices.Collect(maps.Keys(s.about))) < 100 {
		t.Error("the comments were not read")
	}
}
