package terminal

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

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
	w, h, x, y int
	savedX     int
	savedY     int
	cells      [][]rune
	styles     [][]uv.Style
	pen, saved uv.Style
	unknown    []string
	sent       []string
	painted    []time.Time
	refuse     error // of the next write
}

func newSlate(w, h int) *slate {
	s := &slate{w: w, h: h}
	s.erase()
	return s
}

func (s *slate) erase() {
	s.cells, s.styles = nil, nil
	for range s.h {
		s.cells = append(s.cells, slices.Repeat([]rune{' '}, s.w))
		s.styles = append(s.styles, make([]uv.Style, s.w))
	}
}

func (s *slate) text() []string {
	rows := make([]string, s.h)
	for y := range s.cells {
		for _, c := range s.cells[y] {
			if c != 0 {
				rows[y] += string(c)
			}
		}
	}
	return rows
}

var ordered = regexp.MustCompile(`^\x1b(?:\[([?<=>]?)([0-9;:]*)([ $!]?)([@-~])|[78]|\][^\a]*\a)`)

// Write takes whole sequences.
func (s *slate) Write(p []byte) (int, error) {
	if err := s.refuse; err != nil {
		s.refuse = nil
		return 0, err
	}
	s.sent, s.painted = append(s.sent, string(p)), append(s.painted, time.Now())
	for in := p; len(in) > 0; {
		if m := ordered.FindSubmatch(in); m != nil {
			s.order(string(m[0][1:2]), string(m[1])+string(m[3])+string(m[4]), string(m[2]))
			in = in[len(m[0]):]
			continue
		}
		r, n := utf8.DecodeRune(in)
		s.put(r)
		in = in[n:]
	}
	return len(p), nil
}

// split wipes the letters that an edge before column x would part.
func (s *slate) split(x int) {
	if row := s.cells[s.y]; x > 0 && x < s.w && row[x] == 0 {
		row[x-1], row[x] = ' ', ' '
	}
}

func (s *slate) put(r rune) {
	n := safe.RuneWidth(r)
	if n == 0 { // a mark on the letter before: not looked at
		return
	}
	if r < ' ' || s.y >= s.h || s.x+n > s.w {
		s.unknown = append(s.unknown, fmt.Sprintf("%q at %d, %d", r, s.x, s.y))
		return
	}
	s.split(s.x)
	s.split(s.x + n)
	s.cells[s.y][s.x], s.styles[s.y][s.x] = r, s.pen
	if n == 2 {
		s.cells[s.y][s.x+1] = 0
	}
	s.x += n
}

func (s *slate) order(kind, verb, params string) {
	var n [2]int
	for i, p := range strings.SplitN(params, ";", 2) {
		n[i], _ = strconv.Atoi(p)
	}
	switch {
	case kind == "7":
		s.savedX, s.savedY, s.saved = s.x, s.y, s.pen
	case kind == "8":
		s.x, s.y, s.pen = s.savedX, s.savedY, s.saved
	case verb == "H":
		s.x, s.y = max(n[1], 1)-1, max(n[0], 1)-1
	case verb == "C":
		s.x += max(n[0], 1)
	case verb == "J" && n[0] == 2:
		s.erase()
	case verb == "m":
		p := ansi.NewParser()
		ansi.DecodeSequence("\x1b["+params+"m", 0, p)
		uv.ReadStyle(p.Params(), &s.pen)
	case kind == "]", slices.Contains([]string{"?h", "?l", "?$p", "?u", ">u", "=u", "<u", ">m", " q", "?W", "d"}, verb):
	default:
		s.unknown = append(s.unknown, kind+params+verb)
	}
}

// shows is a model whose frame is what it was sent last, with the cursor behind its first word.
type shows struct {
	frame  string
	cursor bool
	left   int // of where it was: keys have moved it
}

func (s shows) Init() tea.Cmd { return nil }
func (s shows) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case frameMsg:
		s.frame = string(m)
	case leftMsg:
		s.left = int(m)
	}
	return s, nil
}
func (s shows) View() tea.View {
	v := tea.NewView(s.frame)
	v.AltScreen = true
	if s.cursor {
		first, _, _ := strings.Cut(s.frame, " ")
		v.Cursor = tea.NewCursor(len(first)-s.left, 0)
	}
	return v
}

type (
	frameMsg string
	leftMsg  int
)

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

// colours are those that a frame gives to the cells of a row: of a space its ground, of a wide letter its left half.
func colours(row string, w int) []uv.Style {
	drawn := uv.NewScreenBuffer(w, 1)
	uv.NewStyledString(row).Draw(drawn, drawn.Bounds())
	out := make([]uv.Style, w)
	for x := range drawn.Line(0) {
		if c := &drawn.Line(0)[x]; c.Width > 0 {
			out[x] = seen(c, c.Style)
		}
	}
	return out
}

// TestWideLettersAreShownWhole: whatever frames follow each other, the terminal shows
// what they say in their colours, with letters of two cells nowhere parted.
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
		showAll(t, rt, frames, w, h)
	})
}

// painting runs a model that shows what it was sent last.
func painting(t *testing.T, w, h int, do func(p *tea.Program, s *slate)) {
	paintingOf(t, shows{}, w, h, do)
}

