package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
)

// nasty are cells that other tables fall over.
var nasty = []string{
	"plain", "달빛 여우#KR1", "👩‍👩‍👧‍👦 clan#EMOJI", "แมวน้ำเงิน#TH2", "قمر الليل#MENA", "Z\u0351\u0352\u0353\u0354algo",
	"\x1b[2J\x1b[31mred\x1b]0;owned\x07", "abc\u202Etxt.exe", "tab\there", "two\nlines", "\u009b31mC1", "", strings.Repeat("long ", 200),
}

func printed(t *testing.T, o Out, cols []column, rows [][]string) []string {
	t.Helper()
	var b bytes.Buffer
	o.W = &b
	if err := o.table(cols, rows); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// Columns stay aligned under wide, combining and hostile text: the number column
// ends in the same cell on every line.
func TestTable_AlignsWhateverTheCellsHold(t *testing.T) {
	cols := []column{{Title: "NAME", Flex: 1}, {Title: "N", Kind: number}}
	var rows [][]string
	for _, cell := range nasty {
		rows = append(rows, []string{cell, "7"})
	}
	for _, width := range []int{0, 120, 80, 40, 12} {
		for _, ascii := range []bool{false, true} {
			lines := printed(t, Out{Width: width, ASCII: ascii}, cols, rows)
			if len(lines) != len(rows)+1 {
				t.Fatalf("width %d: %d lines for %d rows", width, len(lines), len(rows))
			}
			for i, line := range lines {
				if got, want := safe.Width(line), safe.Width(lines[0]); got != want {
					t.Errorf("width %d, ascii %t: line %d has %d cells, the head has %d: %q", width, ascii, i, got, want, line)
				}
				if width > 0 && safe.Width(line) > max(width, minFlex+3) {
					t.Errorf("width %d: line %d is %d cells wide", width, i, safe.Width(line))
				}
				harmless(t, line)
				if ascii && strings.ContainsFunc(line, func(r rune) bool { return r > 126 }) {
					t.Errorf("not ASCII: %q", line)
				}
			}
		}
	}
}

// harmless checks that a printed line cannot steer a terminal.
func harmless(t *testing.T, line string) {
	t.Helper()
	for _, r := range line {
		if unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			t.Errorf("%U in %q", r, line)
			return
		}
	}
}

// Only flexible columns give way; where that is not enough the line is longer
// than the terminal rather than wrong.
func TestTable_NarrowTerminal(t *testing.T) {
	cols := []column{{Title: "ID", Kind: number}, {Title: "WHAT", Flex: 1}, {Title: "WHY", Flex: 1}, {Title: "STATE"}}
	rows := [][]string{{"12345", strings.Repeat("w", 30), strings.Repeat("y", 50), "COMPLETED"}}
	wide := printed(t, Out{}, cols, rows)[1]
	if safe.Width(wide) != 5+30+50+9+3*2 {
		t.Errorf("without a terminal something was cut: %q", wide)
	}
	for _, width := range []int{90, 60, 50} {
		line := printed(t, Out{Width: width}, cols, rows)[1]
		if safe.Width(line) != width || !strings.HasPrefix(line, "12345  ") || !strings.HasSuffix(line, "  COMPLETED") {
			t.Errorf("at %d cells: %d in %q", width, safe.Width(line), line)
		}
	}
	if line := printed(t, Out{Width: 10}, cols, rows)[1]; safe.Width(line) != 5+minFlex+minFlex+9+3*2 {
		t.Errorf("at 10 cells: %q", line)
	}
}

func TestTable_NoTrailingSpaces(t *testing.T) {
	for _, line := range printed(t, Out{}, []column{{Title: "A"}, {Title: "B"}}, [][]string{{"x", ""}, {"", "long enough"}}) {
		if strings.TrimRight(line, " ") != line {
			t.Errorf("%q", line)
		}
	}
}

// JSON output is one value on a line and escapes what a terminal must not see;
// decoded, it is what was received.
func TestJSON_EscapesAndKeeps(t *testing.T) {
	for _, text := range nasty {
		var b bytes.Buffer
		if err := JSON(Out{W: &b}, map[string]string{"name": text}); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(b.String(), "\n")
		harmless(t, line)
		var back map[string]string
		if err := json.Unmarshal([]byte(line), &back); err != nil || back["name"] != text {
			t.Errorf("%q came back as %q: %v", text, back["name"], err)
		}
	}
	var b bytes.Buffer
	if err := lines(Out{W: &b}, []int{1, 2, 3}); err != nil || b.String() != "1\n2\n3\n" {
		t.Errorf("lines gave %q, %v", b.String(), err)
	}
}

func TestWords(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(1000): "1,000", count(-1234567): "-1,234,567", count(int64(12345678)): "12,345,678",
		human.Span(-time.Hour): "0 ms", human.Span(999 * time.Millisecond): "999 ms", human.Span(59900 * time.Millisecond): "59 s", human.Span(61 * time.Second): "1 min 01 s",
		human.Span(100 * time.Minute): "1 h 40 min", human.Span(72 * time.Hour): "3 d",
		human.SpanAgo(time.Time{}, now): "-", human.SpanAgo(now.Add(-90*time.Second), now): "1 min 30 s ago",
		human.SpanTo(time.Time{}, now): "-", human.SpanTo(now.Add(2*time.Second), now): "2 s", human.SpanTo(now.Add(-time.Hour), now): "0 ms",
		human.Stamp(time.Time{}): "-", human.Stamp(time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)): "2026-01-02 03:04:05",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Rows are left out for who listens only where the rest can be had: where there is --limit, and it was not given.
func TestW5h_ManyRowsAreSaidInPart(t *testing.T) {
	rows := make([][]string, mostSpoken+2)
	for i := range rows {
		rows[i] = []string{"x", "y"}
	}
	for brief, wants := range map[bool]int{true: mostSpoken + 1, false: mostSpoken + 2} {
		var b strings.Builder
		err := Out{W: &b, Spoken: true, View: View{Brief: brief}}.table([]column{words("A"), words("B")}, rows)
		if err != nil || strings.Count(b.String(), "\n") != wants || brief != strings.HasSuffix(b.String(), "And 2 more: --limit takes more of them.\n") {
			t.Errorf("brief %t: %v\n%s", brief, err, b.String())
		}
	}
}
