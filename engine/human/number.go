// Package human writes durations, sizes and counts for people. Each register has one
// function, whichever surface prints it: sentences, narrow cells, titles, speech.
package human

import "strconv"

// None is what stands where there is no value.
const None = "—"

// Count writes a number with thousands apart: 2,011.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted writes a number of things: 1 call, 2,011 calls.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(int64(n)) + " " + many
}
