package terminal

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine/safe"
)

// slate is what a terminal shows of what it is sent: rows of letters, the right half
// of a wide one as 0. Like a terminal it wipes a wide letter out of which one half is
// taken.
type slate struct {
	w, h, x, y  int
	top, bottom int
	cells       [][]shown
	pen         uv.Style
	last        rune
	stays       bool // at the right edge: no wrapping
	inserts     bool
	unknown     []string
	sent        []string
}

func newSlate(w, h int) *slate {
	s := &slate{w: w, h: h, bottom: h - 1, cells: make([][]shown, h)}
	for y := range s.cells {
		s.cells[y] = s.blank(w)
	}
	return s
}

// blank are cells that were cleared.
func (s *slate) blank(n int) []shown { return slices.Repeat([]shown{{' ', seen(s.pen, ' ')}}, n) }

func (s *slate) text() []string {
	rows := make([]string, s.h)
	for y := range s.cells {
		for _, c := range s.cells[y] {
			if c.letter != 0 {
				rows[y] += string(c.letter)
			}
		}
	}
	return rows
}

var ordered = regexp.MustCompile(`^\x1b\[([?<=>]?)([0-9;:]*)([ $!]?)([@-~])`)

// Write takes whole sequences.
func (s *slate) Write(p []byte) (int, error) {
	s.sent = append(s.sent, string(p))
	for in := p; len(in) > 0; {
		m := ordered.FindSubmatch(in)
		switch {
		case m != nil:
			s.order(string(m[1])+string(m[3])+string(m[4]), string(m[2]))
			in = in[len(m[0]):]
		case bytes.HasPrefix(in, []byte("\x1b]")):
			in = in[bytes.IndexByte(in, '\a')+1:]
		case bytes.HasPrefix(in, []byte("\x1bM")):
			if s.y == s.top {
				s.order("T", "1")
			} else {
				s.y--
			}
			in = in[2:]
		case in[0] < ' ':
			s.control(in[0])
			in = in[1:]
		default:
			r := []rune(string(in[:min(len(in), 4)]))[0]
			s.put(r)
			in = in[len(string(r)):]
		}
	}
	return len(p), nil
}

func (s *slate) control(c byte) {
	s.x = min(s.x, s.w-1)
	switch c {
	case '\r':
		s.x = 0
	case '\n': // Bubble Tea takes what is no terminal for one that is not raw
		if s.x = 0; s.y == s.bottom {
			s.order("S", "1")
		} else {
			s.y++
		}
	case '\b':
		s.x--
	case '\t':
		s.x = s.x/8*8 + 8
	default:
		s.unknown = append(s.unknown, strconv.Itoa(int(c)))
	}
}

// split wipes the letters that an edge before column x would part.
func (s *slate) split(x int) {
	if row := s.cells[s.y]; x > 0 && x < s.w && row[x].letter == 0 {
		row[x-1].letter, row[x].letter = ' ', ' '
	}
}

func (s *slate) put(r rune) {
	n := safe.RuneWidth(r)
	if n == 0 { // a mark on the letter before: not looked at
		return
	}
	switch { // the edge was reached before
	case s.x+n > s.w && s.stays:
		s.x = s.w - n
	case s.x+n > s.w:
		s.x, s.y = 0, s.y+1
	}
	if s.y >= s.h {
		s.unknown = append(s.unknown, "below the screen: "+string(r))
		s.y = s.h - 1
	}
	if s.inserts {
		s.order("@", strconv.Itoa(n))
	}
	s.split(s.x)
	s.split(s.x + n)
	s.cells[s.y][s.x], s.last = shown{r, seen(s.pen, r)}, r
	if n == 2 {
		s.cells[s.y][s.x+1] = shown{}
	}
	s.x += n
}

func (s *slate) wipe(from, to int) {
	s.split(from)
	s.split(to)
	for x := from; x < min(to, s.w); x++ {
		s.cells[s.y][x] = s.blank(1)[0]
	}
}

