package both

import (
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// What is not stored whatever the store: each refusal is engine.ErrInvalid, or engine.ErrRefused where
// what is asked for may not be done.

const maxGroup = 255 // of a parent: it is one byte in the keys of a directory's tables

// LegalMatch refuses a match without a usable id, and one that would move as S0-1 does not allow it;
// byOperator allows what retry, force and reclass may do.
func LegalMatch(old, m league.Match, byOperator bool) error {
	if err := payload.LegalMatchID(m.ID); err != nil {
		return err
	}
	if err := legalFetch("match", old.Match, m.Match, byOperator); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	if err := legalFetch("timeline", old.Timeline, m.Timeline, byOperator); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	return nil
}

// legalFetch refuses a move that S0-1 does not list. A status that stays is no move.
func legalFetch(part string, from, to league.Fetch, byOperator bool) error {
	if from.Status == to.Status || league.LegalStatus(from.Status, to.Status, byOperator) {
		return nil
	}
	return fmt.Errorf("%s cannot go from %s to %s: %w", part, from.Status, to.Status, engine.ErrRefused)
}

// LegalAccount refuses an account without an id.
func LegalAccount(a league.Account) error {
	if a.ID == "" {
		return fmt.Errorf("save account %s: no id: %w", a.RiotID(), engine.ErrInvalid)
	}
	return nil
}

// LegalRun refuses a run that is nobody's.
func LegalRun(r league.Run) error {
	if r.ID == "" || r.Account == "" {
		return fmt.Errorf("save run %q of account %q: both need an id: %w", r.ID, r.Account, engine.ErrInvalid)
	}
	return nil
}

// LegalRank refuses a rank that could not be told from another.
func LegalRank(r league.Rank) error {
	if r.Account == "" || r.Queue == "" || r.At.IsZero() {
		return fmt.Errorf("save a rank of account %q in queue %q: a part of its identity is missing: %w", r.Account,
			r.Queue, engine.ErrInvalid)
	}
	return nil
}

// LegalDrop refuses to remove a rank that a feed may have told of: only an unsure one has no place
// there.
func LegalDrop(r league.Rank) error {
	if !r.Unsure {
		return fmt.Errorf("drop the rank of account %s at %s: only an unsure one may go: %w", r.Account, r.At,
			engine.ErrRefused)
	}
	return nil
}

// LegalGroup refuses a group that no parent can have.
func LegalGroup(g engine.GroupID) error {
	if g.Group < 0 || g.Group > maxGroup {
		return fmt.Errorf("group %d of job %s: outside 0 to %d: %w", g.Group, g.Parent, maxGroup, engine.ErrInvalid)
	}
	return nil
}
