package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// dayRig is a day of readings, looked at every half minute as a runner does.
type dayRig struct {
	*Monitor
	now     time.Time
	reading Reading
	calls   uint64
	fired   map[string]bool // by rule
	mute    []string        // alerts that fired without evidence
}

func newDay(t *testing.T) *dayRig {
	d := &dayRig{Monitor: fresh(t), now: noon, fired: map[string]bool{}}
	d.reading.Writes = map[string]time.Duration{"state": 4 * time.Millisecond, "payload": 9 * time.Millisecond}
	d.reading.Queues = []engine.QueueRow{{QueueState: engine.QueueState{Name: "full"}}}
	return d
}

// pass lets time pass; each comes before every look.
func (d *dayRig) pass(span time.Duration, each func()) {
	for end := d.now.Add(span); d.now.Before(end); {
		d.now = d.now.Add(30 * time.Second)
		if each != nil {
			each()
		}
		r := d.reading
		r.Syncing = append([]Beat(nil), r.Syncing...)
		d.Read(d.now, r)
		for _, a := range d.Evaluate(d.now) {
			if a.State == engine.AlertFiring {
				d.fired[a.Rule] = true
				if a.Said() == "" && a.Holds {
					d.mute = append(d.mute, a.ID)
				}
			}
		}
	}
}

// child folds a match of an account: it begins and succeeds.
func (d *dayRig) child(account string, try int) {
	j := engine.Job{ID: "1", Kind: "match.fetch", Queue: "full", Owner: account, State: engine.Running, Tries: try, Attempts: try}
	ended := j
	ended.State = engine.Completed
	d.Changes(d.now, []engine.Change{
		{Job: &j, Before: engine.Available},
		{Of: "1", Attempt: &engine.Attempt{Number: try, Try: try, Start: d.now, End: d.now, Verb: engine.VerbDone}},
		{Job: &ended, Before: engine.Running},
	})
}

func (d *dayRig) answer(status int, unforeseen bool) {
	d.calls++
	d.Calls([]engine.CallRow{{Seq: d.calls, At: d.now, Host: "europe", Status: status, Unforeseen: unforeseen}})
}

// phone folds calls that have ended, each after so many attempts.
func (d *dayRig) phone(n int, s engine.State, class engine.Class, attempts int) {
	for range n {
		d.calls++
		j := engine.Job{ID: engine.JobID(fmt.Sprint(d.calls)), Kind: engine.KindCall, State: s, Class: class, Tries: attempts, Attempts: attempts}
		changes := []engine.Change{{Job: &j, Before: engine.Running}}
		for try := 1; try <= attempts; try++ {
			a := engine.Attempt{Number: try, Try: try, Start: d.now, End: d.now, Verb: engine.VerbRetry, Class: class}
			if try == attempts && s == engine.Completed {
				a.Verb, a.Class = engine.VerbDone, ""
			}
			changes = append(changes, engine.Change{Of: j.ID, Attempt: &a})
		}
		d.Changes(d.now, changes)
	}
}

