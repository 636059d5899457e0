package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV8c_NoVoid: no screen leaves more than eight rows empty in a row while something is known,
// and none fills them with what it has told.
func TestV8c_NoVoid(t *testing.T) {
	none, few := atRest(), uitest.DevKey(3, uitest.Noon)
	none.Update.Accounts = nil
	few.Jobs = few.Jobs[:2]
	few.Update.Queues[0].Counts = map[engine.State]int{engine.Available: 2}
	for name, s := range map[string]uitest.Scene{"demo": uitest.Demo(), "calm": uitest.DevKey(60, uitest.Noon), "few": few,
		"rest": atRest(), "none": none, "outage": uitest.Outage(), "busy": uitest.Busy()} {
		for _, size := range scratch.Sized([][2]int{{80, 24}, {200, 60}}, [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}}) {
			bubble(t, func(t *testing.T) {
				d := open(t, s, size[0], size[1], testOptions())
				for _, keys := range []string{"1", "b", "2", "enter", "3", "enter", "4", "5", "6", "7", "8", "9", "1 S", "1 C", "1 V", "U", "enter", "M"} {
					d.press(strings.Fields(keys)...)
					d.rest()
					if strings.Count(d.screen(), "CALLS last") > 1 {
						t.Errorf("%s, %s at %v tells the calls twice:\n%s", name, keys, size, d.screen())
					}
					empty := 0
					for line := range strings.Lines(ansi.Strip(d.m.frame)) {
						if empty++; strings.TrimSpace(line) != "" {
							empty = 0
						}
						// The oldest call is the last thing that is known.
						if calls := s.Update.Calls; empty > 8 && (len(calls) == 0 || !strings.Contains(d.screen(), calls[0].Target)) {
							t.Errorf("%s, %s at %v:\n%s", name, keys, size, d.screen())
							break
						}
					}
				}
			})
		}
	}
}

// TestV8c_NoVoidBesideTheJobs: whatever line of the list is chosen, and however long the log of its job is, what stands
// beside the list leaves no more than eight rows empty in a row, and has the limits too.
func TestV8c_NoVoidBesideTheJobs(t *testing.T) {
	for _, records := range []int{0, 1, 12, 60} {
		bubble(t, func(t *testing.T) {
			s := uitest.Busy()
			for c := s.Update.Calls[0]; len(s.Update.Calls) < 60; { // more than there is room for
				c.Seq = s.Update.Calls[len(s.Update.Calls)-1].Seq + 1
				s.Update.Calls = append(s.Update.Calls, c)
			}
			for i := range s.Jobs {
				for n := range records {
					s.Update.Logs = append(s.Update.Logs, engine.LogRow{Seq: uint64(20_000 + len(s.Update.Logs)), At: uitest.Noon, Level: "warn", Area: "riot", Text: fmt.Sprint("try ", n), Job: s.Jobs[i].ID})
				}
			}
			d := open(t, s, 200, 60, testOptions())
			d.press("3", "home")
			for range 40 {
				d.rest()
				empty, most := 0, 0
				for line := range strings.Lines(ansi.Strip(d.m.frame)) {
					if empty++; strings.TrimSpace(ansi.Cut(line, 200-inspector.PeekWidth(200), 200)) != "" {
						empty = 0
					}
					most = max(most, empty)
				}
				if most > 8 || !strings.Contains(d.screen(), "LIMITS ") {
					t.Errorf("%d records, %d rows are empty:\n%s", records, most, d.screen())
					break
				}
				d.press("down")
			}
		})
	}
}

// atRest is an engine that has nothing left to do: the last jobs of three accounts have ended.
func atRest() uitest.Scene {
	s := uitest.DevKey(3, uitest.Noon)
	s.Update.Queues = nil
	for i := range s.Jobs {
		s.Jobs[i].State, s.Jobs[i].Finished = engine.Completed, uitest.Noon.Add(-time.Minute)
	}
	for i := range s.Update.Accounts {
		a := &s.Update.Accounts[i]
		a.Status, a.Phase, a.LastSync, a.Job = engine.SyncCompleted, engine.PhaseDone, uitest.Noon.Add(-time.Minute), ""
	}
	uitest.Foresee(&s.Update)
	return s
}

