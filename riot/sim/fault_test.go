package sim

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

func onePlayer() PlayerSpec {
	return PlayerSpec{RiotID: "A#A", Platform: route.EUW1, Matches: 250, Span: 300 * day, Shapes: []Shape{world.ARAM}}
}

func matchPath(s *Sim, n int) string {
	return "/europe/lol/match/v5/matches/" + s.MatchIDs("A#A")[n]
}

// Every kind of fault once: what the client sees, and that the same match is right afterwards.
func TestFaultKinds(t *testing.T) {
	cases := map[Kind]struct {
		status int
		ok     func(r reply) bool // of what was read
		err    error
	}{
		LimitApp:       {429, header("X-Rate-Limit-Type", "application"), nil},
		LimitMethod:    {429, header("X-Rate-Limit-Type", "method"), nil},
		LimitService:   {429, header("X-Rate-Limit-Type", "service"), nil},
		LimitPlain:     {429, header("X-Rate-Limit-Type", ""), nil},
		Status:         {418, contains("teapot"), nil},
		BadRequest:     {400, contains(`"status_code":400`), nil},
		Unauthorized:   {401, header("X-App-Rate-Limit", ""), nil},
		Forbidden:      {403, contains("Forbidden"), nil},
		ForbiddenHTML:  {403, contains("Cloudflare"), nil},
		NotFound:       {404, contains("match file not found"), nil},
		ServerError:    {500, contains("Internal server error"), nil},
		BadGateway:     {502, contains("<!DOCTYPE html>"), nil},
		Unavailable:    {503, contains("Service unavailable"), nil},
		GatewayTimeout: {504, contains("504"), nil},
		Hang:           {0, nil, context.DeadlineExceeded},
		Reset:          {0, nil, syscall.ECONNRESET},
		Truncate:       {200, nil, io.ErrUnexpectedEOF},
		Trickle:        {200, valid, nil},
		Slow:           {200, valid, nil},
		Bomb:           {200, func(r reply) bool { return len(r.body) > 30<<20 }, nil},
		Oversized:      {200, func(r reply) bool { return len(r.body) > 8<<20 }, nil},
		BadGzip:        {200, contains("{}"), nil},
		HTML200:        {200, contains("<html>"), nil},
		NotJSON:        {200, func(r reply) bool { return !valid(r) }, nil},
		EmptyObject:    {200, contains("{}"), nil},
		EmptyList:      {200, contains("[]"), nil},
		Null:           {200, contains("null"), nil},
		WrongID:        {200, func(r reply) bool { return valid(r) && len(r.body) > 30_000 }, nil},
		Firewall:       {403, contains("Cloudflare"), nil},
		Undecryptable:  {400, contains("Exception decrypting"), nil},
		IdleClose:      {200, valid, nil},
		IdleTimeout:    {200, valid, nil},
		AppLimits:      {200, header("X-App-Rate-Limit", "0:1"), nil},
		MethodLimits:   {200, header("X-Method-Rate-Limit", "0:1"), nil},
		ShiftIDs:       {200, valid, nil},
		NoHeaders:      {200, header("X-App-Rate-Limit", ""), nil},
		SkewDate:       {200, header("Date", epoch.Add(90*time.Minute).Format(http.TimeFormat)), nil},
		Foreign:        {200, func(r reply) bool { return strings.HasPrefix(r.header.Get("X-App-Rate-Limit-Count"), "8:") }, nil},
	}
	for kind := range effects {
		c, ok := cases[kind]
		if lies[kind] != nil {
			continue // see TestLists
		}
		if !ok {
			t.Errorf("no test for %s", kind)
			continue
		}
		inBubble(t, func(t *testing.T) {
			s := New(quick(onePlayer()))
			f := Fault{Kind: kind, Status: 418, Body: "", Delay: 90 * time.Minute, Burn: 7, Limits: "0:1", Match: Match{Attempts: 1}}
			switch kind {
			case Status:
				f.Body = "teapot"
			case Slow, Trickle:
				f.Delay = time.Second
			case IdleClose, IdleTimeout:
				f.Delay = 0
			}
			path := matchPath(s, 0)
			if kind == Firewall || kind == Undecryptable {
				path = "/europe/riot/account/v1/accounts/by-puuid/" + s.PUUID("A#A", "")
			}
			if err := s.Inject(f); err != nil {
				t.Fatal(err)
			}
			r, err := try(s, testKey, path)
			if r.status != c.status || !errors.Is(err, c.err) || (c.ok != nil && !c.ok(r)) {
				t.Errorf("%s: %d %v %v %.80q", kind, r.status, err, r.header, r.body)
			}
			if kind == WrongID && strings.Contains(r.body, s.MatchIDs("A#A")[0]+`"`) {
				t.Error("wrong-id kept the right id")
			}
			again := get(t, s, path)
			if again.status != 200 || !valid(again) {
				t.Errorf("%s: afterwards %d", kind, again.status)
			}
			if hits := s.Faults()[0].Hits; hits != 1 {
				t.Errorf("%s: %d hits", kind, hits)
			}
		})
	}
}

