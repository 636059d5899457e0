package storage

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// Matches lists an account's matches, newest first (those of unknown time last), or all matches by
// id from the last one back: Riot counts up on each platform, so that is newest first too, platform
// by platform. Matches that could not be had are left out and counted, unless q.All.
func (db *DB) Matches(ctx context.Context, q engine.MatchesQuery) (page engine.MatchesPage, err error) {
	err = db.view(ctx, func(t *txn) error {
		if q.Account == "" {
			return t.allMatches(q, &page)
		}
		a, err := t.findAccount(q.Account)
		if err != nil {
			return err
		}
		return t.accountMatches(q, a, &page)
	})
	for i := range page.Matches {
		page.Matches[i].Corrupt = page.Matches[i].Corrupt || db.payloads.Spoilt(page.Matches[i].ID)
	}
	return page, err
}

func (t *txn) allMatches(q engine.MatchesQuery, page *engine.MatchesPage) error {
	limit := q.Rows()
	var before []byte
	if q.After != "" {
		before = []byte(q.After)
	}
	// Ids are read from the keys: a match whose record is corrupt has its row all the same.
	for r := range t.RowsBack(tMatches.Table, nil, before) {
		if len(page.Matches) == limit {
			page.Next = page.Matches[limit-1].ID
			break
		}
		if row, shown := t.matchRow(league.Account{}, string(r.Key), q.All); shown {
			page.Matches = append(page.Matches, row)
		}
	}
	if q.All {
		return nil
	}
	totals, err := t.totals()
	// A counter, where an account's own are counted row by row: millions of matches are not looked
	// through.
	page.Hidden = int(totals.Permanent)
	return err
}

// accountMatches goes through the account's whole list, to count what is hidden; a list has
// thousands of rows, not millions.
func (t *txn) accountMatches(q engine.MatchesQuery, a league.Account, page *engine.MatchesPage) error {
	prefix := key.Strings(a.ID)
	after, err := decodeCursor(q.After, prefix)
	if err != nil {
		return err
	}
	limit := q.Rows()
	var last []byte
	for r := range t.Rows(byAccount.Table, prefix) {
		l, err := listingAt(r.Key)
		if err != nil {
			continue // check names it
		}
		// Behind the page, and before the cursor, matches are counted and not read: the index of
		// states tells which are hidden.
		if full := len(page.Matches) == limit; full || bytes.Compare(r.Key, after) <= 0 {
			if full && page.Next == "" {
				page.Next = encodeCursor(last, prefix)
			}
			if !q.All && t.Has(matchStatus.Table, statusKey(league.PermanentlyUnfetchable, l.Match)) {
				page.Hidden++
			}
			continue
		}
		row, shown := t.matchRow(a, l.Match, q.All)
		if !shown {
			page.Hidden++
			continue
		}
		page.Matches, last = append(page.Matches, row), bytes.Clone(r.Key)
	}
	return nil
}

// Settled lists the n matches of an account that were tried last, the oldest first: in the order in
// which they were, not in that of their games.
func (db *DB) Settled(ctx context.Context, account string, n int) (list []engine.MatchRow, err error) {
	err = db.view(ctx, func(t *txn) error {
		a, err := t.findAccount(account)
		if err != nil {
			return err
		}
		for _, one := range t.lastTried(a.ID, n) {
			if row, shown := t.matchRow(a, one.id, true); shown {
				list = append(list, row)
			}
		}
		return nil
	})
	return list, err
}

// triedMatch is a match with the instant of its last attempt, whether that fetched it or failed.
type triedMatch struct {
	id string
	at time.Time
}

// lastTried looks through the account's whole list. A match whose record cannot be read is not in
// it; check names it.
func (t *txn) lastTried(account string, n int) (last []triedMatch) {
	later := func(a, b triedMatch) int { return a.at.Compare(b.at) }
	for r := range t.Rows(byAccount.Table, key.Strings(account)) {
		l, err := listingAt(r.Key)
		if err != nil {
			continue
		}
		m, err := t.match(l.Match)
		if err != nil || m.Match.Status == league.Unfetched {
			continue
		}
		// A fetched match has both times where it was fetched again and failed.
		one := triedMatch{id: m.ID, at: m.Match.FetchedAt}
		if m.Match.LastAttemptAt.After(one.at) {
			one.at = m.Match.LastAttemptAt
		}
		if one.at.IsZero() || len(last) == n && !one.at.After(last[0].at) {
			continue
		}
		at, _ := slices.BinarySearchFunc(last, one, later)
		if last = slices.Insert(last, at, one); len(last) > n {
			last = last[1:]
		}
	}
	return last
}

