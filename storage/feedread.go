package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// feed is how one kind is read.
//
// Of the feeds that go by places (table feed) an item that changes gets a new place at the end and
// leaves the old one, where load then finds nothing. Ranks and live jobs have numbers of their own.
type feed struct {
	tag  byte
	kind engine.FeedKind
	// load makes the rows of an item, without their cursors; none when the item has left its place.
	load func(t *txn, place feedPlace) ([]engine.FeedRow, error)
	// from is a table in which a feed has an order of its own, by the number that is its key; nil =
	// by the places in table feed. one makes the row of one of its rows.
	from *collection.Table
	one  func(r *feedReader, n uint64, at collection.Row) engine.FeedRow
	many bool // an item may have several rows, so that a cursor says how many of them were read
}

// The tag is the first letter of a feed's cursors and the first byte of its keys.
var feedList = []feed{
	{tag: tagMatches, kind: engine.FeedMatches, load: oneOfMatch(func(m league.Match) engine.FeedRow {
		return engine.FeedRow{ID: m.ID, Match: new(matchFacts(m))}
	})},
	{tag: tagTimelines, kind: engine.FeedTimelines, load: oneOfMatch(func(m league.Match) engine.FeedRow {
		return engine.FeedRow{ID: m.ID, Timeline: new(timelineRow(m))}
	})},
	{tag: tagParticipants, kind: engine.FeedParticipants, load: seatRows, many: true},
	{tag: tagJobs, kind: engine.FeedJobs, load: jobRows},
	{tag: tagPlayers, kind: engine.FeedPlayers, load: playerRows},
	{tag: tagRanks, kind: engine.FeedRanks, one: (*feedReader).rank, from: tRankOrder},
	{tag: tagLive, kind: engine.FeedLive, one: (*feedReader).live, from: tJobState.Table},
}

// Feed gives the rows of a feed after a cursor. A page is one short transaction; between two pages
// items may move, to the end only, so that paging to the end misses nothing.
//
//	q.After ""                      from the beginning
//	q.After "m812-5f3a9c01"         behind place 812 of the matches
//	page.Next "m1312-5f3a9c01"      to go on from; the same as q.After where nothing followed
func (db *DB) Feed(ctx context.Context, q engine.FeedQuery) (page engine.FeedPage, err error) {
	f, ok := feedOfKind(q.Kind)
	if !ok {
		return page, engine.Problemf(engine.ErrInvalid, "", "there is no feed of %q", q.Kind)
	}
	err = db.view(ctx, func(t *txn) error {
		r, err := t.feedReader(f, q.Page)
		if err == nil && q.Collection != "" {
			r.named = q.Collection
			r.collection, err = t.collectionNamed(r.named)
		}
		if err != nil {
			return err
		}
		if r.from == nil {
			err = r.places()
		} else {
			r.numbers()
		}
		page = r.page
		page.Next = r.at.String()
		return err
	})
	return page, err
}

// feedOfKind is the feed of a kind; false = there is none.
func feedOfKind(kind engine.FeedKind) (feed, bool) {
	for _, f := range feedList {
		if f.kind == kind {
			return f, true
		}
	}
	return feed{}, false
}

// feedReader fills one page.
type feedReader struct {
	*txn
	feed
	at    feedCursor // the last row of the page so far
	limit int
	page  engine.FeedPage

	collection, named string // id and name of the one of which rows are wanted; "" = all are

	accounts map[string]league.Account // of the ranks so far
}

// feedReader begins a page behind its cursor. Errors: engine.ErrInvalid of a cursor that is not of
// this feed and store.
func (t *txn) feedReader(f feed, p engine.Page) (*feedReader, error) {
	store, err := t.feedStore()
	if err != nil {
		return nil, err
	}
	r := &feedReader{
		txn: t, feed: f, limit: p.Rows(), at: feedCursor{tag: f.tag, store: store},
		accounts: map[string]league.Account{},
	}
	if p.After == "" {
		return r, nil
	}
	r.at, err = r.after(p.After)
	return r, err
}

