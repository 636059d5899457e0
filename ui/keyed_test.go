package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// outsideUI are packages besides those of the console whose sentences it shows.
var outsideUI = []string{"../engine/control", "../engine/ingest", "../engine/local", "../engine/cron", "../engine/alert", "../internal/demo"}

// notConsole are folders of ui whose code writes nothing on a screen of the console.
var notConsole = []string{"chaos", "cli", "plain", "pagetest", "saved", "terminal", "testdata", "uitest"}

// consoleFolders are this folder and those below it that draw the console.
func consoleFolders(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case slices.Contains(notConsole, d.Name()):
			return fs.SkipDir
		}
		dirs = append(dirs, path)
		return nil
	})
	if err != nil || len(dirs) < 5 {
		t.Fatalf("the console has the folders %q: %v", dirs, err)
	}
	return dirs
}

// eachLiteral gives the strings that stand in the code of the packages.
func eachLiteral(t *testing.T, visit func(at, text string)) {
	t.Helper()
	for _, dir := range append(consoleFolders(t), outsideUI...) {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no code in %s: %v", dir, err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if text, err := strconv.Unquote(l.Value); err == nil {
						visit(files.Position(l.Pos()).String(), text)
					}
				}
				return true
			})
		}
	}
}

// words are keys that are words of a sentence or its punctuation as well.
var words = []string{"a", ":", ";", "left", "right", "up", "down", "home", "end"}

// spokenKey is a key and what it does, in a sentence: "t starts", "press s", "K for a
// key", "0 clears".
func spokenKey() *regexp.Regexp {
	var all []string
	for _, b := range keys.Builtin.List {
		for _, k := range b.Keys {
			if b.In&keys.OnPages != 0 && !slices.Contains(words, k) && !slices.Contains(all, regexp.QuoteMeta(k)) {
				all = append(all, regexp.QuoteMeta(k))
			}
		}
	}
	one := "(?:" + strings.Join(all, "|") + ")"
	does := `(?:[a-z]{3,}s\b|undo|follow|messages|live\b|step|zoom|other|for an? |to the )`
	return regexp.MustCompile(`(?:^|[\s,;:(])(?:` + one + " " + does + "|(?:press|by) " + one + `(?:$|[\s,;:.)]))`)
}

// fixed are sentences about keys that no file can bind anew: those of questions, menus,
// prompts. Others name no key, though they look like it.
var fixed = []string{
	"nothing fits: backspace, or esc closes", "enter runs it: ", "nothing was done: type the word that is shown, or leave by esc", "; enter goes on",
	"words, state:failed, age>1h, -queue:report.*, ~letters; tab completes", " more; tab completes",
	"ctrl+d stays half-page-down: elsewhere it deletes, and hands remember that",
}

// TestNoSentenceNamesABuiltinKey: whoever binds keys anew is told of the new ones. A
// sentence names a key by its action, and keyed puts in the one that is in force.
func TestNoSentenceNamesABuiltinKey(t *testing.T) {
	long(t)
	pattern := spokenKey()
	for _, sentence := range []string{"t starts a sync", "no jobs yet: t starts", "press s to go on", "more: K for a key", "until p resumes", "z undo", "tab to the queues"} {
		if !pattern.MatchString(sentence) {
			t.Errorf("a sentence such as %q would not be found", sentence)
		}
	}
	met := map[string]bool{}
	eachLiteral(t, func(at, text string) {
		if slices.Contains(fixed, text) {
			met[text] = true
			return
		}
		if found := pattern.FindString(text); found != "" {
			t.Errorf("%s: %q names the key %q as it is built in: write the action, such as {sync}, and let keyed put its key in", at, text, strings.TrimSpace(found))
		}
	})
	for _, text := range fixed {
		if !met[text] {
			t.Errorf("%q is excused, but nobody says it any more", text)
		}
	}
}

var placeholder = regexp.MustCompile(`\{(:?[a-z]+(?:[ /][a-z]+)*)\}`)

// templates are the sentences that keys are put in.
func templates(t *testing.T) (all []string) {
	eachLiteral(t, func(at, text string) {
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(m[1], ":") {
				continue
			}
			if keys.Builtin.Named(0, m[1]) == m[1] {
				t.Errorf("%s: %q names the action %q, which has no key", at, text, m[1])
			}
			if _, action, ok := strings.Cut(m[1], "/"); ok && keys.Builtin.Named(0, action) == "" {
				t.Errorf("%s: %q names no screen", at, text)
			}
		}
		if placeholder.MatchString(text) && !strings.HasPrefix(filepath.ToSlash(at), "../") {
			all = append(all, text)
		}
	})
	return all
}

