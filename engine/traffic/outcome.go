package traffic

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

// Classes of failures that are not the answer of a call.
const (
	classPath    engine.Class = "403.path" // the key works, this target is refused
	classStorage engine.Class = "storage"
)

// confirmAfter is when a `latest` run asks again for a match that answered 404.
const confirmAfter = 300 * time.Second

// diskRetry is when work is tried again after the disk was full.
const diskRetry = 10 * time.Second

// situation is what a verdict depends on besides the error.
type situation struct {
	now      time.Time     // by the process's own clock: what follows from it is a wait
	next     time.Time     // when held work may be tried again
	outage   bool          // the breaker of this host and method is open
	keyWorks bool          // 401, 403: others are let in
	again    bool          // and the call before was refused likewise
	missing  Disbelief     // 404: what is made of it
	wave     time.Duration // 404: all others of the host are missing, too; for how long the job is held
	read     bool          // 400 "Exception decrypting": the key has read this PUUID before
}

// Disbelief is how far a 404 is believed.
type Disbelief uint8

// How far a 404 is believed.
const (
	Believed     Disbelief = iota // it is final
	AskOnceMore                   // after confirmAfter, and then it is
	AskByTable                    // as if it were a fault of the server
	StillMissing                  // it was 404 before: it is final, and no sign of a wave
)

// verdicts say what a failed call means for its job: this table decides, and
// nothing else does. A reason that is not in it is taken as a fault of the server: it is tried again
// and charged.
var verdicts = map[riot.Reason]func(*riot.Error, situation) engine.Outcome{
	riot.Throttled:    untilRetryAt,
	riot.Transient:    retryUnlessOutage,
	riot.Timeout:      retryUnlessOutage,
	riot.Local:        hold(engine.HoldLocalNetwork),
	riot.Missing:      missing,
	riot.BadRequest:   permanent,
	riot.WrongProject: wrongProject,
	riot.Denied401:    denied,
	riot.Denied403:    denied,
	riot.Blocked:      denied,
	riot.NoKey:        hold(engine.HoldKeyInvalid),
	riot.Malformed:    retryWithExcerpt,
	riot.TooLarge:     retryWithExcerpt,
}

// outcomeOf maps the error of an attempt to its outcome. An error that is none
// of Riot's is the context's cause, which the backend knows better, or a fault
// of the store.
func outcomeOf(err error, s situation) engine.Outcome {
	e, ok := errors.AsType[*riot.Error](err)
	if !ok {
		return faultOf(err, s)
	}
	verdict, ok := verdicts[e.Reason]
	if !ok {
		verdict = retryUnlessOutage
	}
	o := verdict(e, s)
	if o.Class == "" {
		o.Class = engine.Class(e.Class)
	}
	if o.Err == nil {
		o.Err = err
	}
	return o
}

// untilRetryAt: a 429 is no failure of the job, whatever kind it is. The instant is at least a second
// away, or the job would be claimed and refused in a hot loop, and at most a LongHold: then the limiter
// keeps it, or lets it ask whether the wait is over.
func untilRetryAt(e *riot.Error, s situation) engine.Outcome {
	soonest, latest := s.now.Add(time.Second), s.now.Add(limit.LongHold)
	at := e.RetryAt
	if at.Before(soonest) {
		at = soonest
	}
	if at.After(latest) {
		at = latest
	}
	return engine.Snooze(at, engine.HoldThrottled, nil)
}

// retryUnlessOutage: what fails for everybody is not held against one job.
func retryUnlessOutage(_ *riot.Error, s situation) engine.Outcome {
	if s.outage {
		return engine.Snooze(s.next, engine.HoldOutage, nil)
	}
	return engine.Retry(nil)
}

// hold sends the job back uncharged until the gate tries again.
func hold(why engine.Hold) func(*riot.Error, situation) engine.Outcome {
	return func(_ *riot.Error, s situation) engine.Outcome { return engine.Snooze(s.next, why, nil) }
}

// missing is the verdict on a 404. Each try that is asked for is charged, so that it comes to an end. In a wave
// of them it says nothing of this match.
func missing(e *riot.Error, s situation) engine.Outcome {
	if s.wave > 0 {
		return engine.Snooze(s.now.Add(s.wave), engine.HoldOutage, nil)
	}
	switch s.missing {
	case AskByTable:
		return engine.Retry(nil)
	case AskOnceMore:
		o := engine.Retry(nil)
		o.At = s.now.Add(confirmAfter)
		return o
	}
	return permanent(e, s)
}

// permanent ends the job: the same call would be answered the same.
func permanent(*riot.Error, situation) engine.Outcome { return engine.Fail(nil) }

// wrongProject is the verdict on a PUUID that the key is said not to read. A key never changes its
// project: where it has read the PUUID the answer is what is wrong.
func wrongProject(e *riot.Error, s situation) engine.Outcome {
	if s.read {
		return engine.Retry(nil)
	}
	return permanent(e, s)
}

// refusedAgain is when a target is asked for once more that alone was refused.
const refusedAgain = 5 * time.Second

// denied is the verdict on a 401 or 403, which Riot gives for a dead key and for a path that the key may not
// call, and a firewall before Riot for a target that it does not like.
func denied(e *riot.Error, s situation) engine.Outcome {
	switch {
	case s.keyWorks && s.again:
		return engine.Fail(fmt.Errorf("%w: others are let in with this key, so that it is this target's", e)).As(classPath)
	case s.keyWorks:
		return engine.Snooze(s.now.Add(refusedAgain), engine.HoldOutage, nil).As(classPath)
	case e.Reason == riot.Blocked:
		return retryUnlessOutage(e, s)
	}
	return engine.Snooze(s.next, engine.HoldKeyInvalid, nil)
}

// retryWithExcerpt keeps the start of what Riot sent, cleaned and cut by the
// client to 200 characters.
func retryWithExcerpt(e *riot.Error, _ situation) engine.Outcome {
	if e.Excerpt == "" {
		return engine.Retry(nil)
	}
	return engine.Retry(fmt.Errorf("%w: it began %q", e, e.Excerpt))
}

// faultOf judges errors from this side of the wire. A full disk is not charged: it is the machine's and
// ends when somebody makes room. Other faults of the store are, lest a record that cannot be written be
// tried for ever.
func faultOf(err error, s situation) engine.Outcome {
	switch {
	case errors.Is(err, engine.ErrShutdown), errors.Is(err, engine.ErrCancelled), errors.Is(err, engine.ErrRescued):
		return engine.Retry(err) // the backend, which cancelled, overrules it
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return engine.Retry(err).As(riot.ClassTimeout)
	case errors.Is(err, syscall.ENOSPC):
		return engine.Snooze(s.now.Add(diskRetry), engine.HoldDiskFull, err).As(classStorage)
	}
	return engine.Retry(err).As(classStorage)
}

// Fault is the outcome of an error from this side of the wire: a store that did not
// answer, or the end of the attempt's context.
func Fault(err error) engine.Outcome { return faultOf(err, situation{now: time.Now()}) }
