package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/farsight-console/farsight/ui/page"
)

// said are the sentences that keys were put in, by screen: a screen says the same ones
// in each frame.
type said map[saying]string

type saying struct {
	at   where
	text string
}

// keyed puts the keys in force into a sentence, as page.Keyed says.
func (m *Model) keyed(text string) string {
	s := saying{contextOf(m.page().Screen()), text}
	got, ok := m.said[s]
	if !ok {
		got = page.Keyed(text, func(name string) string { return m.keys.named(s.at, name) })
		m.said[s] = got
	}
	return got
}

// named is the key of an action that is called as a keys file calls it, on a screen or,
// if it has none there, on any; {jobs/pause} names another screen. {:name} is a command
// as it is typed: the key of the palette and the name.
func (k *keymap) named(at where, name string) string {
	if command, ok := strings.CutPrefix(name, ":"); ok {
		key := k.first(onPages, actPalette)
		if utf8.RuneCountInString(key) > 1 {
			key += " "
		}
		return key + command
	}
	if screen, action, ok := strings.Cut(name, "/"); ok {
		at, _ = sectionOf(screen)
		name = action
	}
	for _, in := range []where{at, onPages} {
		for i := range k.list {
			if b := &k.list[i]; b.in&in != 0 && spoken(actionName(b.act)) == name {
				return shownKeys(b.keys[:1])
			}
		}
	}
	return name
}
