package shape

import (
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/internal/scratch"
)

// TestTypesHoldElsewhere: all that the program is made of resolves with the files that are for
// systems which nobody runs here. That compiles nothing, and costs a tenth of a build.
func TestTypesHoldElsewhere(t *testing.T) {
	if !scratch.Whole {
		t.Skip("FARSIGHT_LONG=1 runs it")
	}
	for _, on := range []string{"windows/amd64", "darwin/arm64", "freebsd/amd64"} {
		t.Run(on, func(t *testing.T) {
			system, arch, _ := strings.Cut(on, "/")
			tr := load(t, system, arch)
			if !slices.ContainsFunc(tr.packages, func(p checked) bool { return folder(p.ImportPath) == "ui/terminal" }) {
				t.Error("go list told nothing of ui/terminal")
			}
		})
	}
}