// places goes through the feed's rows. It begins with the item of the cursor, of which some rows
// may be left. A page may end before it is full, where many places in a row have nothing to show
// any more: More says that there is more to read, and the next page goes on behind what was looked
// at.
func (r *feedReader) places() error {
	looked := 0
	for row := range r.RowsFrom(tFeed.Table, []byte{r.tag}, feedKey(r.tag, r.at.seq)) {
		if looked++; looked > maxScan {
			r.page.More = true
			return nil
		}
		place, err := tFeed.Decode(row.Key, row.Value)
		if place.seq == r.at.seq && !r.many {
			continue
		}
		var rows []engine.FeedRow
		if err == nil {
			rows, err = r.load(r.txn, place)
		}
		if err != nil {
			// A record that cannot be read is handed out as such: an export goes on and says so at
			// its end.
			if _, ok := disk.AsCorrupt(err); !ok {
				return err
			}
			rows = []engine.FeedRow{{ID: place.id, Corrupt: true}}
		}
		if len(rows) == 0 {
			r.at.seq, r.at.read = place.seq, 0 // nobody needs to look here again
			continue
		}
		// The item may have more rows than found room: the next page goes on within it.
		if full := r.add(place.seq, rows); full {
			return nil
		}
	}
	return nil
}

// add puts those rows of an item on the page that come after the cursor, and reports whether one
// found no room.
func (r *feedReader) add(seq uint64, rows []engine.FeedRow) (full bool) {
	read := 0
	if seq == r.at.seq {
		read = min(r.at.read, len(rows))
	}
	if len(rows) > 0 && !r.wants(rows[0]) {
		r.at.seq, r.at.read = seq, 0
		return false
	}
	for i, row := range rows[read:] {
		if len(r.page.Rows) == r.limit {
			r.page.More = true
			return true
		}
		r.at.seq = seq
		if r.many {
			r.at.read = read + i + 1
		}
		row.Cursor = r.at.String()
		r.page.Rows = append(r.page.Rows, row)
	}
	return false
}

// wants reports whether an item is of the collection that was asked for, by one of its rows. What cannot be read may be.
func (r *feedReader) wants(row engine.FeedRow) bool {
	switch {
	case r.collection == "" || row.Corrupt:
		return true
	case row.Rank != nil:
		return r.accounts[row.ID].Collection == r.collection
	case row.Player != nil:
		return row.Player.Collection == r.named
	case row.Job != nil:
		return row.Job.Owner == r.collection
	}
	return r.Has(tAccountsOf.Table, listedKey(listing{Match: row.ID, Account: r.collection}))
}

// numbers goes through a table with an order of its own. Its rows never move.
func (r *feedReader) numbers() {
	looked := 0
	for at := range r.RowsFrom(r.from, nil, key.Uint64(r.at.seq+1)) {
		if looked++; looked > maxScan {
			r.page.More = true
			return
		}
		n := key.Read(at.Key).Uint64()
		if full := r.add(n, []engine.FeedRow{r.one(r, n, at)}); full {
			return
		}
	}
}

// rank follows a place in the order of all ranks. One that cannot be read is named by check.
func (r *feedReader) rank(n uint64, at collection.Row) engine.FeedRow {
	bad := engine.FeedRow{ID: fmt.Sprint("rank ", n), Corrupt: true}
	k, err := tRankOrder.BlobOf(at.Key, at.Value)
	if err != nil {
		return bad
	}
	rank, ok, err := tRanks.Get(r.txn, k)
	if err != nil || !ok {
		return bad
	}
	a, known := r.accounts[rank.Account]
	if !known {
		if a, err = r.account(rank.Account); err != nil {
			a = league.Account{ID: rank.Account}
		}
		r.accounts[rank.Account] = a
	}
	line := rankRow(a, rank)
	return engine.FeedRow{ID: rank.Account, Rank: &line}
}

// live follows the number of a live job.
func (r *feedReader) live(n uint64, at collection.Row) engine.FeedRow {
	j, ok, err := r.readLive(at.Key)
	if err != nil || !ok {
		return engine.FeedRow{ID: string(jobID(n)), Corrupt: true}
	}
	return engine.FeedRow{ID: string(j.ID), Job: &j}
}

// oneOfMatch loads the one row that a match has in a feed; none when it is not there, which check
// names.
func oneOfMatch(row func(league.Match) engine.FeedRow) func(*txn, feedPlace) ([]engine.FeedRow, error) {
	return func(t *txn, place feedPlace) ([]engine.FeedRow, error) {
		m, err := t.match(place.id)
		if disk.IsNotFound(err) {
			return nil, nil
		}
		return []engine.FeedRow{row(m)}, err
	}
}

