package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/riot/sim"
)

// A job tells how much it has fetched, which of a match is what is stored of it, and
// who has asked for it; its children are the engine's own.
func TestAJobTellsItsBytesAndWhoAsked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
		r := start(t, s)
		asked := r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Hour)
		for _, id := range s.MatchIDs("Ana#EUW") {
			m := r.match(id)
			for key, size := range map[string]int{"match:" + id: m.Match.Ref.Size, "timeline:" + id: m.Timeline.Ref.Size} {
				if j := r.detail(key).Job; j.Bytes != size || size == 0 || j.By != "" || j.Worker == 0 {
					t.Errorf("%s: %d bytes, stored are %d; by %q, worker %d", key, j.Bytes, size, j.By, j.Worker)
				}
			}
		}
		var sync engine.JobDetail
		r.read(func(tx engine.Tx) error {
			j, err := r.db.Job(tx, asked.Job)
			sync.Job.Job = j
			return err
		})
		if sync.Job.By != operator.User || sync.Job.Bytes == 0 {
			t.Errorf("the sync is by %q, with %d bytes", sync.Job.By, sync.Job.Bytes)
		}
	})
}

// TestI1_AReasonHasNoTimeOfItsOwn: between two claims the reason of a job in line
// stands, and only its end tells how long it still holds.
func TestI1_AReasonHasNoTimeOfItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		app := []sim.Limit{{N: 5, Per: 2 * time.Minute}}
		r := start(t, newSim(sim.Options{Limits: sim.Limits{App: app}, Players: []sim.PlayerSpec{player("Ana#EUW", 20)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", 10*time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 2 && len(r.available()) > 4 })
		time.Sleep(time.Second)
		head, before := r.head()
		if head.Key == "" || !before.After(time.Now()) {
			t.Fatalf("nobody is held: %q until %v", head.Key, before)
		}
		first, _, _ := r.backend.Why(head)
		for range 5 {
			time.Sleep(time.Second)
			why, until, _ := r.backend.Why(head)
			if why != first || strings.HasSuffix(why, " s") {
				t.Errorf("the reason %q was %q", why, first)
			}
			if got, want := engine.WhyUntil(why, until, time.Now()), why+", "+human.Span(time.Until(until)); got != want || !until.Equal(before) {
				t.Errorf("told as %q until %v, want %q until %v", got, until, want, before)
			}
		}
	})
}

// head is the job that goes next, with the end of what holds it.
func (r *rig) head() (head engine.Job, until time.Time) {
	r.t.Helper()
	for _, j := range r.available() {
		if _, end, place := r.backend.Why(j); place == 1 {
			head, until = j, end
		}
	}
	return head, until
}
