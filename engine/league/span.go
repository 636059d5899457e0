package league

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Span is a calendar length of time. Retention is counted in calendar years
// (S0-4), which leap years make longer or shorter than n times 365 days. The
// zero Span means "off".
type Span struct {
	Years, Months, Days int
}

var spanForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,3})(y|mo|w|d)$`) })

// ParseSpan reads "2y", "18mo", "6w", "90d" or "0" (off).
func ParseSpan(s string) (Span, error) {
	if s == "0" {
		return Span{}, nil
	}
	m := spanForm().FindStringSubmatch(s)
	if m == nil {
		return Span{}, fmt.Errorf("%q is no length of time: write 2y, 18mo, 6w, 90d, or 0 for off", s)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return Span{}, fmt.Errorf("%q is no length of time: %w", s, err)
	}
	return map[string]Span{"y": {Years: n}, "mo": {Months: n}, "w": {Days: 7 * n}, "d": {Days: n}}[m[2]], nil
}

// Off reports whether the span means "no limit".
func (s Span) Off() bool { return s == Span{} }

// Before is the instant that lies the span before now, in UTC.
func (s Span) Before(now time.Time) time.Time {
	return now.UTC().AddDate(-s.Years, -s.Months, -s.Days)
}

// Expired reports whether something played at t is strictly older than the span
// at now. Exactly the span is not expired; an unknown instant is not either.
func (s Span) Expired(t, now time.Time) bool {
	return !s.Off() && !t.IsZero() && t.Before(s.Before(now))
}

// String is what ParseSpan reads; "0" of one that is off.
func (s Span) String() string {
	switch {
	case s.Off():
		return "0"
	case s.Years > 0:
		return strconv.Itoa(s.Years) + "y"
	case s.Months > 0:
		return strconv.Itoa(s.Months) + "mo"
	}
	return strconv.Itoa(s.Days) + "d"
}
