package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/riot/route"
)

// ParseLadder reads "platform,queue,players[,division][,days]", such as kr,solo,300 or euw1,flex,500,diamond1,90d. The
// error says what to write instead.
func ParseLadder(s string) (l LadderSpec, err error) {
	bad := fmt.Errorf("--ladder %q: write platform,queue,players[,division][,days], such as kr,solo,300 or euw1,flex,500,diamond1,90d", s)
	parts := strings.Split(s, ",")
	if len(parts) < 3 || len(parts) > 5 {
		return l, bad
	}
	if l.Platform, err = route.ParsePlatform(parts[0]); err != nil {
		return l, err
	}
	l.Queue = map[string]string{"solo": "RANKED_SOLO_5x5", "flex": "RANKED_FLEX_SR"}[parts[1]]
	if l.Players, err = strconv.Atoi(parts[2]); err != nil || l.Queue == "" {
		return l, bad
	}
	rest := parts[3:]
	if n := len(rest) - 1; n >= 0 && strings.HasSuffix(rest[n], "d") {
		if l.Days, err = strconv.Atoi(strings.TrimSuffix(rest[n], "d")); err != nil || l.Days < 1 {
			return l, bad
		}
		rest = rest[:n]
	}
	for _, word := range rest {
		word = strings.ToUpper(word)
		n := strings.IndexAny(word, "1234")
		if l.Tier != "" || n < 0 || n != len(word)-1 || !slices.Contains(tiers, word[:n]) {
			return l, bad
		}
		l.Tier, l.Division = word[:n], ranks['4'-word[n]]
	}
	return l, nil
}

// LadderMatchIDs are the ids of the games of a ladder's queue (420 or 440) that its players have played, each once:
// what a complete collection of them fetches. Tests compare with it.
func (s *Sim) LadderMatchIDs(l LadderSpec) []string {
	seen := map[string]struct{}{}
	var ids []string
	for _, tier := range append([]string{"CHALLENGER", "GRANDMASTER", "MASTER"}, tiers...) {
		for _, division := range ranks {
			for _, a := range s.world.League(l.Platform, l.Queue, tier, division) {
				for _, g := range s.world.History(a, 0) {
					if _, dup := seen[g.ID]; !dup && g.Queue == map[string]int{"RANKED_SOLO_5x5": 420, "RANKED_FLEX_SR": 440}[l.Queue] {
						seen[g.ID] = struct{}{}
						ids = append(ids, g.ID)
					}
				}
			}
		}
	}
	return ids
}
