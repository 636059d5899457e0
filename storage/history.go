package storage

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// Every id that is anybody's, of an account, a run, a match or a job, has its transitions:
//
//	"EUW1_7012345678", 3 -> 2026-11-21T14:00:00Z, "unfetched" to "success", by "engine"
var tHistory = collection.Declare(
	collection.New("history", "str id, u64 n", "one transition; the last 50 per id").BelongsTo(ofAccount|ofRun|ofMatch),
	collection.Records[transition]{
		Format: 15,
		Key: func(c *key.Coder, tr *transition) {
			c.Str(&tr.Of)
			c.Uint64(&tr.Seq)
		},
		Fields: func(c *rec.Coder, tr *transition) {
			c.Time(&tr.At)
			c.Str(&tr.From, &tr.To, &tr.Reason, &tr.Actor)
		}})

// transition is one, with the id of what has moved.
type transition struct {
	engine.Transition
	Of string
}

// maxHistory transitions are kept per id.
// A match that fails for weeks would otherwise have a transition for each try.
const maxHistory = 50

// AddHistory appends one transition of anything that has an id. Seq is given here; the order is by
// it, not by time, since clocks step back.
func (db *DB) AddHistory(tx engine.Tx, id string, tr engine.Transition) error {
	return tHistory.KeepLast(own(tx), key.Strings(id), maxHistory, &transition{Transition: tr, Of: id})
}

// history gives the last transitions of an id, oldest first.
func (t *txn) history(id string) (list []engine.Transition, err error) {
	for tr, err := range tHistory.Under(t, key.Strings(id)) {
		if err != nil {
			return nil, err
		}
		list = append(list, tr.Transition)
	}
	return list, nil
}
