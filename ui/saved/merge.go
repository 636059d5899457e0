package saved

import (
	"maps"
	"reflect"
	"slices"
)

// merge writes down what one console has changed since it last wrote, on top of what
// the file holds by now: another console of the same user may have written it
// meanwhile. Whoever changed a thing last has their way, and nobody else's changes are
// lost.
func merge(base, mine, theirs State) State {
	out := theirs
	out.Version = mine.Version
	if mine.Theme != base.Theme {
		out.Theme = mine.Theme
	}
	out.Lists = mergeMaps(base.Lists, mine.Lists, theirs.Lists)
	out.Filters = maps.Clone(theirs.Filters)
	// Filters are a map for each screen, which two consoles may change at once: their names are merged.
	for _, screen := range keysOfAll(base.Filters, mine.Filters) {
		own := mergeMaps(base.Filters[screen], mine.Filters[screen], theirs.Filters[screen])
		if out.Filters == nil {
			out.Filters = map[string]map[string]string{}
		}
		if out.Filters[screen] = own; len(own) == 0 {
			delete(out.Filters, screen)
		}
	}
	out.History = mergeLines(base.History, mine.History, theirs.History)
	out.Sought = mergeLines(base.Sought, mine.Sought, theirs.Sought)
	return out
}

// mergeMaps puts what mine has changed of base into theirs: what mine has taken out goes, and what only
// they have changed stays.
func mergeMaps[V any](base, mine, theirs map[string]V) map[string]V {
	out := maps.Clone(theirs)
	if out == nil {
		out = map[string]V{}
	}
	for _, key := range keysOfAll(base, mine) {
		was, had := base[key]
		is, has := mine[key]
		switch {
		case had == has && reflect.DeepEqual(was, is):
		case has:
			out[key] = is
		default:
			delete(out, key)
		}
	}
	return out
}

// keysOfAll are the keys of both maps, each once.
func keysOfAll[V any](a, b map[string]V) []string {
	keys := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// mergeLines puts the lines that mine has more than base behind theirs. Lines are only added at the end
// and lost at the beginning, so that what mine has kept of base is its own beginning.
func mergeLines(base, mine, theirs []string) []string {
	n := 0 // how many lines at the beginning of mine are the end of base
	for k := min(len(base), len(mine)); k > 0; k-- {
		if slices.Equal(base[len(base)-k:], mine[:k]) {
			n = k
			break
		}
	}
	out := append(slices.Clone(theirs), mine[n:]...)
	return out[max(len(out)-keptLines, 0):]
}
