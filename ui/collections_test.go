package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestL26_CollectionsAreSeen: C lists what is collected, enter shows one with its ladders, its matches and what it waits
// for, and esc leads back.
func TestL26_CollectionsAreSeen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Collecting(), 120, 40, testOptions())
		d.press("C")
		d.wants("COLLECTIONS 4", "kr-solo-master+", "RUNNING", "1,340/6,021", "9,310/11,204", "ladder 2 of 4, page 4", "QUEUED", "FAILED")
		d.press("j", "enter")
		if s := d.m.page().Screen(); s != page.ScreenCollection {
			t.Fatalf("enter shows %s", s)
		}
		d.wants("1,340 of 6,021 players", "3 not listed", "MATCHES 11,204 found", "1,850 to come", "LADDERS 3 of 3 read, 3 pages", "kr grandmaster",
			"700/700", "LAST PLAYERS", "Rank Climbe", "puuid qqqqq", "master 312", "accounts go first", "RUNNING AND NEXT RETRIES 3", "match:KR_7214551003")
		d.press("esc")
		d.wants("COLLECTIONS 4")
		d.press("esc", "2", "C")
		d.wants("COLLECTIONS 4")
		d.press("esc")
		d.line("collections")
		d.wants("COLLECTIONS 4")
	})
}

// TestL26_WhatItForesees: the screen says when a round is done by its pace, of calls and later of players, and nobody
// knows of one that reads ladders.
func TestL26_WhatItForesees(t *testing.T) {
	now := uitest.Noon
	r := engine.CollectionRow{Collection: engine.Collection{Job: "j1", Started: now.Add(-100 * time.Second), Players: 300}, Listed: 100, Ladders: 1}
	var p engine.Pace
	if at := p.Ends(&r, now); !at.IsZero() {
		t.Errorf("it reads ladders and is done at %s", at)
	}
	r.Ladder = 1
	if at := p.Ends(&r, now); !at.Equal(now.Add(200 * time.Second)) {
		t.Errorf("by the round's pace it is done in %s", at.Sub(now))
	}
	r.Listed = 200 // five a second of late
	if at := p.Ends(&r, now.Add(20*time.Second)); !at.Equal(now.Add(40 * time.Second)) {
		t.Errorf("by the pace of late it is done in %s", at.Sub(now))
	}
	// 1,000 calls in 40 s, for 232 players who are or were listed: 400 for what is open, 68/232 of 1,400 for who follows.
	r.Calls, r.Collected = 200, engine.Collected{Found: 650, Stored: 450, Had: 50}
	if at := p.Ends(&r, now.Add(40*time.Second)); at.Sub(now.Add(40*time.Second)).Round(time.Second) != 32*time.Second {
		t.Errorf("by its calls it is done in %s", at.Sub(now.Add(40*time.Second)))
	}
	r.Matches = 700 // no further player is listed then: 17.8 follow
	if at := p.Ends(&r, now.Add(40*time.Second)); at.Sub(now.Add(40*time.Second)).Round(time.Second) != 20*time.Second {
		t.Errorf("with 50 of 700 matches to be found it is done in %s", at.Sub(now.Add(40*time.Second)))
	}
	r.Matches, r.Round = 0, 2
	if at := p.Ends(&r, now.Add(40*time.Second)); !at.Equal(now.Add(80 * time.Second)) {
		t.Errorf("a later round goes by its players: it is done in %s", at.Sub(now))
	}
	r.Paused = true
	if at := p.Ends(&r, now.Add(41*time.Second)); !at.IsZero() {
		t.Errorf("paused it is done at %s", at)
	}
}

// TestL30_TheDaysOfACollectionAreDrawn: a day is as wide as there is room, today is the last, and what does not fit, or
// lies ahead, is left out.
func TestL30_TheDaysOfACollectionAreDrawn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Collecting()
		d := open(t, s, 120, 40, testOptions())
		d.press("C", "j", "enter")
		d.wants("PLAYED most on 16 Jan: 1,811", "matches by day, UTC", "20 Jan")
		for days, note := range map[int]string{-3: "PLAYED ──", 0: "PLAYED most on 20 Jan: 7", 116: "PLAYED most on 20 Jan: 7", 115: "PLAYED most on 27 Sep: 9"} {
			first := engine.DayPlayed{Day: engine.UTCDay(uitest.Noon.AddDate(0, 0, -days)), Matches: 9}
			s.Collections[1].Days = []engine.DayPlayed{first, {Day: engine.UTCDay(uitest.Noon), Matches: 7}}
			if days <= 0 {
				s.Collections[1].Days = []engine.DayPlayed{{Day: first.Day, Matches: 7}}
			}
			d := open(t, s, 120, 40, testOptions())
			d.press("C", "j", "enter")
			d.wants(note)
		}
	})
}

