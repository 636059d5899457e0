package charts

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
)

func TestV8b_AYoungDayIsDrawnWide(t *testing.T) {
	begin := time.Date(2026, 1, 20, 10, 0, 0, 0, time.UTC)
	v := &page.View{Data: &page.Data{}, Theme: themes.NewMono(themes.Unicode), Now: begin.Add(time.Hour)}
	for spans, cells := range map[int]int{1: 8, 3: 24, 6: 48, 25: 48, 47: 48} {
		d := DayTraffic{Spans: make([]engine.TrafficSpan, spans)}
		for i := range d.Spans {
			d.Spans[i].Calls, d.Spans[i].At = 7, begin.Add(time.Duration(i)*engine.TrafficEvery)
		}
		day := d.Panel(v, 48+multipleName+2)
		rows := day.Rows
		if day.Title != "SINCE 10:00" {
			t.Errorf("%d half hours: %s", spans, day.Title)
		}
		if n := strings.Count(rows[0], "█"); n != cells {
			t.Errorf("%d half hours take %d cells of 48, want %d: %q", spans, n, cells, rows[0])
		}
		if !strings.Contains(rows[0], page.Count(7*spans)) {
			t.Errorf("%d half hours: %q lacks their sum", spans, rows[0])
		}
	}
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	for spans, again := range map[int]bool{1: true, 2: false} {
		v := &page.View{Data: &page.Data{Ready: true, Engine: engine.EngineRow{Meter: engine.Meter{CallsPerMin: 9}}}, Size: page.L, Now: now}
		var d DayTraffic
		d.Got(d.Want(v), engine.Metrics{Traffic: make([]engine.TrafficSpan, spans)}, nil)
		v.Now = now.Add(soon)
		if asked := d.Want(v) != nil; asked != again {
			t.Errorf("%d half hours: asked %t within the minute", spans, asked)
		}
	}
}
