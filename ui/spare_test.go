package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen"
	"github.com/farsight-console/farsight/ui/screen/jobs"
	"github.com/farsight-console/farsight/ui/uitest"
)

// header is the row of titles of the list of jobs.
func (d *desk) header() string {
	for line := range strings.Lines(d.screen()) {
		if strings.Contains(line, "JOB  ") && strings.Contains(line, "STATE") {
			return line
		}
	}
	return ""
}

// TestJobs_WorkerBytesAndByAreShownWhenAskedFor: a column that is off by default comes
// on at any size, before what is dropped otherwise, and goes again.
func TestJobs_WorkerBytesAndByAreShownWhenAskedFor(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("3", "b")
			d.rest()
			if h := d.header(); strings.Contains(h, "WORKER") || strings.Contains(h, "BYTES") || !strings.Contains(h, "RESULT") {
				t.Errorf("%v: unasked the columns are %s", size, h)
			}
			for i, name := range []string{"BY ", "BYTES", "WORKER"} { // from the last one up
				keys := append([]string{"c", "G"}, slices.Repeat([]string{"k"}, i)...)
				d.press(append(keys, "enter", "esc")...)
				d.rest()
				if h := d.header(); !strings.Contains(h, name) || !strings.Contains(h, "RESULT") || !strings.Contains(h, "STATE") {
					t.Errorf("%v: with %s the columns are %s", size, name, h)
				}
				d.press(append(keys, "enter", "esc")...)
				d.rest()
				if h := d.header(); strings.Contains(h, name) {
					t.Errorf("%v: without %s the columns are %s", size, name, h)
				}
			}
		})
	}
}

// On a screen with room to spare they are there unasked, and can be taken away.
func TestJobs_AWideScreenShowsItAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 250, 60, testOptions())
		d.press("3", "b")
		d.rest()
		d.wants("WORKER", "BYTES", "ana")
		d.press("c", "G", "k", "k", "enter", "esc")
		d.rest()
		if h := d.header(); strings.Contains(h, "WORKER") || !strings.Contains(h, "BYTES") {
			t.Errorf("the columns are %s", h)
		}
		d.press("c", "G", "k", "k", "enter", "esc")
		d.rest()
		d.wants("WORKER")
	})
}

// The text that a row is read for keeps its room whatever was asked for, and at the
// widest of the usual sizes nothing comes unasked that would cut it.
func TestJobs_TheReasonKeepsItsRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 120, 40, testOptions())
		d.press("3", "b", "c", "G", "k", "enter", "k", "enter", "esc")
		d.rest()
		if h := d.header(); !strings.Contains(h, "WORKER") || !strings.Contains(h, "BYTES") {
			t.Errorf("the columns are %s", h)
		}
		d.wants("503 service unava") // 18 cells of it
		d = open(t, uitest.Busy(), 200, 60, testOptions())
		d.press("3", "b")
		d.rest()
		if h := d.header(); strings.Contains(h, "WORKER") || strings.Contains(h, "BYTES") || strings.Contains(h, "QUEUE") {
			t.Errorf("the columns are %s", h)
		}
		d.wants("503 service unavailable  ", "waits for 745 of 879 matches  ")
	})
}

// A list of live jobs that is empty because all have ended says how to see them; the
// rail says how many of them were discarded and are kept.
func TestJobs_EmptyListSaysWhereTheEndedAre(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Empty()
		s.Update.Engine.Stored = 12
		s.Update.Queues = []engine.QueueRow{{QueueState: engine.QueueState{Name: uitest.Full}, Counts: map[engine.State]int{engine.Discarded: 2}}}
		d := open(t, s, 120, 40, testOptions())
		d.press("3", "b", "Q")
		d.rest()
		d.wants("every job has ended", "s shows the failed, again all", "discarded 2")
		d.lacks("dead")
	})
}

// They are filtered by as any other.
func TestJobs_FilterByWorkerBytesAndBy(t *testing.T) {
	for query, want := range map[string][]string{
		"by:ana":                 {"JOBS 2 of 23", "full:a-kain", "latest:a-oslo"},
		"worker:2 state:running": {"JOBS 1 of 23", "KR_7214550778"},
		"bytes>3KB":              {"JOBS 1 of 23", "full:a-kain"},
	} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), 250, 60, testOptions())
			d.press("3", "b", "/")
			d.text(query)
			d.press("enter")
			d.rest()
			d.wants(want...)
		})
	}
}

// What was asked for is remembered, and what a file says of columns that are not there
// harms nothing.
func TestJobs_SpareColumnsAreRemembered(t *testing.T) {
	p := screen.New(&page.Target{Screen: page.ScreenJobs}).(*jobs.Screen)
	p.Restore(page.ListState{Sort: "worker", Shown: []string{"worker", "by", "queue", "nothing"}, Hidden: []string{"bytes", "job"}})
	s := p.State()
	if s.Sort != "worker" || !slices.Equal(s.Shown, []string{"queue", "worker", "by"}) || !slices.Equal(s.Hidden, []string{"bytes"}) || s.Plain() {
		t.Errorf("came back as %+v", s)
	}
	hidden := map[string]bool{"QUEUE": false, "WORKER": false, "BYTES": true, "BY": false}
	for _, c := range p.Columns() {
		if want, ok := hidden[c.Name]; ok && c.Hidden != want {
			t.Errorf("%s is hidden: %t", c.Name, c.Hidden)
		}
		delete(hidden, c.Name)
	}
	if len(hidden) > 0 {
		t.Errorf("there are no columns %v", hidden)
	}
	if s = screen.New(&page.Target{Screen: page.ScreenJobs}).(*jobs.Screen).State(); !s.Plain() {
		t.Errorf("a fresh list has chosen %+v", s)
	}
}
