package page

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// ChaosState is what the simulated Riot of the demo was told to do wrong, and what
// the engine did about it.
type ChaosState struct {
	Seed  uint64
	Speed float64
	Rows  []ChaosRow // presets first; their order never changes
	// Of the simulator since it started: calls that arrived, 429s of the engine's own
	// making, calls made while a Retry-After ran, calls for what had been delivered.
	Calls, Violations, Early, Repeated int
}

// ChaosRow is one way to go wrong.
type ChaosRow struct {
	Name   string // as the palette takes it
	Preset bool   // a scene: it is started and ends by itself
	On     bool
	Told   string    // how it is injected, while On: "once", "5 %", "at 87/134"
	Until  time.Time // when it ends by itself; zero = not known
	Rate   float64   // percent; 0 = no rate
	Fixed  bool      // it takes no rate
	Hits   int       // calls, commits or jobs that it struck
	Did    string    // what the engine did about those; "" = nothing yet
	Expect string    // what it will do, in few words
	About  string    // what it is and what is to be expected, in one line
	// Sure is asked before it starts; nil = nothing is.
	Sure *Confirm
}

// Words of the palette, beside the names of rows.
const (
	chaosOff  = "off"
	chaosOnce = "once"
)

// Chaos finds a row by its name.
func (s *ChaosState) row(name string) (*ChaosRow, bool) {
	i := slices.IndexFunc(s.Rows, func(r ChaosRow) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return nil, false
	}
	return &s.Rows[i], true
}

// ParseChaos reads a line of the palette: a name, and how: once, a rate, or off.
// Nothing behind the name is once. wrong says what to type instead.
func ParseChaos(s *ChaosState, line string) (ask ChaosAsk, wrong string) {
	line = strings.Join(strings.Fields(line), " ")
	if strings.EqualFold(line, chaosOff) || line == "0" {
		return ChaosAsk{Off: true}, ""
	}
	r, ok := s.row(line)
	if ok {
		return ChaosAsk{Name: r.Name, Once: true}, ""
	}
	at := strings.LastIndexByte(line, ' ')
	if at > 0 {
		r, ok = s.row(line[:at])
	}
	if !ok {
		return ask, "there is no such fault: use " + strings.Join(s.names(), ", ") + ", or off"
	}
	return r.how(strings.ToLower(line[at+1:]))
}

func (s *ChaosState) names() []string {
	names := make([]string, len(s.Rows))
	for i := range s.Rows {
		names[i] = s.Rows[i].Name
	}
	return names
}

// how reads the word behind a name.
func (r *ChaosRow) how(word string) (ask ChaosAsk, wrong string) {
	switch word {
	case chaosOff, "0", "0%":
		return ChaosAsk{Name: r.Name, Off: true}, ""
	case chaosOnce:
		return ChaosAsk{Name: r.Name, Once: true}, ""
	}
	rate, err := strconv.ParseFloat(strings.TrimSuffix(word, "%"), 64)
	switch {
	case err != nil || !(rate > 0 && rate <= 100):
		return ask, strconv.Quote(word) + " says not how often: use once, a rate such as 5%, or off"
	case r.Fixed:
		return ask, r.Name + " takes no rate: it is started, or off"
	}
	return ChaosAsk{Name: r.Name, Rate: rate}, ""
}

// chaosRates are the steps of the keys for more and less, in percent.
var chaosRates = []float64{0, 1, 2, 5, 10, 25, 50, 100}

// step is the next rate up or down.
func (r *ChaosRow) step(up bool) ChaosAsk {
	at, _ := slices.BinarySearch(chaosRates, r.Rate)
	if up {
		at, _ = slices.BinarySearch(chaosRates, r.Rate+1e-9)
		return ChaosAsk{Name: r.Name, Rate: chaosRates[min(at, len(chaosRates)-1)]}
	}
	if at <= 1 {
		return ChaosAsk{Name: r.Name, Off: true}
	}
	return ChaosAsk{Name: r.Name, Rate: chaosRates[at-1]}
}
