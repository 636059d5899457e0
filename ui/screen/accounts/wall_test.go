package accounts

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
)

// TestV1j_ARowIsEvenedOnceForAReading: two frames of the same rows and cells share theirs, and newer rows are not missed.
func TestV1j_ARowIsEvenedOnceForAReading(t *testing.T) {
	w := wall{MatchCells: engine.MatchCells{Account: "b", Row: engine.AccountRow{ID: "b", Calls: 7}}}
	frame := func(version uint64, calls int) *engine.AccountRow {
		d := page.Data{Version: version, Accounts: []engine.AccountRow{{ID: "a", Calls: calls}, {ID: "b", Calls: 9}}}
		w.even(&d)
		if d.Accounts[0].Calls != calls || d.Accounts[1].Calls != 7 {
			t.Errorf("%+v", d.Accounts)
		}
		return &d.Accounts[0]
	}
	if first := frame(1, 5); first != frame(1, 5) || first == frame(2, 6) {
		t.Error("rows are made for each frame, or kept when there are newer ones")
	}
}

// TestANewMatchStandsOutWithoutColour: its cell, and that of the legend, is another than that of one stored before.
func TestANewMatchStandsOutWithoutColour(t *testing.T) {
	v := &page.View{Theme: themes.NewMono(themes.Unicode)}
	if before := cellSign(v, engine.CellStored, false); v.Theme.Open(freshToken(v, 0)) == v.Theme.Open(before.Token) {
		t.Error("both look the same")
	}
}
