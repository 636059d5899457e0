package pager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// keepOrders is how long a key of a request is remembered.
const keepOrders = 48 * time.Hour

// order is a request for a call that has a key.
type order struct {
	Key  string       `json:"-"`
	Job  engine.JobID `json:"job"`
	Mark string       `json:"mark"` // of number and text
	At   time.Time    `json:"at"`
}

// book counts the calls of users' own by UTC day, and knows which keys they were asked
// for with. It is stored in the transaction that inserts a call's job: no restart
// forgets a call, and none is counted that is not there.
type book struct {
	store Store

	mu    sync.Mutex
	pages bookBlob
}

// bookBlob is the book as it is stored.
type bookBlob struct {
	Days   map[string]int   `json:"days"`   // 2026-11-22
	Orders map[string]order `json:"orders"` // by key
}

// load reads the book that the process before has kept.
func (b *book) load(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := engine.LoadStored(ctx, b.store, bookState, &b.pages)
	return err
}

// asked gives the call that a key was used for before, as a joined receipt. It is a
// conflict when that was another one. The lock is held.
func (b *book) asked(ctx context.Context, o order) (engine.Receipt, error) {
	was, ok := b.pages.Orders[o.Key]
	switch {
	case o.Key == "" || !ok || time.Since(was.At) > keepOrders:
		return engine.Receipt{}, nil
	case was.Mark != o.Mark:
		p := engine.Problemf(engine.ErrConflict, "use another key for another call",
			"the idempotency key %s was used for another number or text", o.Key)
		p.Job = was.Job
		return engine.Receipt{}, p
	}
	d, err := b.store.Detail(ctx, engine.JobQuery{ID: was.Job})
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return engine.Receipt{}, fmt.Errorf("look for job %s: %w", was.Job, err)
	}
	text := fmt.Sprintf("this call was asked for before: job %s", was.Job)
	if err == nil {
		text += " is " + d.Job.State.String()
	}
	return engine.Receipt{Job: was.Job, Joined: true, Matched: 1, Text: text}, nil
}

// try says what place would do.
func (b *book) try(ctx context.Context, o order, perDay int, what string) (engine.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, count, err := b.next(ctx, o, perDay)
	if err != nil || r.Joined {
		return r, err
	}
	return engine.Receipt{Matched: 1, Would: 1,
		Text: fmt.Sprintf("would %s: call %d of %d today", what, count+1, perDay)}, nil
}

// next is how many calls today has before this one; a joined receipt stands for one that
// was asked for before. The lock is held.
func (b *book) next(ctx context.Context, o order, perDay int) (r engine.Receipt, count int, err error) {
	if r, err = b.asked(ctx, o); err != nil || r.Joined {
		return r, 0, err
	}
	if count, err = b.count(perDay); err != nil { // until midnight
		r.Due = time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	return r, count, err
}

// count is how many calls today has, if there may be another.
func (b *book) count(perDay int) (int, error) {
	n := b.pages.Days[time.Now().UTC().Format(time.DateOnly)]
	if n >= perDay {
		return n, engine.Problemf(engine.ErrUsedUp, "wait until 00:00 UTC, or raise calls_per_day of [pager]",
			"all %d calls of today have been asked for", perDay)
	}
	return n, nil
}

// place inserts a call's job and writes that down, both or neither. The page in memory changes after
// the commit, under a lock that is held over it: two requests with one key are one call.
func (b *book) place(ctx context.Context, o order, perDay int, whom string, spec engine.Spec) (engine.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, count, err := b.next(ctx, o, perDay)
	if err != nil || r.Joined {
		return r, err
	}
	next := b.pages.another(time.Now().UTC())
	err = b.store.Write(ctx, func(tx engine.Tx) error {
		queued, err := tx.Enqueue(spec)
		if err != nil {
			return err
		}
		if o.Job = queued[0].ID; queued[0].Duplicate {
			p := engine.Problemf(engine.ErrConflict, "wait for it, or use another key",
				"a call with the idempotency key %s is still %s", o.Key, queued[0].State)
			p.Job = o.Job
			return p
		}
		if o.Key != "" {
			o.At = time.Now().UTC()
			next.Orders[o.Key] = o
		}
		return b.store.PutState(tx, bookState, encode(next))
	})
	if err != nil {
		return engine.Receipt{}, err
	}
	b.pages = next
	return engine.Receipt{Job: o.Job, Matched: 1, Applied: 1,
		Text: fmt.Sprintf("%s is called by job %s: call %d of %d today", whom, o.Job, count+1, perDay)}, nil
}

// again counts a call that an operator lets be made once more. engine.ErrUsedUp when today has as many
// as it may have.
func (b *book) again(ctx context.Context, perDay int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.count(perDay); err != nil {
		return err
	}
	next := b.pages.another(time.Now().UTC())
	if err := engine.SaveStored(ctx, b.store, bookState, next); err != nil {
		return err
	}
	b.pages = next
	return nil
}

// another is the book with one call more, and without what is long over.
func (b bookBlob) another(now time.Time) bookBlob {
	next := bookBlob{Days: map[string]int{}, Orders: map[string]order{}}
	maps.Copy(next.Days, b.Days)
	maps.Copy(next.Orders, b.Orders)
	maps.DeleteFunc(next.Days, func(day string, _ int) bool {
		at, err := time.Parse(time.DateOnly, day)
		return err != nil || now.Sub(at).Abs() > 7*24*time.Hour
	})
	maps.DeleteFunc(next.Orders, func(_ string, o order) bool { return now.Sub(o.At).Abs() > keepOrders })
	next.Days[now.Format(time.DateOnly)]++
	return next
}
