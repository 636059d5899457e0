package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Types of events.
const (
	eventHello    = "hello"    // the first one: what is under way
	eventProgress = "progress" // of an account, at most four times a second
	eventJob      = "job"      // has ended
	eventAlert    = "alert"    // has changed its state
	eventGap      = "gap"      // events are lost to this reader

	eventCollection = "collection" // has come further, at most once a second
)

// event is one thing that has happened. Numbers rise by one for each event of the
// engine; a reader who asked for some only sees holes in them, and a gap is always
// said.
type event struct {
	ID       string           `json:"id"` // "boot.number": to go on behind it
	N        uint64           `json:"n"`
	At       time.Time        `json:"at"`
	Type     string           `json:"type"`
	Progress *AccountProgress `json:"progress,omitempty"`
	Job      *jobEnd          `json:"job,omitempty"`
	Alert    *engine.AlertRow `json:"alert,omitempty"`
	// Collection is one that has come further.
	Collection *engine.CollectionRow `json:"collection,omitempty"`
	Open       []AccountProgress     `json:"open,omitempty"`   // hello: accounts whose syncs are under way
	Missed     uint64                `json:"missed,omitempty"` // gap: how many; 0 = nobody knows, the engine was started again
}

// jobEnd is a job that has ended.
type jobEnd struct {
	ID        engine.JobID `json:"id"`
	Kind      engine.Kind  `json:"kind"`
	Queue     engine.Queue `json:"queue"`
	Key       string       `json:"key,omitempty"`
	Account   string       `json:"account,omitempty"` // id of its owner
	State     engine.State `json:"state"`
	Attempts  int          `json:"attempts"`
	Class     engine.Class `json:"class,omitempty"`
	LastError string       `json:"last_error,omitempty"`
	Finished  time.Time    `json:"finished,omitzero"`
}

// endOf is what is told of a job's end: no arguments, and of its attempts the count.
func endOf(j engine.Job) *jobEnd {
	return &jobEnd{
		ID: j.ID, Kind: j.Kind, Queue: j.Queue, Key: j.Key, Account: j.Owner, State: j.State, Attempts: j.Tried(),
		Class: j.Class, LastError: j.LastError, Finished: j.Finished,
	}
}

// Sizes and times of the events.
const (
	keptEvents  = 4096                   // for readers who are behind, or come again
	eventsPace  = 250 * time.Millisecond // between two events of progress of one account
	alertsPace  = time.Second
	eventsDwell = 2 * time.Minute // events are kept for so long after the last reader left
)

// EventsOptions are what events are made of.
type EventsOptions struct {
	Console engine.Console
	Boot    string // tells the numbers of this process from those of the one before
	Log     zerolog.Logger
}

// Events numbers what happens and keeps the newest for its readers. Without readers
// it does nothing. The engine never waits for it, nor it for a reader. Its readers join and leave on
// their own goroutines; mu is never held while one of them is written to, or the console asked.
//
//	Publish  ─▶ fresh, pending     of a commit, in the committer: only laid down
//	flush    ─▶ ring               every eventsPace: numbered, and encoded once for all
//	take     ─▶ a reader           what it has not seen, or a gap
type Events struct {
	opt  EventsOptions
	boot string
	on   atomic.Bool // somebody reads, or has just now

	mu      sync.Mutex
	n       uint64        // of the newest event
	ring    []packedEvent // the newest, oldest first
	fresh   []event       // not numbered yet, as they came
	lost    uint64        // of fresh, for want of room
	pending map[string]engine.AccountRow
	readers map[*eventReader]struct{}
	left    time.Time  // when the last reader left
	wake    await.Bell // capacity 1: a reader has come
	alerts  map[string]engine.AlertState

	collections map[string][]byte // as they were told last, packed; Run's own
}

// packedEvent is an event as it goes out, made once for all readers.
type packedEvent struct {
	n       uint64
	typ     string
	account string
	raw     []byte
}

// NewEvents makes them; Run moves them.
func NewEvents(opt EventsOptions) *Events {
	// It stands in a header that readers send back, before a dot.
	boot := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '.' {
			return r
		}
		return -1
	}, opt.Boot)
	return &Events{
		opt: opt, boot: cmp.Or(boot, "0"), pending: map[string]engine.AccountRow{},
		readers: map[*eventReader]struct{}{}, wake: await.NewBell(),
	}
}

// Publish takes the changes of one commit, in commit order. It never blocks. Of an account only its
// latest progress within a pace is kept: a sync changes it with each match.
func (e *Events) Publish(changes []engine.Change) {
	if !e.on.Load() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range changes {
		c := &changes[i]
		switch {
		// A change is about one thing: an account, a job, a queue. What has no event is passed over.
		case c.Account != nil:
			e.pending[c.Account.ID] = *c.Account
		case c.Job != nil && c.Job.State.Terminal() && !c.Before.Terminal():
			e.add(event{At: time.Now(), Type: eventJob, Job: endOf(*c.Job)})
		}
	}
}

// add lays an event down for Run. What is too much is counted, so that its readers
// are told of a gap.
func (e *Events) add(ev event) {
	if len(e.fresh) >= keptEvents {
		e.lost++
		return
	}
	e.fresh = append(e.fresh, ev)
}

