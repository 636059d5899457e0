package charts

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
)

func TestV8b_AYoungDayIsDrawnWide(t *testing.T) {
	begin := time.Date(2026, 1, 20, 10, 0, 0, 0, time.UTC)
	v := &page.View{Data: &page.Data{}, Theme: themes.NewMono(themes.Unicode), Now: begin.Add(time.Hour)}
	for spans, cells := range map[int]int{1: 8, 3: 24, 6: 48, 25: 48, 47: 48} {
		all := make([]engine.TrafficSpan, spans)
		for i := range all {
			all[i].Calls, all[i].At = 7, begin.Add(time.Duration(i)*engine.TrafficEvery)
		}
		v.Foot = &page.Foot{Day: all}
		day := Day(v, 48+multipleName+2, DayRows)
		rows := day.Rows
		if day.Title != "SINCE 10:00" {
			t.Errorf("%d half hours: %s", spans, day.Title)
		}
		if n := strings.Count(rows[0], "█"); n != cells {
			t.Errorf("%d half hours take %d cells of 48, want %d: %q", spans, n, cells, rows[0])
		}
		if !strings.Contains(rows[1], page.Count(7*spans)) {
			t.Errorf("%d half hours: %q lacks their sum", spans, rows[1])
		}
	}
}

// TestV8b_TheDayEndsWithTheFrame: the half hour that has begun is told by the frame, however old what came before is.
func TestV8b_TheDayEndsWithTheFrame(t *testing.T) {
	begin := time.Date(2026, 1, 20, 10, 0, 0, 0, time.UTC)
	v := &page.View{Data: &page.Data{Ready: true}, Theme: themes.NewMono(themes.Unicode), Size: page.L, Now: begin.Add(time.Hour)}
	span := func(i, calls int) engine.TrafficSpan {
		return engine.TrafficSpan{At: begin.Add(time.Duration(i) * engine.TrafficEvery), Calls: calls}
	}
	for name, c := range map[string]struct {
		asked []engine.TrafficSpan
		now   engine.TrafficSpan
		title string
		want  string
	}{
		"nothing was asked yet":      {nil, span(2, 131), "SINCE 11:00", " 131 calls"},
		"of this half hour":          {[]engine.TrafficSpan{span(1, 7), span(2, 351)}, span(2, 401), "SINCE 10:30", " 408 calls"},
		"of the one before":          {[]engine.TrafficSpan{span(1, 7)}, span(2, 3), "SINCE 10:30", " 10 calls"},
		"an engine that counts none": {[]engine.TrafficSpan{span(1, 7)}, engine.TrafficSpan{}, "SINCE 10:30", " 7 calls"},
	} {
		v.Data.Engine.Traffic = c.now
		v.Foot = &page.Foot{Day: c.asked}
		if p := Day(v, 60, DayRows); p.Title != c.title || !strings.Contains(ansi.Strip(p.Rows[1]), c.want) {
			t.Errorf("%s: %s, want %s of %s in %q", name, p.Title, c.want, c.title, p.Rows)
		}
	}
}

// TestV8b_AMemberThatStandsBySaysSo: it counts no calls, and says for whom and since when in their place.
func TestV8b_AMemberThatStandsBySaysSo(t *testing.T) {
	began := time.Date(2026, 1, 20, 10, 0, 0, 0, time.UTC)
	v := &page.View{Data: &page.Data{Ready: true}, Theme: themes.NewMono(themes.Unicode), Now: began.Add(time.Hour)}
	v.Foot = &page.Foot{Day: []engine.TrafficSpan{{At: began}}}
	v.Engine.Started, v.Engine.Term = began, &engine.Term{Leader: "4711-9f3c on db-worker-1"}
	p := Day(v, 60, DayRows)
	text := strings.Join(strings.Fields(ansi.Strip(strings.Join(p.Rows, " "))), " ")
	if p.Title != "STANDS BY" || text != "this process does since 10:00:00: 4711-9f3c on db-worker-1 leads, and counts the calls of all" {
		t.Errorf("%s: %q", p.Title, text)
	}
	if v.Engine.Term.Here = true; Day(v, 60, DayRows).Title == "STANDS BY" {
		t.Error("who leads stands by")
	}
}