// days are, for each rule, a day that needs nobody, though it comes near to what the rule
// looks at, and one that it must tell.
var days = map[string]struct{ healthy, trouble func(d *dayRig) }{
	"give-ups": {
		healthy: func(d *dayRig) {
			d.pass(time.Hour, func() { d.child("a", 1) })
			endMany(d.Monitor, d.now, 10, engine.Discarded, 1) // ten that Riot does not have
			endMany(d.Monitor, d.now, 100, engine.Cancelled, 1)
			d.pass(2*time.Hour, nil)
		},
		trouble: func(d *dayRig) { endMany(d.Monitor, d.now, 20, engine.Discarded, 5); d.pass(10*time.Minute, nil) },
	},
	"retries": {
		healthy: func(d *dayRig) { d.pass(6*time.Hour, func() { d.child("a", 2) }) },
		trouble: func(d *dayRig) {
			d.pass(time.Hour, func() { tried(d.Monitor, d.now, "x", engine.VerbRetry, 2, "503") })
		},
	},
	"spike": {
		healthy: func(d *dayRig) { // attempts that the engine itself has sent back
			d.pass(time.Hour, func() {
				for _, h := range []engine.Hold{engine.HoldFrozen, engine.HoldDiskFull, engine.HoldKeyInvalid, engine.HoldLocalNetwork} {
					d.attempt("x", "", engine.Attempt{Try: 1, End: d.now, Verb: engine.VerbSnooze, Hold: h})
				}
			})
		},
		trouble: func(d *dayRig) { d.pass(10*time.Minute, func() { failMany(d.Monitor, d.now, 1, "500") }) },
	},
	"call-give-ups": { // of the calls alone: they are few among the matches
		healthy: func(d *dayRig) {
			d.phone(9, engine.Discarded, "busy", 1)
			d.phone(1, engine.Discarded, "no-answer", 3)
			d.phone(19, engine.Completed, "", 1)
			d.pass(2*time.Hour, func() { d.child("a", 1) })
		},
		trouble: func(d *dayRig) {
			d.phone(20, engine.Discarded, "no-answer", 3)
			endMany(d.Monitor, d.now, 500, engine.Completed, 1)
			d.pass(10*time.Minute, nil)
		},
	},
	"429": {
		healthy: func(d *dayRig) { d.pass(time.Hour, func() { d.answer(429, false) }) },
		trouble: func(d *dayRig) { d.answer(429, true); d.pass(time.Minute, nil) },
	},
	"503": {
		healthy: func(d *dayRig) { d.pass(time.Hour, func() { d.answer(503, false); d.answer(200, false) }) },
		trouble: func(d *dayRig) { d.pass(5*time.Minute, func() { d.answer(503, false); d.answer(503, false) }) },
	},
	"key-expires": {
		healthy: func(d *dayRig) {
			d.pass(24*time.Hour, nil) // nobody knows that it does
			d.reading.KeyExpires = d.now.Add(24 * time.Hour)
			d.pass(21*time.Hour, nil)
		},
		trouble: func(d *dayRig) { d.reading.KeyExpires = d.now.Add(3 * time.Hour); d.pass(2*time.Hour, nil) },
	},
	"key": {
		healthy: func(d *dayRig) { d.pass(24*time.Hour, nil) },
		trouble: func(d *dayRig) {
			d.reading.KeyRejected, d.reading.Cause = true, "Riot refuses the key"
			d.pass(time.Minute, nil)
		},
	},
	"clock": {
		healthy: func(d *dayRig) { d.reading.ClockAhead = 5 * time.Minute; d.pass(24*time.Hour, nil) },
		trouble: func(d *dayRig) { d.reading.ClockAhead = -6 * time.Minute; d.pass(2*time.Minute, nil) },
	},
	"riot-unreachable": {
		healthy: func(d *dayRig) { // 45 s of it, many times
			for range 30 {
				d.reading.State = engine.EngineDegraded
				d.pass(45*time.Second, nil)
				d.reading.State = engine.EngineLive
				d.pass(45*time.Minute, nil)
			}
		},
		trouble: func(d *dayRig) {
			d.reading.State, d.reading.Cause = engine.EngineDegraded, "this machine cannot reach Riot: no such host"
			d.pass(2*time.Minute, nil)
		},
	},
	"outage": {
		healthy: func(d *dayRig) {
			d.reading.Down = []engine.BreakerRow{{Host: "europe", Method: "match-v5.match", Since: d.now}}
			d.pass(90*time.Second, nil)
			d.reading.Down = nil
			d.pass(time.Hour, nil)
		},
		trouble: func(d *dayRig) {
			d.reading.Down = []engine.BreakerRow{{Host: "europe", Method: "match-v5.match", Since: d.now, Waiting: 12}}
			d.pass(3*time.Minute, nil)
		},
	},
	"disk-low": {
		healthy: func(d *dayRig) { d.pass(time.Hour, nil); d.reading.Free = 3 << 30; d.pass(24*time.Hour, nil) },
		trouble: func(d *dayRig) { d.reading.Free = 1 << 30; d.pass(2*time.Minute, nil) },
	},
	"disk-full": {
		healthy: func(d *dayRig) { d.pass(24*time.Hour, nil) },
		trouble: func(d *dayRig) {
			d.reading.Stopped, d.reading.Free = "disk low: 419.4 MB free", 400<<20
			d.pass(2*time.Minute, nil)
		},
	},
	"backup": {
		healthy: func(d *dayRig) { d.pass(24*time.Hour, nil) },
		trouble: func(d *dayRig) { d.reading.Backup = "no space left on device"; d.pass(time.Minute, nil) },
	},
	"member-lost": {
		healthy: func(d *dayRig) {
			alive := engine.MemberRow{ID: "1-a", Host: "one", Role: engine.MemberLeads, Since: d.now}
			again := engine.MemberRow{ID: "2-b", Host: "one", Role: engine.MemberGone, Silent: 10 * time.Minute, Seen: d.now.Add(-time.Minute)}
			long := engine.MemberRow{ID: "3-c", Host: "two", Role: engine.MemberGone, Silent: 2 * time.Hour}
			d.reading.Members = []engine.MemberRow{alive, again, long}
			d.pass(time.Hour, nil)
		},
		trouble: func(d *dayRig) {
			d.reading.Members = []engine.MemberRow{{ID: "2-b", Host: "one", Role: engine.MemberGone, Silent: 2 * time.Minute}}
			d.pass(time.Minute, nil)
		},
	},
	"hold": {
		healthy: func(d *dayRig) { d.pass(24*time.Hour, nil) },
		trouble: func(d *dayRig) {
			d.reading.Holds = []engine.LimitHold{{Host: "europe", Until: d.now.Add(time.Hour), Why: "Riot asks for an hour"}}
			d.pass(time.Minute, nil)
		},
	},
	"silent-sync": {
		healthy: func(d *dayRig) {
			began := d.now
			d.reading.Syncing = []Beat{{Account: "a", Last: began}, {Account: "b", Last: began}}
			d.pass(2*time.Hour, func() { // a's matches; b's are shared, so only its row moves
				d.child("a", 1)
				d.Changes(d.now, []engine.Change{{Account: &engine.AccountRow{ID: "b"}}})
			})
			d.reading.Waits = func(string, time.Duration) string { return "queue paused by ana" }
			d.pass(3*time.Hour, nil)
			d.reading.Waits = nil
			d.pass(9*time.Minute, nil)
		},
		trouble: func(d *dayRig) {
			d.reading.Waits = func(string, time.Duration) string { return "" }
			d.reading.Syncing = []Beat{{Account: "a", Last: d.now}, {Account: "b", Last: d.now}}
			d.pass(12*time.Minute, func() { d.child("a", 1) }) // b stands still beside it
		},
	},
	"queue-age": {
		healthy: func(d *dayRig) {
			d.reading.Queues[0].OldestDue = d.now // one that waits for its turn, while others go
			d.pass(12*time.Hour, func() { d.child("a", 1) })
			d.reading.Queues[0].Paused = true
			d.pass(3*time.Hour, nil)
			d.reading.Queues[0].Paused = false
			d.pass(5*time.Minute, nil) // a line that begins to move again
			d.child("a", 1)
			d.pass(30*time.Minute, nil)
		},
		trouble: func(d *dayRig) {
			d.child("a", 1)
			d.reading.Queues[0].OldestDue = d.now
			d.pass(72*time.Minute, nil)
		},
	},
	"writes": {
		healthy: func(d *dayRig) {
			d.reading.Writes["payload"] = 300 * time.Millisecond // a minute of a busy disk
			d.pass(time.Minute, nil)
			d.reading.Writes["payload"] = 9 * time.Millisecond
			d.pass(time.Hour, nil)
		},
		trouble: func(d *dayRig) { d.reading.Writes["payload"] = 300 * time.Millisecond; d.pass(3*time.Minute, nil) },
	},
	"log-drops": {
		healthy: func(d *dayRig) {
			d.reading.Stopped = "disk full"
			d.pass(20*time.Minute, func() { d.reading.LogDrops++ })
			d.reading.Stopped = ""
			delete(d.fired, "disk-full")
			d.pass(2*time.Hour, nil)
		},
		trouble: func(d *dayRig) { d.pass(time.Minute, nil); d.reading.LogDrops++; d.pass(time.Minute, nil) },
	},
	"calls": {
		healthy: func(d *dayRig) {
			d.Changes(d.now, []engine.Change{{Before: engine.Running, Job: &engine.Job{Kind: engine.KindCall, State: engine.Discarded, Class: "no-answer", Tries: 3}}})
			d.pass(time.Hour, nil)
		},
		trouble: func(d *dayRig) {
			d.Changes(d.now, []engine.Change{{Before: engine.Running, Job: &engine.Job{Kind: engine.KindCall, State: engine.Discarded, Class: "teleported", Tries: 1}}})
			d.pass(time.Minute, nil)
		},
	},
}

