package traffic

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// fuse is blown by a failure and repaired by a success. While it is blown, one
// job after `probe` may try; each failure of a probe doubles the wait.
//
//	blow    probe = now + first
//	admits  at probe, for one job; begin makes it the prober
//	blow    by the prober: the wait doubles, up to most
//	repair  by any good answer, also one of a straggler
//
// The gate's lock guards it.
type fuse struct {
	hold        engine.Hold
	first, most time.Duration // wait before a probe

	blown  bool
	since  time.Time
	probe  time.Time // the next try, unless a prober is under way
	room   time.Time // as was foreseen last, when the limits let that go
	wait   time.Duration
	prober engine.JobID
	idle   bool // the last probe was answered, and told nothing of the lane: the next goes in its turn

	told func(f *fuse) // that it blew or was repaired; must not block; nil = nobody
}

// newKeyFuse tries once a minute. A key that is put in place of a dead one need not wait for that: see
// forgetKey.
func newKeyFuse() fuse {
	return fuse{hold: engine.HoldKeyInvalid, first: time.Minute, most: time.Minute}
}

// newNetworkFuse begins with a second: a try that does not leave the machine takes nothing from Riot's
// limits.
func newNetworkFuse() fuse {
	return fuse{hold: engine.HoldLocalNetwork, first: time.Second, most: time.Minute}
}

// newOutageFuse begins with five seconds: each try of an endpoint that is down is a call which Riot
// counts.
func newOutageFuse() fuse {
	return fuse{hold: engine.HoldOutage, first: 5 * time.Second, most: time.Minute}
}

// leastProbe keeps the probes of a world that runs fast from being a flood.
const leastProbe = 50 * time.Millisecond

// at gives the fuse for a world that runs so many times as fast; 0 = as fast as this
// one.
func (f fuse) at(speed float64) fuse {
	if speed > 0 {
		f.first = max(time.Duration(float64(f.first)/speed), leastProbe)
		f.most = max(time.Duration(float64(f.most)/speed), leastProbe)
	}
	return f
}

// blow opens the fuse, or puts off the next probe when the prober failed. A
// straggler that was under way when it blew changes nothing.
func (f *fuse) blow(job engine.JobID, now time.Time) {
	switch {
	case !f.blown:
		f.blown, f.since, f.wait = true, now, f.first
		defer f.announce()
	case f.prober == job:
		f.wait = min(2*f.wait, f.most)
	default:
		return
	}
	f.prober, f.idle, f.probe = "", false, now.Add(f.wait)
}

// repair closes the fuse and reports whether it was blown.
func (f *fuse) repair() bool {
	was := f.blown
	f.blown, f.prober, f.wait = false, "", 0
	if was {
		f.announce()
	}
	return was
}

func (f *fuse) announce() {
	if f.told != nil {
		f.told(f)
	}
}

// next is when the next probe may go; zero = one is under way.
func (f *fuse) next() time.Time {
	if f.prober != "" {
		return time.Time{}
	}
	return engine.Latest(f.probe, f.room)
}

// release takes the probe back from a job that ended without an answer.
func (f *fuse) release(job engine.JobID) bool {
	if f.prober != job || job == "" {
		return false
	}
	f.prober = ""
	return true
}

// admits reports whether job may go; if not, when to ask again (zero: when the
// prober is back). It only asks: gate.begin makes the job the prober, once the limiter has admitted it,
// too.
func (f *fuse) admits(job engine.JobID, now time.Time) (until time.Time, ok bool) {
	switch {
	case !f.blown || f.prober == job:
		return time.Time{}, true
	case f.prober != "":
		return time.Time{}, false
	case now.Before(f.probe):
		return f.probe, false
	}
	return time.Time{}, true
}