func header(name, want string) func(reply) bool {
	return func(r reply) bool { return r.header.Get(name) == want }
}

func contains(want string) func(reply) bool {
	return func(r reply) bool { return strings.Contains(r.body, want) }
}

func valid(r reply) bool { return json.Valid([]byte(r.body)) }

// The choice of what is hit depends on the thing and the attempt, never on the order of calls.
func TestFaultsAreTheSameInAnyOrder(t *testing.T) {
	plan := []Fault{
		{Name: "half", Kind: Unavailable, Match: Match{Rate: .3, Attempts: 2}},
		{Name: "each", Kind: ServerError, Match: Match{Rate: .3, Each: true}},
	}
	outcomes := func(order []int) map[string]int {
		o := quick(onePlayer())
		o.Faults = plan
		s := New(o)
		seen := map[string]int{}
		for attempt := range 3 {
			for _, n := range order {
				seen[fmt.Sprint(n, " ", attempt)] = get(t, s, matchPath(s, n)).status
			}
		}
		return seen
	}
	forth := outcomes([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	back := outcomes([]int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0})
	hits := map[int]int{}
	for k, v := range forth {
		hits[v]++
		if back[k] != v {
			t.Errorf("%s: %d, in the other order %d", k, v, back[k])
		}
	}
	if hits[503] == 0 || hits[500] == 0 || hits[200] == 0 {
		t.Errorf("the rates should leave some of each: %v", hits)
	}
}

func TestFaultsMatchWhatTheySay(t *testing.T) {
	s := New(quick(onePlayer()))
	id := s.MatchIDs("A#A")[1]
	for _, f := range []Fault{
		{Kind: NotFound, Match: Match{Method: route.Timeline}},
		{Kind: ServerError, Match: Match{ID: id[:6] + "*" + id[len(id)-3:]}, Count: 1},
		{Kind: Unavailable, Match: Match{Host: "asia"}},
		{Kind: BadGateway, Match: Match{ID: id, Attempt: 3}},
	} {
		if err := s.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path   string
		status int
	}{
		{matchPath(s, 0), 200}, {matchPath(s, 0) + "/timeline", 404}, {matchPath(s, 1), 500}, {matchPath(s, 1), 200},
		{matchPath(s, 1), 502}, {matchPath(s, 1), 200}, {"/asia/riot/account/v1/accounts/by-riot-id/A/A", 503},
		{"/europe/riot/account/v1/accounts/by-riot-id/A/A", 200},
	} {
		if r := get(t, s, c.path); r.status != c.status {
			t.Errorf("%s: %d, want %d", c.path, r.status, c.status)
		}
	}
	s.Clear()
	if r := get(t, s, matchPath(s, 0)+"/timeline"); r.status != 200 || len(s.Faults()) != 0 {
		t.Errorf("after Clear: %d", r.status)
	}
}

func TestFaultsInTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		o := quick(onePlayer())
		o.Speed = 10
		o.Faults = []Fault{{Kind: Forbidden, After: 10 * time.Second, Until: 30 * time.Second}}
		s := New(o)
		for _, want := range []int{200, 403, 403, 200} {
			if r := get(t, s, matchPath(s, 0)); r.status != want {
				t.Errorf("%v: %d, want %d", time.Since(s.began), r.status, want)
			}
			time.Sleep(1100 * time.Millisecond)
		}
	})
}

