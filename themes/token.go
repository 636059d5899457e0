package themes

import (
	"strconv"
	"strings"
)

// Token names what a piece of text means, never how it looks.
type Token uint8

// What a colour is for, from the brightest to what is hardly there; then accents,
// states, and the scales of charts, reached by Flow and Heat.
const (
	Text Token = iota
	Figure
	Dim
	Tick // marks on an axis, never text
	Hairline
	Track // the empty rest of a bar
	Focus
	Accent
	Sel
	OK
	Run
	Retry
	Warn
	Err
	Line // waits in line: calm
	Held
	Off
	soft // OK to Err, as what is planned looks
)

// The scales: what happened, what is planned, each in two stripes, then how much.
const (
	flow0     = soft + Token(len(states))
	flowOdd0  = flow0 + steps
	plan0     = flowOdd0 + steps
	planOdd0  = plan0 + steps
	Heat0     = planOdd0 + steps
	tokens    = int(Heat0) + heatSteps
	steps     = 20 // of the ramp
	heatSteps = 10
	namedOnes = int(soft)
)

// states are the colours that must never be taken for each other.
var states = [...]Token{OK, Run, Retry, Warn, Err}

var tokenNames = [namedOnes]string{
	"text", "figure", "dim", "tick", "hairline", "track", "focus", "accent", "sel",
	"ok", "run", "retry", "warn", "err", "line", "held", "off",
}

// String returns the token's name: "retry", "planned retry", "flow3", "heat9".
func (t Token) String() string {
	if t < soft {
		return tokenNames[t]
	}
	if t < flow0 {
		return "planned " + (t - soft + OK).String()
	}
	if int(t) >= tokens {
		return tokenNames[Text]
	}
	scale := [...]string{"flow", "odd flow", "plan", "odd plan", "heat"}
	at := t - flow0
	return scale[at/steps] + strconv.Itoa(int(at%steps))
}

// Flow returns the token of a ratio on the ramp, from a little to full; ratios below 0
// and above 1 are clamped. Full is good: it is the brightest.
func Flow(ratio float64) Token { return flow0 + step(ratio, steps) }

// Heat returns the token of how much, for maps; ratios are clamped as those of Flow.
func Heat(ratio float64) Token { return Heat0 + step(ratio, heatSteps) }

func step(ratio float64, of int) Token {
	if !(ratio > 0) { // NaN too
		return 0
	}
	return Token(min(int(min(ratio, 1)*float64(of)), of-1))
}

// Odd returns the tone of every second stripe of a chart: fixed windows that follow
// each other differ by it.
func Odd(t Token) Token {
	if t >= flow0 && t < flowOdd0 || t >= plan0 && t < planOdd0 {
		return t + steps
	}
	return t
}

// Planned returns the tone in which t announces what has not happened yet: a step of
// Flow, a stripe of it, or a state. Other tokens have none and stay.
func Planned(t Token) Token {
	switch {
	case t >= OK && t <= Err:
		return soft + t - OK
	case t == Line:
		return Planned(Run)
	case t >= flow0 && t < plan0:
		return t + plan0 - flow0
	}
	return t
}

// Layer is what a row or a cell lies on, or how far a row of a list has faded. A theme
// has each token ready on each of them.
type Layer uint8

// The grounds; then the fades, reached by Fade.
const (
	OnPlain  Layer = iota
	OnSel          // the selected row
	OnRaised       // the row of tabs
	OnTrack        // the tab that is open, the rest of a bar
	OnSeam         // the column of now
	OnState        // the row of the engine's state
	fade1
)

const (
	fades    = 8
	fadeStep = 0.055 // of the way to the ground
	layers   = int(fade1) + fades
)

// fadeFloor is the contrast below which no text fades, highFloor that of themes of most contrast; signFloor that of what letters draw.
const fadeFloor, highFloor, signFloor = 4.5, 6.9, 3

// Fade returns the layer of text that is gone by a share of its colour, as rows further
// down a list are: 0.055 to 0.44. Text that is faint already goes only as far as it can
// be read; a terminal without shades has no fades.
func Fade(share float64) Layer {
	n := int(share/fadeStep + 0.5)
	if n <= 0 {
		return OnPlain
	}
	return fade1 + Layer(min(n, fades)-1)
}

// amount is how far a layer's text is gone.
func (l Layer) amount() float64 {
	if l < fade1 {
		return 0
	}
	return float64(l-fade1+1) * fadeStep
}

// State is how a state word is drawn: sign and token. The word itself always
// stands beside the sign.
type State struct {
	Glyph string
	Token Token
}

// sign is how a state is drawn.
type sign struct {
	unicode, ascii string
	token          Token
	words          []string
}

var signs = []sign{
	{"○", "o", Line, []string{"AVAILABLE", "QUEUED", "UNFETCHED", "WAITING"}},
	{"◇", "@", Off, []string{"SCHEDULED", "PENDING", "NEVER", "BROWSE", "STOPPING"}},
	{"●", "*", Run, []string{"RUNNING", "SYNCING", "OPEN", "LIVE"}},
	{"≡", "=", Held, []string{"HELD"}},
	{"↻", "~", Retry, []string{"RETRYABLE", "TEMPORARY FAILURE"}},
	{"✓", "+", OK, []string{"COMPLETED", "STORED", "DONE", "OK", "SUCCESS"}},
	{"✗", "x", Err, []string{"DISCARDED", "GAVE UP", "FAILED", "PERMANENTLY UNFETCHABLE", "ERR", "ERROR", "NO KEY", "API DOWN", "DOWN", "DISCONNECTED", "BROKEN"}},
	{"⊘", "-", Off, []string{"CANCELLED"}},
	{"∅", "0", Off, []string{"TOO OLD", "OUTSIDE RETENTION WINDOW"}},
	{"‖", `"`, Held, []string{"PAUSED", "FROZEN", "CAPPED", "SILENCED", "ACKNOWLEDGED"}},
	{"▲", "!", Warn, []string{"WARN", "FIRING", "DEGRADED", "NEARLY FULL", "BACKING OFF", "SUSPECT", "PARTIAL", "INCOMPLETE"}},
	{"△", "?", Warn, []string{"PENDING ALERT"}},
}

// other is a word the table does not know yet.
var other = sign{"◆", "#", Text, nil}

var signOf = func() map[string]*sign {
	m := make(map[string]*sign)
	for i := range signs {
		for _, word := range signs[i].words {
			m[word] = &signs[i]
		}
	}
	return m
}()

// State returns the sign of a state word: "retryable", "RETRYABLE" and
// "gave_up" are found alike; an unknown word gets ◆.
func (th *Theme) State(word string) State {
	s, ok := signOf[word]
	if !ok {
		s, ok = signOf[strings.ToUpper(strings.ReplaceAll(word, "_", " "))]
	}
	if !ok {
		s = &other
	}
	if th.Glyphs.ASCII {
		return State{s.ascii, s.token}
	}
	return State{s.unicode, s.token}
}
