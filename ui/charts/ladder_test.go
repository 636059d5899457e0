package charts

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestTheRoomIsOfTheHostThatMostRetriesGoTo: of one that is late for want of room too, which stands in line.
func TestTheRoomIsOfTheHostThatMostRetriesGoTo(t *testing.T) {
	f := &engine.Forecast{Hosts: []engine.HostForecast{
		{Host: "asia", Limit: 100, Window: 12 * time.Second, Retries: 1}, {Host: "europe", Limit: 5000, Window: 10 * time.Second}}}
	axis := TimeAxis{Axis: part.NewAxis(uitest.Noon, 2*time.Second, 10, 40)}
	late := engine.JobRow{Job: engine.Job{State: engine.Available, Tries: 1}, Line: "full europe/match-v5.match"}
	if r := RoomOf(pagetest.View(&page.Data{Jobs: []engine.JobRow{late, late}}), f, axis); r.Host.Host != "europe" || r.Every < 14*time.Second {
		t.Errorf("it is of %s, in stretches of %s, which is too short for a number", r.Host.Host, r.Every)
	}
	if r := RoomOf(pagetest.View(&page.Data{}), f, axis); r.Host.Host != "asia" {
		t.Errorf("without those it is of %s", r.Host.Host)
	}
}

// TestAJobThatUsedNoTryIsNotGivenUp: in line after a failure of an outage, its policy has told nothing of its tries.
func TestAJobThatUsedNoTryIsNotGivenUp(t *testing.T) {
	for _, c := range []struct {
		job  engine.JobRow
		last bool
	}{
		{engine.JobRow{Job: engine.Job{State: engine.Available, Class: "503"}, MaxAttempts: 5}, false},
		{engine.JobRow{Job: engine.Job{State: engine.Available, Class: "503", Tries: 4}, MaxAttempts: 5}, true},
	} {
		v := pagetest.View(&page.Data{})
		chart := part.NewChart(v.Theme, part.NewAxis(v.Now, time.Second, 5, 40), 1)
		c.job.Due = v.Now.Add(time.Second)
		DrawLadder(v, chart, 0, &c.job)
		row := ansi.Strip(chart.Row(part.NewLine(v.Theme, 40), 0).String())
		if got := strings.Contains(row, v.Theme.State("FAILED").Glyph); got != c.last || LastTry(&c.job) != c.last {
			t.Errorf("%d tries: %q", c.job.Tries, row)
		}
	}
}
