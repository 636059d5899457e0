package app

import (
	"runtime/debug"
	"strings"
)

// release is the version of a release; "" = this build is none.
var release string

// version names the build: the release, else the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if release != "" {
		return release
	}
	if !ok {
		return "development"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "development " + s.Value[:min(len(s.Value), 12)]
		}
	}
	if v := info.Main.Version; v != "" && !strings.HasPrefix(v, "(") {
		return v
	}
	return "development"
}

// modules lists the versions a bug report needs.
func modules() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	out := []string{info.GoVersion}
	for _, m := range info.Deps {
		out = append(out, m.Path+" "+m.Version+" "+m.Sum)
	}
	return out
}
