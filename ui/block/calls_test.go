package block

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestAListOfMatchesIsOfAPlayer: the id that it is asked for by says nothing to who looks.
func TestAListOfMatchesIsOfAPlayer(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Accounts: []engine.AccountRow{{ID: "a", RiotID: "Kestrel 2#P30"}}})
	for target, want := range map[string]string{"224NPKLs… +0": "Kestrel 2", "224NPKLs… +100": "100+ of Kestrel 2", "EUW1_6789157647": "EUW1_6789157647"} {
		if got := targetCell(v, &engine.CallRow{Target: target, Owner: "a"}).Text; got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
		if got := targetCell(v, &engine.CallRow{Target: target, Owner: "b"}).Text; got != target {
			t.Errorf("of nobody known: %q", got)
		}
	}
}
