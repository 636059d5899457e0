package filter

import (
	"strconv"
	"strings"
	"time"
)

// quantity is a number with the step of its smallest unit: 5m is any time from
// 5 minutes to less than 6, and 1.5h of 90 minutes to less than 96, since its
// last digit stands for six.
type quantity struct{ n, step int64 }

// unit is a word behind a number and how many of the smallest unit it stands for.
type unit struct {
	name string
	n    int64
}

// Units, longer names before those they begin with.
var (
	spans = []unit{
		{"ms", int64(time.Millisecond)}, {"us", int64(time.Microsecond)}, {"µs", int64(time.Microsecond)}, {"ns", 1},
		{"w", int64(7 * day)}, {"d", int64(day)}, {"h", int64(time.Hour)}, {"min", int64(time.Minute)},
		{"m", int64(time.Minute)}, {"s", int64(time.Second)},
	}
	sizes = []unit{
		{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30},
		{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1},
	}
	shares = []unit{{"%", 1}} // a number may say that it is a share
)

const day = 24 * time.Hour

// most bounds every quantity: 200 years in nanoseconds. Sums and differences of
// two of them and an instant stay within 64 bits.
const most = int64(200 * 365 * day)

// readQuantity reads a number and its units; several of them add up: 1h30m.
// bare is the unit of a number without one, 0 = it must have one.
func readQuantity(s string, units []unit, bare int64) (quantity, bool) {
	s = strings.ToLower(s)
	sign := int64(1)
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		s, sign = rest, -1
	}
	sum := quantity{step: most}
	for first := true; s != "" || first; first = false {
		part, rest, ok := readPart(s, units, bare)
		if !ok || sum.n > most-part.n {
			return quantity{}, false
		}
		sum.n, sum.step = sum.n+part.n, min(sum.step, part.step)
		s, bare = rest, 0 // 1h30 is not clear: only a lone number may be bare
	}
	sum.n *= sign
	return sum, true
}

// readPart reads one number with its unit: 1.5h. 15 digits and 9 behind the point are all that a person
// writes, and never overflow.
func readPart(s string, units []unit, bare int64) (q quantity, rest string, ok bool) {
	whole, s := takeDigits(s)
	part, point := "", strings.HasPrefix(s, ".")
	if point {
		part, s = takeDigits(s[1:])
	}
	size := bare
	for _, u := range units {
		if tail, found := strings.CutPrefix(s, u.name); found {
			size, s = u.n, tail
			break
		}
	}
	if point == (part == "") || whole == "" || size == 0 || len(whole) > 15 || len(part) > 9 {
		return quantity{}, "", false
	}
	return scale(whole, part, size, s)
}

// scale multiplies whole.part by a unit, exactly: what is smaller than 1 is an
// error, so that 0.5 tries do not become 0. Floating point would not do: 0.1 of
// a second must fit the 100 ms that a row has.
func scale(whole, part string, size int64, rest string) (quantity, string, bool) {
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > most/size {
		return quantity{}, "", false
	}
	n, step := n*size, size
	for i := range len(part) {
		if step%10 != 0 {
			return quantity{}, "", false
		}
		step /= 10
		n += int64(part[i]-'0') * step
	}
	return quantity{n, step}, rest, n <= most
}

// takeDigits parts the digits at the start of s from the rest.
func takeDigits(s string) (digits, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}
