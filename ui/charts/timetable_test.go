package charts

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/uitest"
)

func newAxis(now time.Time, step time.Duration, back, w int) TimeAxis {
	return TimeAxis{part.NewAxis(now, step, back, w)}
}

var noon = time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)

// sum adds up cells that are known, of those from one on.
func sum(cells []float64, from int) (n float64) {
	for _, v := range cells[from:] {
		if !math.IsNaN(v) {
			n += v
		}
	}
	return n
}

func TestAnAxisMovesByWholeCells(t *testing.T) {
	const step = 2400 * time.Millisecond
	a := newAxis(noon.Add(time.Second), step, 25, 100)
	if b := newAxis(noon.Add(2300*time.Millisecond), step, 25, 100); a != b {
		t.Errorf("%v moved to %v within a cell", a, b)
	}
	if c := a.At(noon.Add(time.Second)); c != 25 || !a.holds(a.Begin()) || a.holds(a.Start(100)) || a.At(a.Begin().Add(-1)) != -1 {
		t.Errorf("now is cell %d of %v", c, a)
	}
	cells := a.Unknown()
	a.deal(cells, noon, noon.Add(12*time.Second), 100)
	if got := sum(cells, 0); math.Abs(got-100) > .01 || math.Abs(cells[26]-20) > .01 || !math.IsNaN(cells[31]) {
		t.Errorf("100 calls in 12 s: %v", cells[20:34])
	}
	a.deal(cells, a.Begin().Add(-time.Minute), a.Begin().Add(time.Minute), 60)
	if got := sum(cells, 0); math.Abs(got-130) > .01 {
		t.Errorf("half of the calls are before the axis: %v", got)
	}
}

// scene is a host with 100 calls in 12 s, of which 80 were made in the present window.
func atWork() (*page.View, *page.Forecast) {
	now := noon.Add(9600 * time.Millisecond)
	bucket := func(used int, reset time.Time) engine.BucketRow {
		return engine.BucketRow{Host: "europe", Kind: "app", Window: 12 * time.Second, Limit: 100, Used: used, Reset: reset, Paces: true, Waiting: 541}
	}
	d := &page.Data{
		Ready: true, At: now, Engine: engine.EngineRow{State: engine.EngineLive, Started: noon.Add(-time.Hour)},
		Limits: engine.LimitsRow{At: now, Buckets: []engine.BucketRow{bucket(80, noon.Add(12*time.Second))}},
		Accounts: []engine.AccountRow{
			{ID: "heron", RiotID: "Night Heron#EUW", Status: engine.Syncing, Matches: engine.Progress{Total: 879}},
			{ID: "quick", RiotID: "Quick#EUW", Status: engine.SyncCompleted, Finished: now.Add(-20 * time.Second), Matches: engine.Progress{Total: 12}},
			{ID: "old", Status: engine.SyncCompleted, Finished: now.Add(-time.Hour)},
		},
	}
	for i := range 182 { // 100, then 82 of which the last was refused
		c := engine.CallRow{Seq: uint64(i + 1), Host: "europe", Status: 200, At: noon.Add(-24*time.Second + time.Duration(i)*120*time.Millisecond)}
		if i == 181 {
			c.Status = 429
		}
		d.Calls = append(d.Calls, c)
	}
	p := &page.Past{}
	for s := 24; s > 0; s-- {
		at := noon.Add(-time.Duration(s) * time.Second)
		p.See(&page.Data{Limits: engine.LimitsRow{At: at, Buckets: []engine.BucketRow{bucket(100, noon.Add(-time.Duration((s-1)/12)*12*time.Second))}}}, at)
	}
	f := &page.Forecast{Plan: engine.Forecast{
		At: now, Step: engine.ForecastStep,
		Hosts: []engine.HostForecast{{Host: "kr"}, {
			Host: "europe", Limit: 100, Window: 12 * time.Second, Line: 538, Retries: 3,
			Windows: []engine.PlannedWindow{{Begin: now, End: noon.Add(12 * time.Second), Made: 80, Line: 20}, {Begin: noon.Add(12 * time.Second), End: noon.Add(24 * time.Second), Line: 97, Retries: 3}},
		}},
		Accounts: []engine.AccountForecast{{Account: "heron", Past: []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 40, 8}, Planned: []int{42, 42}, Calls: 541, Ends: noon.Add(80 * time.Second)}},
	}}
	return &page.View{Data: d, Now: now, W: 120, H: 36, Size: page.M, Tall: page.Normal, Past: p}, f
}

