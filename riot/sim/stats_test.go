package sim

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// Each call tells the window that decided on it; one that breaks a limit, how much too
// early it came, and one during a Retry-After, how much of that was left.
func TestCallsTellWhatTheLimitsMadeOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Latency: Instant, Limits: Limits{App: []Limit{{2, time.Second}, {3, 10 * time.Second}}}})
		get(t, s, statusPath) // 1/2 in 1 s
		get(t, s, statusPath) // 2/2
		time.Sleep(4 * time.Second)
		get(t, s, statusPath) // 3/3 in 10 s
		get(t, s, statusPath) // breaks it, 6 s early
		time.Sleep(2 * time.Second)
		get(t, s, statusPath) // and again, although it was told to wait
		calls := s.Calls(0, 10)
		for i, want := range []Use{
			{scopeApp, 1, 2, time.Second}, {scopeApp, 2, 2, time.Second}, {scopeApp, 3, 3, 10 * time.Second},
			{scopeApp, 4, 3, 10 * time.Second}, {scopeApp, 5, 3, 10 * time.Second},
		} {
			if calls[i].Window != want {
				t.Errorf("call %d: %+v, want %+v", i+1, calls[i].Window, want)
			}
		}
		if c := calls[3]; !c.Violation || c.Early != 6*time.Second || c.Hasty != 0 || c.LimitType != "application" || c.RetryAfter == "" {
			t.Errorf("the call that broke the limit: %+v", c)
		}
		if c := calls[4]; c.Early != 4*time.Second || c.Hasty < 3*time.Second || c.Hasty > 6*time.Second {
			t.Errorf("the call during its Retry-After: %+v", c)
		}
		if c := calls[2]; c.Early != 0 || c.AppCount == "" || c.MethodCount == "" {
			t.Errorf("a call within the limits: %+v", c)
		}
	})
}

// The windows of the key that called last, as they stand.
func TestWindowsStandAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Latency: Instant, Limits: Limits{App: []Limit{{2, time.Second}, {3, 10 * time.Second}}}})
		if r := s.Windows(); r.Key != "" || len(r.Windows) != 0 {
			t.Errorf("before any call: %+v", r)
		}
		for range 3 {
			get(t, s, statusPath)
		}
		time.Sleep(2 * time.Second)
		r := s.Windows()
		if len(r.Windows) != 4 || r.Keys != 1 || len(r.Key) != 4 {
			t.Fatalf("%+v", r)
		}
		long, short := r.Windows[0], r.Windows[1]
		if long.Host != "euw1" || long.Method != "" || long.Used != 3 || long.Limit != 3 || time.Until(long.Frees) != 8*time.Second {
			t.Errorf("the long window: %+v", long)
		}
		if short.Used != 0 || !short.Frees.IsZero() || short.Per != time.Second {
			t.Errorf("the window that has ended: %+v", short)
		}
		if m := r.Windows[2]; m.Method != route.Status || m.Used != 3 {
			t.Errorf("the method's window: %+v", m)
		}
	})
}

// Faults as a person types them.
func TestParseFault(t *testing.T) {
	for text, want := range map[string]Fault{
		"503": {Kind: Unavailable},
		"503,method=match-v5.match,rate=0.05,each=true,count=3": {Kind: Unavailable, Match: Match{Method: route.Match, Rate: .05, Each: true}, Count: 3},
		"429-service,retry_after=2,after=8s,until=1m":           {Kind: LimitService, RetryAfter: "2", After: 8 * time.Second, Until: time.Minute},
		"slow,delay=2s,id=EUW1_*,attempts=1,name=late":          {Kind: Slow, Name: "late", Delay: 2 * time.Second, Match: Match{ID: "EUW1_*", Attempts: 1}},
		"limits-application,limits=500:1,20:1,host=eu*":         {Kind: AppLimits, Limits: "500:1,20:1", Match: Match{Host: "eu*"}},
		"list-short,ids=7,start=100":                            {Kind: ListShort, IDs: 7, Match: Match{Start: "100"}},
		"status,status=418,body={}":                             {Kind: Status, Status: 418, Body: "{}"},
	} {
		if got, err := ParseFault(text); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if got, err := ParseFault("outage"); err != nil || !reflect.DeepEqual(got, presets()["outage"]) {
		t.Errorf("a scene: %+v, %v", got, err)
	}
	for text, hint := range map[string]string{
		"": "outage", "nonsense": "outage", "503,rat=1": "rate", "503,rate=x": "not a number", "503,rate=2": "between 0 and 1", "503,count=1.5": "whole number",
		"503,each=maybe": "true nor false", "503,after=5": "such as 30s", "503,method=x": "no such method", "list-late,ids=-1": "below 0", "limits-method": "limits=none", "503,start=[": "broken", "status": "between 200",
	} {
		if got, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q gives %+v, %v", text, got, err)
		}
	}
}

// A fault with a misspelt bound would strike every call.
func TestFaultsRefuseUnknownFields(t *testing.T) {
	if got, err := readFaults([]byte(`{"kind":"503","match":{"rat":0.1}}`)); err == nil || !strings.Contains(err.Error(), "rat") {
		t.Errorf("%+v, %v", got, err)
	}
}

// docs/sim.md names every endpoint, scene, kind and bound, and its examples are understood.
func TestThePageNamesAllThatIsThere(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "sim.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for route := range adminRoutes {
		if !strings.Contains(page, "`"+route+"`") && !strings.Contains(page, "`"+route+"?") {
			t.Errorf("the endpoint %s is not told", route)
		}
	}
	fields := fieldsOf(&Fault{})
	var bounds []string
	for name := range fields {
		bounds = append(bounds, name)
	}
	for _, name := range slices.Concat(presetNames(), kindNames(), bounds) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("%s is not told", name)
		}
	}
	for _, example := range regexp.MustCompile("`([0-9a-z-]+,[a-z_]+=[^`]*)`").FindAllStringSubmatch(page, -1) {
		if _, err := ParseFault(example[1]); err != nil {
			t.Error(err)
		}
	}
}
