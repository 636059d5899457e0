package sim

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ParseFault reads faults as a person types them: the name of a scene (outage), or a kind
// and what bounds it, by the names that /sim/faults takes: 503,method=match-v5.match,rate=0.05.
func ParseFault(text string) ([]Fault, error) {
	// "503,method=match-v5.match,rate=0.05,each=true"
	words := strings.Split(text, ",")
	if list, err := Preset(words[0]); err == nil && len(words) == 1 {
		return list, nil
	}
	f := Fault{Kind: Kind(words[0])}
	fields := fieldsOf(&f)
	for i := 1; i < len(words); i++ {
		name, value, _ := strings.Cut(words[i], "=")
		// "limits=500:1,20:1" has a comma of its own.
		for i+1 < len(words) && !strings.Contains(words[i+1], "=") && strings.Contains(words[i+1], ":") {
			i++
			value += "," + words[i]
		}
		// A space after the comma is forgiven, a mistyped name is not.
		field, ok := fields[strings.TrimSpace(name)]
		if !ok {
			names := strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
			return nil, fmt.Errorf("fault %q: %q is unknown: use one of %s", text, name, names)
		}
		if err := setField(field, value); err != nil {
			return nil, fmt.Errorf("fault %q: %s: %w", text, name, err)
		}
	}
	if effects[f.Kind] == nil {
		return nil, fmt.Errorf("fault %q: %q is neither a scene nor a kind: scenes are %s; kinds are %s",
			text, words[0], strings.Join(presetNames(), ", "), strings.Join(kindNames(), ", "))
	}
	return []Fault{f}, f.check()
}

// kindNames lists the kinds of fault.
func kindNames() (names []string) {
	for _, k := range slices.Sorted(maps.Keys(effects)) {
		names = append(names, string(k))
	}
	return names
}

// fieldsOf are the fields of a fault and of its match, by their names in JSON.
func fieldsOf(f *Fault) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for _, v := range []reflect.Value{reflect.ValueOf(f).Elem(), reflect.ValueOf(&f.Match).Elem()} {
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			fields[name] = v.Field(i)
		}
	}
	// "match" is given by its fields, and "kind" by the first word.
	delete(fields, "match")
	delete(fields, "kind")
	return fields
}

// setField sets a field of a fault; of those with 64 bits all are durations.
func setField(field reflect.Value, text string) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Int64:
		d, err := parseSpan(text)
		if err != nil {
			return err
		}
		field.SetInt(int64(d))
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		field.SetInt(int64(n))
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		field.SetFloat(x)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		field.SetBool(b)
	}
	return nil
}