// TestTimetable: what was counted and what is planned stand in their windows, and add up.
func TestTimetable(t *testing.T) {
	v, f := atWork()
	v.Jobs = []engine.JobRow{
		{Job: engine.Job{ID: "1", State: engine.Retryable, Due: v.Now.Add(2 * time.Second)}},
		{Job: engine.Job{ID: "2", State: engine.Retryable, Due: v.Now}, Starts: v.Now.Add(9 * time.Second), LateBy: "app:europe 100/12s"},
	}
	got := NewTimetable(v, newAxis(v.Now, 2400*time.Millisecond, 25, 100), f, []engine.ScheduleRow{
		{Name: "latest", Next: []time.Time{noon.Add(time.Hour)}}, {Name: "off", Paused: true, Next: []time.Time{noon.Add(time.Minute)}},
		{Name: "rank", Next: []time.Time{noon.Add(30 * time.Minute)}},
	})
	type window struct{ made, planned int }
	var windows []window
	for _, w := range got.Windows[:5] {
		windows = append(windows, window{w.made, w.planned})
	}
	if want := []window{{100, 0}, {82, 0}, {80, 20}, {0, 100}, {0, 0}}; len(windows) != 5 || [5]window(windows) != [5]window(want) {
		t.Errorf("windows %v, want %v", windows, want)
	}
	if !got.Windows[1].hit || got.Windows[0].hit || !got.Windows[2].now || got.Windows[3].now {
		t.Errorf("the 429 and now: %+v", got.Windows[:4])
	}
	if got.Host != "europe" || got.Left != 541 || sum(got.made, 0) != 182 || math.Abs(sum(got.Planned, 25)-119) > .01 || got.even() != 20 || got.High() != 25 {
		t.Errorf("%d left, %v made, %v planned, %v even below %v", got.Left, sum(got.made, 0), sum(got.Planned, 0), got.even(), got.High())
	}
	if len(got.Lanes) != 2 || got.Lanes[0].Done != noon.Add(80*time.Second) || math.Abs(sum(got.Lanes[0].made, 0)-48) > .01 || !got.Lanes[1].Over || got.Ends != got.Lanes[0].Done {
		t.Errorf("lanes %+v", got.Lanes)
	}
	if len(got.due) != 2 || got.due[1] != v.Now.Add(9*time.Second) || got.late != 1 || len(got.Runs) != 2 || got.Runs[0].Name != "rank" {
		t.Errorf("due %v, %d late, runs %v", got.due, got.late, got.Runs)
	}
}

