package league

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Division is a step of a ranked ladder, in Riot's words: "DIAMOND" "II". The three tiers without divisions are "I".
type Division struct{ Tier, Division string }

// Apex reports whether the division is a league of its own, which is listed by one call.
func (d Division) Apex() bool { return slices.Contains(apexTiers, d.Tier) }

var (
	apexTiers  = []string{"CHALLENGER", "GRANDMASTER", "MASTER"}
	lowerTiers = []string{"DIAMOND", "EMERALD", "PLATINUM", "GOLD", "SILVER", "BRONZE", "IRON"}
)

// ladder is all divisions, the best first.
var ladder = func() (all []Division) {
	for _, t := range apexTiers {
		all = append(all, Division{t, "I"})
	}
	for _, t := range lowerTiers {
		for _, d := range []string{"I", "II", "III", "IV"} {
			all = append(all, Division{t, d})
		}
	}
	return all
}()

// ParseDivisions reads words such as master+, diamond1, emerald or diamond1..diamond4: the divisions that any of them
// names, each once, the best first. The error says what to write instead.
func ParseDivisions(words []string) ([]Division, error) {
	named := make([]bool, len(ladder))
	for _, word := range words {
		text := strings.ToLower(strings.TrimSpace(word))
		from, to, ok := 0, 0, false
		if low, is := strings.CutSuffix(text, "+"); is {
			_, to, ok = steps(low)
		} else if best, worst, is := strings.Cut(text, ".."); is {
			first, last, ok1 := steps(best)
			first2, last2, ok2 := steps(worst)
			from, to, ok = min(first, first2), max(last, last2), ok1 && ok2
		} else {
			from, to, ok = steps(text)
		}
		if !ok {
			return nil, fmt.Errorf("%q is no tier: write master+, challenger, diamond1, emerald or diamond1..diamond4", word)
		}
		for i := from; i <= to; i++ {
			named[i] = true
		}
	}
	var out []Division
	for i, d := range ladder {
		if named[i] {
			out = append(out, d)
		}
	}
	return out, nil
}

// steps are the first and the last place on the ladder of a tier, or of one of its divisions.
func steps(word string) (first, last int, ok bool) {
	first = -1
	for i, d := range ladder {
		tier := strings.ToLower(d.Tier)
		number := map[string]string{"I": "1", "II": "2", "III": "3", "IV": "4"}[d.Division]
		if word != tier && (word != tier+number || d.Apex()) {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	return first, last, first >= 0
}

// Ranked queues that Riot lists, as league-v4 names them.
const (
	RankedSolo = "RANKED_SOLO_5x5"
	RankedFlex = "RANKED_FLEX_SR"
)

// Rank is where an account stood in a ranked queue at an instant.
type Rank struct {
	Account  string
	Queue    string
	At       time.Time
	Unranked bool   // it has no rank in the queue
	Tier     string // "PLATINUM"
	Division string // "III"; Master and above have "I"
	Points   int
	Wins     int
	Losses   int
	// Unsure: a rank is missing from one answer. Riot has listed nobody's rank for
	// a while (developer-relations#726), so the next day's answer has to agree.
	Unsure bool
}

// Same reports whether both say the same of the queue.
func (r Rank) Same(o Rank) bool {
	r.Account, r.At, o.Account, o.At = "", time.Time{}, "", time.Time{}
	return r == o
}

// Stray is a match that failed and that no job tries any more.
type Stray struct {
	Match string
	Owner string // an account that has it
	Used  int    // attempts that count already
	At    time.Time
	Ended bool // it was given up, and is asked for once more
}

// CachedIDs are the newest ids of a list, as Riot gave them at an instant.
type CachedIDs struct {
	At    time.Time // the list's end: what was played later is not in it
	Floor time.Time // nothing older was asked for; zero = no floor
	Whole bool      // the list ends behind IDs
	IDs   []string
}
