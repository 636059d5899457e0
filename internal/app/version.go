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
	// The linker has set it: see main.version.
	if release != "" {
		return release
	}
	if !ok {
		return "development"
	}
	// Of a build in a checkout: the commit. A build by `go install` has the module's version instead.
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "development " + s.Value[:min(len(s.Value), 12)]
		}
	}
	// "(devel)" is no version.
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
	// "go1.26.0", then "github.com/spf13/cobra v1.10.1 h1:…": what a bug report needs to build the
	// same.
	out := []string{info.GoVersion}
	for _, m := range info.Deps {
		out = append(out, m.Path+" "+m.Version+" "+m.Sum)
	}
	return out
}