func paintingOf(t *testing.T, m shows, w, h int, do func(p *tea.Program, s *slate)) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		s := newSlate(w, h)
		paint := newPainter(s)
		p := tea.NewProgram(painted{m, paint}, tea.WithInput(in), tea.WithOutput(paint.output()), tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}),
			tea.WithFPS(frames), tea.WithoutSignalHandler(), tea.WithWindowSize(w, h))
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()
		time.Sleep(time.Second)
		synctest.Wait()
		do(p, s)
		p.Quit()
		_ = typed.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func showAll(t *testing.T, rt *rapid.T, frames []string, w, h int) {
	painting(t, w, h, func(p *tea.Program, s *slate) {
		for i, f := range frames {
			p.Send(frameMsg(f))
			time.Sleep(time.Second)
			synctest.Wait()
			want, got := stripped(f), s.text()
			for y := range want {
				if want[y] != got[y] {
					rt.Errorf("frame %d row %d shows\n%q, want\n%q\nframes %q\nsent %q", i, y, got[y], want[y], frames[:i+1], s.sent)
				}
				for x, style := range colours(strings.Split(f, "\n")[y], w) {
					is := uv.Cell{Content: string(s.cells[y][x]), Style: s.styles[y][x]}
					if shown := seen(&is, is.Style); s.cells[y][x] != 0 && !shown.Equal(&style) {
						rt.Errorf("frame %d row %d cell %d has %+v, want %+v\nframes %q\nsent %q", i, y, x, shown, style, frames[:i+1], s.sent)
					}
				}
			}
		}
		if len(s.unknown) > 0 {
			rt.Errorf("unknown to the slate: %q\n%q\n%q", s.unknown, frames, s.sent)
		}
	})
}

// TestAFrameIsPaintedAtOnce, and many no more often than the screen may be painted.
func TestAFrameIsPaintedAtOnce(t *testing.T) {
	painting(t, 80, 24, func(p *tea.Program, s *slate) {
		sent := time.Now()
		p.Send(frameMsg("one"))
		time.Sleep(time.Second)
		synctest.Wait()
		if took := s.painted[len(s.painted)-1].Sub(sent); took > echoIn {
			t.Errorf("a frame is painted after %s", took)
		}
		before := len(s.painted)
		for i := range 1000 {
			p.Send(frameMsg(strconv.Itoa(i)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(s.painted) - before; n < frames/2 || n > frames+5 {
			t.Errorf("a thousand frames in a second were painted %d times", n)
		}
	})
}

// TestTheCursorComesWithItsLetters, in one piece, and goes alone where it alone has moved.
func TestTheCursorComesWithItsLetters(t *testing.T) {
	paintingOf(t, shows{cursor: true}, 80, 24, func(p *tea.Program, s *slate) {
		for _, f := range []string{"a b", "ab b", "abc b"} {
			before := len(s.sent)
			p.Send(frameMsg(f))
			time.Sleep(2 * echoIn)
			synctest.Wait()
			if n := len(s.sent) - before; n != 1 || s.x != strings.Index(f, " ") || s.y != 0 {
				t.Errorf("%q: the cursor is at %d, %d after %d pieces: %q", f, s.x, s.y, n, s.sent[before:])
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if len(s.sent) != before+1 {
				t.Errorf("later came %q", s.sent[before+1:])
			}
		}
		p.Send(leftMsg(2))
		time.Sleep(time.Second)
		synctest.Wait()
		if s.x != 1 || s.y != 0 {
			t.Errorf("two cells to the left it is at %d, %d", s.x, s.y)
		}
	})
}

// TestAFailedWriteIsMadeGood: of a healthy terminal that has refused one frame, such as one whose buffer was full
// while another program had made it not block, the next one shows all.
func TestAFailedWriteIsMadeGood(t *testing.T) {
	painting(t, 80, 24, func(p *tea.Program, s *slate) {
		for _, f := range []string{"one", "two", "three"} {
			if f == "two" {
				s.refuse = syscall.EAGAIN
			}
			p.Send(frameMsg(f))
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if got := s.sent[len(s.sent)-1]; !strings.Contains(got, "three") {
			t.Errorf("sent %q", got)
		}
	})
}

// TestOnlyChangedCellsAreSent, whatever stands between them.
func TestOnlyChangedCellsAreSent(t *testing.T) {
	painting(t, 80, 24, func(p *tea.Program, s *slate) {
		for _, f := range []string{"한국어 LIVE  12 of 20 used  …  resets 0:07", "한국어 LIVE  13 of 20 used  …  resets 0:06"} {
			p.Send(frameMsg(f))
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if got, want := s.sent[len(s.sent)-1], "\x1b[m\x1b[1;15H3\x1b[26C6"; got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}

// TestTheScreenIsPaintedAnew after it was erased, and after another program had it.
func TestTheScreenIsPaintedAnew(t *testing.T) {
	painting(t, 80, 24, func(p *tea.Program, s *slate) {
		p.Send(frameMsg("one"))
		time.Sleep(time.Second)
		synctest.Wait()
		for name, do := range map[string]func(){
			"erased":  func() { p.Send(tea.ClearScreen()) },
			"resized": func() { p.Send(tea.WindowSizeMsg{Width: 80, Height: 24}) },
			"released": func() {
				if err := p.ReleaseTerminal(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				s.erase()
				resume(p)
			},
		} {
			s.erase()
			before := len(s.sent)
			do()
			time.Sleep(time.Second)
			synctest.Wait()
			if n := strings.Count(strings.Join(s.sent[before:], ""), "one"); n != 1 {
				t.Errorf("after it was %s the screen is painted %d times: %q", name, n, s.sent[before:])
			}
			if got := s.text()[0]; strings.TrimRight(got, " ") != "one" {
				t.Errorf("after it was %s the screen shows %q", name, got)
			}
		}
	})
}
