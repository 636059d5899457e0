package engine

import "time"

// Stand is what keeps work from going on, in the word that titles have for it.
type Stand string

// Stands. What is down is Riot's, what is held waits for something else that is not
// its turn: a key, a network, an operator's freeze.
const (
	StandPaused Stand = "PAUSED"
	StandHeld   Stand = "HELD"
	StandDown   Stand = "DOWN"
)

// OutageOf begins the reason of what waits for an endpoint that is down, before its name:
// "outage of europe/match-v5.match".
const OutageOf = "outage of "

// Held says what stands before any limit: a paused queue, a key that is refused, an
// outage. The zero one = nothing does.
type Held struct {
	Reason string
	Until  time.Time // when that is looked at again; zero = not known
	Stand  Stand
}
