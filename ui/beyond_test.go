package ui

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/screen/audit"
	"github.com/farsight-console/farsight/ui/uitest"
)

// crowd is a busy engine with n more jobs that wait, all in one queue.
func crowd(n int) uitest.Scene {
	scene := uitest.Busy()
	for _, j := range uitest.Many(n) {
		j.State, j.Why, j.Tries = engine.Available, "far back in line", 0
		scene.Jobs = append(scene.Jobs, j)
	}
	scene.Update.Queues[0].Counts[engine.Available] += n
	return scene
}

// TestFilterFindsTheJobAtPlace600: a list of the first 500 jobs says that it is one, and a
// filter looks at the others as well.
func TestFilterFindsTheJobAtPlace600(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scene := crowd(1500)
		sought := scene.Jobs[len(uitest.Busy().Jobs)+594]
		d := open(t, scene, 120, 40, testOptions())
		d.press("3")
		d.wants("2,233 AVAILABLE", " more, the last goes in ")
		d.press("/")
		d.text(`id:` + string(sought.ID))
		d.rest()
		d.press("enter")
		d.wants("JOBS 1 of ", "KR_7214550594")
		d.press("esc", "esc") // the message, then the filter
		d.wait(3 * time.Second)
		d.wants("2,233 AVAILABLE", " more, the last goes in ")
	})
}

// TestGroupsCountAllJobs, in however many pages they come; the line that says how many more
// there are lists them.
func TestGroupsCountAllJobs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, crowd(7000), 120, 40, testOptions())
		d.press("3")
		d.wait(3 * time.Second)
		d.wants("7,733 AVAILABLE", " more, the last goes in ")
		d.toMore()
		d.press("enter")
		d.wait(3 * time.Second) // a long list follows its rows once a second
		d.wants("JOBS 7,006 · ")
	})
}

// toMore goes down to the line that says how many more jobs a group has.
func (d *desk) toMore() {
	d.t.Helper()
	for range 40 {
		if regexp.MustCompile(`▌ +… `).MatchString(ansi.Strip(d.m.frame)) {
			return
		}
		d.press("j")
	}
	d.t.Error("no group has more jobs than fit")
}

// TestAccountsSayHowManyThereAre: a list that does not hold every account says so.
func TestAccountsSayHowManyThereAre(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scene := uitest.Busy()
		scene.Update.Engine.Accounts = 12_345
		d := open(t, scene, 120, 40, testOptions())
		d.press("2")
		d.wants("the first 6 of 12,345")
	})
}

// TestListsSayThatThereIsMore: a list that is not read to its end says so.
func TestListsSayThatThereIsMore(t *testing.T) {
	long(t)
	bubble(t, func(t *testing.T) {
		scene := uitest.Busy()
		for i := range 600 {
			scene.Audit = append(scene.Audit, engine.AuditEntry{Seq: uint64(10_000 + i), Op: engine.OpRetry, Target: "job", At: uitest.Noon})
		}
		one := scene.Matches[0]
		scene.Matches = nil
		for i := range 20_600 {
			one.ID = "EUW1_" + strconv.Itoa(100_000+i)
			scene.Matches = append(scene.Matches, one)
		}
		d := open(t, scene, 120, 40, testOptions())
		d.show(audit.New())
		d.wants("AUDIT 500 · the newest 500, farsight audit has more")
		d.press("6")
		d.wants("MATCHES 500 · the first of 13,283 · by id")
		for range 45 {
			d.press("G")
			d.wait(2 * time.Second)
		}
		d.wants("MATCHES 20,000 · the first · no more are read here, farsight matches has all")
	})
}

// TestAccountMovesWhileItsSyncRuns: its last matches, and where the time went, are read
// anew when anything was stored, although the account itself has not changed.
func TestAccountMovesWhileItsSyncRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 120, 40, testOptions())
		d.show(accounts.NewAccount("a-wren"))
		asked := func() (n int) {
			for _, q := range d.fake.Asked() {
				if one, ok := q.(engine.AccountQuery); ok && one.ID == "a-wren" {
					n++
				}
			}
			return n
		}
		d.wait(3 * time.Second)
		before := asked()
		d.wait(10 * time.Second)
		if asked() != before {
			t.Error("asked again although nothing was stored")
		}
		d.send(engine.Update{Seq: 5001})
		d.wait(3 * time.Second)
		if asked() == before {
			t.Error("not asked again when something was stored")
		}
	})
}

// manyWindows is a scene with so many windows that no screen has room for all; used is of
// each.
func manyWindows(n, used int) uitest.Scene {
	scene := uitest.Busy()
	limits := *scene.Update.Limits
	one := limits.Buckets[0]
	limits.Buckets = nil
	for i := range n {
		b := one
		b.Window, b.Used, b.Waiting = time.Duration(i+1)*time.Second, used, 0
		limits.Buckets = append(limits.Buckets, b)
	}
	scene.Update.Limits = &limits
	return scene
}

// TestLimitsSayWhatThereIsNoRoomFor, and an idle engine that knows its limits shows some.
func TestLimitsSayWhatThereIsNoRoomFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, manyWindows(19, 0), 120, 40, testOptions())
		d.lacks("no limit is known yet")
		d.press("5")
		d.wants(" more: tab goes there")
	})
}
