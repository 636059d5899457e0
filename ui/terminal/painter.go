package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

const (
	frame  = time.Second / frames
	echoIn = 3 * time.Millisecond // from a message to its frame: several keys at once are one
)

// painter paints the frames of a program, with their cursor; to Bubble Tea, which has the terminal's modes, they are
// empty. Bubble Tea sends a row from its first change to its last, and one with a letter of two cells always whole:
// of a list of Korean names fifteen kilobytes a second. And it paints at the beats of a clock, for which a key
// waits.
//
// It is the output that Bubble Tea writes to, and so knows when the program has the screen. While it does, the terminal
// has saved pen and cursor as Bubble Tea left them, which gets them back for all that it writes.
type painter struct {
	out io.Writer

	mu     sync.Mutex
	w, h   int
	frame  string      // what the screen is to show
	cursor *tea.Cursor // and where; nil = nowhere
	due    bool        // it will be painted
	last   time.Time
	has    bool // the program has the screen
	synced bool // the terminal takes a frame as a whole
	sized  bool // Bubble Tea will erase it for its new size

	saved bool       // the cursor is the painter's
	seen  bool       // it is seen
	is    tea.Cursor // as it is, while it is the painter's
	style int        // of the terminal's cursor; 0 = its own

	rows  []string // what the screen shows; nil = that is not known
	cells []uv.Line
	ink   bytes.Buffer // to be written
	pen   uv.Style     // of the terminal, and its cursor, while a frame is painted
	at    uv.Position
}

// show has a frame painted soon.
func (p *painter) show(v tea.View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	moved := v.Cursor != nil && (!p.seen || *v.Cursor != p.is) || v.Cursor == nil && p.seen
	if (v.Content != p.frame || p.rows == nil || moved) && !p.due {
		p.due = true
		time.AfterFunc(max(echoIn, time.Until(p.last.Add(frame))), p.paintDue)
	}
	p.frame, p.cursor = v.Content, v.Cursor
}

// paintDue paints the frame that is to be shown by now.
func (p *painter) paintDue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due, p.last = false, time.Now()
	if p.paint(); p.has {
		p.place() // where the cursor alone has moved
	}
	if p.ink.Len() > 0 {
		_ = p.flush()
	}
}

// flush sends what is to be written. What is shown after a failure is not known. On a terminal that has taken nothing for
// long nothing is painted any more: there is just room for the words with which it is left.
func (p *painter) flush() error {
	_, err := p.out.Write(p.ink.Bytes())
	p.ink.Reset()
	if err != nil {
		p.rows, p.has = nil, p.has && !errors.Is(err, os.ErrDeadlineExceeded)
	}
	return err
}

// resize forgets what is shown: of a terminal that changes its size some cut rows and others wrap them.
func (p *painter) resize(w, h int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.w, p.h, p.rows, p.sized = w, h, nil, true
}

// Write lets through what Bubble Tea has to say, and paints anew what that has erased: but for a new size, for which
// the painter erases by itself.
func (p *painter) Write(said []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	const screen = "\x1b[?1049"
	turned := bytes.LastIndex(said, []byte(screen))
	erased := bytes.Contains(said, []byte(ansi.EraseEntireScreen)) || bytes.Contains(said, []byte(ansi.EraseScreenBelow))
	text := said
	if erased && p.sized && turned < 0 {
		text = bytes.ReplaceAll(bytes.ReplaceAll(said, []byte(ansi.EraseEntireScreen), nil), []byte(ansi.EraseScreenBelow), nil)
		erased = false
	}
	p.sized = p.sized && p.has && len(text) == len(said)
	p.restoreCursor()
	p.ink.Write(text)
	if shown, hidden := bytes.LastIndex(said, []byte(ansi.SetModeTextCursorEnable)), bytes.LastIndex(said, []byte(ansi.ResetModeTextCursorEnable)); shown != hidden {
		p.seen = shown > hidden
	}
	if turned >= 0 {
		if p.has = said[turned+len(screen)] == 'h'; !p.has && p.style != 0 {
			p.ink.WriteString(ansi.SetCursorStyle(0))
			p.style = 0
		}
	}
	if turned >= 0 || erased {
		p.rows = nil
		p.paint()
	}
	if p.has {
		p.place()
	}
	if err := p.flush(); err != nil {
		return 0, err
	}
	return len(said), nil
}

// paint writes what makes the screen show the frame.
func (p *painter) paint() {
	if !p.has || p.w <= 0 || p.h <= 0 {
		return
	}
	start, saved, shown := p.ink.Len(), p.saved, p.seen
	if p.synced {
		p.ink.WriteString(ansi.SetModeSynchronizedOutput)
	} else if p.seen {
		p.see(false)
	}
	p.saveCursor()
	p.ink.WriteString("\x1b[m")
	empty := p.ink.Len()
	p.pen, p.at = uv.Style{}, uv.Pos(-1, -1)
	if p.rows == nil {
		p.ink.WriteString(ansi.EraseEntireScreen)
		p.rows, p.cells = make([]string, p.h), uv.NewBuffer(p.w, p.h).Lines
	}
	rows := strings.Split(p.frame, "\n")
	for y := range min(len(rows), p.h) {
		if rows[y] != p.rows[y] {
			p.paintRow(y, rows[y])
		}
	}
	if p.ink.Len() == empty {
		p.ink.Truncate(start)
		p.saved, p.seen = saved, shown
		return
	}
	p.is.X = -1
	p.place()
	if p.synced {
		p.ink.WriteString(ansi.ResetModeSynchronizedOutput)
	}
}

