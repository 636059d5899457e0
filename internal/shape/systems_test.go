package shape

import (
	"slices"
	"testing"
)

// TestTypesHoldElsewhere: all that the program is made of resolves with the files that are for
// systems which nobody runs here. That compiles nothing, and costs a tenth of a build.
func TestTypesHoldElsewhere(t *testing.T) {
	for system, arch := range map[string]string{"darwin": "arm64", "freebsd": "amd64", "windows": "amd64"} {
		t.Run(system, func(t *testing.T) {
			tr := load(t, system, arch)
			if !slices.ContainsFunc(tr.packages, func(p checked) bool { return folder(p.ImportPath) == "ui/terminal" }) {
				t.Error("go list told nothing of ui/terminal")
			}
		})
	}
}
