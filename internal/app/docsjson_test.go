package app

import (
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/internal/bundle"
	"github.com/farsight-console/farsight/internal/doctor"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage/keep"
	"github.com/farsight-console/farsight/ui/cli"
)

var update = flag.Bool("update", false, "write the lists of fields in docs/json.md anew")

// answer is what a command prints with --json.
type answer struct {
	commands string
	lines    bool // one object per line, else one in all
	of       any
}

// answers are in the order of docs/json.md.
var answers = []answer{
	{"status", false, engine.StatusAnswer{}},
	{"queues", true, engine.QueueRow{}},
	{"jobs, retries", true, engine.JobRow{}},
	{"jobs --classes", true, engine.ClassRow{}},
	{"accounts", true, engine.AccountRow{}},
	{"collections", true, engine.CollectionRow{}},
	{"matches", true, engine.MatchRow{}},
	{"members", true, engine.MemberRow{}},
	{"limits", true, columns.Limit{}},
	{"reports", true, engine.ReportRow{}},
	{"reports 'Name#TAG'", false, engine.PlayReport{}},
	{"weekly", false, engine.WeeklyReport{}},
	{"ranks", true, engine.RankRow{}},
	{"schedules", true, engine.ScheduleRow{}},
	{"freshness", false, engine.Freshness{}},
	{"alerts", true, engine.AlertRow{}},
	{"metrics", false, engine.Metrics{}},
	{"joblog", true, engine.JobLog{}},
	{"logs", true, engine.LogRow{}},
	{"audit", true, engine.AuditEntry{}},
	{"forensics", false, engine.Forensics{}},
	{"doctor", false, doctor.Diagnosis{}},
	{"bundle", false, bundle.Written{}},
	{"config", true, engine.Setting{}},
	{"key, key show", false, shownKey{}},
	{"version", false, build{}},
	{"sim, for each call", true, sim.Call{}},
	{"sim, at the end", false, sim.Stats{}},
	{"check", false, checkReport{}},
	{"backup", false, engine.BackupDone{}},
	{"backup --list, restore --list", true, listedBackup{}},
	{"restore", false, keep.RestoreReport{}},
	{"compact", false, engine.CompactDone{}},
	{"migrate", false, taken{}},
	{"prune", false, engine.PruneDone{}},
	{"sim", true, cli.Player{}},
	{"retry, cancel, force, reclass, reschedule, pause, resume, trigger, freeze, thaw, undo, ack, silence, track, untrack, schedules --run, reresolve, call, key set, key test", false, engine.Receipt{}},
}

// docs/json.md lists every field that --json prints, as the types have them, and names
// every command that has the flag.
func TestJSONPageIsFresh(t *testing.T) {
	t.Parallel()
	const mark = "\n## Fields\n"
	path := filepath.Join(top, "docs", "json.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	intro, _, found := strings.Cut(string(raw), mark)
	if !found {
		t.Fatalf("%s has no heading %q", path, strings.TrimSpace(mark))
	}
	var b strings.Builder
	b.WriteString(intro + mark)
	for _, a := range answers {
		form := "One object"
		if a.lines {
			form = "One object per line"
		}
		fmt.Fprintf(&b, "\n**`%s`**: %s: %s\n", a.commands, form, members(reflect.TypeOf(a.of), nil))
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if b.String() != string(raw) {
		t.Errorf("%s is not what the program prints: go test ./internal/app -run TestJSONPageIsFresh -update", path)
	}
	for _, name := range withJSON(newRoot()) {
		if !regexp.MustCompile("[`, ]" + name + "[`, ]").MatchString(b.String()) {
			t.Errorf("%s does not name `%s --json`", path, name)
		}
	}
}

// withJSON are the commands that have the flag.
func withJSON(c *cobra.Command) (names []string) {
	if c.Flags().Lookup("json") != nil && !c.Hidden {
		names = append(names, strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "))
	}
	for _, sub := range c.Commands() {
		names = append(names, withJSON(sub)...)
	}
	return names
}

// members writes the members of an object with what they hold. A type within itself is
// not told again.
func members(t reflect.Type, within []reflect.Type) string {
	var all []string
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" || name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		text := "`" + name + "`"
		if strings.Contains(options, "omit") {
			text += "?"
		}
		all = append(all, strings.TrimSpace(text+" "+holds(f.Type, append(slices.Clone(within), t))))
	}
	return strings.Join(all, ", ")
}

// holds says in a word what a member is; texts and numbers say it by their names.
func holds(t reflect.Type, within []reflect.Type) string {
	_, text := reflect.New(t).Interface().(encoding.TextMarshaler)
	_, own := reflect.New(t).Interface().(json.Marshaler)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t == reflect.TypeFor[json.RawMessage]():
		return "any"
	case text || own:
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		if of := t.Elem(); of.Kind() != reflect.Struct {
			return strings.TrimSpace(holds(of, within) + " or null")
		}
		return holds(t.Elem(), within)
	case reflect.Bool:
		return "bool"
	case reflect.Slice, reflect.Array:
		return strings.TrimSpace("list " + holds(t.Elem(), within))
	case reflect.Map:
		return strings.TrimSpace("map " + holds(t.Elem(), within))
	case reflect.Struct:
		if slices.Contains(within, t) {
			return "{…}"
		}
		return "{" + members(t, within) + "}"
	}
	return ""
}
