package storage

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// mostPlaces bounds how far back Fetched looks: behind the ids of a few large listings.
const mostPlaces = 50_000

// Fetched lists matches of which a part is stored, those that changed last first: at most n that fit.
func (db *DB) Fetched(tx engine.Tx, p league.Part, n int, fits func(match string) bool) (ids []string) {
	t := own(tx)
	tag, fetchOf := tagMatches, func(m league.Match) league.Fetch { return m.Match }
	if p == league.PartTimeline {
		tag, fetchOf = tagTimelines, func(m league.Match) league.Fetch { return m.Timeline }
	}
	looked := 0
	for r := range t.rowsBack(tFeed, []byte{tag}, nil) {
		if looked++; len(ids) == n || looked > mostPlaces {
			break
		}
		place, err := decodePlace(r.k, r.v)
		if err != nil || !fits(place.id) {
			continue // check names one that cannot be read
		}
		if m, err := t.match(place.id); err == nil && fetchOf(m).Status == league.Success {
			ids = append(ids, place.id)
		}
	}
	return ids
}
