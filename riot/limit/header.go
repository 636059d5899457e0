package limit

import (
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
)

// parseLimits reads X-App-Rate-Limit and X-Method-Rate-Limit ("20:1,100:120").
// The order of the entries means nothing (both orders occur in recordings), so
// the result is sorted by window. An empty header, a malformed entry, a zero or
// a window stated twice is an error, and then nothing may be learnt from it.
func parseLimits(header string) ([]Limit, error) {
	limits, err := parsePairs(header)
	if err != nil {
		return nil, fmt.Errorf("read rate limit %q: %w", clip(header), err)
	}
	for _, l := range limits {
		if l.N < 1 {
			return nil, fmt.Errorf("read rate limit %q: a limit of 0 calls", clip(header))
		}
	}
	return limits, nil
}

func parsePairs(header string) ([]Limit, error) {
	fields := strings.Split(header, ",")
	if len(fields) > maxPairs {
		return nil, fmt.Errorf("%d entries", len(fields))
	}
	pairs := make([]Limit, 0, len(fields))
	for _, field := range fields {
		p, err := parsePair(strings.Trim(field, " \t"))
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b Limit) int { return int(a.Per/time.Second) - int(b.Per/time.Second) })
	for i := 1; i < len(pairs); i++ {
		if pairs[i].Per == pairs[i-1].Per {
			return nil, fmt.Errorf("two entries for %s", seconds(pairs[i].Per))
		}
	}
	return pairs, nil
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
