package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"github.com/farsight-console/farsight/engine/regular"
)

// FileName is the file of settings in each of the folders.
const FileName = "config.toml"

// BaseFolder is Farsight's part of one of the base directories that freedesktop.org defines (XDG),
// such as XDG_STATE_HOME or, where that is not an absolute path, ~/.local/state; "" where
// there is no home either.
func (in Inputs) BaseFolder(variable, below string) string {
	base, set := in.Getenv(variable)
	if !set || !filepath.IsAbs(base) {
		variable, below = homeOf(variable, below)
		home, set := in.Getenv(variable)
		if !set || home == "" {
			return ""
		}
		base = filepath.Join(home, below)
	}
	return filepath.Join(base, "farsight")
}

// homeOf is the variable that names a user's folder, and the place in it of a base directory.
func homeOf(base, below string) (variable, under string) {
	switch {
	case runtime.GOOS != "windows":
		return "HOME", below
	case base == "XDG_CONFIG_HOME":
		return "APPDATA", ""
	case base == "XDG_STATE_HOME":
		return "LOCALAPPDATA", "farsight-state"
	}
	return "LOCALAPPDATA", ""
}

// Folders are where config.toml, keys.toml and themes are looked for: each goes before the
// one in front of it.
func (c Config) Folders() []string {
	folders := []string{c.ConfigDir, c.DataDir}
	if c.ConfigDir == "" || c.ConfigDir == c.DataDir {
		return folders[1:]
	}
	return folders
}

// given is a value of a file.
type given struct {
	value  string
	source string // as `farsight config` names it
	path   string
}

// readFiles reads config.toml of all folders. That of the last, the data directory, is
// called by its name alone.
func readFiles(folders []string) (map[string]given, Faults) {
	out := map[string]given{}
	var all Faults
	// Later folders go before earlier ones, setting by setting and not file by file.
	for i, dir := range folders {
		path := filepath.Join(dir, FileName)
		source := path
		if i == len(folders)-1 {
			source = FileName
		}
		values, faults := readFile(path)
		all = append(all, faults...)
		for name := range values { // a secret stands in a file of its own or here
			delete(out, name+fileSuffix)
			delete(out, strings.TrimSuffix(name, fileSuffix))
		}
		for name, v := range values {
			out[name] = given{v, source, path}
		}
	}
	return out, all
}

// readFile reads config.toml as words; a missing file is an empty one. Unknown
// names are faults, for a typing error must not be a silent default.
func readFile(path string) (map[string]string, Faults) {
	f, _, err := regular.Open(path, 0)
	_, shut := os.Lstat(path) // the folder may let nobody like us in
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(shut, fs.ErrPermission) {
		return nil, nil // what is wrong with the directory is for whoever opens it to say
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, Faults{path + " cannot be read: permission denied: check its owner and mode"}
	}
	if err != nil {
		return nil, Faults{fmt.Sprintf("config.toml cannot be read: %v", err)}
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, Faults{fmt.Sprintf("config.toml cannot be read: %v", err)}
	}
	// Read as a map and not into a struct: the names are the table's, and unknown ones are to be told.
	var doc map[string]any
	if err := toml.Unmarshal(raw, &doc); err != nil {
		return nil, Faults{fmt.Sprintf("%s is no TOML: %v", path, err)}
	}
	known := func(name string) bool {
		return slices.ContainsFunc(settings(), func(s setting) bool { return s.name == name })
	}
	out := map[string]string{}
	var faults Faults
	for name, v := range doc {
		// Tables are the pager's alone; another one is an unknown setting.
		if table, ok := v.(map[string]any); ok && slices.Contains(PagerTables, name) {
			faults = append(faults, flattenTable(out, path, name, table)...)
			continue
		}
		if !known(name) {
			faults = append(faults, fmt.Sprintf("%s: unknown setting %q; `farsight config` lists them", path, name))
			continue
		}
		// A number or a boolean becomes the text that an environment variable would have.
		out[name] = fmt.Sprint(v)
	}
	// A map has no order, and the same file shall be complained of in the same words each time.
	sort.Strings(faults)
	return out, faults
}
