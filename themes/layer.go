package themes

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

// fadeFloor is the contrast below which no text fades.
const fadeFloor = 4.5

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
