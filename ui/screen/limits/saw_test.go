package limits

import (
	"slices"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
)

// TestL28_TheNextCallsNameTheirCollection: of the calls that are no account's those of a collection bear its name.
func TestL28_TheNextCallsNameTheirCollection(t *testing.T) {
	line := func(name engine.Queue, n int) engine.QueueRow {
		return engine.QueueRow{QueueState: engine.QueueState{Name: name}, Counts: map[engine.State]int{engine.Available: n}}
	}
	v := &page.View{Data: &page.Data{Queues: []engine.QueueRow{line("ingest.summoner.full", 900), line(engine.CollectionQueue("kr"), 300),
		line(engine.CollectionQueue("euw"), 50)}}}
	got, all := nextCalls(v, &charts.Timetable{All: 500, Lanes: []charts.AccountLane{{Name: "Blue Heron", Left: 100}}})
	want := []callShare{{name: "kr", calls: 300}, {name: "Blue Heron", calls: 100}, {name: "euw", calls: 50}, {name: "others", calls: 50}}
	if !slices.Equal(got, want) || all != 500 {
		t.Errorf("the next %d calls are of %+v", all, got)
	}
}

// TestTheNextCallsAreOfThoseThatGo: a player whose queue is paused gets none of them, unless all wait for the same.
func TestTheNextCallsAreOfThoseThatGo(t *testing.T) {
	v := &page.View{Data: &page.Data{}}
	table := charts.Timetable{All: 100,
		Lanes: []charts.AccountLane{{Name: "Paused", Left: 500, Still: true}, {Name: "Blue Heron", Left: 100}}}
	if got, all := nextCalls(v, &table); !slices.Equal(got, []callShare{{name: "Blue Heron", calls: 100}}) || all != 100 {
		t.Errorf("the next %d calls are of %+v", all, got)
	}
	table.All, table.Lanes[1].Still = 600, true
	if got, all := nextCalls(v, &table); len(got) != 2 || got[0].name != "Paused" || all != 600 {
		t.Errorf("where nothing goes the next %d calls are of %+v", all, got)
	}
}