// saveCursor has the terminal save the cursor as Bubble Tea left it (DECSC).
func (p *painter) saveCursor() {
	if !p.saved {
		p.ink.WriteString("\x1b7")
		p.saved, p.is.X = true, -1
	}
}

// restoreCursor gives Bubble Tea its cursor (DECRC).
func (p *painter) restoreCursor() {
	if p.saved {
		p.ink.WriteString("\x1b8")
		p.saved = false
	}
}

// place puts the cursor where the frame has it.
func (p *painter) place() {
	c := p.cursor
	if c == nil {
		if p.seen {
			p.see(false)
		}
		return
	}
	p.saveCursor()
	if c.Position != p.is.Position {
		p.ink.WriteString(ansi.CursorPosition(c.X+1, c.Y+1))
	}
	if style := cursorStyle(c); style != p.style {
		p.ink.WriteString(ansi.SetCursorStyle(style))
		p.style = style
	}
	if p.is = *c; !p.seen {
		p.see(true)
	}
}

// see shows the cursor, or hides it.
func (p *painter) see(shown bool) {
	p.seen = shown
	if shown {
		p.ink.WriteString(ansi.SetModeTextCursorEnable)
	} else {
		p.ink.WriteString(ansi.ResetModeTextCursorEnable)
	}
}

// cursorStyle is the number of a cursor's form.
func cursorStyle(c *tea.Cursor) int {
	n := 2*int(c.Shape) + 1
	if !c.Blink {
		n++
	}
	return n
}

// paintRow writes the cells of a row that change.
func (p *painter) paintRow(y int, row string) {
	drawn := uv.NewScreenBuffer(p.w, 1)
	uv.NewStyledString(row).Draw(drawn, drawn.Bounds())
	now, shown := drawn.Line(0), p.cells[y]
	for x := range now {
		c := &now[x]
		c.Style = seen(c, c.Style)
		if c.Width == 0 || c.Equal(&shown[x]) { // the right half of a letter goes with its left one
			continue
		}
		switch {
		case p.at.Y != y || p.at.X < 0 || p.at.X > x:
			p.ink.WriteString(ansi.CursorPosition(x+1, y+1))
		case p.at.X < x:
			p.ink.WriteString(p.across(now[p.at.X:x]))
		}
		if style := seen(c, p.pen); !style.Equal(&c.Style) {
			p.ink.WriteString(c.Style.Diff(&p.pen))
			p.pen = c.Style
		}
		p.ink.WriteString(c.Content)
		p.at = uv.Pos(x+c.Width, y)
		// Of marks and of letters that are joined terminals hold different views, and of the end of a row.
		if utf8.RuneCountInString(c.Content) > 1 || p.at.X >= p.w {
			p.at.X = -1
		}
	}
	p.rows[y], p.cells[y] = row, now
}

// across is what brings the cursor over cells that stay: the same letters, if that is as short.
func (p *painter) across(cells []uv.Cell) string {
	move, letters := ansi.CursorForward(len(cells)), ""
	for i := range cells {
		c := &cells[i]
		if style := seen(c, p.pen); !style.Equal(&c.Style) || c.Width != 1 || utf8.RuneCountInString(c.Content) > 1 || len(letters) > len(move) {
			return move
		}
		letters += c.Content
	}
	if len(letters) > len(move) {
		return move
	}
	return letters
}

// seen is what of a style is seen in a cell: of a space its ground.
func seen(c *uv.Cell, style uv.Style) uv.Style {
	const onSpace = uv.AttrReverse | uv.AttrStrikethrough
	if c.Content == " " && style.Attrs&onSpace == 0 && style.Underline == 0 {
		return uv.Style{Bg: style.Bg}
	}
	return style
}

// painted is a model whose frames a painter shows.
type painted struct {
	tea.Model
	painter *painter
}

// Update implements tea.Model.
func (m painted) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.painter.resize(msg.Width, msg.Height)
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeSynchronizedOutput {
			m.painter.mu.Lock()
			m.painter.synced = msg.Value == ansi.ModeReset
			m.painter.mu.Unlock()
		}
	}
	inner, cmd := m.Model.Update(msg)
	return painted{inner, m.painter}, cmd
}

// View implements tea.Model.
func (m painted) View() tea.View {
	v := m.Model.View()
	m.painter.show(v)
	v.Cursor = nil
	v.Content = " " // of nothing at all Bubble Tea clears the screen at each beat
	return v
}

// paintedFile is a painter of a file: Bubble Tea asks a terminal for its size and modes.
type paintedFile struct {
	file
	*painter
}

// file is what Bubble Tea takes for a file.
type file interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// Write implements io.Writer.
func (f paintedFile) Write(said []byte) (int, error) { return f.painter.Write(said) }

// output is the painter as Bubble Tea is to see it.
func (p *painter) output() io.Writer {
	if f, ok := p.out.(file); ok {
		return paintedFile{f, p}
	}
	return p
}

// newPainter makes one of an output, or of standard output.
func newPainter(out io.Writer) *painter {
	if out == nil {
		out = os.Stdout
	}
	return &painter{out: out}
}