// seatRows are the players of a match, a row each.
func seatRows(t *txn, place feedPlace) ([]engine.FeedRow, error) {
	seats, err := t.seats(place.id)
	if err != nil {
		return nil, err
	}
	m, err := t.match(place.id)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.FeedRow, len(seats))
	for i, p := range seats {
		row := engine.SeatRow{
			Match: m.ID, Index: p.Index, PUUID: p.PUUID, RiotID: p.RiotID, Champion: p.Champion, Team: p.Team,
			Won: won(p, m.Remake), Kills: p.Kills, Deaths: p.Deaths, Assists: p.Assists,
			Played: m.Played, Patch: m.Patch,
		}
		rows[i] = engine.FeedRow{ID: place.id, Seat: &row}
	}
	return rows, nil
}

// playerRows is a player of a collection.
func playerRows(t *txn, place feedPlace) ([]engine.FeedRow, error) {
	a, ok, err := tPlayers.Get(t, []byte(place.id))
	if !ok || err != nil {
		return nil, err
	}
	c, _, err := tCollections.Get(t, []byte(a.Collection))
	return []engine.FeedRow{{ID: a.ID, Player: &engine.PlayerRow{Player: a.ID, RiotID: a.RiotID(), Platform: a.Platform,
		PUUID: onePUUID(a), Collection: c.Name, Found: a.Created}}}, err
}

// jobRows is an ended job; none when it was revived since, and has another place or none.
func jobRows(t *txn, place feedPlace) ([]engine.FeedRow, error) {
	j, here, err := t.endedAt(place)
	if err != nil || !here {
		return nil, err
	}
	return []engine.FeedRow{{ID: place.id, Job: &j}}, nil
}

// feedCursor is a place of a feed as other programs keep it: m812-5f3a9c01 is place 812 of the feed
// of matches, and p812.3-5f3a9c01 comes after the third row of an item that has several. The eight
// digits name the store, so that a cursor of another one is refused; taken for one of this store it
// would skip rows, and nobody would notice.
type feedCursor struct {
	tag   byte
	seq   uint64
	read  int    // rows of that item, where an item may have several
	store string // a cursor makes no sense in another store, nor in one that was put back to an earlier state
}

// feedStore names the store in cursors, since it was last restored, in eight digits.
func (t *txn) feedStore() (string, error) {
	name, _, err := t.Text(tMeta, disk.MetaInstance)
	if err != nil {
		return "", err
	}
	if at := t.restored(); !at.IsZero() {
		name += at.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%08x", rec.Sum([]byte(name))), nil
}

// String is the form in which others keep it; after reads it back.
func (c feedCursor) String() string {
	s := string(rune(c.tag)) + strconv.FormatUint(c.seq, 10)
	if c.read > 0 {
		s += "." + strconv.Itoa(c.read)
	}
	return s + "-" + c.store
}

// after reads a cursor. It must be one that this feed of this store gave.
func (r *feedReader) after(s string) (c feedCursor, err error) {
	c.tag = r.tag
	place, store, named := strings.Cut(s, "-")
	seq, read, some := strings.Cut(strings.TrimPrefix(place, string(rune(r.tag))), ".")
	c.store = store
	if c.seq, err = strconv.ParseUint(seq, 10, 63); err == nil && some {
		c.read, err = strconv.Atoi(read)
	}
	if err != nil || !named || c.String() != s || c.read > 0 && !r.many {
		return c, badCursor(s, "is no cursor of %s", r.kind)
	}
	// After a restore the places of the days since are given anew, to other items.
	if c.store != r.at.store {
		return c, badCursor(s, "is of another store than this one, or of before a backup was put back")
	}
	if last := r.last(); c.seq > last {
		return c, badCursor(s, "lies ahead of the last place, %d", last)
	}
	return c, nil
}

// last is the highest number that a cursor of this feed can have.
func (r *feedReader) last() uint64 {
	if r.from == nil {
		return r.Given(tFeed.Table)
	}
	return r.Given(r.from)
}

// badCursor refuses what is no cursor of a feed, and says why.
func badCursor(s, format string, args ...any) error {
	return engine.Problemf(engine.ErrInvalid,
		"take the cursor of the last line of an export, or leave it out to begin anew",
		"cursor %q %s", s, fmt.Sprintf(format, args...))
}

// timelineRow is the timeline of a match as exports show it.
func timelineRow(m league.Match) engine.TimelineRow {
	f := m.Timeline
	return engine.TimelineRow{
		Match: m.ID, Status: f.Status.String(), Attempts: f.Attempts, FetchedAt: f.FetchedAt, LastAttemptAt: f.LastAttemptAt,
		LastError: f.LastError, LastClass: f.LastClass, Played: m.Played, Patch: m.Patch,
	}
}
