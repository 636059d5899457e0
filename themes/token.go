package themes

// Token names what a piece of text means, never how it looks.
type Token uint8

// What a colour is for. Heat0 is the first of ten steps.
const (
	Text Token = iota
	Dim
	Border
	Focus
	Accent
	Sel
	OK
	Run
	Wait
	Held
	Warn
	Err
	Off
	Heat0
)

const (
	heatSteps  = 10
	tokenCount = int(Heat0) + heatSteps
)

var tokenNames = [...]string{
	"text", "dim", "border", "focus", "accent", "sel", "ok", "run", "wait", "held", "warn", "err", "off",
}

// String returns the token's name as the specification writes it.
func (t Token) String() string {
	switch {
	case t < Heat0:
		return tokenNames[t]
	case int(t) < tokenCount:
		return "heat" + string(rune('0'+t-Heat0))
	}
	return "text"
}

// Heat returns the token of a ratio between 0 and 1; others are clamped.
func Heat(ratio float64) Token {
	step := int(ratio * heatSteps)
	if !(ratio > 0) { // NaN too
		step = 0
	}
	return Heat0 + Token(min(step, heatSteps-1))
}
