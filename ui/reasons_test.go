package ui

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// groupHeading is the heading of a group of jobs: what follows its state is why they wait.
var groupHeading = regexp.MustCompile(`^ +[▾▸] \d`)

// TestReasons_WholeAt120x40: on no screen of 120x40 is a reason cut. Of names and errors that
// are made to be too long for any screen nothing is asked.
func TestReasons_WholeAt120x40(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "*-120x40.golden"))
	reasons := 0
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "hostile-") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, reason := range reasonsOn(string(text)) {
			reasons++
			if strings.Contains(reason, "…") {
				t.Errorf("%s cuts %q", file, reason)
			}
		}
	}
	if reasons < 100 {
		t.Errorf("only %d reasons were found", reasons)
	}
}

// reasonsOn are the sentence of line 2, the headings of groups and what stands below a title
// WHY, up to where the next block begins or an empty row ends it.
func reasonsOn(screen string) (out []string) {
	lines := strings.Split(screen, "\n")
	if _, right, ok := strings.Cut(lines[1], "  "); ok {
		out = append(out, right)
	}
	from, to := -1, 0
	for _, line := range lines {
		cells := []rune(line)
		block := ""
		if from >= 0 && from < len(cells) {
			block = strings.TrimSpace(string(cells[from:min(to, len(cells))]))
		}
		switch at := strings.Index(line, "WHY "); {
		case at >= 0 && strings.Contains(line[at:], "──"):
			from = len([]rune(line[:at]))
			to = from + blockWidth(cells[from:])
		case block == "":
			from = -1
		default:
			out = append(out, block)
		}
		if groupHeading.MatchString(line) {
			out = append(out, line)
		}
	}
	return append(out, columnOf(lines, "RESULT OR REASON")...)
}

// columnOf are the cells below the title of a column that is the last of its list; up to the
// row that ends it.
func columnOf(lines []string, title string) (out []string) {
	at := -1
	for _, line := range lines {
		cells := []rune(line)
		switch below := strings.Index(line, title); {
		case below >= 0:
			at = len([]rune(line[:below]))
		case at < 0:
		case len(cells) <= at:
			return out
		default:
			out = append(out, strings.TrimSpace(string(cells[at:])))
		}
	}
	return out
}

// blockWidth is how wide a block is that begins with a title: up to the gutter behind its
// hairline.
func blockWidth(cells []rune) int {
	title := string(cells)
	if at := strings.Index(title, "─  "); at >= 0 {
		return len([]rune(title[:at])) + 1
	}
	return len(cells)
}
