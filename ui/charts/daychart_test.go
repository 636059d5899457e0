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
	v := &page.View{Data: &page.Data{}, Theme: themes.NewMono(themes.Unicode)}
	for spans, cells := range map[int]int{1: 8, 3: 24, 6: 48, 47: 47} {
		d := DayTraffic{Spans: make([]engine.TrafficSpan, spans)}
		for i := range d.Spans {
			d.Spans[i].Calls = 7
		}
		rows := d.Panel(v, 48+multipleName+2).Rows
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
