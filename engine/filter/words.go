package filter

import "time"

const (
	bitYes uint64 = 1 << iota
	bitNo
)

// field makes a field that does not depend on the present.
func field[T any](name string, kind Kind, help string, value func(*T) Value, aliases ...string) Field[T] {
	return Field[T]{
		Name: name, Aliases: aliases, Kind: kind, Help: help,
		Value: func(row *T, _ time.Time) Value { return value(row) },
	}
}

func (f Field[T]) with(words []Word) Field[T] { f.Words = words; return f }

func (f Field[T]) bare(unit time.Duration) Field[T] { f.Bare = unit; return f }

// YesNo makes an Enum field of a fact that is true of a row or not.
func YesNo[T any](name, help string, fact func(*T) bool, aliases ...string) Field[T] {
	return Field[T]{
		Name: name, Aliases: aliases, Kind: Enum, Help: help,
		Words: []Word{{Name: "yes", Aliases: []string{"true", "on", "1"}, Bits: bitYes}, {Name: "no", Aliases: []string{"false", "off", "0"}, Bits: bitNo}},
		Value: func(row *T, _ time.Time) Value { return Flag(fact(row)) },
	}
}

// wordValue is the value of a row that keeps its word as text.
func wordValue(words []Word, text string) Value {
	for i := range words {
		if words[i].Name == text {
			return Bits(words[i].Bits)
		}
	}
	return Value{}
}
