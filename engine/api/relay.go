package api

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/fold"
)

// Bounds of what waits for one watcher that does not take it. One who falls further
// behind is given a gap and a snapshot: the rest of the engine's consoles share what
// waits, so it costs a pointer each.
const (
	behindFrames = 16
	behindRows   = boxJobs
)

// Pace of the updates by how many watch: ten a second for a few, four for many.
const (
	paceEach = 5 * time.Millisecond
	paceMost = 250 * time.Millisecond
)

// relay watches the console once, whoever and however many look on: each change is
// merged, read and encoded one time, and what fifty consoles cost more than one is
// to hand them the same bytes. It runs while somebody watches.
type relay struct {
	con  engine.Console
	pace time.Duration
	log  zerolog.Logger

	mu  sync.Mutex
	now *relayRun // nil = nobody watches
}

// relayRun is the relay from the first watcher's coming to the last one's leaving.
type relayRun struct {
	stop context.CancelFunc
	done chan struct{} // closed when no more will come

	mu       sync.Mutex // guards what follows, and the watchers' mail
	watchers map[*watcher]struct{}
	// rows are what the watchers have been told so far. Whoever comes later is given them
	// as a snapshot: any other state would not fit the updates to come, which name only
	// what differs from what was told before.
	rows  fold.Rows
	told  bool             // rows hold a snapshot
	snaps map[bool]*parcel // of the rows as they are, by whether a gap is told, once they are asked for
}

// parcel is an update, encoded when the first watcher sends it: nobody encodes what is
// for watchers who have stopped reading.
type parcel struct {
	rows int
	once sync.Once
	now  engine.Update // until it is encoded
	raw  []byte        // what follows the number of its frame
	err  error
}

// watcher is one stream's end of a relay.
type watcher struct {
	run  *relayRun
	bell await.Bell // capacity 1

	mail []*parcel
	rows int // in it

	whole bool // it needs a snapshot before the next update makes sense to it
	gap   bool // and is to be told that it has missed something
}

// join adds a watcher; leave it when it goes. ctx gives the relay its values, not its
// end.
func (r *relay) join(ctx context.Context) *watcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || r.now.ended() {
		r.now = r.start(ctx)
	}
	w := &watcher{run: r.now, bell: await.NewBell()}
	w.run.add(w)
	return w
}

// leave takes a watcher out. The last one ends the relay, and waits for it. It is waited for without
// the lock, since the next watcher begins another run.
func (r *relay) leave(w *watcher) {
	r.mu.Lock()
	last := w.run.remove(w)
	if last && r.now == w.run {
		r.now = nil
	}
	r.mu.Unlock()
	if last {
		w.run.stop()
		<-w.run.done
	}
}

// start begins a run. It has no ctx's end: the watcher for whom it was begun may go before the others.
func (r *relay) start(ctx context.Context) *relayRun {
	// See leave, which stops it.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	run := &relayRun{stop: stop, done: make(chan struct{}), watchers: map[*watcher]struct{}{}, snaps: map[bool]*parcel{}}
	go r.pump(ctx, run)
	return run
}

// pump hands on what the console tells until nobody watches any more, or there is
// nothing more to tell.
func (r *relay) pump(ctx context.Context, run *relayRun) {
	defer close(run.done)
	defer run.stop()
	defer func() {
		if p := recover(); p != nil {
			r.log.Error().Str("stack", string(debug.Stack())).Msg("watching the engine fell")
		}
	}()
	// While it waits the console merges what happens, so that a slower pace loses nothing.
	for u := range r.con.Watch(ctx) {
		if !await.Pause(ctx, max(r.pace, min(time.Duration(run.hand(u))*paceEach, paceMost))) {
			return
		}
	}
}

// ended reports whether nothing more will come of the run.
func (r *relayRun) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// add takes a watcher in. One that comes when something was told already begins with a snapshot.
func (r *relayRun) add(w *watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[w] = struct{}{}
	if r.told { // else the first update will be a snapshot
		w.whole = true
		w.bell.Ring()
	}
}

// remove reports whether the watcher was the last one.
func (r *relayRun) remove(w *watcher) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watchers, w)
	return len(r.watchers) == 0
}

// hand gives an update to all watchers, and says how many they are. The snapshots that were made of the
// rows before are out of date with it.
func (r *relayRun) hand(u engine.Update) int {
	p := &parcel{now: u, rows: len(u.Accounts) + len(u.Jobs) + len(u.Gone) + len(u.Calls) + len(u.Logs)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows.Add(u)
	// They are made anew for whoever comes next.
	r.told, r.snaps = true, map[bool]*parcel{}
	for w := range r.watchers {
		w.deliver(p)
	}
	return len(r.watchers)
}

// deliver lays a parcel into a watcher's mail. What a snapshot will hold is not kept.
func (w *watcher) deliver(p *parcel) {
	if w.whole {
		return
	}
	w.mail, w.rows = append(w.mail, p), w.rows+p.rows
	// One update alone is never too much, however large: a snapshot would hold its rows, too.
	if len(w.mail) > behindFrames || len(w.mail) > 1 && w.rows > behindRows {
		w.mail, w.rows, w.whole, w.gap = nil, 0, true, true
	}
	w.bell.Ring()
}

// drain empties the mail. The snapshot is made when it is taken, and so holds all that was handed out
// until then.
func (w *watcher) drain() []*parcel {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	if w.whole {
		p := w.run.whole(w.gap)
		w.whole, w.gap = false, false
		return []*parcel{p}
	}
	mail := w.mail
	w.mail, w.rows = nil, 0
	return mail
}

// whole is the rows as they are now, shared by all who ask before they change: after a
// restart every console comes at once. Notes were for those who were there.
func (r *relayRun) whole(gap bool) *parcel {
	if r.snaps[gap] == nil {
		u := r.rows.Update()
		u.Snapshot, u.Gap, u.Notes = true, gap, nil
		r.snaps[gap] = &parcel{now: u}
	}
	return r.snaps[gap]
}

var errEncode = errors.New("an update cannot be written as JSON")

// bytes are the parcel's, encoded once. The update itself is let go: its bytes may wait for others a
// while.
func (p *parcel) bytes() ([]byte, error) {
	p.once.Do(func() {
		// ,"update":{"seq":4711,"jobs":[…]}} and the end of the line: each watcher's stream writes {"n":7
		// before it.
		raw, err := encode(p.now)
		p.now = engine.Update{}
		if err != nil {
			p.err = errors.Join(errEncode, err)
			return
		}
		p.raw = append(append(append(make([]byte, 0, len(raw)+16), `,"update":`...), raw[:len(raw)-1]...), "}\n"...)
	})
	return p.raw, p.err
}
