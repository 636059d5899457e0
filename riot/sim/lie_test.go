package sim

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

// walked is what a client has that asks for page after page of a hundred until one is empty, of at most ten, with the
// size of each.
func walked(t *testing.T, s *Sim, query string) (ids []string, sizes []int) {
	t.Helper()
	for start := 0; start < 1000; start += 100 {
		page := idsOf(t, s, "europe", "A#A", fmt.Sprintf("start=%d&count=100", start)+query)
		ids, sizes = append(ids, page...), append(sizes, len(page))
		if len(page) == 0 {
			break
		}
	}
	return ids, sizes
}

// TestB12_Lists: what each lie about lists makes of an account with 250 matches, as a client sees it, the same each
// time; that no match is touched by it, and that the list is whole again once it has ended.
func TestB12_Lists(t *testing.T) {
	old := fmt.Sprintf("&endTime=%d", epoch.Add(-1000*day).Unix())
	rows := map[string]struct {
		query  string
		sizes  string // of the pages
		listed int    // ids of the account's matches that came at least once
	}{
		"list-short,start=0,ids=60": {"", "[60 100 50 0]", 210},
		"list-short,start=100":      {"", "[100 50 50 0]", 200},
		"empty-list,start=100":      {"", "[100 0]", 100},
		"list-ends,ids=120":         {"", "[100 20 0]", 120},
		"list-ends":                 {"", "[100 25 0]", 125},
		"list-late,ids=30,until=1s": {"", "[100 100 20 0]", 220},
		"list-holes,ids=5":          {"", "[100 100 12 0]", 212},
		"list-skips,ids=4":          {"", "[100 100 46 0]", 246},
		"duplicate-ids":             {"", "[101 104 54 0]", 250},
		"list-ignores-times":        {old, "[100 100 50 0]", 250},
		"list-ignores-start":        {"", "[100 100 100 100 100 100 100 100 100 100]", 100},
		"list-endless":              {"", "[100 100 100 100 100 100 100 100 100 100]", 250},
		"list-odd-ids,start=200":    {"", "[100 100 52 0]", 250},
	}
	for text, want := range rows {
		t.Run(text, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := New(quick(onePlayer()))
				faults, err := ParseFault(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Inject(faults...); err != nil {
					t.Fatal(err)
				}
				ids, sizes := walked(t, s, want.query)
				again, _ := walked(t, s, want.query)
				if fmt.Sprint(sizes) != want.sizes || !slices.Equal(ids, again) {
					t.Errorf("pages of %v, want %s; the same again: %v", sizes, want.sizes, slices.Equal(ids, again))
				}
				all := s.MatchIDs("A#A")
				listed := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return !slices.Contains(ids, id) })
				if len(listed) != want.listed {
					t.Errorf("%d of %d are listed, want %d", len(listed), len(all), want.listed)
				}
				if r := get(t, s, matchPath(s, 0)); r.status != 200 || s.Calls(0, 1000)[s.Stats().Calls-1].Fault != "" {
					t.Errorf("a match: %d", r.status)
				}
				if faults[0].Until > 0 {
					time.Sleep(faults[0].Until)
				} else {
					s.Clear()
				}
				if ids, _ := walked(t, s, ""); !slices.Equal(ids, all) {
					t.Errorf("afterwards %d of %d are listed", len(ids), len(all))
				}
				if st := s.Stats(); st.Violations != 0 || st.Repeated != 0 {
					t.Errorf("%+v", st)
				}
			})
		})
	}
	for kind := range lies {
		if !strings.Contains(fmt.Sprint(slices.Collect(maps.Keys(rows))), string(kind)) {
			t.Errorf("no row for %s", kind)
		}
	}
}

