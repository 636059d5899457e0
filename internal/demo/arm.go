package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// fallAt is how many matches of the demo's first account are settled when the engine
// is killed by the preset `restart at 134/879`.
const fallAt = 134

// singly is how many matches before that, given out or settled, the simulator begins to give
// out one match at a time, each when the one before is on disk. A group commit could hold two
// of them otherwise, and the account would never stand at 134.
const singly = 40

// fallLimits make the account get there within 20 seconds, beside the two others; the
// usual limits are back when the engine is.
var fallLimits = sim.Limits{App: []sim.Limit{{N: 40, Per: time.Second}, {N: 480, Per: 12 * time.Second}}}

// outPatience bounds the wait for a match that does not end in a commit. One that ends in one
// takes milliseconds, and on a busy machine seconds.
const outPatience = time.Minute

// armed is the trap of `restart at 134/879`.
type armed struct {
	account string // Riot ID

	mu     sync.Mutex
	set    bool
	shut   bool                 // the engine has been killed: no match is given out
	done   int                  // settled matches of the account's run
	total  int                  // of all
	open   bool                 // the run is under way
	out    map[string]time.Time // matches that were given out and are not on disk; since when
	moved  chan struct{}        // closed when one may be given out that waits
	result killSeen
}

// killSeen is what was seen of a kill.
type killSeen struct {
	at       time.Time
	done     int
	repeated int // calls for what had been delivered, before
	resumed  int // matches settled when the run went on; -1 = not yet
	orphans  int // attempts that were given back
}

// newArmed is a trap for an account, by its Riot ID, which is not set.
func newArmed(account string) *armed {
	return &armed{account: account, out: map[string]time.Time{}, moved: make(chan struct{})}
}

// late reports whether the account is too near to the mark, past it, or has ended its
// run: then the demo has to begin anew.
func (a *armed) late() (done, total int, late bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.done, a.total, a.done > fallAt-singly || !a.open && a.total > 0
}

// arm sets the trap, or takes it away; either way whatever waits at the door looks again.
func (a *armed) arm(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set, a.shut = on, false
	if on {
		a.result = killSeen{}
	}
	a.move()
}

// forget begins with another run.
func (a *armed) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done, a.total, a.open = 0, 0, false
	clear(a.out)
}

// move has the matches that wait look again. The caller holds the lock.
func (a *armed) move() {
	close(a.moved)
	a.moved = make(chan struct{})
}

// observe takes a commit in, and reports that the mark has been reached.
func (a *armed) observe(changes []engine.Change) (reached bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range changes {
		switch c := &changes[i]; {
		case c.Account != nil && c.Account.RiotID == a.account:
			a.row(c.Account)
		// The job of a match that was given out has ended or waits: the match is on disk, or will be
		// asked for again.
		case c.Job != nil && c.Job.State != engine.Running:
			delete(a.out, c.Job.Key)
		// After the kill each attempt that was in hand is given back by the engine that follows.
		case c.Attempt != nil && c.Attempt.Verb == engine.VerbInterrupted && !a.result.at.IsZero():
			a.result.orphans++
		}
	}
	defer a.move()
	if !a.set || !a.open || a.done < fallAt {
		return false
	}
	a.set, a.shut = false, true
	a.result = killSeen{at: time.Now(), done: a.done, resumed: -1}
	return true
}

// row takes in how far the account is. The caller holds the lock.
func (a *armed) row(r *engine.AccountRow) {
	a.done, a.open = r.Matches.Done(), r.Status.Open()
	a.total = max(r.Matches.Total, 0)
	if r.Resumed > 0 && a.result.resumed < 0 {
		a.result.resumed = r.ResumedAt
	}
}

// door lets one match after the other through when the mark is near.
func (a *armed) door(ctx context.Context, m route.Method, id string) {
	for m == route.Match {
		ok, moved := a.admit(thingOf(m, id))
		if ok {
			return
		}
		select {
		case <-moved:
		case <-time.After(outPatience):
		case <-ctx.Done():
			return
		}
	}
}

// admit reports whether a match may go out now; if not, moved tells when to ask again.
func (a *armed) admit(thing string) (ok bool, moved <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for other, since := range a.out {
		if now.Sub(since) >= outPatience {
			delete(a.out, other)
		}
	}
	// Counted with what is out: it may all be settled before anybody looks again.
	near := a.set && a.open && a.done+len(a.out) >= fallAt-singly
	if a.shut || near && len(a.out) > 0 {
		return false, a.moved
	}
	a.out[thing] = now
	return true, nil
}

// reopen gives matches out again; repeated is how many calls were made twice before
// the fall.
func (a *armed) reopen(repeated int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shut, a.result.repeated = false, repeated
	clear(a.out)
	a.move()
}

// stand is how far the account is.
func (a *armed) stand() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fmt.Sprintf("%s at %d/%d", a.account, a.done, a.total)
}

// resumed tells where the account went on after the fall; false while it has not.
func (a *armed) resumed() (text string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fmt.Sprintf("%s resumed at %d/%d, %d attempts of the killed engine given back", a.account, a.result.resumed, a.total, a.result.orphans), a.result.resumed >= 0
}

// status is how the trap stands; on is false when it is not set.
func (a *armed) status() (text string, on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.set:
		return fmt.Sprintf("at %d/%d", min(a.done, fallAt), fallAt), true
	case !a.result.at.IsZero() && a.result.resumed < 0:
		return "killed", true
	}
	return "", false
}

// seen is what the engine did; repeated is how many calls were made twice by now.
func (a *armed) seen(repeated int) (text string, hits int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.result
	switch {
	case f.at.IsZero():
		return "", 0
	case f.resumed < 0:
		return fmt.Sprintf("killed at %d/%d, starts again", f.done, a.total), 1
	}
	return fmt.Sprintf("resumed %d/%d, %d fetched twice, %d given back", f.resumed, a.total, max(repeated-f.repeated, 0), f.orphans), 1
}
