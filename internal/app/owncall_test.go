package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/pager"
)

// TestW11e_TheListOfCalls: alerts' and users' calls are listed, the newest first, page by page and by their
// status, which of an ended one is final; a status that there is none of is refused.
func TestW11e_TheListOfCalls(t *testing.T) {
	numbers := map[string][]string{firstNumber: {"completed"}, friendNumber: {"busy"}}
	withTelephone(t, numbers, func(t *testing.T, p *telephone) {
		p.dial(t)
		p.hangsUp()
		p.ask(t, "POST", "/v1/calls", fmt.Sprintf(`{"to":%q,"say":"One."}`, friendNumber), 202, nil)
		p.settle()
		p.hangsUp()
		p.ask(t, "POST", "/v1/do", `{"op":"pause","queue":"calls"}`, 200, nil)
		p.ask(t, "POST", "/v1/calls", fmt.Sprintf(`{"to":%q,"say":"Two."}`, friendNumber), 202, nil)
		list := func(query string) (out api.CallDebugs) {
			p.ask(t, "GET", "/v1/calls"+query, "", 200, &out)
			return out
		}
		all := list("").Calls
		if len(all) != 3 {
			t.Fatalf("%+v", all)
		}
		for i, want := range []struct {
			status, sid string
			final       bool
			attempts    int
		}{{"queued", "", false, 0}, {"busy", p.sid(t, 2), false, 1}, {"completed", p.sid(t, 1), true, 1}} {
			c := all[i]
			if c.Status != want.status || c.SID != want.sid || c.Final != want.final || c.Count != want.attempts || c.Job == "" {
				t.Errorf("%d: %+v, want %+v", i, c, want)
			}
			if some := list("?status=" + want.status).Calls; len(some) != 1 || some[0].Job != c.Job {
				t.Errorf("%s: %+v", want.status, some)
			}
		}
		if one := list("?limit=1"); len(one.Calls) != 1 || list("?limit=1&after=" + one.Next).Calls[0].Job != all[1].Job {
			t.Errorf("%+v", one)
		}
		p.ask(t, "POST", "/v1/do", fmt.Sprintf(`{"op":"cancel","job":%q}`, all[0].Job), 200, nil)
		if c := list("?status=canceled").Calls; len(c) != 1 || !c[0].Final {
			t.Errorf("%+v", c)
		}
		p.ask(t, "GET", "/v1/calls?status=cancelled", "", 400, nil)
	})
}

// A call of a user's own over HTTP: it is placed once for a key, followed and acted on
// by its sid like any other, counted, and bounded.
func TestS2_8_OwnCallsOverHTTP(t *testing.T) {
	withTelephone(t, map[string][]string{friendNumber: {"busy", "busy", "completed"}}, func(t *testing.T, p *telephone) {
		body := fmt.Sprintf(`{"to":%q,"say":"The import is done.","idempotency_key":"import-1","reason":"asked by a test"}`, friendNumber)
		var tried, placed, again api.CallPlaced
		p.ask(t, "POST", "/v1/calls", strings.Replace(body, `"reason"`, `"dry_run":true,"reason"`, 1), 200, &tried)
		if tried.Job != "" || !strings.Contains(tried.Text, "would call …0143") || len(p.voice.Calls()) > 0 {
			t.Errorf("a dry run: %+v", tried)
		}
		head := p.ask(t, "POST", "/v1/calls", body, 202, &placed)
		if placed.Job == "" || placed.Audit == 0 || placed.Joined || head.Get("Location") != "/v1/jobs/"+string(placed.Job) {
			t.Errorf("%+v %v", placed, head)
		}
		p.settle()
		p.follow(t, 0, []string{"busy", "busy", "completed"}, []time.Duration{5 * time.Minute, 15 * time.Minute, 0})
		p.ask(t, "POST", "/v1/calls", body, 200, &again)
		if again.Job != placed.Job || !again.Joined || len(p.voice.Calls()) != 3 {
			t.Errorf("asked again: %+v, %d calls", again, len(p.voice.Calls()))
		}
		p.ask(t, "POST", "/v1/calls", strings.Replace(body, "done", "late", 1), 409, nil)

		// The next try is cancelled and made at once, by the sid.
		p.ask(t, "POST", "/v1/calls", fmt.Sprintf(`{"to":%q,"say":"Another."}`, friendNumber), 202, &placed)
		p.settle()
		p.hangsUp()
		sid := p.sid(t, 4)
		var d api.CallDebug
		p.ask(t, "GET", "/calls/"+sid+"/debug", "", 200, &d)
		if d.Status != "busy" || !d.ShouldRetry {
			t.Errorf("%+v", d)
		}
		p.ask(t, "DELETE", "/calls/"+sid+"/retry", "", 200, nil)
		time.Sleep(time.Hour)
		if n := len(p.voice.Calls()); n != 4 {
			t.Errorf("after the cancel there are %d calls", n)
		}
		p.ask(t, "POST", "/calls/"+sid+"/retry", "{}", 200, nil) // a try of the second
		p.settle()
		if n := len(p.voice.Calls()); n != 5 || p.voice.Calls()[4].To != friendNumber {
			t.Errorf("after the retry there are %d calls", n)
		}
		p.ask(t, "POST", "/v1/calls", fmt.Sprintf(`{"to":%q,"say":"A third."}`, friendNumber), 202, nil)
		head = p.ask(t, "POST", "/v1/calls", fmt.Sprintf(`{"to":%q,"say":"One too many."}`, friendNumber), 429, nil)
		if wait, err := strconv.Atoi(head.Get("Retry-After")); err != nil || wait < 9*3600 || wait > 11*3600 { // it is past one o'clock
			t.Errorf("%v", head)
		}

		var audit engine.AuditPage
		p.ask(t, "POST", "/v1/find", `{"type":"audit","query":{"limit":50}}`, 200, &struct {
			Answer *engine.AuditPage `json:"answer"`
		}{&audit})
		calls := slices.DeleteFunc(audit.Entries, func(e engine.AuditEntry) bool { return e.Op != engine.OpCall })
		if len(calls) != 6 || calls[len(calls)-1].Target != "number …0143" || calls[len(calls)-1].Reason != "asked by a test" {
			t.Errorf("the audit has %+v", calls)
		}
		var status engine.StatusAnswer
		p.ask(t, "GET", "/v1/summary", "", 200, &struct{ *engine.StatusAnswer }{&status})
		if !slices.ContainsFunc(status.Queues, func(q engine.QueueRow) bool { return q.Name == pager.QueueCalls }) {
			t.Errorf("queues: %+v", status.Queues)
		}
	})
}

