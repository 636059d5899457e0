package limit

import (
	"context"
	"math"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/internal/scratch"
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
// wait, the first job of a line goes when it was foretold, but for an answer; every other
// one within the limit's window, after the answer that shows that a new one began.
func TestTheForecastIsWhatTheLimiterThenDoes(t *testing.T) {
	const answer = 50 * time.Millisecond
	atMost(t, scratch.Sized(30, math.MaxInt))
	rapid.Check(t, func(rt *rapid.T) {
		app := rapid.SampledFrom([]string{"20:1,100:120", "20:1,100:12", "50:5", "10:10"}).Draw(rt, "app")
		before := rapid.IntRange(1, 1000).Draw(rt, "called before")
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
			bound := answer
			for i, at := range line(t, l, s, n) {
				if off := at - want[i].Wait; off.Abs() > bound {
					bad = strconv.Itoa(i) + " went at " + at.String() + ", foretold " + want[i].Wait.String()
					break
				}
				bound = longest.Per + answer + lead
			}
			time.Sleep(time.Minute)
		})
		if bad != "" {
			rt.Fatal(bad)
		}
	})
}

// inLine is a limiter by which calls were made to a server of some limits, and with more in line a while later.
func inLine(t *testing.T, limits string, made int, later time.Duration, more int) (*Limiter, *server) {
	s, l := newServer(lazy, limits), New(Options{})
	s.link = jitter(12500*time.Microsecond, 0)
	line(t, l, s, made)
	time.Sleep(later)
	l.SetBacklog(testHost, more)
	return l, s
}

// A place that comes free is paced like every other: the first of ten in a full line waits
// past it, as the limiter then lets it.
func TestTheFirstTurnIsPacedPastThePlaceThatComesFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := inLine(t, "20:1,100:12", 185, 50*time.Millisecond, 10)
		o := l.Outlook(testHost)
		free, turn := o.After(matches, 1).Wait, o.Turn(matches, 1).Wait
		if went := line(t, l, s, 10)[0]; turn != went || went <= free {
			t.Errorf("a place is free after %s, foretold %s, went after %s", free, turn, went)
		}
		time.Sleep(time.Minute)
	})
}

// Behind a window that has ended the next call may open one: a line that fits into no single window is not foretold by
// the windows that would have followed it.
func TestTheForecastFollowsNoWindowThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := inLine(t, "50:5", 660, 10_665*time.Millisecond, 133)
		o := l.Outlook(testHost)
		if at := o.Turn(matches, 52).Wait; at != 5*time.Second {
			t.Errorf("the second window is foretold after %s", at)
		}
		if at := o.Turn(matches, 101).Wait; at != 10*time.Second {
			t.Errorf("the third after %s", at)
		}
		time.Sleep(time.Minute)
	})
}

// TestNearTurnsAreForetoldOneByOne: places that come free together behind a burst are not used together, and each of the
// next calls goes when it was foretold, but for answers.
func TestNearTurnsAreForetoldOneByOne(t *testing.T) {
	for _, c := range []struct{ made, more int }{{30, 1000}, {60, 640}, {90, 1237}, {100, 450}, {115, 777}} {
		synctest.Test(t, func(t *testing.T) {
			l, s := inLine(t, "20:1,100:120", c.made, 20*time.Second, c.more)
			o := l.Outlook(testHost)
			var want []time.Duration
			for i := range nearTurns {
				want = append(want, o.Turn(matches, i+1).Wait)
			}
			if behind := o.Turn(matches, nearTurns+1).Wait; behind < want[nearTurns-1] {
				t.Errorf("after %d: one behind them goes at %s, before %s", c.made, behind, want[nearTurns-1])
			}
			for i, at := range line(t, l, s, c.more)[:nearTurns] {
				if off := at - want[i]; off.Abs() > 100*time.Millisecond {
					t.Errorf("after %d: call %d went at %s, foretold %s", c.made, i+1, at, want[i])
				}
			}
			time.Sleep(time.Minute)
		})
	}
}
