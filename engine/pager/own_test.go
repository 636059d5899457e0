package pager_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
)

const (
	friend = "+12025550143"
	other  = "+12025550144"
)

// ownRig is an engine on which users may call friend and other, and that calls first
// about alerts.
func ownRig(t *testing.T, numbers map[string][]string, perDay int) *rig {
	r := newRig(t, t.TempDir(), numbers, first)
	r.opt.Call.Allow, r.opt.Call.PerDay = []string{friend, other}, perDay
	return r
}

// asks places a call, which must be taken.
func (r *rig) asks(ask engine.CallAsk) engine.Receipt {
	r.t.Helper()
	got, err := r.pager.Place(r.t.Context(), ask, operator, false)
	if err != nil {
		r.t.Fatalf("%+v: %v", ask, err)
	}
	return got
}

func (r *rig) byID(id engine.JobID) engine.JobDetail {
	r.t.Helper()
	d, err := r.store.Detail(r.t.Context(), engine.JobQuery{ID: id})
	if err != nil {
		r.t.Fatalf("job %s: %v", id, err)
	}
	return d
}

// settled waits until no attempt of a call can be under way.
func settled() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

// S2-1 to S2-6 hold for a call of a user's own: the same kind, policy and timeline, in
// a queue of its own; and when it is given up nobody else is called.
func TestS2_6_AnOwnCallGoesTheWayOfAnAlerts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script []string
		state  engine.State
		class  engine.Class
	}{
		"busy busy completed": {[]string{"busy", "busy", "completed"}, engine.Completed, "completed"},
		"no-answer x 3":       {[]string{"no-answer"}, engine.Discarded, "no-answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				june()
				r := ownRig(t, map[string][]string{friend: c.script}, 0)
				r.start()
				got := r.asks(engine.CallAsk{To: friend, Say: "Is <it> done? 5 € & more"})
				if got.Joined || got.Applied != 1 || !strings.Contains(got.Text, "…0143") || strings.Contains(got.Text, friend) {
					t.Errorf("%+v", got)
				}
				for range 25 * 6 {
					time.Sleep(10 * time.Second)
					synctest.Wait()
					r.sound(r.byID(got.Job))
				}
				d := r.byID(got.Job)
				if d.Job.Kind != engine.KindCall || d.Job.Queue != pager.QueueCalls || d.Job.Policy != engine.PolicyCall || d.Job.State != c.state || d.Job.Class != c.class && c.state == engine.Discarded {
					t.Errorf("%+v", d.Job)
				}
				calls := r.voice.Calls()
				if len(calls) != 3 || len(d.Attempts) != 3 {
					t.Fatalf("%d calls, %d attempts", len(calls), len(d.Attempts))
				}
				for i, wait := range []time.Duration{5 * time.Minute, 15 * time.Minute} {
					if waited := d.Attempts[i+1].Start.Sub(d.Attempts[i].End).Round(time.Second); waited != wait {
						t.Errorf("try %d came %s after the one before", i+2, waited)
					}
				}
				for _, v := range calls {
					if v.To != friend || !strings.Contains(v.Text, `<Say language="en-US">Is &lt;it&gt; done? 5 € &amp; more</Say>`) {
						t.Errorf("call to %s of %s", v.To, v.Text)
					}
				}
				r.down()
				noNumberIn(t, r.dir)
			})
		})
	}
}

