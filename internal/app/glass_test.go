package app

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// glass is what a person sees on a terminal: it takes what a program writes and
// keeps the letters where they stand. Of colours it only knows that there were some.
type glass struct {
	mu          sync.Mutex
	w, h        int
	cells       [][]rune // 0 = the right half of a wide letter
	x, y        int
	top, bottom int // rows that scroll, inclusive
	last        rune
	saved       [2]int
	held        []byte // the beginning of a sequence that has not ended

	bytes   int64 // that were written
	frames  int64 // synchronized updates that began, see asks
	colours int   // sequences that set a colour other than the terminal's own
	strange []string
	raw     bytes.Buffer // the first bytes, for what is said before the screen
	asks    func(answer string)
}

func newGlass(w, h int, asks func(string)) *glass {
	g := &glass{asks: asks}
	g.size(w, h)
	return g
}

// size gives the glass other edges; what was on it stays as far as it fits.
func (g *glass) size(w, h int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.cells
	g.w, g.h, g.top, g.bottom = w, h, 0, h-1
	g.cells = make([][]rune, h)
	for y := range g.cells {
		g.cells[y] = blank(w)
		if y < len(was) {
			copy(g.cells[y], was[y])
		}
	}
	g.x, g.y = min(g.x, w-1), min(g.y, h-1)
}

func blank(w int) []rune { return []rune(strings.Repeat(" ", w)) }

// text is the screen, a line per row.
func (g *glass) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for _, row := range g.cells {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// edges is the size that the program has painted for: the last column and row, from
// 1, on which something stands.
func (g *glass) edges() (right, bottom int) {
	for y, line := range strings.Split(strings.TrimRight(g.text(), "\n"), "\n") {
		if n := runewidth.StringWidth(line); n > 0 {
			right, bottom = max(right, n), y+1
		}
	}
	return right, bottom
}

func (g *glass) told() (bytes, frames int64, colours int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes, g.frames, g.colours
}

func (g *glass) first() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.raw.String()
}

// Write takes what a program writes.
func (g *glass) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes += int64(len(p))
	if g.raw.Len() < 4096 {
		g.raw.Write(p)
	}
	g.held = append(g.held, p...)
	for len(g.held) > 0 {
		n := g.take(g.held)
		if n == 0 {
			break
		}
		g.held = g.held[n:]
	}
	return len(p), nil
}

// take does what the first letter or sequence asks for and gives its length; 0 = it
// is not complete yet.
func (g *glass) take(p []byte) int {
	if p[0] == '\x1b' {
		return g.escape(p)
	}
	if p[0] < ' ' {
		g.control(p[0])
		return 1
	}
	if !utf8.FullRune(p) {
		return 0
	}
	r, n := utf8.DecodeRune(p)
	g.put(r)
	return n
}

func (g *glass) control(c byte) {
	switch c {
	case '\r':
		g.x = 0
	case '\n':
		g.feed()
	case '\b':
		g.x = max(min(g.x, g.w-1)-1, 0)
	case '\t':
		g.x = min(g.x/8*8+8, g.w-1)
	}
}

func (g *glass) feed() {
	if g.y == g.bottom {
		g.scroll(g.top, 1)
		return
	}
	g.y = min(g.y+1, g.h-1)
}

// scroll moves the rows from one on, up by n or down by -n.
func (g *glass) scroll(from, n int) {
	for ; n > 0; n-- {
		copy(g.cells[from:g.bottom+1], g.cells[from+1:g.bottom+1])
		g.cells[g.bottom] = blank(g.w)
	}
	for ; n < 0; n++ {
		copy(g.cells[from+1:g.bottom+1], g.cells[from:g.bottom])
		g.cells[from] = blank(g.w)
	}
}

func (g *glass) put(r rune) {
	n := runewidth.RuneWidth(r)
	if n == 0 {
		return
	}
	if g.x+n > g.w {
		g.x = 0
		g.feed()
	}
	g.cells[g.y][g.x], g.last = r, r
	if n == 2 {
		g.cells[g.y][g.x+1] = 0
	}
	g.x += n
}

