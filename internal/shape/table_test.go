package shape

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const architecturePage = top + "/ARCHITECTURE.md"

// The table stands between these lines of the page.
const tableBegins, tableEnds = "<!-- shape: go test ./internal/shape -update -->\n", "<!-- end of shape -->\n"

// support are folders that only tests import: they are measured, but not part of the sums.
var support = []string{"engine/api/apitest", "engine/backendtest", "engine/backendtest/memstore", "internal/leak", "internal/pgtest", "internal/scratch", "internal/shape", "ui/page/pagetest", "ui/uitest"}

// figures are what a folder measures: lines and files of production code, its largest
// knot, comment lines by code lines, and exported names that no other folder uses.
type figures struct {
	lines, files, knot, idle int
	comments, code           int
}

func (f figures) ratio() float64 { return float64(f.comments) / float64(max(1, f.code)) }

func (f *figures) add(g figures) {
	f.lines += g.lines
	f.files += g.files
	f.idle += g.idle
	f.comments += g.comments
	f.code += g.code
	f.knot = max(f.knot, g.knot)
}

func (f figures) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %.2f | %d |\n", name, f.lines, f.files, f.knot, f.ratio(), f.idle)
}

// measure reads the whole program; the sum leaves out what only tests use.
func measure(t *testing.T) (map[string]figures, figures) {
	tr := load(t)
	used := tr.usedOutside(t)
	byFolder, sum := map[string]figures{}, figures{}
	for _, p := range tr.packages {
		f := p.figures(t)
		f.knot = len(tr.knot(p))
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
			switch line = bytes.TrimSpace(line); {
			case bytes.HasPrefix(line, []byte("//")):
				f.comments++
			case len(line) > 0:
				f.code++
			}
		}
	}
	return f
}

func table(byFolder map[string]figures, sum figures) string {
	var b strings.Builder
	b.WriteString("| folder | lines | files | largest knot | comment : code | exported, unused outside |\n|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(byFolder)) {
		b.WriteString(byFolder[name].row("`" + name + "`"))
	}
	b.WriteString(sum.row("**all but test support**"))
	return b.String()
}

// told are the figures of the page, by the first cell of their row.
func told(t *testing.T, table string) map[string][]int {
	t.Helper()
	rows := map[string][]int{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 6 {
			continue
		}
		var numbers []int
		for _, i := range []int{1, 3, 5} { // lines, knot, exported
			n, err := strconv.Atoi(strings.TrimSpace(cells[i]))
			if err != nil {
				numbers = nil
				break
			}
			numbers = append(numbers, n)
		}
		rows[strings.TrimSpace(cells[0])] = numbers
	}
	return rows
}

// Knots and idle names may only become fewer; lines may grow by a twentieth before the
// page has to be written anew, so that not every change has to touch it.
func TestShapeIsNoWorseThanThePageSays(t *testing.T) {
	if testing.Short() {
		t.Skip("resolves the whole program")
	}
	byFolder, sum := measure(t)
	raw, err := os.ReadFile(architecturePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), tableBegins)
	page, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		t.Fatal("ARCHITECTURE.md has no place for the table of shapes")
	}
	now := table(byFolder, sum)
	if *update {
		if err := os.WriteFile(architecturePage, []byte(before+tableBegins+now+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was := told(t, page)
	for name, is := range told(t, now) {
		compare(t, name, was[name], is)
	}
}

func compare(t *testing.T, name string, was, is []int) {
	if is == nil { // the heading
		return
	}
	if was == nil {
		t.Errorf("%s is not in the table of ARCHITECTURE.md: go test ./internal/shape -update", name)
		return
	}
	if is[0] > was[0]+was[0]/20+100 {
		t.Errorf("%s has %d lines, the page says %d: go test ./internal/shape -update", name, is[0], was[0])
	}
	if is[1] > was[1] {
		t.Errorf("%s: %d files use each other, they were %d", name, is[1], was[1])
	}
	if is[2] > was[2] {
		t.Errorf("%s exports %d names that no other folder uses, they were %d", name, is[2], was[2])
	}
}
