package local

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/wall"
)

// pauseLook is how often Pause looks whether the last claims are decided.
const pauseLook = time.Millisecond

// Pause keeps a queue's jobs from starting, over restarts too, until Resume. When
// it returns, none starts any more; those that run go on. A queue that nobody has
// used yet can be paused in advance.
func (b *Backend) Pause(
	ctx context.Context, name engine.Queue, by engine.Actor, reason string,
) (engine.Receipt, error) {
	return b.RestoreQueue(ctx, queueState(name, true, by, reason), by, reason)
}

// Resume lets a paused queue's jobs start again.
func (b *Backend) Resume(
	ctx context.Context, name engine.Queue, by engine.Actor, reason string,
) (engine.Receipt, error) {
	return b.RestoreQueue(ctx, queueState(name, false, by, reason), by, reason)
}

// queueState is the switch of a queue that is paused or resumed now.
func queueState(name engine.Queue, paused bool, by engine.Actor, reason string) engine.QueueState {
	return engine.QueueState{Name: name, Paused: paused, By: by, Since: atLeast(wall.Now()), Reason: reason}
}

// RestoreQueue lets a queue stand as q says, such as it did before a command: one that was paused is
// paused by whom it was, since when and why. by and reason are of who asks for it, for the history.
//
// Before a pause is stored the index is told: between the two it would choose on by the switch that it
// still has. After it the claims are waited for that were chosen before.
func (b *Backend) RestoreQueue(
	ctx context.Context, q engine.QueueState, by engine.Actor, reason string,
) (engine.Receipt, error) {
	if !q.Paused {
		return b.turnQueue(ctx, q, by, reason)
	}
	b.idx.pausing(q.Name, +1)
	defer b.idx.pausing(q.Name, -1)
	r, err := b.turnQueue(ctx, q, by, reason)
	if err != nil || r.Nothing {
		return r, err
	}
	for b.idx.deciding(q.Name) { // claims chosen before the pause end within one commit
		if !await.Pause(ctx, pauseLook) {
			return engine.Receipt{}, context.Cause(ctx)
		}
	}
	return r, nil
}

// queueWords say how a queue stands, and what a command to that end answers.
var queueWords = map[bool]struct{ word, already, done string }{
	true:  {"paused", "queue %s is paused already", "queue %s is paused"},
	false: {"open", "queue %s is not paused", "queue %s goes on"},
}

// turnQueue stores a pause switch, unless it stands so already.
func (b *Backend) turnQueue(
	ctx context.Context, q engine.QueueState, by engine.Actor, reason string,
) (engine.Receipt, error) {
	words := queueWords[q.Paused]
	before, err := b.queueState(ctx, q.Name)
	if err != nil {
		return engine.Receipt{}, err
	}
	if before.Paused == q.Paused {
		return engine.Receipt{Matched: 1, Nothing: true, Text: fmt.Sprintf(words.already, q.Name), Seq: b.idx.version()}, nil
	}
	err = b.write(ctx, func(tx engine.Tx) error {
		if err := b.opt.Store.SetQueue(tx, q); err != nil {
			return err
		}
		return b.opt.Store.AddHistory(tx, "queue:"+string(q.Name), engine.Transition{
			At: atLeast(wall.Now()), From: queueWords[!q.Paused].word, To: words.word, Reason: reason, Actor: nameOf(by),
		})
	})
	if err != nil {
		return engine.Receipt{}, fmt.Errorf("set queue %s: %w", q.Name, err)
	}
	return engine.Receipt{
		Matched: 1, Applied: 1, Text: fmt.Sprintf(words.done, q.Name), Seq: b.idx.version(),
		Queue: &engine.QueueMove{Before: before, After: q},
	}, nil
}

// queueState is a queue's switch as the index has it, or, while no engine runs,
// as the store has it. One that nobody has touched is open.
func (b *Backend) queueState(ctx context.Context, name engine.Queue) (engine.QueueState, error) {
	if q, known := b.idx.queueState(name); known {
		return q, nil
	}
	stored, err := b.opt.Store.Queues(ctx)
	if err != nil {
		return engine.QueueState{}, fmt.Errorf("read the queues: %w", err)
	}
	for _, q := range stored {
		if q.Name == name {
			return q, nil
		}
	}
	return engine.QueueState{Name: name}, nil
}

// queueState is the switch that the index has; known is false before it was read from the store.
func (x *index) queueState(name engine.Queue) (q engine.QueueState, known bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.queueOf(name).QueueState, x.loaded
}

// pausing keeps jobs of the queue from being chosen while a pause is written, by +1, and lets that go
// again, by -1: several pauses of a queue may be under way.
func (x *index) pausing(name engine.Queue, by int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.queueOf(name).pausing += by
}

// deciding reports whether chosen jobs of the queue have neither begun nor been
// given back.
func (x *index) deciding(name engine.Queue) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.queueOf(name).taken > 0
}
