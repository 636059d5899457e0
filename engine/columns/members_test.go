package columns

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// What is wrong with a member is told apart from what it was started as: who only looks on has a key or
// none, and does not tell.
func TestNotesOfMembers(t *testing.T) {
	alive := engine.MemberRow{Role: engine.MemberStandsBy, Key: "k", MayLead: true, Works: true}
	for what, c := range map[string]struct {
		change func(m *engine.MemberRow)
		wrong  string
		note   string
	}{
		"one like the others": {func(*engine.MemberRow) {}, "", ""},
		"serve without a key": {func(m *engine.MemberRow) { m.Key = "" }, "no API key: makes no calls", "no API key: makes no calls"},
		"a sync that follows": {func(m *engine.MemberRow) { m.Key, m.MayLead, m.Works = "", false, false }, "", "looks on: makes no calls"},
		"--no-work":           {func(m *engine.MemberRow) { m.Works = false }, "", "--no-work: fetches no matches"},
		"it stood still":      {func(m *engine.MemberRow) { m.Late = 2 }, "", "2 late results discarded"},
		"a beat is overdue":   {func(m *engine.MemberRow) { m.Silent = 4 * time.Second }, "", "no sign of life for 4 s"},
		"it is gone":          {func(m *engine.MemberRow) { m.Role, m.Silent = engine.MemberGone, 10*time.Second }, "no sign of life for 10 s", "no sign of life for 10 s"},
		"a second product":    {func(m *engine.MemberRow) { m.OtherKey = true }, "another API key: makes no calls", "another API key: makes no calls"},
		"another version":     {func(m *engine.MemberRow) { m.OtherVersion = true }, "not the leader's version", "not the leader's version"},
		"no network":          {func(m *engine.MemberRow) { m.CutOff = time.Now() }, "cannot reach Riot: no calls", "cannot reach Riot: no calls"},
		"a clock an hour off": {func(m *engine.MemberRow) { m.Ahead = -time.Hour }, "its clock is 1 h behind", "its clock is 1 h behind"},
	} {
		m := alive
		c.change(&m)
		if wrong, note := MemberNote(&m), NoteOf(&m); wrong != c.wrong || note != c.note {
			t.Errorf("%s: %q, and %q", what, wrong, note)
		}
	}
}

// A leader that cannot reach Riot is named with what to do, unless another one may lead with its key.
func TestALeaderThatNobodyRelieves(t *testing.T) {
	other := engine.MemberRow{ID: "b", Role: engine.MemberStandsBy, Key: "k", MayLead: true, Works: true}
	for what, c := range map[string]struct {
		change func(m *engine.MemberRow)
		stuck  bool
	}{
		"it may":            {func(*engine.MemberRow) {}, false},
		"it is gone":        {func(m *engine.MemberRow) { m.Role = engine.MemberGone }, true},
		"it makes calls":    {func(m *engine.MemberRow) { m.MayLead = false }, false},
		"it does neither":   {func(m *engine.MemberRow) { m.MayLead, m.Works = false, false }, true},
		"it has no key":     {func(m *engine.MemberRow) { m.Key = "" }, true},
		"it has another":    {func(m *engine.MemberRow) { m.Key = "l" }, true},
		"it is cut off too": {func(m *engine.MemberRow) { m.CutOff = time.Now() }, true},
	} {
		m := other
		c.change(&m)
		p := engine.MembersPage{Leader: "a", Members: []engine.MemberRow{{ID: "a", Host: "db-1", Role: engine.MemberLeads, Key: "k", MayLead: true, CutOff: time.Now()}, m}}
		if said := Led(&p); strings.Contains(said, "a on db-1 leads and cannot reach Riot") != c.stuck || strings.Contains(said, "with the same key is started") != c.stuck {
			t.Errorf("%s: %s", what, said)
		}
		p.Members[0].CutOff = time.Time{}
		if p.Stuck() != "" {
			t.Errorf("%s: it reaches Riot, and %s", what, p.Stuck())
		}
	}
}

// Who is late with a sign of life is not counted on to take over.
func TestLedCountsOnWhoIsHeardOf(t *testing.T) {
	p := engine.MembersPage{Leader: "a", Members: []engine.MemberRow{
		{ID: "a", Host: "db-1", Role: engine.MemberLeads}, {ID: "b", Role: engine.MemberStandsBy, Silent: 1500 * time.Millisecond}, {ID: "c", Role: engine.MemberStandsBy, Silent: 4 * time.Second},
	}}
	if said := Led(&p); !strings.Contains(said, "; 1 member stands by") {
		t.Error(said)
	}
	p.Members[1].Silent = 2 * time.Second
	if said := Led(&p); !strings.Contains(said, "; nobody would take over from it") {
		t.Error(said)
	}
}
