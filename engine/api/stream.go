package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// stream writes frames to one watcher. Updates and beats come from two goroutines.
type stream struct {
	mu sync.Mutex
	w  http.ResponseWriter
	rc *http.ResponseController
	n  uint64
	// last is when the last frame was written.
	last time.Time
}

// write sends a frame. It waits for the reader, who may be slow, but not for ever;
// meanwhile the hub merges what happens.
func (s *stream) write(f Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	f.N = s.n
	raw, err := encode(f)
	if err != nil {
		return err
	}
	if err := s.rc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write(raw); err != nil {
		return err
	}
	s.last = time.Now()
	return s.rc.Flush()
}

// silent reports whether nothing was written for so long. A frame that is being
// written counts as none: its reader is slow, not waiting.
func (s *stream) silent(span time.Duration) bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	return time.Since(s.last) >= span
}

// watch streams the console's updates until the reader or the server goes.
func (s *Server) watch(w http.ResponseWriter, r *Request) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if end, ok := r.Context().Value(endKey{}).(context.Context); ok {
		defer context.AfterFunc(end, cancel)()
	}
	s.streams.Add(1)
	defer s.streams.Add(-1)
	w.Header().Set("Content-Type", typeStream)
	w.WriteHeader(http.StatusOK)
	out := &stream{w: w, rc: http.NewResponseController(w)}
	hello := s.helloTo(r.Caller)
	if out.write(Frame{Hello: &hello}) != nil {
		return nil
	}
	var beats sync.WaitGroup
	defer beats.Wait()
	defer cancel()
	beats.Go(func() {
		defer cancel()
		s.beat(ctx, out)
	})
	for u := range s.opt.Console.Watch(ctx) {
		if out.write(Frame{Update: own(u)}) != nil || !pause(ctx, s.pace()) {
			break
		}
	}
	return nil
}

// frameCost is the time between two updates that each stream adds for all of them:
// however many watch, the engine makes no more than a hundred updates a second.
const frameCost = 10 * time.Millisecond

// pace is the least time between two updates of one stream.
func (s *Server) pace() time.Duration {
	return max(s.opt.Pace, time.Duration(s.streams.Load())*frameCost)
}

func own(u engine.Update) *engine.Update { return &u }

// beat keeps a silent stream alive, so that its reader can tell an idle engine from
// one that has stopped.
func (s *Server) beat(ctx context.Context, out *stream) {
	for pause(ctx, s.opt.Beat) {
		if out.silent(s.opt.Beat) && out.write(Frame{}) != nil {
			return
		}
	}
}

// pause waits; false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
