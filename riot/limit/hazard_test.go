package limit

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func used(l *Limiter, bucket string) int {
	for _, h := range l.Snapshot().Hosts {
		for _, s := range h.Scopes {
			for _, b := range s.Buckets {
				if b.Name == bucket {
					return b.Used()
				}
			}
		}
	}
	return -1
}

// TestHazards are the ways in which Riot's windows and headers surprise a client.
func TestHazards(t *testing.T) {
	const app = "app:europe 120s"
	cases := []struct {
		name  string
		heads func() http.Header
		want  int // calls in the two-minute bucket after ten calls and this answer
	}{
		{"a lower count frees nothing", func() http.Header { return devHeaders("1:1,1:120", "1:10") }, 11},
		{"a higher count is somebody else", func() http.Header { return devHeaders("1:1,31:120", "1:10") }, 31},
		{"no headers", func() http.Header { return nil }, 11},
		{"empty headers", func() http.Header { return devHeaders("", "") }, 11},
		{"limits without counts", func() http.Header {
			return headersOf("X-App-Rate-Limit", "20:1,100:120")
		}, 11},
		{"garbage", func() http.Header {
			return headersOf("X-App-Rate-Limit", "0:0", "X-App-Rate-Limit-Count", "<script>")
		}, 11},
		{"other order", func() http.Header {
			return headersOf("X-App-Rate-Limit", "100:120,20:1", "X-App-Rate-Limit-Count", "31:120,1:1")
		}, 31},
		{"an absurd count", func() http.Header { return devHeaders("1:1,999999999:120", "1:10") }, 200},
		{"a changed limit keeps the log", func() http.Header {
			return headersOf("X-App-Rate-Limit", "30:1,300:120", "X-App-Rate-Limit-Count", "1:1,5:120")
		}, 11},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := learnt(t, Options{})
				for range 10 {
					take(t, l, matches).Done(200, devHeaders("1:1,1:120", "1:10"))
				}
				take(t, l, matches).Done(200, c.heads())
				if got := used(l, app); got != c.want {
					t.Errorf("%d calls count, want %d", got, c.want)
				}
			})
		})
	}
}

func TestRefunds(t *testing.T) {
	const app = "app:europe 120s"
	cases := []struct {
		name string
		end  func(p *Permit)
		want int
	}{
		{"failed before the write", func(p *Permit) { p.Refund(); p.Refund(); p.Lost() }, 0},
		{"401", func(p *Permit) { p.Wrote(); p.FirstByte(); p.Done(401, nil); p.Refund() }, 0},
		{"failed after the write", func(p *Permit) { p.Wrote(); p.Lost(); p.Refund() }, 1},
		{"refund after the write", func(p *Permit) { p.Wrote(); p.Refund(); p.Done(200, nil) }, 1},
		{"refund after the answer", func(p *Permit) { p.FirstByte(); p.Refund() }, 1},
		{"404", func(p *Permit) { p.Done(404, devHeaders("1:1,1:120", "1:10")); p.Done(429, nil) }, 1},
		{"503 without headers", func(p *Permit) { p.Done(503, nil); p.FirstByte() }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := learnt(t, Options{})
				c.end(take(t, l, matches))
				if got := used(l, app); got != c.want {
					t.Errorf("%d calls count, want %d", got, c.want)
				}
				if !isOpen(l, testHost, matches) {
					t.Error("blocked")
				}
			})
		})
	}
}

// TestUnknownStaysSerial: until an answer states limits, one call at a time; an
// answer that states only one kind says that there are none of the other.
func TestUnknownStaysSerial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		for range 5 {
			p := take(t, l, matches)
			if isOpen(l, testHost, matches) || isOpen(l, testHost, accounts) {
				t.Fatal("two calls on an unknown host")
			}
			p.Done(503, nil)
		}
		take(t, l, matches).Done(200, headersOf("X-App-Rate-Limit", "20:1", "X-App-Rate-Limit-Count", "1:1"))
		take(t, l, matches)
		take(t, l, matches) // the method has no limits
		take(t, l, accounts)
		if isOpen(l, testHost, accounts) {
			t.Fatal("two calls of an unknown method")
		}
		// lol-status: method limits only.
		take(t, l, accounts+"x").Done(200, headersOf("X-Method-Rate-Limit", "5:1", "X-Method-Rate-Limit-Count", "1:1"))
	})
}

