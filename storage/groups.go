package storage

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// member is how one child stands in one group.
type member struct {
	parent           uint64
	group            byte
	child            uint64
	mark             engine.Mark
	calls, throttled int
}

func (m *member) groupKey() []byte { return groupKey(m.parent, int(m.group)) }

// groupKey leads to the sums of a group, and to its members, whose keys begin with it.
func groupKey(parent uint64, group int) []byte { return append(key.Uint64(parent), byte(group)) }

// Groups are how a parent waits for its children, such as a sync for its 889 matches. There is a
// row for each child in each group, found from both sides, and a row of sums for the group:
//
//	members    parent 7, group 1, child 41 -> open, 1 call, 0 throttled
//	member_of  child 41, parent 7, group 1 -> marker
//	groups     parent 7, group 1           -> total 889, open 134, done 755, …
//
// The sums are a cache of members, written in the transaction that changes a member. Check recounts
// them.
var (
	tMembers = collection.Declare(
		collection.New("members", "u64 parent, group byte, u64 child", "a parent's child: mark, calls, throttled").
			Grows().BelongsTo(ofJob),
		collection.Records[member]{Format: 12, Key: func(c *key.Coder, m *member) {
			c.Uint64(&m.parent)
			c.Byte(&m.group)
			c.Uint64(&m.child)
		}, Fields: func(c *rec.Coder, m *member) {
			c.Byte((*byte)(&m.mark))
			c.Int(&m.calls, &m.throttled)
		}, Indexes: []collection.Index[member]{memberOf}})
	memberOf = collection.Index[member]{
		Table: collection.New("member_of", "u64 child, u64 parent, group byte", "marker").Grows(),
		Rows: func(m *member) []collection.Entry {
			return []collection.Entry{{Key: string(append(key.Uint64(m.child), m.groupKey()...))}}
		},
		Of: func(e collection.Entry) []byte {
			return []byte(e.Key[min(len(e.Key), 8):] + e.Key[:min(len(e.Key), 8)])
		},
		Missing: "the child does not know its group", Wrong: "the group does not know its child",
	}
	tGroups = collection.Declare(
		collection.New("groups", "u64 parent, group byte", "totals per mark, calls, throttled: a cache of members").
			BelongsTo(ofJob),
		collection.Records[engine.GroupStat]{Format: 13, Fields: func(c *rec.Coder, g *engine.GroupStat) {
			c.Int(&g.Total, &g.Open, &g.Retrying, &g.Done, &g.Dead, &g.Cancelled, &g.Calls, &g.Throttled)
		}, Key: func(c *key.Coder, g *engine.GroupStat) {
			var group byte
			keyJob(c, &g.Parent)
			c.Byte(&group)
			g.GroupID.Group = int(group)
		}})
)

// addMember counts one child with n = 1, or takes it out with n = -1. A child that waits for its
// next try is open, and counted as retrying besides.
func addMember(g *engine.GroupStat, m member, n int) {
	g.Total += n
	g.Calls += n * m.calls
	g.Throttled += n * m.throttled
	switch m.mark {
	case engine.MarkOpen:
		g.Open += n
	case engine.MarkRetrying:
		g.Open += n
		g.Retrying += n
	case engine.MarkDone:
		g.Done += n
	case engine.MarkDead:
		g.Dead += n
	case engine.MarkCancelled:
		g.Cancelled += n
	}
}

const maxGroup = 255 // it is one byte in keys

// addParents makes each group wait for the child. A group that waits for it already is left alone.
func (t *txn) addParents(child uint64, s engine.State, parents []engine.GroupID) error {
	for _, p := range parents {
		n, err := jobNumber(p.Parent)
		if err != nil {
			return err
		}
		if p.Group < 0 || p.Group > maxGroup {
			return fmt.Errorf("group %d of job %s: outside 0 to %d: %w", p.Group, p.Parent, maxGroup, engine.ErrInvalid)
		}
		m := member{parent: n, group: byte(p.Group), child: child, mark: engine.MarkOf(s)}
		if t.Has(tMembers.Table, tMembers.KeyOf(&m)) {
			continue
		}
		if _, err := t.setMember(nil, &m); err != nil {
			return err
		}
	}
	return nil
}

// setMember stores how a child stands in a group and brings the group's totals up to date. old is
// nil for a new child.
func (t *txn) setMember(old, m *member) (engine.GroupStat, error) {
	g := m.groupKey()
	stat, err := t.group(g)
	if err != nil {
		return stat, err
	}
	// The sums move by the difference: a group of thousands is not read again for each of its
	// children.
	if addMember(&stat, *m, 1); old != nil {
		addMember(&stat, *old, -1)
		err = tMembers.Put(t, tMembers.KeyOf(m), m) // its index row stays as it is
	} else {
		err = tMembers.Save(t, tMembers.KeyOf(m), nil, m)
	}
	err = errors.Join(err, tGroups.Put(t, g, &stat), t.touchRunOf(g[:8]))
	return stat, err
}

// group reads a group's totals; all zero when it has no child.
func (t *txn) group(g []byte) (engine.GroupStat, error) {
	stat, ok, err := tGroups.Get(t, g)
	if !ok && err == nil {
		stat.GroupID = engine.GroupID{Parent: jobID(key.Read(g[:8]).Uint64()), Group: int(g[8])}
	}
	return stat, err
}

