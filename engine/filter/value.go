package filter

import "time"

// Value is what a field of one row holds. The zero Value is "there is none". Which of its members
// counts is told by the kind of its field alone.
type Value struct {
	text string
	list *[]string
	n    int64 // a number; nanoseconds; nanoseconds since 1970; a set of words
	set  bool
}

// Text is the value of a Text or Prose field.
func Text[S ~string](s S) Value { return Value{text: string(s), set: s != ""} }

// Texts is the value of a field that holds several texts, such as tags. A row
// fits when one of them does. It takes the row's own list by its address, since
// a Value is passed in registers as long as it is small.
func Texts(list *[]string) Value {
	if len(*list) == 0 {
		return Value{}
	}
	return Value{list: list, set: true}
}

// Count is the value of a Number or Size field.
func Count[N ~int | ~int64 | ~uint8 | ~uint64](n N) Value { return Value{n: int64(n), set: true} }

// Span is the value of a Duration field. A negative one counts as none at all
// of it: a clock that was set back makes ages negative (row P-36).
func Span(d time.Duration) Value { return Value{n: int64(max(d, 0)), set: true} }

// At is the value of a Time field; a zero instant is none.
func At(t time.Time) Value {
	if t.IsZero() {
		return Value{}
	}
	return Value{n: t.UnixNano(), set: true}
}

// Since is the age of an instant as a Duration; a zero instant has none.
func Since(t, now time.Time) Value {
	if t.IsZero() {
		return Value{}
	}
	return Span(now.Sub(t))
}

// Bits is the value of an Enum field: the words that are true of the row, each
// by the bit that its Word names.
func Bits(set uint64) Value { return Value{n: int64(set), set: set != 0} }

// Has reports whether a set of words holds one of these.
func (v Value) Has(bits uint64) bool { return uint64(v.n)&bits != 0 }

// flag is the value of a field made by [YesNo]. A row that has not the fact has a value, too, so that
// paused:no finds it.
func flag(yes bool) Value {
	if yes {
		return Bits(bitYes)
	}
	return Bits(bitNo)
}