// A page that shifts repeats ids on the next page and loses none.
func TestShiftedAndDuplicatedPagesLoseNothing(t *testing.T) {
	for _, kind := range []Kind{ShiftIDs, DuplicateIDs} {
		s := New(quick(onePlayer()))
		before := s.MatchIDs("A#A")
		page := idsOf(t, s, "europe", "A#A", "count=100")
		if err := s.Inject(Fault{Kind: kind, Match: Match{Method: route.MatchIDs}, Count: 1}); err != nil {
			t.Fatal(err)
		}
		page = append(page, idsOf(t, s, "europe", "A#A", "start=100&count=100")...)
		page = append(page, idsOf(t, s, "europe", "A#A", "start=200&count=100")...)
		unique := slices.Compact(slices.Sorted(slices.Values(page)))
		if len(unique) == len(page) {
			t.Errorf("%s: no id came twice", kind)
		}
		for _, id := range before {
			if !slices.Contains(page, id) {
				t.Errorf("%s: %s was lost", kind, id)
			}
		}
	}
}

func TestRetryAfterIsSentAsScripted(t *testing.T) {
	for _, value := range []string{"", "0", "-5", "1.5", "999999999", "Fri, 31 Dec 1999 23:59:59 GMT", "soon"} {
		s := New(quick(onePlayer()))
		if err := s.Inject(Fault{Kind: LimitApp, RetryAfter: value}); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, matchPath(s, 0)).header.Get("Retry-After"); got != value {
			t.Errorf("%q came as %q", value, got)
		}
	}
}

func TestFaultSurvivesJSON(t *testing.T) {
	want := Fault{Name: "n", Match: Match{Method: route.Match, ID: "EUW1_*", Attempts: 2, Rate: .5}, Kind: LimitService,
		RetryAfter: "3", Delay: time.Second, Count: 4, After: time.Minute, Until: time.Hour}
	data, err := json.Marshal(want)
	if err != nil || !bytes.Contains(data, []byte(`"until":"1h0m0s"`)) {
		t.Fatalf("%s %v", data, err)
	}
	var got Fault
	mustDecode(t, data, &got)
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := json.Unmarshal([]byte(`{"kind":"503","delay":"fast"}`), &got); err == nil {
		t.Error("a bad duration was taken")
	}
}

