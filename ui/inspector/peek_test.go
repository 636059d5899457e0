package inspector

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestPastPanelsLeaveRoomBetween: the history and the log of a job take as many rows as there
// are, with their titles and an empty row above each.
func TestPastPanelsLeaveRoomBetween(t *testing.T) {
	p := &Job{ID: "j1", Detail: retried()}
	for range 5 {
		p.Detail.History = append(p.Detail.History, engine.Transition{At: uitest.Noon, To: "running"})
	}
	v := pagetest.View(&page.Data{Ready: true})
	for i := range 40 {
		v.Logs = append(v.Logs, engine.LogRow{At: uitest.Noon, Level: "warn", Job: "j1", Text: string(rune('a' + i))})
	}
	for room := 1; room < 40; room++ {
		rows := 1 // the title of the first and what is above it are taken off already
		panels := p.pastPanels(v, 60, room)
		for _, panel := range panels {
			rows += panel.Height + 2
		}
		if rows -= 3; rows > room {
			t.Errorf("room %d: %d panels take %d rows", room, len(panels), rows)
		}
	}
}

// TestAJobThatIsNotReadHasNoState: one that has left the list is loaded; until it is, nothing is told of it.
func TestAJobThatIsNotReadHasNoState(t *testing.T) {
	p := NewJob("c700")
	if panels := p.beside(pagetest.View(&page.Data{Ready: true}), 50, 30, false); len(panels) != 1 || panels[0].Empty != "loading the job…" {
		t.Errorf("%+v", panels)
	}
}

// TestV7u_TheJobBesideStaysUntilTheNextIsKnown: nothing of a job is drawn before its answer is here, and of one that is
// known what was known at the last beat.
func TestV7u_TheJobBesideStaysUntilTheNextIsKnown(t *testing.T) {
	k := Peek{Job: &Job{ID: "j1", Detail: retried(), Answer: page.Answer{Have: true}}}
	k.Beat()
	k.Job.Detail.Job.Rev++
	if k.shown().Detail.Job.Rev != k.Job.Detail.Job.Rev-1 {
		t.Error("it moved between two beats")
	}
	k.Job = NewJob("j2")
	if k.Beat(); k.shown().ID != "j1" {
		t.Errorf("%s is shown, of which nothing is known", k.shown().ID)
	}
	if k.Job.Have = true; k.shown().ID != "j2" {
		t.Errorf("%s is shown, and the next is known", k.shown().ID)
	}
}
