package pager_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
)

const (
	hookURL = "https://hooks.example/farsight"
	hookKey = "a-secret-of-this-hook"
	chatURL = "https://chat.example/api/webhooks/1/token-4711"
	dutyURL = "https://duty.example/v2/enqueue"
	dutyKey = "routing-key-0815"
)

// inbox is a receiver that answers as told, then with 204.
type inbox struct {
	mu      sync.Mutex
	answers []int
	posts   []post
}

type post struct {
	url    string
	header http.Header
	body   []byte
	at     time.Time
}

func (b *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	b.posts = append(b.posts, post{r.URL.String(), r.Header, body, time.Now()})
	if len(b.answers) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Retry-After", "40")
	w.Header().Set("Location", "https://elsewhere.example/")
	w.WriteHeader(b.answers[0])
	_, _ = io.WriteString(w, "no to "+dutyKey+" and "+chatURL)
	b.answers = b.answers[1:]
}

func (b *inbox) to(url string) (out []post) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.posts {
		if p.url == url {
			out = append(out, p)
		}
	}
	return out
}

func channels() []pager.Channel {
	return []pager.Channel{
		{Name: "webhook", Form: pager.FormSigned, URL: pager.NewSecret(hookURL), Secret: pager.NewSecret(hookKey)},
		{Name: "discord", Form: pager.FormDiscord, URL: pager.NewSecret(chatURL)},
		{Name: "pagerduty", Form: pager.FormPagerDuty, URL: pager.NewSecret(dutyURL), Secret: pager.NewSecret(dutyKey)},
	}
}

// A receiver checks the signature by the headers and the raw body, and knows an
// event again by its id.
func TestWebhookSignature(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		in := &inbox{answers: []int{500}}
		r := newRig(t, dir, nil)
		r.opt.Channels = channels()[:1]
		r.wire.h = in
		r.start()
		r.alerts(fires(time.Now()))
		time.Sleep(time.Minute)
		got := in.to(hookURL)
		if len(got) != 2 {
			t.Fatalf("%d posts, want a failed one and a second", len(got))
		}
		for _, p := range got {
			h := p.header
			if err := pager.Verify(hookKey, h.Get(pager.HeaderTimestamp), h.Get(pager.HeaderSignature), p.body, p.at); err != nil {
				t.Error(err)
			}
			id := h.Get(pager.HeaderStandardID)
			if sig := pager.SignStandard(hookKey, id, p.at, p.body); h.Get(pager.HeaderStandardSignature) != sig || h.Get(pager.HeaderStandardTimestamp) != h.Get(pager.HeaderTimestamp) ||
				id == "" || strings.Contains(id, ".") || id != got[0].header.Get(pager.HeaderStandardID) {
				t.Errorf("not in the form of Standard Webhooks: %v, want %s", h, sig)
			}
			if h.Get(pager.HeaderEvent) != "alert.fired" || h.Get(pager.HeaderDelivery) != got[0].header.Get(pager.HeaderDelivery) {
				t.Errorf("headers %v", h)
			}
		}
		p := got[1]
		stamp, sig := p.header.Get(pager.HeaderTimestamp), p.header.Get(pager.HeaderSignature)
		for name, err := range map[string]error{
			"another key":   pager.Verify("another", stamp, sig, p.body, p.at),
			"another body":  pager.Verify(hookKey, stamp, sig, append(slices.Clone(p.body), ' '), p.at),
			"another time":  pager.Verify(hookKey, "1780000000", sig, p.body, time.Unix(1780000000, 0)),
			"long ago":      pager.Verify(hookKey, stamp, sig, p.body, p.at.Add(time.Hour)),
			"no time":       pager.Verify(hookKey, "now", sig, p.body, p.at),
			"other version": pager.Verify(hookKey, stamp, "v2"+sig[2:], p.body, p.at),
		} {
			if err == nil {
				t.Errorf("%s was taken", name)
			}
		}
		var body struct {
			ID, Type, Instance string
			Alert              struct{ ID, Value, Limit string }
		}
		if err := json.Unmarshal(p.body, &body); err != nil || body.Type != "alert.fired" || body.ID != p.header.Get(pager.HeaderDelivery) || body.Alert.Value != "7" || body.Alert.Limit != "> 2" || body.Instance != "test" {
			t.Errorf("%s: %v", p.body, err)
		}
	})
}

// What speaks for an alert is told as it is when it is told, and no job keeps it: it may name somebody.
func TestW9e_NoticesTellTheEvidence(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		in := &inbox{}
		r := newRig(t, dir, nil)
		r.opt.Channels = channels()
		r.wire.h = in
		r.start()
		a := fires(time.Now())
		a.Evidence = []engine.Evidence{{At: time.Now(), Kind: "account", ID: "01A", Text: "Some Body#EUW"}}
		r.alerts(a)
		time.Sleep(time.Minute)
		for _, to := range []string{hookURL, chatURL, dutyURL} {
			if got := in.to(to); len(got) != 1 || !strings.Contains(string(got[0].body), ": Some Body#EUW") {
				t.Errorf("%s got %d posts, without the evidence: %+v", to, len(got), got)
			}
		}
		page, err := r.store.JobLog(t.Context(), engine.JobLogQuery{Page: engine.Page{Limit: 10}})
		if err != nil || len(page.Jobs) != 3 {
			t.Fatalf("%d jobs: %v", len(page.Jobs), err)
		}
		for _, j := range page.Jobs {
			d, err := r.store.Detail(t.Context(), engine.JobQuery{ID: j.Job})
			if err != nil || strings.Contains(string(d.Job.Args), "Some Body") {
				t.Errorf("a job keeps %s: %v", d.Job.Args, err)
			}
		}
	})
}

