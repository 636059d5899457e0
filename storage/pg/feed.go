package pg

import (
	"context"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// place is where an item stands in its feed: by transaction, then by number.
// Numbers alone are no order: a transaction that began earlier may commit later, and what it brings
// would then lie behind a cursor that has passed. Transactions are ordered by their own numbers, and
// none is read before all that are older have ended.
type place struct{ xid, id uint64 }

// placed is an item with its place.
type placed[T any] struct {
	item T
	place
}

// fed is an item as a page has it: one row, or several. One without rows has nothing to show any
// more, and is passed over.
type fed struct {
	at   place
	rows []engine.FeedRow
}

// feed is how one kind is read: load gives the items after a place.
type feed struct {
	tag  string
	load func(t *txn, after place, limit int) ([]fed, error)
	many bool // an item may have several rows, so that a cursor says how many of them were read
}

var feeds = map[engine.FeedKind]feed{
	engine.FeedMatches:      {tag: "m", load: each(tMatches, "feed", matchRow)},
	engine.FeedTimelines:    {tag: "t", load: each(tMatches, "timeline", timelineRow)},
	engine.FeedParticipants: {tag: "p", load: seatRows, many: true},
	engine.FeedJobs:         {tag: "j", load: each(tEnded, "feed", jobRow)},
	engine.FeedRanks:        {tag: "r", load: rankRows},
	engine.FeedLive:         {tag: "l", load: liveRows},
}

// Feed gives the rows of a feed after a cursor. Between two pages items may move, to the end
// only; and nothing is read of a transaction as long as one that began before it goes on. So
// paging to the end misses nothing, however many write.
//
// A transaction that stays open holds all feeds up, for as long as it does.
func (db *DB) Feed(ctx context.Context, q engine.FeedQuery) (engine.FeedPage, error) {
	if q.Collection != "" {
		return engine.FeedPage{}, errNoCollections
	}
	f, ok := feeds[q.Kind]
	if !ok {
		return engine.FeedPage{}, engine.Problemf(engine.ErrInvalid, "", "there is no feed of %q", q.Kind)
	}
	return answer(ctx, db, func(t *txn) (page engine.FeedPage, err error) {
		at, err := t.cursor(f, q)
		if err != nil {
			return page, err
		}
		page.Next = at.String()
		limit := both.PageSize(q.Page)
		after := at.place
		if at.read > 0 {
			after.id-- // some rows of this item are left
		}
		items, err := f.load(t, after, limit+1)
		page.More = len(items) > limit
		for _, item := range items {
			if !f.add(&page, &at, item, limit) {
				break
			}
		}
		return page, err
	})
}

// add puts those rows of an item on the page that come after the cursor, as long as there is
// room. Each row's cursor is the place behind it: a reader may stop at any row, and asks with that one.
func (f feed) add(page *engine.FeedPage, at *feedCursor, item fed, limit int) (room bool) {
	read := 0
	if item.at == at.place {
		read = min(at.read, len(item.rows))
	} else if len(item.rows) == 0 && len(page.Rows) < limit { // nobody needs to look here again
		at.place, at.read = item.at, 0
		page.Next = at.String()
	}
	for i, row := range item.rows[read:] {
		if len(page.Rows) == limit {
			page.More = true
			return false
		}
		at.place = item.at
		if f.many {
			at.read = read + i + 1
		}
		row.Cursor = at.String()
		page.Next = row.Cursor
		page.Rows = append(page.Rows, row)
	}
	return true
}

// inOrder reads the items of a table by the place whose columns have a prefix: feed_xid and feed_id
// of "feed". Both are null of what has no place, such as a timeline that nobody has asked for, and
// no condition is true of a null.
func inOrder[T any](tb *table[T], prefix string) func(t *txn, after place, limit int) ([]placed[T], error) {
	all := declare("", "", func(p *placed[T]) []column {
		return append(tb.columns(&p.item), column{"", &p.xid}, column{"", &p.id})
	})
	sql := sync.OnceValue(func() string {
		return "select " + tb.sql().names + strings.ReplaceAll(`, %_xid, %_id from `+tb.name+` where (%_xid, %_id) > ($1, $2)
and %_xid < pg_snapshot_xmin(pg_current_snapshot()) order by %_xid, %_id limit $3`, "%", prefix)
	})
	return func(t *txn, after place, limit int) ([]placed[T], error) {
		return all.of(sql()).list(t, "", after.xid, int64(after.id), limit)
	}
}

// each is a feed of items with a row each. The statement is written once per feed.
func each[T any](tb *table[T], prefix string, row func(v T) engine.FeedRow) func(t *txn, after place, limit int) ([]fed, error) {
	read := inOrder(tb, prefix)
	return func(t *txn, after place, limit int) (items []fed, err error) {
		list, err := read(t, after, limit)
		for _, p := range list {
			items = append(items, fed{p.place, []engine.FeedRow{row(p.item)}})
		}
		return items, err
	}
}

func matchRow(m league.Match) engine.FeedRow {
	return engine.FeedRow{ID: m.ID, Match: new(both.Facts(m))}
}

func timelineRow(m league.Match) engine.FeedRow {
	return engine.FeedRow{ID: m.ID, Timeline: new(both.TimelineRow(m))}
}

func jobRow(j engine.Job) engine.FeedRow { return engine.FeedRow{ID: string(j.ID), Job: &j} }

// liveRows are live jobs by id: no durable order. A job that changes stays where it is, and one
// that ends leaves the feed: each page shows what lives when it is asked for.
func liveRows(t *txn, after place, limit int) (items []fed, err error) {
	jobs, err := tLive.list(t, "where id > $1 order by id limit $2", int64(after.id), limit)
	for _, j := range jobs {
		n, _ := JobNumber(j.ID)
		items = append(items, fed{place{id: uint64(n)}, []engine.FeedRow{jobRow(j)}})
	}
	return items, err
}

var matchesBySeats = inOrder(tMatches, "seats")

// seatRows are the players of matches: the matches in their order, then the seats of all of them in
// one question.
func seatRows(t *txn, after place, limit int) (items []fed, err error) {
	matches, err := matchesBySeats(t, after, limit)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(matches))
	for i, m := range matches {
		ids[i] = m.item.ID
	}
	seats, err := tSeats.list(t, "where match = any($1) order by match, index", ids)
	if err != nil {
		return nil, err
	}
	of := map[string][]league.Participant{}
	for _, p := range seats {
		of[p.Match] = append(of[p.Match], p)
	}
	for _, m := range matches {
		var rows []engine.FeedRow
		for _, p := range of[m.item.ID] {
			rows = append(rows, engine.FeedRow{ID: m.item.ID, Seat: new(both.SeatRow(m.item, p))})
		}
		items = append(items, fed{m.place, rows})
	}
	return items, err
}

