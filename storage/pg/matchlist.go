package pg

import (
	"context"
	"strconv"

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
	return append(tMatches.columns(&s.Match), column{"", &s.here}, column{"", &s.seat.Won}, column{"", (*text)(&s.seat.Champion)},
		column{"", &s.seat.Kills}, column{"", &s.seat.Deaths}, column{"", &s.seat.Assists})
})

// seenBy follows the columns of a match, and reads the matches of an account as seen.
const seenBy = `, s.match is not null, coalesce(s.won, false), s.champion, coalesce(s.kills, 0), coalesce(s.deaths, 0), coalesce(s.assists, 0)
from (select account, match, coalesce(played, '-infinity') as place from fs_listing where account = $1) l
join fs_match on id = l.match` + seatOfMatch

// seatOfMatch joins the seat of a listing's account.
const seatOfMatch = ` left join lateral (select s.match, s.won, s.champion, s.kills, s.deaths, s.assists from fs_seat s
	where s.match = l.match and s.puuid = any(select puuid from fs_puuid where account = l.account) order by s.index limit 1) s on true `

func (s seen) row() engine.MatchRow {
	row := both.Facts(s.Match)
	row.Bytes = s.Match.Match.Ref.Size + s.Match.Timeline.Ref.Size
	if s.here {
		row.Champion, row.Won = s.seat.Champion, s.seat.Won
		row.Kills, row.Deaths, row.Assists = s.seat.Kills, s.seat.Deaths, s.seat.Assists
	}
	return row
}

// Matches lists an account's matches, newest first (those of unknown time last), or all matches
// by id from the last one back. Matches that could not be had are left out and counted, unless
// q.All. A cursor is the id of a page's last match.
func (db *DB) Matches(ctx context.Context, q engine.MatchesQuery) (page engine.MatchesPage, err error) {
	err = db.view(ctx, func(t *txn) error {
		if q.Account == "" {
			return t.allMatches(q, &page)
		}
		a, err := t.accountOn(q.Account, "")
		if err != nil {
			return err
		}
		return t.accountMatches(q, a.ID, &page)
	})
	return page, err
}

// had leaves out what could not be had.
const had = "status <> 'permanently_unfetchable'"

func (t *txn) allMatches(q engine.MatchesQuery, page *engine.MatchesPage) error {
	w := &where{}
	if q.After != "" {
		w.and("id < ?", storable(q.After))
	}
	if !q.All {
		w.conditions = append(w.conditions, had)
		counts, err := t.counts()
		if err != nil {
			return err
		}
		now := sums{counts: counts}
		page.Hidden = int(now.totals().Permanent)
	}
	limit := both.PageSize(q.Page)
	list, err := tMatches.list(t, tMatches.sql().from+w.sql()+" order by id desc limit "+strconv.Itoa(limit+1), w.args...)
	for i, m := range list {
		if i == limit {
			page.Next = list[i-1].ID
			break
		}
		page.Matches = append(page.Matches, seen{Match: m}.row())
	}
	return err
}

func (t *txn) accountMatches(q engine.MatchesQuery, account string, page *engine.MatchesPage) (err error) {
	w := &where{args: []any{storable(account)}}
	if q.After != "" {
		w.and(`((l.place, '') < (select coalesce(played, '-infinity'), '' from fs_listing where account = $1 and match = ?)
	or l.place = (select coalesce(played, '-infinity') from fs_listing where account = $1 and match = ?) and l.match > ?)`, storable(q.After))
	}
	if !q.All {
		w.conditions = append(w.conditions, had)
		if page.Hidden, _, err = value[int](t, "select count(*) from fs_listing l join fs_match m on m.id = l.match where l.account = $1 and not m."+had, w.args[0]); err != nil {
			return err
		}
	}
	limit := both.PageSize(q.Page)
	list, err := tSeen.list(t, tMatches.sql().these+seenBy+w.sql()+" order by l.place desc, l.match limit "+strconv.Itoa(limit+1), w.args...)
	for i, s := range list {
		if i == limit {
			page.Next = list[i-1].ID
			break
		}
		page.Matches = append(page.Matches, s.row())
	}
	return err
}

// Settled lists the n matches of an account that were tried last, the oldest first: in the order
// in which they were, not in that of their games.
func (db *DB) Settled(ctx context.Context, account string, n int) (list []engine.MatchRow, err error) {
	err = db.view(ctx, func(t *txn) error {
		a, err := t.accountOn(account, "")
		if err != nil {
			return err
		}
		last, err := tSeen.list(t, tMatches.sql().these+seenBy+`where status <> 'unfetched' and greatest(fetched_at, last_attempt_at) is not null
order by greatest(fetched_at, last_attempt_at) desc, id limit $2`, storable(a.ID), n)
		for i := range last {
			list = append(list, last[len(last)-1-i].row())
		}
		return err
	})
	return list, err
}