// The signature is what the libraries of Standard Webhooks expect: their own example.
func TestWebhookSignature_IsTheStandardOne(t *testing.T) {
	const id, body, want = "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	at := time.Unix(1614265330, 0)
	if got := pager.SignStandard("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id, at, []byte(body)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if pager.SignStandard("whsec_no base64", id, at, []byte(body)) == want || pager.SignStandard("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id, at, []byte(body)) == want {
		t.Error("another key signs the same")
	}
}

// One firing at each channel: fired, acknowledged, resolved, in that order, and
// nothing twice.
func TestChannelsTellEachTurnOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		in := &inbox{}
		r := newRig(t, dir, nil)
		r.opt.Channels = channels()
		r.wire.h = in
		r.start()
		a := fires(time.Now())
		a.About = "@everyone *503* <@1>"
		turns := []engine.AlertRow{a, a, a, a}
		turns[1].State, turns[1].By, turns[1].Since = engine.AlertAcknowledged, engine.Actor{User: "ana"}, a.Since.Add(time.Minute)
		turns[2] = turns[1]
		turns[3].State, turns[3].Since = engine.AlertOK, a.Since.Add(3*time.Minute)
		for _, row := range turns {
			r.alerts(row)
			time.Sleep(time.Minute)
			r.alerts(row)
		}
		r.down()
		r.start()
		r.alerts(turns[3])
		time.Sleep(time.Minute)
		var events []string
		for _, p := range in.to(hookURL) {
			events = append(events, p.header.Get(pager.HeaderEvent))
		}
		if want := []string{"alert.fired", "alert.acknowledged", "alert.resolved"}; !slices.Equal(events, want) {
			t.Errorf("told %v", events)
		}
		pagerDutyTurns(t, in.to(dutyURL))
		chat := in.to(chatURL)
		if len(chat) != 3 || !strings.Contains(string(chat[0].body), `"allowed_mentions":{"parse":[]}`) || !strings.Contains(string(chat[0].body), `\\*503\\*`) {
			t.Errorf("chat got %d, the first %s", len(chat), chat[0].body)
		}
	})
}

func pagerDutyTurns(t *testing.T, posts []post) {
	t.Helper()
	type event struct {
		Action string `json:"event_action"`
		Dedup  string `json:"dedup_key"`
		Key    string `json:"routing_key"`
	}
	var got []event
	for _, p := range posts {
		var e event
		if err := json.Unmarshal(p.body, &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if len(got) != 3 || got[0].Action != "trigger" || got[1].Action != "acknowledge" || got[2].Action != "resolve" {
		t.Fatalf("got %+v", got)
	}
	for _, e := range got {
		if e.Dedup == "" || e.Dedup != got[0].Dedup || e.Key != dutyKey {
			t.Errorf("got %+v", e)
		}
	}
}

// What an answer means: refusals end it, trouble is retried by the table, a 429 is
// not charged, a redirect is not followed.
func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		answers  []int
		state    engine.State
		attempts int
		holds    int
	}{
		{[]int{500, 503, 408}, engine.Completed, 4, 0},
		{[]int{500, 500, 500, 500, 500, 500}, engine.Discarded, 5, 0},
		{[]int{429, 429}, engine.Completed, 1, 2},
		{[]int{404}, engine.Discarded, 1, 0},
		{[]int{302}, engine.Discarded, 1, 0},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.answers), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				june()
				in := &inbox{answers: c.answers}
				r := newRig(t, dir, nil)
				r.opt.Channels = channels()[:1]
				r.wire.h = in
				r.start()
				a := fires(time.Now())
				r.alerts(a)
				time.Sleep(10 * time.Minute)
				d := r.notice("webhook", "fired", a)
				r.sound(d)
				if d.Job.State != c.state || len(d.Attempts) != c.attempts || len(d.Holds) != c.holds {
					t.Errorf("%s, %d attempts, %d holds: %s", d.Job.State, len(d.Attempts), len(d.Holds), d.Job.LastError)
				}
				for _, p := range in.posts {
					if p.url != hookURL {
						t.Errorf("something was sent to %s", p.url)
					}
				}
			})
		})
	}
}

func noticeKey(channel, turn string, a engine.AlertRow) string {
	kind := pager.KindWebhook
	if channel == "command" {
		kind = pager.KindCommand
	}
	return fmt.Sprintf("%s:%s:alert.%s:%s:%s", kind, channel, turn, a.ID, a.Since.UTC().Format("20060102T150405.000Z"))
}

