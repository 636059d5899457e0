package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// A store that several processes share is a file of each of them, and a log of commits that they have in
// common. One of them leads: its commits go into the log, and then into its file. The others carry the log
// out on theirs. So what is in a file is in the log, and who leads next has it all.

// Shared is what the processes have in common.
type Shared interface {
	// Append adds a commit behind the last one, and returns when it is known to be there. disk.ErrDeposed: another
	// leads than in this term, or has written.
	Append(ctx context.Context, term int64, c Commit) error
	// After gives the commits behind a place, in their order. ErrTrimmed: some of them are gone, there never
	// were so many, or the log is another.
	After(ctx context.Context, at Place, carry func(c Commit) error) error
	// Rows gives all that is stored, as of the place that it returns.
	Rows(ctx context.Context, fill func(s Step) error) (at Place, err error)
	// PutPayload stores a payload as Riot sent it within a term, or replaces it, and returns when it is there.
	PutPayload(ctx context.Context, term int64, p Payload) error
	// Payload gives one, in whatever codec.
	Payload(ctx context.Context, match string, part league.Part) (p Payload, ok bool, err error)
	// Payloads tells of each.
	Payloads(ctx context.Context, tell func(match string, part league.Part, month string, bytes int64)) error
	// ByMonth are the months that have payloads, the oldest first.
	ByMonth(ctx context.Context) ([]MonthSize, error)
	// MonthBytes are those of the payloads of a month, and DiskBytes what all of them take where they are stored.
	MonthBytes(ctx context.Context, month string) (int64, error)
	DiskBytes(ctx context.Context) (int64, error)
	// DropPayloads deletes those of a month, and ErasePayloads those of matches, if the term goes on: else disk.ErrDeposed.
	DropPayloads(ctx context.Context, term int64, month string) error
	ErasePayloads(ctx context.Context, term int64, matches []string) error
	// Unask deletes, within a term, what has been asked elsewhere for Riot IDs, and Trim what the log has told: both may
	// name who is forgotten.
	Unask(ctx context.Context, term int64, riotIDs []string) error
	Trim(ctx context.Context, term int64) error
	// Wait returns when there may be a commit behind one, and in any case after a moment. Rest is called when nobody
	// waits for a while.
	Wait(ctx context.Context, seq uint64) error
	Rest()
}

// Place is one in a log: the number of a commit, 0 before the first, in the log of an instance. A server that
// was set back to an earlier state goes on with another instance.
type Place struct {
	Instance string
	Seq      uint64
}

// Step is a row, or a number of a table.
type Step = collection.Step

// Commit is what one has changed.
type Commit struct {
	Seq     uint64 // the first is 1
	Rows    []byte // see Steps
	Changes []byte // for those who watch, as JSON
}

// Steps goes through the rows of a commit.
func (c Commit) Steps(do func(s Step) error) error { return collection.Steps(c.Rows, do) }

// ErrTrimmed says that a log does not go on where a file is.
var ErrTrimmed = errors.New("the log of commits does not go on here")

// metaLog is the number of the last commit in the log that is in the file; none while it is being filled.
var metaLog = []byte("log")

// share is the part that this process has in a shared store.
type share struct {
	Shared
	reign atomic.Pointer[reign] // the last one of this process
	onGap func()
	// filling: the file has not got all yet.
	filling atomic.Bool
	joined  bool // once, before anybody reads

	mu       sync.Mutex // who holds it carries the log out
	instance string     // whose rows are in the file
}

// reign is a term in which this process writes. It is not changed under the lock: a commit that is under way asks for it,
// and keeps others from the file meanwhile.
type reign struct {
	term int64
	over context.Context // ends with the term
	end  func()          // cancels over
}

// OnGap names the one function that is called when more has changed than OnCommit was told of: all is to be read anew.
// A store that is this process's alone has no gaps.
func (db *DB) OnGap(f func()) {
	if db.share != nil {
		db.share.onGap = f
	}
}

// Filling reports whether the file of a shared store has not got all yet: who leads now would keep the others waiting.
func (db *DB) Filling() bool { return db.share.filling.Load() }

// Lead lets this process write in a term, until ctx ends: first it has all that was written before. lost is called when
// the log refuses what is written all the same.
func (db *DB) Lead(ctx context.Context, term int64, lost func()) error {
	s := db.share
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(db.catchUp(ctx), db.leading()); err != nil {
		return err
	}
	over, end := context.WithCancel(ctx)
	db.anew.Store(true)
	s.reign.Store(&reign{term, over, func() { end(); lost() }})
	return nil
}

