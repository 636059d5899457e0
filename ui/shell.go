package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/child"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
)

// rowEnv is a row as an environment: those members of its JSON that are one text, number or truth,
// such as FARSIGHT_ID=d6280. What is in lists stands in the JSON on standard input.
func rowEnv(text string) (env []string) {
	var row map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	// A number stays as it is written: a float would spoil long ones.
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

// What a command of the user's own may take, and how much of its output is kept and shown.
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

// withoutSecrets leaves out every variable whose name says that it holds a secret, such as
// RIOT_API_KEY or GITHUB_TOKEN: a command in a file needs none of this program's.
func withoutSecrets(env []string) []string {
	return slices.DeleteFunc(env, func(pair string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(pair), "=")
		return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD"}, func(word string) bool { return strings.Contains(name, word) })
	})
}

// runShell runs a command of the user's own, once the engine has written it into the audit. If that
// is refused, nothing is run.
func runShell(ctx context.Context, console engine.Console, ask engine.Command, p child.Program) ownEnded {
	name := ask.Own.Name
	// The engine writes it down before it is run, so that the audit misses none.
	if _, err := console.Do(ctx, ask); err != nil {
		return ownEnded{name: name, refused: err}
	}
	began := time.Now()
	limited, stop := context.WithTimeout(ctx, ownTime)
	defer stop()
	out, err := p.Run(limited)
	// The time was over, and not the console: the error that the shell gave says neither.
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it ran for more than %s and was ended", human.Span(ownTime))
	}
	return ownEnded{name: name, out: out, took: time.Since(began), err: err}
}

// note says how the command has ended, with the last lines of its output.
func (e ownEnded) note(now time.Time) (n engine.Note, lines []string) {
	for line := range bytes.Lines(bytes.TrimSpace(e.out)) {
		lines = append(lines, safe.Text(strings.TrimRight(string(line), "\r\n")))
	}
	// The last lines are shown: that is where a program says why it failed.
	lines = lines[max(len(lines)-ownLines, 0):]
	n = engine.Note{At: now, Level: engine.LevelOK, Text: e.name + " has ended after " + human.Span(e.took)}
	switch {
	case e.refused != nil:
		n.Level, n.Text = engine.LevelWarn, e.name+" did not run: "+e.refused.Error()
	case e.err != nil:
		n.Level, n.Text = engine.LevelErr, e.name+" failed: "+e.err.Error()
	}
	if e.err == nil && len(lines) > 0 {
		n.Text += ": " + lines[len(lines)-1]
	}
	return n, lines
}