func (r *rig) notice(channel, turn string, a engine.AlertRow) engine.JobDetail {
	r.t.Helper()
	key := noticeKey(channel, turn, a)
	d, err := r.store.Detail(r.t.Context(), engine.JobQuery{Key: key})
	if err != nil {
		r.t.Fatalf("job %s: %v", key, err)
	}
	return d
}

// A body without end is not read to its end.
func TestAnswersAreBounded(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil)
		r.opt.Channels = channels()[:1]
		r.wire.h = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) })
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(10 * time.Minute)
		if d := r.notice("webhook", "fired", a); d.Job.State != engine.Discarded || !strings.Contains(d.Job.LastError, "larger than") {
			t.Errorf("%s: %s", d.Job.State, d.Job.LastError)
		}
	})
}

// What was told late does not open again what is over.
func TestALateNoticeOfAnAlertThatIsOverIsNotSent(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		in := &inbox{answers: []int{500}}
		r := newRig(t, dir, nil)
		r.opt.Channels = channels()[2:]
		r.wire.h = in
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(time.Second)
		b := a
		b.State = engine.AlertOK
		r.alerts(b)
		time.Sleep(time.Minute)
		if d := r.notice("pagerduty", "fired", a); d.Job.State != engine.Cancelled {
			t.Errorf("the trigger is %s", d.Job.State)
		}
		posts := in.to(dutyURL)
		if !strings.Contains(string(posts[len(posts)-1].body), `"resolve"`) {
			t.Errorf("the last word was %s", posts[len(posts)-1].body)
		}
	})
}

// The secrets are in no file, no log, no note and no error, though every answer
// echoes them.
func TestP40_PagerSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secrets := []string{canary, hookKey, "token-4711", dutyKey}
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil, first)
		r.opt.Channels = channels()
		echo := fmt.Sprintf(`{"code":1,"message":"%s %s"}`, strings.Join(secrets[:2], " "), dutyKey+" "+chatURL)
		r.wire.h = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, echo+q.Header.Get("Authorization"))
		})
		r.start()
		r.alerts(fires(time.Now()))
		time.Sleep(time.Hour)
		r.down()
		for _, s := range secrets {
			if strings.Contains(r.diary.String(), s) || r.noted(s) {
				t.Errorf("a log or a note holds %q", s)
			}
		}
		if shown := fmt.Sprintf("%v %+v %#v %x %q", r.opt, r.opt, r.opt.Call, r.opt.Channels, r.opt.Call.Token); strings.Contains(shown, canary) || strings.Contains(shown, "token-4711") {
			t.Errorf("the options show a secret: %s", shown)
		}
		if b, err := json.Marshal(r.opt.Call); err != nil || strings.Contains(string(b), canary) {
			t.Errorf("%s, %v", b, err)
		}
	})
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		if d.IsDir() {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		for _, s := range append(secrets, first[1:]) {
			if strings.Contains(string(b), s) {
				t.Errorf("%s holds %q", path, s)
			}
		}
		return nil
	})
}

func TestAddresses(t *testing.T) {
	for address, good := range map[string]bool{
		"https://example.org/hook": true, "http://127.0.0.1:9/x": true, "http://localhost/": true, "http://[::1]:9/": true,
		"http://example.org/": false, "ftp://example.org": false, "https://": false, "https://user:pw@example.org/": false, "example.org": false, "": false, "https://\x00": false,
	} {
		if _, err := pager.ParseURL(address); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestRetryAfter: whatever a receiver asks for, the next try is neither at once nor so late that
// nobody needs it.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 30 * time.Second, "soon": 30 * time.Second, "-1": 30 * time.Second, "40": 40 * time.Second,
		"9300000000": 5 * time.Minute, "999999999999999999999": 30 * time.Second,
		"Tue, 24 Nov 2026 12:01:00 GMT": time.Minute, "Tue, 24 Nov 2099 12:01:00 GMT": 5 * time.Minute,
	} {
		if got := pager.RetryAfter(header, now).Sub(now); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

func TestB17w_AWebhookCannotPutAnAlertOff(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		in := &inbox{}
		r := newRig(t, dir, nil)
		r.opt.Channels = channels()[:2]
		r.wire.h = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.String() == hookURL && len(in.to(hookURL)) == 0 {
				in.answers = []int{http.StatusTooManyRequests}
				w = dayLater{w}
			}
			in.ServeHTTP(w, req)
		})
		r.start()
		began := time.Now()
		r.alerts(fires(began))
		time.Sleep(6 * time.Minute)
		if got := in.to(hookURL); len(got) != 2 || got[1].at.Sub(began) < 5*time.Minute {
			t.Errorf("%d posts in six minutes, want one that is refused and one after five minutes", len(got))
		}
		if got := in.to(chatURL); len(got) != 1 || got[0].at.Sub(began) > time.Minute {
			t.Errorf("the other channel got %d posts: %v", len(got), got)
		}
	})
}

// dayLater asks for a day of silence, whatever is to be written.
type dayLater struct{ http.ResponseWriter }

func (w dayLater) WriteHeader(status int) {
	w.Header().Set("Retry-After", "86400")
	w.ResponseWriter.WriteHeader(status)
}
