package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// actionWords are the words by which the palette reaches, from any screen, what the keys
// of one screen change.
var actionWords = map[page.Action]string{
	page.Trigger: "sync", page.Cancel: "cancel", page.Retry: "retry", page.Pause: "pause", page.Key: "replace the API key", page.Due: "reschedule",
	page.Force: "force", page.Reopen: "reclass", page.TakeBack: "undo", page.Track: "track", page.Purge: "purge jobs that ended", page.Forget: "forget", page.Ack: "ack",
	page.Silence: "silence", page.Edit: "schedule", page.Inject: "chaos", page.More: "chaos", page.Less: "chaos", page.ClearChaos: "chaos",
}

// TestEveryActionHasAPaletteWord: on its screen every key but those that move is in the
// palette; what changes anything, and every screen, has a word on all of them.
func TestEveryActionHasAPaletteWord(t *testing.T) {
	long(t)
	for _, v := range views {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), 120, 40, testOptions())
			d.m.opt.Chaos = broken()
			v.open(d)
			at := keys.On(d.m.page().Screen())
			names := map[string]bool{}
			for _, it := range d.m.paletteItems(d.m.now()) {
				names[strings.TrimSuffix(it.name, d.m.theme.Glyphs.Ellipsis)] = true
			}
			for _, b := range keys.Builtin.List {
				word := actionWords[b.Act]
				if b.In&at != 0 && b.Group != keys.GroupMove && b.Act != keys.Palette && !names[b.Help] {
					t.Errorf("on %s %q has no word", v.name, b.Help)
				}
				if b.Act.Writes() && !names[word] && (b.In&at == 0 || !names[b.Help]) {
					t.Errorf("from %s nothing leads to %q", v.name, b.Act)
				}
				if s, ok := keys.ScreenOf(b.Act); ok && !names[s.String()] {
					t.Errorf("from %s nothing leads to %s", v.name, s)
				}
			}
			for _, s := range sideScreens {
				if !names[s.screen.String()] {
					t.Errorf("from %s nothing leads to %s", v.name, s.screen)
				}
			}
		})
	}
}

// elsewhere are commands that a console does not give, and who does.
var elsewhere = map[string]string{
	"OpTrackMany": "farsight track --file", "OpReresolve": "farsight reresolve", "OpBackup": "farsight backup", "OpPage": "farsight pager test",
	"OpCompact": "farsight compact",
}

// TestEveryOpIsGivenByTheConsole: a command of the engine that no screen and no word gives
// is one of the command line, and said so here.
func TestEveryOpIsGivenByTheConsole(t *testing.T) {
	long(t)
	given := map[string]bool{}
	for _, dir := range consoleFolders(t) {
		paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			eachIdent(t, path, func(id *ast.Ident) { given[id.Name] = true })
		}
	}
	paths, err := filepath.Glob("../engine/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no code of the engine: %v", err)
	}
	ops := map[string]string{}
	for _, path := range paths {
		eachIdent(t, path, func(id *ast.Ident) {
			if spec, ok := declared(id); ok && len(id.Name) > 2 && strings.HasPrefix(id.Name, "Op") && len(spec.Values) == 1 {
				ops[id.Name] = spec.Values[0].(*ast.BasicLit).Value
			}
		})
	}
	if len(ops) < 20 || ops["OpEditSchedule"] == "" {
		t.Fatalf("the engine's commands were not found: %v", ops)
	}
	for name, op := range ops {
		inLine := slices.ContainsFunc(operation.Lines(), func(o operation.Operation) bool { return strconv.Quote(string(o.Op)) == op })
		if by := elsewhere[name]; (given[name] || inLine) == (by != "") {
			t.Errorf("%s: given by the console: %t, elsewhere by %q", op, given[name] || inLine, by)
		}
	}
}

func eachIdent(t *testing.T, path string, visit func(*ast.Ident)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			visit(id)
		}
		return true
	})
}

// declared gives the line that declares a constant or variable.
func declared(id *ast.Ident) (*ast.ValueSpec, bool) {
	if id.Obj == nil || id.Obj.Kind != ast.Con {
		return nil, false
	}
	spec, ok := id.Obj.Decl.(*ast.ValueSpec)
	return spec, ok && slices.Contains(spec.Names, id)
}

// TestPaletteSteersWhatOtherScreensHold: schedules, alerts, error classes and old commands
// by their words; what cannot be read is answered with how to write it.
func TestPaletteSteersWhatOtherScreensHold(t *testing.T) {
	long(t)
	busy(t, func(d *desk) {
		alert := d.m.rows.Data.Alerts[0].ID
		for _, c := range []struct {
			line string
			want engine.Command
		}{
			{"schedule edit latest 0 */2 * * * Asia/Seoul because fewer calls", engine.Command{Op: engine.OpEditSchedule, Schedule: "latest", Expr: "0 */2 * * *", Zone: "Asia/Seoul", Reason: "fewer calls"}},
			{"schedule edit latest @every 30m", engine.Command{Op: engine.OpEditSchedule, Schedule: "latest", Expr: "@every 30m"}},
			{"schedule edit latest as configured", engine.Command{Op: engine.OpEditSchedule, Schedule: "latest"}},
			{"schedule run report.weekly", engine.Command{Op: engine.OpRunSchedule, Schedule: "report.weekly"}},
			{"schedule pause latest because a tournament", engine.Command{Op: engine.OpPauseSchedule, Schedule: "latest", Reason: "a tournament"}},
			{"schedule resume latest", engine.Command{Op: engine.OpResumeSchedule, Schedule: "latest"}},
			{"ack " + alert, engine.Command{Op: engine.OpAck, Alert: alert}},
			{"silence " + alert + " +30m because known", engine.Command{Op: engine.OpSilence, Alert: alert, Reason: "known"}},
			{"undo #41", engine.Command{Op: engine.OpUndo, Audit: 41}},
		} {
			d.line(c.line)
			got := d.last()
			if c.want.Op == engine.OpSilence && !got.At.Equal(d.m.now().Add(30*time.Minute).Round(0)) && got.At.Sub(d.m.now()).Round(time.Minute) != 30*time.Minute {
				t.Errorf("%q is silent until %s", c.line, got.At)
			}
			if got.Op != c.want.Op || got.Schedule != c.want.Schedule || got.Expr != c.want.Expr || got.Zone != c.want.Zone || got.Alert != c.want.Alert || got.Reason != c.want.Reason || got.Audit != c.want.Audit || got.DryRun {
				t.Errorf("%q sent %+v", c.line, got)
			}
		}
		d.line("reclass 404 because it is back")
		d.wants("Open the discarded jobs of class 404 again?")
		d.press("y")
		if c := d.last(); c.DryRun || c.Op != engine.OpReclass || !c.Canary || c.Reason != "it is back" {
			t.Errorf("reclass sent %+v", c)
		}
		d.line("purge jobs that ended")
		d.wants("Purge ended jobs?")
		d.press("esc")
		n := len(d.fake.Did())
		for line, want := range map[string]string{
			"schedule edit": "name a schedule", "schedule latest": "say edit, run, pause or resume", "schedule edit latest": "as configured", "schedule run latest now": "nothing more",
			"schedule edit latest 0 1 2 3 4 5 6": "write a schedule and its zone", "ack nothing": "there is no alert nothing", "silence " + alert: "until when", "undo latest": "no number of a command",
		} {
			d.line(line)
			d.reads(want)
			d.press("esc")
		}
		if did := len(d.fake.Did()); did != n {
			t.Errorf("%s commands were sent for lines that cannot be read", strconv.Itoa(did-n))
		}
	})
}
