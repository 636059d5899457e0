package pager_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestW11b_ACancelledCallKeepsHowItEnded: the provider's answer to the hang-up says it, also where the call
// had ended since the last look, or somebody hears the rest.
func TestW11b_ACancelledCallKeepsHowItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		after  time.Duration
		want   engine.Class
	}{
		"it rings":   {"completed", 6 * time.Second, "canceled"},
		"it is told": {"completed", 9 * time.Second, "canceled.in-progress"},
		"it was":     {"completed", 15 * time.Second, "completed"},
		"busy":       {"busy", 9 * time.Second, "busy"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				june()
				r := ownRig(t, map[string][]string{friend: {c.script}}, 0)
				r.opt.Call.Poll = 20 * time.Second
				r.start()
				id := r.asks(engine.CallAsk{To: friend, Say: "One."}).Job
				time.Sleep(c.after)
				if _, err := r.backend.Act(t.Context(), engine.Command{Op: engine.OpCancel, Job: id, By: operator}); err != nil {
					t.Fatal(err)
				}
				settled()
				if d := r.byID(id); d.Job.State != engine.Cancelled || d.Attempts[0].Class != c.want {
					t.Errorf("%s, %q, want %q", d.Job.State, d.Attempts[0].Class, c.want)
				}
			})
		})
	}
}

// TestW11c_TheTextHasALanguage: the one that was asked for; alerts are told in English. It is part of what an
// idempotency key stands for.
func TestW11c_TheTextHasALanguage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		june()
		r := ownRig(t, nil, 0)
		r.start()
		german := engine.CallAsk{To: friend, Say: "Fertig.", Language: "de-DE", Key: "k"}
		r.asks(german)
		r.alerts(fires(time.Now()))
		settled()
		for _, c := range r.voice.Calls() {
			want := map[string]string{friend: `<Say language="de-DE">Fertig.`, first: `<Say language="en-US">Farsight alert`}[c.To]
			if !strings.Contains(c.Text, want) {
				t.Errorf("%s", c.Text)
			}
		}
		if n := len(r.voice.Calls()); n != 2 {
			t.Errorf("%d calls", n)
		}
		for language, code := range map[string]error{"": engine.ErrConflict, `x"><Dial>`: engine.ErrInvalid} {
			german.Language = language
			if _, err := r.pager.Place(t.Context(), german, operator, false); !errors.Is(err, code) {
				t.Errorf("%q: %v", language, err)
			}
		}
	})
}

// TestW11d_AMailbox: it has told nobody where the provider is to tell it from a person, else it has.
func TestW11d_AMailbox(t *testing.T) {
	t.Parallel()
	for _, detects := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			june()
			r := newRig(t, t.TempDir(), map[string][]string{first: {"mailbox", "completed"}}, first)
			r.opt.Call.MachineDetection = detects
			r.start()
			a := fires(time.Now())
			r.alerts(a)
			time.Sleep(time.Hour)
			d := r.page(a, "")
			want, calls := engine.Class("completed"), 1
			if detects {
				want, calls = "no-answer.mailbox", 2
			}
			if d.Job.State != engine.Completed || d.Attempts[0].Class != want || len(r.voice.Calls()) != calls {
				t.Errorf("detects %t: %s, %+v, %d calls", detects, d.Job.State, d.Attempts, len(r.voice.Calls()))
			}
		})
	}
}