// leads gives the term in which this process writes; disk.ErrDeposed when it follows.
func (s *share) leads() (*reign, error) {
	if r := s.reign.Load(); r != nil && r.over.Err() == nil {
		return r, nil
	}
	return nil, disk.ErrDeposed
}

// append logs a group that is about to be committed.
func (s *share) append(t *txn, seq uint64) error {
	r, err := s.leads()
	if err != nil {
		return err
	}
	c := Commit{Seq: seq, Rows: t.Log()}
	if c.Changes, err = json.Marshal(t.changes); err != nil {
		return fmt.Errorf("tell what was changed: %w", err)
	}
	if err = s.Append(r.over, r.term, c); errors.Is(err, disk.ErrDeposed) {
		r.end()
	}
	return err
}

// follow carries the log out while another leads, until ctx ends. What cannot be had now is asked for again.
func (db *DB) follow(ctx context.Context) error {
	s, said := db.share, ""
	for ctx.Err() == nil {
		if r, err := s.leads(); err == nil {
			s.Rest()
			select {
			case <-r.over.Done():
			case <-ctx.Done():
			}
			continue
		}
		s.mu.Lock()
		_, err := s.leads()
		if err == nil { // since just now
			s.mu.Unlock()
			continue
		}
		err = db.catchUp(ctx)
		s.mu.Unlock()
		if err != nil && ctx.Err() == nil && err.Error() != said {
			db.log.Warn().Err(err).Msg("what another process writes does not come here yet; it is tried again")
		}
		if said = ""; err != nil {
			said = err.Error()
		}
		if disk.IsDamage(err) {
			return err // nothing can be built on that file
		}
		if err == nil {
			err = s.Wait(ctx, db.Seq())
		}
		if err != nil && !await.Pause(ctx, lookAgain) {
			break
		}
	}
	return nil
}

// catchUp brings the file to the end of the log. The caller holds the lock.
func (db *DB) catchUp(ctx context.Context) error {
	err := db.share.After(ctx, db.place(), db.carry)
	if errors.Is(err, ErrTrimmed) {
		if err = db.fill(ctx); err == nil {
			if f := db.share.onGap; f != nil {
				f()
			}
			err = db.share.After(ctx, db.place(), db.carry)
		}
	}
	return err
}

// carry makes a commit of another's here.
func (db *DB) carry(c Commit) error {
	var changes []engine.Change
	if err := json.Unmarshal(c.Changes, &changes); err != nil {
		return fmt.Errorf("commit %d: %w", c.Seq, err)
	}
	there := false // as of a commit of one's own, which was on its way when the term ended
	err := db.guarded(func() error {
		return db.bolt.Update(func(b *bolt.Tx) error {
			t := collection.Begin(b, disk.Now())
			last, _, err := t.Number(tMeta, metaLog)
			if there = last >= c.Seq; there || err != nil {
				return err
			}
			if err := t.Apply(c.Rows); err != nil {
				return fmt.Errorf("commit %d: %w", c.Seq, err)
			}
			return t.PutNumber(tMeta, metaLog, c.Seq)
		})
	})
	if err == nil && !there {
		db.publish(c.Seq, changes)
	}
	return err
}

// place is how far the file is.
func (db *DB) place() Place { return Place{db.share.instance, db.Seq()} }

// fillRows is how many rows come into a file at once.
const fillRows = 20_000

// fill puts all that is stored into the file in place of what is there. A file that was filled in part alone
// has no number of a commit, and is filled anew.
func (db *DB) fill(ctx context.Context) error {
	var page []Step
	put := func(more func(t *collection.Tx) error) error {
		defer func() { page = page[:0] }()
		return db.guarded(func() error {
			return db.bolt.Update(func(b *bolt.Tx) error {
				t := collection.Begin(b, disk.Now())
				for _, s := range page {
					if err := t.Do(s); err != nil {
						return err
					}
				}
				return more(&t)
			})
		})
	}
	none := func(*collection.Tx) error { return nil }
	db.share.filling.Store(true)
	err := put(func(t *collection.Tx) error { return errors.Join(t.Remove(tMeta, metaLog), t.Empty()) })
	if err != nil {
		return err
	}
	db.seq.Store(0)
	db.share.instance = ""
	at, err := db.share.Rows(ctx, func(s Step) error {
		if page = append(page, s); len(page) < fillRows {
			return nil
		}
		return put(none)
	})
	if err == nil {
		err = put(func(t *collection.Tx) error {
			return errors.Join(t.PutText(tMeta, disk.MetaInstance, at.Instance), t.PutNumber(tMeta, metaLog, at.Seq))
		})
	}
	if err == nil {
		db.seq.Store(at.Seq)
		db.share.instance = at.Instance
		db.share.filling.Store(false)
	}
	return err
}

