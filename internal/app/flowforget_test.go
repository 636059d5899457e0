package app

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestFlow_AnAccountIsForgotten: by a word of the palette and the account's name, typed.
func TestFlow_AnAccountIsForgotten(t *testing.T) {
	who, other := flowPlayer("Blue Heron#FLOW", 5), flowPlayer("Grey Stork#FLOW", 3)
	inFlow(t, flowRiot("100:1", who, other), func(f *flow) {
		f.sync(who)
		f.sync(other)
		for _, p := range []sim.PlayerSpec{who, other} {
			f.until("the sync of "+p.RiotID, 10*time.Minute, func() bool {
				return ask[engine.AccountDetail](t, f.task.front, engine.AccountQuery{ID: p.RiotID}).Row.Status == engine.SyncCompleted
			})
		}
		ana := f.sit("ana", 120, 40)
		defer ana.leave()
		ana.press("2")
		ana.sees(laneName(who.RiotID), laneName(other.RiotID))
		ana.press(":")
		ana.types("forget " + who.RiotID + " because they asked")
		ana.sees("Delete all that is stored of "+who.RiotID+"?", "type "+who.RiotID+" to go on", "would be deleted", "cannot be undone", "farsight compact")
		ana.types("delete")
		ana.sees("type the word")
		for range len("delete") {
			ana.press("backspace")
		}
		ana.types(who.RiotID)
		ana.sees("were deleted")
		ana.press("esc")
		f.until("the account to go", time.Minute, func() bool {
			a := ask[engine.AccountsPage](t, f.task.front, engine.AccountsQuery{})
			return len(a.Accounts) == 1 && a.Accounts[0].RiotID == other.RiotID
		})
		f.audited(engine.OpForget, "ana", "they asked")
	})
}
