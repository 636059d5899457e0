package world

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// Spec is a known account and its history.
type Spec struct {
	RiotID   string // Name#TAG
	Platform route.Platform
	Matches  int
	Span     time.Duration // from the oldest game to the newest; 0 means a game every 8 hours
	Evenings bool          // the games are on evenings and weekends, whatever Span says
	Missing  int           // this many listed games answer 404
	Shapes   []Shape       // in turn, the newest first; nil means a natural mix
	// ShareWith is the Riot ID of an earlier player of the same platform; Shared of the Matches are
	// games of theirs too.
	ShareWith string
	Shared    int
	Unranked  bool
	Grow      time.Duration // a new game ends this often while the simulator runs; 0 means never
	Nameless  bool          // account-v1 by PUUID gives no gameName and tagLine
}

// CheckSpecs reports every fault of the players at once, each as a sentence.
func CheckSpecs(specs []Spec) error {
	var faults []error
	known := map[string]Spec{}
	for _, p := range specs {
		// Players are checked in their order: games are shared with an earlier one.
		if err := p.check(known); err != nil {
			faults = append(faults, err)
		}
		// Even a faulty one: who shares with it should not be told that it does not exist.
		known[fold(p.RiotID)] = p
	}
	return errors.Join(faults...)
}

func (p Spec) check(known map[string]Spec) error {
	// The name may be anything: hostile ones are what a simulator is for.
	name, tag := Cut(p.RiotID)
	_, twice := known[fold(p.RiotID)]
	with, found := known[fold(p.ShareWith)]
	switch {
	case name == "" || tag == "":
		return fmt.Errorf("player %q: write the Riot ID as Name#TAG", p.RiotID)
	case twice:
		return fmt.Errorf("player %q is listed twice", p.RiotID)
	case !slices.Contains(route.Platforms(), p.Platform):
		return fmt.Errorf("player %q: unknown platform %q", p.RiotID, p.Platform)
	case p.Matches < 0 || p.Matches > 100_000:
		return fmt.Errorf("player %q: %d matches are out of range 0 to 100000", p.RiotID, p.Matches)
	case p.Shared > 0 && (!found || with.Platform != p.Platform):
		return fmt.Errorf("player %q shares games with %q, who is not an earlier player of the same platform", p.RiotID, p.ShareWith)
	case p.Shared < 0 || p.Shared > p.Matches || p.Shared > with.Matches:
		return fmt.Errorf("player %q cannot share %d games", p.RiotID, p.Shared)
	}
	for _, s := range p.Shapes {
		if _, ok := shapes[s]; !ok {
			return fmt.Errorf("player %q: unknown shape %q", p.RiotID, s)
		}
	}
	return nil
}
