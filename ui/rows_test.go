package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

func TestToastsFade(t *testing.T) {
	var x toasts
	x.add(engine.Note{Level: engine.LevelInfo, Text: "a"}, uitest.Noon)
	x.add(engine.Note{Level: engine.LevelErr, Text: "b"}, uitest.Noon)
	if next := x.next(uitest.Noon); !next.Equal(uitest.Noon.Add(4 * time.Second)) {
		t.Errorf("the next one fades at %v", next)
	}
	x.expire(uitest.Noon.Add(4 * time.Second))
	if top := x.top(time.UTC); top.Text != "b" || top.More != 0 {
		t.Errorf("shows %+v", top)
	}
	if !x.next(uitest.Noon).IsZero() {
		t.Error("an error fades")
	}
}

// TestAMessageIsWrittenOnce: each frame shows it as the first one wrote it.
func TestAMessageIsWrittenOnce(t *testing.T) {
	var x toasts
	x.add(engine.Note{Level: engine.LevelInfo, Text: "job c405 is due", Job: "c405"}, uitest.Noon)
	x.top(time.UTC)
	if n := testing.AllocsPerRun(10, func() { x.top(time.UTC) }); n > 2 {
		t.Errorf("a frame takes %v allocations", n)
	}
}

// TestV11d_MessagesAreToldInWords: the message line has no ids and the clock's instants; the list has all.
func TestV11d_MessagesAreToldInWords(t *testing.T) {
	zone := time.FixedZone("", 9*60*60)
	for said, want := range map[string]string{
		"job c405 is due at 2026-11-21T03:30:16Z":                                                              "the job is due at 12:30:16",
		"job c405 is due at 2026-11-23T03:30:16Z":                                                              "the job is due at Mon 23 Nov 12:30",
		"ana: cancel job c405: job c405 is cancelled, and its next try at 2026-11-21T12:30:16.5+09:00 with it": "ana: cancel the job: the job is cancelled, and its next try at 12:30:16 with it",
		"force match:KR_7214550881 first":                                                                      "force the match first",
		"timeline:EUW1_1 is asked for":                                                                         "the timeline is asked for",
		"job c405: changed since shown: now running (rev 2)":                                                   "the job: changed since shown: now running",
		"job c4050 is not it, EUW1 is a shard":                                                                 "job c4050 is not it, EUW1 is a shard",
	} {
		var x toasts
		x.add(engine.Note{At: time.Date(2026, 11, 21, 12, 0, 0, 0, zone), Level: engine.LevelInfo, Text: said, Job: "c405"}, uitest.Noon)
		if got := x.top(zone).Text; got != want || x.all[0].Text != said {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Demo(), 120, 40, testOptions())
		d.send(engine.Update{Seq: 1 << 20, Notes: []engine.Note{{Level: engine.LevelWarn, Text: "job j881 was rescued", Job: "j881"}}})
		if d.wants("the job was rescued"); strings.Contains(d.screen(), "j881 was") {
			t.Errorf("an id:\n%s", d.screen())
		}
	})
}

// TestARefusalNamesNoId: the message line says "the job" of it too, and nothing of its revision.
func TestARefusalNamesNoId(t *testing.T) {
	busy(t, func(d *desk) {
		d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			return engine.Receipt{}, engine.Problemf(engine.ErrConflict, "look at it again", "job %s: changed since shown: now running (rev 4)", c.Job)
		}
		d.press("4", "r")
		d.wants("the job: changed since shown: now running: look at it again")
	})
}
