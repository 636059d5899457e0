package limit

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// The receipt sets the most that the server can have counted of ours beside what
// it says: answered calls of the window, those under way, and none of others.
func TestI9_ReceiptsCompareCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Pacing: Burst})
		call := func(count string) Receipt {
			p, err := l.Acquire(t.Context(), Request{Host: "europe", Method: "m"})
			if err != nil {
				t.Fatal(err)
			}
			p.Wrote()
			time.Sleep(50 * time.Millisecond)
			h := http.Header{}
			h.Set("X-App-Rate-Limit", "20:1,100:120")
			h.Set("X-App-Rate-Limit-Count", count)
			h.Set("X-Method-Rate-Limit", "50:10")
			return p.Done(http.StatusOK, h)
		}
		want := func(r Receipt, app1, app120, server1, server120, method int) {
			t.Helper()
			got := map[string][2]int{}
			for _, b := range r.Buckets {
				got[b.Bucket] = [2]int{b.Ours, b.Server}
			}
			for name, w := range map[string][2]int{
				"app:europe 1s": {app1, server1}, "app:europe 120s": {app120, server120}, "m:europe 10s": {method, -1},
			} {
				if got[name] != w {
					t.Errorf("%s: ours and server's are %v, want %v", name, got[name], w)
				}
			}
		}
		want(call("1:1,1:120"), 1, 1, 1, 1, 1)
		want(call("5:1,5:120"), 2, 2, 5, 5, 2)
		// The strangers that were seen are no calls of ours, ever.
		want(call("6:1,6:120"), 3, 3, 6, 6, 3)
		// One that is under way may have been counted.
		p, err := l.Acquire(t.Context(), Request{Host: "europe", Method: "m"})
		if err != nil {
			t.Fatal(err)
		}
		want(call("7:1,7:120"), 5, 5, 7, 7, 5)
		p.Refund()
		time.Sleep(11 * time.Second)
		want(call("1:1,8:120"), 1, 5, 1, 8, 1)
	})
}
