package cron

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

func TestS4_13_ShippedSchedules(t *testing.T) {
	from := time.Date(2026, 3, 4, 12, 10, 0, 0, time.UTC) // a Wednesday
	for expr, want := range map[string]string{
		"0 */1 * * *": "Wed 2026-03-04 13:00",
		"0 3 * * *":   "Thu 2026-03-05 03:00",
		"0 4 * * 1":   "Mon 2026-03-09 04:00",
	} {
		if got := mustParse(t, expr, "").Next(from).Format("Mon 2006-01-02 15:04"); got != want {
			t.Errorf("%s: next is %s, want %s", expr, got, want)
		}
	}
}

func TestParse_Forms(t *testing.T) {
	from := time.Date(2026, 1, 31, 23, 30, 0, 0, time.UTC) // a Saturday
	for expr, want := range map[string]string{
		"@hourly":               "2026-02-01 00:00",
		"@daily":                "2026-02-01 00:00",
		"@weekly":               "2026-02-01 00:00",
		"@monthly":              "2026-02-01 00:00",
		"@yearly":               "2027-01-01 00:00",
		"  5   0  *  *  *  ":    "2026-02-01 00:05",
		"0 12 * FEB-APR mon,5":  "2026-02-02 12:00",
		"10-20/5 6 * * *":       "2026-02-01 06:10",
		"0 0 13 * 5":            "2026-02-06 00:00", // either of the two
		"0 0 ? * FRI":           "2026-02-06 00:00",
		"0 0 29 2 *":            "2028-02-29 00:00",
		"0 0 31 1,3,5,7,8,10 *": "2026-03-31 00:00",
		"0 0-23 * * *":          "2026-02-01 00:00",
		"@every 24h":            "2026-02-01 00:00",
	} {
		if got := mustParse(t, expr, "").Next(from).Format("2006-01-02 15:04"); got != want {
			t.Errorf("%s: next is %s, want %s", expr, got, want)
		}
	}
}

func TestParse_SaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ expr, zone, want string }{
		{"", "", "the schedule is empty"},
		{"* * * *", "", `has 4 fields, not five`},
		{"* * * * * *", "", `has 6 fields, not five`},
		{"61 * * * *", "", `"61" in "61 * * * *" is no minute: use 0 to 59`},
		{"0 24 * * *", "", `is no hour: use 0 to 23`},
		{"0 0 0 * *", "", `is no day of the month: use 1 to 31`},
		{"0 0 * jänner *", "", `is no month`},
		{"0 0 * * 7", "", `is no day of the week: use 0 to 6 or SUN to SAT, 0 is Sunday`},
		{"5-1 * * * *", "", `is no minute`},
		{"*/0 * * * *", "", `is no minute`},
		{", * * * *", "", `is no minute`},
		{"1,,2 * * * *", "", `is no minute`},
		{"0 0 30 2 *", "", `never comes: no such date exists`},
		{"@fortnightly", "", `is no schedule: use @hourly`},
		{"@every 5s", "", `cannot be kept: write a minute or more`},
		{"@every 1h1ms", "", `cannot be kept`},
		{"@every -1h", "", `cannot be kept`},
		{"TZ=UTC", "", `names a time zone inside`},
		{"CRON_TZ=Asia/Seoul 0 0 * * *", "", `names a time zone inside`},
		{"@daily", "Europe/Atlantis", `"Europe/Atlantis" is no time zone: write a name`},
		{"@daily", "../../etc/passwd", `is no time zone`},
		{strings.Repeat("1,", 400) + "1 * * * *", "", `is 809 bytes long`},
	} {
		_, err := Parse(c.expr, c.zone)
		if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error is %v, want %q in it", c.expr, err, c.want)
		}
	}
}

// Whatever is read either is refused or comes, strictly later each time.
func FuzzParse(f *testing.F) {
	for _, c := range changes {
		f.Add(c.expr, c.zone)
	}
	for _, s := range []string{"@every 90m", "@hourly", "TZ= ", ", * * * *", "*/18446744073709551615 * * * *", "0 0 30 2 *", "* * * * 7", "\x00", "+1 * * * *", "? ? ? ? ?"} {
		f.Add(s, "Australia/Lord_Howe")
	}
	start := time.Date(2026, 3, 28, 23, 59, 59, 999, time.UTC)
	f.Fuzz(func(t *testing.T, expr, zone string) {
		s, err := Parse(expr, zone)
		if err != nil {
			if !errors.Is(err, engine.ErrInvalid) {
				t.Fatalf("%q: %v is no clear refusal", expr, err)
			}
			return
		}
		for at, i := start, 0; i < 20; i++ {
			next := s.Next(at)
			if !next.After(at) {
				t.Fatalf("%q in %q: Next(%s) is %s", expr, zone, at, next)
			}
			at = next
		}
		if again, err := Parse(s.Expr(), zone); err != nil || !again.Next(start).Equal(s.Next(start)) {
			t.Fatalf("%q reads back as %q: %v", expr, s.Expr(), err)
		}
	})
}
