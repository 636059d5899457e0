package themes

import "github.com/charmbracelet/colorprofile"

// Profile is how much colour a terminal has.
type Profile = colorprofile.Profile

// The profiles, from none to all.
const (
	Mono      = colorprofile.ASCII // attributes only: bold, underline, reverse
	ANSI16    = colorprofile.ANSI
	ANSI256   = colorprofile.ANSI256
	TrueColor = colorprofile.TrueColor
)

// reset ends every attribute and colour.
const reset = "\x1b[m"

// Theme is a palette made ready for one terminal. It is immutable; sessions
// share it. Its SGR strings are absolute: each sets the complete look, so
// tokens can follow each other without a Close between them.
type Theme struct {
	Name    string
	Profile Profile
	// Painted says that the theme's own background is drawn on every cell.
	Painted bool
	// Glyphs is the sign table; Glyphs.ASCII says that only 7 bits may leave.
	Glyphs *Glyphs

	// Mood is the state that the screen shows: Run while the engine works; Warn while something holds it,
	// Err while it is down, Off while there is none. See In.
	Mood Token

	open   [layers][tokens]string
	base   string
	raised *Theme // the same on raised ground; nil on it
	moods  map[Token]func() *Theme
}

// In is the theme of a screen whose engine is in a state: unless that is Run its row and the column of
// now have the state's colour, and charts are grey. Its text is that of the theme otherwise.
func (th *Theme) In(state Token) *Theme {
	if state == Held {
		state = Warn
	}
	if mood := th.moods[state]; mood != nil {
		return mood()
	}
	return th
}

// Title is the token of titles: those of a screen that stands have the colour of its state.
func (th *Theme) Title() Token {
	if th.Mood == Run {
		return Figure
	}
	return th.Mood
}

// Raised returns the theme for what lies over a screen: plain text stands on raised
// ground there. Without colours of its own a ground cannot be raised: see Lifted.
func (th *Theme) Raised() *Theme {
	if th.raised == nil {
		return th
	}
	return th.raised
}

// Lifted reports whether a raised theme's ground can be told from what is below.
func (th *Theme) Lifted() bool { return th.raised == nil && th.Profile == TrueColor }

// Open returns the SGR string that switches to t on plain ground.
func (th *Theme) Open(t Token) string { return th.open[OnPlain][index(t)] }

// On returns the SGR string that switches to t on a layer.
func (th *Theme) On(l Layer, t Token) string { return th.open[min(int(l), layers-1)][index(t)] }

// Marks are the tokens that are fainter than any text, by the SGR strings that switch to
// them on some layer. A look that text has as well is none of them.
func (th *Theme) Marks() map[string]Token {
	marks := map[string]Token{}
	for l := layers - 1; l >= 0; l-- { // what one looks like on plain ground counts before a fade of another
		for _, t := range [...]Token{Tick, Hairline, Track} {
			if look := th.open[l][t]; look != th.open[l][Text] && look != th.open[l][Dim] {
				marks[look] = t
			}
		}
	}
	return marks
}

// Shades reports whether tones of one colour can be told apart: if not, stripes, fades
// and the column of now need a sign.
func (th *Theme) Shades() bool { return th.Profile >= ANSI256 }

// Close returns the SGR string that goes back to plain text.
func (th *Theme) Close() string { return th.open[OnPlain][Text] }

// Base returns what a row of the screen begins with: the colours of plain
// text, empty where those are the terminal's own.
func (th *Theme) Base() string { return th.base }

// Reset returns what a row of the screen ends with.
func (th *Theme) Reset() string { return reset }

// Append appends s painted as t. Plain text costs no sequence.
func (th *Theme) Append(dst []byte, t Token, s string) []byte {
	if th.Open(t) == th.Close() {
		return append(dst, s...)
	}
	dst = append(dst, th.Open(t)...)
	dst = append(dst, s...)
	return append(dst, th.Close()...)
}

// Paint returns s painted as t.
func (th *Theme) Paint(t Token, s string) string {
	if s == "" || th.Open(t) == th.Close() {
		return s
	}
	return th.Open(t) + s + th.Close()
}

// ASCII reports whether only 7-bit text may leave.
func (th *Theme) ASCII() bool { return th.Glyphs.ASCII }

// index keeps a token of a newer version or a wrong cast inside the table.
func index(t Token) int {
	if int(t) < tokens {
		return int(t)
	}
	return int(Text)
}

// Swatch is what the theme's colours look like, side by side: the states by their signs,
// then the ramp. It is SwatchWidth cells wide and ends in the theme's plain text.
func (th *Theme) Swatch() string {
	b := append([]byte(th.Open(Text)), ' ')
	for _, word := range [...]string{"COMPLETED", "RUNNING", "AVAILABLE", "RETRYABLE", "WARN", "GAVE UP"} {
		s := th.State(word)
		b = append(append(append(b, th.Open(s.Token)...), s.Glyph...), th.Open(Text)+" "...)
	}
	for i := Token(0); i < steps; i += 2 {
		b = append(append(b, th.Open(flow0+i)...), th.Glyphs.BarFull...)
	}
	return string(append(append(b, th.Open(Text)...), ' '))
}

// SwatchWidth is how wide a swatch is.
const SwatchWidth = 1 + 2*6 + steps/2 + 1
