package pg

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Collections are kept in data directories alone: here there is none, and none can be made.

var errNoCollections = engine.Problemf(engine.ErrRefused, "run the same command with --data-dir and without --store",
	"collections need a data directory for now")

// Collections refuses: a collection cannot be made here.
func (db *DB) Collections(engine.Tx) ([]engine.Collection, error) { return nil, errNoCollections }

// CollectionRows lists none.
func (db *DB) CollectionRows(context.Context) ([]engine.CollectionRow, error) { return nil, nil }

// Collection refuses.
func (db *DB) Collection(engine.Tx, string) (engine.Collection, error) {
	return engine.Collection{}, errNoCollections
}

// SaveCollection refuses.
func (db *DB) SaveCollection(engine.Tx, engine.Collection) error { return errNoCollections }

// CollectedMatches refuses.
func (db *DB) CollectedMatches(engine.Tx, string) (int, error) { return 0, errNoCollections }

// PlayerOf refuses.
func (db *DB) PlayerOf(engine.Tx, string, string, string) (a league.Account, ok bool, err error) {
	return a, false, errNoCollections
}

// SeatsOf refuses.
func (db *DB) SeatsOf(engine.Tx, string, string, int) (seats []league.Participant, next string, err error) {
	return nil, "", errNoCollections
}

// NextPlayer refuses.
func (db *DB) NextPlayer(engine.Tx, string, string) (a league.Account, ok bool, err error) {
	return a, false, errNoCollections
}
