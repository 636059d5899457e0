package charts

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestAJobIsPacedByItsOwnHost, whichever sets the pace of most, and by none whose limits nobody knows.
func TestAJobIsPacedByItsOwnHost(t *testing.T) {
	now := uitest.Noon
	app := func(host string, window time.Duration, limit, used int) engine.BucketRow {
		return engine.BucketRow{Host: host, Kind: "app", Window: window, Limit: limit, Used: used, Reset: now.Add(window / 2), Paces: limit == 100}
	}
	v := pagetest.View(&page.Data{Ready: true, Limits: engine.LimitsRow{Buckets: []engine.BucketRow{
		app("asia", time.Second, 20, 0), app("asia", 2*time.Minute, 100, 95), app("europe", time.Second, 20, 0), app("europe", 2*time.Minute, 100, 60),
	}}})
	v.Now = now
	for lane, want := range map[string]string{"asia": ", 5 calls a minute", "europe": " per 2 min, 40 calls a minute", "sea": "It goes in 1.0 s."} {
		said := whyJob(v, &engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Line: "full " + lane + "/match-v5.match", Until: now.Add(time.Second)})
		if !strings.Contains(said.Text, want) {
			t.Errorf("%s: %s", lane, said.Text)
		}
	}
}

// TestWhyAJobWaits: the sentences name the reason, when it ends, where that instant comes
// from, and what would help.
func TestWhyAJobWaits(t *testing.T) {
	now := uitest.Noon.Add(-time.Minute)
	v := pagetest.View(&page.Data{Ready: true, Limits: engine.LimitsRow{Buckets: []engine.BucketRow{
		{Host: "europe", Kind: "app", Window: 12 * time.Second, Limit: 100, Used: 84, Reset: now.Add(2 * time.Second), Paces: true},
		{Host: "europe", Method: "match-v5.timeline", Kind: "method", Blocked: now.Add(2 * time.Minute), BlockedBy: "429 service"},
	}}})
	v.Now = now
	failed := func(j engine.Job, then ...time.Duration) engine.JobRow {
		j.Class, j.LastError, j.Failed = "503", "riot: match-v5.match on europe: status 503: Service unavailable", []time.Time{now.Add(-3 * time.Second)}
		return engine.JobRow{Job: j, Delay: 3 * time.Second, Then: then, MaxAttempts: 5}
	}
	retry := failed(engine.Job{State: engine.Retryable, Tries: 1, Due: now}, 6*time.Second, 12*time.Second)
	late := retry
	late.Starts, late.LateBy = now.Add(8*time.Second), "app:europe 100/12s"
	last := failed(engine.Job{State: engine.Retryable, Tries: 4, Due: now})
	again := failed(engine.Job{State: engine.Available, Tries: 1, Due: now.Add(-7 * time.Second)})
	again.Place, again.Until = 3, now.Add(2*time.Second)
	for name, c := range map[string]struct {
		job  engine.JobRow
		want []string
	}{
		"in line": {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Why: "1st in line", Until: now.Add(1100 * time.Millisecond)},
			want: []string{"1st in line of its queue. Pacing spreads what is left of 100 per 12 s, 8 calls a second: it goes in 1.1 s.", "would not make it faster"}},
		"at once":        {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Until: now.Add(400 * time.Millisecond)}, want: []string{": it goes within a second."}},
		"starts now":     {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Why: engine.StartsNow, Until: now}, want: []string{"It was taken by a worker. ", ": it goes now."}},
		"far back":       {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Why: "far back in line: app:europe 99/100"}, want: []string{"Far back in line: app 84/100 used."}},
		"paused":         {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Why: "queue paused by ana", Stand: engine.StandPaused}, want: []string{"Queue paused by ana.", "resumes the queue"}},
		"frozen":         {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Why: "europe is frozen by an operator", Stand: engine.StandHeld}, want: []string{"Europe is frozen by an operator.", "there resumes it"}},
		"down":           {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Why: "match calls to europe fail", Stand: engine.StandDown}, want: []string{"Match calls fail.", "would not make it faster"}},
		"no key":         {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Why: engine.KeyRefused, Until: now.Add(8600 * time.Millisecond), Stand: engine.StandHeld}, want: []string{"Riot refuses the key. One call asks in 8.6 s whether it is over", "gives another key"}},
		"429":            {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Line: "full europe/match-v5.timeline", Until: now.Add(2 * time.Minute)}, want: []string{"It goes in 2 min: a 429 service holds these calls."}},
		"back-off":       {job: retry, want: []string{"503 unavailable at ", "Step 1 of the policy: 3 s, so it is due at", "If it fails again: ", "+6 s  then ", "+12 s  then it is given up."}},
		"no room":        {job: late, want: []string{"No room until ", ": 8 s late."}},
		"last try":       {job: last, want: []string{"it is given up: this is its last try"}},
		"due, in line":   {job: again, want: []string{": it goes in 2.0 s.", "Its 2nd try was due at ", ", 7 s ago."}},
		"held":           {job: engine.JobRow{Job: engine.Job{State: engine.Scheduled, Hold: engine.HoldThrottled, Due: now.Add(9 * time.Second)}, Why: "held: 429, too many calls"}, want: []string{"Held: 429, too many calls. It goes on in 9.0 s.", "cost no try"}},
		"gave up":        {job: engine.JobRow{Job: engine.Job{State: engine.Discarded, Class: "404", LastError: "404 not found", Tries: 1, Finished: now}, MaxAttempts: 5}, want: []string{"404 not found.", "That answer is final"}},
		"used up":        {job: engine.JobRow{Job: engine.Job{State: engine.Discarded, Class: "503", Tries: 5, Finished: now}, MaxAttempts: 5}, want: []string{"503.", "All 5 tries were used"}},
		"runs":           {job: engine.JobRow{Job: engine.Job{State: engine.Running, Tries: 2, Started: now, Worker: 3}}, want: []string{"Its 2nd try runs", "worker 3"}},
		"frozen a while": {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Why: "europe is frozen by an operator", Stand: engine.StandHeld, Until: now.Add(time.Minute), Ends: true}, want: []string{"That ends in 1 min. ", "there resumes it"}},
		"asked for":      {job: engine.JobRow{Job: engine.Job{State: engine.Available}, Why: "europe is held by a 429 application until 15:00 UTC; one call asks every 10 min, and `thaw europe` ends it", Stand: engine.StandHeld, Until: now.Add(8 * time.Minute)}, want: []string{"One call asks in 8 min whether it is over"}},
	} {
		t.Run(name, func(t *testing.T) {
			said := whyJob(v, &c.job)
			text := strings.Join([]string{said.Lead, said.Text, said.Late, said.Act}, " ")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in: %s", want, text)
				}
			}
		})
	}
}

