package limits

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/uitest"
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
	// In an outage nothing is planned for its host.
	v.Queues[1].Again = 20 // of the 300
	down := charts.Timetable{All: 101, Plan: &engine.HostForecast{Stuck: true}, Lanes: []charts.AccountLane{{Name: "Blue Heron", Left: 100, Still: true}}}
	if got, all := nextCalls(v, &down); len(got) != 3 || got[0].calls != 300 || all != 450 {
		t.Errorf("in an outage the next %d calls are of %+v", all, got)
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

// TestTheNextCallsAddUp to what the title says: those that have no row stand together in the
// last one, and for the sake of a player that of the retries goes first.
func TestTheNextCallsAddUp(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	table := charts.Timetable{All: 203, Left: 203, Plan: &engine.HostForecast{Retries: 3}}
	for _, n := range []int{60, 50, 40, 30, 20, 3} {
		table.Lanes = append(table.Lanes, charts.AccountLane{Name: "Player", Left: n})
	}
	for h := 1; h <= 8; h++ {
		s, sum := nextBlock(v, &table, 36, h), 0
		for _, row := range s.Rows {
			words := strings.Fields(ansi.Strip(row))
			if words[0] != "of" { // "of these, retries" are among the others
				n, err := strconv.Atoi(words[1])
				if sum += n; err != nil {
					t.Error(err)
				}
			}
		}
		if others := strings.Contains(ansi.Strip(strings.Join(s.Rows, "")), " others "); others != (h < len(table.Lanes)) {
			t.Errorf("%d rows: %q", h, s.Rows)
		}
		if s.Title != "NEXT 203 CALLS" || sum != 203 || len(s.Rows) > h {
			t.Errorf("%d rows of %s add up to %d: %q", h, s.Title, sum, s.Rows)
		}
	}
}

// TestTicksOfShortWindowsTellThemApart: where not each has room, those that have would all say the same second.
func TestTicksOfShortWindowsTellThemApart(t *testing.T) {
	v := pagetest.View(&page.Data{})
	for _, c := range []struct {
		window, step time.Duration
		want         string
	}{{12 * time.Second, 2 * time.Second, ":35"}, {30 * time.Second, 10 * time.Second, "12:31"}, {2 * time.Minute, 10 * time.Second, "12:31"}} {
		d := chartBlock{View: v, chart: part.NewChart(v.Theme, part.NewAxis(v.Now, c.step, 10, 60), 3)}
		if got := d.resetText(uitest.Noon, c.window); !strings.HasSuffix(got, c.want) || len(c.want) != len(got)-len(v.Theme.Glyphs.Above) {
			t.Errorf("of windows of %s a tick says %q, want %q", c.window, got, c.want)
		}
	}
}

// TestNothingGoesWithAWindowWhileAllStands: the window ends all the same.
func TestNothingGoesWithAWindowWhileAllStands(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	for want, windows := range map[int][]engine.PlannedWindow{
		0: nil, 100: {{Begin: now, Made: 3}, {Begin: now.Add(7 * time.Second), Line: 100}, {Begin: now.Add(37 * time.Second), Line: 90}},
	} {
		v := pagetest.View(&page.Data{Limits: engine.LimitsRow{Buckets: []engine.BucketRow{
			{Host: "europe", Kind: "app", Window: 30 * time.Second, Limit: 100, Used: 3, Reset: now.Add(7 * time.Second), Paces: true}}}})
		v.Now = now
		got := nextResets(v, &charts.Timetable{Host: "europe", Left: 1400, Plan: &engine.HostForecast{Windows: windows}})
		if len(got) != 1 || got[0].goes != want {
			t.Errorf("%v: %+v", windows, got)
		}
	}
}

// TestASpanKeepsItsUnit: what is left of a window stands in one line.
func TestASpanKeepsItsUnit(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	d, got := chartBlock{View: v}, ""
	open := engine.PlannedWindow{Line: 100, End: v.Now.Add(13 * time.Second)}
	d.planText(&engine.HostForecast{Limit: 100, Windows: []engine.PlannedWindow{open}}, true, func(_ themes.Token, text string) { got += text + "\n" })
	if line, _, _ := strings.Cut(got, "\n"); line != "Riot: 100 left, over 13 s" || len(line) > bucketFigures {
		t.Errorf("%q", got)
	}
}
