package limit

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// line dispatches n bulk calls as the engine does, and gives the instants at which they were let go.
func line(t *testing.T, l *Limiter, s *server, n int) (went []time.Duration) {
	began := time.Now()
	l.SetBacklog(testHost, n)
	for i := range n {
		r := bulk(strconv.Itoa(i))
		admit(l, r)
		p, err := l.Acquire(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		went = append(went, time.Since(began))
		go s.call(p, 1_000_000+i, testHost, matches)
	}
	return went
}

// TestTheForecastIsWhatTheLimiterThenDoes: whatever was called before and however many
// wait, the first job of a line goes when it was foretold, but for an answer and for the
// time in which one place comes free, since pacing looks again whenever one does (1.2 s
// at 100 calls per 2 min); every other one within the limit's window.
func TestTheForecastIsWhatTheLimiterThenDoes(t *testing.T) {
	const answer = 50 * time.Millisecond
	rapid.Check(t, func(rt *rapid.T) {
		app := rapid.SampledFrom([]string{"20:1,100:120", "20:1,100:12", "50:5", "10:10"}).Draw(rt, "app")
		before := rapid.IntRange(1, 250).Draw(rt, "called before")
		idle := time.Duration(rapid.IntRange(0, 30_000).Draw(rt, "idle ms")) * time.Millisecond
		of := rule(rapid.IntRange(0, 2).Draw(rt, "rule"))
		n := rapid.IntRange(1, 150).Draw(rt, "wait")
		bad := ""
		synctest.Test(t, func(t *testing.T) {
			s, l := newServer(of, app), New(Options{})
			s.link = jitter(answer/4, 0)
			line(t, l, s, before)
			time.Sleep(answer + idle)
			l.SetBacklog(testHost, n)
			o := l.Outlook(testHost)
			want := make([]Estimate, n)
			for i := range want {
				want[i] = o.Turn(matches, i+1)
			}
			longest := o.h.app.windows[len(o.h.app.windows)-1]
			place := longest.Per / time.Duration(longest.N)
			for i, at := range line(t, l, s, n) {
				off := at - want[i].Wait
				if i == 0 && off.Abs() > answer+place || off.Abs() > longest.Per {
					bad = strconv.Itoa(i) + " went at " + at.String() + ", foretold " + want[i].Wait.String()
					break
				}
			}
			time.Sleep(time.Minute)
		})
		if bad != "" {
			rt.Fatal(bad)
		}
	})
}
