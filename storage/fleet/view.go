package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/pg"
)

// Silence is after how long without a sign of life a member counts as gone, where terms last ttl. A
// member gives one three times in a term: by then nine are missing.
func Silence(ttl time.Duration) time.Duration { return 3 * ttl }

// forget is after how long one that is gone is not told of any more.
const forget = 24 * time.Hour

const (
	selectFleet = `select epoch, holder, beat, since, led_with, greatest(expires, to_timestamp(0)) - clock_timestamp(), clock_timestamp()
from fs_fleet`

	selectMembers = `select id, host, version, key_fp, may_lead, works, ahead_ms, cut_off, in_hand, late,
	since, seen, clock_timestamp() - seen from fs_member order by since, id`
)

// Look gives the members of a fleet whose terms last ttl (0 = as usual), what they have in hand, and
// who has led, for whoever asks.
func Look(ctx context.Context, db *pg.DB, ttl time.Duration) (engine.MembersPage, error) {
	l, w := look{ttl: usual(ttl)}, work{}
	err := db.Ask(ctx, func(tx pgx.Tx) error {
		b := &pgx.Batch{} // a new one each time: see pg.DB.Ask
		l.ask(b)
		w.ask(b)
		return tx.SendBatch(ctx, b).Close()
	})
	page := l.view()
	w.addTo(&page)
	return page, err
}

// look is what one question to the database gives.
type look struct {
	engine.MembersPage // as the tables have it: the term of its leader may be over
	ttl                time.Duration
	beat               int64         // the number of the last renewal, which only grows
	left               time.Duration // of the term, by the database's clock
}

// yields reports whether a member with a key leaves the lead to others: to one with the fleet's key, as long as such
// a one lives; without a key to anybody who has one; cut off from Riot to anybody with the same key who is not.
func (l *look) yields(key string, cutOff bool) bool {
	if cutOff && slices.ContainsFunc(l.Members, func(m engine.MemberRow) bool {
		return m.Alive() && m.MayLead && m.CutOff.IsZero() && m.Key == key
	}) {
		return true
	}
	if key == "" {
		return slices.ContainsFunc(l.Members, func(m engine.MemberRow) bool { return m.Alive() && m.MayLead && m.Key != "" })
	}
	return l.Key != "" && key != l.Key && slices.ContainsFunc(l.Members, func(m engine.MemberRow) bool {
		return m.Alive() && m.MayLead && m.Key == l.Key
	})
}

// ask adds the questions to a batch, which fills l.
func (l *look) ask(b *pgx.Batch) {
	b.Queue(selectFleet).QueryRow(func(r pgx.Row) error {
		return r.Scan(&l.Epoch, &l.Leader, &l.beat, &l.Since, &l.Key, &l.left, &l.At)
	})
	b.Queue(selectMembers).Query(func(rows pgx.Rows) (err error) {
		l.Members, err = pgx.CollectRows(rows, l.member)
		return err
	})
}

// member reads a row of the table. Every member gets the role of one that follows; view corrects the leader's.
func (l *look) member(r pgx.CollectableRow) (m engine.MemberRow, err error) {
	var ahead int64
	var cutOff *time.Time
	err = r.Scan(&m.ID, &m.Host, &m.Version, &m.Key, &m.MayLead, &m.Works, &ahead, &cutOff, &m.InFlight, &m.Late,
		&m.Since, &m.Seen, &m.Silent)
	m.Ahead = time.Duration(ahead) * time.Millisecond
	if cutOff != nil {
		m.CutOff = *cutOff
	}
	m.OtherKey = l.Key != "" && m.Key != "" && m.Key != l.Key
	switch {
	case m.Silent > Silence(l.ttl):
		m.Role = engine.MemberGone
	case m.MayLead:
		m.Role = engine.MemberStandsBy
	default:
		m.Role = engine.MemberFollows
	}
	return m, err
}

// view is who is there at the moment of the look.
func (l *look) view() engine.MembersPage {
	v := l.MembersPage
	v.Members = slices.Clone(v.Members)
	if l.left <= 0 {
		v.Leader, v.Since = "", time.Time{}
	}
	leader := v.Of(v.Leader)
	for i := range v.Members {
		m := &v.Members[i]
		m.OtherVersion = leader.ID != "" && m.Version != leader.Version
		if m.ID == v.Leader && m.Alive() {
			m.Role = engine.MemberLeads
		}
	}
	slices.SortStableFunc(v.Members, func(a, b engine.MemberRow) int { return order[a.Role] - order[b.Role] })
	return v
}

// order is that of members: who leads stands first, who is gone last.
var order = map[engine.MemberRole]int{engine.MemberLeads: 0, engine.MemberStandsBy: 1, engine.MemberFollows: 2,
	engine.MemberGone: 3}
