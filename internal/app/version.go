package app

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/ui"
	"github.com/farsight-console/farsight/ui/cli"
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
	return released(info.Main.Version)
}

// released is a module's version as a release names itself, without the v: members and consoles compare them.
// "(devel)" is none.
func released(module string) string {
	if module == "" || strings.HasPrefix(module, "(") {
		return "development"
	}
	return strings.TrimPrefix(module, "v")
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

// versionCommand makes `farsight version`. It is one line without --modules: packagers compare it.
func versionCommand() commandDecl {
	return commandDecl{
		use: "version", group: groupSetup, short: "Show the version of this build", example: "farsight version --json", json: "as JSON",
		flags: func(f *pflag.FlagSet) {
			f.Bool("modules", false, "with the modules in it, and whose product it is not")
		},
		bare: func(cmd *cobra.Command, _ []string) error {
			w, platform := cmd.OutOrStdout(), runtime.GOOS+"/"+runtime.GOARCH
			// The notice is for people, and programs get all modules.
			if out := stdout(cmd); out.JSON {
				mods := modules() // the first is Go
				return cli.JSON(out, build{version(), runtime.Version(), platform, mods[min(1, len(mods)):]})
			}
			_, err := fmt.Fprintf(w, "farsight %s (%s, %s)\n", version(), runtime.Version(), platform)
			if err != nil || !flagBool(cmd, "modules") {
				return err
			}
			for _, m := range modules() {
				_, _ = fmt.Fprintln(w, "  "+m)
			}
			// Riot wants every product that uses its API to say whose it is not.
			_, err = fmt.Fprintln(w, "\n"+ui.Notice)
			return err
		},
	}
}

// build is what `farsight version --json` prints.
type build struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"` // of the system, such as linux/amd64
	Modules  []string `json:"modules"`
}
