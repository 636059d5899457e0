package filter

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind says what a field holds, and so what may be asked of it.
type Kind uint8

// Kinds of fields.
const (
	Name     Kind = iota // text that names something: a plain value is all of it
	Prose                // text to read: a plain value may stand anywhere in it
	Number               // whole numbers
	Size                 // bytes: 40KB, 1.5MB
	Duration             // 90s, 1h30m
	Past                 // an instant; a duration is how long ago it was
	Ahead                // an instant; a duration is how long until it comes
	Enum                 // words of a fixed list
)

// Word is one word of an Enum field.
type Word struct {
	Name    string
	Aliases []string // other words for it: those of screens and of other tools
	Bits    uint64   // what a row must have one of; several for a word that stands for others
	Help    string   // what it means, where the word alone does not say
}

// Field is one thing that can be asked of a row.
type Field[T any] struct {
	Name    string // lower-case letters, digits and _
	Aliases []string
	Kind    Kind
	Help    string // one phrase, for completion
	Words   []Word // of an Enum, in the order of its states
	Ranks   bool   // the words of an Enum have more and less, in their order
	// Bare is the unit of a Duration without one; 0 = a unit must be given.
	Bare time.Duration
	// Value reads the row. It must not allocate, keep the row or change it: it is
	// called for each row of a list of 100,000.
	Value func(row *T, now time.Time) Value
	// Of makes the field stand for others: a row fits when one of them does.
	// Kind, Words and Value are not used then.
	Of []string
}

// Options are the parts of a schema besides its fields. All name fields.
type Options struct {
	Free  []string // where a word without a field is looked for
	Fuzzy []string // where ~letters are looked for
	Age   string   // what <60s without a field compares
	When  string   // what >12:30 without a field compares
	// Keys are words that begin a text of the form word:rest and are no fields:
	// the keys of jobs look like that.
	Keys []string
}

// Schema is what can be asked of rows of one type. It is never changed.
type Schema[T any] struct {
	fields []Field[T]
	names  map[string]int // of names and aliases
	opts   Options
}

// New makes a schema. It panics when names collide or an option names no field:
// that is an error in the program.
func New[T any](o Options, fields ...Field[T]) *Schema[T] {
	s := &Schema[T]{fields: fields, names: map[string]int{}, opts: o}
	for i, f := range fields {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if _, taken := s.names[name]; taken || !isName(name) {
				panic(fmt.Sprintf("filter: bad or double field name %q", name))
			}
			s.names[name] = i
		}
	}
	s.check()
	return s
}

// check panics where a field has no value, or an option or an Of names none: that is an error in the
// program.
func (s *Schema[T]) check() {
	used := slices.Concat(s.opts.Free, s.opts.Fuzzy)
	for _, f := range s.fields {
		used = append(used, f.Of...)
		if (f.Value == nil) == (f.Of == nil) {
			panic(fmt.Sprintf("filter: field %q needs Value or Of", f.Name))
		}
	}
	for _, name := range append(used, s.opts.Age, s.opts.When) {
		if f, ok := s.field(name); name != "" && (!ok || f.Of != nil) {
			panic(fmt.Sprintf("filter: %q is no field of its own", name))
		}
	}
}

// Fields lists the fields in the order they were given.
func (s *Schema[T]) Fields() []Field[T] { return slices.Clone(s.fields) }

// field is the field of a name or an alias.
func (s *Schema[T]) field(name string) (*Field[T], bool) {
	i, ok := s.names[strings.ToLower(name)]
	if !ok {
		return nil, false
	}
	return &s.fields[i], true
}

// targets are the fields that a field stands for: itself, or those it is Of. Of does not reach further than
// one step: check refuses a field that stands for others among them.
func (s *Schema[T]) targets(f *Field[T]) []*Field[T] {
	if f.Of == nil {
		return []*Field[T]{f}
	}
	return s.list(f.Of)
}

// list are the fields of names that check has looked at.
func (s *Schema[T]) list(names []string) []*Field[T] {
	list := make([]*Field[T], 0, len(names))
	for _, name := range names {
		f, _ := s.field(name)
		list = append(list, f)
	}
	return list
}

// isName reports whether a text can be the name of a field.
func isName(s string) bool {
	return s != "" && nameEnd(s, 0) == len(s)
}

// nameEnd is where the field name that starts at i ends; i if there is none.
func nameEnd(s string, i int) int {
	start := i
	for i < len(s) && (isLetter(s[i]) || i > start && isDigit(s[i])) {
		i++
	}
	return i
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

const (
	bitYes uint64 = 1 << iota
	bitNo
)

// YesNo makes an Enum field of a fact that is true of a row or not.
func YesNo[T any](name, help string, fact func(*T) bool, aliases ...string) Field[T] {
	return Field[T]{
		Name: name, Aliases: aliases, Kind: Enum, Help: help,
		Words: []Word{{Name: "yes", Aliases: []string{"true", "on", "1"}, Bits: bitYes},
			{Name: "no", Aliases: []string{"false", "off", "0"}, Bits: bitNo}},
		Value: func(row *T, _ time.Time) Value { return flag(fact(row)) },
	}
}
