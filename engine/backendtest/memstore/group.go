package memstore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

func (t *tx) addParents(j engine.Job, parents []engine.GroupID) {
	for _, g := range parents {
		if _, there := t.s.members[g][j.ID]; there {
			continue
		}
		t.setMember(g, j.ID, member{mark: engine.MarkOf(j.State)})
		set(t, t.s.memberOf, j.ID, append(slices.Clone(t.s.memberOf[j.ID]), g))
	}
}

func (t *tx) setMember(g engine.GroupID, child engine.JobID, m member) {
	all := maps.Clone(t.s.members[g])
	if all == nil {
		all = map[engine.JobID]member{}
	}
	all[child] = m
	set(t, t.s.members, g, all)
}

// group is counted afresh each time: the model has no cache to be wrong.
func (s *Store) group(id engine.GroupID) engine.GroupStat {
	g := engine.GroupStat{GroupID: id}
	for _, m := range s.members[id] {
		g.Total++
		g.Calls += m.calls
		g.Throttled += m.throttled
		switch m.mark {
		case engine.MarkOpen:
			g.Open++
		case engine.MarkRetrying:
			g.Open++
			g.Retrying++
		case engine.MarkDone:
			g.Done++
		case engine.MarkDead:
			g.Dead++
		case engine.MarkCancelled:
			g.Cancelled++
		}
	}
	return g
}

// Mark sets the child's mark in every group that waits for it.
func (s *Store) Mark(x engine.Tx, child engine.JobID, m engine.Mark, calls, throttled int) ([]engine.GroupStat, error) {
	var out []engine.GroupStat
	for _, g := range s.memberOf[child] {
		old := s.members[g][child]
		own(x).setMember(g, child, member{mark: m, calls: old.calls + calls, throttled: old.throttled + throttled})
		out = append(out, s.group(g))
	}
	return out, nil
}

// Group gives one group's summary.
func (s *Store) Group(_ engine.Tx, id engine.GroupID) (engine.GroupStat, error) {
	return s.group(id), nil
}

// Groups gives all groups of a parent, by number.
func (s *Store) Groups(_ engine.Tx, parent engine.JobID) ([]engine.GroupStat, error) {
	return s.groups(parent), nil
}

func (s *Store) groups(parent engine.JobID) (out []engine.GroupStat) {
	for id := range s.members {
		if id.Parent == parent {
			out = append(out, s.group(id))
		}
	}
	slices.SortFunc(out, func(a, b engine.GroupStat) int { return cmp.Compare(a.Group, b.Group) })
	return out
}

// OpenChildren lists children of a parent that are not settled.
func (s *Store) OpenChildren(_ engine.Tx, parent engine.JobID) ([]engine.JobID, error) {
	open := map[engine.JobID]bool{}
	for id, all := range s.members {
		for child, m := range all {
			if id.Parent == parent && !m.mark.Settled() {
				open[child] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(open)), nil
}

// Parents lists the groups that wait for the job.
func (t *tx) Parents(id engine.JobID) ([]engine.Parent, error) {
	var out []engine.Parent
	for _, g := range t.s.memberOf[id] {
		j, err := t.job(g.Parent)
		if err != nil {
			return nil, err
		}
		out = append(out, engine.Parent{Group: g.Group, Job: j})
	}
	return out, nil
}

// withKey finds the live, else the latest, job of a key.
func (s *Store) withKey(key string) (found engine.JobID) {
	if id, live := s.keys[key]; live {
		return id
	}
	for id, j := range s.jobs {
		if j.Key == key && (len(id) > len(found) || len(id) == len(found) && id > found) {
			found = id
		}
	}
	return found
}

// Detail gives what is stored about one job; by key, the live, else the latest.
func (s *Store) Detail(_ context.Context, q engine.JobQuery) (engine.JobDetail, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := q.ID
	if id == "" {
		id = s.withKey(q.Key)
	}
	j, err := s.begin(false).job(id)
	if err != nil {
		return engine.JobDetail{}, err
	}
	d := engine.JobDetail{Job: engine.JobRow{Job: j}, Groups: s.groups(id), History: slices.Clone(s.history[string(id)])}
	for _, a := range s.attempts[id] {
		if a.Number == 0 {
			d.Holds = append(d.Holds, a)
		} else {
			d.Attempts = append(d.Attempts, a)
		}
	}
	for _, g := range s.memberOf[id] {
		d.Parents = append(d.Parents, g.Parent)
	}
	if j.State == engine.Running {
		d.Attempts = append(d.Attempts, engine.Attempt{Number: j.Attempts, Round: j.Round, Try: j.Tries, Phase: j.Phase, Rev: j.Rev, Start: j.Started})
	}
	d.ShouldRetry, d.NextRetryAt = j.ShouldRetry(), j.NextRetryAt()
	return d, nil
}
