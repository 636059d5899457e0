package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// A call of a user's own takes an operator: a viewer calls nobody, not by its route and
// not as a command, and the audit has no whole number.
func TestAViewerCallsNobody(t *testing.T) {
	o := quiet()
	o.does = func(c engine.Command) (engine.Receipt, error) {
		t.Errorf("%+v was done", c)
		return engine.Receipt{}, nil
	}
	w := listen(t, o, func(_ *ProgramsOptions, opt *Options) {
		opt.Who = func(*http.Request) (Caller, error) { return Caller{Role: Viewer, Where: "uid 7"}, nil }
	})
	w.ask(t, "POST", "/v1/calls", `{"to":"+12025550143","say":"Hello."}`, 403)
	w.ask(t, "POST", "/v1/calls", `{"to":"+12025550143","say":"Hello.","dry_run":true}`, 403)
	w.ask(t, "POST", "/v1/do", `{"op":"call","call":{"to":"+12025550143","say":"Hello."}}`, 403)
	w.mu.Lock()
	defer w.mu.Unlock()
	var ops []engine.Op
	for _, c := range w.refused {
		ops = append(ops, c.Op)
	}
	// The same is noted once a second, and between two requests a second may pass.
	if ops = slices.Compact(ops); !slices.Equal(ops, []engine.Op{"POST /v1/calls", engine.OpCall}) {
		t.Errorf("the audit has %+v", w.refused)
	}
}

// The idempotency key stands in the body or in the header that is usual for it; a day
// that is used up says when the next begins.
func TestOwnCallsOfPrograms(t *testing.T) {
	o := quiet()
	var did []engine.Command
	fails := error(nil)
	o.does = func(c engine.Command) (engine.Receipt, error) {
		did = append(did, c)
		return engine.Receipt{Job: "c7", Due: time.Now().Add(90 * time.Second), Text: "called"}, fails
	}
	w := listen(t, o, nil)
	const call = `{"to":"+12025550143","say":"Hello.","reason":"a test"}`
	keyed := strings.Replace(call, "{", `{"idempotency_key":"k1",`, 1)
	w.ask(t, "POST", "/v1/calls", call, http.StatusAccepted)
	w.ask(t, "POST", "/v1/calls", keyed, http.StatusAccepted)
	w.ask(t, "POST", "/v1/calls", call, http.StatusAccepted, "Idempotency-Key", "k1")
	w.ask(t, "POST", "/v1/calls", keyed, http.StatusAccepted, "Idempotency-Key", "k1")
	w.ask(t, "POST", "/v1/calls", keyed, http.StatusBadRequest, "Idempotency-Key", "k2")
	if len(did) != 4 {
		t.Fatalf("%+v", did)
	}
	for i, key := range []string{"", "k1", "k1", "k1"} {
		c := did[i]
		if c.Op != engine.OpCall || c.Call == nil || *c.Call != (engine.CallAsk{To: "+12025550143", Say: "Hello.", Key: key}) || c.Reason != "a test" {
			t.Errorf("request %d: %+v of %+v", i, c.Call, c)
		}
	}
	fails = engine.Problemf(engine.ErrUsedUp, "wait", "all calls of today have been asked for")
	if body, head := w.ask(t, "POST", "/v1/calls", call, http.StatusTooManyRequests); !strings.Contains(body, "urn:farsight:used-up") || head.Get("Retry-After") == "" {
		t.Errorf("%s %v", body, head)
	}
	busy := engine.Problemf(engine.ErrConflict, "use another key", "the key was used")
	busy.Job = "c7"
	fails = busy
	if _, head := w.ask(t, "POST", "/v1/calls", call, http.StatusConflict); head.Get("Location") != "/v1/jobs/c7" {
		t.Errorf("%v", head)
	}
}

// TestW10a_ADocumentCountsAttempts: of a job that has waited for its children, too, attempt_count is how
// many attempts the document has.
func TestW10a_ADocumentCountsAttempts(t *testing.T) {
	d := engine.JobDetail{Job: engine.JobRow{Job: engine.Job{Attempts: 3, Tries: 1, Phase: 2}}, Attempts: []engine.Attempt{
		{Number: 1, Verb: engine.VerbWait}, {Number: 2, Verb: engine.VerbWait}, {Number: 3, Verb: engine.VerbDone}}}
	got := debugOf("x", d)
	if got.Count != 1 || len(got.Attempts) != 1 || got.Attempts[0].Number != 1 || d.Job.Tried() != 1 {
		t.Errorf("%+v", got)
	}
}
