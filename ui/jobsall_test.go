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

// withEnded are some jobs of a development key in line, and so many that were completed.
func withEnded(ended int) uitest.Scene {
	s := uitest.DevKey(60, uitest.Noon)
	inLine := s.Jobs[:60]
	s.Jobs = nil
	for i := range ended {
		j := inLine[0]
		j.ID, j.State, j.Finished, j.Place, j.Line = engine.JobID(fmt.Sprint("e", i)), engine.Completed, uitest.Noon.Add(-time.Duration(i)*time.Second), 0, ""
		s.Jobs = append(s.Jobs, j)
	}
	s.Jobs = append(s.Jobs, inLine...)
	s.Update.Jobs, s.Update.Queues = nil, s.Update.Queues[:1]
	s.Update.Queues[0].Counts = map[engine.State]int{engine.Available: len(inLine)}
	return s
}

// TestV7q_TheTitleCountsWhatIsListed: in a list of all jobs those that have ended are in the title, one that holds only
// some of them says so, and where nothing is left to do no 0 stands beside them.
func TestV7q_TheTitleCountsWhatIsListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := withEnded(160)
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		d.press("s", "s")
		d.wait(3 * time.Second)
		d.wants("JOBS 220 of all queues", "60 AVAILABLE", "160 COMPLETED")
		d.lacks("the newest of them")

		ran := s.Jobs[0]
		ran.ID, ran.State, ran.Started = "ran", engine.Running, uitest.Noon
		s.Jobs = append(s.Jobs, ran) // it has ended since: Watch does not tell of it
		d = open(t, s, 120, 40, testOptions())
		d.press("3")
		d.press("s", "s")
		d.wait(3 * time.Second)
		d.wants("0 running", "0 RUNNING")
		s.Jobs = s.Jobs[:len(s.Jobs)-1]

		browse := uitest.Browse()
		browse.Update.Jobs = nil // nothing is watched
		d = open(t, browse, 120, 40, testOptions())
		d.press("3")
		d.press("s", "s")
		d.wait(3 * time.Second)
		d.wants("JOBS 753", "4 running", "4 RUNNING")

		gaveUp := s.Jobs[0]
		gaveUp.ID, gaveUp.State, gaveUp.Class = "gaveup", engine.Discarded, "404"
		s.Update.Queues[0].Counts[engine.Discarded] = 1
		d = open(t, s, 120, 40, testOptions())
		d.fake.Scene.Jobs = []engine.JobRow{gaveUp}
		d.press("3")
		d.wait(3 * time.Second)
		d.fake.Page, d.fake.Scene.Jobs = 200, s.Jobs
		d.press("s", "s")
		d.wait(3 * time.Second)
		d.wants("JOBS 221 of all queues", "60 AVAILABLE", "1 DISCARDED", "160 COMPLETED  the newest of them")

		s.Jobs = s.Jobs[:40]
		s.Update.Queues[0].Counts = map[engine.State]int{engine.Available: 0}
		d = open(t, s, 120, 40, testOptions())
		d.press("3")
		d.wait(3 * time.Second)
		d.wants("JOBS none live · the newest that ended", "40 COMPLETED")
	})
}

// TestV7r_APlaceIsCountedWhereTheListHasThoseBefore: a list of all jobs, which has read the newest alone, has those that
// go next too, and one that a filter leaves tells the place that the engine gave.
func TestV7r_APlaceIsCountedWhereTheListHasThoseBefore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := withEnded(0)
		slices.Reverse(s.Jobs)
		far := s.Jobs[10]
		d := open(t, s, 120, 40, testOptions())
		d.fake.Page = 20
		d.press("3")
		d.press("s", "s")
		d.wait(3 * time.Second)
		row := ""
		if m := regexp.MustCompile(`▌ +(EUW1_\d+)`).FindStringSubmatch(d.screen()); m != nil {
			row = "match:" + m[1]
		}
		if d.wants("1st in line of its queue"); !slices.ContainsFunc(s.Jobs[56:], func(j engine.JobRow) bool { return j.Key == row }) { // the first has left by now
			t.Errorf("%q stands first:\n%s", row, d.screen())
		}
		d.press("/")
		d.text(strings.TrimPrefix(far.Key, "match:"))
		d.press("enter")
		d.wait(3 * time.Second)
		if place, ok := number(`(\d+)\w\w in line of its queue`, d.screen()); !ok || place != far.Place {
			t.Errorf("%d in line, and not %d:\n%s", place, far.Place, d.screen())
		}
	})
}

