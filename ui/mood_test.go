package ui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV4a_TheStateOwnsTheFrame: the row of the state has its ground, with and without colours, a pause is
// hatched, charts of an engine that stands have none of the colours of one that works, and its cause
// stands first with what goes on next.
func TestV4a_TheStateOwnsTheFrame(t *testing.T) {
	frozen := uitest.Demo()
	frozen.Freeze(time.Time{})
	for name, c := range map[string]struct {
		scene uitest.Scene
		mood  themes.Token
		wants []string
	}{
		"works":  {uitest.Demo(), themes.Run, []string{"12 s WINDOW"}},
		"outage": {uitest.Outage(), themes.Err, []string{"✗ API DOWN ", "match calls to europe fail", "it goes on by itself: next try at 12:3", "┗"}},
		"paused": {uitest.Paused(), themes.Warn, []string{"‖ PAUSED ", "every queue with work is paused: deploy", "p resumes the queue", "╱╱╱"}},
		"frozen": {frozen, themes.Warn, []string{"≡ HELD ", "europe is frozen", "5 shows it; p there resumes it", "‖ europe is frozen"}},
		"no key": {uitest.Broken(), themes.Err, []string{"✗ NO KEY since 12:29:35 ─", "the key has expired or was refused", "one call asks at 12:32:13; K gives another key", "┗"}},
	} {
		for _, env := range []func(string) string{trueColor, noColor} {
			bubble(t, func(t *testing.T) {
				opt := testOptions()
				opt.Getenv = env
				d := open(t, c.scene, 120, 40, opt)
				d.wants(c.wants...)
				th := d.m.view(d.m.now()).Theme
				if th.Mood != c.mood {
					t.Fatalf("%s: the mood is %v", name, th.Mood)
				}
				row := strings.Split(d.m.frame, "\n")[1]
				if look := th.On(themes.OnState, themes.Figure); th.Mood != themes.Run && !strings.Contains(row, look) {
					t.Errorf("%s: row 2 has not the ground of its state: %q", name, row)
				}
				if bright := th.In(themes.Run); th.Mood != themes.Run && th.Profile != themes.Mono {
					for _, step := range []float64{0.5, 1} {
						if look := d.m.theme.Open(themes.Flow(step)); strings.Contains(d.m.frame, look) {
							t.Errorf("%s: a chart looks live: %v", name, bright.Mood)
						}
					}
				}
			})
		}
	}
}

// TestV5a_TheSentenceDropsClausesFromTheFront: where it has no room, what waits and for which window is
// told, and never only that nothing is stuck.
func TestV5a_TheSentenceDropsClausesFromTheFront(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Busy()
		row := *s.Update.Engine
		row.State, row.Pace = engine.EngineLive, "nothing is stuck: 12,345 calls wait for europe's 2 min window"
		s.Update.Engine = &row
		for _, w := range []int{100, 110, 120, 200} {
			d := open(t, s, w, 40, testOptions())
			text := strings.Split(ansi.Strip(d.m.frame), "\n")[1]
			if strings.Contains(text, "LIVE  ") && !strings.Contains(text, " wait for europe's 2 min window") {
				t.Errorf("at %d: %s", w, text)
			}
		}
		row.Pace = "100 % of what the key allows; the 2 min window brakes; ingest.summoner.full is paused with 510 jobs"
		s.Update.Notes = nil // else the newest of them stands there
		open(t, s, 80, 24, testOptions()).wants("● the 2 min window brakes; ingest.summoner.full is paused with 510 jobs")
	})
}

// TestV5b_WhoLeadsGivesWay: a member tells the reason whole before it tells who leads.
func TestV5b_WhoLeadsGivesWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Busy()
		s.Update.Notes = nil
		row := *s.Update.Engine
		row.Term = &engine.Term{Epoch: 6, Leader: "4711-9f3c on db-worker-1"}
		row.Pace = "nothing is stuck: 1,234 calls wait for the 2 min window; " + row.Term.String()
		s.Update.Engine = &row
		open(t, s, 200, 60, testOptions()).wants(row.Pace)
		for _, w := range []int{80, 120} {
			d := open(t, s, w, 24+16*(w/120), testOptions())
			d.wants("1,234 calls wait for the 2 min window; 4711-9f3c leads ")
			d.lacks("leads, in term")
		}
	})
}

// TestV5c_TheSentenceAndLimitsCountTheSame: they are of one reading in each frame, however fast calls are made.
func TestV5c_TheSentenceAndLimitsCountTheSame(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Busy()
		s.Update.Notes = nil
		d := open(t, s, 200, 60, testOptions())
		d.press("5")
		counted := regexp.MustCompile(`([\d,]+) calls wait for the 2 min`)
		seen := map[string]bool{}
		d.each = func() {
			if m := counted.FindStringSubmatch(d.screen()); m != nil {
				seen[m[1]] = true
				row := d.rowWith("  app ", "/100 ")
				if !strings.Contains(row, " "+m[1]+" ") {
					t.Errorf("%s, beside %q", m[0], row)
				}
			}
		}
		for n := 9000; n > 8000; n -= 47 {
			row, limits := *s.Update.Engine, *s.Update.Limits
			row.Pace = "nothing is stuck: " + page.Count(n) + " calls wait for the 2 min window"
			limits.At, limits.Buckets = d.m.now(), slices.Clone(limits.Buckets)
			for i := range limits.Buckets {
				limits.Buckets[i].Waiting = n
			}
			d.send(engine.Update{Engine: &row, Limits: &limits})
			d.wait(300 * time.Millisecond)
		}
		if len(seen) < 5 {
			t.Errorf("counted: %v", seen)
		}
	})
}

// TestV4b_SinceWhenAndByWhom: an engine that stands says since when it does, and a pause who did it and why.
func TestV4b_SinceWhenAndByWhom(t *testing.T) {
	for want, s := range map[string]uitest.Scene{
		"✗ API DOWN since 12:30:55 ─": uitest.Outage(), "‖ PAUSED since 12:31:15 by ana ─": uitest.Paused(),
	} {
		bubble(t, func(t *testing.T) { open(t, s, 120, 40, testOptions()).wants(want) })
	}
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			open(t, uitest.Paused(), size[0], size[1], testOptions()).wants("is paused: deploy")
		})
	}
}