// noNumberIn looks for whole numbers in what is stored.
func noNumberIn(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, n := range []string{friend, other, first} {
			if bytes.Contains(b, []byte(n[1:])) {
				t.Errorf("%s holds the number %s", path, n)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Asking again with a key calls nobody twice: at the same instant, later, and after a
// restart; for another number or text the key is refused.
func TestOwnCallsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := ownRig(t, nil, 5)
		r.start()
		ask := engine.CallAsk{To: friend, Say: "The import is done.", Key: "import-4711"}
		var all sync.WaitGroup
		var mu sync.Mutex
		jobs, placed := map[engine.JobID]bool{}, 0
		for range 20 {
			all.Go(func() {
				got, err := r.pager.Place(t.Context(), ask, operator, false)
				mu.Lock()
				defer mu.Unlock()
				if jobs[got.Job] = true; err != nil || got.Joined == (got.Applied == 1) {
					t.Errorf("%+v: %v", got, err)
				}
				placed += got.Applied
			})
		}
		all.Wait()
		settled()
		if len(jobs) != 1 || placed != 1 || len(r.voice.Calls()) != 1 {
			t.Fatalf("%d jobs, placed %d times, %d calls", len(jobs), placed, len(r.voice.Calls()))
		}
		r.down()
		r.start()
		again := r.asks(ask)
		if !again.Joined || !jobs[again.Job] || !strings.Contains(again.Text, "is completed") {
			t.Errorf("after a restart: %+v", again)
		}
		if tried, err := r.pager.Place(t.Context(), ask, operator, true); err != nil || !tried.Joined || tried.Job != again.Job {
			t.Errorf("a dry run of the same: %+v, %v", tried, err)
		}
		for name, change := range map[string]engine.CallAsk{
			"number": {To: other, Say: ask.Say, Key: ask.Key}, "text": {To: ask.To, Say: "Another.", Key: ask.Key},
		} {
			_, err := r.pager.Place(t.Context(), change, operator, false)
			if p, ok := errors.AsType[*engine.Problem](err); !ok || !errors.Is(err, engine.ErrConflict) || p.Job != again.Job || !strings.Contains(p.Sentence, "import-4711") {
				t.Errorf("another %s: %v", name, err)
			}
		}
		if free := r.asks(engine.CallAsk{To: friend, Say: ask.Say}); free.Joined {
			t.Errorf("without a key each is another call: %+v", free)
		}
		settled()
		if n := len(r.voice.Calls()); n != 2 {
			t.Errorf("%d calls", n)
		}
		time.Sleep(72 * time.Hour) // a key is remembered for two days
		if got := r.asks(ask); got.Joined {
			t.Errorf("three days later: %+v", got)
		}
	})
}

// The cap of a day holds over restarts and is given back at midnight UTC. What is not
// placed is not counted; what an operator lets be called once more is.
func TestOwnCallsHaveADailyCap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := ownRig(t, map[string][]string{friend: {"completed"}}, 3)
		r.start()
		ask := engine.CallAsk{To: friend, Say: "One.", Key: "one"}
		firstCall := r.asks(ask)
		r.asks(ask) // the same
		tried, err := r.pager.Place(t.Context(), engine.CallAsk{To: other, Say: "Two."}, operator, true)
		if err != nil || tried.Would != 1 || tried.Job != "" || !strings.Contains(tried.Text, `would call …0144 and say "Two.": call 2 of 3 today`) {
			t.Errorf("a dry run: %+v, %v", tried, err)
		}
		r.store.dead.Store(true) // the disk refuses: nothing was placed
		if _, err := r.pager.Place(t.Context(), engine.CallAsk{To: friend, Say: "Lost."}, operator, false); !errors.Is(err, errKilled) {
			t.Errorf("without a disk: %v", err)
		}
		r.store.dead.Store(false)
		r.asks(engine.CallAsk{To: friend, Say: "Two."})
		r.down()
		r.start()
		if got := r.asks(engine.CallAsk{To: friend, Say: "Three."}); !strings.Contains(got.Text, "call 3 of 3 today") {
			t.Errorf("%+v", got)
		}
		settled()
		for _, dry := range []bool{true, false} {
			got, err := r.pager.Place(t.Context(), engine.CallAsk{To: friend, Say: "Four."}, operator, dry)
			midnight := time.Date(2026, 6, 2, 0, 0, 0, 0, time.UTC)
			if !errors.Is(err, engine.ErrUsedUp) || !got.Due.Equal(midnight) || !strings.Contains(err.Error(), "all 3 calls of today") {
				t.Errorf("dry %t: %+v, %v", dry, got, err)
			}
		}
		if n := len(r.voice.Calls()); n != 3 {
			t.Fatalf("%d calls", n)
		}

		// By hand, too: none is left today, and one tomorrow.
		if _, err := r.backend.Act(t.Context(), engine.Command{Op: engine.OpForce, Job: firstCall.Job, By: operator, Reason: "once more"}); err != nil {
			t.Fatal(err)
		}
		settled()
		if d := r.byID(firstCall.Job); d.Job.State != engine.Discarded || d.Job.Class != "failed.daily-cap" || len(r.voice.Calls()) != 3 {
			t.Errorf("%s, class %s, %d calls", d.Job.State, d.Job.Class, len(r.voice.Calls()))
		}
		time.Sleep(12 * time.Hour)
		if _, err := r.backend.Act(t.Context(), engine.Command{Op: engine.OpRetry, Job: firstCall.Job, By: operator, Reason: "now"}); err != nil {
			t.Fatal(err)
		}
		settled()
		if d := r.byID(firstCall.Job); d.Job.State != engine.Completed || len(r.voice.Calls()) != 4 {
			t.Errorf("%s, %d calls", d.Job.State, len(r.voice.Calls()))
		}
		if got := r.asks(engine.CallAsk{To: friend, Say: "Five."}); !strings.Contains(got.Text, "call 2 of 3 today") {
			t.Errorf("the next day: %+v", got)
		}
	})
}