// TestL27_CollectionsAreSteered: the keys pause, cancel, retry and forget the selected collection, after a question where
// that ends something.
func TestL27_CollectionsAreSteered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Collecting(), 120, 40, testOptions())
		d.press("C", "j", "p")
		if c := d.last(); c.Op != engine.OpPause || c.Queue != "collect.kr-solo-master+" {
			t.Errorf("p sent %+v", c)
		}
		d.press("x")
		d.wants("Cancel the collection kr-solo-master+?", "1,340/6,021")
		d.press("y")
		if c := d.last(); c.Op != engine.OpCancel || c.Job != "j-kr-solo-master+" {
			t.Errorf("x sent %+v", c)
		}
		d.press("r")
		if c := d.last(); c.Op != engine.OpRetry || c.Select == nil || c.Select.Filter == nil || c.Select.Filter.Queue != "collect.kr-solo-master+" {
			t.Errorf("r sent %+v", c)
		}
		d.press("D")
		d.wants("Forget the collection kr-solo-master+?")
		d.text("kr-solo-master+")
		d.press("enter")
		if c := d.last(); c.Op != engine.OpForget || c.DryRun || c.Collect == nil || c.Collect.Name != "kr-solo-master+" {
			t.Errorf("D sent %+v", c)
		}
		d.press("G", "x")
		d.wants("na1-solo-iron has ended: it is FAILED")
	})
}

// TestL27_CollectIsTyped: the palette takes what the command takes, and asks with the cost.
func TestL27_CollectIsTyped(t *testing.T) {
	long(t)
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 120, 40, testOptions())
		d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			if c.DryRun {
				return engine.Receipt{Would: 1, Text: "would collect 300 players", Cost: &engine.Cost{Calls: 4000, Takes: time.Hour}}, nil
			}
			return engine.Receipt{Applied: 1, Text: "collects"}, nil
		}
		d.line("collect master+ diamond1 --platform kr,euw1 --since=14d --matches 500 --every 24h --no-timelines because a study")
		d.wants("Collect master+ diamond1 of kr, euw1?", "4,000 calls")
		d.press("y")
		c := d.last()
		want := engine.CollectAsk{Tiers: []string{"master+", "diamond1"}, Platforms: []string{"kr", "euw1"}, Since: "14d", Matches: 500, Every: 24 * time.Hour,
			Timelines: "none"}
		if got := c.Collect; c.DryRun || got == nil || !got.Same(want) || got.Since != want.Since || got.Matches != want.Matches || got.Every != want.Every ||
			c.Reason != "a study" {
			t.Errorf("it sent %+v %+v", c, c.Collect)
		}
		n := len(d.fake.Did())
		for text, wrong := range map[string]string{
			"collect --platform kr": "name tiers and a platform", "collect master+ --platfrom kr": "--platfrom is not known here",
			"collect master+ --every soon": "write a value behind --every",
		} {
			d.line(text)
			d.wants(wrong)
			d.press("esc")
		}
		if len(d.fake.Did()) != n {
			t.Errorf("what could not be read was sent: %+v", d.fake.Did()[n:])
		}
	})
}

// TestL28_CollectionsArrive: on the first screen collections stand among the accounts by when they are done, with
// their end; those that have ended stand below, with how long ago.
func TestL28_CollectionsArrive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Collecting(), 120, 40, testOptions())
		text := ansi.Strip(d.m.frame)
		_, arrivals, _ := strings.Cut(text, "ARRIVALS")
		for _, want := range []string{"Blue Heron", "kr-solo-mast…", "euw-diamond"} {
			_, rest, ok := strings.Cut(arrivals, want)
			if !ok {
				t.Fatalf("%s does not arrive in its place:\n%s", want, text)
			}
			arrivals = rest
		}
		open(t, uitest.Collecting(), 200, 60, testOptions()).wants("of 15,136 found") // 1,850 of them by a collection
		d.press("tab", "tab")
		rows := strings.Split(ansi.Strip(d.m.frame), "\n")
		at := slices.IndexFunc(rows, func(r string) bool { return strings.Contains(r, "kr-solo-mast…") && strings.Contains(r, "~16:") })
		if at < 0 {
			t.Errorf("it does not say when it is done:\n%s", strings.Join(rows, "\n"))
		}
		// A retry goes late: its collection is not done before.
		late := uitest.Collecting()
		late.Update.Jobs = append(late.Update.Jobs, engine.JobRow{Job: engine.Job{ID: "x1", Queue: engine.CollectionQueue("kr-solo-master+"),
			State: engine.Retryable, Due: uitest.Noon.Add(5 * time.Hour)}, Starts: uitest.Noon.Add(10 * time.Hour)})
		open(t, late, 120, 40, testOptions()).wants("~22:")
		one := uitest.Collecting()
		one.Update.Accounts, one.Collections = nil, one.Collections[3:]
		open(t, one, 120, 40, testOptions()).wants("na1-solo-iro", "✗ FAILED")
	})
}

// TestL26_OneCollectionIsToldWhole: figures and times stand apart at each width, and the last fact stands, also below one
// that takes two rows.
func TestL26_OneCollectionIsToldWhole(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Collecting()
		s.Collections[1].Last[3].New = 48
		for w := 120; w <= 144; w++ {
			d := open(t, s, w, 40, testOptions())
			d.press("C", "j", "enter")
			d.wants("48  51 min ago", "4   5 min ago", "by      ana, 51 min ago")
		}
	})
}

// TestL6_AScheduleOfACollectionIsNotEdited: E says so before a plan is typed, and x what enter opens.
func TestL6_AScheduleOfACollectionIsNotEdited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Collecting()
		row := s.Collections[2]
		plan, _ := row.Schedule(engine.QueueState{})
		s.Plans = []engine.ScheduleRow{plan}
		d := open(t, s, 120, 40, testOptions())
		d.line("schedules")
		d.press("E")
		d.wants("goes by its --every")
		d.press("x")
		d.wants("pauses the collection", "opens it")
	})
}
