package pg

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

var tGroups = declare("fs_group", "parent, grp", fields[engine.GroupStat](called{"Group": "grp"}))

// The sums follow from the marks in the statement that changes them, on the rows as they are
// when their locks are had: so the last two children of a family, settled at once by two
// members, find one settled group between them.
const (
	addMember = `with added as (
	insert into fs_mark (parent, grp, child, mark) values ($1, $2, $3, $4)
	on conflict do nothing returning parent, grp, mark)
insert into fs_group as g (parent, grp, total, open, retrying, done, dead, cancelled)
select parent, grp, 1, (mark < 2)::int, (mark = 1)::int, (mark = 2)::int, (mark = 3)::int, (mark = 4)::int from added
on conflict (parent, grp) do update set total = g.total + 1, open = g.open + excluded.open, retrying = g.retrying + excluded.retrying,
	done = g.done + excluded.done, dead = g.dead + excluded.dead, cancelled = g.cancelled + excluded.cancelled`

	markMember = `with was as (
	select parent, grp, child, mark from fs_mark where child = $1 order by parent, grp for update
), is_now as (
	update fs_mark m set mark = $2, calls = m.calls + $3, throttled = m.throttled + $4
	from was where m.child = $1 and (m.parent, m.grp) = (was.parent, was.grp) -- by the index, also before the table is analyzed
), summed as (
	update fs_group g set open = g.open + ($2 < 2)::int - (was.mark < 2)::int,
		retrying = g.retrying + ($2 = 1)::int - (was.mark = 1)::int,
		done = g.done + ($2 = 2)::int - (was.mark = 2)::int,
		dead = g.dead + ($2 = 3)::int - (was.mark = 3)::int,
		cancelled = g.cancelled + ($2 = 4)::int - (was.mark = 4)::int,
		calls = g.calls + $3, throttled = g.throttled + $4
	from was where (g.parent, g.grp) = (was.parent, was.grp) returning g.*
) `
)

// addParents makes each group wait for the child. A group that waits for it already is left
// alone.
func (t *txn) addParents(j engine.Job, parents []engine.GroupID) error {
	for _, p := range parents {
		n, err := number(p.Parent)
		if err != nil {
			return err
		}
		if err := both.LegalGroup(p); err != nil {
			return err
		}
		t.touchRunOf(n)
		t.exec(addMember, n, p.Group, (*jobID)(&j.ID), int(engine.MarkOf(j.State)))
	}
	return nil
}

// Mark sets the child's mark in every group that waits for it, adds calls and throttled to the
// sums, and returns those groups as they stand now.
func (db *DB) Mark(tx engine.Tx, child engine.JobID, m engine.Mark, calls, throttled int) ([]engine.GroupStat, error) {
	t := own(tx)
	if j, known := t.jobs[child]; known && !j.HasParents {
		return nil, nil // nobody waits for it: so it is with most
	}
	n, err := number(child)
	if err != nil {
		return nil, err
	}
	t.dirty = true
	groups, err := tGroups.list(t, markMember+tGroups.sql().these+"from summed order by parent, grp", n, int(m), calls, throttled)
	for _, g := range groups {
		parent, _ := number(g.Parent)
		t.touchRunOf(parent)
	}
	return groups, err
}

// Group gives one group's totals; an empty one if it has no child.
func (db *DB) Group(tx engine.Tx, id engine.GroupID) (engine.GroupStat, error) {
	n, err := number(id.Parent)
	if err != nil {
		return engine.GroupStat{GroupID: id}, err
	}
	g, ok, err := tGroups.find(own(tx), n, id.Group)
	if !ok {
		g = engine.GroupStat{GroupID: id}
	}
	return g, err
}

// Groups gives all groups of a parent, by number.
func (db *DB) Groups(tx engine.Tx, parent engine.JobID) ([]engine.GroupStat, error) {
	return own(tx).groups(parent)
}

func (t *txn) groups(parent engine.JobID) ([]engine.GroupStat, error) {
	n, err := number(parent)
	if err != nil {
		return nil, err
	}
	return tGroups.list(t, tGroups.sql().from+"where parent = $1 order by grp"+t.lock, n)
}

// OpenChildren lists the children of a parent that are not settled, each once.
func (db *DB) OpenChildren(tx engine.Tx, parent engine.JobID) ([]engine.JobID, error) {
	n, err := number(parent)
	if err != nil {
		return nil, err
	}
	return own(tx).jobIDs("select distinct child from fs_mark where parent = $1 and mark < 2 order by child", n)
}

// Parents lists the groups that wait for a job, each with its parent as it is.
func (t *txn) Parents(id engine.JobID) ([]engine.Parent, error) {
	waiting, err := t.waiting(id)
	var parents []engine.Parent
	for _, g := range waiting {
		j, err := t.job(g.Parent)
		if err != nil {
			return nil, err
		}
		parents = append(parents, engine.Parent{Group: g.Group, Job: j})
	}
	return parents, err
}

// waiting lists the groups that wait for a job.
func (t *txn) waiting(id engine.JobID) ([]engine.GroupStat, error) {
	n, err := number(id)
	if err != nil {
		return nil, err
	}
	return tGroups.list(t, tGroups.sql().from+"g where exists (select from fs_mark m where (m.parent, m.grp) = (g.parent, g.grp) and m.child = $1) order by parent, grp"+t.lock, n)
}
