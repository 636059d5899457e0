package storage

import (
	"context"
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// The feeds: a durable order of matches, timelines, seats, players of collections and ended jobs. A place is the number of
// a sequence, taken in the transaction that changes the item, so that a place which can be seen is
// complete and none is ever added before it.
//
// A match, its timeline and its seats move when what an export shows of them changes, and only
// then: their place before is removed, found by table feed_of. An ended job has no such row: it
// would cost each of the many jobs a write for the sake of the few that an operator runs again. Its
// place names its revision instead, and counts while the archive has that revision.

// Tags of the feeds: the first byte of their keys, and of their cursors.
const (
	tagPlayers      byte = 'c' // of collections
	tagJobs         byte = 'j'
	tagLive         byte = 'l' // in cursors only
	tagMatches      byte = 'm'
	tagParticipants byte = 'p'
	tagRanks        byte = 'r' // in cursors only: table rank_order is the order
	tagTimelines    byte = 't'
)

var (
	tFeed = collection.Declare(
		collection.New("feed", "feed byte, u64 seq", "id and revision of what was added or changed then").Grows(),
		collection.Records[feedPlace]{Format: 32, Key: func(c *key.Coder, p *feedPlace) {
			c.Byte(&p.tag)
			c.Uint64(&p.seq)
		}, Fields: func(c *rec.Coder, p *feedPlace) {
			c.Str(&p.id)
			c.Uint((*uint64)(&p.rev))
		}, Indexes: []collection.Index[feedPlace]{feedOf}})
	feedOf = collection.Index[feedPlace]{
		Table: collection.New("feed_of", "feed byte, id as it is", "u64 seq of its one row in feed; not for ended jobs"),
		Rows: func(p *feedPlace) []collection.Entry {
			if p.tag == tagJobs {
				return nil
			}
			return []collection.Entry{{Key: string(feedOfKey(p.tag, p.id)), Number: p.seq}}
		},
		Of:      func(e collection.Entry) []byte { return feedKey(e.Key[0], e.Number) },
		Missing: "is another place than that of its item", Wrong: "has no place in the feed",
	}
)

// feedPlace is one row of table feed.
type feedPlace struct {
	tag byte
	seq uint64
	id  string
	rev engine.Revision // of an ended job; 0 for others
}

func feedKey(tag byte, seq uint64) []byte { return key.AppendUint64([]byte{tag}, seq) }

func feedOfKey(tag byte, id string) []byte { return append([]byte{tag}, id...) }

// newPlace gives an item the next place of all.
func (t *txn) newPlace(tag byte, id string, rev engine.Revision) error {
	seq, err := t.Next(tFeed.Table)
	if err != nil {
		return err
	}
	k := key.AppendUint64(append(t.Alloc(9), tag), seq)
	return tFeed.Save(t, k, nil, &feedPlace{tag: tag, seq: seq, id: id, rev: rev})
}

// toEnd gives an item the next place and removes the one that it had.
func (t *txn) toEnd(tag byte, id string) error {
	old, had, err := t.Number(feedOf.Table, feedOfKey(tag, id))
	if err != nil {
		return err
	}
	if had {
		if err := t.Remove(tFeed.Table, feedKey(tag, old)); err != nil {
			return err
		}
	}
	return t.newPlace(tag, id, 0) // its row in feed_of names the new one
}

// dropPlace removes an item's place in the feed.
func (t *txn) dropPlace(tag byte, id string) error {
	// Not every match has a place in each feed: one without a timeline has none among the
	// timelines.
	seq, ok, err := t.Number(feedOf.Table, feedOfKey(tag, id))
	if err != nil || !ok {
		return err
	}
	return t.RemoveRow(tFeed.Table, feedKey(tag, seq))
}

// feedMatch moves the match and its timeline if what exports show of them has changed.
func (t *txn) feedMatch(old, m league.Match, known bool) error {
	if !known || !sameMatch(old, m) {
		if err := t.toEnd(tagMatches, m.ID); err != nil {
			return err
		}
	}
	if sameTimeline(old, m) {
		return nil // a timeline that nobody has asked for yet has the zero face
	}
	return t.toEnd(tagTimelines, m.ID)
}

// feedSeats moves the seats of a match if they differ from those that are stored.
func (t *txn) feedSeats(match string, ps []league.Participant) error {
	// Syncs of ten players store the seats of one match ten times: nobody who follows the feed
	// should read them again.
	if tParticipants.Same(t, []byte(match), &seating{match, ps}) {
		return nil
	}
	return t.toEnd(tagParticipants, match)
}

// feedEnded gives a job that has ended its place.
func (t *txn) feedEnded(j *engine.Job) error {
	return t.newPlace(tagJobs, string(j.ID), j.Rev)
}

// trimFeed removes the places of jobs that were pruned or have been run again: those no longer
// count, and never will.
func (db *DB) trimFeed(ctx context.Context) error {
	left := func(t *txn, r collection.Row) bool {
		place, err := tFeed.Decode(r.Key, r.Value)
		if err != nil {
			return false // check names it
		}
		_, here, err := t.endedAt(place)
		return err == nil && !here
	}
	return db.scan(ctx, tFeed.Table, []byte{tagJobs}, db.pages.Scan, left, func(page [][]byte) error {
		return db.do(ctx, false, func(t *txn) error { return t.RemoveKeys(tFeed.Table, page) })
	})
}

// endedAt gives the job that ended at a place; here is false when it has been run again since.
func (t *txn) endedAt(place feedPlace) (j engine.Job, here bool, err error) {
	k, err := jobKey(engine.JobID(place.id))
	if err != nil {
		return j, false, nil // no job has such an id; check names it
	}
	j, ok, err := tArchive.Get(t, k)
	return j, ok && j.Rev == place.rev, err
}

// sameMatch and sameTimeline report whether exports show the same of a match, and of its
// timeline: what does not change for them keeps its place in a feed.
func sameMatch(a, b league.Match) bool    { return matchFace(a) == matchFace(b) }
func sameTimeline(a, b league.Match) bool { return faceOf(a.Timeline) == faceOf(b.Timeline) }

// fetchFace is what exports show of one part of a match. A payload counts by what it holds, not by
// how it is stored: an archived one has not changed.
type fetchFace struct {
	status    league.Status
	attempts  int
	fetched   int64
	attempted int64
	err       string
	class     string
	rawLen    int
	crc       uint32
}

func faceOf(f league.Fetch) fetchFace {
	return fetchFace{f.Status, f.Attempts, unixMilli(f.FetchedAt), unixMilli(f.LastAttemptAt), f.LastError,
		f.LastClass, f.Ref.RawLen, f.Ref.CRC}
}

// unixMilli is t as a record holds it.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.UnixMilli()
}

type gameFace struct {
	match    fetchFace
	timeline league.Status
	played   int64
	duration time.Duration
	queue    int
	mode     string
}

func matchFace(m league.Match) gameFace {
	return gameFace{faceOf(m.Match), m.Timeline.Status, unixMilli(m.Played), m.Duration.Truncate(time.Microsecond),
		m.QueueID, m.Mode}
}
