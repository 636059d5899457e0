package local

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
)

// drain ends the session: nothing is claimed any more. After the signal running
// handlers get their grace; after an error they do not.
//
//	signal ──▶ nothing is chosen ──▶ grace ──▶ handlers are cancelled ──▶ stopPatience ──▶ abandon
func (b *Backend) drain(s *session) {
	crash.Point("drain-begun")
	gone := make(chan struct{})
	go func() {
		b.group.Wait()
		close(gone)
	}()
	if s.failure() == nil {
		waitFor(gone, grace)
	}
	crash.Point("drain-grace-over")
	s.stop(engine.ErrShutdown)
	if !waitFor(gone, stopPatience) {
		// What they bring later is stale.
		for _, r := range b.idx.running() {
			b.counts.deaf.Add(1)
			of(b.opt.Log.Error(), r.job).Msg("handler does not answer the stop; its job is handed back without it")
			b.withdraw(r)
			b.handBack(s, r.job)
		}
	}
	b.idx.shut()
	crash.Point("drain-done")
}

// waitFor reports whether gone was closed within d.
func waitFor(gone <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-gone:
		return true
	case <-t.C:
		return false
	}
}
