package limit

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseLimits(t *testing.T) {
	good := map[string][]Limit{
		"20:1,100:120":              {{20, time.Second}, {100, 2 * time.Minute}},
		"100:120,20:1":              {{20, time.Second}, {100, 2 * time.Minute}},
		"100:120, 20:1":             {{20, time.Second}, {100, 2 * time.Minute}},
		"20000:10,1200000:600":      {{20000, 10 * time.Second}, {1200000, 10 * time.Minute}},
		"500:1,20:1,30:1":           {{20, time.Second}},
		"2000:10":                   {{2000, 10 * time.Second}},
		"0000000002:0000000001":     {{2, time.Second}},
		"1000000000:2678400":        {{1e9, 31 * 24 * time.Hour}},
		" 1:1 ":                     {{1, time.Second}},
		"10:2,30:10,50:60,9999:600": {{10, 2 * time.Second}, {30, 10 * time.Second}, {50, time.Minute}, {9999, 10 * time.Minute}},
	}
	for header, want := range good {
		if got, err := parseLimits(header); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v", header, got, err)
		}
	}
	bad := []string{
		"", " ", ",", "20", "20:", ":1", "20:1,", "20:1,,100:120", "-20:1", "+20:1", "20:-1", "20:0", "0:1", "20:1:3",
		"20:1.5", "2e1:1", "0x14:1", "20;1", "twenty:1", "20 :1", "20: 1", "20:1\n100:120", "1000000001:1",
		"99999999999999999999:1", "1:2678401", "１:1", strings.Repeat("1:1,", 20) + "1:1",
	}
	for _, header := range bad {
		if got, err := parseLimits(header); err == nil {
			t.Errorf("%q: got %v, want an error", header, got)
		} else if len(err.Error()) > 300 {
			t.Errorf("%q: error of %d characters", header, len(err.Error()))
		}
	}
}

// TestP20_RetryAfter: whatever Retry-After says, the delay is 1 s to 24 h or the
// caller backs off by itself.
func TestP20_RetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	cases := []struct {
		header string
		want   time.Duration // 0: not readable
	}{
		{"1", time.Second}, {"7", 7 * time.Second}, {" 7 ", 7 * time.Second}, {"86400", 24 * time.Hour},
		{"0", time.Second}, {"-1", time.Second}, {"-1e18", time.Second}, {"0.2", time.Second}, {"1.5", 1500 * time.Millisecond},
		{"86401", 24 * time.Hour}, {"1e18", 24 * time.Hour}, {"1e999", 24 * time.Hour}, {"-1e999", time.Second},
		{"9223372036854775808", 24 * time.Hour}, {strings.Repeat("9", 400), 24 * time.Hour},
		{date(90 * time.Second), 90 * time.Second}, {date(-time.Hour), time.Second}, {date(100 * time.Hour), 24 * time.Hour},
		{"Fri, 31 Dec 9999 23:59:59 GMT", 24 * time.Hour},
		{"", 0}, {" ", 0}, {"abc", 0}, {"NaN", 0}, {"Inf", 0}, {"-", 0}, {"1,5", 0}, {"1 s", 0}, {"0x10", 0}, {"1_0", 0}, {"e", 0}, {"1-2", 0},
	}
	for _, c := range cases {
		got, ok := ParseRetryAfter(c.header, now)
		if ok != (c.want > 0) || ok && got != c.want {
			t.Errorf("%q: got %v, %v, want %v", c.header, got, ok, c.want)
		}
	}
}

// TestP20_ManyValues: 10,000 numbers, none of which overflows or goes backwards.
func TestP20_ManyValues(t *testing.T) {
	for i := -10000; i <= 10000; i++ {
		d, ok := ParseRetryAfter(fmt.Sprint(i*97), time.Now())
		if !ok || d < time.Second || d > 24*time.Hour {
			t.Fatalf("%d: %v, %v", i*97, d, ok)
		}
	}
	for strikes := -1; strikes < 10000; strikes++ {
		if d := backoff(strikes); d < time.Second || d > 80*time.Second {
			t.Fatalf("strike %d: %v", strikes, d)
		}
	}
}

func FuzzParseLimits(f *testing.F) {
	for _, seed := range []string{"20:1,100:120", "100:120,20:1", "1:1,113:120", "", ",", "20:1,20:1", "-1:1", "9999999999:9", "1:1\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		limits, err := parseLimits(header)
		if err != nil {
			if limits != nil {
				t.Fatalf("limits %v beside the error %v", limits, err)
			}
			return
		}
		for i, l := range limits {
			if l.N < 1 || l.Per < time.Second || i > 0 && l.Per <= limits[i-1].Per {
				t.Fatalf("%q gives %v", header, limits)
			}
		}
		again, err := parseLimits(formatLimits(limits))
		if err != nil || !slices.Equal(again, limits) {
			t.Fatalf("%q: %v printed and read again is %v, %v", header, limits, again, err)
		}
	})
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, seed := range []string{"0", "-1", "1e18", "abc", "1.5", "NaN", "Fri, 21 Nov 2026 12:00:00 GMT", "-1e999", "+", "."} {
		f.Add(seed, int64(1795262400))
	}
	f.Fuzz(func(t *testing.T, header string, now int64) {
		d, ok := ParseRetryAfter(header, time.Unix(now, 0))
		if ok && (d < time.Second || d > 24*time.Hour) {
			t.Fatalf("%q at %d: %v", header, now, d)
		}
	})
}
