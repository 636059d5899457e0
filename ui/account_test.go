package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/uitest"
)

// A stranger asks: when is this account done? The screen says it as a clock and as a time
// to go, the bar where it will be by then, and why it is not known where it is not.
func TestStranger_WhenIsThisAccountDone(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.show(accounts.NewAccount("a-kain"))
			d.wants("done ~12:48:16, in 16:4", "134", "+4 min", "879", "745 left")
		})
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Browse(), size[0], size[1], testOptions())
			d.show(accounts.NewAccount("a-oslo"))
			d.wants("✓ DONE", "synced ", "412 stored")
			d.lacks("done ~")
		})
	}
}

// What an account shows that does not sync is true of how it ended.
func TestAccountsThatDoNotSync(t *testing.T) {
	for id, wants := range map[string][]string{
		"a-oslo":  {"✓ DONE", "412 MATCHES", "LAST SYNCS", "+18", "NEXT", "a sync", "12:45:00", "STORED LAST"},
		"a-wren":  {"✗ FAILED", "ended 33 min ago", "503: Service unavailable", "12 could not be had", "LAST SYNCS"},
		"a-quiet": {"NEVER", "never synced", "none yet", "12:45:00", "known with the first match"},
	} {
		busy(t, func(d *desk) {
			d.show(accounts.NewAccount(id))
			d.wants(wants...)
		})
	}
}

// While a sync goes on the account's figures and cells move; what they stand under does
// not.
func TestAccountKeepsItsPlaces(t *testing.T) {
	busy(t, func(d *desk) {
		d.show(accounts.NewAccount("a-kain"))
		titles := func() (rows []string) {
			for _, title := range []string{"879 MATCHES", "PACE", "ONE MATCH TAKES", "JUST STORED", "WHEN THEY PLAY", "● matches", "retrying,", "gave up", "to come", "now", "7 report"} {
				for y, row := range strings.Split(ansi.Strip(d.m.frame), "\n") {
					if x := strings.Index(row, title); x >= 0 {
						rows = append(rows, title, string(rune('0'+y)), string(rune('0'+ansi.StringWidth(row[:x]))))
						break
					}
				}
			}
			return rows
		}
		was, frame := strings.Join(titles(), " "), d.m.frame
		a, _ := d.m.data().Account("a-kain")
		moved := 0
		for i := range 20 {
			a.Matches.Stored, a.Matches.Open = a.Matches.Stored+7, a.Matches.Open-7
			for j := range d.fake.Scene.Update.Accounts {
				if d.fake.Scene.Update.Accounts[j].ID == a.ID {
					d.fake.Scene.Update.Accounts[j] = a
				}
			}
			d.send(engine.Update{Seq: uint64(8000 + i), Accounts: []engine.AccountRow{a}})
			d.wait(time.Second)
			if now := strings.Join(titles(), " "); now != was {
				t.Fatalf("after %d s the places are\n%s\nthey were\n%s", i+1, now, was)
			}
			if d.m.frame != frame {
				moved++
			}
			frame = d.m.frame
		}
		if moved < 15 {
			t.Errorf("it moved %d times in 20 seconds", moved)
		}
		d.wants("271 stored")
	})
}