// Whoever is taken from the allow list is not called any more, and nobody else is in
// that place; a crash places no second call.
func TestOwnCallsGoToAllowedNumbersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		june()
		r := ownRig(t, map[string][]string{friend: {"busy"}, other: {"completed"}}, 0)
		r.start()
		one := r.asks(engine.CallAsk{To: friend, Say: "One."})
		settled()
		next := *r.opt.Call
		next.Allow = []string{other}
		take, err := r.pager.Prepare(pager.Targets{Call: &next})
		if err != nil {
			t.Fatal(err)
		}
		take()
		time.Sleep(10 * time.Minute)
		if d := r.byID(one.Job); d.Job.State != engine.Discarded || d.Job.Class != "failed.no-number" || len(r.voice.Calls()) != 1 {
			t.Errorf("%s, class %s, %d calls", d.Job.State, d.Job.Class, len(r.voice.Calls()))
		}
		if _, err := r.pager.Place(t.Context(), engine.CallAsk{To: friend, Say: "Two."}, operator, false); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%v", err)
		}
		r.opt.Call.Allow = next.Allow
		two := r.asks(engine.CallAsk{To: other, Say: "Two."})
		time.Sleep(5 * time.Second)
		r.crash()
		r.start()
		settled()
		if d := r.byID(two.Job); d.Job.State != engine.Completed || len(r.voice.Calls()) != 2 {
			t.Errorf("after a crash: %s, %d calls", d.Job.State, len(r.voice.Calls()))
		}
	})
}

