package ui

import (
	"path/filepath"
	"slices"

	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/saved"
)

// Mine is what the user has of their own: themes, keys, and what the console
// remembers of its last run. The zero Mine is none of it, and nothing is saved.
type Mine struct {
	// Themes are the user's own palettes.
	Themes []themes.Palette
	// Faults are sentences about files that could not be used. None of them keeps
	// the console from starting.
	Faults []string

	keys  *keys.Map
	kept  saved.State
	file  *saved.File
	fresh bool // the console was never used by this user: it remembers nothing yet
}

// LoadMine reads the themes below the folders and the keys of the last folder that has
// any, and what the console remembers from the file state; "" remembers nothing. Of two
// themes of one name the last folder's is taken.
func LoadMine(folders []string, state string) Mine {
	var m Mine
	var faults []error
	for _, dir := range folders {
		own, wrong := themes.LoadUser(filepath.Join(dir, "themes"))
		// Of two folders with a theme of one name the last one counts.
		m.Themes = slices.DeleteFunc(m.Themes, func(p themes.Palette) bool {
			return slices.ContainsFunc(own, func(o themes.Palette) bool { return o.Name == p.Name })
		})
		m.Themes, faults = append(m.Themes, own...), append(faults, wrong...)
		// A folder without such a file gives neither a table nor an error.
		table, err := keys.Load(filepath.Join(dir, "keys.toml"))
		if err != nil {
			faults = append(faults, err)
		}
		if table != nil {
			m.keys = table
		}
	}
	if state != "" {
		var err error
		if m.file, m.kept, m.fresh, err = saved.Open(state); err != nil {
			faults = append(faults, err)
		}
	}
	known := themes.Options{User: m.Themes}
	for _, err := range faults {
		m.Faults = append(m.Faults, err.Error())
	}
	// The file with the theme was deleted or renamed since it was chosen.
	if t := m.kept.Theme; t != "" && !known.Knows(t) {
		m.Faults = append(m.Faults, "the theme "+t+" that was chosen last is not there any more: choose another")
		m.kept.Theme = ""
	}
	return m
}

// table is the table of keys in force: the user's own, or else the built-in one.
func (m Mine) table() *keys.Map {
	if m.keys == nil {
		return keys.Builtin
	}
	return m.keys
}
