package ui

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/child"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
)

// refusesOwn says why no command of the user's own can run; "" = it can.
func (m *Model) refusesOwn() string { return cmp.Or(m.refuses(), m.opt.NoOwn) }

// askOwn asks before a command of the user's own is run on the row under the cursor.
func (m *Model) askOwn(c keys.Command, now time.Time) tea.Cmd {
	if why := m.refusesOwn(); why != "" {
		m.say(why)
		return nil
	}
	var row page.Copy
	for _, form := range m.copies(now) {
		if form.Name == "JSON" {
			row = form
		}
	}
	switch {
	case row.Text == "":
		m.say(c.Name + " is about a row: go to one")
		return nil
	case strings.HasPrefix(row.Text, "["):
		m.say(c.Name + " is about one row: unmark the others")
		return nil
	}
	env, id := rowEnv(row.Text), m.copies(now)[0].Text
	m.over = confirmOver(page.Confirm{
		Question: "Run " + c.Name + " on " + id + "?", Yes: "run it",
		Lines: []string{safe.Text(c.Run), "A shell reads this on the host of this console, as your own user."},
	}, func() tea.Cmd { return m.runOwn(c, id, row.Text, env) })
	return nil
}

// rowEnv is a row as an environment: its JSON members that are one text, number or truth, such
// as FARSIGHT_ID. What is in lists stands in the JSON on standard input.
func rowEnv(text string) (env []string) {
	var row map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&row) != nil {
		return nil
	}
	if job, ok := row["job"].(map[string]any); ok { // all that is known of a job
		row = job
	}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		switch v := row[name].(type) {
		case string, json.Number, bool:
			env = append(env, "FARSIGHT_"+strings.ToUpper(name)+"="+safe.Text(fmt.Sprint(v)))
		}
	}
	return env
}

// Limits of a command of the user's own.
const (
	ownTime   = 10 * time.Minute
	ownOutput = 64 << 10 // bytes of its output that are kept
	ownLines  = 12       // of them that are shown
)

// ownEnded is how a command of the user's own has ended.
type ownEnded struct {
	name    string
	out     []byte
	took    time.Duration
	refused error // by the engine: it did not run
	err     error
}

// runOwn runs a command once the engine has written it down.
func (m *Model) runOwn(c keys.Command, id, row string, env []string) tea.Cmd {
	console, ctx := m.console, m.ctx
	ask := engine.Command{Op: engine.OpShell, Own: &engine.OwnAsk{Name: c.Name, Run: c.Run, On: id}, By: m.opt.By(), Reason: m.why.because("", m.now())}
	p := child.Program{Args: []string{"sh", "-c", c.Run}, Env: slices.Concat(withoutSecrets(os.Environ()), m.opt.OwnEnv, []string{"FARSIGHT_ID=" + id}, env), Stdin: row + "\n", Keep: ownOutput}
	return func() tea.Msg {
		if _, err := console.Do(ctx, ask); err != nil {
			return ownEnded{name: c.Name, refused: err}
		}
		began := time.Now()
		limited, stop := context.WithTimeout(ctx, ownTime)
		defer stop()
		out, err := p.Run(limited)
		if limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("it ran for more than %s and was ended", human.Span(ownTime))
		}
		return ownEnded{name: c.Name, out: out, took: time.Since(began), err: err}
	}
}

// withoutSecrets leaves out what may hold one by its name: RIOT_API_KEY, GITHUB_TOKEN.
func withoutSecrets(env []string) []string {
	return slices.DeleteFunc(env, func(pair string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(pair), "=")
		return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD"}, func(word string) bool { return strings.Contains(name, word) })
	})
}

// tellOwn says how a command of the user's own has ended; of one that failed it shows the
// end of the output.
func (m *Model) tellOwn(e ownEnded, now time.Time) {
	var lines []string
	for line := range bytes.Lines(bytes.TrimSpace(e.out)) {
		lines = append(lines, safe.Text(strings.TrimRight(string(line), "\r\n")))
	}
	lines = lines[max(len(lines)-ownLines, 0):]
	n := engine.Note{At: now, Level: engine.LevelOK, Text: e.name + " has ended after " + human.Span(e.took)}
	switch {
	case e.refused != nil:
		n.Level, n.Text = engine.LevelWarn, e.name+" did not run: "+e.refused.Error()
	case e.err != nil:
		n.Level, n.Text = engine.LevelErr, e.name+" failed: "+e.err.Error()
	}
	if e.err == nil && len(lines) > 0 {
		n.Text += ": " + lines[len(lines)-1]
	}
	m.toasts.add(n, now)
	if e.err == nil || m.over != nil || m.prompt != nil || len(lines) == 0 {
		return
	}
	m.over = confirmOver(page.Confirm{Question: n.Text, Lines: lines, Yes: "close"}, func() tea.Cmd { return nil })
	m.over.dialog.No = "esc close"
}
