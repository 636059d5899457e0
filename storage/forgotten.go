package storage

import (
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Forgotten is an account or a collection that is being forgotten, or has been.
type Forgotten struct {
	Account string `json:"account"` // its id with us
	// Players are ids of players who are the same person, and Listed the collections that had them. Where a person is no
	// account, the first of them stands for it. A collection's own players are not here: there may be a million.
	Players []string          `json:"players,omitempty"`
	Listed  []string          `json:"listed,omitempty"`
	PUUIDs  []string          `json:"puuids,omitempty"`
	By      engine.Actor      `json:"by"`
	Reason  string            `json:"reason,omitempty"`
	Began   time.Time         `json:"began"`
	Done    engine.ForgetDone `json:"done"`
	// Doomed are matches whose rows are gone and whose payloads are next.
	Doomed []string `json:"doomed,omitempty"`
}

// stillCollecting refuses to forget what a collection is at work on.
func stillCollecting(c engine.Collection) error {
	if c.Result != "" {
		return nil
	}
	return engine.Problemf(engine.ErrRefused, "cancel it first, by `farsight collections --cancel "+c.Name+"`",
		"collection %s is under way", c.Name)
}

// puuidsOf lists an account's PUUIDs in the order of their key projects.
func puuidsOf(a league.Account) (list []string) {
	for _, project := range slices.Sorted(maps.Keys(a.PUUIDs)) {
		if puuid := a.PUUIDs[project]; puuid != "" {
			list = append(list, puuid)
		}
	}
	return list
}
