package playtime

import (
	"math"
	"math/rand"
	"testing"
	"time"
	_ "time/tzdata" // the zones of these tests, wherever they run

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestMinutesAreSplitAtLocalHours(t *testing.T) {
	const mon, thu, fri, sat, sun = 0, 3, 4, 5, 6
	type part struct{ day, hour, minutes int }
	for name, c := range map[string]struct {
		zone    string
		start   time.Time // UTC
		minutes int
		want    []part
	}{
		"inside an hour":         {"UTC", time.Date(2026, 11, 20, 12, 5, 0, 0, time.UTC), 30, []part{{fri, 12, 30}}},
		"over an edge":           {"UTC", time.Date(2026, 11, 20, 12, 45, 0, 0, time.UTC), 30, []part{{fri, 12, 15}, {fri, 13, 15}}},
		"ends at an edge":        {"UTC", time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC), 30, []part{{fri, 12, 30}}},
		"over Sunday's midnight": {"UTC", time.Date(2026, 11, 22, 23, 50, 0, 0, time.UTC), 20, []part{{sun, 23, 10}, {mon, 0, 10}}},
		"Seoul is nine ahead":    {"Asia/Seoul", time.Date(2026, 11, 20, 14, 50, 0, 0, time.UTC), 30, []part{{fri, 23, 10}, {sat, 0, 20}}},
		"no time":                {"UTC", time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), 0, nil},
		// 2026-03-29: 02:00 becomes 03:00 in Berlin.
		"Berlin skips an hour": {"Europe/Berlin", time.Date(2026, 3, 29, 0, 50, 0, 0, time.UTC), 20, []part{{sun, 1, 10}, {sun, 3, 10}}},
		// 2026-10-25: 03:00 becomes 02:00 again.
		"Berlin repeats an hour": {"Europe/Berlin", time.Date(2026, 10, 24, 23, 50, 0, 0, time.UTC), 140, []part{{sun, 1, 10}, {sun, 2, 60}, {sun, 2, 60}, {sun, 3, 10}}},
		// 2026-04-05: 02:00 becomes 01:30 on Lord Howe Island.
		"Lord Howe repeats half an hour": {"Australia/Lord_Howe", time.Date(2026, 4, 4, 14, 50, 0, 0, time.UTC), 60, []part{{sun, 1, 10}, {sun, 1, 30}, {sun, 2, 20}}},
		// 2026-10-04: 02:00 becomes 02:30.
		"Lord Howe skips half an hour": {"Australia/Lord_Howe", time.Date(2026, 10, 3, 15, 20, 0, 0, time.UTC), 50, []part{{sun, 1, 10}, {sun, 2, 30}, {sun, 3, 10}}},
		// Half an hour beside UTC the year round.
		"Kolkata": {"Asia/Kolkata", time.Date(2026, 11, 19, 18, 20, 0, 0, time.UTC), 20, []part{{thu, 23, 10}, {fri, 0, 10}}},
	} {
		z := zone(t, c.zone)
		got := split(c.start, time.Duration(c.minutes)*time.Minute, z)
		ok := len(got) == len(c.want)
		for i := 0; ok && i < len(got); i++ {
			ok = got[i] == slice{got[i].at, c.want[i].day, c.want[i].hour, time.Duration(c.want[i].minutes) * time.Minute}
		}
		if !ok {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The parts of a game always add up to the game, each within one local hour.
func TestSplitLosesNothing(t *testing.T) {
	zones := []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "Asia/Seoul"), zone(t, "Australia/Lord_Howe"), zone(t, "Asia/Kolkata")}
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.SampledFrom(zones).Draw(t, "zone")
		at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "start"))
		length := time.Duration(rapid.Int64Range(-1e12, 2e14).Draw(t, "length"))
		var sum time.Duration
		for _, s := range split(at, length, z) {
			if s.length <= 0 || s.length > time.Hour || s.day < 0 || s.day > 6 || s.hour < 0 || s.hour > 23 {
				t.Fatalf("part %+v", s)
			}
			if day, hour := hourOf(at.Add(sum), z); day != s.day || hour != s.hour {
				t.Fatalf("part %+v lies in %d %d", s, day, hour)
			}
			sum += s.length
		}
		if want := min(max(length, 0), LongestGame); sum != want {
			t.Fatalf("parts add up to %v, not %v", sum, want)
		}
	})
}

