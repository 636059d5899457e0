package ingest

import (
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

// groupPlayers is the group of a round's job that its players' syncs are in.
const groupPlayers = 1

// changeCollection loads a collection as it is now, lets edit change it, and stores it.
func (in *means) changeCollection(tx engine.Tx, id string, edit func(*engine.Collection) error) error {
	c, err := in.store.Collection(tx, id)
	if err == nil {
		err = edit(&c)
	}
	if err == nil {
		err = in.store.SaveCollection(tx, c)
	}
	if err != nil {
		return fmt.Errorf("change collection %s: %w", id, err)
	}
	return nil
}

// judgeRound says how a round that came to its end stands, then and whenever something that it misses has come.
func (in *means) judgeRound(tx engine.Tx, c *engine.Collection) error {
	players, err := in.store.Group(tx, engine.GroupID{Parent: c.Job, Group: groupPlayers})
	c.Result = resultCompleted
	if players.Dead+players.Cancelled+players.Open+c.Short > 0 {
		c.Result = resultIncomplete
	}
	return err
}

// judgeRoundAgain is judgeRound where a player of whom something was missing has all now, or the other way about. A
// round that failed, was cancelled or goes on stays so, and so does one that another has followed.
func (in *means) judgeRoundAgain(tx engine.Tx, round engine.Job, short int) error {
	args, err := decode[collectArgs](round)
	if err != nil {
		return nil // as in partMoved
	}
	return in.changeCollection(tx, args.Collection, func(c *engine.Collection) error {
		if c.Job != round.ID {
			return nil
		}
		c.Short += short
		if c.Result != resultCompleted && c.Result != resultIncomplete {
			return nil
		}
		return in.judgeRound(tx, c)
	})
}
