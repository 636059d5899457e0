package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// TestSettledIsInTheOrderOfTries: the matches of an account that were settled last are not those that were played last. A
// sync that goes back in time settles older ones.
func TestSettledIsInTheOrderOfTries(t *testing.T) {
	db := start(t, "")
	const all = 90
	write(t, db, func(tx engine.Tx) error {
		err := db.SaveAccount(tx, league.Account{ID: "acc", GameName: "Blue Heron", TagLine: "EUW", Platform: "euw1"})
		for i := range all {
			m := league.Match{ID: fmt.Sprintf("EUW1_%03d", i), Played: noon.Add(time.Duration(i) * time.Hour)}
			if i >= 10 { // the ten oldest were not tried yet
				m.Match = league.Fetch{Status: league.TemporaryFailure, LastAttemptAt: noon.Add(time.Duration(1000-i) * time.Hour)}
			}
			if i == 40 { // tried again after all others, and given up
				m.Match = league.Fetch{Status: league.PermanentlyUnfetchable, LastAttemptAt: noon.Add(2000 * time.Hour)}
			}
			err = errors.Join(err, db.SaveMatch(tx, m, false), db.LinkMatch(tx, "acc", m.ID))
		}
		return err
	})
	got, err := db.Settled(context.Background(), "acc", 4)
	must(t, err)
	var ids []string
	for _, m := range got {
		ids = append(ids, m.ID)
	}
	if want := []string{"EUW1_012", "EUW1_011", "EUW1_010", "EUW1_040"}; !slices.Equal(ids, want) {
		t.Errorf("got %q, want %q", ids, want)
	}
}