// TestV7s_TheFailedHaveTheList: a list of what failed has no group, and no lines, of jobs in line.
func TestV7s_TheFailedHaveTheList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := withEnded(0)
		for i := range s.Jobs[:30] {
			j := &s.Jobs[i]
			j.State, j.Class, j.LastError, j.Place, j.Line = engine.Discarded, "404", "404", 0, ""
		}
		s.Update.Queues[0].Counts = map[engine.State]int{engine.Available: 30, engine.Discarded: 30}
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		d.wait(3 * time.Second)
		d.press("s")
		d.wait(3 * time.Second)
		if d.lacks("AVAILABLE "); strings.Count(d.screen(), " never") < 10 || len(regexp.MustCompile(`(?m)(^ *│? *$\n){9}`).FindString(d.screen())) > 0 {
			t.Errorf("the failed do not fill their list:\n%s", d.screen())
		}
	})
}

// TestV7q_NothingIsKeptFreeWhenAllHasEnded: the groups that come and go with each call keep their rows while work goes on,
// and for a moment after it, in which more may come.
func TestV7q_NothingIsKeptFreeWhenAllHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := withEnded(40)
		s.Jobs = s.Jobs[:40]
		s.Update.Queues[0].Counts = map[engine.State]int{engine.Available: 0}
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		d.wait(3 * time.Second)
		d.wants("40 COMPLETED")
		d.lacks("0 RUNNING", "0 AVAILABLE", "0 RETRYABLE")

		busy := withEnded(40)
		d = open(t, busy, 120, 40, testOptions())
		d.press("3")
		d.wait(3 * time.Second)
		d.wants("0 RUNNING", "0 RETRYABLE")
		u := busy.Update
		u.Seq, u.Queues = u.Seq+1, slices.Clone(u.Queues)
		u.Queues[0].Counts = map[engine.State]int{engine.Available: 0}
		d.fake.Scene.Jobs = s.Jobs
		d.send(u)
		d.wait(5 * time.Second)
		d.wants("0 RUNNING", "0 RETRYABLE")
		d.wait(10 * time.Second)
		d.wants("40 COMPLETED")
		d.lacks("0 RUNNING", "0 AVAILABLE", "0 RETRYABLE")
	})
}

// TestV7w_AFilterHasTheGroupsToItself: what it leaves is listed on a small screen too, without the place of what is in line, and
// the prompt counts as the title does.
func TestV7w_AFilterHasTheGroupsToItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		for i := range 4 {
			j := &s.Jobs[i]
			j.State, j.Tries, j.Place, j.Line, j.Due, j.Class = engine.Retryable, 1, 0, "", uitest.Noon.Add(time.Minute), "5xx"
			if i == 3 { // in line for its next try
				j.State, j.Due = engine.Available, uitest.Noon.Add(-time.Second)
			}
		}
		s.Update.Jobs = s.Jobs[:20]
		s.Update.Queues[0].Counts = map[engine.State]int{engine.Available: 117, engine.Retryable: 3}
		s.Update.Queues[0].Again = 1
		d := open(t, s, 80, 24, testOptions())
		d.press("3")
		d.wait(3 * time.Second)
		d.press("/")
		d.text("state:retryable")
		d.wait(3 * time.Second)
		if d.lacks("AVAILABLE "); strings.Count(d.screen(), "EUW1_") < 4 {
			t.Errorf("the retries are not listed:\n%s", d.screen())
		}
		if all := regexp.MustCompile(`4 of [\d,]+`).FindAllString(d.screen(), -1); len(all) != 2 || all[0] != all[1] {
			t.Errorf("the title and the prompt say %q:\n%s", all, d.screen())
		}
		d.press("enter")
		d.press("esc")
		d.press("/")
		d.text("zzz")
		d.wait(3 * time.Second)
		if all := regexp.MustCompile(`0 of [\d,]+`).FindAllString(d.screen(), -1); len(all) != 3 || all[0] != all[1] || all[1] != all[2] {
			t.Errorf("the title, the list and the prompt say %q:\n%s", all, d.screen())
		}
	})
}
