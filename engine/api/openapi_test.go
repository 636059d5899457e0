package api

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine/api/apitest"
)

var update = flag.Bool("update", false, "write openapi.json anew from the table of routes and the types")

type object = map[string]any

// What has room on one line, from within, stands on it: a third as many lines to read.
var (
	inner  = regexp.MustCompile(`[{\[]\n(?:[^{}\[\]"]|"(?:[^"\\]|\\.)*"|\{.*\}|\[.*\])*[}\]]`)
	margin = regexp.MustCompile(`\n *`)
)

// TestOpenAPIIsTheTableOfRoutes keeps the document and the code together. After a
// change of a route or a type: go test ./engine/api -run OpenAPI -update
func TestOpenAPIIsTheTableOfRoutes(t *testing.T) {
	want, err := json.MarshalIndent(describe(fromSource(), allRoutes()), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for was := 0; was != len(want); {
		was = len(want)
		want = inner.ReplaceAllFunc(want, func(b []byte) []byte {
			within := margin.ReplaceAll(bytes.TrimSpace(b[1:len(b)-1]), []byte(" "))
			if len(within) > 260 {
				return b
			}
			return slices.Concat(b[:1], within, b[len(b)-1:])
		})
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(Document, want) {
		t.Error("openapi.json is not what the routes and types say: go test ./engine/api -run OpenAPI -update")
	}
}

// allRoutes are those of the protocol and those for programs.
func allRoutes() []Route {
	routes := slices.Collect(maps.Values(NewServer(Options{Routes: NewPrograms(ProgramsOptions{}).Routes()}).routes))
	slices.SortFunc(routes, func(a, b Route) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	return routes
}

// describe makes the OpenAPI document of routes.
func describe(s *source, routes []Route) object {
	g := &schemas{all: object{}, source: s}
	g.union("Question", "query", func(k queryKind) reflect.Type { return k.query }, false)
	g.union("Reply", "answer", func(k queryKind) reflect.Type { return k.answer }, true)
	paths := object{}
	for _, r := range routes {
		at, _ := paths[r.Path].(object)
		if at == nil {
			at = object{}
			paths[r.Path] = at
		}
		at[strings.ToLower(r.Method)] = g.operation(r)
	}
	g.of(reflect.TypeFor[Problem]())
	for _, k := range queries {
		g.of(k.query)
		g.of(k.answer)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Farsight control protocol", "version": fmt.Sprint(Protocol),
			"contact": object{"name": "Farsight", "url": "https://github.com/farsight-console/farsight/issues"},
			"license": object{"name": "MIT", "identifier": "MIT"},
			"description": "Spoken over the Unix socket control.sock of a data directory: curl --unix-socket DIR/control.sock http://localhost/v1/hello. " +
				"Who asks is told by the kernel. A listener on a loopback address, when there is one, takes the same routes with the token of the data directory's file http.token. Spans of time are nanoseconds, instants RFC 3339; text is as received, and may hold anything. " +
				"Fields are told apart by their case, each stands once, and one that is not described is refused. Every GET answers HEAD, too; every error is a problem (RFC 9457), also that of a head that is too large or no HTTP at all.",
		},
		"servers": []any{
			object{
				"url": "http://{address}", "description": "The listener for programs (http_listen), always on a loopback address.",
				"variables": object{"address": object{"default": "127.0.0.1:7171", "description": "as http_listen says"}},
			},
			object{"url": "http://farsight", "description": "The control socket: any host name of its own will do."},
		},
		"tags":  allTags(),
		"paths": paths,
		"components": object{"schemas": g.all, "responses": g.problems(), "securitySchemes": object{"token": object{
			"type": "http", "scheme": "bearer", "description": "What the file http.token of the data directory holds; over the socket none is needed.",
		}}},
		"security":  []any{object{}, object{"token": []any{}}},
		"x-queries": g.queries(),
	}
}

// schemas collects the schemas of types by name.
type schemas struct {
	all    object
	source *source
}

func (g *schemas) operation(r Route) object {
	op := object{
		"summary": r.Summary, "description": description(r), "tags": []any{tagOf(r.Path)}, "operationId": operationID(r), "x-role": r.Role.String(),
		"responses": g.responses(r),
	}
	if params := parameters(r); len(params) > 0 {
		op["parameters"] = params
	}
	if r.In != nil {
		op["requestBody"] = object{"required": true, "content": object{typeJSON: object{"schema": g.body(r.In)}}}
	}
	return op
}

// operationID is what generated clients call a route.
func operationID(r Route) string {
	id := operationIDs[r.Method+" "+r.Path]
	if id == "" {
		panic(fmt.Errorf("%s %s has no id: give it one in operationIDs", r.Method, r.Path))
	}
	return id
}

func (g *schemas) responses(r Route) object {
	out := object{
		"200":     object{"description": "as asked", "content": object{r.Type: object{"schema": g.body(r.Out)}}},
		"default": object{"$ref": "#/components/responses/Problem"},
	}
	for _, p := range problems {
		if p.status != 0 && p.when(r) {
			out[fmt.Sprint(p.status)] = object{"$ref": "#/components/responses/" + p.name}
		}
	}
	for status, v := range r.Also {
		also := object{"description": http.StatusText(status)}
		if v != nil {
			also["content"] = object{typeJSON: object{"schema": g.body(v)}}
		}
		out[fmt.Sprint(status)] = also
	}
	for status, about := range headersOf(r) {
		out[status].(object)["headers"] = headers(about)
	}
	return out
}

// headersOf are the headers that say something of a route's answers, by status.
func headersOf(r Route) map[string]map[string]string {
	out := map[string]map[string]string{}
	if _, starts := r.Also[http.StatusAccepted]; starts {
		out["202"] = map[string]string{"Location": "where the job is to be looked at"}
	}
	if _, tagged := r.Also[http.StatusNotModified]; tagged {
		out["200"] = map[string]string{"ETag": "to be sent as If-None-Match: 304 as long as nothing has changed"}
		out["304"] = out["200"]
	}
	return out
}

func headers(about map[string]string) object {
	out := object{}
	for name, text := range about {
		out[name] = object{"description": text, "schema": object{"type": "string"}}
	}
	return out
}

// problems are the errors that a route may answer with.
var problems = []struct {
	status      int // 0 = any other
	name, about string
	headers     map[string]string
	when        func(Route) bool
}{
	{0, "Problem", "any other error, of the engine or of HTTP", nil, nil},
	{400, "Invalid", "it cannot be read, or makes no sense", nil, always},
	{401, "Unauthorized", "no token, or a wrong one; never on the socket", map[string]string{"WWW-Authenticate": "Bearer"}, always},
	{403, "Refused", "a web page, a user that is not let in, a role that may not, or what the engine refuses now", nil, always},
	{404, "NotFound", "there is no such thing", map[string]string{"Retry-After": "seconds until it may be there"}, mayMiss},
	{408, "TooSlow", "the body has not arrived in time", nil, hasBody},
	{409, "Conflict", "something is in the way: it runs already, has ended, or has changed since it was seen; `job` names it", map[string]string{"Location": "that job"}, acts},
	{413, "TooLarge", "the body has more than 1 MiB, or unpacks to more than 16", nil, hasBody},
	{415, "NoJSON", "the body is not application/json in UTF-8, as it is or as gzip", nil, hasBody},
	{421, "Misdirected", "the Host is another than the listener's own", nil, always},
	{426, "NoWebSocket", "a WebSocket is asked for, but not in its way", map[string]string{"Upgrade": "websocket"}, upgrades},
	{429, "UsedUp", "so much was allowed for a time, and no more", map[string]string{"Retry-After": "seconds until there is more, when that is known"}, calls},
	{503, "Unavailable", "too many connections, or an engine that cannot work now", map[string]string{"Retry-After": "seconds"}, always},
}

func always(Route) bool    { return true }
func hasBody(r Route) bool { return r.In != nil }
func acts(r Route) bool    { return r.Role == Operator }
func calls(r Route) bool {
	return slices.Contains([]string{"POST /v1/calls", "POST /v1/do"}, r.Method+" "+r.Path)
}
func upgrades(r Route) bool { return r.Type == typeEvents }

// mayMiss reports whether a route is about something that may not be there.
func mayMiss(r Route) bool {
	return r.In != nil || strings.Contains(r.Path, "{") || slices.Contains([]string{"/metrics", "/v1/config", "/v1/members", "/v1/events"}, r.Path)
}

func (g *schemas) problems() object {
	out := object{}
	for _, p := range problems {
		one := object{"description": p.about, "content": object{problemJSON: object{"schema": g.of(reflect.TypeFor[Problem]())}}}
		if p.headers != nil {
			one["headers"] = headers(p.headers)
		}
		out[p.name] = one
	}
	return out
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

func parameters(r Route) (out []any) {
	for _, m := range inPath.FindAllStringSubmatch(r.Path, -1) {
		at := maps.Clone(inPaths[m[1]])
		at["name"], at["in"], at["required"] = m[1], "path", true
		out = append(out, at)
	}
	for _, q := range r.Query {
		out = append(out, object{"name": q.Name, "in": "query", "description": q.About, "schema": object{"type": "string"}})
	}
	for _, h := range r.Header {
		out = append(out, object{"name": h.Name, "in": "header", "description": h.About, "schema": object{"type": "string"}})
	}
	return out
}

func (g *schemas) body(v any) object {
	if v == nil {
		return object{}
	}
	return g.of(reflect.TypeOf(v))
}

// queries names the schema of each query and its answer by the word of the envelope.
func (g *schemas) queries() object {
	out := object{}
	for _, k := range queries {
		out[k.name] = object{"query": g.of(k.query), "answer": g.of(k.answer)}
	}
	return out
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
	textType = reflect.TypeFor[encoding.TextMarshaler]()
)

func (g *schemas) of(t reflect.Type) object {
	switch {
	case t == timeType:
		return object{"type": "string", "format": "date-time"}
	case t == rawType:
		return object{}
	case slices.Contains(few, t):
		return g.enum(t)
	case t.Implements(textType):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Int64, reflect.Uint64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": []any{"array", "null"}, "items": g.of(t.Elem())}
	case reflect.Array:
		return object{"type": "array", "items": g.of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return object{"type": []any{"object", "null"}, "additionalProperties": g.of(t.Elem())}
	case reflect.Struct:
		return g.object(t)
	}
	return object{"type": "integer"}
}

// enum is a type with few words.
func (g *schemas) enum(t reflect.Type) object {
	one := object{"type": "string", "enum": g.source.wordsOf(t)}
	if about := g.source.about[t.String()]; about != "" {
		one["description"] = about
	}
	g.all[schemaName(t)] = one
	return object{"$ref": "#/components/schemas/" + schemaName(t)}
}

// schemaName is what the document calls a type.
func schemaName(t reflect.Type) string { return capital(t.Name()) }

func (g *schemas) object(t reflect.Type) object {
	ref := object{"$ref": "#/components/schemas/" + schemaName(t)}
	if _, known := g.all[schemaName(t)]; known {
		return ref
	}
	properties, required := object{}, []string{}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	g.all[schemaName(t)] = s
	if about := g.source.about[t.String()]; about != "" {
		s["description"] = about
	}
	g.fields(t, properties, &required)
	if len(required) > 0 {
		slices.Sort(required)
		s["required"] = required
	}
	return ref
}

func (g *schemas) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			g.fields(f.Type, properties, required)
		default:
			if name == "" {
				name = f.Name
			}
			properties[name] = g.told(t, f, g.of(f.Type))
			if strings.Contains(rest, "omit") || optional[t.String()+"."+f.Name] {
				continue
			}
			*required = append(*required, name)
			if f.Type.Kind() == reflect.Pointer {
				properties[name] = g.told(t, f, object{"anyOf": []any{g.of(f.Type), object{"type": "null"}}})
			}
		}
	}
}

// optional are fields of requests that may be left out, though our own client sends them.
var optional = map[string]bool{"engine.Command.By": true, "engine.AuditQuery.Seq": true}

// told adds to the schema of a field what its comment says.
func (g *schemas) told(t reflect.Type, f reflect.StructField, schema object) object {
	about := g.source.about[t.String()+"."+f.Name]
	if about == "" {
		return schema
	}
	schema = maps.Clone(schema)
	schema["description"] = about
	return schema
}

// fits reports how a value does not fit a schema of the document; "" = it does.
func fits(doc *apitest.Document, schema any, v any, at string) string {
	if err := doc.Value(schema, v); err != nil {
		return fmt.Sprintf("%s: %v", at, err)
	}
	return ""
}

// theDocument is the document as it is, read once.
var theDocument = sync.OnceValues(func() (*apitest.Document, error) { return apitest.New(Document) })

func parsed(t *testing.T) *apitest.Document {
	t.Helper()
	doc, err := theDocument()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestEveryTypeFitsTheDocument validates each query and answer, filled to the last
// field and empty, against its schema.
func TestEveryTypeFitsTheDocument(t *testing.T) {
	t.Parallel()
	var doc object
	if err := json.Unmarshal(Document, &doc); err != nil {
		t.Fatal(err)
	}
	named := doc["x-queries"].(object)
	for _, k := range queries {
		row, ok := named[k.name].(object)
		if !ok {
			t.Errorf("the document does not know the query %s", k.name)
			continue
		}
		for part, typ := range map[string]reflect.Type{"query": k.query, "answer": k.answer} {
			for _, v := range []any{filled(typ), empty(typ)} {
				if reflect.ValueOf(v).Kind() == reflect.Pointer && reflect.ValueOf(v).IsNil() {
					continue
				}
				raw, err := encode(v)
				if err != nil {
					t.Fatal(err)
				}
				var got any
				_ = json.Unmarshal(raw, &got)
				if why := fits(parsed(t), row[part], got, k.name); why != "" {
					t.Error(why)
				}
			}
		}
	}
}

// TestTheValidatorSees proves that fits is no rubber stamp.
func TestTheValidatorSees(t *testing.T) {
	doc := parsed(t)
	problem := object{"$ref": "#/components/schemas/Problem"}
	good := object{"type": "urn:x", "title": "t", "status": 404.0, "detail": "d"}
	if why := fits(doc, problem, good, "p"); why != "" {
		t.Fatal(why)
	}
	for name, v := range map[string]any{"status": "404", "job": 7.0, "nonsense": 1.0, "detail": nil} {
		bad := object{}
		for k, x := range good {
			bad[k] = x
		}
		bad[name] = v
		if fits(doc, problem, bad, "p") == "" {
			t.Errorf("%s = %v was taken", name, v)
		}
	}
	delete(good, "title")
	if fits(doc, problem, good, "p") == "" {
		t.Error("a member that is missing was not seen")
	}
}

// Fits checks an answer of the server against its document.
func Fits(method, path string, status int, body []byte) error {
	doc, err := theDocument()
	if err != nil {
		return err
	}
	return doc.Fits(method, path, status, body)
}
