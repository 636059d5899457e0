// Package human writes durations, sizes and counts for people. Each register has one
// function, whichever surface prints it: sentences, narrow cells, titles, speech.
//
// What is not known is [None] or, in what commands print, "-". No function here reads a clock: whoever
// calls gives the instant of now. Measured spans and sizes are rounded down, and a part never seems to
// be all.
package human

import (
	"fmt"
	"math"
	"strconv"
)

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

// Brief is a number in at most w characters as far as its digits allow: 12,345 or 12k.
func Brief(n int64, w int) string {
	s := Count(n)
	for _, unit := range []string{"k", "M", "G", "T"} {
		if len(s) <= w || n < 1000 {
			break
		}
		n /= 1000
		s = Count(n) + unit
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

// Bytes writes a size: 1,204 B, 41 KB, 3.1 MB; a KB is 1,000 bytes. It is rounded down.
func Bytes(n int64) string {
	v := float64(max(n, 0))
	switch {
	case v < 1e4:
		return Count(int64(v)) + " B"
	case v < 1e6:
		return strconv.Itoa(int(v/1e3)) + " KB"
	case v < 1e9:
		return fmt.Sprintf("%.1f MB", math.Floor(v/1e5)/10)
	}
	return fmt.Sprintf("%.1f GB", math.Floor(v/1e8)/10)
}

// Percent writes a share: 15 %. Only all is 100 %, only nothing 0 %.
func Percent(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return None
	case ratio <= 0:
		return "0 %"
	case ratio < 0.01:
		return "<1 %"
	case ratio < 1:
		return strconv.Itoa(min(int(math.Round(ratio*100)), 99)) + " %"
	}
	return strconv.Itoa(int(math.Round(math.Min(ratio, 9.99)*100))) + " %"
}

// Ordinal writes 1st, 2nd, 3rd, 4th, 11th, 21st …
func Ordinal(n int) string {
	suffix := [...]string{"th", "st", "nd", "rd"}
	last := n % 10
	if last > 3 || n%100 >= 11 && n%100 <= 13 {
		last = 0
	}
	return strconv.Itoa(n) + suffix[last]
}
