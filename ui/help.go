package ui

import (
	"slices"
	"strings"

	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// fitting are the keys that fit what is looked for: by what they do, if every word of the text fits
// that, or by the key itself. Groups without any are left out.
func fitting(groups []part.Group, text string) []part.Group {
	text = strings.TrimSpace(text)
	if text == "" {
		return groups
	}
	var out []part.Group
	for _, g := range groups {
		hints := slices.DeleteFunc(slices.Clone(g.Hints), func(h part.Hint) bool { return !fits(g.Name, h, text) })
		if len(hints) > 0 {
			out = append(out, part.Group{Name: g.Name, Hints: hints})
		}
	}
	return out
}

// fits reports whether one key fits a text. The group's name counts too, so that "move" finds all
// keys that move.
func fits(group string, h part.Hint, text string) bool {
	if slices.Contains(strings.Fields(h.Key), text) {
		return true
	}
	name := strings.ToLower(h.Does + " " + h.Also + " " + group)
	// In any order: "job cancel" finds what "cancel job" finds.
	for _, word := range strings.Fields(strings.ToLower(text)) {
		if fuzzy(name, word) == 0 {
			return false
		}
	}
	return true
}

// Notice is what Riot asks every product to show where its users can see it. Source: Riot Games
// developer portal, General Policies.
const Notice = "Farsight is not endorsed by Riot Games and does not reflect the views or opinions of Riot Games or anyone officially involved in " +
	"producing or managing Riot Games properties. Riot Games and all associated properties are trademarks or registered trademarks of Riot Games, Inc."

// leastHelp is how many rows must be left for the keys where the notice is shown below them.
const leastHelp = 8

// wordsOf are the words of a screen as the help explains them, and then those of all others.
func wordsOf(s page.Screen) []part.Group {
	groups := []part.Group{{}, {Name: "On other screens"}}
	for i := range groups {
		names, means := page.Words(s, i == 0)
		for n := range names {
			groups[i].Hints = append(groups[i].Hints, part.Hint{Key: names[n], Does: means[n]})
		}
	}
	return groups
}
