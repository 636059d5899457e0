package ingest

import (
	"errors"
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

// tellRound tells the round that waits for a player's sync how that stands now and stood before; goesOn is for a round that
// has not ended. One that came to its end is judged anew; one that failed, was cancelled, or that another has followed stays
// as it is, and of a collection that is being forgotten there is nothing to tell.
func (in *means) tellRound(tx engine.Tx, sync engine.JobID, was, is string, goesOn func(*engine.Collection) error) error {
	parents, err := tx.Parents(sync)
	if err != nil {
		return err
	}
	for _, p := range parents {
		args, err := decode[collectArgs](p.Job)
		if p.Job.Kind != kindCollect || err != nil {
			continue
		}
		gone := true
		err = in.changeCollection(tx, args.Collection, func(c *engine.Collection) error {
			gone = false
			if c.Job != p.Job.ID {
				return nil
			}
			if was == resultIncomplete {
				c.Short--
			}
			if is == resultIncomplete {
				c.Short++
			}
			c.Short = max(0, c.Short)
			switch c.Result {
			case "":
				return goesOn(c)
			case resultCompleted, resultIncomplete:
				return in.judgeRound(tx, c)
			}
			return nil
		})
		if err != nil && !(gone && errors.Is(err, engine.ErrNotFound)) {
			return err
		}
	}
	return nil
}