// TestWhatIsNotKnownIsNotDrawn: before the start of the engine nothing is known, and
// nothing is foreseen by a forecast of another time.
func TestWhatIsNotKnownIsNotDrawn(t *testing.T) {
	v, f := atWork()
	v.Engine.Started = noon.Add(-12 * time.Second)
	a := newAxis(v.Now, 2400*time.Millisecond, 25, 100)
	got := NewTimetable(v, a, f, nil)
	if !math.IsNaN(got.made[a.At(v.Engine.Started)-1]) || got.since != v.Engine.Started || got.Windows[0].made != 82 {
		t.Errorf("since %v: %v %+v", got.since, got.made[:30], got.Windows[0])
	}
	v.Now, v.Frozen = v.Now.Add(-10*time.Second), true
	if got = NewTimetable(v, newAxis(v.Now, 2400*time.Millisecond, 25, 100), f, nil); got.Plan != nil || sum(got.Planned, 0) != 0 {
		t.Errorf("the time cursor stands before the forecast: %+v", got.Plan)
	}
	if got = NewTimetable((&page.View{Data: &page.Data{}, Now: v.Now, Past: &page.Past{}}), a, &page.Forecast{}, nil); got.Windows != nil || got.High() != 1 || got.even() != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestALargeKeyHasWholeFigures: the scale of a limit of thousands is not cut, and what an account was done with is named.
func TestALargeKeyHasWholeFigures(t *testing.T) {
	v, f := atWork()
	v.Theme, f.Plan.Hosts[1].Limit = themes.NewMono(themes.Unicode), 5000
	got := NewTimetable(v, newAxis(v.Now, 2400*time.Millisecond, 25, 100), f, nil)
	got.made[20] = 1200
	text := ansi.Strip(strings.Join(got.Rows(v, 118, 3, -1), "\n"))
	for _, want := range []string{" 1,000 ", "12 matches"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestV6a_NoBarIsCut: the scale is that of the fullest cell, so that a burst has its whole height.
func TestV6a_NoBarIsCut(t *testing.T) {
	v, f := atWork()
	v.Theme = themes.NewMono(themes.Unicode)
	got := NewTimetable(v, newAxis(v.Now, 2400*time.Millisecond, 25, 100), f, nil)
	got.made[20] = 48
	if got.High() != 50 {
		t.Errorf("a burst of 48 stands below %v", got.High())
	}
	c := part.NewChart(v.Theme, got.Axis, 6)
	got.drawCalls(v, c, 0, 5, got.High())
	if top := []rune(c.View()[0]); top[20] == ' ' || top[19] != ' ' {
		t.Errorf("the top row: %q", string(top))
	}
}

// TestV6b_TheSawReachesTheEndOfTheWork: the axis holds the time until all is done, as long as a window
// keeps four cells, and its step only changes when work no longer fits or fits well into a shorter one.
func TestV6b_TheSawReachesTheEndOfTheWork(t *testing.T) {
	v, _ := atWork()
	reach := func(a TimeAxis) time.Duration { return time.Duration(a.Width-a.Back) * a.Step }
	for _, c := range []struct {
		window, left, step time.Duration
	}{
		{12 * time.Second, time.Minute, 2 * time.Second},
		{12 * time.Second, 3 * time.Minute, 3 * time.Second},
		{12 * time.Second, time.Hour, 3 * time.Second}, // its teeth are seen, its end is not
		{2 * time.Minute, 2 * time.Minute, 10 * time.Second},
		{2 * time.Minute, 22 * time.Minute, 20 * time.Second},
		{2 * time.Minute, 42 * time.Minute, 30 * time.Second},
	} {
		a := SawAxis(v, c.window, c.left, 114, TimeAxis{})
		if a.Step != c.step || c.left < time.Hour && reach(a) < c.left || time.Duration(a.Back)*a.Step > page.PastSpan {
			t.Errorf("%v left of windows of %v: %v back, %v ahead in steps of %v", c.left, c.window, time.Duration(a.Back)*a.Step, reach(a), a.Step)
		}
	}
	was := SawAxis(v, 2*time.Minute, 12*time.Minute, 114, TimeAxis{})
	if a := SawAxis(v, 2*time.Minute, 11*time.Minute, 114, was); a.Step != was.Step {
		t.Errorf("a minute less makes steps of %v ones of %v", was.Step, a.Step)
	}
	// A minute after the start its past is no wider than the title, unless the console has seen more.
	v.Engine.Started = v.Now.Add(-time.Minute)
	if a := SawAxis(v, 12*time.Second, 3*time.Minute, 114, TimeAxis{}); a.Back != 26 {
		t.Errorf("a minute of the past has %d cells of %v", a.Back, a.Step)
	}
	past := &page.Past{}
	past.See(v.Data, v.Now.Add(-2*time.Minute))
	v.Past = past
	if a := SawAxis(v, 12*time.Second, 3*time.Minute, 114, TimeAxis{}); a.Back != 45 {
		t.Errorf("two minutes of the past have %d cells of %v", a.Back, a.Step)
	}
}

// TestATitleHidesNoWordOfTheAxis: its note stands beside now.
func TestATitleHidesNoWordOfTheAxis(t *testing.T) {
	v := &page.View{Data: &page.Data{Ready: true}, Theme: themes.NewMono(themes.Unicode), Now: noon}
	for back := 32; back < 48; back++ {
		c := part.NewChart(v.Theme, newAxis(noon, time.Second, back, 60).Axis, 1)
		c.Words(0)
		row := c.Row(part.NewLine(v.Theme, 62).Gap(1), 0).String()
		got := ansi.Strip(Overlay(v, "12 s WINDOW", "100 calls a tooth", row, 62))
		if !strings.Contains(got, "tooth  ") || !strings.Contains(got, "  now") {
			t.Errorf("now at %d: %q", back, got)
		}
	}
}

// TestWhatIsPlannedSaysOfWhatHost, and that an end is only a bound while some lists are still being read.
func TestWhatIsPlannedSaysOfWhatHost(t *testing.T) {
	now := uitest.Noon
	for want, c := range map[string]struct {
		hosts   []engine.LimitHost
		listing bool
		why     string
		about   time.Duration // after that end
	}{
		"5 calls planned · done ~12:32:32":                   {hosts: []engine.LimitHost{{Host: "asia"}}},
		"5 calls planned · done after 12:32:32":              {hosts: []engine.LimitHost{{Host: "asia"}}, listing: true},
		"5 calls planned · done after 12:32:32, about 12:33": {hosts: []engine.LimitHost{{Host: "asia"}}, listing: true, about: 5 * time.Second}, // no sooner than that
		"5 calls to come: asia is frozen":                    {why: "asia is frozen"},
		"5 calls to asia planned · done ~12:32:32":           {hosts: []engine.LimitHost{{Host: "asia"}, {Host: "europe"}}},
	} {
		v := pagetest.View(&page.Data{Limits: engine.LimitsRow{Hosts: c.hosts}})
		v.Now = now
		for _, h := range c.hosts {
			v.Limits.Buckets = append(v.Limits.Buckets, engine.BucketRow{Host: h.Host, Kind: "app", Limit: 100, Window: time.Minute})
		}
		table := Timetable{Plan: &engine.HostForecast{Host: "asia", Stuck: c.why != "", Why: c.why}, Left: 5, HostEnds: now.Add(time.Minute - time.Second*3), HostListing: c.listing}
		if c.about > 0 {
			table.about = table.HostEnds.Add(c.about)
		}
		if got := table.Tail(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestV3n_NoWindowIsFreeWhileListsAreRead: what they bring takes it.
func TestV3n_NoWindowIsFreeWhileListsAreRead(t *testing.T) {
	v, f := atWork()
	v.Theme = themes.NewMono(themes.Unicode)
	for _, listing := range []bool{false, true} {
		v.Accounts[0].Matches.Total = 100 - 101*page.Btoi(listing)
		got := NewTimetable(v, newAxis(v.Now, 2400*time.Millisecond, 25, 100), f, nil)
		got.Windows = []stripe{{Begin: v.Now, end: v.Now.Add(2 * time.Minute)}}
		c := part.NewChart(v.Theme, got.Axis, 1)
		got.DrawSums(c, 0)
		if free := strings.Contains(c.View()[0], "free"); free == listing {
			t.Errorf("lists are read: %v, a window is free: %v", listing, free)
		}
	}
}

// TestTheEndOfAHostIsThatOfItsOwnSyncs: what others do elsewhere is planned for later, or not known.
func TestTheEndOfAHostIsThatOfItsOwnSyncs(t *testing.T) {
	v, f := atWork()
	v.Accounts[0].Region = "europe"
	far := v.Accounts[0]
	far.ID, far.Region = "far", "asia"
	lists := far
	lists.ID, lists.Matches.Total = "lists", -1
	v.Accounts = append([]engine.AccountRow{far, lists}, v.Accounts...)
	v.Limits.Buckets = append(v.Limits.Buckets, engine.BucketRow{Host: "asia", Kind: "app", Limit: 100, Window: time.Minute})
	f.Plan.Accounts = append(f.Plan.Accounts, engine.AccountForecast{Account: "far", Calls: 900, Ends: noon.Add(time.Hour)})
	v.Theme = themes.NewMono(themes.Unicode)
	got := NewTimetable(v, newAxis(v.Now, 2400*time.Millisecond, 25, 100), f, nil)
	if tail, want := got.Tail(v), "541 calls to europe planned · done ~"+v.Clock(noon.Add(80*time.Second)); tail != want {
		t.Errorf("%q, want %q", tail, want)
	}
	if !got.Ends.Equal(noon.Add(time.Hour)) || got.Ending() != "after " {
		t.Errorf("all end %s%v", got.Ending(), got.Ends)
	}
}

// TestLanesAddUpToWhatIsLeft: calls made since the plan are taken from the lanes whose they were, and no lane has one that the
// host has made.
func TestLanesAddUpToWhatIsLeft(t *testing.T) {
	call := func(owner string, after time.Duration) engine.CallRow {
		return engine.CallRow{Owner: owner, At: noon.Add(after)}
	}
	calls := []engine.CallRow{call("a", -time.Second), call("b", 1), call("b", 2), call("", 3), call("a", 4), {Owner: "a", Host: "kr", At: noon.Add(5)}} // kr is not the host of the plan
	for _, c := range []struct{ all, gone, a, b int }{
		{100, 0, 60, 40}, {96, 4, 58, 38}, {97, 3, 59, 38}, {99, 1, 59, 40},
		{120, 4, 59, 38}, // calls that are no account's go too
	} {
		table := Timetable{Plan: &engine.HostForecast{}, All: c.all, Lanes: []AccountLane{{id: "x", Left: 7, Still: true}, {id: "a", Left: 60}, {id: "b", Left: 40}}}
		table.took(c.gone, calls, noon)
		if a, b := table.Lanes[1].Left, table.Lanes[2].Left; a != c.a || b != c.b || table.Lanes[0].Left != 7 {
			t.Errorf("of %d, %d made, the lanes have %+v, want %d and %d", c.all, c.gone, table.Lanes, c.a, c.b)
		}
	}
}

// TestAFailureIsNeverToCome: the row may be newer than the instant of the axis, whose future is finer than its past.
func TestAFailureIsNeverToCome(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, At: noon})
	axis := part.NewAxis(noon, time.Second, 10, 30)
	axis.Now, axis.Ahead = noon, 100*time.Millisecond
	c := part.NewChart(v.Theme, axis, 1)
	j := engine.JobRow{Job: engine.Job{State: engine.Retryable, Created: noon.Add(-5 * time.Second), Failed: []time.Time{noon.Add(800 * time.Millisecond)}}}
	DrawLife(v, c, 0, &j)
	if row := []rune(ansi.Strip(c.View()[0])); strings.ContainsRune(string(row[11:]), '✗') || row[10] != '✗' {
		t.Errorf("the failure stands ahead: %q", string(row))
	}
}

// TestALongAnswerIsToldInSeconds: in milliseconds the remark of the board would be cut.
func TestALongAnswerIsToldInSeconds(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	for took, want := range map[time.Duration]string{62 * time.Millisecond: "✓ landed 62 ms", 1620 * time.Millisecond: "✓ landed 1.62 s"} {
		if got := Became(v, &engine.CallRow{Status: 200, Took: took}, "landed "); got.Text != want {
			t.Errorf("%q, want %q", got.Text, want)
		}
	}
	if got := Became(v, &engine.CallRow{Status: 429, Took: 1620 * time.Millisecond}, "landed "); !strings.Contains(got.Text, "429, holds") {
		t.Errorf("a late 429 is told as %q", got.Text)
	}
}
