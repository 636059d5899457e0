package riot

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// puuid is one of Riot's length.
var puuid = strings.Repeat("pUu-_1", 13)

// wantError checks that err is an *Error of a reason and class, fit to be shown.
func wantError(t *testing.T, err error, reason Reason, class string) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("%v is no *Error", err)
	}
	if e.Reason != reason || e.Class != class {
		t.Errorf("%v: reason %v, class %q; want %v, %q", err, e.Reason, e.Class, reason, class)
	}
	if e.Message == "" || len([]rune(e.Message)) > maxText || len([]rune(e.Excerpt)) > maxText || strings.ContainsAny(e.Message+e.Excerpt, "\n\x1b") {
		t.Errorf("message %q, excerpt %q", e.Message, e.Excerpt)
	}
	return e
}

// TestEveryStatus holds what each status of Riot's means. The body decides nothing but two 400s.
func TestEveryStatus(t *testing.T) {
	html := "<html>\n<body>\x1b[31mBad Gateway</body></html>"
	for _, c := range []struct {
		status int
		body   string
		reason Reason
		class  string
	}{
		{204, "", Malformed, ClassPayload},
		{206, `{"puuid":"x"}`, Malformed, ClassPayload},
		{301, "", Transient, classRedirect},
		{302, "", Transient, classRedirect},
		{304, "", Transient, classRedirect},
		{400, `{"status":{"message":"Bad request - count","status_code":400}}`, BadRequest, ClassBadRequest},
		{400, `{"status":{"message":"Bad Request - Exception decrypting X","status_code":400}}`, WrongProject, ClassWrongProject},
		{400, `{"status":{"message":"Unknown apikey","status_code":400}}`, Denied401, ClassUnauthorized},
		{400, html, BadRequest, ClassBadRequest},
		{401, `{"status":{"message":"Forbidden","status_code":401}}`, Denied401, ClassUnauthorized},
		{403, `{"status":{"message":"Forbidden","status_code":403}}`, Denied403, ClassForbidden},
		{403, html, Blocked, ClassBlocked}, // Cloudflare, developer-relations#1160
		{404, `{"status":{"status_code":404,"message":"Data not found"}}`, Missing, ClassMissing},
		{404, html, Missing, ClassMissing},
		{405, "", BadRequest, ClassBadRequest},
		{407, "", Local, ClassLocal},
		{408, "", Timeout, ClassTimeout},
		{415, "", BadRequest, ClassBadRequest},
		{418, "", BadRequest, ClassBadRequest},
		{429, `{"status":{"message":"Rate limit exceeded","status_code":429}}`, Throttled, ClassThrottledUnknown},
		{500, `{"status":{"message":"Internal server error","status_code":500}}`, Transient, ClassServer},
		{502, html, Transient, ClassServer},
		{503, "", Transient, ClassServer},
		{504, "", Transient, ClassServer},
		{520, html, Transient, ClassServer},
		{999, html, Transient, ClassServer},
	} {
		cl, b := client(t, say(c.status, c.body, "X-Riot-Edge-Trace-Id", "de9df483"))
		_, err := cl.AccountByPUUID(t.Context(), route.Sea, puuid)
		e := wantError(t, err, c.reason, c.class)
		if e.Status != c.status || e.Host != "asia" || e.Method != route.AccountByPUUID || e.TraceID != "de9df483" {
			t.Errorf("%d: %+v", c.status, e)
		}
		if c.body == html && !strings.Contains(e.Excerpt, "Bad Gateway") {
			t.Errorf("%d: excerpt %q", c.status, e.Excerpt)
		}
		if body := b.calls[0].Body; (body == "") != (c.body == "") || body != cl.clean(c.body) {
			t.Errorf("%d: kept of the answer %q", c.status, body)
		}
		b.wantEnd(t, "done")
		if len(b.calls) != 1 || b.calls[0].Class != c.class {
			t.Errorf("%d: recorded as %+v", c.status, b.calls)
		}
	}
}