// Run makes events of what was published, while somebody reads.
func (e *Events) Run(ctx context.Context) error {
	tick := time.NewTicker(eventsPace)
	defer tick.Stop()
	defer e.on.Store(false)
	var judged time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		// Nobody reads: nothing is ticked or judged until somebody comes.
		if e.idle() {
			e.rest()
			tick.Stop()
			select {
			case <-ctx.Done():
				return nil
			case <-e.wake:
			}
			tick.Reset(eventsPace)
		}
		if time.Since(judged) >= alertsPace {
			judged = time.Now()
			e.judge(ctx)
			e.compare(ctx)
		}
		e.flush()
	}
}

// idle reports whether nobody has read for a while.
func (e *Events) idle() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.readers) == 0 && time.Since(e.left) >= eventsDwell
}

// rest forgets what nobody asks for any more. It looks once more under the lock: somebody may have come
// since idle looked.
func (e *Events) rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.readers) > 0 {
		e.wake.Ring()
		return
	}
	e.on.Store(false)
	e.ring, e.fresh, e.alerts, e.pending = nil, nil, nil, map[string]engine.AccountRow{}
	e.n++ // whoever comes again has missed something
}

// judge looks which alerts have changed their state since the last look. At the first look there is
// nothing to compare with: those that fire are told, the rest is taken as it is.
func (e *Events) judge(ctx context.Context) {
	// The console is asked without the lock; it may take a while.
	rows, err := engine.Ask[engine.AlertsAnswer](ctx, e.opt.Console, engine.AlertsQuery{})
	if err != nil {
		return // whoever asks for the alerts is told why
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	first := e.alerts == nil
	seen := map[string]engine.AlertState{}
	for i := range rows.Alerts {
		row := rows.Alerts[i]
		seen[row.ID] = row.State
		was := cmp.Or(e.alerts[row.ID], engine.AlertOK)
		if !first && was != row.State || first && row.State == engine.AlertFiring {
			e.add(event{At: time.Now(), Type: eventAlert, Alert: &row})
		}
	}
	e.alerts = seen
}

// compare looks which collections have come further since the last look, as judge does for alerts. At the first look
// those that are under way are told.
func (e *Events) compare(ctx context.Context) {
	a, err := engine.Ask[engine.CollectionsAnswer](ctx, e.opt.Console, engine.CollectionsQuery{})
	if err != nil {
		return // whoever asks for the collections is told why
	}
	was := e.collections
	e.collections = map[string][]byte{}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range a.Collections {
		row := &a.Collections[i]
		now, err := encode(row)
		if err == nil && !bytes.Equal(was[row.ID], now) && (was != nil || row.Result == "") {
			e.add(event{At: time.Now(), Type: eventCollection, Collection: row})
		}
		e.collections[row.ID] = now
	}
}

// flush numbers and packs what has come, and rings the readers. The encoding is done without the lock,
// on which the committer would have to wait. Run alone flushes, so that numbers stay in order.
func (e *Events) flush() {
	e.mu.Lock()
	// Once per pace and account, in an order that does not change from run to run.
	for _, id := range slices.Sorted(maps.Keys(e.pending)) {
		p := progressOf(e.pending[id])
		e.add(event{At: time.Now(), Type: eventProgress, Progress: &p})
	}
	e.pending = map[string]engine.AccountRow{}
	// What was lost came after what was kept, which filled the room: its numbers are the last ones.
	fresh, lost, n := e.fresh, e.lost, e.n
	e.fresh, e.lost = nil, 0
	e.mu.Unlock()
	if len(fresh) == 0 {
		return
	}
	out := make([]packedEvent, 0, len(fresh))
	for i := range fresh {
		n++
		if p, ok := e.pack(fresh[i], n); ok {
			out = append(out, p)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n = n + lost
	e.ring = append(e.ring, out...)
	if over := len(e.ring) - keptEvents; over > 0 {
		// A copy, or the array behind would keep all events that there ever were.
		e.ring = slices.Clone(e.ring[over:])
	}
	for r := range e.readers {
		r.bell.Ring()
	}
}

// pack encodes an event. One that cannot be encoded is left out; its number is used up, and readers see
// a gap.
func (e *Events) pack(ev event, n uint64) (packedEvent, bool) {
	ev.N, ev.ID = n, e.id(n)
	raw, err := encode(ev)
	if err != nil {
		e.opt.Log.Warn().Err(err).Msg("an event cannot be told")
		return packedEvent{}, false
	}
	// {"id":"k3f9.41","n":41,"at":"…","type":"job","job":{"id":"…","state":"completed",…}}
	p := packedEvent{n: n, typ: ev.Type, raw: raw[:len(raw)-1]} // without the end of its line
	switch {
	case ev.Progress != nil:
		p.account = ev.Progress.Account
	case ev.Job != nil:
		p.account = ev.Job.Account
	case ev.Collection != nil: // nothing for a reader of an account
		p.account = ev.Collection.ID
	}
	return p, true
}

// id names an event over restarts: the numbers of each process begin anew.
func (e *Events) id(n uint64) string { return fmt.Sprintf("%s.%d", e.boot, n) }

// parse reads an event's id; ok is false when it is none of this process.
func (e *Events) parse(id string) (n uint64, ok bool) {
	boot, number, _ := strings.Cut(id, ".")
	n, err := strconv.ParseUint(number, 10, 64)
	return n, err == nil && boot == e.boot
}
