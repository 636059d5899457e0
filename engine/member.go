package engine

import (
	"fmt"
	"slices"
	"time"
)

// MembersQuery lists the processes that work on one database; answered by MembersPage.
type MembersQuery struct{}

func (MembersQuery) query() {}

// MembersPage answers MembersQuery. Its instants are by the clock of the database, which all
// members keep.
type MembersPage struct {
	At     time.Time `json:"at"`
	Epoch  int64     `json:"epoch"`            // the number of the last term
	Leader string    `json:"leader,omitempty"` // the id of who leads; "" = nobody does
	Since  time.Time `json:"since,omitzero"`   // when it began to
	Key    string    `json:"key,omitempty"`    // the fingerprint of the API key that they work with; "" = of none yet

	Members []MemberRow `json:"members"` // who leads stands first, who is gone last
	Terms   []TermRow   `json:"terms"`   // who has led, the latest first

	Waiting  int `json:"waiting"`   // calls that the leader has let go, and nobody has taken up yet
	LeftOver int `json:"left_over"` // attempts in the hands of members that are gone
}

// MemberRole is what a member does.
type MemberRole string

// Roles of members.
const (
	MemberLeads    MemberRole = "leads"
	MemberStandsBy MemberRole = "stands by"   // leads when the leader is gone
	MemberFollows  MemberRole = "never leads" // was started so
	MemberGone     MemberRole = "gone"        // gives no sign of life
)

// MemberRow is one process among those that work on a database.
type MemberRow struct {
	ID      string        `json:"id"` // 4711-9f3c: its process, and four digits by chance
	Host    string        `json:"host"`
	Version string        `json:"version"`
	Key     string        `json:"key,omitempty"` // the fingerprint of its API key; "" = it has none
	Role    MemberRole    `json:"role"`
	MayLead bool          `json:"may_lead"`
	Works   bool          `json:"works"`            // it makes calls for who leads
	CutOff  time.Time     `json:"cut_off,omitzero"` // since when it cannot reach Riot, and makes none; zero = it can
	Here    bool          `json:"here"`             // it is who answers
	Since   time.Time     `json:"since"`            // when it became a member
	Seen    time.Time     `json:"seen"`             // its last sign of life: it gives one each second
	Silent  time.Duration `json:"silent_ns"`        // since its last sign of life
	Ahead   time.Duration `json:"ahead_ns"`         // of its machine's clock over the database's

	InFlight int `json:"in_flight"` // attempts that it has in hand
	// results that it brought for the leader when their jobs had moved on, since it is there:
	// discarded
	Late int `json:"late"`
	// Calls are those of the past minute, by steps of ForecastStep that begin at multiples of it:
	// ForecastPast of them, the last one still being counted. Of the leader's own those before its
	// term are not known.
	Calls []int `json:"calls"`

	OtherKey     bool `json:"other_key"`     // than the members work with
	OtherVersion bool `json:"other_version"` // than the leader's
}

// Carries reports whether it makes calls for who leads now.
func (m *MemberRow) Carries() bool { return m.Alive() && m.Works && m.CutOff.IsZero() }

// Alive reports whether it gives signs of life.
func (m *MemberRow) Alive() bool { return m.Role != MemberGone }

// beatLate is after how long without one a sign of life is overdue: one was due each second.
const beatLate = 2 * time.Second

// Overdue reports whether it is late with a sign of life: it may be gone, and it may only be slow.
func (m *MemberRow) Overdue() bool { return m.Silent >= beatLate }

// Minute is how many calls it made in the past minute.
func (m *MemberRow) Minute() (n int) {
	for _, c := range m.Calls {
		n += c
	}
	return n
}

// TermRow is a time for which one member led.
type TermRow struct {
	Epoch  int64     `json:"epoch"`
	Leader string    `json:"leader"` // its id
	Host   string    `json:"host"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // zero = it goes on
	// it ended without a word: its member was killed, stood still or was cut off
	Lapsed bool `json:"lapsed"`
}

// Of gives the member of an id; the zero row when it is not there.
func (p *MembersPage) Of(id string) MemberRow {
	if i := slices.IndexFunc(p.Members, func(m MemberRow) bool { return m.ID == id }); i >= 0 {
		return p.Members[i]
	}
	return MemberRow{}
}

// Term tells who leads, to the member of an id.
func (p *MembersPage) Term(id string) *Term {
	t := &Term{Epoch: p.Epoch, Here: p.Leader != "" && p.Leader == id}
	if m := p.Of(p.Leader); m.ID != "" {
		t.Leader = m.ID + " on " + m.Host
	}
	return t
}

// Stuck says why no call is made while everybody is there, and what to do: who leads cannot reach Riot, and
// nobody else with its key that can makes calls or may lead. "" = it is not so.
func (p *MembersPage) Stuck() string {
	at := p.Of(p.Leader)
	if at.ID == "" || at.CutOff.IsZero() || slices.ContainsFunc(p.Members, func(m MemberRow) bool {
		return m.ID != at.ID && m.Alive() && (m.MayLead || m.Works) && m.CutOff.IsZero() && m.Key == at.Key
	}) {
		return ""
	}
	return fmt.Sprintf("%s on %s leads and cannot reach Riot, and no other member makes calls: "+
		"none is made until its way to Riot is free, or a member with the same key is started",
		at.ID, at.Host)
}

// KeyOf tells a member that its key is not the one that the others work with; "" = it is.
func (p *MembersPage) KeyOf(id string) string {
	m := p.Of(id)
	if !m.OtherKey {
		return ""
	}
	return fmt.Sprintf("this process has API key %s, and the members of its database work with %s: it leads only when none with that key is left; give all the same key, or each product a schema of its own", m.Key, p.Key)
}

// NoMembers is the answer where one process works alone.
func NoMembers() *Problem {
	return Problemf(ErrNotFound, "with --store postgres://user@host/database several processes share a database, see docs/fleet.md", "one process at a time works on a data directory, so there are no members")
}