// TestThrottled uses the real limiter: its reading of Retry-After is what the job is told.
func TestThrottled(t *testing.T) {
	for _, c := range []struct {
		kind, after, class string
		least, most        time.Duration
	}{
		{"application", "3", ClassThrottledApp, 3 * time.Second, 5 * time.Second},
		{"Method", "0", ClassThrottledMethod, time.Second, 3 * time.Second},
		{"service", "", ClassThrottledService, time.Second / 2, 2 * time.Minute},
		{"", "", ClassThrottledUnknown, time.Second / 2, 2 * time.Minute},
		{"new", "1e18", ClassThrottledUnknown, 24 * time.Hour, 25 * time.Hour},
		{"application", "-5", ClassThrottledApp, time.Second, 3 * time.Second},
	} {
		headers := []string{"X-Rate-Limit-Type", c.kind, "Retry-After", c.after}
		cl := metered(t, say(429, "", headers...))
		sent := time.Now()
		_, err := cl.Status(t.Context(), route.EUW1)
		e := wantError(t, err, Throttled, c.class)
		if wait := e.RetryAt.Sub(sent); wait < c.least || wait > c.most {
			t.Errorf("%s %q: again in %v, want %v to %v", c.kind, c.after, wait, c.least, c.most)
		}
	}
}