var (
	sequence = regexp.MustCompile(`^\x1b\[([?>=<]?)([0-9;:]*)([ !"$'*]*)([@-~])`)
	colour   = regexp.MustCompile(`(^|;)(3[0-8]|4[0-8]|9[0-7]|10[0-7])(;|:|$)`)
)

func (g *glass) escape(p []byte) int {
	switch {
	case len(p) < 2:
		return 0
	case p[1] == '[':
		m := sequence.FindSubmatch(p)
		if m == nil {
			if len(p) > 64 {
				g.strange = append(g.strange, string(p[:16]))
				return 1
			}
			return 0
		}
		g.order(string(m[1]), string(m[2]), string(m[3])+string(m[4]))
		return len(m[0])
	case strings.IndexByte("]P_^X", p[1]) >= 0:
		return g.carried(p)
	case p[1] == '7':
		g.saved = [2]int{g.x, g.y}
	case p[1] == '8':
		g.x, g.y = g.saved[0], g.saved[1]
	case p[1] == 'M':
		if g.y == g.top {
			g.scroll(g.top, -1)
		} else {
			g.y = max(g.y-1, 0)
		}
	case p[1] == '(' || p[1] == ')':
		if len(p) < 3 {
			return 0
		}
		return 3
	}
	return 2
}

// carried takes a sequence that carries text, and answers a question for the colour
// of the ground.
func (g *glass) carried(p []byte) int {
	bell, st := bytes.IndexByte(p, '\a'), bytes.Index(p, []byte("\x1b\\"))
	n := st + 2
	if st < 0 || bell >= 0 && bell < st {
		n = bell + 1
	}
	if st < 0 && bell < 0 {
		return 0
	}
	if bytes.HasPrefix(p[:n], []byte("\x1b]11;?")) {
		g.asks("\x1b]11;rgb:0000/0000/0000\a")
	}
	return n
}

// order does one control sequence. Those that move nothing are passed over.
func (g *glass) order(mark, params, verb string) {
	a, b := numbers(params)
	n := max(a, 1)
	switch mark + verb {
	case "H", "f":
		g.x, g.y = clampTo(b-1, g.w), clampTo(a-1, g.h)
	case "A":
		g.y = max(g.y-n, 0)
	case "B", "e":
		g.y = min(g.y+n, g.h-1)
	case "C", "a":
		g.x = min(g.x+n, g.w-1)
	case "D":
		g.x = max(min(g.x, g.w-1)-n, 0)
	case "E":
		g.x, g.y = 0, min(g.y+n, g.h-1)
	case "F":
		g.x, g.y = 0, max(g.y-n, 0)
	case "G", "`":
		g.x = clampTo(a-1, g.w)
	case "d":
		g.y = clampTo(a-1, g.h)
	case "I":
		g.x = min((g.x/8+n)*8, g.w-1)
	case "Z":
		g.x = max((g.x+7)/8-n, 0) * 8
	case "J":
		g.eraseScreen(a)
	case "K":
		g.eraseRow(a)
	case "X":
		g.wipe(g.y, g.x, g.x+n)
	case "@":
		row := g.cells[g.y]
		copy(row[min(g.x+n, g.w):], row[min(g.x, g.w):])
		g.wipe(g.y, g.x, g.x+n)
	case "P":
		row := g.cells[g.y]
		copy(row[min(g.x, g.w):], row[min(g.x+n, g.w):])
		g.wipe(g.y, g.w-n, g.w)
	case "L":
		g.scroll(g.y, -n)
	case "M":
		g.scroll(g.y, n)
	case "S":
		g.scroll(g.top, n)
	case "T":
		g.scroll(g.top, -n)
	case "r":
		g.top, g.bottom = clampTo(a-1, g.h), g.h-1
		if b > 0 {
			g.bottom = clampTo(b-1, g.h)
		}
		g.x, g.y = 0, 0
	case "b":
		for range n {
			g.put(g.last)
		}
	case "m":
		if colour.MatchString(params) {
			g.colours++
		}
	case "?h":
		g.mode(params)
	case "?$p": // which modes there are: synchronized output is
		if params == "2026" {
			g.asks("\x1b[?2026;2$y")
		}
	case "?l", "?W", "h", "l", "q", " q", "u", ">u", "<u", "=u", "?u", ">m", "?m", "c", ">c", "=c", ">q", "n", "?n", "s", "t":
	default:
		g.strange = append(g.strange, mark+params+verb)
	}
}

