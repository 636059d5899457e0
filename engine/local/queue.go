package local

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// pauseLook is how often Pause looks whether the last claims are decided.
const pauseLook = time.Millisecond

// Pause keeps a queue's jobs from starting, over restarts too, until Resume. When
// it returns, none starts any more; those that run go on. A queue that nobody has
// used yet can be paused in advance.
func (b *Backend) Pause(ctx context.Context, name engine.Queue, by engine.Actor, reason string) (engine.Receipt, error) {
	if b.idx.beginPause(name) {
		defer b.idx.endPause(name)
		return b.queueReceipt(true, "queue %s is paused already", name), nil
	}
	defer b.idx.endPause(name)
	q := engine.QueueState{Name: name, Paused: true, By: by, Since: atLeast(time.Now()), Reason: reason}
	if err := b.setQueue(ctx, q, "paused"); err != nil {
		return engine.Receipt{}, err
	}
	for b.idx.deciding(name) { // claims chosen before the pause end within one commit
		if !pause(ctx, pauseLook) {
			return engine.Receipt{}, context.Cause(ctx)
		}
	}
	return b.queueReceipt(false, "queue %s is paused", name), nil
}

// Resume lets a paused queue's jobs start again.
func (b *Backend) Resume(ctx context.Context, name engine.Queue, by engine.Actor, reason string) (engine.Receipt, error) {
	if b.idx.isOpen(name) {
		return b.queueReceipt(true, "queue %s is not paused", name), nil
	}
	q := engine.QueueState{Name: name, By: by, Since: atLeast(time.Now()), Reason: reason}
	if err := b.setQueue(ctx, q, "open"); err != nil {
		return engine.Receipt{}, err
	}
	return b.queueReceipt(false, "queue %s goes on", name), nil
}

func (b *Backend) setQueue(ctx context.Context, q engine.QueueState, to string) error {
	from := "paused"
	if q.Paused {
		from = "open"
	}
	err := b.write(ctx, func(tx engine.Tx) error {
		if err := b.store.SetQueue(tx, q); err != nil {
			return err
		}
		return b.store.AddHistory(tx, "queue:"+string(q.Name), engine.Transition{
			At: q.Since, From: from, To: to, Reason: q.Reason, Actor: nameOf(q.By),
		})
	})
	if err != nil {
		return fmt.Errorf("set queue %s: %w", q.Name, err)
	}
	return nil
}

func (b *Backend) queueReceipt(nothing bool, format string, name engine.Queue) engine.Receipt {
	r := engine.Receipt{Matched: 1, Nothing: nothing, Text: fmt.Sprintf(format, name), Seq: b.idx.version()}
	if !nothing {
		r.Applied = 1
	}
	return r
}

// beginPause keeps jobs of the queue from being chosen while the pause is
// written; true if it was paused already.
func (x *index) beginPause(name engine.Queue) (already bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	q := x.queueOf(name)
	q.pausing++
	return x.loaded && q.Paused
}

func (x *index) endPause(name engine.Queue) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.queueOf(name).pausing--
}

// deciding reports whether chosen jobs of the queue have neither begun nor been
// given back.
func (x *index) deciding(name engine.Queue) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.queueOf(name).taken > 0
}

// isOpen reports whether the queue is known not to be paused.
func (x *index) isOpen(name engine.Queue) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.loaded && !x.queueOf(name).Paused
}
