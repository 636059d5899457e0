package pg

import (
	"encoding"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/farsight-console/farsight/engine"
)

// called are the names of columns by the names of their fields, where the two differ.
//
//	"Group": "waits_for"   the column has another name
//	"Moves": "-"           there is no column
//	"By":    "by_*"        a struct whose fields have columns: by_user, by_session, by_via
type called map[string]string

// fields makes a column of each field of a struct, in their order: LastSync is the column last_sync,
// and Queued, which is a duration, queued_us. What is embedded counts as the struct's own.
//
// So a field that a type gets must get its column in the schema, or a "-" here, before anything of
// that table can be stored.
func fields[T any](names called) func(v *T) []column {
	all := sync.OnceValue(func() []field { return fieldsOf(reflect.TypeFor[T](), "", names) })
	return func(v *T) []column {
		row := reflect.ValueOf(v).Elem()
		columns := make([]column, len(all()))
		for i, f := range all() {
			columns[i] = column{f.name, f.as(row.FieldByIndex(f.index).Addr())}
		}
		return columns
	}
}

// field is a field of a struct, with its column.
type field struct {
	name  string
	index []int
	as    func(at reflect.Value) any // of the pointer to the field that which the column takes
}

// fieldsOf goes through a struct; before is what the names of its columns begin with.
func fieldsOf(t reflect.Type, before string, names called) (all []field) {
	for f := range t.Fields() {
		name, known := names[f.Name]
		inner, apart := strings.CutSuffix(name, "*")
		switch {
		case name == "-":
			continue
		case f.Anonymous || apart:
			for _, own := range fieldsOf(f.Type, before+inner, names) {
				own.index = append([]int{f.Index[0]}, own.index...)
				all = append(all, own)
			}
			continue
		case !known:
			name = columnName(f)
		}
		all = append(all, field{before + name, f.Index, standsAs(f.Type)})
	}
	return all
}

// columnName is how a column is called by its field: PUUIDs is puuids, RiotID riot_id.
func columnName(f reflect.StructField) string {
	var name strings.Builder
	var last rune
	for _, r := range f.Name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			name.WriteByte('_')
		}
		name.WriteRune(unicode.ToLower(r))
		last = r
	}
	if f.Type == reflect.TypeFor[time.Duration]() {
		name.WriteString("_us")
	}
	return name.String()
}

// standing is a pointer to a value as it stands in a column.
func standing[T any](v *T) any { return standsAs(reflect.TypeFor[T]())(reflect.ValueOf(v)) }

// standsAs says how the values of a type stand in a column: see values.go. What is not told of here
// pgx knows itself, or writes as JSON.
func standsAs(t reflect.Type) func(at reflect.Value) any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return pointer[instant]
	case t == reflect.TypeFor[time.Duration]():
		return pointer[span]
	case t == reflect.TypeFor[engine.JobID]():
		return pointer[jobID]
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return func(at reflect.Value) any { return &word{at.Interface().(texts)} }
	}
	switch t.Kind() {
	case reflect.String:
		return pointer[text]
	case reflect.Uint8:
		return pointer[uint8]
	case reflect.Uint64:
		return pointer[uint64]
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return pointer[[]byte]
		}
	}
	return reflect.Value.Interface
}

// pointer is a pointer as one to another type of the same values.
func pointer[T any](at reflect.Value) any { return (*T)(at.UnsafePointer()) }
