package ui

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// reclassLine opens the discarded jobs of an error class again, after the question that the
// key of the screen asks, too.
func (m *Model) reclassLine(arg string, now time.Time) (tea.Cmd, string) {
	if why := m.refuses(); why != "" {
		return nil, why
	}
	class, reason := reasoned(arg)
	e := page.ReclassOf(class)
	e.Do.Reason = reason
	return m.carryOut(e, now), ""
}

// undoLine takes back the command with a number.
func (m *Model) undoLine(arg string, _ time.Time) (tea.Cmd, string) {
	if why := m.refuses(); why != "" {
		return nil, why
	}
	c, wrong := undoOf(arg)
	if wrong != "" {
		return nil, wrong
	}
	return m.do(c), ""
}

// undoOf reads the number of a command, and why it is taken back.
func undoOf(arg string) (engine.Command, string) {
	number, reason := reasoned(arg)
	n, err := strconv.ParseUint(strings.TrimPrefix(number, "#"), 10, 64)
	if err != nil || n == 0 {
		return engine.Command{}, number + " is no number of a command: the audit has them in its last column"
	}
	return engine.Command{Op: engine.OpUndo, Audit: n, Reason: reason}, ""
}

// forgetLine deletes an account, once its name is typed.
func (m *Model) forgetLine(arg string, now time.Time) (tea.Cmd, string) {
	if why := m.refuses(); why != "" {
		return nil, why
	}
	name, reason := reasoned(arg)
	a, ok := m.accountNamed(name)
	if !ok {
		return nil, "there is no account " + name
	}
	return m.carryOut(page.ForgetAccount(a, reason), now), ""
}

// callLine calls a number, once the engine has said what it would do.
func (m *Model) callLine(arg string, now time.Time) (tea.Cmd, string) {
	if why := m.refuses(); why != "" {
		return nil, why
	}
	e, wrong := callOf(arg)
	if wrong != "" {
		return nil, wrong
	}
	return m.carryOut(e, now), ""
}

// callOf reads a number and what shall be said, which is taken as it stands: a text may
// well say because. Whether the number may be called is for the engine to say.
func callOf(arg string) (page.Effect, string) {
	number, text, _ := strings.Cut(strings.TrimSpace(arg), " ")
	if text = strings.TrimSpace(text); number == "" || text == "" {
		return page.Effect{}, "write a number with its country and what to say: call +4930123456 The import is done."
	}
	return page.PlaceCall(engine.CallAsk{To: number, Say: text}), ""
}

// resetElsewhere: whoever sees a console has an engine, and that holds what would be
// replaced.
const resetElsewhere = "end the engine first, then run `farsight reset`"

// resetItem says who can begin anew.
func (m *Model) resetItem(time.Time) tea.Cmd {
	m.say(resetElsewhere)
	return nil
}

// purgeItem asks before it purges, as the key of the jobs does.
func (m *Model) purgeItem(now time.Time) tea.Cmd {
	if why := m.refuses(); why != "" {
		m.say(why)
		return nil
	}
	return m.carryOut(page.PurgeJobs(), now)
}