// matchRow is a match as lists show it. One whose record cannot be read is shown as corrupt; one
// that is linked but not yet stored as unfetched.
func (t *txn) matchRow(a league.Account, id string, all bool) (row engine.MatchRow, shown bool) {
	m, err := t.match(id)
	if disk.IsNotFound(err) {
		m, err = league.Match{ID: id}, nil
	}
	if err != nil {
		return engine.MatchRow{ID: id, Corrupt: true}, true
	}
	if !all && m.Match.Status == league.PermanentlyUnfetchable {
		return row, false
	}
	row = matchFacts(m)
	row.Bytes = m.Match.Ref.Size + m.Timeline.Ref.Size
	seat, here, err := t.seatOf(a, id)
	row.Corrupt = err != nil
	if here {
		row.Champion, row.Won = seat.Champion, won(seat, row.Remake)
		row.Kills, row.Deaths, row.Assists = &seat.Kills, &seat.Deaths, &seat.Assists
	}
	return row, true
}

// mostPlaces bounds how far back Fetched looks: behind the ids of a few large listings.
const mostPlaces = 50_000

// Fetched lists matches of which a part is stored, those that changed last first: at most n that
// fit.
func (db *DB) Fetched(tx engine.Tx, p league.Part, n int, fits func(match string) bool) (ids []string) {
	t := own(tx)
	// The feed's order is that of changes: a match that was fetched last has its place at the end.
	tag, fetchOf := tagMatches, func(m league.Match) league.Fetch { return m.Match }
	if p == league.PartTimeline {
		tag, fetchOf = tagTimelines, func(m league.Match) league.Fetch { return m.Timeline }
	}
	looked := 0
	for place, err := range tFeed.Back(t, []byte{tag}, nil) {
		if looked++; len(ids) == n || looked > mostPlaces {
			break
		}
		if err != nil || !fits(place.id) {
			continue // check names one that cannot be read
		}
		if m, err := t.match(place.id); err == nil && fetchOf(m).Status == league.Success {
			ids = append(ids, place.id)
		}
	}
	return ids
}

// matchFacts are what a match's own record has of it: not whose list it is in, nor its players.
func matchFacts(m league.Match) engine.MatchRow {
	return engine.MatchRow{
		ID: m.ID, Status: m.Match.Status.String(), Timeline: m.Timeline.Status.String(), Attempts: m.Match.Attempts,
		Played: m.Played, Duration: m.Duration, QueueID: m.QueueID, Mode: m.Mode,
		FetchedAt: m.Match.FetchedAt, LastAttemptAt: m.Match.LastAttemptAt, LastError: m.Match.LastError, Remake: m.Remake,
	}
}

// won is nil of a remake: Riot lets all of one team win it, and nobody has.
func won(p league.Participant, remake bool) *bool {
	if remake {
		return nil
	}
	return &p.Won
}

// Strays lists the matches whose last attempt failed, that are due, that no live job tries any more and
// that nobody has cancelled: those that were given up last, the oldest first, at most limit of them; total is
// how many there are (S0-5, S0-6, B-3b). jobKey gives the unique key of a match's job.
func (db *DB) Strays(
	tx engine.Tx, due func(*league.Match) bool, limit int, jobKey func(match string) string,
) (list []league.Stray, total int, err error) {
	t := own(tx)
	for r := range t.Rows(matchStatus.Table, nil) {
		id := key.Read(r.Key[1:]).String()
		if t.Has(tJobKey, []byte(jobKey(id))) {
			continue // whatever its age: it has a job (S0-6)
		}
		m, err := t.match(id)
		if err != nil || m.Match.Cancelled != league.NotCancelled || !due(&m) {
			continue // check names one that cannot be read
		}
		total++
		list = append(list, league.Stray{Match: id, Used: m.Match.Attempts, At: m.Match.LastAttemptAt,
			Ended: m.Match.Status == league.PermanentlyUnfetchable})
		// Only the oldest are wanted. The list is cut now and then, not at each match, so that a
		// hundred thousand of them are not sorted a hundred thousand times.
		if len(list) >= 2*limit+100 {
			list = oldest(list, limit)
		}
	}
	// Only those that are given out cost the look at their jobs.
	list = oldest(list, limit)
	for i := range list {
		if err := t.completeStray(&list[i], jobKey(list[i].Match)); err != nil {
			return nil, total, err
		}
	}
	return list, total, nil
}

// oldest sorts by the last attempt, those that were given up last, then by id, so that two calls give the
// same order, and cuts the list to n.
func oldest(list []league.Stray, n int) []league.Stray {
	slices.SortFunc(list, func(a, b league.Stray) int {
		switch c := a.At.Compare(b.At); {
		case a.Ended && !b.Ended:
			return 1
		case b.Ended && !a.Ended:
			return -1
		case c != 0:
			return c
		}
		return strings.Compare(a.Match, b.Match)
	})
	return list[:min(n, len(list))]
}

// completeStray adds whose match it is, and how many attempts of its last round count: those of its
// last job, when that is still there.
func (t *txn) completeStray(s *league.Stray, unique string) error {
	if owners := t.accountsOf(s.Match); len(owners) > 0 {
		s.Owner = owners[0]
	}
	// The job may have been pruned. The attempts that the match itself counts then stand: those of
	// all its rounds.
	n, ok, err := t.Number(tArchiveKey, []byte(unique))
	if err != nil || !ok {
		return err
	}
	j, err := t.job(jobID(n))
	if disk.IsNotFound(err) {
		return nil
	}
	s.Used = j.Tries
	return err
}