func (g *glass) mode(params string) {
	switch params {
	case "2026":
		g.frames++
	case "1049", "1047", "47":
		g.eraseScreen(2)
	}
}

func (g *glass) eraseScreen(how int) {
	from, to := 0, g.h
	switch how {
	case 0:
		g.eraseRow(0)
		from = g.y + 1
	case 1:
		g.eraseRow(1)
		to = g.y
	}
	for y := from; y < to; y++ {
		g.wipe(y, 0, g.w)
	}
}

func (g *glass) eraseRow(how int) {
	switch how {
	case 0:
		g.wipe(g.y, g.x, g.w)
	case 1:
		g.wipe(g.y, 0, g.x+1)
	default:
		g.wipe(g.y, 0, g.w)
	}
}

func (g *glass) wipe(y, from, to int) {
	for x := max(from, 0); x < min(to, g.w); x++ {
		g.cells[y][x] = ' '
	}
}

func clampTo(n, size int) int { return max(min(n, size-1), 0) }

// numbers are the first two of a sequence; 0 = not given.
func numbers(params string) (a, b int) {
	first, rest, _ := strings.Cut(params, ";")
	second, _, _ := strings.Cut(rest, ";")
	a, _ = strconv.Atoi(first)
	b, _ = strconv.Atoi(second)
	return a, b
}

// TestGlass: the glass itself tells the truth.
func TestGlass(t *testing.T) {
	t.Parallel()
	for write, want := range map[string]string{
		"one\r\ntwo":                             "one\ntwo\n\n",
		"\x1b[2;3Hx\x1b[1;1Hy":                   "y\n  x\n\n",
		"abcdef\x1b[1;2H\x1b[2P":                 "adef\n\n\n",
		"abcdef\x1b[1;2H\x1b[2@":                 "a  bcdef\n\n\n",
		"a\r\nb\r\nc\x1b[1;1H\x1b[M":             "b\nc\n\n",
		"a\r\nb\r\nc\x1b[1;1H\x1b[L":             "\na\nb\n",
		"a\r\nb\r\nc\x1b[S":                      "b\nc\n\n",
		"a\r\nb\r\nc\r\nd":                       "b\nc\nd\n",
		"카x\x1b[2D\x1b[1;3Hy":                    "카y\n\n\n",
		"-\x1b[3b":                               "----\n\n\n",
		"abc\x1b[1;2H\x1b[K":                     "a\n\n\n",
		"abc\x1b[1;2H\x1b[X":                     "a c\n\n\n",
		"a\r\nb\r\nc\x1b[2;3r\x1b[3;1H\nd\x1b[r": "a\nc\nd\n",
		"\x1b]11;?\aab\x1b]0;title\x1b\\c":       "abc\n\n\n",
		"x\x1b[38;5;4my\x1b[0m":                  "xy\n\n\n",
	} {
		for _, step := range []int{1, len(write)} {
			g := newGlass(10, 3, func(string) {})
			for from := 0; from < len(write); from += step {
				_, _ = g.Write([]byte(write[from:min(from+step, len(write))]))
			}
			if got := g.text(); got != want || len(g.strange) > 0 {
				t.Errorf("%q in steps of %d shows %q, want %q; unknown: %q", write, step, got, want, g.strange)
			}
		}
	}
	g := newGlass(10, 3, func(string) {})
	_, _ = g.Write([]byte("\x1b[1;31ma\x1b[0mb\x1b[1mc\x1b[38;2;1;2;3md"))
	if _, _, n := g.told(); n != 2 {
		t.Errorf("%d colours, want 2", n)
	}
}
