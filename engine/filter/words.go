package filter

import "time"

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
