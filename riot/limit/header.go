package limit

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limit is one rate limit: N calls per window of length Per.
type Limit struct {
	N   int
	Per time.Duration
}

// String is the header form, "100:120"; windows that are no whole seconds print
// as a duration.
func (l Limit) String() string {
	if l.Per%time.Second != 0 {
		return strconv.Itoa(l.N) + ":" + l.Per.String()
	}
	return strconv.Itoa(l.N) + ":" + strconv.Itoa(int(l.Per/time.Second))
}

const (
	maxPairs   = 16  // Riot sends two; more than this is not a rate-limit header
	maxNumber  = 1e9 // calls; the largest seen is 1,200,000
	maxSeconds = 31 * 86400

	// A limit outside of these bounds is none: one would let everything through, the other
	// stop a host for good.
	mostPerSecond = 100_000
	longestCall   = time.Hour // the window for one call
)

// parseLimits reads X-App-Rate-Limit and X-Method-Rate-Limit ("20:1,100:120").
// The order of the entries means nothing (both orders occur in recordings), so
// the result is sorted by window; of a window stated twice the smaller limit counts.
// An entry that is malformed, or no limit that anybody can mean ("0:1"), makes an
// error; limits are then what is left of the header.
func parseLimits(header string) ([]Limit, error) {
	pairs, err := parsePairs(header)
	limits := slices.DeleteFunc(pairs, func(l Limit) bool {
		rate := float64(l.N) / l.Per.Seconds()
		absurd := rate > mostPerSecond || rate*longestCall.Seconds() < 1
		if absurd {
			err = fmt.Errorf("%s is no limit", l)
		}
		return absurd
	})
	if err != nil {
		err = fmt.Errorf("read rate limit %q: %w", clip(header), err)
	}
	return slices.CompactFunc(limits, sameWindow), err
}

// parseCounts reads X-App-Rate-Limit-Count and X-Method-Rate-Limit-Count. Of a window
// stated twice the larger count is believed: no more calls than that were seen.
func parseCounts(header string) ([]Limit, error) {
	counts, err := parsePairs(header)
	slices.Reverse(counts)
	return slices.CompactFunc(counts, sameWindow), err
}

func sameWindow(a, b Limit) bool { return a.Per == b.Per }

// parsePairs reads entries of a header, sorted by window and then by number. With an error
// they are those that could be read.
func parsePairs(header string) (pairs []Limit, err error) {
	fields := strings.Split(header, ",")
	if len(fields) > maxPairs {
		return nil, fmt.Errorf("%d entries", len(fields))
	}
	for _, field := range fields {
		p, bad := parsePair(strings.Trim(field, " \t"))
		if bad != nil {
			err = bad
			continue
		}
		pairs = append(pairs, p)
	}
	slices.SortStableFunc(pairs, func(a, b Limit) int { return cmp.Or(cmp.Compare(a.Per, b.Per), cmp.Compare(a.N, b.N)) })
	return pairs, err
}

func parsePair(field string) (Limit, error) {
	count, window, found := strings.Cut(field, ":")
	n, okN := digits(count)
	s, okS := digits(window)
	if !found || !okN || !okS || s < 1 || s > maxSeconds {
		return Limit{}, fmt.Errorf("entry %q is not calls:seconds", clip(field))
	}
	return Limit{N: n, Per: time.Duration(s) * time.Second}, nil
}

// digits reads a plain decimal number; signs, spaces and huge values are refused.
func digits(s string) (int, bool) {
	if s == "" || len(s) > 10 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n <= maxNumber
}

// Bounds of an honoured Retry-After.
const (
	minRetryAfter = time.Second
	maxRetryAfter = 24 * time.Hour
)

// ParseRetryAfter reads a Retry-After header, in seconds or as an HTTP date
// relative to the wall-clock time now. What can be read is clamped to 1 s..24 h:
// Riot rounds (0 is seen on windows of 1 s), and a negative, fractional or
// absurd value must neither burst nor bury a bucket. ok is false when nothing
// can be read; then the caller backs off by itself.
func ParseRetryAfter(header string, now time.Time) (d time.Duration, ok bool) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, false
	}
	if strings.Trim(header, "0123456789.eE+-") != "" {
		at, err := http.ParseTime(header)
		return clampRetry(at.Sub(now).Seconds()), err == nil
	}
	// Out of range is still a number: ParseFloat then returns the infinity.
	s, err := strconv.ParseFloat(header, 64)
	if err != nil && !math.IsInf(s, 0) {
		return 0, false
	}
	return clampRetry(s), true
}

func clampRetry(s float64) time.Duration {
	switch {
	case !(s > minRetryAfter.Seconds()):
		return minRetryAfter
	case s > maxRetryAfter.Seconds():
		return maxRetryAfter
	}
	return time.Duration(s * float64(time.Second))
}

// seconds prints a window as buckets are named: "120s", "1s", "500ms".
func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	return d.String()
}

// clip keeps error texts short whatever a server or a proxy sent.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// formatLimits is the inverse of parseLimits.
func formatLimits(limits []Limit) string {
	parts := make([]string, len(limits))
	for i, l := range limits {
		parts[i] = l.String()
	}
	return strings.Join(parts, ",")
}