func TestPresetsAreSound(t *testing.T) {
	for _, name := range presetNames() {
		list, err := Preset(name)
		for _, f := range list {
			err = errors.Join(err, f.check())
		}
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Preset("party"); err == nil || !strings.Contains(err.Error(), "outage") {
		t.Errorf("%v", err)
	}
}

// Repeats and deliveries are what a test of "nothing fetched twice" needs.
func TestFetchesAreCounted(t *testing.T) {
	o := quick(onePlayer())
	o.Faults = []Fault{{Kind: Unavailable, Match: Match{ID: "*", Attempt: 1, Method: route.Match}}}
	s := New(o)
	id := s.MatchIDs("A#A")[0]
	for range 2 {
		get(t, s, matchPath(s, 0))
	}
	if st := s.Stats(); st.Repeated != 0 || st.Matches != 1 || s.Fetched(route.Match, id) != (Fetch{Calls: 2, OK: 1}) {
		t.Errorf("%+v", st)
	}
	get(t, s, matchPath(s, 0))
	st := s.Stats()
	if st.Repeated != 1 || st.ByMethod["match-v5.match"][503] != 1 || st.ByMethod["match-v5.match"][200] != 2 {
		t.Errorf("%+v", st)
	}
	calls := s.Calls(1, 10)
	if len(calls) != 2 || calls[0].Seq != 2 || calls[0].ID != id || calls[0].Attempt != 2 || calls[0].Status != 200 {
		t.Errorf("%+v", calls)
	}
	s.Reset()
	if st := s.Stats(); st.Calls != 0 || len(s.Calls(0, 10)) != 0 {
		t.Errorf("after Reset: %+v", st)
	}
}

func TestCallLogIsBounded(t *testing.T) {
	j := newJournal(0)
	for range logged + 10 {
		j.append(Call{})
	}
	got := j.after(0, 5)
	if len(j.calls) != logged || got[0].Seq != 11 || j.after(logged+8, 5)[1].Seq != logged+10 || len(j.after(logged+10, 5)) != 0 {
		t.Errorf("%d kept, first %d", len(j.calls), got[0].Seq)
	}
}

// Hooks, gzip, latency and cancellation of the in-memory transport.
func TestRoundTripperBehavesLikeATransport(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		o := quick(onePlayer())
		o.Latency = Latency{200 * time.Millisecond, 100 * time.Millisecond}
		s := New(o)
		var wrote, first time.Time
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			WroteRequest:         func(httptrace.WroteRequestInfo) { wrote = time.Now() },
			GotFirstResponseByte: func() { first = time.Now() },
		})
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://europe.api.riotgames.com"+strings.TrimPrefix(matchPath(s, 0), "/europe"), nil)
		req.Header.Set("X-Riot-Token", testKey)
		req.Header.Set("Accept-Encoding", "gzip")
		began := time.Now()
		resp, err := (&http.Client{Transport: s.RoundTripper()}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		zr, err := gzip.NewReader(resp.Body)
		if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
			t.Fatal(err, resp.Header)
		}
		body, err := io.ReadAll(zr)
		if err != nil || !json.Valid(body) {
			t.Error("the body is not gzipped JSON", err)
		}
		if took := first.Sub(wrote); !wrote.Equal(began) || took < 100*time.Millisecond || took > 300*time.Millisecond {
			t.Errorf("written after %v, answered after %v", wrote.Sub(began), took)
		}
		arrived := s.Calls(0, 1)[0].At.Sub(began)
		if arrived < 20*time.Millisecond || arrived > 180*time.Millisecond {
			t.Errorf("counted %v after it was written", arrived)
		}
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := s.RoundTripper().RoundTrip(req.WithContext(short)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled call: %v", err)
		}
		if st := s.Stats(); st.InFlight != 0 || st.Calls != 2 {
			t.Errorf("a cancelled call counts and ends: %+v", st)
		}
	})
}

// A client that takes gzip gets what the headers say, for every kind of fault.
func TestContentEncodingIsTold(t *testing.T) {
	for kind := range effects {
		if kind == Hang || kind == Reset || kind == BadGzip {
			continue
		}
		s := New(quick(onePlayer()))
		if err := s.Inject(Fault{Kind: kind, Status: 418, Limits: "none"}); err != nil {
			t.Fatal(err)
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sim"+matchPath(s, 0), nil)
		req.Header = http.Header{"X-Riot-Token": {testKey}, "Accept-Encoding": {"gzip"}}
		resp, err := s.RoundTripper().RoundTrip(req)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		body, _ := io.ReadAll(resp.Body)
		magic := bytes.HasPrefix(body, []byte{0x1f, 0x8b})
		if told := resp.Header.Get("Content-Encoding") == "gzip"; told != magic {
			t.Errorf("%s: says gzip %v, is gzip %v", kind, told, magic)
		}
		if kind != Truncate && int64(len(body)) != resp.ContentLength {
			t.Errorf("%s: %d bytes, announced %d", kind, len(body), resp.ContentLength)
		}
	}
}
