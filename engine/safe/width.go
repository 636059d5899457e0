package safe

import (
	"strings"
	"unicode/utf8"
)

// RuneWidth returns the cells of one rune of clean text: 0, 1 or 2.
func RuneWidth(r rune) int {
	if r < 0x7f {
		return 1
	}
	return cond.RuneWidth(r)
}

// Width returns the cells of clean text.
func Width(s string) int {
	w := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return w + wide(s[i:])
		}
		w++
	}
	return w
}

func wide(s string) int {
	w := 0
	for _, r := range s {
		w += RuneWidth(r)
	}
	return w
}

// Cut shortens clean text at its end to at most so many cells; the last one
// is then a single … however much was lost.
func Cut(s string, cells int) string { return CutEnd(s, cells, string(ellipsis)) }

// CutEnd is Cut with another sign than …, for terminals without it.
func CutEnd(s string, cells int, sign string) string {
	if len(s) <= cells || Width(s) <= cells {
		return s
	}
	room := cells - Width(sign)
	if room < 0 {
		return ""
	}
	return s[:prefix(s, room)] + sign
}

// cutStart shortens clean text at its start, for ids that differ at the end.
func cutStart(s string, cells int) string {
	if len(s) <= cells || Width(s) <= cells {
		return s
	}
	if cells < 1 {
		return ""
	}
	return string(ellipsis) + s[suffix(s, cells-1):]
}

// idTail is how much of an id's end must stay for its prefix to be worth its
// cells.
const idTail = 3

// CutMiddle shortens an id: KR_7214550881 in seven cells is KR_…881. What
// ends in _ or : names the kind and stays whole where there is room; an id
// without one keeps its two ends.
func CutMiddle(s string, cells int) string {
	if len(s) <= cells || Width(s) <= cells {
		return s
	}
	if cells < idTail+2 {
		return cutStart(s, cells)
	}
	room := cells - 1
	head := strings.LastIndexAny(s, "_:") + 1
	if head == 0 || Width(s[:head]) > room-idTail {
		head = prefix(s, room/2)
	}
	return s[:head] + string(ellipsis) + s[suffix(s, room-Width(s[:head])):]
}

// PadRight fills clean text with spaces to so many cells; longer text is cut.
func PadRight(s string, cells int) string {
	s = Cut(s, cells)
	return s + spaces(cells-Width(s))
}

// PadLeft is PadRight for numbers: they stand at the right.
func PadLeft(s string, cells int) string {
	s = Cut(s, cells)
	return spaces(cells-Width(s)) + s
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// prefix returns the length in bytes of the longest start of s within cells,
// with the marks of its last letter.
func prefix(s string, cells int) int {
	for i, r := range s {
		w := RuneWidth(r)
		if w > cells {
			return i
		}
		cells -= w
	}
	return len(s)
}

// suffix returns where the longest end of s within cells begins. It never
// begins with the mark of a letter that is cut off.
func suffix(s string, cells int) int {
	at := len(s)
	for i := len(s); i > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		w := RuneWidth(r)
		if w > cells {
			break
		}
		cells -= w
		i -= n
		if w > 0 {
			at = i
		}
	}
	return at
}