// TestWhyInAFullWindow: that all its calls are used is told of a job that goes just after it opens too, and not of one
// far behind.
func TestWhyInAFullWindow(t *testing.T) {
	now := uitest.Noon
	v := pagetest.View(&page.Data{Ready: true, Limits: engine.LimitsRow{Buckets: []engine.BucketRow{
		{Host: "europe", Kind: "app", Window: 2 * time.Minute, Limit: 100, Used: 100, Reset: now.Add(time.Minute), Paces: true},
	}}})
	v.Now = now
	for place, want := range map[int]string{
		1:   "It goes in 1m02: all 100 calls of the 2 min window are used.",
		150: "It goes in 1m02.",
	} {
		j := engine.JobRow{Job: engine.Job{State: engine.Available}, Place: place, Until: now.Add(62 * time.Second)}
		if got := whyJob(v, &j).Text; got != want {
			t.Errorf("place %d: %q, want %q", place, got, want)
		}
	}
	v.Now, v.Limits.Buckets[0].Reset = now.Add(time.Minute), now.Add(time.Minute+time.Second/2)
	j := engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Until: now.Add(time.Minute)}
	if got := whyJob(v, &j).Text; got != "It goes when the 2 min window opens again: all 100 calls of it are used." {
		t.Errorf("as it opens: %q", got)
	}
}

// TestWhyBehindAHold: the hold is told of what goes as it ends, whatever its place would let it do before, and not of
// what goes long after.
func TestWhyBehindAHold(t *testing.T) {
	now := uitest.Noon
	v := pagetest.View(&page.Data{Ready: true, Limits: engine.LimitsRow{Buckets: []engine.BucketRow{
		{Host: "europe", Method: "match-v5.timeline", Kind: "method", Blocked: now.Add(10 * time.Second), BlockedBy: "429 service"},
	}}})
	v.Now = now
	for until, want := range map[time.Duration]string{
		time.Second:      "It goes in 10 s: a 429 service holds these calls.",
		10 * time.Minute: "It goes in 10 min.",
	} {
		j := engine.JobRow{Job: engine.Job{State: engine.Available}, Place: 1, Line: "full europe/match-v5.timeline", Until: now.Add(until)}
		if got := whyJob(v, &j).Text; got != want {
			t.Errorf("after %v: %q, want %q", until, got, want)
		}
		if !j.Until.Equal(now.Add(until)) {
			t.Errorf("the row itself was moved to %v", j.Until)
		}
	}
	far := engine.JobRow{Job: engine.Job{State: engine.Available}, Line: "full europe/match-v5.timeline", Why: engine.FarBack}
	if got := whyJob(v, &far).Text; got != "When its turn comes is not known yet." {
		t.Errorf("far back: %q", got)
	}
}

// TestWhatNoCallIsKnownOfWaits: a step of a sync stands in a line without a host, and no gap is left for one.
func TestWhatNoCallIsKnownOfWaits(t *testing.T) {
	for line, want := range map[string]string{"full europe/match-v5.match+": "waits for match calls to europe", "latest /": "waits", "latest ": "waits", "": "waits"} {
		if got := stateVerb(&engine.JobRow{Job: engine.Job{State: engine.Available}, Line: line}); got != want {
			t.Errorf("in line %q it %q", line, got)
		}
	}
}
