package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/ui/page"
)

// everywhere is the section of a keys file that holds for all screens. A binding of it touches an action
// only where that has a key already.
const everywhere = "all"

// largestKeys bounds what is read of a keys file, in bytes: a path that was mistyped may name anything.
const largestKeys = 64 << 10

// Load reads the user's keys: tables named after screens, or all, of actions
// and their key or keys. A file that is not there gives none (nil). A file with any
// fault changes nothing either: the keys as built in are returned with an error, which is one sentence.
//
//	[all]
//	freeze = "F"
//	[jobs]
//	retry = ["r", "ctrl+r"]
//	[[command]]
//	key = "I"
//	on = "matches"
//	name = "open"
//	run = 'xdg-open "https://example.com/$FARSIGHT_ID"'
func Load(path string) (*Map, error) {
	// A pipe would keep the console from starting until somebody writes into it.
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (st.Size() > largestKeys || !st.Mode().IsRegular()) {
		err = errors.New("it is not a file of at most 64 KiB")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	var m *Map
	if err == nil {
		m, err = Parse(text)
	}
	if err != nil {
		return Builtin, fmt.Errorf("the keys stay as built in, %s cannot be used: %w", path, err)
	}
	return m, nil
}

// Parse makes a table of keys of a file's text. Its error is one sentence that names the line, the
// table or the action; the table that is returned with an error is not to be used.
func Parse(text []byte) (*Map, error) {
	var whole map[string]any
	if err := toml.NewDecoder(bytes.NewReader(text)).Decode(&whole); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := e.Position()
			return nil, fmt.Errorf("line %d: %s", line, strings.TrimPrefix(e.Error(), "toml: "))
		}
		return nil, errTables
	}
	list := slices.Clone(bindings) // what the file does not name stays as built in
	own, err := ownCommands(whole["command"])
	if err != nil {
		return nil, err
	}
	delete(whole, "command")
	file := map[string]map[string]any{}
	for name, section := range whole {
		table, ok := section.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("line %d: %w", lineWith(text, name), errTables)
		}
		file[name] = table
	}
	for _, section := range sectionsOf(file) {
		at, err := sectionOf(section)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(file[section])) {
			keys, err := keysOf(file[section][name])
			if err != nil {
				return nil, fmt.Errorf("%s of [%s]: %w", name, section, err)
			}
			if list, err = rebind(list, at, section, name, keys); err != nil {
				return nil, err
			}
		}
	}
	m := New(append(list, bindingsOf(own)...))
	m.Own = own
	return m, m.Check()
}

// lineWith is the line in which a name stands first: the decoder tells the places of faults of its own
// alone.
func lineWith(text []byte, name string) int {
	return 1 + bytes.Count(text[:max(bytes.Index(text, []byte(name)), 0)], []byte("\n"))
}

// errTables says how a file is to be written in which something else stands than tables.
var errTables = errors.New("write tables of actions, such as [jobs] and below it retry = \"r\", or [[command]]")

// sectionsOf are the tables of a file, the one for all screens first, so that a screen's own wins; the
// others by their names, so that of several faults the same one is told each time.
func sectionsOf(file map[string]map[string]any) []string {
	sections := slices.Sorted(maps.Keys(file))
	if i := slices.Index(sections, everywhere); i > 0 {
		sections = slices.Insert(slices.Delete(sections, i, i+1), 0, everywhere)
	}
	return sections
}

// sectionOf is the screens that a table of the file is about. The overlays (questions, help, menus) have
// none: their keys are not to be bound anew, so that nobody locks himself out.
func sectionOf(name string) (Context, error) {
	if name == everywhere {
		return OnPages, nil
	}
	var names []string
	for s := page.ScreenOverview; On(s) < InDialog; s++ {
		if spoken(s.String()) == spoken(name) {
			return On(s), nil
		}
		names = append(names, Section(s))
	}
	return 0, fmt.Errorf("there is no screen [%s]: use [all], or one of %s", name, strings.Join(names, ", "))
}

// spoken is a name with spaces, as actions have it; dashed the same as a file writes it without
// quotes: "error classes" and error-classes.
func spoken(name string) string {
	return strings.ToLower(spaced.Replace(name))
}

var spaced = strings.NewReplacer("-", " ", "_", " ")

// Section is how files call a screen: error-classes.
func Section(s page.Screen) string { return dashed(s.String()) }