// Ids that no match has are of a form that no client can refuse, or of one that none knows.
func TestB12_IDsOfNoMatch(t *testing.T) {
	s := New(quick(onePlayer()))
	_ = s.Inject(Fault{Kind: ListEndless, Match: Match{Start: "300"}}, Fault{Kind: ListOddIDs})
	invented := idsOf(t, s, "europe", "A#A", "start=300&count=3")
	if fmt.Sprint(invented) != "[EUW1_9000000300 EUW1_9000000301 EUW1_9000000302]" {
		t.Errorf("%v", invented)
	}
	if r := get(t, s, "/europe/lol/match/v5/matches/"+invented[0]); r.status != 404 {
		t.Errorf("%d", r.status)
	}
	odd := idsOf(t, s, "europe", "A#A", "count=2")
	if len(odd) != 4 || odd[1] != "ESPORTSTMNT01_123" || odd[2] != "XX9_5551234567" {
		t.Errorf("%v", odd)
	}
}

// TestB12_OneTarget: what stands before Riot, or Riot itself, fails one player's URLs and nobody else's; a wave of 404
// hits matches of one host.
func TestB12_OneTarget(t *testing.T) {
	s := New(quick(onePlayer(), PlayerSpec{RiotID: "B#B", Platform: route.EUW1, Matches: 3},
		PlayerSpec{RiotID: "C#C", Platform: route.KR, Matches: 3, Shapes: []Shape{world.ARAM}}))
	for _, text := range []string{"firewall,id=A#A", "400-decrypting,id=B#B,start=0,count=1", "404,method=match-v5.match,host=europe"} {
		faults, err := ParseFault(text)
		if err == nil {
			err = s.Inject(faults...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := s.PUUID("A#A", ""), s.PUUID("B#B", ""), s.MatchIDs("C#C")
	for _, call := range []struct {
		path, want string
		status     int
	}{
		{"/europe/riot/account/v1/accounts/by-puuid/" + a, "<!DOCTYPE html>", 403},
		{"/europe/lol/match/v5/matches/by-puuid/" + a + "/ids", "<!DOCTYPE html>", 403},
		{"/euw1/lol/summoner/v4/summoners/by-puuid/" + a, "<!DOCTYPE html>", 403},
		{"/euw1/lol/league/v4/entries/by-puuid/" + a, "<!DOCTYPE html>", 403},
		{"/europe/riot/account/v1/accounts/by-riot-id/A/A", a, 200},
		{"/euw1/lol/league/v4/entries/by-puuid/" + b, "[", 200},
		{"/europe/lol/match/v5/matches/by-puuid/" + b + "/ids", "Exception decrypting " + b, 400},
		{"/europe/lol/match/v5/matches/by-puuid/" + b + "/ids", "EUW1_", 200},
		{matchPath(s, 0), "match file not found", 404},
		{matchPath(s, 0) + "/timeline", "metadata", 200},
		{"/asia/lol/match/v5/matches/" + c[0], "metadata", 200},
	} {
		if r := get(t, s, call.path); r.status != call.status || !strings.Contains(r.body, call.want) {
			t.Errorf("%s: %d %.80s", call.path, r.status, r.body)
		}
	}
	if f := s.Fetched(route.Match, s.MatchIDs("A#A")[0]); f.Missing != 0 {
		t.Errorf("a 404 of the plan is counted as the match's own: %+v", f)
	}
}

// TestB12_Limits: the headers say what the plan says, those of a refusal too, while the limits are counted as before.
func TestB12_Limits(t *testing.T) {
	for _, c := range []struct{ fault, app, method string }{
		{"limits-application,limits=none", "", "2000:10"},
		{"limits-application,limits=0:1", "0:1", "2000:10"},
		{"limits-application,limits=500:1,20:1", "500:1,20:1", "2000:10"},
		{"limits-application,limits=99999999999999999999:1,x:y", "99999999999999999999:1,x:y", "2000:10"},
		{"limits-method,limits=-5:10", "3:60", "-5:10"},
	} {
		inBubble(t, func(t *testing.T) {
			o := quick(onePlayer())
			o.Limits = Limits{App: []Limit{{3, time.Minute}}}
			var err error
			if o.Faults, err = ParseFault(c.fault); err != nil {
				t.Fatal(err)
			}
			s := New(o)
			for n := range 5 {
				r := get(t, s, matchPath(s, n))
				if app, method := r.header.Get("X-App-Rate-Limit"), r.header.Get("X-Method-Rate-Limit"); app != c.app || method != c.method {
					t.Errorf("%s: call %d is told %q and %q", c.fault, n, app, method)
				}
				if _, counted := r.header["X-App-Rate-Limit-Count"]; counted != (c.app != "") {
					t.Errorf("%s: a count of what is not told", c.fault)
				}
				if want := map[bool]int{true: 200, false: 429}[n < 3]; r.status != want {
					t.Errorf("%s: call %d: %d", c.fault, n, r.status)
				}
			}
			if st := s.Stats(); st.Violations != 2 || st.Matches != 3 {
				t.Errorf("%s: %d violations, %d matches", c.fault, st.Violations, st.Matches)
			}
		})
	}
}

// TestB12_RetryAfter: any error may have the header, absurd values included; calls within that of a 503 are counted.
func TestB12_RetryAfter(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := New(quick(onePlayer()))
		_ = s.Inject(Fault{Kind: Unavailable, RetryAfter: "30", Count: 1},
			Fault{Kind: LimitApp, RetryAfter: "99999999999999999999", Count: 1}, Fault{Kind: LimitService, RetryAfter: "1e3", Count: 1})
		for _, want := range []string{"30", "99999999999999999999", "1e3", ""} {
			if r := get(t, s, matchPath(s, 0)); r.header.Get("Retry-After") != want {
				t.Errorf("Retry-After %q, want %q", r.header.Get("Retry-After"), want)
			}
			time.Sleep(10 * time.Second)
		}
		if st := s.Stats(); st.Early != 2 || st.Violations != 0 {
			t.Errorf("%d calls within the 503's Retry-After, %d violations", st.Early, st.Violations)
		}
	})
}

// TestB12_IdleConnections: the answer is whole and its connection kept; what is sent on it before it closes is never
// read and counts nowhere.
func TestB12_IdleConnections(t *testing.T) {
	for kind, farewell := range map[Kind]int{IdleClose: 0, IdleTimeout: 408} {
		s := New(quick(onePlayer()))
		if err := s.Inject(Fault{Kind: kind, Delay: 50 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", strings.TrimPrefix(listen(t, s), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: sim\r\nX-Riot-Token: %s\r\n\r\n", matchPath(s, 0), testKey)
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || resp.Close || !json.Valid(body) {
			t.Errorf("%s: %d, %v, closes: %v", kind, resp.StatusCode, err, resp.Close)
		}
		last, err := http.ReadResponse(in, nil)
		if farewell != 0 {
			if err != nil || last.StatusCode != farewell {
				t.Errorf("%s: %v", kind, err)
			}
			_, err = in.ReadByte()
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: the connection ended by %v", kind, err)
		}
		_ = conn.Close()
		if st := settled(t, s); st.Calls != 1 || st.Matches != 1 {
			t.Errorf("%s: %+v", kind, st)
		}
	}
	inBubble(t, func(t *testing.T) { // in memory
		s := New(quick(onePlayer()))
		_ = s.Inject(Fault{Kind: IdleClose, Delay: time.Second})
		for _, wait := range []time.Duration{0, 2 * time.Second} {
			get(t, s, matchPath(s, 0))
			time.Sleep(wait)
			r, err := try(s, testKey, matchPath(s, 1))
			if lost := errors.Is(err, syscall.EPIPE); lost != (wait == 0) || !lost && r.status != 200 {
				t.Errorf("after %v: %d %v", wait, r.status, err)
			}
			time.Sleep(2 * time.Second)
		}
		if st := s.Stats(); st.Calls != 3 {
			t.Errorf("%d calls arrived", st.Calls)
		}
	})
}