func (s *slate) order(verb, params string) {
	var n [2]int
	for i, p := range strings.SplitN(params, ";", 2) {
		n[i], _ = strconv.Atoi(p)
	}
	step := max(n[0], 1)
	if verb != "m" {
		s.x = min(s.x, s.w-1)
	}
	switch verb {
	case "H":
		s.x, s.y = max(n[1], 1)-1, step-1
	case "A":
		s.y -= step
	case "B":
		s.y += step
	case "C":
		s.x += step
	case "D":
		s.x -= step
	case "G", "`":
		s.x = step - 1
	case "d":
		s.y = step - 1
	case "I":
		s.x = min((s.x/8+step)*8, s.w-1)
	case "Z":
		s.x = max((s.x+7)/8-step, 0) * 8
	case "K":
		s.erase(n[0])
	case "J":
		for y := s.y; n[0] == 2 && y < s.h || n[0] == 0 && y < s.h; y++ {
			at, x := s.y, s.x
			s.y = y
			if y > at {
				s.x = 0
			}
			s.erase(0)
			s.x, s.y = x, at
		}
	case "X":
		s.wipe(s.x, s.x+step)
	case "@":
		s.split(s.x)
		row := s.cells[s.y]
		copy(row[min(s.x+step, s.w):], row[s.x:])
		s.wipe(s.x, s.x+step)
	case "P":
		s.split(s.x)
		s.split(s.x + step)
		row := s.cells[s.y]
		copy(row[s.x:], row[min(s.x+step, s.w):])
		s.wipe(s.w-step, s.w)
	case "b":
		for range step {
			s.put(s.last)
		}
	case "r":
		s.top, s.bottom, s.x, s.y = step-1, s.h-1, 0, 0
		if n[1] > 0 {
			s.bottom = n[1] - 1
		}
	case "L", "T":
		from := s.top
		if verb == "L" {
			from = s.y
		}
		for range step {
			copy(s.cells[from+1:s.bottom+1], s.cells[from:s.bottom])
			s.cells[from] = s.blank(s.w)
		}
	case "M", "S":
		from := s.top
		if verb == "M" {
			from = s.y
		}
		for range step {
			copy(s.cells[from:s.bottom+1], s.cells[from+1:s.bottom+1])
			s.cells[s.bottom] = s.blank(s.w)
		}
	case "?h", "?l":
		if params == "7" {
			s.stays = verb == "?l"
		}
	case "h", "l":
		s.inserts = verb == "h"
	case "m":
		var p ansi.Parser
		p.SetParamsSize(32)
		ansi.DecodeSequenceWc("\x1b["+params+verb, ansi.NormalState, &p)
		uv.ReadStyle(p.Params(), &s.pen)
	case "?$p", "?u", ">u", "=u", ">m", " q", "W", "?W":
	default:
		s.unknown = append(s.unknown, params+verb)
	}
}

func (s *slate) erase(how int) {
	switch how {
	case 0:
		s.wipe(s.x, s.w)
	case 1:
		s.wipe(0, s.x+1)
	default:
		s.wipe(0, s.w)
	}
}

// shows is a model whose frame is what it was sent last.
type shows struct{ frame string }

func (s shows) Init() tea.Cmd { return nil }
func (s shows) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if f, ok := msg.(frameMsg); ok {
		s.frame = string(f)
	}
	return s, nil
}
func (s shows) View() tea.View {
	v := tea.NewView(s.frame)
	v.AltScreen = true
	return v
}

type frameMsg string

// pieces that rows are made of: narrow and wide letters, pictures, colours that come
// and go, a letter with a mark, one of a far plane, runs of one sign.
var pieces = []string{
	"a", "bc", "  ", "░░░░", "카", "인", "카인", "한국어", "日本", "ー", "🐉", "가", "\x1b[1m", "\x1b[0m", "\x1b[38;2;1;2;3m", "\x1b[48;2;9;9;9m",
	"1,204", "────────────", "          ", "𠮷", "가\u0301", "é", "|", "x카y",
}

