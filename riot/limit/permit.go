package limit

import "time"

// Permit is the right to make one call. Tell it what happens to the call: Wrote
// and FirstByte when they are known, then exactly one of Done, Lost or Refund.
// All methods may be called again without effect and from any goroutine.
type Permit struct {
	l       *Limiter
	h       *host
	m       *scope
	granted instant
	life    uint64 // of the host, when granted

	appEpoch    uint64
	methodEpoch uint64

	wrote    bool
	answered bool
	bound    instant // if answered
	gone     bool    // its log entry was abandoned by Suspended
	adopted  bool    // granted by the limiter of a process that has ended
	// blind: when it was granted no header had told the limits of its host, or of its
	// method. That is so of the first call on each, which goes alone and asks for them.
	blind   bool
	ended   bool
	receipt Receipt
}

// Receipt is the record of one call for a flight recorder.
type Receipt struct {
	Job      string
	Host     string
	Method   string
	Waited   time.Duration // for a place
	PacedBy  string        // the bucket that was waited for last; "" if none
	Status   int           // 0: no answer
	Throttle Kind          // of a 429, else ""
	RetryAt  time.Time     // of a 429: when its scope opens again
	Buckets  []Reading
}

// Reading is one bucket as a call saw it.
type Reading struct {
	Bucket  string
	Scope   Scope
	Limit   Limit
	Ceiling bool // from the configuration: no server counts it
	Server  int  // the server's own count in the answer; -1: it told none
	// Ours is how many of our own calls, this one included, the server can have
	// counted in the window when it answered: none of ours is left out, so that a
	// larger count of the server's tells of somebody else's calls. -1: no answer.
	Ours int
}

// Waited is how long the call waited for its place.
func (p *Permit) Waited() time.Duration { return p.receipt.Waited }

// PacedBy names the bucket that the call waited for last, "" if it did not wait.
func (p *Permit) PacedBy() string { return p.receipt.PacedBy }

// Wrote says that the request has been written: from now on the server may count it.
func (p *Permit) Wrote() {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	p.wrote = true
}

// FirstByte says that the answer begins: the server has counted the call by now.
func (p *Permit) FirstByte() {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	p.resolve(p.l.now())
}

// Adopt takes over a call that the limiter of another process has let go, so long ago, and that
// is still open: it counts as in flight until its permit ends. Call it after Restore and before
// the first call of this limiter's own. What its answer counts proves nothing, for nobody here
// knows what was let go beside it.
func (l *Limiter) Adopt(r Request, ago time.Duration) *Permit {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.host(r.Host)
	m := h.method(r.Method)
	p := &Permit{
		l: l, h: h, m: m, life: h.life, adopted: true, granted: min(l.now()-ago, -1), // before every grant of l
		appEpoch: h.app.gate.epoch - 1, methodEpoch: m.gate.epoch - 1, // it takes no turn at a gate
		receipt: Receipt{Job: r.Job, Host: r.Host, Method: r.Method},
	}
	h.app.adopt()
	m.adopt()
	return p
}

// resolve gives the call's entries their bound.
func (p *Permit) resolve(bound instant) {
	if p.answered || p.ended {
		return
	}
	p.answered, p.bound = true, bound
	p.gone = p.life != p.h.life
	if p.gone {
		return
	}
	for _, s := range []*scope{p.h.app, p.m} {
		s.resolve(bound)
		s.adopted -= b2i(p.adopted)
	}
}

// Lost ends the permit of a call that failed after it may have been written: the
// server may have counted it, or may do so within a second.
func (p *Permit) Lost() Receipt {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	p.lose(p.l.now())
	return p.receipt
}

func (p *Permit) lose(now instant) {
	if p.ended {
		return
	}
	p.resolve(now + straggle)
	for _, s := range []*scope{p.h.app, p.m} {
		p.uncounted(s)
		s.slowDown(p.bound)
	}
	p.end(false)
	p.l.notify(p.h, now)
}

// slowDown keeps calls apart that are lost one after the other while no limit
// is known that would.
func (s *scope) slowDown(until instant) {
	if !s.known && until > s.block.until {
		s.block.kind, s.block.until, s.block.asks = NoAnswer, until, 0
	}
}

// straggle is how late after a failure a written request may still reach the server.
const straggle = time.Second

// Refund ends the permit of a call that was never written; its place is free
// again. After Wrote it is the same as Lost.
func (p *Permit) Refund() Receipt {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	now := p.l.now()
	if p.wrote || p.answered {
		p.lose(now)
		return p.receipt
	}
	p.refund(now)
	p.l.notify(p.h, now)
	return p.receipt
}

func (p *Permit) refund(now instant) {
	if p.ended {
		return
	}
	if p.life == p.h.life {
		for _, s := range []*scope{p.h.app, p.m} {
			s.refund(p.granted)
			s.adopted -= b2i(p.adopted)
		}
	}
	if p.blind { // it was never sent
		p.h.blind--
	}
	p.end(false)
}

// unspend takes an answered call out of the log that the server did not count.
func (p *Permit) unspend() {
	if p.gone {
		return
	}
	p.h.app.forget(p.granted, p.bound)
	p.m.forget(p.granted, p.bound)
}

// uncounted keeps the call as spent but not as proof: nothing shows that the
// server has seen it.
func (p *Permit) uncounted(s *scope) { s.sent = remove(s.sent, p.granted) }

func (p *Permit) end(well bool) {
	p.ended = true
	p.h.app.gate.leave(p.appEpoch, well)
	p.m.gate.leave(p.methodEpoch, well)
}