// Each bad request has its status and one sentence.
func TestBadInput_OwnCallsOverHTTP(t *testing.T) {
	withTelephone(t, nil, func(t *testing.T, p *telephone) {
		for body, want := range map[string]struct {
			status int
			says   string
		}{
			``:                                {400, "cannot be read"},
			`{}`:                              {400, "telephone number"},
			`{"to":"030 123","say":"x"}`:      {400, "with its country"},
			`{"to":"+4930999999","say":"x"}`:  {403, "call_numbers"},
			`{"to":"+12025550143"}`:           {400, "no text"},
			`{"to":"+12025550143","say":"?"}`: {400, "nothing that a voice can say"},
			`{"to":"+12025550143","say":"x","say":1}`:                        {400, "twice"},
			`{"to":"+12025550143","text":"x"}`:                               {400, `no field \"text\"`},
			`{"to":"+12025550143","say":"` + strings.Repeat("x", 301) + `"}`: {400, "301 characters"},
			`{"to":"+12025550143","say":"x","idempotency_key":"a b"}`:        {400, "idempotency key"},
		} {
			var problem api.Problem
			p.ask(t, "POST", "/v1/calls", body, want.status, &problem)
			text := strings.ReplaceAll(problem.Detail+": "+problem.Do, `"`, `\"`)
			if !strings.Contains(text, want.says) || problem.Do == "" {
				t.Errorf("%s: %q", body, text)
			}
		}
		if n := len(p.voice.Calls()); n > 0 {
			t.Errorf("%d calls were placed", n)
		}
	})
}

// `farsight call` beside an engine: a dry run, a call that is heard, the same request
// again, one that nobody hears, and what is refused, each with its exit code; without
// an engine it says so. The audit and the log hold no whole number.
func TestOwnCall_Command(t *testing.T) {
	t.Parallel()
	v, env := switchboard(t, 0, map[string][]string{friendNumber: {"completed"}, secondNumber: {"busy"}}, firstNumber)
	env["FARSIGHT_CALL_NUMBERS"], env["FARSIGHT_CALLS_PER_DAY"] = friendNumber+","+secondNumber, "2"
	s, dir := startSim(t, quick()), freshDir(t)
	run := func(args ...string) result {
		return command{args: append([]string{"call", "--data-dir", dir}, args...), env: s.env()}.asked(t)
	}
	oneSentence(t, run(friendNumber, "--say", "Hello.").wants(t, exitFailed).stderr, "no engine runs", "farsight serve")
	s.serving(t, dir, env)
	if out := run(friendNumber, "--say", "Hello.", "--dry-run").wants(t, exitDone).stdout; !strings.Contains(out, `would call …0143 and say "Hello.": call 1 of 2 today`) {
		t.Errorf("a dry run says %q", out)
	}
	if out := run(friendNumber, "--say", "Hello.", "--key", "k1").wants(t, exitDone).stdout; !strings.Contains(out, "call 1 of 2 today") || !strings.HasSuffix(out, "heard\n") {
		t.Errorf("a call says %q", out)
	}
	if out := run(friendNumber, "--say", "Hello.", "--key", "k1", "--json").wants(t, exitDone).stdout; !strings.Contains(out, `"joined":true`) {
		t.Errorf("the same again says %q", out)
	}
	oneSentence(t, run(friendNumber, "--say", "Other.", "--key", "k1").wants(t, exitFailed).stderr, "k1 was used for another")
	busy := run(secondNumber, "--say", "Hello.").wants(t, exitFailed)
	if !strings.Contains(busy.stdout, "busy; try 2 of 3 at") {
		t.Errorf("a busy line says %q", busy.stdout)
	}
	oneSentence(t, busy.stderr, "nobody has heard it")
	oneSentence(t, run(friendNumber, "--say", "Hello.").wants(t, exitFailed).stderr, "all 2 calls of today", "00:00 UTC")
	oneSentence(t, run(firstNumber, "--say", "Hello.").wants(t, exitFailed).stderr, "not among the numbers")
	oneSentence(t, run(friendNumber).wants(t, exitUsage).stderr, "no text")
	oneSentence(t, run("12", "--say", "Hello.").wants(t, exitUsage).stderr, "no telephone number")
	oneSentence(t, run("--say", "Hello.").wants(t, exitUsage).stderr, "name one number")
	oneSentence(t, run(friendNumber, "--say", "Hello.", "--wait", "-1s").wants(t, exitUsage).stderr, "--wait")
	if n := len(v.Calls()); n != 2 {
		t.Errorf("%d calls were placed", n)
	}
	log, err := os.ReadFile(filepath.Join(dir, "farsight.log"))
	if err != nil || !strings.Contains(string(log), "…0143") {
		t.Errorf("the log does not tell of the call: %v", err)
	}
	for _, n := range []string{friendNumber, secondNumber} {
		noTextIn(t, dir, n[1:])
	}
}