// Mark sets the child's mark in every group that waits for it, adds calls and throttled to the
// sums, and returns those groups as they stand now.
func (db *DB) Mark(tx engine.Tx, child engine.JobID, m engine.Mark, calls, throttled int) ([]engine.GroupStat, error) {
	t := own(tx)
	n, err := jobNumber(child)
	if err != nil {
		return nil, err
	}
	var groups []engine.GroupStat
	for _, g := range t.groupsOf(n) {
		k := key.AppendUint64(bytes.Clone(g), n)
		old, ok, err := tMembers.Get(t, k)
		if err == nil && !ok {
			err = memberOf.Corrupt(k, collection.ErrMissing)
		}
		if err != nil {
			return nil, err
		}
		now := old
		now.mark, now.calls, now.throttled = m, old.calls+calls, old.throttled+throttled
		if now == old { // no row is written, but the caller wants the sums
			stat, err := t.group(g)
			if err != nil {
				return nil, err
			}
			groups = append(groups, stat)
			continue
		}
		stat, err := t.setMember(&old, &now)
		if err != nil {
			return nil, err
		}
		groups = append(groups, stat)
	}
	return groups, nil
}

// groupsOf lists the keys of the groups that wait for a child. A child finds them in one range of
// keys of its own, however many other children they have.
func (t *txn) groupsOf(child uint64) (groups [][]byte) {
	k := key.Uint64(child)
	for r := range t.Rows(memberOf.Table, k) {
		if g := r.Key[len(k):]; len(g) == 9 {
			groups = append(groups, bytes.Clone(g))
		}
	}
	return groups
}

// Group gives one group's totals; an empty one if it has no child.
func (db *DB) Group(tx engine.Tx, id engine.GroupID) (engine.GroupStat, error) {
	n, err := jobNumber(id.Parent)
	if err != nil {
		return engine.GroupStat{GroupID: id}, err
	}
	return own(tx).group(groupKey(n, id.Group))
}

// Groups gives all groups of a parent, by number.
func (db *DB) Groups(tx engine.Tx, parent engine.JobID) ([]engine.GroupStat, error) {
	return own(tx).groups(parent)
}

// groups gives all groups of a parent; none of a job that waits for nobody.
func (t *txn) groups(parent engine.JobID) ([]engine.GroupStat, error) {
	k, err := t.jobKey(parent)
	if err != nil {
		return nil, err
	}
	if !t.HasUnder(tGroups.Table, k) { // most jobs have none
		return nil, nil
	}
	return collection.All(tGroups.Under(t, k))
}

// OpenChildren lists the children of a parent that are not settled, each once.
func (db *DB) OpenChildren(tx engine.Tx, parent engine.JobID) ([]engine.JobID, error) {
	k, err := jobKey(parent)
	if err != nil {
		return nil, err
	}
	var open []engine.JobID
	// A child may be in two groups of one parent, such as that of the matches and that of the
	// timelines.
	seen := map[engine.JobID]bool{}
	for m, err := range tMembers.Under(own(tx), k) {
		if err != nil {
			return nil, err
		}
		id := jobID(m.child)
		if m.mark.Settled() || seen[id] {
			continue
		}
		seen[id] = true
		open = append(open, id)
	}
	return open, nil
}

// Parents lists the groups that wait for a job, each with its parent as it is.
func (t *txn) Parents(id engine.JobID) ([]engine.Parent, error) {
	n, err := jobNumber(id)
	if err != nil {
		return nil, err
	}
	var parents []engine.Parent
	for _, g := range t.groupsOf(n) {
		j, ok, err := t.readJob(g[:8])
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, memberOf.Corrupt(g, collection.ErrMissing)
		}
		parents = append(parents, engine.Parent{Group: int(g[8]), Job: j})
	}
	return parents, nil
}

// leave takes one child out of a group, by its key in members.
func (t *txn) leave(k []byte) error {
	m, ok, err := tMembers.Get(t, k)
	if err != nil || !ok {
		return err
	}
	g := m.groupKey()
	stat, err := t.group(g)
	if err != nil {
		return err
	}
	addMember(&stat, m, -1)
	// A group without children has no row: it would be taken for one that is complete, with 0 of 0.
	err = tMembers.Drop(t, k, &m)
	if err != nil || stat.Total > 0 {
		return errors.Join(err, tGroups.Put(t, g, &stat))
	}
	return t.Remove(tGroups.Table, g)
}

// Leave takes an ended child out of a group: what it was to bring has come otherwise. Its calls
// were made for the parent all the same, and count as the parent's own. A child that is not in the
// group changes nothing.
func (db *DB) Leave(tx engine.Tx, group engine.GroupID, child engine.JobID) error {
	t := own(tx)
	parent, err := jobNumber(group.Parent)
	if err != nil {
		return err
	}
	n, err := jobNumber(child)
	if err != nil {
		return err
	}
	k := key.AppendUint64(groupKey(parent, group.Group), n)
	m, ok, err := tMembers.Get(t, k)
	if err != nil || !ok {
		return err
	}
	if err := t.leave(k); err != nil {
		return err
	}
	b, ok, err := tRunOfJob.Get(t, k[:8])
	if err != nil || !ok {
		return err
	}
	t.touch(b.account)
	b.calls, b.throttled = b.calls+m.calls, b.throttled+m.throttled
	return tRunOfJob.Put(t, k[:8], &b)
}