// foreign binds every action of the screens to a letter that no text of the scenes has.
func foreign() *keys.Map {
	letter := 'Ā' // Latin Extended
	var list []keys.Binding
	for _, b := range keys.Builtin.List {
		if rest := b.In &^ keys.OnPages; rest != 0 || b.Act == keys.Exit {
			other := b
			if b.Act != keys.Exit {
				other.In = rest
			}
			list = append(list, other)
		}
		if b.In &= keys.OnPages; b.In != 0 && b.Act != keys.Exit {
			b.Keys = []string{string(letter)}
			list = append(list, b)
			letter++
		}
	}
	return keys.New(list)
}

// abroad is a desk whose keys are all bound anew. Keys are pressed by the names that they
// have at home.
func abroad(t *testing.T, scene uitest.Scene, w, h int) *desk {
	opt := testOptions()
	opt.Mine.keys = foreign()
	d := open(t, scene, w, h, opt)
	if len(d.m.keys.List) < len(keys.Builtin.List) || d.m.keys.First(keys.On(page.ScreenJobs), page.Trigger) == "t" {
		t.Fatal("the keys are as built in")
	}
	d.home = true
	return d
}

// TestSentencesFollowTheKeysFile binds every action to another key and looks at every
// screen, full, empty and broken: no sentence has a key as it is built in, and a good part of all
// sentences is seen with the new one.
func TestSentencesFollowTheKeysFile(t *testing.T) {
	long(t)
	sentences := templates(t)
	if err := foreign().Check(); err != nil && !strings.Contains(err.Error(), "ctrl+d") {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	// The same for every screen of a context: filled in once.
	type pair struct{ sentence, said, was string }
	filled := map[keys.Context][]pair{}
	look := func(t *testing.T, d *desk, what string) {
		text := strings.Join(append(d.refusals(), inOneLine(ansi.Strip(d.m.frame))), "\n")
		at := keys.On(d.m.page().Screen())
		if filled[at] == nil {
			for _, s := range sentences {
				filled[at] = append(filled[at], pair{s,
					strings.TrimSpace(page.Keyed(s, func(name string) string { return d.m.keys.Named(at, name) })),
					strings.TrimSpace(page.Keyed(s, func(name string) string { return keys.Builtin.Named(at, name) })),
				})
			}
		}
		for _, p := range filled[at] {
			if len(p.was) > 8 && strings.Contains(text, p.was) {
				t.Errorf("%s still says %q, the keys file says %q", what, p.was, p.said)
			}
			if !seen[p.sentence] && strings.Contains(text, p.said) {
				seen[p.sentence] = true
			}
		}
	}
	for _, scene := range []uitest.Scene{uitest.Busy(), uitest.Empty(), uitest.Broken()} {
		for _, v := range views {
			bubble(t, func(t *testing.T) {
				d := abroad(t, scene, 200, 60)
				v.open(d)
				what := scene.Name + " " + v.name
				look(t, d, what)
				for _, act := range []page.Action{page.End, page.NextPane, keys.Undo, keys.Earlier, keys.Logs, keys.Watch, keys.Save} {
					if key := d.m.keys.First(keys.On(d.m.page().Screen()), act); key != "" {
						d.home = false
						d.press(key)
						d.home = true
						look(t, d, what+" after "+string(act))
					}
				}
				d.press("f")
				look(t, d, what+" frozen")
			})
		}
	}
	missing := slices.DeleteFunc(slices.Clone(sentences), func(s string) bool { return seen[s] })
	t.Logf("of %d sentences %d were seen", len(sentences), len(sentences)-len(missing))
	if len(missing) > len(sentences)/3 {
		t.Errorf("of %d sentences only %d were seen; not these:\n%s", len(sentences), len(sentences)-len(missing), strings.Join(missing, "\n"))
	}
}

// refusals are what the page on top answers to every action that it cannot carry out.
func (d *desk) refusals() (all []string) {
	v := d.m.view(d.m.now())
	for _, b := range d.m.keys.List {
		if b.In&keys.On(d.m.page().Screen()) != 0 {
			all = append(all, d.m.page().Cannot(v, b.Act))
		}
	}
	return append(all, inOneLine(d.m.timeCursor.text(d.m.theme, d.m.keyed)))
}

// inOneLine is a screen as one line, without what frames it.
func inOneLine(screen string) string {
	return strings.Join(strings.FieldsFunc(screen, func(r rune) bool { return r == ' ' || r == '\n' || r == '│' }), " ")
}

// TestTourFollowsTheKeysFile: the cards of the tour say the keys that are in force.
func TestTourFollowsTheKeysFile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := abroad(t, uitest.Busy(), 120, 40)
		d.m.tourTo(len(cards))
		said := ansi.Strip(strings.Join(d.m.cardPanel(30).rows, ""))
		for _, act := range []page.Action{keys.Help, keys.Palette} {
			if key := d.m.keys.First(keys.OnPages, act); !strings.Contains(said, " "+key+" ") {
				t.Errorf("the last card does not say %s for %s: %s", key, act, said)
			}
		}
	})
}
