package pg

import (
	"context"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// seen is a match as a list of an account shows it, with the account's seat.
type seen struct {
	league.Match
	here bool
	seat league.Participant
}

var tSeen = declare("fs_match", "id", func(s *seen) []column {
	return append(tMatches.columns(&s.Match), column{"", &s.here}, column{"", &s.seat.Won},
		column{"", (*text)(&s.seat.Champion)},
		column{"", &s.seat.Kills}, column{"", &s.seat.Deaths}, column{"", &s.seat.Assists})
})

// seenBy reads the matches of an account as seen.
var seenBy = sync.OnceValue(func() string {
	return "select " + tMatches.sql().names + `,
	s.match is not null, coalesce(s.won, false), s.champion, coalesce(s.kills, 0), coalesce(s.deaths, 0), coalesce(s.assists, 0)
from (select account, match, coalesce(played, '-infinity') as place from fs_listing where account = $1) l
join fs_match on id = l.match` + seatOfMatch
})

// seatOfMatch joins the seat of a listing's account.
const seatOfMatch = ` left join lateral (select s.match, s.won, s.champion, s.kills, s.deaths, s.assists from fs_seat s
	where s.match = l.match and s.puuid = any(select puuid from fs_puuid where account = l.account)
	order by s.index limit 1) s on true `

// row is the match as lists show it. Bytes are what its payloads had when they came, which is 0 of
// one that retention has dropped.
func (s seen) row() engine.MatchRow {
	row := both.Facts(s.Match)
	row.Bytes = s.Match.Match.Ref.Size + s.Match.Timeline.Ref.Size
	if s.here {
		both.SeatIn(&row, s.seat)
	}
	return row
}

// Matches lists an account's matches, newest first (those of unknown time last), or all matches
// by id from the last one back. Matches that could not be had are left out and counted, unless
// q.All. A cursor is the id of a page's last match.
func (db *DB) Matches(ctx context.Context, q engine.MatchesQuery) (engine.MatchesPage, error) {
	return answer(ctx, db, func(t *txn) (page engine.MatchesPage, err error) {
		if q.Account == "" {
			return t.allMatches(q)
		}
		a, err := t.accountOn(q.Account, "")
		if err != nil {
			return page, err
		}
		return t.accountMatches(q, a.ID)
	})
}

// had leaves out what could not be had: matches that Riot answers with 404 for good.
const had = "status <> 'permanently_unfetchable'"

// allMatches is a page of all matches. How many are left out a counter tells: to count them would
// read all.
func (t *txn) allMatches(q engine.MatchesQuery) (page engine.MatchesPage, err error) {
	w := &where{}
	if q.After != "" {
		w.and("id < ?", storable(q.After))
	}
	if !q.All {
		w.and(had)
		totals, err := t.totals()
		if err != nil {
			return page, err
		}
		page.Hidden = int(totals.Permanent)
	}
	place := func(m league.Match) string { return m.ID }
	list, next, err := tMatches.page(t, both.PageSize(q.Page), place, w.sql()+" order by id desc", w.args...)
	page.Next = next
	for _, m := range list {
		page.Matches = append(page.Matches, seen{Match: m}.row())
	}
	return page, err
}

// accountMatches is a page of an account's list. Its order has two directions, newest first and
// then by id, so that the place to go on from is no tuple that the server could compare at once:
// either the game is older than that of the place, or it was played at the same instant and has a
// greater id.
func (t *txn) accountMatches(q engine.MatchesQuery, account string) (page engine.MatchesPage, err error) {
	w := &where{args: []any{storable(account)}}
	if q.After != "" {
		w.and(`((l.place, '') < (select coalesce(played, '-infinity'), '' from fs_listing where account = $1 and match = ?)
	or l.place = (select coalesce(played, '-infinity') from fs_listing where account = $1 and match = ?) and l.match > ?)`,
			storable(q.After), storable(q.After), storable(q.After))
	}
	if !q.All {
		w.and(had)
		const hidden = "select count(*) from fs_listing l join fs_match m on m.id = l.match where l.account = $1 and not m." + had
		if page.Hidden, _, err = value[int](t, hidden, w.args[0]); err != nil {
			return page, err
		}
	}
	place := func(s seen) string { return s.ID }
	list, next, err := tSeen.of(seenBy()).page(t, both.PageSize(q.Page), place, w.sql()+" order by l.place desc, l.match", w.args...)
	page.Next = next
	for _, s := range list {
		page.Matches = append(page.Matches, s.row())
	}
	return page, err
}

// Settled lists the n matches of an account that were tried last, the oldest first: in the order
// in which they were, not in that of their games.
func (db *DB) Settled(ctx context.Context, account string, n int) ([]engine.MatchRow, error) {
	return answer(ctx, db, func(t *txn) (list []engine.MatchRow, err error) {
		a, err := t.accountOn(account, "")
		if err != nil {
			return nil, err
		}
		last, err := tSeen.of(seenBy()).list(t, `where status <> 'unfetched' and greatest(fetched_at, last_attempt_at) is not null
order by greatest(fetched_at, last_attempt_at) desc, id limit $2`, storable(a.ID), n)
		for i := range last {
			list = append(list, last[len(last)-1-i].row())
		}
		return list, err
	})
}
