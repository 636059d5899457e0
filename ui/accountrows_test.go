package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// manySyncs is a development key's engine with 60 accounts: one has a few matches left, and the last five wait to begin.
func manySyncs() uitest.Scene {
	s := uitest.DevKey(60, uitest.Noon)
	near := &s.Update.Accounts[40].Matches
	near.Stored, near.Open = near.Total-1, 1
	for i := range 5 {
		a := &s.Update.Accounts[55+i]
		a.Status, a.Phase, a.Matches = engine.SyncPending, "", engine.Progress{Total: -1}
		s.Jobs = slices.DeleteFunc(s.Jobs, func(j engine.JobRow) bool { return j.Owner == a.ID })
		j := engine.JobRow{Place: 2*i + 3, Line: "full europe/account-v1", Until: uitest.Noon.Add(time.Duration(i+20) * time.Second)}
		j.ID, j.Key, j.Kind, j.State, j.Owner, j.Created = a.Job, "full:"+a.ID, engine.Kind("account.sync"), engine.Available, a.ID, uitest.Noon
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

// TestV6e_EachAccountSaysWhatIsItsOwn: of many accounts each row has its own instant, what ends next is the first, and
// one that waits to begin says its place.
func TestV6e_EachAccountSaysWhatIsItsOwn(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, manySyncs(), size[0], size[1], testOptions())
			d.press("2")
			d.wait(time.Second)
			row := regexp.MustCompile(`Player (\d+)#DEV +● SYNCING .*? \d+/120 +(now|[\d.m]+ s|[\d.m]+) `)
			var who, when []string
			for _, line := range strings.Split(d.screen(), "\n") {
				if m := row.FindStringSubmatch(line); m != nil {
					who, when = append(who, m[1]), append(when, m[2])
				}
			}
			if len(who) < 18 || who[0] != "41" || who[1] != "1" {
				t.Errorf("%v: %d rows, those at work are %v\n%s", size, len(who), who, d.screen())
			}
			slices.Sort(when)
			if n := len(slices.Compact(when)); n < 15 {
				t.Errorf("%v: %d rows tell %d instants\n%s", size, len(who), n, d.screen())
			}
			d.press("G")
			for i := range 5 {
				at := d.rowWith(fmt.Sprintf("Player %d#DEV", 56+i), "○ QUEUED")
				if at == "" || size[0] > 100 && !strings.Contains(at, []string{"3rd", "5th", "7th", "9th", "11th"}[i]+" in line") {
					t.Errorf("%v: %q does not say its place", size, at)
				}
			}
		})
	}
}
