package cron

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func mustParse(t testing.TB, expr, zone string) Schedule {
	t.Helper()
	s, err := Parse(expr, zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Both changes of 2026 in the zones of P-22. Times are local with their offset.
// Seoul has no change: its rows show that nothing moves there.
var changes = []struct{ zone, expr, from, want string }{
	// Berlin: 29 March 02:00 -> 03:00, 25 October 03:00 -> 02:00.
	{"Europe/Berlin", "30 2 * * *", "2026-03-28T00:00+01:00", "03-28T02:30+01:00 03-29T03:00+02:00 03-30T02:30+02:00"},
	{"Europe/Berlin", "30 2 * * *", "2026-10-24T00:00+02:00", "10-24T02:30+02:00 10-25T02:30+02:00 10-26T02:30+01:00"},
	{"Europe/Berlin", "*/15 * * * *", "2026-03-29T01:30+01:00", "03-29T01:45+01:00 03-29T03:00+02:00 03-29T03:15+02:00"},
	{"Europe/Berlin", "*/15 * * * *", "2026-10-25T02:30+02:00", "10-25T02:45+02:00 10-25T02:00+01:00 10-25T02:15+01:00 10-25T02:30+01:00 10-25T02:45+01:00 10-25T03:00+01:00"},
	{"Europe/Berlin", "0 * * * *", "2026-10-25T01:00+02:00", "10-25T02:00+02:00 10-25T02:00+01:00 10-25T03:00+01:00"},
	{"Europe/Berlin", "0 */1 * * *", "2026-03-29T01:00+01:00", "03-29T03:00+02:00 03-29T04:00+02:00"},
	{"Europe/Berlin", "*/15 2 * * *", "2026-03-29T00:00+01:00", "03-29T03:00+02:00 03-30T02:00+02:00"},
	{"Europe/Berlin", "*/15 2,3 * * *", "2026-03-29T00:00+01:00", "03-29T03:00+02:00 03-29T03:15+02:00 03-29T03:30+02:00"},
	{"Europe/Berlin", "*/30 2 * * *", "2026-10-25T00:00+02:00", "10-25T02:00+02:00 10-25T02:30+02:00 10-26T02:00+01:00"},
	{"Europe/Berlin", "0 3 * * *", "2026-10-24T12:00+02:00", "10-25T03:00+01:00 10-26T03:00+01:00"},
	{"Europe/Berlin", "0 */2 * * *", "2026-03-29T00:00+01:00", "03-29T03:00+02:00 03-29T04:00+02:00"},
	{"Europe/Berlin", "0 4 * * MON", "2026-03-28T00:00+01:00", "03-30T04:00+02:00 04-06T04:00+02:00"},
	{"Europe/Berlin", "30 2 * * *", "2026-10-25T02:10+01:00", "10-26T02:30+01:00"}, // in the second pass
	// New York: 8 March 02:00 -> 03:00, 1 November 02:00 -> 01:00.
	{"America/New_York", "30 2 * * *", "2026-03-07T12:00-05:00", "03-08T03:00-04:00 03-09T02:30-04:00"},
	{"America/New_York", "30 1 * * *", "2026-10-31T12:00-04:00", "11-01T01:30-04:00 11-02T01:30-05:00"},
	{"America/New_York", "*/15 * * * *", "2026-11-01T01:40-04:00", "11-01T01:45-04:00 11-01T01:00-05:00 11-01T01:15-05:00"},
	{"America/New_York", "59 23 * * *", "2026-03-07T23:59-05:00", "03-08T23:59-04:00"},
	// Seoul: no change.
	{"Asia/Seoul", "30 2 * * *", "2026-03-28T12:00+09:00", "03-29T02:30+09:00 03-30T02:30+09:00"},
	{"Asia/Seoul", "*/15 * * * *", "2026-10-25T02:50+09:00", "10-25T03:00+09:00 10-25T03:15+09:00"},
	{"Asia/Seoul", "0 0 29 2 *", "2026-01-01T00:00+09:00", "02-29T00:00+09:00"},
	// Lord Howe, half an hour: 5 April 02:00 -> 01:30, 4 October 02:00 -> 02:30.
	{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00+10:30", "10-04T02:30+11:00 10-05T02:15+11:00"},
	{"Australia/Lord_Howe", "45 1 * * *", "2026-04-04T12:00+11:00", "04-05T01:45+11:00 04-06T01:45+10:30"},
	{"Australia/Lord_Howe", "*/15 * * * *", "2026-04-05T01:30+11:00", "04-05T01:45+11:00 04-05T01:30+10:30 04-05T01:45+10:30 04-05T02:00+10:30"},
	{"Australia/Lord_Howe", "*/15 * * * *", "2026-10-04T01:30+10:30", "10-04T01:45+10:30 10-04T02:30+11:00 10-04T02:45+11:00"},
	{"Australia/Lord_Howe", "0,30 2 * * *", "2026-10-03T12:00+10:30", "10-04T02:30+11:00 10-05T02:00+11:00"},
	// Stranger ones: midnight that does not exist, and a day that does not.
	{"America/Santiago", "0 0 * * *", "2026-09-05T12:00-04:00", "09-06T01:00-03:00 09-07T00:00-03:00"},
	// The last day of a leap year beyond the tables of tzdata.
	{"Europe/Berlin", "0 3 * * *", "2040-12-30T12:00+01:00", "12-31T03:00+01:00 01-01T03:00+01:00"},
	{"Europe/Berlin", "0 * * * *", "2040-12-31T23:30+01:00", "01-01T00:00+01:00 01-01T01:00+01:00"},
	{"America/New_York", "0 0 1 1 *", "2040-12-31T12:00-05:00", "01-01T00:00-05:00"},
	{"Pacific/Apia", "0 3 30 12 *", "2011-12-29T12:00-10:00", "12-31T00:00+14:00"},
	{"Pacific/Kwajalein", "0 12 * * *", "1969-09-29T13:00+11:00", "09-30T12:00+11:00 10-01T12:00-12:00"},
}

func TestP22_BothChangesOfTheClock(t *testing.T) {
	for _, c := range changes {
		t.Run(strings.ReplaceAll(c.zone+" "+c.expr+" "+c.from, "/", "_"), func(t *testing.T) {
			s := mustParse(t, c.expr, c.zone)
			at, err := time.Parse("2006-01-02T15:04Z07:00", c.from)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range strings.Fields(c.want) {
				next := s.Next(at)
				if !next.After(at) {
					t.Fatalf("%s is not after %s", next, at)
				}
				got, at = append(got, next.Format("01-02T15:04Z07:00")), next
			}
			if all := strings.Join(got, " "); all != c.want {
				t.Errorf("got  %s\nwant %s", all, c.want)
			}
		})
	}
}

// A quarter of an hour is one, whatever the clocks do: through a whole year.
func TestP22_QuartersAreRealThroughAYear(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Asia/Seoul", "Australia/Lord_Howe"} {
		s := mustParse(t, "*/15 * * * *", zone)
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 365 * 96 {
			next := s.Next(at)
			if next.Sub(at) != 15*time.Minute {
				t.Fatalf("%s: from %s to %s it is %s", zone, at, next, next.Sub(at))
			}
			at = next
		}
	}
}

func TestP22_EveryIsRealTimeFromTheEpoch(t *testing.T) {
	s := mustParse(t, "@every 90m", "Europe/Berlin")
	at := time.Date(2026, 3, 29, 0, 0, 0, 1, time.UTC)
	for i := 1; i <= 5; i++ {
		want := time.Date(2026, 3, 29, 0, 90*i, 0, 0, time.UTC)
		if at = s.Next(at); !at.Equal(want) {
			t.Fatalf("tick %d is %s, want %s", i, at, want)
		}
	}
}

// zones of the properties: those of P-22, two hours at once, midnight changes, and
// none at all.
var zones = []string{"Europe/Berlin", "America/New_York", "Asia/Seoul", "Australia/Lord_Howe", "Antarctica/Troll", "America/Santiago", "Africa/Casablanca", "Pacific/Apia", "UTC"}

// sets is an expression that the oracle can read without a parser.
type sets struct {
	minute, hour, day, month, weekday []int // nil = *
}

func (s sets) String() string {
	words := make([]string, 0, 5)
	for _, set := range [][]int{s.minute, s.hour, s.day, s.month, s.weekday} {
		word := "*"
		if set != nil {
			word = strings.Trim(strings.ReplaceAll(fmt.Sprint(set), " ", ","), "[]")
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func holds(set []int, n int) bool { return set == nil || slices.Contains(set, n) }

// plans reports whether the expression names a local time, given as UTC.
func (s sets) plans(local time.Time) bool {
	day, weekday := holds(s.day, local.Day()), holds(s.weekday, int(local.Weekday()))
	date := day && weekday
	if s.day != nil && s.weekday != nil {
		date = day || weekday
	}
	return holds(s.minute, local.Minute()) && holds(s.hour, local.Hour()) && holds(s.month, int(local.Month())) && date
}

// oracle walks minute by minute. It knows no zone rules but what a clock shows.
func (s sets) oracle(zone *time.Location, from, to time.Time) (ticks []int64) {
	shown := time.Time{} // the latest local time that the clock has shown
	for t := from.Add(-30 * time.Hour); !t.After(to); t = t.Add(time.Minute) {
		at := t.In(zone)
		local := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC)
		due := false
		if s.hour == nil {
			due = s.plans(local)
		} else if !shown.IsZero() {
			for l := shown.Add(time.Minute); !l.After(local); l = l.Add(time.Minute) {
				due = due || s.plans(l)
			}
		}
		if local.After(shown) {
			shown = local
		}
		if due && t.After(from) {
			ticks = append(ticks, t.Unix())
		}
	}
	return ticks
}

func drawSet(t *rapid.T, name string, low, high int) []int {
	switch rapid.IntRange(0, 3).Draw(t, name+" kind") {
	case 0:
		return nil
	case 1: // every so many
		var set []int
		for n, by := low, rapid.IntRange(2, 20).Draw(t, name+" step"); n <= high; n += by {
			set = append(set, n)
		}
		return set
	}
	set := rapid.SliceOfNDistinct(rapid.IntRange(low, high), 1, 5, rapid.ID[int]).Draw(t, name)
	slices.Sort(set)
	return set
}

// drawChange gives an instant near a change of the zone's clock, if it has any.
func drawChange(t *rapid.T, zone *time.Location) time.Time {
	at := time.Date(rapid.IntRange(2005, 2060).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month of start")), 1, 0, 0, 0, 0, time.UTC)
	if _, end := at.In(zone).ZoneBounds(); !end.IsZero() {
		at = end.UTC().Truncate(time.Minute) // a bound need be no change
	}
	return at.Add(-time.Duration(rapid.IntRange(0, 36*60).Draw(t, "minutes before")) * time.Minute)
}

func TestP22_NextAgreesWithASlowOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(zones).Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		s := sets{minute: drawSet(t, "minute", 0, 59), hour: drawSet(t, "hour", 0, 22), weekday: drawSet(t, "weekday", 0, 6)}
		if rapid.Bool().Draw(t, "days") {
			s.day = drawSet(t, "day", 1, 28)
		}
		from := drawChange(t, zone)
		to := from.Add(48 * time.Hour)
		sched, err := Parse(s.String(), name)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		var got []int64
		for at := sched.Next(from); !at.After(to); at = sched.Next(at) {
			if len(got) > 0 && at.Unix() <= got[len(got)-1] {
				t.Fatalf("%s in %s: %s is not strictly later", s, name, at)
			}
			got = append(got, at.Unix())
		}
		if want := s.oracle(zone, from, to); !slices.Equal(got, want) {
			t.Fatalf("%s in %s from %s:\ngot  %v\nwant %v", s, name, from, shown(got, zone), shown(want, zone))
		}
	})
}

func shown(unix []int64, zone *time.Location) (out []string) {
	for _, u := range unix[:min(len(unix), 40)] {
		out = append(out, time.Unix(u, 0).In(zone).Format("01-02T15:04Z07:00"))
	}
	return out
}

// From any instant, also within a minute and long ago, Next is strictly later, and
// no instant between the two has another answer.
func TestP22_NextIsStrictlyLaterAndWithoutHoles(t *testing.T) {
	exprs := []string{"* * * * *", "*/15 * * * *", "30 2 * * *", "0 0 * * *", "15 1-3 * * *", "0 4 * * 1", "0 0 29 2 *", "@monthly", "@every 7m"}
	rapid.Check(t, func(t *rapid.T) {
		s := mustParseRapid(t, rapid.SampledFrom(exprs).Draw(t, "expr"), rapid.SampledFrom(zones).Draw(t, "zone"))
		from := time.Unix(rapid.Int64Range(-3e9, 6e9).Draw(t, "from"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		next := s.Next(from)
		if !next.After(from) {
			t.Fatalf("Next(%s) is %s", from, next)
		}
		between := from.Add(time.Duration(rapid.Float64Range(0, 1).Draw(t, "part") * float64(next.Sub(from))))
		if between.Before(next) && !s.Next(between).Equal(next) {
			t.Fatalf("Next(%s) is %s, but Next(%s) is %s", from, next, between, s.Next(between))
		}
	})
}

func mustParseRapid(t *rapid.T, expr, zone string) Schedule {
	s, err := Parse(expr, zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