var ranksInOrder = inOrder(tRanks, "feed")

// rankRows are the sure ranks, each with the account's name as it is now.
func rankRows(t *txn, after place, limit int) (items []fed, err error) {
	ranks, err := ranksInOrder(t, after, limit)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range ranks {
		ids = append(ids, storable(r.item.Account))
	}
	named, err := tAccounts.sound(t, "where id = any($1)", ids)
	accounts := map[string]league.Account{}
	for _, a := range named {
		accounts[a.ID] = a.Account
	}
	for _, r := range ranks {
		// It has a place without a row: the rank was sure once, and moves when it is again.
		if r.item.Unsure {
			items = append(items, fed{at: r.place})
			continue
		}
		a := accounts[r.item.Account]
		a.ID = r.item.Account
		items = append(items, fed{r.place, []engine.FeedRow{{ID: a.ID, Rank: new(both.RankRow(a, r.item))}}})
	}
	return items, err
}

// feedCursor is a place of a feed as others keep it: m812.5-5f3a9c01, or p812.5.3-5f3a9c01 after
// the third row of an item.
type feedCursor struct {
	tag string
	place
	read  int    // rows of that item, where an item may have several
	store string // a cursor makes no sense in another store
}

// String is the form in which others keep it; cursor reads it back.
func (c feedCursor) String() string {
	s := fmt.Sprintf("%s%d.%d", c.tag, c.xid, c.id)
	if c.read > 0 {
		s += fmt.Sprintf(".%d", c.read)
	}
	return s + "-" + c.store
}

// cursor reads the cursor of a query. It must be one that this feed of this store gave.
func (t *txn) cursor(f feed, q engine.FeedQuery) (c feedCursor, err error) {
	instance, _, err := value[[]byte](t, "select blob from fs_state where name = 'instance'")
	here := feedCursor{tag: f.tag, store: fmt.Sprintf("%08x", crc32.ChecksumIEEE(instance))}
	if err != nil || q.After == "" {
		return here, err
	}
	at, store, _ := strings.Cut(q.After, "-")
	c = feedCursor{tag: f.tag, store: store}
	_, bad := fmt.Sscanf(strings.TrimPrefix(at, f.tag)+".0", "%d.%d.%d", &c.xid, &c.id, &c.read)
	if bad != nil || c.String() != q.After || c.read > 0 && !f.many {
		return c, both.BadCursor(q.After, "is no cursor of %s", q.Kind)
	}
	if c.store != here.store {
		return c, both.BadCursor(q.After, "is of another store than this one")
	}
	// A database that was put back to an earlier state has not given out that number yet: the cursor would
	// wait for it, and pass over all that is written meanwhile.
	next, _, err := value[uint64](t, "select pg_snapshot_xmax(pg_current_snapshot())")
	if err == nil && c.xid >= next {
		err = both.BadCursor(q.After, "lies ahead of all that is stored")
	}
	return c, err
}
