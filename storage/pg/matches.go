package pg

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

var (
	// A match and its timeline are fetched each by itself, and have the same columns: status and
	// timeline_status.
	tMatches = declare("fs_match", "id", fields[league.Match](called{"Match": "*", "Timeline": "timeline_*", "Ref": "*"}))
	tSeats   = declare("fs_seat", "match, index", fields[league.Participant](nil))
	tGaps    = declare("fs_gap", "match, run, part", fields[league.Gap](called{"Left": "left_alone"}))
)

// Match gives a match by its id; engine.ErrNotFound.
func (db *DB) Match(tx engine.Tx, id string) (league.Match, error) {
	t := own(tx)
	return tMatches.need(t, fmt.Sprintf("match %q", id), (*text)(&id))
}

// SaveMatch stores the match and its status counters. A move of either status that is not legal
// is engine.ErrRefused; byOperator allows those of retry, force and reclass.
// The feeds move only when what they tell has changed: a try that failed again is none of it.
func (db *DB) SaveMatch(tx engine.Tx, m league.Match, byOperator bool) error {
	t := own(tx)
	// A timestamp of PostgreSQL's has microseconds, Riot's instants milliseconds: the other store keeps
	// those, and what both give back must be the same.
	m.Played = both.Milli(m.Played)
	old, known, err := tMatches.find(t, (*text)(&m.ID))
	if err == nil {
		err = both.LegalMatch(old, m, byOperator)
	}
	if err != nil {
		return err
	}
	if known {
		for _, name := range both.MatchCounters(&old) {
			t.sums.count(name, -1)
		}
	}
	for _, name := range both.MatchCounters(&m) {
		t.sums.count(name, 1)
	}
	tMatches.put(t, m)
	if known && !old.Played.Equal(m.Played) {
		t.exec("update fs_listing set played = $2 where match = $1", (*text)(&m.ID), (*instant)(&m.Played))
	}
	if known && !both.SameMatch(old, m) {
		t.toEnd("feed", m.ID)
	}
	if !both.SameTimeline(old, m) {
		t.toEnd("timeline", m.ID)
	}
	return nil
}

// AccountsOf lists the accounts that have the match in their lists.
func (db *DB) AccountsOf(tx engine.Tx, match string) []string {
	return own(tx).strings("select account from fs_listing where match = $1 order by account", (*text)(&match))
}

// strings reads the only column of a query. Its error is kept.
func (t *txn) strings(sql string, args ...any) []string {
	list, _ := values[string](t, sql, args...)
	return list
}

// LinkMatch adds the match to an account's list, as its listing said.
func (db *DB) LinkMatch(tx engine.Tx, account, match string) error {
	t := own(tx)
	t.exec(`insert into fs_listing (account, match, played) values ($1, $2, (select played from fs_match where id = $2))
on conflict do nothing`, (*text)(&account), (*text)(&match))
	t.exec(unmaskSeats, (*text)(&account), (*text)(&match))
	return nil
}

// SaveParticipants replaces the seats of a match, and adds the match to the list of each account
// that sits in it.
func (db *DB) SaveParticipants(tx engine.Tx, match string, ps []league.Participant) error {
	t := own(tx)
	if _, err := db.Match(tx, match); err != nil {
		return err
	}
	old, err := tSeats.list(t, "where match = $1 order by index", (*text)(&match))
	if err != nil {
		return err
	}
	seats := make([]league.Participant, len(ps))
	var puuids []string
	for i, p := range ps {
		p.Match = match
		p.PUUID, p.RiotID, p.Champion = storable(p.PUUID), storable(p.RiotID), storable(p.Champion)
		seats[i] = p
		puuids = append(puuids, p.PUUID)
	}
	t.exec(`insert into fs_listing (account, match, played)
select distinct account, $2, (select played from fs_match where id = $2) from fs_puuid where puuid = any($1)
on conflict do nothing`, puuids, (*text)(&match))
	if slices.Equal(old, seats) {
		return nil
	}
	t.exec("delete from fs_seat where match = $1", (*text)(&match))
	for _, p := range seats {
		tSeats.add(t, p)
	}
	t.toEnd("seats", match)
	return nil
}

// games reads matches of an account that are stored, with its seat: league.Game.
const games = `select m.id, m.played, m.duration_us, m.queue_id, s.match is not null, coalesce(s.won, false), m.remake, s.champion
from fs_listing l join fs_match m on m.id = l.match and m.status = 'success'` + seatOfMatch

// Games iterates an account's stored matches, oldest first. It stops at the first row that cannot
// be read.
func (db *DB) Games(tx engine.Tx, account string) iter.Seq2[league.Game, error] {
	return own(tx).games(account, games+"where l.account = $1 order by l.played nulls first, l.match desc",
		(*text)(&account))
}

// GamesSince iterates an account's stored games that were played at an instant or later, newest
// first, with the seat.
func (db *DB) GamesSince(tx engine.Tx, account string, from time.Time) iter.Seq2[league.Game, error] {
	return own(tx).games(account, games+`where l.account = $1 and coalesce(l.played, '-infinity') >= $2
order by l.played desc nulls last, l.match`, (*text)(&account), from)
}

// games runs a query of games of an account, which must be there.
func (t *txn) games(account, sql string, args ...any) iter.Seq2[league.Game, error] {
	return func(yield func(league.Game, error) bool) {
		if _, err := t.db.Account(t, account); err != nil {
			yield(league.Game{}, err)
			return
		}
		list, err := records[league.Game](t, sql, args...)
		for _, g := range list {
			if !yield(g, nil) {
				return
			}
		}
		if err != nil {
			yield(league.Game{}, err)
		}
	}
}