// recorded is one header set of fixtures http/header-sequence.
type recorded struct {
	Date        time.Time `json:"date"`
	Call        string    `json:"call"`
	Status      int       `json:"status"`
	App         string    `json:"x-app-rate-limit"`
	AppCount    string    `json:"x-app-rate-limit-count"`
	Method      string    `json:"x-method-rate-limit"`
	MethodCount string    `json:"x-method-rate-limit-count"`
}

// TestRecordedHeaders replays what Riot really sent: after each answer every
// bucket holds at least as many calls as the server counted.
func TestRecordedHeaders(t *testing.T) {
	var all []recorded
	readFixture(t, "http/header-sequence.2017-2019.json", &all)
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		for _, r := range all {
			if d := time.Until(r.Date); d > 0 {
				time.Sleep(d)
			}
			p, err := l.Acquire(t.Context(), Request{Host: r.App, Method: r.Call}) // one host per key
			if err != nil {
				t.Fatal(err)
			}
			got := p.Done(r.Status, headersOf("X-App-Rate-Limit", r.App, "X-App-Rate-Limit-Count", r.AppCount,
				"X-Method-Rate-Limit", r.Method, "X-Method-Rate-Limit-Count", r.MethodCount))
			checkReadings(t, l, r, got)
		}
	})
}

func checkReadings(t *testing.T, l *Limiter, r recorded, got Receipt) {
	t.Helper()
	limits, err := parseLimits(r.App)
	counts, err2 := parsePairs(r.AppCount)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for i, w := range limits {
		if n := used(l, newWindow("app:"+r.App, w, false).name); n < counts[i].N {
			t.Errorf("%v %s: the server counts %s, we count %d", r.Date, r.Call, r.AppCount, n)
		}
	}
	for _, b := range got.Buckets {
		if b.Server < 0 {
			t.Errorf("%v %s: no count of the server for %s", r.Date, r.Call, b.Bucket)
		}
	}
}

// TestRecorded429s replays the recorded refusals.
func TestRecorded429s(t *testing.T) {
	for file, want := range map[string]struct {
		kind Kind
		wait time.Duration
	}{
		"http/429.application.2020.json":         {Application, 3 * time.Second},
		"http/429.application.2022.partial.json": {Application, 120 * time.Second},
		"http/429.service.2021.partial.json":     {Service, 4 * time.Second},
	} {
		t.Run(file, func(t *testing.T) {
			var rec struct {
				Status  int
				Headers [][2]string
			}
			readFixture(t, file, &rec)
			h := http.Header{}
			for _, kv := range rec.Headers {
				h.Add(kv[0], kv[1])
			}
			synctest.Test(t, func(t *testing.T) {
				l := learnt(t, Options{})
				r := take(t, l, matches).Done(rec.Status, h)
				if r.Throttle != want.kind || time.Until(r.RetryAt) != want.wait {
					t.Errorf("%s for %v, want %s for %v", r.Throttle, time.Until(r.RetryAt), want.kind, want.wait)
				}
			})
		})
	}
}

// readFixture reads a recorded answer, or skips the test on a plain clone.
func readFixture(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures(), name))
	if err != nil {
		t.Skip("no recorded fixtures: ", err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// fixtures is FARSIGHT_FIXTURES, else ../shared/fixtures/riot from go.mod up.
func fixtures() string {
	if dir := os.Getenv("FARSIGHT_FIXTURES"); dir != "" {
		return dir
	}
	for dir, _ := os.Getwd(); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "..", "shared", "fixtures", "riot")
		}
	}
	return ""
}
