package app

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/riot/sim"
)

// listed are the members as `members --json` tells of them, by their process ids.
func (s inSchema) listed() map[int]engine.MemberRow {
	s.t.Helper()
	all := map[int]engine.MemberRow{}
	for line := range strings.Lines(s.run(exitDone, "members", "--json").stdout) {
		var m engine.MemberRow
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			s.t.Fatalf("%q: %v", line, err)
		}
		id, _, _ := strings.Cut(m.ID, "-")
		pid, _ := strconv.Atoi(id)
		all[pid] = m
	}
	return all
}

// until waits until the list of members is as it should be.
func (f *inFleet) until(what string, is func(map[int]engine.MemberRow) bool) map[int]engine.MemberRow {
	f.t.Helper()
	var all map[int]engine.MemberRow
	f.waits(what, func() bool {
		all = f.listed()
		return is(all)
	})
	return all
}

// waits is until for what a list of the members does not tell: each costs a start of the program.
func (f *inFleet) waits(what string, is func() bool) {
	f.t.Helper()
	for _, p := range f.members {
		p.until(what, is)
		break
	}
}

// Who is there, who leads and what each does stands in a list, from the database and from a member:
// also that one was killed, who led before, and what nobody would take over.
func TestPostgres_MembersAreListed(t *testing.T) {
	longest(t)
	t.Parallel()
	const who, matches = "Listed#EUW", 60
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	if r := (command{args: []string{"members", "--data-dir", freshDir(t)}}).asked(t).wants(t, exitFailed); !strings.Contains(r.stderr, "nothing is stored") {
		t.Errorf("nothing there: %q", r.stderr)
	}
	one := f.join()
	f.leader(0)
	if said := f.run(exitDone, "members").stdout; !strings.Contains(said, "; nobody would take over from it") {
		t.Errorf("one alone:\n%s", said)
	}
	looks := f.join("--no-lead")
	other := f.join()
	f.until("three members", func(all map[int]engine.MemberRow) bool {
		return len(all) == 3 && all[looks].Role == engine.MemberFollows &&
			(all[one].Role == engine.MemberLeads && all[other].Role == engine.MemberStandsBy || all[other].Role == engine.MemberLeads && all[one].Role == engine.MemberStandsBy)
	})
	for pid, m := range f.listed() {
		if m.Here || m.Host == "" || m.Version == "" || m.Key == "" || m.OtherKey || m.OtherVersion || m.Since.IsZero() {
			t.Errorf("%d: %+v", pid, m)
		}
	}
	beside := f.inSchema
	beside.dir = f.dirs[looks]
	if all := beside.listed(); !all[looks].Here || all[one].Here || all[other].Here {
		t.Errorf("by a member: %+v", all)
	}

	beside.run(exitDone, "trigger", who, "--platform", "euw1")
	f.until("calls of the leader", func(all map[int]engine.MemberRow) bool {
		a, b := all[one], all[other]
		return a.Minute()+b.Minute() > 0
	})
	f.stored(f.members[looks], matches)
	calls := 0
	for _, m := range f.listed() {
		calls += m.Minute()
	}
	// What was begun and not answered was not made for certain: a member that stands still lets it be.
	unsure, err := strconv.Atoi(sql(t, f.at, "select count(*)::text from fs_call where begun is not null and how <> 'answered'")[0])
	if made := f.sim.Stats().Calls; err != nil || calls > made+unsure {
		t.Errorf("%d calls are told of, %d were made, %d may not have been, %v", calls, made, unsure, err)
	}

	first := f.leader(0) // another one than before, if that stood still for 3 s
	second := one + other - first
	f.members[first].kill()
	delete(f.members, first)
	if next := f.leader(first); next != second {
		t.Errorf("%d leads", next)
	}
	all := f.until("one that is gone", func(all map[int]engine.MemberRow) bool {
		return all[first].Role == engine.MemberGone && all[second].Role == engine.MemberLeads
	})
	for _, s := range []string{"no sign of life", "on " + all[second].Host + " has led for", "; nobody would take over"} {
		if said := beside.run(exitDone, "members").stdout; !strings.Contains(said, s) {
			t.Errorf("%q is not in\n%s", s, said)
		}
	}
	c := api.NewClient(controlSocket(f.dirs[looks]))
	defer c.Close()
	var page engine.MembersPage
	f.members[looks].until("what was left over to go back", func() bool {
		a, err := c.Find(t.Context(), engine.MembersQuery{})
		page, _ = a.(engine.MembersPage)
		return err == nil && page.LeftOver == 0
	})
	if len(page.Terms) < 2 || !page.Terms[1].Lapsed || page.Terms[1].Leader != all[first].ID || !page.Terms[0].Until.IsZero() {
		t.Errorf("terms %+v", page)
	}
	f.wantNowhere(canaryTail)
}

// Where one process works alone there are no members, and the list says what would make some.
func TestMembersOfADirectory(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Alone#EUW", 2)))
	dir := freshDir(t)
	for _, before := range []func(){func() { s.sync("Alone#EUW", dir).run(t).wants(t, exitDone) }, func() { s.serving(t, dir, nil) }} {
		before()
		if r := (command{args: []string{"members", "--data-dir", dir}}).asked(t).wants(t, exitFailed); !strings.Contains(r.stderr, "there are no members: with --store postgres://") {
			t.Errorf("it said %q", r.stderr)
		}
	}
}
