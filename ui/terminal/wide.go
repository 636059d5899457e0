package terminal

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine/safe"
)

// Bubble Tea sends a row that holds a letter of two cells whole, in every frame,
// whether or not anything in it has changed: a difference that begins at the second
// half of a letter would split it. A list of Korean names costs fifty kilobytes a
// second that way.
//
// So each wide letter is handed over as two signs of one cell, from the planes for
// private use: one for its left half and one for its right. Both tell the letter, so
// they change together and no difference ever parts them. On its way to the terminal
// the left half becomes the letter again and the right one nothing: the letter has
// moved the cursor over both. What comes from outside never holds such a sign: see
// safe.Text.
const (
	leftHalf  rune = 0xf0000  // + the letter
	rightHalf rune = 0x100000 // + the letter
	// hardSpace ends a row that has such letters. At a common space Bubble Tea would
	// shift the rest of the row by single cells, or erase to its end.
	hardSpace = leftHalf + ' '
)

// Letters beyond the first plane stand for themselves only there; pictures take the
// place of the first plane's own private signs, which nothing shows.
const (
	pictures     rune = 0x1f000
	lastPicture  rune = 0x1fbff
	pictureSigns rune = 0xe000
)

// halves writes each wide letter of a frame as its two halves.
func halves(frame string) string {
	if !hasWide(frame) {
		return frame
	}
	var b strings.Builder
	b.Grow(len(frame) + len(frame)/8)
	for i, row := 0, ""; i < len(frame); i += len(row) {
		row = frame[i:]
		if end := strings.IndexByte(row, '\n'); end >= 0 {
			row = row[:end+1]
		}
		if !hasWide(row) || !halveRow(&b, row) {
			b.WriteString(row)
		}
	}
	return b.String()
}

// hasWide reports whether there may be letters of two cells. They are known by the
// first byte of their UTF-8: boxes, bars and signs begin with 0xE2 and are one cell.
func hasWide(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0xe1 && c != 0xe2 {
			return true
		}
	}
	return false
}

// halveRow writes a row; false, and nothing is written, when it holds a letter that
// has no halves: one of a far plane, or one with marks on it.
func halveRow(b *strings.Builder, row string) bool {
	last := lastSpace(row)
	out := make([]byte, 0, len(row)+len(row)/4)
	wide := false
	for i, r := range row {
		switch w := safe.RuneWidth(r); {
		case i == last:
			out = utf8.AppendRune(out, hardSpace)
		case r < 0x20 || r == 0x7f || w == 1:
			out = utf8.AppendRune(out, r)
		case w == 2 && halved(r) > 0:
			out = utf8.AppendRune(utf8.AppendRune(out, leftHalf+halved(r)), rightHalf+halved(r))
			wide = true
		default:
			return false
		}
	}
	if !wide {
		return false
	}
	b.Write(out)
	return true
}

// halved is the place of a letter in the planes of halves; 0 = it has none.
func halved(r rune) rune {
	switch {
	case r < 0xfffe:
		return r
	case r >= pictures && r <= lastPicture:
		return pictureSigns + r - pictures
	}
	return 0
}

// lastSpace is where the space begins that a row ends with, before its colours; -1 =
// it ends with something else.
func lastSpace(row string) int {
	end := len(strings.TrimSuffix(row, "\n"))
	for end > 0 && row[end-1] == 'm' {
		at := strings.LastIndexByte(row[:end], '\x1b')
		if at < 0 || strings.Trim(row[at+1:end-1], "[0123456789;:") != "" {
			return -1
		}
		end = at
	}
	if end > 0 && row[end-1] == ' ' {
		return end - 1
	}
	return -1
}

// whole makes letters of halves again.
func whole(p []byte) []byte {
	at := firstHalf(p)
	if at < 0 {
		return p
	}
	out := make([]byte, 0, len(p))
	for ; at >= 0; at = firstHalf(p) {
		out = append(out, p[:at]...)
		r, n := utf8.DecodeRune(p[at:])
		p = p[at+n:]
		switch letter := r - leftHalf; {
		case r >= rightHalf:
		case letter >= pictureSigns && letter <= pictureSigns+lastPicture-pictures:
			out = utf8.AppendRune(out, pictures+letter-pictureSigns)
		default:
			out = utf8.AppendRune(out, letter)
		}
	}
	return append(out, p...)
}

// firstHalf is where the first half begins; -1 = there is none. Planes 15 and 16
// begin with 0xF3 0xB0 and more, and with 0xF4.
func firstHalf(p []byte) int {
	for i, c := range p {
		if (c == 0xf3 && i+1 < len(p) && p[i+1] >= 0xb0) || c == 0xf4 {
			return i
		}
	}
	return -1
}

// halver shows a model's frames in halves.
type halver struct {
	tea.Model
	thrift *thrift
}

// Update implements tea.Model.
func (h halver) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		h.thrift.size.Store(int64(size.Height)<<32 + int64(size.Width))
	}
	inner, cmd := h.Model.Update(msg)
	return halver{inner, h.thrift}, cmd
}

// View implements tea.Model.
func (h halver) View() tea.View {
	v := h.Model.View()
	v.Content = halves(v.Content)
	return v
}

// joiner is an output on which halves become letters, and which is sent what changes it.
type joiner struct {
	io.Writer
	thrift *thrift
}

// Write implements io.Writer.
func (j joiner) Write(p []byte) (int, error) {
	if _, err := j.Writer.Write(whole(j.thrift.thin(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// joinerFile is one that is a file: Bubble Tea asks a terminal for its size and modes.
type joinerFile struct {
	joiner
	file
}

// file is what Bubble Tea takes for a file.
type file interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// Write implements io.Writer.
func (j joinerFile) Write(p []byte) (int, error) { return j.joiner.Write(p) }

// joined is a joiner of an output, or of standard output.
func joined(out io.Writer, t *thrift) io.Writer {
	if out == nil {
		out = os.Stdout
	}
	if f, ok := out.(file); ok {
		return joinerFile{joiner{out, t}, f}
	}
	return joiner{out, t}
}
