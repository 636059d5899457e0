// Package saved has what a console remembers for its user from one start to the next, such
// as the theme and the order of a list, and the file where it is kept.
package saved

import (
	"maps"
	"slices"

	"github.com/farsight-console/farsight/ui/page"
)

// State is what a console remembers for its user from one start to the next.
type State struct {
	Version int                          `json:"version"`
	Theme   string                       `json:"theme,omitempty"`
	Lists   map[string]page.ListState    `json:"lists,omitempty"`   // by screen
	Filters map[string]map[string]string `json:"filters,omitempty"` // by screen and name
	History []string                     `json:"history,omitempty"` // lines of the palette, oldest first
	Sought  []string                     `json:"sought,omitempty"`  // filters that were typed, oldest first
}

// clone shares nothing that is changed later: the console goes on with its state while a copy is written.
func (s State) clone() State {
	s.Lists, s.History, s.Sought = maps.Clone(s.Lists), slices.Clone(s.History), slices.Clone(s.Sought)
	s.Filters = maps.Clone(s.Filters) // the maps in it are replaced, never changed
	return s
}

// same reports whether two would be written alike.
func (s State) same(other State) bool {
	return s.Theme == other.Theme && slices.Equal(s.History, other.History) && slices.Equal(s.Sought, other.Sought) &&
		maps.EqualFunc(s.Lists, other.Lists, page.ListState.Equal) &&
		maps.EqualFunc(s.Filters, other.Filters, maps.Equal[map[string]string, map[string]string])
}

// KeepFilter changes the saved filters of a screen; an empty text removes one, and with the last one of
// a screen its entry. The maps are made anew: a copy of the state may be on its way to the file.
func (s *State) KeepFilter(screen, name, text string) {
	all := maps.Clone(s.Filters)
	if all == nil {
		all = map[string]map[string]string{}
	}
	own := maps.Clone(all[screen])
	if own == nil {
		own = map[string]string{}
	}
	own[name] = text
	if text == "" {
		delete(own, name)
	}
	all[screen] = own
	if len(own) == 0 {
		delete(all, screen)
	}
	s.Filters = all
}

// keptLines is how many lines of the palette are remembered, and how many filters.
const keptLines = 50

// AddLine is what was typed with one more line, but not the same one twice in a row.
func AddLine(typed []string, line string) []string {
	if line == "" || len(typed) > 0 && typed[len(typed)-1] == line {
		return typed
	}
	typed = append(typed, line)
	return typed[max(len(typed)-keptLines, 0):]
}