// dashed is a name as a file has it without quotes: half-page-down.
func dashed(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// keysOf reads a key, or a list of them. The first one is the one that hint line and help show.
func keysOf(value any) ([]string, error) {
	var keys []string
	switch v := value.(type) {
	case string:
		keys = []string{v}
	case []any:
		for _, k := range v {
			text, ok := k.(string)
			if !ok {
				return nil, errors.New(`write keys in quotes: ["r", "ctrl+r"]`)
			}
			keys = append(keys, text)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New(`name a key in quotes, "r", or several, ["r", "ctrl+r"]: an action cannot be left without one`)
	}
	for _, k := range keys {
		if err := keyForm(k); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// namedKey are the keys that are no letter, by Bubble Tea's names. It is made when a file is read first:
// most consoles have none.
var namedKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(enter|esc|tab|shift\+tab|space|backspace|delete|insert|up|down|left|right|` +
		`home|end|pgup|pgdown|ctrl\+[a-z]|f([1-9]|1[0-2]))$`)
})

// confused are keys that terminals cannot tell from others, or that vim and k9s
// mean otherwise: ctrl+i is a tab there, ctrl+m enter, ctrl+h backspace, ctrl+[ escape, and ctrl+k deletes.
var confused = []string{"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+[", "ctrl+k"}

// keyForm refuses what no terminal sends. A single sign is a key as it is; a letter that is typed with
// shift is the capital.
func keyForm(k string) error {
	r, n := utf8.DecodeRuneInString(k)
	switch {
	case slices.Contains(confused, k) || strings.HasPrefix(k, "alt+"):
		return fmt.Errorf("%s cannot be used: terminals take it for another key", k)
	case namedKey().MatchString(k), n == len(k) && r > ' ' && r != utf8.RuneError && r != 0x7f:
		return nil
	}
	return fmt.Errorf("%q is no key: write a letter or sign, ctrl+a, enter, tab, up, f5 …", k)
}

// actionName is how a keys file names an action: "retry", "half page down", a numbered screen by its
// name, "jobs".
func actionName(a page.Action) string {
	if s, ok := ScreenOf(a); ok {
		return strings.ToLower(s.String())
	}
	return string(a)
}

// rebind gives an action other keys on some screens. A binding that holds on further ones is split in
// two: the old keys stay there. Exit keeps ctrl+c everywhere.
func rebind(list []Binding, at Context, section, name string, keys []string) ([]Binding, error) {
	out, found := make([]Binding, 0, len(list)+1), false
	// Keys of overlays are out of reach, and so is what leaves the program.
	for _, b := range list {
		here := b.In & at & OnPages
		if spoken(actionName(b.Act)) != spoken(name) || here == 0 || b.Act == Exit {
			out = append(out, b)
			continue
		}
		found = true
		if rest := b.In &^ here; rest != 0 {
			other := b
			other.In = rest
			out = append(out, other)
		}
		b.In, b.Keys = here, keys
		out = append(out, b)
	}
	if !found {
		near := strings.Join(nearActions(list, at, name), ", ")
		return nil, fmt.Errorf("there is no action %q in [%s]: did you mean %s?", name, section, near)
	}
	return out, nil
}

// nearActions are the three actions of some screens that are most like a name, as a file would call them.
func nearActions(list []Binding, at Context, name string) []string {
	var names []string
	for _, b := range list {
		if n := dashed(actionName(b.Act)); b.In&at&OnPages != 0 && b.Act != Exit && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return filter.Distance(spoken(name), spoken(a)) - filter.Distance(spoken(name), spoken(b))
	})
	return names[:min(len(names), 3)]
}

// Check says which key would mean two things on one screen, or which action
// could only be reached by a key that some terminals lack. It is asked of the whole table: what a file
// binds anew may collide with a key that it does not name.
func (m *Map) Check() error {
	for s := page.ScreenOverview; On(s) < InDialog; s++ {
		taken := map[string]page.Action{}
		for _, b := range m.List {
			if b.In&On(s) == 0 {
				continue
			}
			act := dashed(actionName(b.Act))
			// An action with a letter as well may have any function key besides.
			if slices.IndexFunc(b.Keys, func(k string) bool { return !functionKey(k) }) < 0 {
				const only = "%s has only %s: not every terminal has it, give it another key as well"
				return fmt.Errorf(only, act, strings.Join(b.Keys, ", "))
			}
			for _, k := range b.Keys {
				if k == "ctrl+d" && b.Act != page.HalfDown {
					return errors.New("ctrl+d stays half-page-down: elsewhere it deletes, and hands remember that")
				}
				if other, ok := taken[k]; ok {
					const both = "on %s the key %s would mean both %s and %s: give one of them another key"
					return fmt.Errorf(both, s, k, dashed(actionName(other)), act)
				}
				taken[k] = b.Act
			}
		}
	}
	return nil
}

// functionKey reports whether a key is f1 to f12. Some keyboards have none, and some terminals keep them
// for themselves.
func functionKey(k string) bool { return len(k) > 1 && k[0] == 'f' && k[1] >= '1' && k[1] <= '9' }
