package app

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestW6_AnEndIsGuessedWhileListsAreRead: while the lists of some syncs are not read yet, the end that is guessed from
// those that are is off by a third at most, and by less than the one before which it cannot be: it goes by the first
// lists, which may be short ones.
func TestW6_AnEndIsGuessedWhileListsAreRead(t *testing.T) {
	longest(t)
	var players []sim.PlayerSpec
	for i := range 60 {
		players = append(players, flowPlayer(fmt.Sprintf("P%d#ETA", i), []int{4, 20, 6, 2, 14, 8, 3}[i%7]))
	}
	inFlow(t, flowRiot("20:1,100:120", players...), func(f *flow) {
		for _, p := range players {
			f.sync(p)
		}
		s, said := f.sit("ana", 160, 45), regexp.MustCompile(`done after (\d\d:\d\d:\d\d), about (\d\d:\d\d)`)
		told := map[time.Time][]time.Time{} // the bound and the guess
		f.until("the end", time.Hour, func() (ended bool) {
			if m := said.FindStringSubmatch(s.glass.text()); m != nil {
				bound, err := time.Parse(time.TimeOnly, m[1])
				guess, err2 := time.Parse("15:04", m[2])
				if err != nil || err2 != nil {
					t.Fatalf("%q", m[0])
				}
				told[time.Now()] = []time.Time{bound, guess}
			}
			ended = true
			for _, row := range ask[engine.AccountsPage](t, f.task.front, engine.AccountsQuery{}).Accounts {
				ended = ended && !row.Status.Open()
			}
			return ended
		})
		end := time.Now()
		for at, said := range told {
			off := func(told time.Time) time.Duration {
				return end.Sub(at.Truncate(24 * time.Hour).Add(told.Sub(told.Truncate(24 * time.Hour)))).Abs()
			}
			if bound, guess := off(said[0]), off(said[1]); guess > end.Sub(at)/3 || guess > bound {
				t.Errorf("%v before the end it was off by %v, the bound by %v", end.Sub(at), guess, bound)
			}
		}
		if len(told) < 3 {
			t.Errorf("an end was guessed %d times", len(told))
		}
	})
}
