package local

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// giveUpUnreadable ends one job whose record cannot be read (P-28): it alone is
// discarded, who waits for it goes on, and its raw bytes are kept. If even that is
// not possible it is left alone.
func (b *Backend) giveUpUnreadable(id engine.JobID, cause error) {
	err := b.write(context.Background(), func(tx engine.Tx) error { return b.discardIn(tx, id) })
	if err != nil {
		b.leaveAlone(id, "cannot be read", fmt.Errorf("%w (and it cannot be discarded: %w)", cause, err))
		return
	}
	b.idx.forget(id) // its revision may have been lost
	b.opt.Log.Error().Str("job", string(id)).Err(cause).Msg("job cannot be read; discarded, its raw record is kept")
	b.note(engine.LevelErr, id, "job %s cannot be read and is discarded; its raw record is kept", id)
}

// discardIn does what move does beside saving the job: the store has done that, by what it could still
// read.
func (b *Backend) discardIn(tx engine.Tx, id engine.JobID) error {
	j, err := b.opt.Store.DiscardUnreadable(tx, id)
	if err != nil {
		return err
	}
	now := atLeast(wall.Now())
	before := j
	before.State = engine.Available // nobody can tell any more
	if err := b.chronicle(tx, before, j, because{cause: engine.ByRescue, reason: j.LastError, now: now}); err != nil {
		return err
	}
	groups, err := b.opt.Store.Mark(tx, id, engine.MarkDead, 0, 0)
	if err != nil {
		return fmt.Errorf("mark job %s in its groups: %w", id, err)
	}
	if err := b.tellKind(tx, before, j, because{}); err != nil {
		return err
	}
	return b.wakeParents(tx, groups, now)
}

// leaveAlone keeps one job that cannot be worked from holding up the others. It
// comes back when it is changed, or at the next start.
func (b *Backend) leaveAlone(id engine.JobID, why string, err error) {
	b.counts.alone.Add(1)
	b.idx.forget(id)
	b.opt.Log.Error().Str("job", string(id)).Err(err).Msg("job " + why + "; it is left alone")
	b.note(engine.LevelErr, id, "job %s %s and is left alone: %v", id, why, err)
}