// changes are a few letters or colours, which leave most of a row as it was.
var changes = []*strings.Replacer{
	strings.NewReplacer("1,204", "1,205", "|", "a"), strings.NewReplacer("a", "|", "카", "인"), strings.NewReplacer("38;2;1;2;3", "31", "48;2;9;9;9", "7;48;5;9"),
	strings.NewReplacer("bc", "b\x1b[4mc\x1b[24m", "─", "━"), strings.NewReplacer("\x1b[1m", "\x1b[2m"), strings.NewReplacer("░", " ", "x", "\x1b[9mx\x1b[29m"),
}

func someRow(t *rapid.T, w int) string {
	row, at := "\x1b[0m", 0
	for range rapid.IntRange(0, 14).Draw(t, "pieces") {
		p := rapid.SampledFrom(pieces).Draw(t, "piece")
		n := 0
		if p[0] != '\x1b' {
			n = safe.Width(p)
		}
		if at+n > w {
			break
		}
		row, at = row+p, at+n
	}
	return row + strings.Repeat(" ", w-at) + "\x1b[0m"
}

// stripped is a frame without its colours.
func stripped(frame string) []string {
	return strings.Split(regexp.MustCompile(`\x1b\[[0-9;]*m|\x{0301}`).ReplaceAllString(frame, ""), "\n")
}

// TestWideLettersAreShownWhole: whatever frames follow each other, the terminal shows
// what they say, with letters of two cells nowhere parted.
func TestWideLettersAreShownWhole(t *testing.T) {
	const w, h = 30, 5
	rapid.Check(t, func(rt *rapid.T) {
		frames := make([]string, rapid.IntRange(2, 6).Draw(rt, "frames"))
		var last []string
		for i := range frames {
			rows := make([]string, h)
			for y := range rows {
				switch kept := rapid.IntRange(0, 3).Draw(rt, "kept"); {
				case last != nil && kept == 0:
					rows[y] = last[(y+rapid.IntRange(0, 1).Draw(rt, "moved"))%h]
				case last != nil && kept == 1:
					rows[y] = rapid.SampledFrom(changes).Draw(rt, "change").Replace(last[y])
				default:
					rows[y] = someRow(rt, w)
				}
			}
			frames[i], last = strings.Join(rows, "\n"), rows
		}
		term := rapid.SampledFrom([]string{"xterm-256color", "screen", "linux", "vt100", "tmux-256color", "alacritty"}).Draw(rt, "TERM")
		showAll(t, rt, frames, term, w, h)
	})
}

// both sends a terminal what changes it, and another one all there is.
type both struct {
	io.Writer
	all *slate
}

func (b both) Write(p []byte) (int, error) {
	_, _ = b.all.Write(whole(p))
	return b.Writer.Write(p)
}

func showAll(t *testing.T, rt *rapid.T, frames []string, term string, w, h int) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		s, all, thrift := newSlate(w, h), newSlate(w, h), newThrift(true)
		p := tea.NewProgram(halver{shows{}, thrift}, tea.WithInput(in), tea.WithOutput(both{joined(s, thrift), all}), tea.WithEnvironment([]string{"TERM=" + term, "COLORTERM=truecolor"}),
			tea.WithFPS(30), tea.WithoutSignalHandler(), tea.WithWindowSize(w, h))
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()
		time.Sleep(time.Second)
		for i, f := range frames {
			p.Send(frameMsg(f))
			time.Sleep(time.Second)
			synctest.Wait()
			want, got := stripped(f), s.text()
			for y := range want {
				if !slices.Equal(s.cells[y], all.cells[y]) {
					rt.Errorf("frame %d row %d on %s shows\n%v, of all that was sent\n%v\nframes %q\nsent %q\nof %q", i, y, term, s.cells[y], all.cells[y], frames[:i+1], s.sent, all.sent)
				}
				if want[y] != got[y] {
					rt.Errorf("frame %d row %d on %s shows\n%q, want\n%q\nframes %q\nsent %q", i, y, term, got[y], want[y], frames[:i+1], s.sent)
				}
			}
		}
		if len(s.unknown) > 0 {
			rt.Errorf("unknown to the slate: %q\n%q\n%q", s.unknown, frames, s.sent)
		}
		p.Quit()
		_ = typed.Close()
		if err := <-done; err != nil {
			rt.Error(err)
		}
	})
}