// TestS2_10_EachRuleIsSilentOnAHealthyDayAndFiresWhenItShould: no rule without both days.
func TestS2_10_EachRuleIsSilentOnAHealthyDayAndFiresWhenItShould(t *testing.T) {
	if testing.Short() {
		t.Skip("days are counted, and nothing goes on beside it: left out by -short")
	}
	for _, r := range rules() {
		c, ok := days[r.Name]
		if !ok {
			t.Errorf("rule %q has no day", r.Name)
			continue
		}
		d := newDay(t)
		if c.healthy(d); len(d.fired) > 0 {
			t.Errorf("%s: a healthy day fires %v", r.Name, d.fired)
		}
		d = newDay(t)
		if c.trouble(d); !d.fired[r.Name] {
			t.Errorf("%s: trouble fires %v", r.Name, d.fired)
		}
		if len(d.mute) > 0 {
			t.Errorf("W-9e: %s fires without evidence", d.mute[0])
		}
	}
}

// What is missing for work to go on is told by one alert each, with what speaks for it, and ends as soon as it is there
// again.
func TestW9b_DiskNetworkOutageBackupAndMember(t *testing.T) {
	for _, name := range []string{"riot-unreachable", "outage", "disk-low", "disk-full", "backup", "member-lost"} {
		d := newDay(t)
		days[name].trouble(d)
		if len(d.fired) != 1 || !d.fired[name] || len(d.mute) > 0 {
			t.Errorf("%s: %v fire, without evidence %v", name, d.fired, d.mute)
		}
		d.reading = newDay(t).reading
		d.pass(2*time.Minute, nil)
		for _, a := range d.Evaluate(d.now) {
			if a.State != engine.AlertOK {
				t.Errorf("%s: two minutes after it was mended %s is %s", name, a.ID, a.State)
			}
		}
	}
}

