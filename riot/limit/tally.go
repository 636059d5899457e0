package limit

import (
	"math"
	"slices"
	"sort"
	"time"
)

// instant is a monotonic reading: time since the limiter was made.
type instant = time.Duration

// never is later than every instant: "an event must happen first".
const never instant = math.MaxInt64

// tally is the bounded-arrival log of one scope. All slices are ascending.
type tally struct {
	own     []instant // answered calls of ours: latest instant at which the server saw each
	foreign []instant // calls that only the server's counts tell of, likewise
	sent    []instant // grants of our calls of this process, answered or not
	flying  int       // granted and not answered: no bound yet
	adopted int       // those of flying that another process has let go
	held    int       // places reserved for claimed jobs
	left    int       // bulk calls that are to come on the host, see host.demand
}

// after counts the elements of s that are later than x.
func after(s []instant, x instant) int {
	return len(s) - sort.Search(len(s), func(i int) bool { return s[i] > x })
}

// grant opens an entry for a call that may be written from now on.
func (t *tally) grant(now instant) {
	t.flying++
	t.sent = append(t.sent, now)
}

// adopt opens an entry for a call that another process has let go.
func (t *tally) adopt() {
	t.flying++
	t.adopted++
}

// resolve gives a flying call its bound.
func (t *tally) resolve(bound instant) {
	t.flying--
	t.own = insert(t.own, bound)
}

// refund forgets a flying call that never reached the server.
func (t *tally) refund(granted instant) {
	t.flying--
	t.sent = remove(t.sent, granted)
}

// forget removes an answered call that the server did not count.
func (t *tally) forget(granted, bound instant) {
	t.own = remove(t.own, bound)
	t.sent = remove(t.sent, granted)
}

// assume adds n calls of ours that this process did not grant itself.
func (t *tally) assume(n int, bound instant) {
	for range n {
		t.own = insert(t.own, bound)
	}
}

// strangers adds n calls made by somebody else.
func (t *tally) strangers(n int, bound instant) {
	for range n {
		t.foreign = insert(t.foreign, bound)
	}
}

// abandon gives every flying call a bound, for when their answers are lost.
func (t *tally) abandon(bound instant) {
	t.assume(t.flying, bound)
	t.flying, t.adopted = 0, 0
}

// countable is the largest count the server may have answered, of the calls in
// this log, to a call granted at sent and answered at answered: whatever may
// have arrived within d before it. Calls granted after the answer are not in it,
// nor are adopted ones in flight: of the process that let them go other calls may be
// unknown here, and one that has not arrived yet must not pass for one of those.
func (t *tally) countable(sent, answered, d instant) int {
	cut := sent - d
	return t.flying - t.adopted + after(t.own, cut) + after(t.foreign, cut) - after(t.sent, answered)
}

// ownCountable is countable of our own calls alone.
func (t *tally) ownCountable(sent, answered, d instant) int {
	return t.flying + after(t.own, sent-d) - after(t.sent, answered)
}

// since bounds the calls that the server may have seen after it counted a call
// granted at sent.
func (t *tally) since(sent instant) int {
	return t.held + t.flying + after(t.own, sent) + after(t.foreign, sent)
}

// certain counts, from below, our calls that arrived after from and were
// answered by to: the server must have seen them in between.
func (t *tally) certain(from, to instant) int {
	return after(t.sent, from) - t.flying - after(t.own, to)
}

// prune drops what is older than every window.
func (t *tally) prune(before instant) {
	t.own = t.own[len(t.own)-after(t.own, before):]
	t.foreign = t.foreign[len(t.foreign)-after(t.foreign, before):]
	t.sent = t.sent[len(t.sent)-after(t.sent, before):]
}

// insert keeps s ascending; entries come nearly in order, so it looks from the end.
func insert(s []instant, x instant) []instant {
	i := len(s)
	for i > 0 && s[i-1] > x {
		i--
	}
	return slices.Insert(s, i, x)
}

func remove(s []instant, x instant) []instant {
	i, found := slices.BinarySearch(s, x)
	if !found {
		return s
	}
	return slices.Delete(s, i, i+1)
}
