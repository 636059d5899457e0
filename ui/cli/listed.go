package cli

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// listed is a value of which every list or map that is nil, however deep, is empty
// instead: encoding/json writes null for nil, and a script that goes through the list breaks
// only on the day when there is nothing in it. What is not copied is shared, and
// nothing that is shared is changed.
func listed(v any) any {
	if v == nil {
		return nil
	}
	return filled(reflect.ValueOf(v)).Interface()
}

// filled copies as much of a value as holds lists.
func filled(v reflect.Value) reflect.Value {
	if encodesItself(v.Type()) {
		return v
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(filled(v.Elem()))
			return c
		}
	case reflect.Interface:
		if !v.IsNil() {
			return filled(v.Elem())
		}
	case reflect.Slice:
		return filledList(v)
	case reflect.Map:
		if v.IsNil() {
			return reflect.MakeMap(v.Type())
		}
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for i := range v.NumField() {
			if f := c.Field(i); f.CanSet() && !(f.IsZero() && leftOut(v.Type().Field(i))) {
				f.Set(filled(f))
			}
		}
		return c
	}
	return v
}

// leftOut reports whether JSON has no member for a field that is zero.
func leftOut(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.Contains(options, "omit")
}

// filledList leaves bytes as they are: they are encoded as a text.
func filledList(v reflect.Value) reflect.Value {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return v
	}
	c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		c.Index(i).Set(filled(v.Index(i)))
	}
	return c
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func encodesItself(t reflect.Type) bool {
	return t.Implements(jsonMarshaler) || t.Implements(textMarshaler) ||
		reflect.PointerTo(t).Implements(jsonMarshaler) || reflect.PointerTo(t).Implements(textMarshaler)
}