// MatchesOf iterates every match in an account's list, stored or not. Of one whose row cannot be
// read the error says why, and the iteration goes on.
func (db *DB) MatchesOf(tx engine.Tx, account string) iter.Seq2[league.Match, error] {
	type loaded struct {
		m   league.Match
		err error
	}
	t := own(tx)
	return func(yield func(league.Match, error) bool) {
		var all []loaded
		err := tMatches.each(t, func(m league.Match, err error) { all = append(all, loaded{m, err}) },
			"where id in (select match from fs_listing where account = $1)", (*text)(&account))
		if err != nil {
			yield(league.Match{}, err)
			return
		}
		// A listing comes before the fetch: such a match is known by its id alone.
		for _, id := range t.strings(`select match from fs_listing l
where account = $1 and not exists (select from fs_match m where m.id = l.match)`, (*text)(&account)) {
			all = append(all, loaded{m: league.Match{ID: id}}) // linked, but not yet stored
		}
		for _, l := range all {
			if !yield(l.m, l.err) {
				return
			}
		}
	}
}

// LastPlayed is when the account's newest game that is stored was played; zero when none is.
func (db *DB) LastPlayed(tx engine.Tx, account string) (time.Time, error) {
	at, _, err := value[instant](own(tx), "select max(played) from fs_listing where account = $1", (*text)(&account))
	return time.Time(at), err
}

// mostPlaces bounds how far back Fetched looks: behind the ids of a few large listings.
const mostPlaces = 50_000

// Fetched lists matches of which a part is stored, those that changed last first: at most n that
// fit.
func (db *DB) Fetched(tx engine.Tx, p league.Part, n int, fits func(match string) bool) (ids []string) {
	sql := "select id from fs_match where status = 'success' order by feed_xid desc, feed_id desc limit $1"
	if p == league.PartTimeline {
		sql = `select id from fs_match where timeline_xid is not null and timeline_status = 'success'
order by timeline_xid desc, timeline_id desc limit $1`
	}
	for _, id := range own(tx).strings(sql, mostPlaces) {
		if len(ids) < n && fits(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Gaps lists what any run misses of a match.
func (db *DB) Gaps(tx engine.Tx, match string) ([]league.Gap, error) {
	t := own(tx)
	return tGaps.list(t, "where match = $1 order by run, part"+t.lock, (*text)(&match))
}

// SaveGap notes what a run misses, in place of what was noted before; added is false when the run
// missed that part already.
func (db *DB) SaveGap(tx engine.Tx, g league.Gap) (added bool, err error) {
	t := own(tx)
	_, known, err := tGaps.find(t, (*text)(&g.Match), (*text)(&g.Run), (*text)(&g.Part))
	tGaps.put(t, g)
	return !known, err
}

// DropGap takes the note away.
func (db *DB) DropGap(tx engine.Tx, g league.Gap) error {
	tGaps.drop(own(tx), (*text)(&g.Match), (*text)(&g.Run), (*text)(&g.Part))
	return nil
}

// Strays lists the matches whose last attempt failed, that are due, that no live job tries any more
// and that nobody has cancelled: those that were given up last, the oldest first, at most limit of
// them; total is how many there are (S0-5, S0-6, B-3b). jobKey gives the unique key of a match's job.
//
// They come from jobs that a crash or an operator has ended: the sweep gives them a new one.
func (db *DB) Strays(
	tx engine.Tx, due func(*league.Match) bool, limit int, jobKey func(match string) string,
) (list []league.Stray, total int, err error) {
	t := own(tx)
	failed, err := tMatches.list(t, `where status in ('temporary_failure', 'permanently_unfetchable') and cancelled = 0
order by status = 'permanently_unfetchable', last_attempt_at nulls first, id`)
	if err != nil {
		return nil, 0, err
	}
	failed = slices.DeleteFunc(failed, func(m league.Match) bool { return !due(&m) })
	keys := make([]string, len(failed))
	for i, m := range failed {
		keys[i] = storable(jobKey(m.ID))
	}
	tried := map[string]bool{}
	for _, key := range t.strings("select key from fs_job where key = any($1) and key <> ''", keys) {
		tried[key] = true
	}
	for i, m := range failed {
		if tried[keys[i]] {
			continue
		}
		if total++; len(list) == limit {
			continue
		}
		s := league.Stray{Match: m.ID, Used: m.Match.Attempts, At: m.Match.LastAttemptAt,
			Ended: m.Match.Status == league.PermanentlyUnfetchable}
		if owners := db.AccountsOf(tx, m.ID); len(owners) > 0 {
			s.Owner = owners[0]
		}
		last, ended, err := tEnded.first(t, "where key = $1 and key <> '' order by id desc limit 1", keys[i])
		if err != nil {
			return nil, total, err
		}
		if ended {
			s.Used = last.Tries
		}
		list = append(list, s)
	}
	return list, total, t.err
}

// Leave takes an ended child out of a group: what it was to bring has come otherwise. Its calls
// were made for the parent all the same, and count as the parent's own. A child that is not in
// the group changes nothing.
func (db *DB) Leave(tx engine.Tx, group engine.GroupID, child engine.JobID) error {
	t := own(tx)
	parent, err := JobNumber(group.Parent)
	if err != nil {
		return err
	}
	n, err := JobNumber(child)
	if err != nil {
		return err
	}
	t.exec(leaveGroup, parent, group.Group, n)
	t.touchRunOf(parent)
	return nil
}

// toEnd moves an item to the end of its feed: feed, timeline or seats.
func (t *txn) toEnd(feed, match string) {
	const next = "update fs_match set %_xid = pg_current_xact_id(), %_id = nextval('fs_feed') where id = $1"
	t.exec(strings.ReplaceAll(next, "%", feed), (*text)(&match))
}
