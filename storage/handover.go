package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
	"github.com/farsight-console/farsight/storage/key"
)

// What another store takes over. Each table either hands its rows over, as values that tell all
// that is stored of them, or follows from tables that do.

// handing is how a table hands its rows over.
// Every table is either here or among [follows]: a test holds both lists to all tables that
// there are, so that one that is added cannot be left behind by a move to another store.
type handing struct {
	*collection.Table
	of     reflect.Type
	prefix []byte // of the rows that it is about
	// give hands over the values of one row, in their order.
	give func(t *txn, k, v []byte, take func(any)) error
}

// hand makes of each record what is handed over: any number of values.
// A value of type H is what the other store takes: package both has the types on which the two
// agree, none of which knows a key of this one.
func hand[T, H any](r *collection.Records[T], as func(t *txn, k []byte, v T, give func(H)) error) handing {
	return handRows(r.Table, func(t *txn, k, v []byte, give func(H)) error {
		out, err := r.Decode(k, v)
		if err != nil {
			return err
		}
		return as(t, k, out, give)
	})
}

// handRows is hand of a table that has no records.
func handRows[H any](tb *collection.Table, as func(t *txn, k, v []byte, give func(H)) error) handing {
	return handing{Table: tb, of: reflect.TypeFor[H](), give: func(t *txn, k, v []byte, take func(any)) error {
		return as(t, k, v, func(h H) { take(h) })
	}}
}

// handWhole hands records over as they are.
func handWhole[T any](r *collection.Records[T]) handing {
	return hand(r, func(_ *txn, _ []byte, v T, give func(T)) error {
		give(v)
		return nil
	})
}

