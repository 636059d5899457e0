package themes

import "strconv"

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
