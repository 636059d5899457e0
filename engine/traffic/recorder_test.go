package traffic

import (
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

// call is one exchange of a job.
func call(job string, status int, took time.Duration, at time.Time) riot.Call {
	return riot.Call{Receipt: limit.Receipt{Job: job, Host: "europe", Method: "match-v5.match", Status: status}, At: at, Latency: took}
}

func TestTheRecorderKeepsTheLast2000Calls(t *testing.T) {
	var r recorder
	for i := range recorded + 500 {
		status := 200
		if i%100 == 0 {
			status = 429
		}
		r.add(call("7", status, time.Millisecond, noon.Add(time.Duration(i)*time.Second)))
	}
	all := r.page(engine.CallsQuery{})
	if len(all.Calls) != recorded || all.Calls[0].Seq != recorded+500 || all.Calls[recorded-1].Seq != 501 || all.Next != "" {
		t.Errorf("%d calls, %d to %d, next %q", len(all.Calls), all.Calls[0].Seq, all.Calls[len(all.Calls)-1].Seq, all.Next)
	}
	var seen []uint64
	q := engine.CallsQuery{Status: 429, Page: engine.Page{Limit: 7}}
	for {
		page := r.page(q)
		for _, c := range page.Calls {
			seen = append(seen, c.Seq)
		}
		if q.After = page.Next; page.Next == "" {
			break
		}
	}
	if len(seen) != 20 || seen[0] != 2401 || seen[19] != 501 {
		t.Errorf("429s by pages: %v", seen)
	}
	if after := r.after(2490); len(after) != 10 || after[0].Seq != 2491 || after[9].Seq != 2500 {
		t.Errorf("after 2490: %d calls", len(after))
	}
	if p := r.meter(noon.Add(2500 * time.Second)); p.Throttled != 25 || p.P50 != time.Millisecond {
		t.Errorf("%+v", p)
	}
}

func TestPulseCountsTheLastMinute(t *testing.T) {
	var r recorder
	for i := range 300 { // one per second for five minutes
		r.add(call("", 200, time.Duration(i)*time.Millisecond, noon.Add(time.Duration(i)*time.Second)))
	}
	r.add(call("", 0, time.Hour, noon.Add(299*time.Second))) // no answer tells nothing of the time to one
	p := r.meter(noon.Add(299 * time.Second))
	if p.CallsPerMin != 61 || p.P50 != 200*time.Millisecond {
		t.Errorf("%v calls a minute, p50 %v", p.CallsPerMin, p.P50)
	}
	if len(p.Spark) != sparkCells || p.Spark[0] != 5 || p.Spark[sparkCells-1] != 6 {
		t.Errorf("spark %v", p.Spark)
	}
	if idle := r.meter(noon.Add(time.Hour)); idle.CallsPerMin != 0 || idle.Spark[sparkCells-1] != 0 {
		t.Errorf("an hour later: %+v", idle)
	}
}

func TestA429OfOurOwnLimitsIsUnforeseen(t *testing.T) {
	for class, want := range map[string]bool{
		riot.ClassThrottledApp: true, riot.ClassThrottledMethod: true, riot.ClassThrottledService: false, riot.ClassThrottledUnknown: false, "": false,
	} {
		c := call("7", 429, 0, noon)
		c.Class, c.RetryAfter = class, "3"
		if row := rowOf(c); row.Unforeseen != want || row.RetryAfter != 3*time.Second {
			t.Errorf("%s: %+v", class, row)
		}
	}
}

// TestTheCallThatTestsTheKeySaysSo: it asks for nobody, whose name says nothing.
func TestTheCallThatTestsTheKeySaysSo(t *testing.T) {
	c := call("7", 403, 0, noon)
	if c.Target = riot.ProbeTarget; rowOf(c).Target != "tests the key" {
		t.Errorf("%+v", rowOf(c))
	}
}

func TestStatAfterTellsTheAttemptsOfAJobApart(t *testing.T) {
	var r recorder
	r.add(call("7", 503, time.Second, noon))
	before := r.last()
	if got := r.statAfter(before, "7"); got.Calls != 0 {
		t.Errorf("an attempt without a call cost %+v", got)
	}
	r.add(call("8", 200, time.Minute, noon))
	r.add(call("7", 200, 2*time.Second, noon))
	probe := call("7", 404, 3*time.Second, noon) // of its key
	probe.Proof = true
	r.add(probe)
	if got := r.statAfter(before, "7"); got.Calls != 2 || got.Status != 200 || got.HTTP != 2*time.Second {
		t.Errorf("%+v", got)
	}
}

// TestP38_TheMeterAgesByCells: after the last call the meter changes once per cell of its
// chart and not each second, and ends at nothing; a call moves it at once.
func TestP38_TheMeterAgesByCells(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var r recorder
	for i := range 60 {
		r.count(noon.Add(time.Duration(i) * time.Second).Unix())
	}
	last := noon.Add(59 * time.Second)
	changes, before := 0, r.meter(last)
	for i := range 3 * 60 {
		is := r.meter(last.Add(time.Duration(i) * time.Second))
		if is.CallsPerMin != before.CallsPerMin || !slices.Equal(is.Spark, before.Spark) {
			changes++
		}
		before = is
	}
	if changes == 0 || changes > sparkCells+sparkCell {
		t.Errorf("%d changes in three minutes without a call", changes)
	}
	if sum := slices.Max(before.Spark); before.CallsPerMin != 0 || sum != 0 {
		t.Errorf("three minutes after the last call: %+v", before)
	}
	again := last.Add(182 * time.Second)
	if r.count(again.Unix()); r.meter(again).CallsPerMin != 1 || r.meter(again).Spark[sparkCells-1] != 1 {
		t.Errorf("at the next call: %+v", r.meter(again))
	}
}

// The median goes with the instant of the newest answer: a call without one says nothing.
func TestTheMedianHasAnAge(t *testing.T) {
	var r recorder
	if at := r.meter(noon).Answered; !at.IsZero() {
		t.Errorf("no call was answered, and yet at %s", at)
	}
	r.add(call("", 200, time.Millisecond, noon))
	r.add(call("", 0, time.Second, noon.Add(time.Minute)))
	if at := r.meter(noon.Add(time.Hour)).Answered; !at.Equal(noon) {
		t.Errorf("answered at %s, want %s", at, noon)
	}
}

// TestCallsOfThePastMinuteByAccount: each step of five seconds has its calls, the present
// one last, and what is older than a minute is gone.
func TestCallsOfThePastMinuteByAccount(t *testing.T) {
	var r recorder
	at := time.Date(2026, 1, 20, 12, 0, 2, 0, time.UTC)
	r.own("1", "ana", 3, at)
	r.own("1", "ana", 2, at.Add(time.Second))
	r.own("2", "bo", 1, at.Add(56*time.Second))
	r.own("3", "", 7, at)
	got := r.byOwner(at.Add(57 * time.Second))
	if a := got["ana"]; len(got) != 2 || len(a) != engine.ForecastPast || a[0] != 5 || got["bo"][engine.ForecastPast-1] != 1 {
		t.Errorf("%v", got)
	}
	if got := r.byOwner(at.Add(58 * time.Second)); got["ana"] != nil || got["bo"][engine.ForecastPast-2] != 1 {
		t.Errorf("five seconds later: %v", got)
	}
	if got := r.byOwner(at.Add(time.Hour)); len(got) != 0 {
		t.Errorf("an hour later: %v", got)
	}
}

// TestACallSaysWhoseWorkItWas: and which try of it, from the first one of a job to its last.
func TestACallSaysWhoseWorkItWas(t *testing.T) {
	var r recorder
	made := riot.Call{At: noon}
	made.Job = "1"
	r.begin(&engine.Job{ID: "1", Owner: "ana", Tries: 2, Created: noon})
	r.add(made)
	r.own("1", "ana", 1, noon)
	r.add(made)
	if rows := r.after(0); rows[0].Owner != "ana" || rows[0].Try != 2 || rows[0].Asked != noon || rows[1].Owner != "" || rows[1].Try != 0 || len(r.work) != 0 {
		t.Errorf("%+v, %v", rows, r.work)
	}
	r.begin(&engine.Job{ID: "1", Owner: "ana"})
	r.forgets()
	r.add(made) // it was under way
	for _, row := range r.after(0) {
		if row.Owner != "" {
			t.Errorf("of one who was forgotten: %+v", row)
		}
	}
}

// What an answer said beside its status is told of one call, and not in lists of them.
func TestOneCallIsToldWhole(t *testing.T) {
	var r recorder
	for _, body := range []string{"first", "second"} {
		c := riot.Call{At: time.Now(), Headers: []string{"Server: " + body}, Body: body}
		c.Job = body
		r.add(c)
	}
	rows := r.after(0)
	if rows[0].Body != "" || rows[0].Headers != nil {
		t.Errorf("a list tells all: %+v", rows[0])
	}
	if c := r.lastOf("first"); c.Body != "first" || c.Headers[0] != "Server: first" {
		t.Errorf("told %+v", c)
	}
}

// What another process has recorded is taken over once, by its numbers, and counted when it was made; who
// records next goes on from there.
func TestCallsThatAreHeardOf(t *testing.T) {
	var its, ours recorder
	for i := range 10 {
		its.add(call("7", 200, time.Millisecond, noon.Add(time.Duration(i)*time.Second)))
	}
	ours.adopt(its.after(0)[:6])
	ours.adopt(its.after(2))
	if got, want := ours.after(0), its.after(0); len(got) != 10 || got[0].Seq != 1 || got[9].Seq != 10 || !got[9].At.Equal(want[9].At) {
		t.Errorf("%+v", got)
	}
	if now := noon.Add(10 * time.Second); ours.meter(now).CallsPerMin != 10 {
		t.Errorf("%+v", ours.meter(now))
	}
	var next recorder
	next.goOnFrom(10)
	next.add(call("8", 200, time.Millisecond, noon))
	if ours.adopt(next.after(0)); ours.last() != 11 {
		t.Errorf("the last one is %d", ours.last())
	}
}