// handed are the tables that hand their rows over. Jobs that have ended and ranks come by their
// places in the feeds.
var handed = []handing{
	handWhole(tAccounts),
	handRows(accountPUUID.Table, func(t *txn, k, _ []byte, give func(both.PUUID)) error {
		account, _, err := t.Text(accountPUUID.Table, k)
		give(both.PUUID{PUUID: string(k), Account: account})
		return err
	}),
	handWhole(tPUUIDCache),

	hand(tRuns, func(t *txn, _ []byte, r league.Run, give func(both.CostedRun)) error {
		var own jobRun
		k, err := jobKey(engine.JobID(r.Job))
		// A run that nobody has a job for any more has its cost in no table.
		if err == nil {
			own, _, err = tRunOfJob.Get(t, k)
		} else if r.Job == "" {
			err = nil
		}
		give(both.CostedRun{Run: r, Calls: own.calls, Throttled: own.throttled})
		return err
	}),
	hand(tStaged, func(_ *txn, k []byte, s league.Staged, give func(both.StagedID)) error {
		read := key.Read(k)
		give(both.StagedID{Run: read.String(), Staged: s})
		_ = read.Uint64()
		return read.Done()
	}),
	handWhole(tCoverage), handWhole(tIDsCache), handWhole(tTagPolicies),

	hand(tMatches, func(t *txn, _ []byte, m league.Match, give func(both.FedMatch)) error {
		fed := both.FedMatch{Match: m}
		var errs []error
		// A match has up to three places in the feeds, which `export --follow` goes on from: they
		// are handed over as numbers, and no follower sees a row twice or not at all.
		for tag, at := range map[byte]*uint64{
			tagMatches: &fed.Place, tagTimelines: &fed.TimelinePlace, tagParticipants: &fed.SeatsPlace,
		} {
			place, _, err := t.Number(feedOf.Table, feedOfKey(tag, m.ID))
			*at = place
			errs = append(errs, err)
		}
		give(fed)
		return errors.Join(errs...)
	}),
	hand(tParticipants, func(_ *txn, _ []byte, s seating, give func(league.Participant)) error {
		for _, p := range s.seats {
			give(p)
		}
		return nil
	}),
	handWhole(tAccountsOf),

	handWhole(tGaps),
	hand(tRanks, func(_ *txn, _ []byte, r league.Rank, give func(both.FedRank)) error {
		// Those that have a place come with it, by tRankOrder below.
		if r.Unsure {
			give(both.FedRank{Rank: r})
		}
		return nil
	}),
	handRows(tRankOrder, func(t *txn, k, v []byte, give func(both.FedRank)) error {
		of, err := tRankOrder.BlobOf(k, v)
		if err != nil {
			return err
		}
		r, ok, err := tRanks.Get(t, of)
		if ok {
			give(both.FedRank{Rank: r, Place: key.Read(k).Uint64()})
		}
		return err
	}),
	handWhole(tReports), handWhole(tWeekly),
	hand(tJobState, func(t *txn, k []byte, j engine.Job, give func(engine.Job)) error {
		_, err := t.readRest(k, &j)
		give(j)
		return err
	}),
	{
		// Ended jobs come in the order in which they ended and not by their number: that is the
		// order in which the feed of the other store must tell of them.
		Table: tFeed.Table, prefix: []byte{tagJobs}, of: reflect.TypeFor[both.EndedJob](),
		give: func(t *txn, k, v []byte, take func(any)) error {
			place, err := tFeed.Decode(k, v)
			if err != nil {
				return err
			}
			j, here, err := t.endedAt(place)
			if here {
				take(both.EndedJob{Job: j, Place: place.seq})
			}
			return err
		},
	},
	hand(tAttempts, func(t *txn, k []byte, a engine.Attempt, give func(both.Tried)) error {
		j, _, err := t.readJob(k[:8])
		give(both.Tried{Attempt: a, Job: jobID(key.Read(k[:8]).Uint64()), Owner: j.Owner, Kind: j.Kind})
		return err
	}),
	hand(tMembers, func(_ *txn, _ []byte, m member, give func(both.Member)) error {
		give(both.Member{
			GroupID: engine.GroupID{Parent: jobID(m.parent), Group: int(m.group)},
			Child:   jobID(m.child), Mark: m.mark, Calls: m.calls, Throttled: m.throttled,
		})
		return nil
	}),
	handWhole(tGroups), handWhole(tQueues), handWhole(tHistory),

	hand(tAudit, func(t *txn, k []byte, a engine.AuditEntry, give func(engine.AuditEntry)) error {
		m, _, err := tAuditMoves.Get(t, k)
		a.Moves, a.Queue, a.Schedule = m.Jobs, m.Queue, m.Schedule
		give(a)
		return err
	}),
	handWhole(tSchedules),
	handRows(tTicks, func(_ *txn, k, _ []byte, give func(cron.Tick)) error {
		read := key.Read(k)
		tick := cron.Tick{Schedule: read.String(), At: read.Time()}
		tick.ID = read.String()
		give(tick)
		return read.Done()
	}),
	hand(tDays, func(_ *txn, k []byte, d dayRow, give func(both.DayPart)) error {
		// A day's sums are one row here. There they are parts that add up, so that writers need not
		// wait for each other.
		for slot, sum := range map[int]engine.DaySum{0: d.all, both.PrunedSlot: d.pruned} {
			if sum.Day = string(k); sum != (engine.DaySum{Day: sum.Day}) {
				give(both.DayPart{DaySum: sum, Slot: slot})
			}
		}
		return nil
	}),
	handRows(tState, func(_ *txn, k, v []byte, give func(both.State)) error {
		if string(k) == stateSizes { // how this disk has filled
			return nil
		}
		b, err := tState.BlobOf(k, v)
		give(both.State{Name: string(k), Blob: b})
		return err
	}),
}

// follows are the tables whose rows follow from those that are handed over, and what is of this
// file alone.
var follows = []*collection.Table{
	tMeta, collection.Counters, tJobSpec.Table, tJobError.Table, tArchive.Table, tJobKey, tArchiveKey,
	tCallSID, tRecent.Table, tRunOfJob.Table, tStagedID, tTickIDs, tAuditMoves.Table,
	accountName.Table, matchStatus.Table, byAccount.Table, archiveState.Table, memberOf.Table, feedOf.Table,
	// A directory with collections hands nothing over: nothingLeft.
	tCollections.Table, tCollected.Table, tPlayers.Table, playersOf.Table, playerPUUID.Table,
}

// Handover is a data directory that hands over all that is stored, to a store that takes its place.
// It is held for that alone, and nothing in it changes meanwhile. It may be interrupted at any
// time: nothing is written to the directory before [Handover.Leave].
type Handover struct {
	db *DB
}

// OpenHandover opens a data directory that nobody holds (*ErrHeld), and that has nothing left to
// finish.
func OpenHandover(o Options) (*Handover, error) {
	if keep.IsBackup(o.Dir) {
		return nil, &disk.ErrUnusable{
			Path: o.Dir, Why: "it is a backup, which is only read",
			Do: "put it back with `farsight restore`, or name a data directory",
		}
	}
	db, err := openUpkeep(o)
	if err != nil {
		return nil, err
	}
	if err := db.view(context.Background(), (*txn).nothingLeft); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Handover{db}, nil
}

