package league

import (
	"fmt"
	"slices"
	"strings"
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
