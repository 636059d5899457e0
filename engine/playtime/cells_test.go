package playtime

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// celled is a match by its letter, as a test writes it.
func celled(id string, letter byte, played, stored time.Time) league.Match {
	m := league.Match{ID: id, Played: played}
	switch letter {
	case engine.CellStored, engine.CellHad:
		m.Match.Status, m.Match.FetchedAt = league.Success, stored
	case engine.CellRetrying:
		m.Match.Status = league.TemporaryFailure
	case engine.CellGaveUp:
		m.Match.Status = league.PermanentlyUnfetchable
	case engine.CellTooOld:
		m.Match.Status = league.OutsideRetentionWindow
	case engine.CellCancelled:
		m.Match.Status, m.Match.Cancelled = league.TemporaryFailure, league.CancelledAlong
	}
	return m
}

func TestMatchesStandInTheOrderTheyWerePlayed(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 20, 0, 0, 0, time.UTC) }
	none, began := time.Time{}, day(200)
	for name, c := range map[string]struct {
		matches []league.Match
		cells   string
		months  []int
		undated int
	}{
		"nothing":     {nil, "", nil, 0},
		"none dated":  {[]league.Match{celled("EUW1_30", '.', none, none), celled("EUW1_9", 'r', none, none)}, "r.", nil, 2},
		"every state": {[]league.Match{celled("E_1", 's', day(1), began), celled("E_2", 'h', day(2), day(100)), celled("E_3", 'x', none, none), celled("E_4", 'o', day(4), none), celled("E_5", 'c', none, none), celled("E_6", '.', none, none), celled("E_7", 'r', none, none)}, "shxoc.r", []int{0}, 4},
		"between two dates, by their numbers": {
			[]league.Match{celled("EUW1_100", 's', day(60), began), celled("EUW1_20", 's', day(1), began), celled("EUW1_50", 'r', none, none), celled("EUW1_9", '.', none, none), celled("EUW1_101", '.', none, none)},
			".srs.", []int{1, 3}, 3,
		},
		"of another platform, whose numbers say nothing here": {
			[]league.Match{celled("EUW1_100", 's', day(40), began), celled("NA1_5", 'h', day(70), day(3)), celled("NA1_4", 'r', none, none), celled("KR_1", '.', none, none)},
			".srh", []int{1, 3}, 2,
		},
	} {
		for range 2 { // in any order
			slices.Reverse(c.matches)
			b := NewCells(began)
			for _, m := range c.matches {
				b.Add(m, false)
			}
			got := b.Done("a")
			var months []int
			for _, m := range got.Months {
				months = append(months, m.Cell)
			}
			if got.Cells != c.cells || !slices.Equal(months, c.months) || got.Undated != c.undated || got.Older != 0 {
				t.Errorf("%s: %q, months at %v, %d undated; want %q, %v, %d", name, got.Cells, months, got.Undated, c.cells, c.months, c.undated)
			}
		}
	}
}

// However many are known, none is lost, those with dates are in their order, and those
// stored last are told with their cells.
func TestEveryMatchHasItsCell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "matches")
		b, letters := NewCells(time.Time{}), map[byte]int{}
		for i := range n {
			letter := rapid.SampledFrom([]byte("srx.c")).Draw(t, "state")
			played := time.Time{}
			if letter == 's' {
				played = noon.Add(time.Duration(i) * time.Hour)
			}
			letters[letter]++
			b.Add(celled("EUW1_"+string(rune('1'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10)), letter, played, noon.Add(time.Duration(i)*time.Minute)), false)
		}
		got := b.Done("a")
		for _, letter := range []byte(got.Cells) {
			letters[letter]--
		}
		for letter, left := range letters {
			if left != 0 {
				t.Fatalf("%d too few of %c in %s", left, letter, got.Cells)
			}
		}
		for i, s := range got.Newest {
			if got.Cells[s.Cell] != 's' || i > 0 && (s.Stored.After(got.Newest[i-1].Stored) || s.Cell >= got.Newest[i-1].Cell) {
				t.Fatalf("%+v of %s", got.Newest, got.Cells)
			}
		}
	})
}

func TestTheNewestCellsAreKept(t *testing.T) {
	b := NewCells(time.Time{})
	for i := range engine.MostCells + 7 {
		b.Add(celled("EUW1_"+time.Duration(i).String(), 's', noon.Add(time.Duration(i)*time.Minute), noon), false)
	}
	b.Add(league.Match{ID: "EUW1_0"}, true)
	if got := b.Done("a"); len(got.Cells) != engine.MostCells || got.Older != 8 || len(got.Newest) != newestStored {
		t.Errorf("%d cells, %d older, %d newest", len(got.Cells), got.Older, len(got.Newest))
	}
}