// errFilling answers readers while the file is filled: only a part of it is there.
var errFilling = engine.Problemf(engine.ErrGone, "ask again in a moment", "what is stored is fetched anew from the database")

// join brings the file of a process to what the others have, before anybody reads it.
func (db *DB) join(ctx context.Context) error {
	err := db.view(ctx, func(t *txn) error {
		seq, filled, err := t.Number(tMeta, metaLog)
		if err == nil && filled {
			db.share.instance, _, err = t.Text(tMeta, disk.MetaInstance)
		}
		db.seq.Store(seq)
		return err
	})
	if err != nil {
		return err
	}
	err = db.catchUp(ctx)
	db.share.joined = err == nil
	return err
}

// payloadStore is where payloads are: in files of the directory, or where all have them who share the store. What each does is
// said at payload.Store's.
type payloadStore interface {
	Put(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error
	Get(match string, p league.Part, ref league.PayloadRef) ([]byte, error)
	Raw(match string, p league.Part, ref league.PayloadRef) ([]byte, error)
	Find(ctx context.Context, match string, p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error)
	Spoilt(match string) bool
	Months() ([]string, error)
	Weigh(month string) (bytes int64, err error)
	Drop(month string) error
	Erase(matches []string) (left []string, err error)
}

// Payload is what Riot answered, as it arrived, with whose it is.
type Payload struct {
	Match string
	Part  league.Part
	league.PayloadRef
	Body []byte
}

// carried are the payloads of a shared store. They are written and deleted at once, within the term, and not by the log: a
// payload that no state names costs room and no correctness.
type carried struct {
	*share
	doomed  *payload.Doomed
	written *disk.WriteTimes
	spoilt  sync.Map // matches with a payload that was found damaged and is not replaced yet
}

func (c *carried) Put(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error {
	if len(body) != ref.Size {
		return fmt.Errorf("%s of %s: %d bytes, its reference says %d: %w", p, match, len(body), ref.Size, engine.ErrInvalid)
	}
	r, err := c.leads()
	if err != nil {
		return err
	}
	defer c.doomed.Spare(match)()
	defer c.written.Add(time.Now())
	c.spoilt.Delete(match)
	return c.PutPayload(ctx, r.term, Payload{Match: match, Part: p, PayloadRef: ref, Body: body})
}

// Get proves a payload, and gives its JSON.
func (c *carried) Get(match string, p league.Part, ref league.PayloadRef) ([]byte, error) {
	return c.Raw(match, p, ref)
}

func (c *carried) Raw(match string, p league.Part, ref league.PayloadRef) (raw []byte, err error) {
	if ref.Dropped() {
		return nil, disk.ErrDropped
	}
	found, ok, err := c.Payload(context.Background(), match, p)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, engine.ErrNotFound
	}
	if raw, err = inJSON(ref, found); err != nil {
		c.spoilt.Store(match, true)
		return nil, &disk.ErrCorrupt{Bucket: payload.Dir, Key: []byte(match + "/" + string(p)), Err: err}
	}
	return raw, nil
}

// inJSON unpacks a payload, and proves that it is what a reference names.
func inJSON(ref league.PayloadRef, p Payload) ([]byte, error) {
	raw, err := payload.Raw(p.PayloadRef, p.Body, payload.Unknown)
	if err == nil {
		err = payload.Prove(ref, raw)
	}
	return raw, err
}

func (c *carried) Find(ctx context.Context, match string, p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error) {
	if c.doomed.Has(match) {
		return ref, nil, false, nil
	}
	found, ok, err := c.Payload(ctx, match, p)
	return found.PayloadRef, found.Body, ok, err
}

func (c *carried) Spoilt(match string) bool {
	_, is := c.spoilt.Load(match)
	return is
}

func (c *carried) Months() (all []string, err error) {
	by, err := c.ByMonth(context.Background())
	for _, m := range by {
		all = append(all, m.Month)
	}
	return all, err
}

func (c *carried) Weigh(month string) (int64, error) {
	return c.MonthBytes(context.Background(), month)
}

// Drop and Erase delete within the term alone: what a former leader wanted to delete may be wanted again.
func (c *carried) Drop(month string) error {
	r, err := c.leads()
	if err == nil {
		err = c.DropPayloads(r.over, r.term, month)
	}
	return err
}

func (c *carried) Erase(matches []string) (left []string, err error) {
	r, err := c.leads()
	if err != nil {
		return nil, err
	}
	matches, release := c.doomed.Of(matches)
	defer release()
	return nil, c.ErasePayloads(r.over, r.term, matches)
}

// MonthSize is how many payloads a month has, and their bytes.
type MonthSize struct {
	Month    string
	Payloads int
	Bytes    int64
}
