package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/fold"
)

// stream writes numbered frames to one watcher.
type stream struct {
	w   http.ResponseWriter
	n   uint64
	buf []byte
}

// write sends a frame whose members, but for its number, are encoded already. It
// waits for the reader, who may be slow, but not for ever; meanwhile the relay keeps
// what happens for them, or a snapshot.
func (s *stream) write(rest []byte) error {
	// {"n":7,"update":{…}}
	s.n++
	s.buf = append(strconv.AppendUint(append(s.buf[:0], `{"n":`...), s.n, 10), rest...)
	err := writeSlowly(s.w, s.buf)
	if cap(s.buf) > keptBuffer {
		s.buf = nil
	}
	return err
}

// keptBuffer is the most that a stream keeps between two frames: a snapshot may be
// a thousand times as large as what follows it.
const keptBuffer = 64 << 10

// emptyFrame says that the engine lives.
var emptyFrame = []byte("}\n")

// hello is the first frame.
func (s *stream) hello(h Hello) error {
	raw, err := encode(h)
	if err != nil {
		return err
	}
	return s.write(append(append([]byte(`,"hello":`), raw[:len(raw)-1]...), emptyFrame...))
}

// watch streams the console's updates until the reader or the server goes. hello is written before
// joining: a reader who takes nothing costs the relay nothing.
func (s *Server) watch(w http.ResponseWriter, r *Request) error {
	ctx, cancel := untilEnd(r.Context())
	defer cancel()
	w.Header().Set("Content-Type", typeStream)
	passOn(w)
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil // nothing follows it
	}
	out := &stream{w: w}
	if out.hello(s.helloTo(r.Caller)) != nil {
		return nil
	}
	in := s.relay.join(ctx)
	defer s.relay.leave(in)
	beat := time.NewTimer(s.opt.Beat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if out.write(emptyFrame) != nil {
				return nil
			}
		case <-in.bell:
			if out.pass(in) != nil {
				return nil
			}
		case <-in.run.done:
			_ = out.pass(in)
			return nil
		}
		beat.Reset(s.opt.Beat)
	}
}

// pass writes what a watcher has been given.
func (s *stream) pass(in *watcher) error {
	for _, p := range in.drain() {
		raw, err := p.bytes()
		if err != nil {
			return err
		}
		if err := s.write(raw); err != nil {
			return err
		}
	}
	return nil
}

// boxJobs is how many changed and gone jobs wait at most for a screen that does not
// take them.
const boxJobs = 20000

// errBehind says that too much waits: a snapshot costs less.
var errBehind = errors.New("too far behind")

// box merges updates until they are taken. One goroutine puts and closes, one takes.
type box struct {
	bell await.Bell // capacity 1

	mu   sync.Mutex
	some bool
	rows fold.Rows
	end  error
}

func newBox() *box { return &box{bell: await.NewBell()} }

// merge lays an update over what waits. errBehind ends the stream: a snapshot of everything is smaller
// than that many changed rows.
func (b *box) merge(u engine.Update) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.some = true
	b.rows.Add(u)
	b.bell.Ring()
	if !b.rows.Whole().Snapshot && b.rows.Changed() > boxJobs {
		return errBehind
	}
	return nil
}

// close says that nothing more will come.
func (b *box) close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = err
	// What waits is dropped: the snapshot of the next stream holds it.
	if errors.Is(err, errBehind) {
		b.some, b.rows = false, fold.Rows{}
	}
	b.bell.Ring()
}

// next waits for something and takes everything out. What came before the end is
// given first.
func (b *box) next(ctx context.Context) (engine.Update, error) {
	for {
		if u, ok, err := b.poll(); ok || err != nil {
			return u, err
		}
		select {
		case <-b.bell:
		case <-ctx.Done():
			if u, ok, err := b.poll(); ok || err != nil {
				return u, err
			}
			return engine.Update{}, context.Cause(ctx)
		}
	}
}

// poll takes what there is without waiting. Once everything was taken it gives the error of the end.
func (b *box) poll() (u engine.Update, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// What came before the end is told before it.
	if !b.some {
		return u, false, b.end
	}
	u, b.some, b.rows = b.rows.Update(), false, fold.Rows{}
	return u, true, nil
}