// nothingLeft refuses a store that an engine has to finish first.
// Half of a forgotten account would come to the other store as an account.
func (t *txn) nothingLeft() error {
	if t.HasUnder(tCollections.Table, nil) {
		return engine.Problemf(engine.ErrRefused, "keep it in its directory", "collections need a data directory for now: %s has some",
			filepath.Dir(t.Bolt.DB().Path()))
	}
	// An engine finishes both when it opens the directory.
	half := func(what string) error {
		return engine.Problemf(engine.ErrRefused,
			"start an engine on it once, such as `farsight serve`, which finishes that",
			"%s was interrupted in %s", what, filepath.Dir(t.Bolt.DB().Path()))
	}
	list, err := t.forgetting()
	switch {
	case err != nil:
		return err
	case len(list) > 0:
		return half("the forgetting of an account")
	case keep.Resetting(t.Bolt):
		return half("a reset")
	}
	return nil
}

// Name says which directory it is.
func (h *Handover) Name() string { return h.db.dir }

// Version tells one state of the directory from all others: it is another one after each change.
// An interrupted copy goes on only from the state that it began with.
func (h *Handover) Version(ctx context.Context) (string, error) {
	f, err := h.db.Facts(ctx)
	return fmt.Sprintf("%s.%d", f.Instance, h.db.seq.Load()), err
}

// Numbers are the last ones that were given out.
func (h *Handover) Numbers(ctx context.Context) (n both.Numbers, err error) {
	err = h.db.view(ctx, func(t *txn) error {
		n.Job = t.Given(tJobState.Table)
		// Here ranks count their places by themselves; there all feeds count by one sequence.
		n.Place = max(t.Given(tFeed.Table), t.Given(tRankOrder))
		n.Audit, err = t.LastNumber(tAudit.Table, nil)
		return err
	})
	return n, err
}

// monthPrefix leads the names of the collections that are the payloads of a month: payload/2026-11.
const monthPrefix = payload.Dir + "/"

// Collections are all that there is to take over, in this order.
// Their sizes are for the bar and its ETA; what is handed over is counted row by row.
func (h *Handover) Collections(ctx context.Context) (list []both.Collection, err error) {
	err = h.db.view(ctx, func(t *txn) error {
		for _, from := range handed {
			s := t.Bucket(from.Table).Stats()
			list = append(list, both.Collection{Name: from.Name, Of: from.of, Rows: int64(s.KeyN), Bytes: int64(s.LeafInuse)})
		}
		return nil
	})
	months, bad := h.db.payloads.Months()
	for _, month := range months {
		c := both.Collection{Name: monthPrefix + month, Of: reflect.TypeFor[both.Payload]()}
		bad = errors.Join(bad, h.shard(month, func(_ *payload.Shard, matches *bolt.Bucket) error {
			s := matches.Stats()
			// Each match is a table in the month's table, which bbolt counts as a key and as a
			// table.
			c.Rows, c.Bytes = int64(s.KeyN-s.BucketN+1), int64(s.LeafInuse)
			return nil
		}))
		list = append(list, c)
	}
	return list, errors.Join(err, bad)
}