// TestV3f_TheBoardSaysWhenNothingLeaves: its title promises calls in their order only while some leave.
func TestV3f_TheBoardSaysWhenNothingLeaves(t *testing.T) {
	for want, s := range map[string]uitest.Scene{
		"in the order they leave": uitest.DevKey(3, uitest.Noon), "none leaves now": uitest.Paused(), "DEPARTURES europe · the last calls to Riot": atRest(),
	} {
		bubble(t, func(t *testing.T) { open(t, s, 120, 40, testOptions()).wants(want) })
	}
}

// TestV7m_ALowScreenShowsWhatEnded: while nothing is in line what has ended has the rows of it.
func TestV7m_ALowScreenShowsWhatEnded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, atRest(), 80, 24, testOptions())
		d.press("3")
		d.rest()
		if n := strings.Count(d.screen(), "EUW1_"); n < 8 {
			t.Errorf("%d jobs are shown:\n%s", n, d.screen())
		}
	})
}

// TestV8d_LogsHaveTheColourOfTheirLevel: what a record says has the colour of its level, and an error a sign at the
// edge, also without colours; the chart of a young log reaches no farther back than it needs.
func TestV8d_LogsHaveTheColourOfTheirLevel(t *testing.T) {
	for _, env := range []func(string) string{trueColor, noColor} {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Getenv = env
			d := open(t, uitest.Busy(), 120, 40, opt)
			d.press("8")
			d.rest()
			d.wants(" ✗12:31:34.771 ERR riot     403 forbidden", "−15 min")
			d.lacks("−45 min")
			th := d.m.view(d.m.now()).Theme
			if th.Profile != themes.Mono && !strings.Contains(d.m.frame, th.Open(themes.Err)+"403 forbidden") {
				t.Error("an error is told in no colour of its own")
			}
		})
	}
}

// TestV8e_YoungAlertsAreDrawnWide: the chart of an alert reaches back as far as its values, and not over an empty hour.
func TestV8e_YoungAlertsAreDrawnWide(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Demo()
		for i := range s.Update.Alerts {
			a := &s.Update.Alerts[i]
			a.History = []float64{1}
			a.State = engine.AlertFiring
		}
		d := open(t, s, 120, 40, testOptions())
		d.press("9")
		d.rest()
		d.wants("−10 min")
		d.lacks("−1 h", "−30 min")
		d.press("enter")
		d.wants("HISTORY per 5 min", "−10 min")
		d.lacks("LAST HOUR per 5 min")
	})
}

// TestV8e_NoValueBeforeTheEngineBegan: the value of the five minutes in which the engine began is drawn from that instant on.
func TestV8e_NoValueBeforeTheEngineBegan(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, c := range []struct {
			ran   time.Duration // before Noon, which is 95 s after a full five minutes
			drawn int           // of 48 columns of ten minutes
		}{{20 * time.Second, 2}, {80 * time.Second, 6}, {time.Hour, 8}} {
			s := uitest.Demo()
			row := *s.Update.Engine
			row.Started, s.Update.Engine = uitest.Noon.Add(-c.ran), &row
			for i := range s.Update.Alerts {
				a := &s.Update.Alerts[i]
				a.History, a.State, a.Limit, a.Below = []float64{-1, 1}, engine.AlertFiring, 0.5, false
			}
			d := open(t, s, 120, 40, testOptions())
			d.press("9")
			d.rest()
			most := 0
			for line := range strings.Lines(d.screen()) {
				most = max(most, strings.Count(line, "█"))
			}
			if most < c.drawn-1 || most > c.drawn+1 {
				t.Errorf("after %v %d columns are drawn, want about %d\n%s", c.ran, most, c.drawn, d.screen())
			}
		}
	})
}

// TestALaneOfNoSyncTakesNoClick: while nothing syncs the lanes are of accounts, and the list of what arrives is of
// collections.
func TestALaneOfNoSyncTakesNoClick(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, busy := atRest(), uitest.Collecting()
		s.Collections, s.Update.Queues = busy.Collections, busy.Update.Queues
		d := open(t, s, 120, 40, testOptions())
		d.press("b")
		d.wants("b board")
		d.rest()
		before := d.screen()
		d.click("Player 2")
		if d.screen() != before {
			t.Errorf("a click on a lane moved the cursor:\n%s", d.screen())
		}
	})
}
