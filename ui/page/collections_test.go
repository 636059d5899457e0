package page_test

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestL26_ACollectionThatStandsHasNoEnd: nobody knows when it is done, nor how fast it is. One that ends after midnight has no date.
func TestL26_ACollectionThatStandsHasNoEnd(t *testing.T) {
	now := time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)
	r := engine.CollectionRow{Listed: 100, Ladders: 1}
	r.Name, r.Job, r.Started, r.Players, r.Ladder = "kr", "j1", now.Add(-time.Hour), 300, 1
	for stand, want := range map[engine.Stand]string{"": "~01:00:00", engine.StandDown: "—", engine.StandHeld: "—", engine.StandPaused: "—"} {
		q := engine.QueueRow{Stand: stand}
		q.Name = engine.CollectionQueue("kr")
		v := pagetest.View(&page.Data{Ready: true, Queues: []engine.QueueRow{q}})
		v.Now = now
		c := page.Collections{}
		c.Came = now
		if got, pace := c.DoneText(v, &r), c.PaceText(v, &r); got != want || (pace != "") != (stand == "") {
			t.Errorf("%q: done %q at %q, want %q", stand, got, pace, want)
		}
	}
}
