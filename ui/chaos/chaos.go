// Package chaos is what a demo's console and its simulated Riot tell each other: which
// faults there are and what became of them, and what is asked of them.
package chaos

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// State is what the simulated Riot of a demo was told to do wrong, and what the engine
// did about it.
type State struct {
	Seed  uint64
	Speed float64
	Rows  []Row // presets first; their order never changes
	// Of the simulator since it started: calls that arrived, 429s of the engine's own
	// making, calls made while a Retry-After ran, calls for what had been delivered.
	Calls, Violations, Early, Repeated int
}

// Row is one way to go wrong.
type Row struct {
	Name   string // as the palette takes it
	Preset bool   // a scene: it is started and ends by itself, and takes no rate
	On     bool
	Told   string    // how it is injected, while On: "once", "5 %", "at 87/134"
	Until  time.Time // when it ends by itself; zero = not known
	Rate   float64   // percent; 0 = no rate
	Hits   int       // calls, commits or jobs that it struck
	Did    string    // what the engine did about those; "" = nothing yet
	Expect string    // what it will do, in few words
	About  string    // what it is and what is to be expected, in one line
	Sure   *Question // asked before it starts; nil = nothing is
}

// Question is what somebody has to agree to.
type Question struct {
	Text  string
	Lines []string // what comes of it
	Yes   string   // what yes does
}

// Ask is something to do wrong, or to stop doing wrong.
type Ask struct {
	Name string // of a row; "" with Off = every one
	Once bool
	Rate float64 // percent, above 0 to 100
	Off  bool
}

// Words of the palette, beside the names of rows.
const (
	off  = "off"
	once = "once"
)

// Row finds a row by its name, in any case of letters.
func (s *State) Row(name string) (*Row, bool) {
	i := slices.IndexFunc(s.Rows, func(r Row) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return nil, false
	}
	return &s.Rows[i], true
}

// Parse reads a line of the palette: a name, and how: once, a rate, or off.
// Nothing behind the name is once. wrong says what to type instead.
func Parse(s *State, line string) (ask Ask, wrong string) {
	// Names may have spaces, "key expires": the whole line is tried as one before its last word is cut off.
	line = strings.Join(strings.Fields(line), " ")
	// Off alone ends every fault.
	if strings.EqualFold(line, off) || line == "0" {
		return Ask{Off: true}, ""
	}
	r, ok := s.Row(line)
	if ok {
		return Ask{Name: r.Name, Once: true}, ""
	}
	at := strings.LastIndexByte(line, ' ')
	if at > 0 {
		r, ok = s.Row(line[:at])
	}
	if !ok {
		return ask, "there is no such fault: use " + strings.Join(s.names(), ", ") + ", or off"
	}
	return r.how(strings.ToLower(line[at+1:]))
}

// names are those of the rows, as a line of the palette takes them.
func (s *State) names() []string {
	names := make([]string, len(s.Rows))
	for i := range s.Rows {
		names[i] = s.Rows[i].Name
	}
	return names
}

// how reads the word behind a name: once, off, or a rate in percent, with its sign or without.
func (r *Row) how(word string) (ask Ask, wrong string) {
	switch word {
	case off, "0", "0%":
		return Ask{Name: r.Name, Off: true}, ""
	case once:
		return Ask{Name: r.Name, Once: true}, ""
	}
	rate, err := strconv.ParseFloat(strings.TrimSuffix(word, "%"), 64)
	switch {
	case err != nil || !(rate > 0 && rate <= 100):
		return ask, strconv.Quote(word) + " says not how often: use once, a rate such as 5%, or off"
	case r.Preset:
		return ask, r.Name + " takes no rate: it is started, or off"
	}
	return Ask{Name: r.Name, Rate: rate}, ""
}

// rates are the steps of the keys for more and less, in percent; a rate that was typed lies between two.
var rates = []float64{0, 1, 2, 5, 10, 25, 50, 100}

// Step is the next rate up or down; below the least one it is off.
func (r *Row) Step(up bool) Ask {
	at, _ := slices.BinarySearch(rates, r.Rate)
	if up {
		at, _ = slices.BinarySearch(rates, r.Rate+1e-9) // the first that is greater
		return Ask{Name: r.Name, Rate: rates[min(at, len(rates)-1)]}
	}
	if at <= 1 {
		return Ask{Name: r.Name, Off: true}
	}
	return Ask{Name: r.Name, Rate: rates[at-1]}
}
