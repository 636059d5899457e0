package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// line types a line into the palette and runs it.
func (d *desk) line(s string) {
	d.t.Helper()
	d.press(":")
	d.text(s)
	d.press("enter")
}

func TestPaletteTakesArguments(t *testing.T) {
	long(t)
	busy(t, func(d *desk) {
		for _, c := range []struct {
			line  string
			wants []string
		}{
			{"jobs state:discarded", []string{"JOBS 1 of ", "/state:discarded"}},
			{"account 카인#KR1", []string{"ONE MATCH TAKES", "카인#KR1"}},
			{"report blue heron#kr1", []string{"Blue Heron#KR1", "BY WEEKDAY"}},
			{"job match:KR_7214550881", []string{"2 of 5 tries used", "match:KR_7214550881"}},
			{"job j777", []string{"match:KR_7214550777"}},
			{"fps 2", []string{"at most 2 updates a second"}},
			{"Retries", []string{"RETRIES 9 wait"}},
			{"light", []string{"LIVE"}},
		} {
			d.press("esc", "esc", "1")
			d.line(c.line)
			d.wants(c.wants...)
			if d.m.over != nil {
				t.Errorf("%q left the palette open", c.line)
				d.press("esc")
			}
		}
		if got := d.m.feed.Gap(); got != 500*time.Millisecond {
			t.Errorf("updates come each %v", got)
		}
	})
}

// Tab behind a verb that takes an account completes its name.
func TestPaletteCompletesAccounts(t *testing.T) {
	long(t)
	busy(t, func(d *desk) {
		for _, verb := range []string{"account", "sync", "untrack", "forget"} {
			d.press(":")
			d.text(verb + " blue h")
			d.press("tab")
			if got := d.m.over.menu.input.Value(); got != verb+" blue heron#KR1" {
				t.Errorf("%s: %q", verb, got)
			}
			d.press("esc")
		}
		d.line("account 카")
		d.wants("there is no account 카")
		d.press("tab", "enter")
		d.wants("ONE MATCH TAKES", "카인#KR1")
	})
}

func TestPaletteActsOnAJob(t *testing.T) {
	long(t)
	busy(t, func(d *desk) {
		d.line("retry job:match:KR_7214550881")
		if c := d.last(); c.Op != engine.OpRetry || c.Job != "j881" || c.IfRev != 3 {
			t.Errorf("sent %+v", c)
		}
		d.line("cancel job:match:KR_7214550777")
		d.wants("Cancel a running job?")
		d.press("n")
		d.line("retry job:nope")
		d.wants("no live job is called nope")
		d.press("esc")
		d.line("retry job:match:KR_404") // which may be a match that has no job any more (B-2f)
		if c := d.last(); c.Op != engine.OpRetry || c.Job != "match:KR_404" || c.IfRev != 0 {
			t.Errorf("sent %+v", c)
		}
		d.line("sync Blue Heron#KR1 kr")
		if c := d.last(); c.Op != engine.OpTrigger || c.Sync.Platform != "kr" {
			t.Errorf("sent %+v", c)
		}
	})
}

// TestAWordThatNeedsMoreSaysWhat: and a queue is chosen from the list, which has what can be done with it now.
func TestAWordThatNeedsMoreSaysWhat(t *testing.T) {
	long(t)
	busy(t, func(d *desk) {
		d.line("pause")
		d.wants("write behind it: a queue")
		d.lacks("resume ingest.")
		d.press("esc")
		d.line("pause nope")
		d.wants("name a queue: ")
		d.press("esc")
		d.line("pause ingest.summoner.f")
		if c := d.last(); c.Op != engine.OpPause || c.Queue != "ingest.summoner.full" {
			t.Errorf("sent %+v", c)
		}
		for i := range d.fake.Scene.Update.Queues { // a longer name is another queue, though it alone is listed
			q := &d.fake.Scene.Update.Queues[i]
			if q.Paused = q.Name == "ingest.summoner.latest"; q.Name == "ingest.summoner.full" {
				q.Name = "ingest.summoner.latest+"
			}
		}
		d.send(d.fake.Scene.Update)
		d.line("pause ingest.summoner.latest")
		if c := d.last(); c.Op != engine.OpPause || c.Queue != "ingest.summoner.latest" {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestPaletteNamesTheNearestThree(t *testing.T) {
	busy(t, func(d *desk) {
		d.line("jobz x:y")
		d.wants(`there is no command "jobz x:y"`, "did you mean")
		d.press("esc")
		d.line("theme drak")
		d.wants("there is no theme drak: auto, dark")
		d.press("esc")
		d.line("jobs stat:x")
		d.wants(`there is no field "stat"`)
		d.press("esc")
		d.line("account Nobody#X")
		d.wants("there is no account Nobody#X")
		d.press("esc")
		d.line("fps 99")
		d.wants("99 is no rate")
	})
}

func TestPaletteRemembers(t *testing.T) {
	busy(t, func(d *desk) {
		d.line("fps 3")
		d.line("jobs state:running")
		d.press(":", "up", "up")
		d.wants(": fps 3")
		d.press("down")
		d.wants(": jobs state:running")
		d.press("enter")
		d.wants("JOBS 4 of ")
	})
}

// TestPaletteCarriesOutKeys: what a key does here is found by its words, with the
// key beside it.
func TestPaletteCarriesOutKeys(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2", "ctrl+p")
		d.text("choose col")
		d.wants("choose columns", " c ")
		d.press("enter")
		d.wants("COLUMNS", "always shown")
	})
}

func TestPaletteOfManyAccountsOpensAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Busy()
		d := open(t, s, 120, 40, testOptions())
		d.press(":")
		d.lacks("account, SYNCING") // names come once there is something to look for
		d.text("blhe")
		d.wants("account, SYNCING")
		d.press("enter")
		d.wants("full sync", "Blue Heron#KR1")
	})
}
