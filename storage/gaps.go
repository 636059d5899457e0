package storage

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// What runs wanted and have not got. A row lasts until the part is there, whoever brings it, or
// until a later run of the account has taken the match over.

// "EUW1_7012345678", run "01J…", "timeline" -> account "01J…", job "c812", not left
var tGaps = collection.Declare(
	collection.New("gaps", "str match, str run, str part", "whose run it is, and its job that ended without the part"),
	collection.Records[league.Gap]{Format: 35,
		Key: func(c *key.Coder, g *league.Gap) { c.Str(&g.Match, &g.Run, (*string)(&g.Part)) },
		Fields: func(c *rec.Coder, g *league.Gap) {
			c.Str(&g.Account, &g.Job)
			c.Bool(&g.Left)
		}})

// Gaps lists what any run misses of a match.
func (db *DB) Gaps(tx engine.Tx, match string) ([]league.Gap, error) {
	return collection.All(tGaps.Under(own(tx), key.Strings(match)))
}

// SaveGap notes what a run misses, in place of what was noted before; added is false when the run
// missed that part already.
func (db *DB) SaveGap(tx engine.Tx, g league.Gap) (added bool, err error) { return own(tx).saveGap(g) }

func (t *txn) saveGap(g league.Gap) (added bool, err error) {
	k := tGaps.KeyOf(&g)
	// Has is asked before Put: Go evaluates results in their order.
	return !t.Has(tGaps.Table, k), tGaps.Put(t, k, &g)
}

// DropGap takes the note away.
func (db *DB) DropGap(tx engine.Tx, g league.Gap) error {
	return own(tx).Remove(tGaps.Table, tGaps.KeyOf(&g))
}