// Each bad request gets one sentence that says what to do, and nothing is counted.
func TestBadInput_OwnCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		june()
		r := ownRig(t, nil, 1)
		r.start()
		good := engine.CallAsk{To: friend, Say: "Hello."}
		for name, c := range map[string]struct {
			change func(*engine.CallAsk)
			code   error
			says   string
		}{
			"no number":        {func(a *engine.CallAsk) { a.To = "" }, engine.ErrInvalid, "no telephone number"},
			"a national one":   {func(a *engine.CallAsk) { a.To = "0301234567" }, engine.ErrInvalid, "with its country"},
			"with blanks":      {func(a *engine.CallAsk) { a.To = "+1 202 555 0143" }, engine.ErrInvalid, "without blanks"},
			"not on the list":  {func(a *engine.CallAsk) { a.To = "+4917099999" }, engine.ErrRefused, "…9999 is not among the numbers"},
			"one of the pager": {func(a *engine.CallAsk) { a.To = first }, engine.ErrRefused, "call_numbers"},
			"no text":          {func(a *engine.CallAsk) { a.Say = "" }, engine.ErrInvalid, "no text"},
			"nothing to say":   {func(a *engine.CallAsk) { a.Say = " \u202e!\n" }, engine.ErrInvalid, "nothing that a voice can say"},
			"too long":         {func(a *engine.CallAsk) { a.Say = strings.Repeat("x", 301) }, engine.ErrInvalid, "301 characters"},
			"a bad key":        {func(a *engine.CallAsk) { a.Key = "a:b" }, engine.ErrInvalid, "idempotency key"},
			"a long key":       {func(a *engine.CallAsk) { a.Key = strings.Repeat("k", 65) }, engine.ErrInvalid, "1 to 64"},
		} {
			bad := good
			c.change(&bad)
			for _, dry := range []bool{true, false} {
				_, err := r.pager.Place(t.Context(), bad, operator, dry)
				if _, ok := errors.AsType[*engine.Problem](err); !ok || !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.says) || bad.To != "" && strings.Contains(err.Error(), bad.To) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		long := good
		long.Say = strings.Repeat("é", 300)
		r.asks(long)
	})
	for name, off := range map[string]*pager.CallOptions{"nothing": nil, "alerts only": {Account: pager.NewSecret(account), Token: pager.NewSecret(canary), From: from, To: []string{first}}} {
		p, err := pager.New(pager.Options{Targets: pager.Targets{Call: off}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Place(t.Context(), engine.CallAsk{To: friend, Say: "Hello."}, operator, true); !errors.Is(err, engine.ErrRefused) || !strings.Contains(fmt.Sprint(err), "switched off: name the numbers") {
			t.Errorf("%s is configured: %v", name, err)
		}
	}
}

// Where only users' own calls are configured, an alert calls nobody.
func TestOwnCallsAloneCallNobodyAboutAlerts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		june()
		r := ownRig(t, nil, 0)
		r.opt.Call.To = nil
		r.start()
		r.alerts(fires(time.Now()))
		if _, err := r.pager.Try(t.Context(), "", operator, false); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a test: %v", err)
		}
		settled()
		if n := len(r.voice.Calls()); n != 0 {
			t.Errorf("%d calls about an alert", n)
		}
		r.asks(engine.CallAsk{To: friend, Say: "Hello."})
		settled()
		if n := len(r.voice.Calls()); n != 1 {
			t.Errorf("%d calls of a user's own", n)
		}
	})
}

// Who is configured is shown where users' own calls are alone, and beside others; a test
// still has nobody to tell.
func TestOwnCallsAreShownWithWhoIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		june()
		r := ownRig(t, nil, 0)
		called := r.opt.Call.To
		r.opt.Call.To = nil
		r.start()
		const own = "calls of your own may go to …0143, …0144: `farsight call`"
		alone, err := r.pager.Try(t.Context(), "", operator, true)
		if err != nil || alone.Matched != 0 || len(alone.Sample) != 2 || !strings.HasPrefix(alone.Sample[0], "nobody is told of alerts") || alone.Sample[1] != own || !strings.Contains(alone.Text, "nobody is configured to be told") {
			t.Errorf("alone: %+v, %v", alone, err)
		}
		if _, err := r.pager.Try(t.Context(), pager.TryCall, operator, true); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("by a name: %v", err)
		}
		o := r.opt.Call
		o.To = called
		p, err := pager.New(pager.Options{Targets: pager.Targets{Call: o}})
		if err != nil {
			t.Fatal(err)
		}
		both, err := p.Try(t.Context(), "", operator, true)
		if err != nil || both.Matched != 1 || len(both.Sample) != 2 || both.Sample[1] != own || strings.Contains(both.Text, "your own") {
			t.Errorf("beside others: %+v, %v", both, err)
		}
	})
}