// TestRecordedResponses replays every recorded response with its headers.
func TestRecordedResponses(t *testing.T) {
	want := map[string]Reason{"400": WrongProject, "401": Denied401, "404": Missing, "429": Throttled, "204": Malformed}
	for name, raw := range fixtures(t, "http/*.json") {
		var r struct {
			Status  int
			Headers [][2]string
			Body    string
		}
		if json.Unmarshal(raw, &r) != nil || r.Status == 0 {
			continue // the header sequence is the limiter's
		}
		headers := []string{}
		body := r.Body
		for _, h := range r.Headers {
			headers = append(headers, h[0], h[1])
			if strings.EqualFold(h[0], "Content-Encoding") {
				body = packed(t, r.Body)
			}
		}
		reason := want[filepath.Base(name)[:3]]
		c := metered(t, say(r.Status, body, headers...))
		_, err := c.AccountByPUUID(t.Context(), route.Europe, puuid)
		if r.Status == 200 {
			if strings.Contains(name, "summoner") && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Reason != reason || e.Status != r.Status || (r.Status == 429) == e.RetryAt.IsZero() {
			t.Errorf("%s: %+v, want %v", name, err, reason)
		}
	}
	for name, raw := range fixtures(t, "errors/*") {
		var status int
		fmt.Sscanf(filepath.Base(name), "%d", &status)
		_, err := metered(t, say(status, string(raw))).Match(t.Context(), route.Europe, "EUW1_1")
		if e, ok := errors.AsType[*Error](err); !ok || e.Status != status || strings.HasSuffix(name, ".json") && e.Excerpt != "" {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// TestRecordedPayloadsThroughTheClient: what is kept is what came, packed or not.
func TestRecordedPayloadsThroughTheClient(t *testing.T) {
	for name, raw := range fixtures(t, "matches/*.json") {
		id := strings.TrimSuffix(filepath.Base(name), ".json")
		region, _ := route.MatchRegion(id)
		zipped := packed(t, string(raw))
		for _, rt := range []reply{say(200, zipped, "Content-Encoding", "gzip"), say(200, string(raw))} {
			m, err := metered(t, rt).Match(t.Context(), region, id)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			back, err := m.raw()
			if err != nil || string(back) != string(raw) || m.RawLen != len(raw) || m.Codec != Gzip {
				t.Errorf("%s: %v, %d bytes back of %d", name, err, len(back), len(raw))
			}
		}
		m, _ := metered(t, say(200, zipped, "Content-Encoding", "gzip")).Match(t.Context(), region, id)
		if string(m.Body) != zipped {
			t.Errorf("%s: the packed bytes were changed", name)
		}
	}
}

// TestRequests: each call goes to the right address, with the right headers.
func TestRequests(t *testing.T) {
	var got *http.Request
	c, b := client(t, reply(func(req *http.Request) (*http.Response, error) { got = req; return say(404, "")(req) }),
		func(o *Options) { o.UserAgent = "farsight/1.0 (+https://example.org)" })
	ctx := t.Context()
	since := at("2026-01-02T03:04:05Z")
	calls := map[string]func() error{
		"https://asia.api.riotgames.com/riot/account/v1/accounts/by-riot-id/%E9%8A%80%20%2F%3F%23/A%25": func() error { _, err := c.AccountByRiotID(ctx, route.Sea, "銀 /?#", "A%"); return err },
		"https://americas.api.riotgames.com/riot/account/v1/accounts/by-puuid/" + puuid:                 func() error { _, err := c.AccountByPUUID(ctx, route.Americas, puuid); return err },
		"https://sea.api.riotgames.com/lol/match/v5/matches/by-puuid/" + puuid + "/ids?start=0":         func() error { _, err := c.MatchIDs(ctx, route.Sea, puuid, MatchIDsQuery{}); return err },
		"https://europe.api.riotgames.com/lol/match/v5/matches/EUW1_1":                                  func() error { _, err := c.Match(ctx, route.Europe, "EUW1_1"); return err },
		"https://sea.api.riotgames.com/lol/match/v5/matches/PH2_1/timeline":                             func() error { _, err := c.Timeline(ctx, route.Sea, "PH2_1"); return err },
		"https://kr.api.riotgames.com/lol/summoner/v4/summoners/by-puuid/" + puuid:                      func() error { _, err := c.Summoner(ctx, route.KR, puuid); return err },
		"https://na1.api.riotgames.com/lol/league/v4/entries/by-puuid/" + puuid:                         func() error { _, err := c.LeagueEntries(ctx, route.NA1, puuid); return err },
		"https://kr.api.riotgames.com/lol/league/v4/challengerleagues/by-queue/RANKED_SOLO_5x5": func() error {
			_, err := c.League(ctx, route.KR, "RANKED_SOLO_5x5", "CHALLENGER", "I", 1)
			return err
		},
		"https://br1.api.riotgames.com/lol/league/v4/entries/RANKED_FLEX_SR/DIAMOND/II?page=3": func() error {
			_, err := c.League(ctx, route.BR1, "RANKED_FLEX_SR", "DIAMOND", "II", 3)
			return err
		},
		"https://ru.api.riotgames.com/lol/status/v4/platform-data": func() error { _, err := c.Status(ctx, route.RU); return err },
		"https://europe.api.riotgames.com/lol/match/v5/matches/by-puuid/p/ids?count=100&endTime=1767323046&queue=420&start=100&startTime=1767323045&type=ranked": func() error {
			_, err := c.MatchIDs(ctx, route.Europe, "p", MatchIDsQuery{100, 100, since, since.Add(time.Second), 420, "ranked"})
			return err
		},
	}
	for address, call := range calls {
		got = nil
		wantError(t, call(), Missing, ClassMissing)
		if got == nil || got.URL.String() != address || got.Method != "GET" {
			t.Errorf("asked %v, want %s", got.URL, address)
		}
		h := got.Header
		if h.Get("Accept-Encoding") != "gzip" || h.Get("User-Agent") != "farsight/1.0 (+https://example.org)" || h.Get(headerKey) != canary || strings.Contains(address, "RGAPI") {
			t.Errorf("headers %v", h)
		}
	}
	for _, call := range b.calls {
		if strings.Contains(call.Target, puuid) {
			t.Errorf("the recorder holds a whole PUUID: %+v", call)
		}
	}
}

// TestBadArgumentsCostNoCall: what cannot be right is refused before a permit is taken.
func TestBadArgumentsCostNoCall(t *testing.T) {
	c, b := client(t, say(200, "{}"))
	ctx := t.Context()
	ids := func(q MatchIDsQuery) error { _, err := c.MatchIDs(ctx, route.Europe, "p", q); return err }
	_, wrongRegion := c.Match(ctx, route.Asia, "EUW1_1")
	_, noID := c.Timeline(ctx, route.Europe, "../../x")
	_, noPUUID := c.AccountByPUUID(ctx, route.Europe, "")
	_, noHost := c.Status(ctx, "evil.example/")
	_, noRegion := c.MatchIDs(ctx, "", "p", MatchIDsQuery{})
	_, merged := c.Summoner(ctx, route.PH2, "p")
	for i, err := range []error{
		wrongRegion, noID, noPUUID, noHost, noRegion, merged,
		ids(MatchIDsQuery{Start: -1}), ids(MatchIDsQuery{Count: 101}), ids(MatchIDsQuery{Queue: -1}), ids(MatchIDsQuery{Type: "x&y"}),
	} {
		if e := wantError(t, err, BadRequest, ClassBadRequest); !strings.HasSuffix(e.Message, "no call was made") {
			t.Errorf("%d: %q", i, e.Message)
		}
	}
	if len(b.permits) != 0 || len(b.calls) != 0 {
		t.Errorf("%d permits, %d calls", len(b.permits), len(b.calls))
	}
}

func TestSmallAnswers(t *testing.T) {
	ctx := t.Context()
	one := func(body string) *Client { return metered(t, say(200, body)) }
	ids, err := one(`["EUW1_2","NEW9_1"]`).MatchIDs(ctx, route.Europe, "p", MatchIDsQuery{})
	if err != nil || len(ids) != 2 {
		t.Errorf("%v %v", ids, err)
	}
	// What no id looks like is the business of itself, not of its page; it is bounded.
	odd := []string{"ESPORTSTMNT01_123", "../x", "(none)", strings.Repeat("é", 32)}
	long := strings.Repeat("é", 50)
	if ids, err := one(`["ESPORTSTMNT01_123","../x","","`+long+`"]`).MatchIDs(ctx, route.Europe, "p", MatchIDsQuery{}); err != nil || !slices.Equal(ids, odd) {
		t.Errorf("%q %v", ids, err)
	}
	if ids, err := one(` [] `).MatchIDs(ctx, route.Europe, "p", MatchIDsQuery{}); err != nil || ids == nil || len(ids) != 0 {
		t.Errorf("%v %v", ids, err)
	}
	if e, err := one(`[]`).LeagueEntries(ctx, route.EUW1, "p"); err != nil || len(e) != 0 {
		t.Errorf("%v %v", e, err)
	}
	master := one(`{"tier":"MASTER","leagueId":"l","queue":"RANKED_SOLO_5x5","entries":[{"puuid":"p","leaguePoints":7,"rank":"I","wins":1,"losses":2}]}`)
	e, err := master.League(ctx, route.EUW1, "RANKED_SOLO_5x5", "MASTER", "I", 1)
	if want := (LeagueEntry{PUUID: "p", Queue: "RANKED_SOLO_5x5", Tier: "MASTER", Rank: "I", Points: 7, Wins: 1, Losses: 2}); err != nil || !slices.Equal(e, []LeagueEntry{want}) {
		t.Errorf("%+v %v", e, err)
	}
	for _, other := range []string{`{}`, `[]`, `{"tier":"MASTER","queue":"RANKED_FLEX_SR","entries":[]}`, `{"tier":"GOLD","queue":"RANKED_SOLO_5x5","entries":[]}`,
		`{"tier":"MASTER","queue":"RANKED_SOLO_5x5"}`} {
		_, err := one(other).League(ctx, route.EUW1, "RANKED_SOLO_5x5", "MASTER", "I", 1)
		wantError(t, err, Malformed, ClassPayload)
	}
	if a, err := one(`{"puuid":"p","gameName":null}`).AccountByRiotID(ctx, route.Europe, "a", "b"); err != nil || a != (Account{PUUID: "p"}) {
		t.Errorf("%+v %v", a, err)
	}
	for _, body := range []string{`{}`, `null`, `"x"`, ``, `["EUW1_1"`, `["EUW1_1"]]`, `<html>`} {
		_, err := one(body).MatchIDs(ctx, route.Europe, "p", MatchIDsQuery{})
		wantError(t, err, Malformed, ClassPayload)
		_, err = one(body).AccountByPUUID(ctx, route.Europe, "p")
		wantError(t, err, Malformed, ClassPayload)
		_, err = one(body).Summoner(ctx, route.EUW1, "p")
		wantError(t, err, Malformed, ClassPayload)
	}
}

// TestProbe tells a dead key from a refused path.
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   Reason // 0: the key works
	}{
		{200, `{"puuid":"p"}`, 0},
		{404, "", 0},
		{400, "", 0},
		{400, `{"status":{"message":"Exception decrypting p"}}`, WrongProject},
		{401, `{"status":{"message":"Unknown apikey"}}`, Denied401},
		{403, `{"status":{"message":"Forbidden"}}`, Denied403},
		{401, "", Blocked},
		{403, "<html>", Blocked},
		{503, "", Transient},
		{429, "", Throttled},
		{200, "<html>portal of a hotel</html>", Malformed},
	} {
		for _, known := range []string{"", puuid} {
			err := metered(t, say(c.status, c.body)).Probe(t.Context(), route.Europe, known)
			if c.want == 0 && err != nil {
				t.Errorf("%d: %v", c.status, err)
			}
			if c.want != 0 {
				if e, ok := errors.AsType[*Error](err); !ok || e.Reason != c.want {
					t.Errorf("%d: %v, want %v", c.status, err, c.want)
				}
			}
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := Options{Keys: &Keys{}, Limiter: LimitedBy(limit.New(limit.Options{}))}
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Keys = nil }, "key source"},
		{func(o *Options) { o.Limiter = nil }, "limiter"},
		{func(o *Options) { o.Timeout = -1 }, "timeout"},
		{func(o *Options) { o.UserAgent = "a\r\nX: y" }, "plain ASCII"},
		{func(o *Options) { o.BaseURL = "http://example.org" }, "unencrypted"},
	} {
		o := good
		c.change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestBaseURLs(t *testing.T) {
	for _, s := range []string{"", defaultBaseURL, "http://127.0.0.1:9000/{routing}", "http://localhost:9000", "http://[::1]:1/x/{routing}/", "https://riot.example.org/{routing}"} {
		if err := ParseBaseURL(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for s, want := range map[string]string{
		"http://example.org/{routing}": "unencrypted", "http://{routing}.api.riotgames.com": "unencrypted", "http://127.0.0.1.example.org": "unencrypted",
		"ftp://x": "https://", "x": "https://", "https://": "names no host", "https:///{routing}": "names no host", "https://u:secret@x": "user name or password",
		"https://x/?api_key=1": "before any ?", "https://x/#f": "before any ?", "https://x/{region}": "only placeholder", "https://{routing}.{x}.org": "", "://": "cannot be read", "https://x y": "cannot be read",
	} {
		err := ParseBaseURL(s)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", s, err, want)
		}
	}
	b, _ := parseBase("http://127.0.0.1:9000/{routing}/")
	if got := b.expand("euw1"); got != "http://127.0.0.1:9000/euw1" {
		t.Error(got)
	}
}

// TestStopDuringTheWait: the caller's cause comes back, and no call was made.
func TestStopDuringTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errStop := errors.New("operator said stop")
		c := metered(t, say(429, "", "Retry-After", "60", "X-Rate-Limit-Type", "application"))
		_, err := c.Status(t.Context(), route.EUW1)
		wantError(t, err, Throttled, ClassThrottledApp)
		ctx, cancel := withCause(t, 5*time.Second, errStop)
		defer cancel()
		if _, err := c.Status(ctx, route.EUW1); !errors.Is(err, errStop) {
			t.Errorf("%v, want the cause", err)
		}
	})
}
