package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"github.com/farsight-console/farsight/ui/page"
)

// ownCommand is a command of the user's own, a [[command]] of keys.toml: a key, on a screen or
// several, and the line that a shell reads.
type ownCommand struct {
	name, run string
	keys      []string
	at        where
}

// ownCommands reads the commands of a keys file.
func ownCommands(list any) (map[page.Action]ownCommand, error) {
	entries, ok := list.([]any)
	if !ok && list != nil {
		return nil, errors.New("write each command below [[command]]")
	}
	own := map[page.Action]ownCommand{}
	for i, e := range entries {
		c, err := ownCommandOf(e)
		if err != nil {
			return nil, fmt.Errorf("command %d: %w", i+1, err)
		}
		act := page.Action("own " + c.name)
		if _, ok := own[act]; ok {
			return nil, fmt.Errorf("command %d: there are two commands named %s", i+1, c.name)
		}
		own[act] = c
	}
	return own, nil
}

func ownCommandOf(entry any) (c ownCommand, err error) {
	fields, _ := entry.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, _ := fields[name].(string)
		switch name {
		case "key":
			c.keys, err = keysOf(fields[name])
		case "on":
			c.at, err = screensOf(fields[name])
		case "name":
			c.name = strings.TrimSpace(safe.Text(text))
		case "run":
			c.run = strings.TrimSpace(text)
		default:
			err = fmt.Errorf("there is no %q: use key, on, name and run", name)
		}
		if err != nil {
			return c, err
		}
	}
	switch {
	case len(c.keys) == 0:
		return c, errors.New(`name its key: key = "I"`)
	case c.at == 0:
		return c, errors.New(`name its screen: on = "jobs", on = ["jobs", "matches"] or on = "all"`)
	case c.run == "":
		return c, errors.New("say what a shell shall run: run = 'echo \"$FARSIGHT_ID\"'")
	case c.name == "":
		c.name, _, _ = strings.Cut(c.run, " ")
	}
	return c, nil
}

// screensOf reads a screen, or a list of them.
func screensOf(value any) (at where, err error) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, v := range list {
		name, _ := v.(string)
		one, err := sectionOf(name)
		if err != nil {
			return 0, err
		}
		at |= one
	}
	return at, nil
}

// bindingsOf are the keys of the user's own commands.
func bindingsOf(own map[page.Action]ownCommand) (list []binding) {
	for _, act := range slices.Sorted(maps.Keys(own)) {
		c := own[act]
		list = append(list, binding{keys: c.keys, act: act, in: c.at, group: groupAct, help: c.name + ", of your own"})
	}
	return list
}

// refusesOwn says why no command of the user's own can run; "" = it can.
func (m *Model) refusesOwn() string { return or(m.refuses(), m.opt.NoOwn) }

// askOwn asks before a command of the user's own is run on the row under the cursor.
func (m *Model) askOwn(c ownCommand, now time.Time) tea.Cmd {
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
		m.say(c.name + " is about a row: go to one")
		return nil
	case strings.HasPrefix(row.Text, "["):
		m.say(c.name + " is about one row: unmark the others")
		return nil
	}
	env, id := rowEnv(row.Text), m.copies(now)[0].Text
	m.over = confirmOver(page.Confirm{
		Question: "Run " + c.name + " on " + id + "?", Yes: "run it",
		Lines: []string{safe.Text(c.run), "A shell reads this on the host of this console, as your own user."},
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
func (m *Model) runOwn(c ownCommand, id, row string, env []string) tea.Cmd {
	console, ctx := m.console, m.ctx
	ask := engine.Command{Op: engine.OpShell, Own: &engine.OwnAsk{Name: c.name, Run: c.run, On: id}, By: m.opt.By(), Reason: m.because("")}
	p := child.Program{Args: []string{"sh", "-c", c.run}, Env: slices.Concat(withoutSecrets(os.Environ()), m.opt.OwnEnv, []string{"FARSIGHT_ID=" + id}, env), Stdin: row + "\n", Keep: ownOutput}
	return func() tea.Msg {
		if _, err := console.Do(ctx, ask); err != nil {
			return ownEnded{name: c.name, refused: err}
		}
		began := time.Now()
		limited, stop := context.WithTimeout(ctx, ownTime)
		defer stop()
		out, err := p.Run(limited)
		if limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("it ran for more than %s and was ended", human.Span(ownTime))
		}
		return ownEnded{name: c.name, out: out, took: time.Since(began), err: err}
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