// Each hands over the records of a collection that come after a key (nil = all), until take wants
// no more. It gives the key of the last row that it has handed over, whole; nil when there was none
// left. size is that of the row.
func (h *Handover) Each(
	ctx context.Context, name string, after []byte, take func(v any), more func(size int) bool,
) (last []byte, err error) {
	if month, is := strings.CutPrefix(name, monthPrefix); is {
		return h.eachPayload(ctx, month, after, take, more)
	}
	at := slices.IndexFunc(handed, func(from handing) bool { return from.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("no collection %q: %w", name, engine.ErrNotFound)
	}
	from := handed[at]
	begin := after
	if begin == nil {
		begin = from.prefix
	}
	err = h.db.view(ctx, func(t *txn) error {
		for r := range t.RowsFrom(from.Table, from.prefix, begin) {
			// The row of the cursor has been handed over.
			if bytes.Equal(r.Key, after) {
				continue
			}
			if err := errors.Join(context.Cause(ctx), from.give(t, r.Key, r.Value, take)); err != nil {
				return err
			}
			last = bytes.Clone(r.Key)
			if !more(len(r.Key) + len(r.Value)) {
				return nil
			}
		}
		return nil
	})
	return last, err
}

// shard reads the payloads of a month.
// It is in one reading transaction, and the file stays open until it ends.
func (h *Handover) shard(month string, read func(s *payload.Shard, matches *bolt.Bucket) error) error {
	return h.db.payloads.With(month, false, func(s *payload.Shard) error {
		return s.View(func(b *bolt.Tx) error { return read(s, b.Bucket([]byte(payload.Table))) })
	})
}

// eachPayload hands over the payloads that a match names, as Riot sent them: another store does not
// know what the archiver makes of them. Those of no match were never told of.
func (h *Handover) eachPayload(
	ctx context.Context, month string, after []byte, take func(any), more func(int) bool,
) (last []byte, err error) {
	err = h.shard(month, func(s *payload.Shard, matches *bolt.Bucket) error {
		return h.db.view(ctx, func(t *txn) error {
			c := matches.Cursor()
			for match, _ := c.Seek(after); match != nil; match, _ = c.Next() {
				if bytes.Equal(match, after) {
					continue
				}
				size, err := t.payloadsIn(s, string(match), matches.Bucket(match), take)
				if err := errors.Join(context.Cause(ctx), err); err != nil {
					return err
				}
				last = bytes.Clone(match)
				if !more(size) {
					return nil
				}
			}
			return nil
		})
	})
	return last, err
}

// payloadsIn hands over the payloads of one match.
func (t *txn) payloadsIn(s *payload.Shard, match string, parts *bolt.Bucket, take func(any)) (size int, err error) {
	m, err := t.match(match)
	if err != nil && !disk.IsNotFound(err) {
		return 0, err
	}
	err = parts.ForEach(func(k, v []byte) error {
		size += len(k) + len(v)
		part := payload.PartOfKey(k)
		// A payload of a match that says otherwise is an orphan of a crash: the other store would
		// have no row for it.
		if f := m.Of(part); f.Status != league.Success || f.Ref.Month != s.Month {
			return nil
		}
		ref, body, err := s.Arrived(match, part, v)
		if err != nil {
			return &disk.ErrCorrupt{Bucket: monthPrefix + s.Month, Key: []byte(match + "/" + string(part)), Err: err}
		}
		take(both.Payload{Match: match, Part: part, PayloadRef: ref, Body: body})
		return nil
	})
	return size, err
}

// Complete compares how many rows were handed over with how many there are, where a table is handed
// over by the rows of another one: one that is found by nothing would stay behind.
func (h *Handover) Complete(ctx context.Context, handed map[string]int64) error {
	return h.db.view(ctx, func(t *txn) error {
		for tb, n := range map[*collection.Table]int64{
			tArchive.Table: handed[tFeed.Name],
			tRanks.Table:   handed[tRanks.Name] + handed[tRankOrder.Name],
		} {
			if has := int64(t.Bucket(tb).Stats().KeyN); has != n {
				return &disk.Damaged{Path: disk.StatePath(h.db.dir), Why: fmt.Sprintf(
					"table %s has %d rows, %d of which have their place: see `farsight check`", tb.Name, has, n)}
			}
		}
		return nil
	})
}

// movedFile says in a data directory that another store has taken its place, and which.
const movedFile = "moved-to"

// refuseMoved refuses a directory whose place another store has taken.
func refuseMoved(dir string) error {
	path := filepath.Join(dir, movedFile)
	f, _, err := regular.Open(path, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return disk.Unusable(path, err)
	}
	defer f.Close()
	to, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return disk.Unusable(path, err)
	}
	return engine.Problemf(engine.ErrRefused, "name that with --store; or, to go on with what was here then, delete "+path,
		"everything in %s was moved to %s", dir, strings.TrimSpace(string(to)))
}

// Leave marks the directory: no engine opens it any more. to says where everything is now.
func (h *Handover) Leave(to string) error {
	path := filepath.Join(h.db.dir, movedFile)
	_, err := disk.WriteCopy(context.Background(), path, nil, func(w *disk.CopyWriter) error {
		_, err := w.Write([]byte(to + "\n"))
		return err
	})
	if err != nil {
		return err
	}
	return regular.SyncDir(h.db.dir)
}

// Close gives the directory back.
func (h *Handover) Close() error { return h.db.Close() }
