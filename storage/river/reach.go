package river

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/riot"
)

const (
	// cutOffAfter is how many calls in a row must not have left before a process counts as cut off.
	cutOffAfter = 3
	// firstKnock and mostKnock are how long a process that is cut off waits before it knocks: twice as
	// long each time, until a call is answered.
	firstKnock = time.Second
	mostKnock  = 30 * time.Second
)

// Reach knows whether this process reaches Riot: by its own calls while it makes any, and by knocking
// while it is cut off. One that is would take up the calls of all others as fast as it fails them.
type Reach struct {
	knock func(ctx context.Context, host string) error
	log   zerolog.Logger
	bell  await.Bell

	mu     sync.Mutex
	failed int // calls in a row that have not left
	host   string
	since  time.Time // it is cut off; zero = it is not
	pause  time.Duration
}

// NewReach makes a Reach that knocks at hosts so.
func NewReach(knock func(ctx context.Context, host string) error, log zerolog.Logger) *Reach {
	return &Reach{knock: knock, log: log, bell: await.NewBell(), pause: firstKnock}
}

// Note takes in how a call has ended.
func (r *Reach) Note(host string, status int, class string) {
	switch {
	case class == riot.ClassLocal:
		r.fails(host)
	case status != 0:
		r.reaches(true)
	}
}

// fails counts a call that did not leave this machine. Only the one that makes it cut off is told.
func (r *Reach) fails(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.host = r.failed+1, host
	if r.failed == cutOffAfter {
		r.since = time.Now()
		r.log.Warn().Str("host", host).Msg("this machine cannot reach Riot: it makes no calls for the leader until it can")
		r.bell.Ring()
	}
}

// reaches notes that Riot is in reach; answered, by a call and not only by a knock.
func (r *Reach) reaches(answered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.since.IsZero() {
		r.log.Info().Str("host", r.host).Msg("this machine reaches Riot again")
	}
	r.failed, r.since = 0, time.Time{}
	if answered {
		r.pause = firstKnock
	}
}

// CutOff is since when this process cannot reach Riot, by its own clock; the zero time when it can.
func (r *Reach) CutOff() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since
}

// run knocks while this process is cut off, until ctx ends.
func (r *Reach) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.bell:
		}
		for !r.CutOff().IsZero() && await.Pause(ctx, r.next()) {
			if r.knock(ctx, r.at()) == nil {
				r.reaches(false)
			}
		}
	}
}

// next is how long to wait for the next knock. Only an answered call makes the waits short again: a
// machine that gets through to knock, and no further, knocks less and less.
func (r *Reach) next() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := r.pause
	r.pause = min(2*wait, mostKnock)
	return wait
}

// at is the host that was not reached.
func (r *Reach) at() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.host
}
