package shape

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// support are folders that only tests import: they are measured, but not part of the sums.
var support = []string{"engine/api/apitest", "engine/backendtest", "engine/backendtest/memstore", "internal/leak", "internal/pgtest", "internal/scratch", "internal/shape", "ui/page/pagetest", "ui/uitest"}

// figures are what a folder measures: lines and files of production code, lines without blanks and
// comments, its largest knot, and exported names that no other folder uses.
type figures struct {
	lines, files, knot, idle int
	code                     int
}

func (f *figures) add(g figures) {
	f.lines += g.lines
	f.files += g.files
	f.idle += g.idle
	f.code += g.code
	f.knot = max(f.knot, g.knot)
}

func (f figures) row(name string) string {
	return fmt.Sprintf("%-30s %6d lines, %6d of code, %4d files, %2d in a knot", name, f.lines, f.code, f.files, f.knot)
}

// measure reads the whole program; the sum leaves out what only tests use.
func measure(t *testing.T) (map[string]figures, figures) {
	tr := load(t, runtime.GOOS, runtime.GOARCH)
	used := tr.usedOutside(t)
	byFolder, sum := map[string]figures{}, figures{}
	for _, p := range tr.packages {
		f := p.figures(t)
		f.knot = len(p.knot())
		name := folder(p.ImportPath)
		if !slices.Contains(support, name) {
			f.idle = len(p.idle(used))
			sum.add(f)
		}
		byFolder[name] = f
	}
	return byFolder, sum
}

// figures counts lines; what needs types is measured elsewhere.
func (p checked) figures(t *testing.T) figures {
	f := figures{files: len(p.GoFiles)}
	for _, name := range p.GoFiles {
		raw, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(raw) {
			f.lines++
			if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
				f.code++
			}
		}
	}
	return f
}

// largestKnot is how many files of a package may all use each other, directly or through others: who
// opens one of them needs them all.
const largestKnot = 12

// The sizes of all folders are told by go test -v -run TestShape ./internal/shape.
func TestShape(t *testing.T) {
	if testing.Short() {
		t.Skip("resolves the whole program")
	}
	byFolder, sum := measure(t)
	for _, name := range slices.Sorted(maps.Keys(byFolder)) {
		f := byFolder[name]
		t.Log(f.row(name))
		if f.knot > largestKnot {
			t.Errorf("%s: %d files use each other, and more than %d are hard to read", name, f.knot, largestKnot)
		}
		if f.idle > 0 {
			t.Errorf("%s exports %d names that no other folder uses", name, f.idle)
		}
	}
	t.Log(sum.row("all but test support"))
}