// Whatever holds the engine up is told in the words of its state, and no queue is told to be stuck beside it.
func TestW9c_AlertsTellTheCauseThatStatusTells(t *testing.T) {
	d := newDay(t)
	d.child("a", 1)
	d.reading.Queues[0].OldestDue = d.now
	d.reading.Queues[0].Why = "the lane is held"
	d.reading.State, d.reading.Cause, d.reading.KeyRejected = engine.EngineNoKey, "Riot refuses the key", true
	d.pass(72*time.Minute, nil)
	if r := row(t, d.Monitor, d.now, "key"); r.Said() != d.reading.Cause || len(d.fired) != 1 {
		t.Errorf("it says %q, and %v fire", r.Said(), d.fired)
	}
	d.reading.State, d.reading.Cause, d.reading.KeyRejected = engine.EngineAPIDown, "match calls to europe fail: 3 jobs wait", false
	d.pass(12*time.Minute, nil)
	if r := row(t, d.Monitor, d.now, "queue-age/full"); r.State != engine.AlertFiring || r.Said() != d.reading.Cause {
		t.Errorf("it is %s and says %q", r.State, r.Said())
	}
	d.reading.Down = []engine.BreakerRow{{Host: "europe", Method: "match-v5.match", Since: d.now, Waiting: 3}}
	d.pass(3*time.Minute, nil)
	if r := row(t, d.Monitor, d.now, "outage/europe-match-v5.match"); r.State != engine.AlertFiring || r.Said() != d.reading.Cause {
		t.Errorf("it is %s and says %q", r.State, r.Said())
	}
}

