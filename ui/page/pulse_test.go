package page_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV7f_WhatIsCalmMovesWithTheSeconds: what is taken once a second is taken when countdowns move, and not in a beat
// of its own, by which each row would change twice.
func TestV7f_WhatIsCalmMovesWithTheSeconds(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	v.Live = v.Data
	v.Now = v.Now.Truncate(time.Second).Add(350 * time.Millisecond)
	c := page.Calm{Every: time.Second}
	c.Take(v)
	for range 30 {
		was := v.Beat()
		v.Now = v.Now.Add(100 * time.Millisecond)
		c.Take(v)
		if moved := !v.Beat().Equal(was); c.Fresh(v) != moved {
			t.Fatalf("at %s: taken %t, the second has changed %t", v.Now.Format("05.000"), c.Fresh(v), moved)
		}
	}
}

// TestV5c_TheSentenceMovesWithTheSeconds: who waits by it and by the counts of Jobs is then of one reading.
func TestV5c_TheSentenceMovesWithTheSeconds(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	v.Live = v.Data
	v.Now = v.Now.Truncate(time.Second).Add(350 * time.Millisecond)
	var f page.Fills
	c := page.Calm{Every: time.Second}
	for i := range 30 {
		v.Engine.Pace = strconv.Itoa(i)
		_, pace := f.Take(v)
		if calm := c.Take(v).Engine.Pace; pace != calm {
			t.Errorf("at %s: %s, beside %s", v.Now.Format("05.000"), pace, calm)
		}
		v.Now = v.Now.Add(100 * time.Millisecond)
	}
}

// TestV7f_TheCallsBelowAPageAreOfItsSecond: what is counted beside them has risen by then too.
func TestV7f_TheCallsBelowAPageAreOfItsSecond(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Calls: []engine.CallRow{{Seq: 1}}})
	var foot page.Foot
	foot.Calls(v)
	v.Calls, v.Now = append(v.Calls, engine.CallRow{Seq: 2}), v.Now.Add(time.Second)
	if got := page.LastSeq(foot.Calls(v)); got != 2 {
		t.Errorf("the newest is %d a second later", got)
	}
}

// TestV1a_StoredIsOfOneReading: what was stored in all and in this half hour rise in one frame, though the pace is held.
func TestV1a_StoredIsOfOneReading(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive, Stored: 86, Traffic: engine.TrafficSpan{Calls: 206, Stored: 86}}})
	var p page.Pulse
	p.Take(v)
	v.Engine.Stored, v.Engine.Traffic.Stored, v.Engine.Traffic.Calls, v.Now = 88, 88, 210, v.Now.Add(time.Second/2)
	if e := p.Take(v); e.Traffic.Stored != 88 || e.Traffic.Calls != 206 {
		t.Errorf("of 88 stored %+v are told", e.Traffic)
	}
}
