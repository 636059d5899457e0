package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV8c_NoVoid: no screen leaves more than eight rows empty in a row while something is known.
func TestV8c_NoVoid(t *testing.T) {
	calm := uitest.DevKey(60, uitest.Noon) // nothing has failed
	for name, s := range map[string]uitest.Scene{"demo": uitest.Demo(), "calm": calm, "outage": uitest.Outage()} {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
			bubble(t, func(t *testing.T) {
				d := open(t, s, size[0], size[1], testOptions())
				for _, screen := range []int{1, 2, 3, 4, 5} { // of the others these scenes have nothing
					d.press(fmt.Sprint(screen))
					d.rest()
					empty := 0
					for line := range strings.Lines(ansi.Strip(d.m.frame)) {
						if empty++; strings.TrimSpace(line) != "" {
							empty = 0
						}
						if empty > 8 {
							t.Errorf("%s, screen %d at %v:\n%s", name, screen, size, d.screen())
							break
						}
					}
				}
			})
		}
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
	})
}