// A day of 30 short faults, in each of which a hundred calls fail and are tried again with success, needs nobody; trouble
// that lasts is told within minutes, and is over minutes after it was mended.
func TestW9a_AnAlertEndsWithItsTrouble(t *testing.T) {
	d := newDay(t)
	fault := func(span time.Duration) {
		end := d.now.Add(span)
		d.pass(span, func() {
			if d.now.Before(end) {
				failMany(d.Monitor, d.now, 50, "503")
				for i := range 50 {
					tried(d.Monitor, d.now, fmt.Sprint(d.now, i), engine.VerbRetry, 2, "503")
				}
			}
		})
	}
	for range 30 {
		fault(90 * time.Second)
		d.pass(46*time.Minute+30*time.Second, func() { d.child("a", 2) })
	}
	if len(d.fired) > 0 {
		t.Errorf("short faults fire %v", d.fired)
	}
	fault(10 * time.Minute)
	if !d.fired["spike"] || !d.fired["retries"] {
		t.Errorf("ten minutes of faults fire %v", d.fired)
	}
	d.pass(8*time.Minute, func() { d.child("a", 2) })
	for _, a := range d.Evaluate(d.now) {
		if a.State != engine.AlertOK {
			t.Errorf("eight minutes after the end %s is %s", a.ID, a.State)
		}
	}
}

// Twenty calls that nobody picks up are one trouble, and so is one that ended in a way nobody knows.
func TestW9g_CallTroubleIsJudgedOnce(t *testing.T) {
	for _, name := range []string{"call-give-ups", "calls"} {
		d := newDay(t)
		days[name].trouble(d)
		d.pass(time.Hour, nil)
		if len(d.fired) != 1 || !d.fired[name] {
			t.Errorf("%s: it fires %v", name, d.fired)
		}
	}
}

// A night's sleep, or a time without an engine, is no silence and no stillness as soon as
// the work goes on; what stands still after it is told.
func TestAlerts_AGapIsNoSilence(t *testing.T) {
	d := newDay(t)
	d.reading.Syncing = []Beat{{Account: "a", Last: d.now}}
	d.reading.Queues[0].OldestDue = d.now
	d.pass(10*time.Minute, func() { d.child("a", 1) })
	d.now = d.now.Add(8 * time.Hour)
	d.pass(30*time.Second, nil)
	d.pass(time.Hour, func() { d.child("a", 1) })
	if len(d.fired) > 0 {
		t.Errorf("a gap fires %v", d.fired)
	}
	blob, err := d.Save()
	if err != nil {
		t.Fatal(err)
	}
	again := newDay(t)
	if err := again.Load(blob); err != nil {
		t.Fatal(err)
	}
	again.now, again.reading = d.now.Add(8*time.Hour), d.reading
	again.pass(time.Hour, nil)
	if !again.fired["silent-sync"] || !again.fired["queue-age"] {
		t.Errorf("nothing has moved for an hour after a restart, and it fires %v", again.fired)
	}
}

// TestARuleOfPhoneCallsSaysSo: beside it stand those of Riot's.
func TestARuleOfPhoneCallsSaysSo(t *testing.T) {
	for _, r := range rules() {
		if r.Kind == engine.KindCall && !strings.Contains(r.About, "phone calls") {
			t.Errorf("%s: %q", r.Name, r.About)
		}
	}
}
