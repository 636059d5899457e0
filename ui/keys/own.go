package keys

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/page"
)

// Command is a command of the user's own, a [[command]] of keys.toml: a key, on a screen or
// several, and the line that a shell reads, `xdg-open "https://example.com/$FARSIGHT_ID"`.
type Command struct {
	Name, Run string
	keys      []string // as a binding has them
	at        Context  // the screens on which they hold
}

// ownCommands reads the commands of a keys file; list is what the decoder made of [[command]], nil where
// there is none. Each becomes an action of its own, "own look up", which its key is bound to.
func ownCommands(list any) (map[page.Action]Command, error) {
	entries, ok := list.([]any)
	if !ok && list != nil {
		return nil, errors.New("write each command below [[command]]")
	}
	own := map[page.Action]Command{}
	for i, e := range entries {
		c, err := ownCommandOf(e)
		if err != nil {
			return nil, fmt.Errorf("command %d: %w", i+1, err)
		}
		act := page.Action("own " + c.Name)
		if _, ok := own[act]; ok {
			return nil, fmt.Errorf("command %d: there are two commands named %s", i+1, c.Name)
		}
		own[act] = c
	}
	return own, nil
}

// ownCommandOf reads one. Its members are read in the order of their names, so that of several faults
// the same one is told each time.
func ownCommandOf(entry any) (c Command, err error) {
	fields, _ := entry.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, _ := fields[name].(string)
		switch name {
		case "key":
			c.keys, err = keysOf(fields[name])
		case "on":
			c.at, err = screensOf(fields[name])
		case "name":
			c.Name = strings.TrimSpace(safe.Text(text))
		case "run":
			c.Run = strings.TrimSpace(text)
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
	case c.Run == "":
		return c, errors.New("say what a shell shall run: run = 'echo \"$FARSIGHT_ID\"'")
	case c.Name == "": // called by its program
		c.Name, _, _ = strings.Cut(c.Run, " ")
	}
	return c, nil
}

// screensOf reads a screen, or a list of them: "jobs", ["jobs", "matches"] or "all".
func screensOf(value any) (at Context, err error) {
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

// bindingsOf are the keys of the user's own commands, which stand behind those of the table: where one is
// taken already, Check finds it.
func bindingsOf(own map[page.Action]Command) (list []Binding) {
	for _, act := range slices.Sorted(maps.Keys(own)) {
		c := own[act]
		list = append(list, Binding{Keys: c.keys, Act: act, In: c.at, Group: groupAct, Help: c.Name + ", of your own"})
	}
	return list
}
