package pg

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// tGroups are the sums of the children that a job waits for, a row for each of its groups:
//
//	 parent | grp | total | open | retrying | done | dead | cancelled | calls | throttled
//	--------+-----+-------+------+----------+------+------+-----------+-------+-----------
//	    812 |   1 |   100 |   37 |        2 |   61 |    1 |         1 |    66 |         0
var tGroups = declare("fs_group", "parent, grp", fields[engine.GroupStat](called{"Group": "grp"}))

// groupSums are the sums of a group that count its members, each with the marks that it counts.
var groupSums = []struct{ name, marks string }{
	{"total", ">= 0"},
	{"open", "< 2"},
	{"retrying", "= 1"},
	{"done", "= 2"},
	{"dead", "= 3"},
	{"cancelled", "= 4"},
}

// ofSums writes a pattern for each sum, with its name for every % and its marks for every ?: of
// "% = g.% + (mark ?)::int" it makes "done = g.done + (mark = 2)::int".
func ofSums(pattern string) string {
	var all []string
	for _, s := range groupSums {
		all = append(all, strings.ReplaceAll(strings.ReplaceAll(pattern, "%", s.name), "?", s.marks))
	}
	return strings.Join(all, ", ")
}

// The sums follow from the marks in the statement that changes them, on the rows as they are
// when their locks are had: so the last two children of a family, settled at once by two
// members, find one settled group between them.
var (
	addMember = `with added as (
	insert into fs_mark (parent, grp, child, mark) values ($1, $2, $3, $4)
	on conflict do nothing returning parent, grp, mark)
insert into fs_group as g (parent, grp, ` + ofSums("%") + `) select parent, grp, ` + ofSums("(mark ?)::int") + ` from added
on conflict (parent, grp) do update set ` + ofSums("% = g.% + excluded.%")

	// A mark is found by the index, also before the table is analyzed.
	markMember = `with was as (
	select parent, grp, child, mark from fs_mark where child = $1 order by parent, grp for update
), is_now as (
	update fs_mark m set mark = $2, calls = m.calls + $3, throttled = m.throttled + $4
	from was where m.child = $1 and (m.parent, m.grp) = (was.parent, was.grp)
), summed as (
	update fs_group g set ` + ofSums("% = g.% + ($2 ?)::int - (was.mark ?)::int") + `, calls = g.calls + $3, throttled = g.throttled + $4
	from was where (g.parent, g.grp) = (was.parent, was.grp) returning g.*
) `

	// leaveGroups takes children out of all groups that count them.
	leaveGroups = leave("child = any($1)", "")

	// leaveGroup takes a child out of one group; its calls stay its parent's own.
	leaveGroup = leave("parent = $1 and grp = $2 and child = $3", `, owned as (
	update fs_run r set own_calls = own_calls + gone.calls, own_throttled = own_throttled + gone.throttled
	from gone where r.job = gone.parent
)`)

	// unequalGroups names the groups whose sums are not those of their members. Both ways, because a group
	// without members and members without a group are faults, too.
	unequalGroups = `with stored as (
	select parent, grp, ` + ofSums("%") + `, calls, throttled from fs_group
), counted as (
	select parent, grp, ` + ofSums("count(*) filter (where mark ?)") + `, sum(calls), sum(throttled) from fs_mark group by parent, grp
)
select distinct parent, grp from (
	(table stored except table counted) union all (table counted except table stored)
) unequal order by parent, grp`
)

// leave takes the members of a condition out of their groups. A group without members is deleted.
// also is a part of the statement that looks at those that are gone.
func leave(members, also string) string {
	return `with gone as (
	delete from fs_mark where ` + members + ` returning parent, grp, mark, calls, throttled
), summed as (
	select parent, grp, ` + ofSums("count(*) filter (where mark ?) as %") + `, sum(calls) as calls, sum(throttled) as throttled
	from gone group by parent, grp
), less as (
	update fs_group g set ` + ofSums("% = g.% - s.%") + `, calls = g.calls - s.calls, throttled = g.throttled - s.throttled
	from summed s where (g.parent, g.grp) = (s.parent, s.grp) and g.total > s.total
)` + also + `
delete from fs_group g using summed s where (g.parent, g.grp) = (s.parent, s.grp) and g.total = s.total`
}

// addParents makes each group wait for the child. A group that waits for it already is left
// alone.
func (t *txn) addParents(j engine.Job, parents []engine.GroupID) error {
	for _, p := range parents {
		n, err := JobNumber(p.Parent)
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
	n, err := JobNumber(child)
	if err != nil {
		return nil, err
	}
	t.dirty = true
	marked := tGroups.of(markMember + "select " + tGroups.sql().names + " from summed ")
	groups, err := marked.list(t, "order by parent, grp", n, int(m), calls, throttled)
	for _, g := range groups {
		parent, _ := JobNumber(g.Parent)
		t.touchRunOf(parent)
	}
	return groups, err
}

// Group gives one group's totals; an empty one if it has no child.
func (db *DB) Group(tx engine.Tx, id engine.GroupID) (engine.GroupStat, error) {
	n, err := JobNumber(id.Parent)
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
	t := own(tx)
	n, err := JobNumber(parent)
	if err != nil {
		return nil, err
	}
	return tGroups.list(t, "where parent = $1 order by grp"+t.lock, n)
}

// OpenChildren lists the children of a parent that are not settled, each once.
func (db *DB) OpenChildren(tx engine.Tx, parent engine.JobID) ([]engine.JobID, error) {
	n, err := JobNumber(parent)
	if err != nil {
		return nil, err
	}
	return values[engine.JobID](own(tx), "select distinct child from fs_mark where parent = $1 and mark < 2 order by child", n)
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
	n, err := JobNumber(id)
	if err != nil {
		return nil, err
	}
	return tGroups.list(t, `g
where exists (select from fs_mark m where (m.parent, m.grp) = (g.parent, g.grp) and m.child = $1) order by parent, grp`+t.lock, n)
}