func TestTheReportCountsGamesWhereTheyStart(t *testing.T) {
	b := NewReport("a", time.UTC, noon)
	b.Add(league.Game{Played: noon.Add(50 * time.Minute), Duration: 30 * time.Minute, QueueID: 420, Here: true})
	b.Add(league.Game{Played: noon.Add(-24 * time.Hour), Duration: 20 * time.Minute, QueueID: 450, Here: true})
	b.Add(league.Game{Played: noon, Duration: time.Hour}) // without the player
	b.Add(league.Game{Here: true})                        // tells no time
	r := b.out
	if r.Matches != 3 || r.LeftOut != 1 || r.ByQueue[420] != 1 || r.ByQueue[450] != 1 {
		t.Errorf("%+v", r)
	}
	if r.Games[4][12] != 1 || r.Games[4][13] != 0 || r.Minutes[4][12] != 10 || r.Minutes[4][13] != 20 || r.Minutes[3][12] != 20 {
		t.Errorf("Friday %v %v", r.Games[4], r.Minutes[4])
	}
	if !r.First.Equal(noon.Add(-24*time.Hour)) || !r.Last.Equal(noon.Add(50*time.Minute)) || r.Zone != "UTC" {
		t.Errorf("%v to %v in %s", r.First, r.Last, r.Zone)
	}
}

// A remake is a game that nobody has won: neither the week nor a champion counts it as lost.
func TestW1_ARemakeIsNeitherWonNorLost(t *testing.T) {
	recent, week := NewRecent("a", time.UTC, 1), NewWeek("2026-11-16", noon.AddDate(0, 0, -7), noon.AddDate(0, 0, 7), time.UTC, noon)
	games := []league.Game{
		{Played: noon, Duration: 30 * time.Minute, Here: true, Won: true, Champion: "Ahri"},
		{Played: noon, Duration: 3 * time.Minute, Here: true, Won: true, Remake: true, Champion: "Ahri"},
	}
	for _, g := range games {
		recent.Add(g)
	}
	week.Add(engine.WeeklyAccount{}, games)
	play, account := recent.Done(), week.Done().Accounts[0]
	for _, sum := range [][3]int{
		{play.Weeks[0].Games, play.Weeks[0].Wins, play.Weeks[0].Remakes},
		{play.Champions[0].Games, play.Champions[0].Wins, play.Champions[0].Remakes},
		{account.Games, account.Wins, account.Remakes},
	} {
		if sum != [3]int{2, 1, 1} {
			t.Errorf("2 games, 1 won, 1 remake: %v", sum)
		}
	}
}

// Sums of minutes are whole numbers of nanoseconds divided once: in key order
// they are the same bits each time; in any order they agree to the last digits.
func TestS3_13_SumsAgreeInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	games := make([]league.Game, 200)
	for i := range games {
		games[i] = league.Game{Played: noon.Add(time.Duration(r.Intn(1e6)) * time.Second), Duration: time.Duration(r.Intn(3000)) * time.Second, Here: true}
	}
	a, b := NewReport("a", time.UTC, noon), NewReport("a", time.UTC, noon)
	for i := range games {
		a.Add(games[i])
		b.Add(games[len(games)-1-i])
	}
	for d := range 7 {
		for h := range 24 {
			if math.Abs(a.out.Minutes[d][h]-b.out.Minutes[d][h]) > 1e-9 || a.out.Games[d][h] != b.out.Games[d][h] {
				t.Fatalf("%d %d: %v and %v", d, h, a.out.Minutes[d][h], b.out.Minutes[d][h])
			}
		}
	}
}
