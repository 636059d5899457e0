package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	bolt "go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

// Handover is a data directory that another store takes the place of, or that takes the place of one. It is held
// for that alone, and may be interrupted at any time.
type Handover struct{ db *DB }

// OpenHandover opens a data directory that nobody holds (*ErrHeld), and that has nothing left to finish. Nothing is
// written to it before [Handover.Leave].
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

// OpenArrival opens a directory with the rows of what o shares. What an earlier one has left there is gone on with.
func OpenArrival(o Options) (*Handover, error) {
	db, err := Open(o)
	if err != nil {
		return nil, err
	}
	return &Handover{db}, nil
}

// Facts are those of the directory.
func (h *Handover) Facts(ctx context.Context) (Facts, error) { return h.db.Facts(ctx) }

// Rows are given in pages, each of which a server may take as one transaction.
const (
	givenRows  = 5000
	givenBytes = 4 << 20
)

// Rows gives all rows and numbers, and proves each. Their bytes are the file's until the last page was taken.
func (h *Handover) Rows(ctx context.Context, page func(rows []Step, bytes int) error) error {
	var rows []Step
	size := 0
	flush := func() error {
		defer func() { rows, size = rows[:0], 0 }()
		return errors.Join(context.Cause(ctx), page(rows, size))
	}
	return h.db.view(ctx, func(t *txn) error {
		err := t.All(func(s Step) error {
			rows = append(rows, s)
			if size += len(s.Key) + len(s.Value); len(rows) < givenRows && size < givenBytes {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
		return flush()
	})
}

// Sums are what rows have in common with the same ones elsewhere, whatever their order: how many a table has, and
// their hashes.
type Sums map[string][2]uint64

var seed = maphash.MakeSeed()

// Add adds rows and numbers.
func (s Sums) Add(rows ...Step) {
	for _, row := range rows {
		b := binary.BigEndian.AppendUint64(nil, row.Number)
		b = append(append(binary.AppendUvarint(b, uint64(len(row.Key))), row.Key...), row.Value...)
		have := s[row.Table]
		s[row.Table] = [2]uint64{have[0] + 1, have[1] + maphash.Bytes(seed, b)}
	}
}

// Compare refuses others that differ.
func (s Sums) Compare(read Sums) error {
	for _, tb := range collection.Tables {
		if want, have := s[tb.Name], read[tb.Name]; want != have {
			return engine.Problemf(engine.ErrBroken, "give the command again", "table %s was read back with %d rows that are not the %d which were copied", tb.Name, have[0], want[0])
		}
	}
	return nil
}

// PayloadName is whose a payload is.
type PayloadName struct {
	Match string
	Part  league.Part
}

// Payloads are those of one side of a move.
type Payloads interface {
	ByMonth(ctx context.Context) ([]MonthSize, error)
	// InMonth tells what each of a month is.
	InMonth(ctx context.Context, month string) (map[PayloadName]league.PayloadRef, error)
	// Body gives one in a codec that Riot sends.
	Body(ctx context.Context, month string, name PayloadName) (Payload, error)
	PutPayload(ctx context.Context, p Payload) error
	DropMonth(ctx context.Context, month string) error
}

// copying is how many payloads are copied at once: they share the commits.
const copying = 16

// CopyPayloads copies the payloads that a match names, and reads each back; the rows are copied before. What an earlier
// copy has left stays if it is the same.
func (h *Handover) CopyPayloads(ctx context.Context, from, to Payloads, step func(done, total int)) (n int, err error) {
	all, err := from.ByMonth(ctx)
	if err != nil {
		return 0, err
	}
	there, err := to.ByMonth(ctx)
	if err != nil {
		return 0, err
	}
	total, names := 0, map[string]bool{}
	for _, m := range all {
		total += m.Payloads
		names[m.Month] = true
	}
	for _, m := range there {
		if !names[m.Month] {
			if err := to.DropMonth(ctx, m.Month); err != nil {
				return 0, err
			}
		}
	}
	for _, m := range all {
		wanted, err := h.named(ctx, m.Month, from)
		if err == nil {
			err = copyMonth(ctx, m.Month, wanted, from, to, func(done int) { step(n+done, total) })
		}
		if err != nil {
			return n, err
		}
		n += len(wanted)
	}
	step(total, total)
	return n, nil
}

// named are the payloads of a month that a match names, as it does. The others are orphans of a crash.
func (h *Handover) named(ctx context.Context, month string, from Payloads) (map[PayloadName]league.PayloadRef, error) {
	wanted, err := from.InMonth(ctx, month)
	if err != nil {
		return nil, err
	}
	return wanted, h.db.view(ctx, func(t *txn) error {
		for name := range wanted {
			m, err := t.match(name.Match)
			if err != nil && !disk.IsNotFound(err) {
				return err
			}
			if f := m.Of(name.Part); f.Status == league.Success && f.Ref.Month == month {
				wanted[name] = f.Ref
			} else {
				delete(wanted, name)
			}
		}
		return nil
	})
}

func copyMonth(ctx context.Context, month string, wanted map[PayloadName]league.PayloadRef, from, to Payloads, step func(done int)) error {
	there, err := to.InMonth(ctx, month)
	if err != nil {
		return err
	}
	same := func(a, b league.PayloadRef) bool { return a.CRC == b.CRC && a.RawLen == b.RawLen }
	for name, ref := range there {
		if want, is := wanted[name]; !is || !same(ref, want) {
			if err := to.DropMonth(ctx, month); err != nil {
				return err
			}
			clear(there)
			break
		}
	}
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(copying)
	done := 0
	for name, ref := range wanted {
		if within.Err() != nil {
			break
		}
		g.Go(func() error {
			if _, is := there[name]; !is {
				p, err := from.Body(within, month, name)
				if err == nil {
					err = to.PutPayload(within, p)
				}
				if err != nil {
					return fmt.Errorf("copy the %s of %s: %w", name.Part, name.Match, err)
				}
			}
			p, err := to.Body(within, month, name)
			if err == nil {
				_, err = inJSON(ref, p)
			}
			if err != nil {
				return fmt.Errorf("read the %s of %s back: %w", name.Part, name.Match, err)
			}
			return nil
		})
		step(done)
		done++
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx) // the loop may have ended before any of them
}

// Payloads are those of the directory.
func (h *Handover) Payloads() Payloads { return filePayloads{h.db.files} }

type filePayloads struct{ *payload.Store }

func (f filePayloads) ByMonth(context.Context) (all []MonthSize, err error) {
	months, err := f.Months()
	for _, month := range months {
		m := MonthSize{Month: month}
		err = errors.Join(err, f.With(month, false, func(s *payload.Shard) error {
			return s.View(func(b *bolt.Tx) error {
				// A match is a key and a table within the month's table.
				st := b.Bucket([]byte(payload.Table)).Stats()
				m.Payloads, m.Bytes = st.KeyN-st.BucketN+1, int64(st.LeafInuse)
				return nil
			})
		}))
		all = append(all, m)
	}
	return all, err
}

func (f filePayloads) InMonth(ctx context.Context, month string) (map[PayloadName]league.PayloadRef, error) {
	all := map[PayloadName]league.PayloadRef{}
	err := f.With(month, false, func(s *payload.Shard) error {
		return s.View(func(b *bolt.Tx) error {
			p := b.Bucket([]byte(payload.Table))
			return p.ForEachBucket(func(match []byte) error {
				return errors.Join(context.Cause(ctx), p.Bucket(match).ForEach(func(k, v []byte) error {
					name := PayloadName{string(match), payload.PartOfKey(k)}
					// One that is damaged is not what is wanted, or cannot be copied.
					frame, _ := payload.Open(month, name.Match, name.Part, v)
					all[name] = frame.Ref
					return nil
				}))
			})
		})
	})
	if disk.IsNotFound(err) {
		err = nil
	}
	return all, err
}

func (f filePayloads) Body(_ context.Context, month string, name PayloadName) (p Payload, err error) {
	p.Match, p.Part = name.Match, name.Part
	p.PayloadRef, p.Body, err = f.Arrived(month, name.Match, name.Part)
	return p, err
}

func (f filePayloads) PutPayload(ctx context.Context, p Payload) error {
	if p.Codec == payload.CodecIdentity { // what a database keeps as JSON
		p.PayloadRef, p.Body = payload.AsGzip(p.PayloadRef, p.Body, gzip.DefaultCompression)
	}
	return f.Put(ctx, p.Match, p.Part, p.PayloadRef, p.Body)
}

func (f filePayloads) DropMonth(_ context.Context, month string) error { return f.Drop(month) }

// Arrive makes it a directory like others, and closes it. restored is when what it was copied from was itself set back.
func (h *Handover) Arrive(restored time.Time) error {
	err := h.db.bolt.Update(func(b *bolt.Tx) error {
		t := newTx(b, disk.Now())
		if !restored.IsZero() {
			if err := t.PutInstant(tMeta, metaRestored, restored); err != nil {
				return err
			}
		}
		return t.Remove(tMeta, metaLog)
	})
	return errors.Join(err, h.db.Close())
}

// movedFile says in a data directory that another store has taken its place, and which.
const movedFile = "moved-to"

// refuseMoved refuses a directory whose place another store has taken.
func refuseMoved(dir string) error {
	to, err := movedTo(dir)
	if err != nil || to == "" {
		return err
	}
	return engine.Problemf(engine.ErrRefused, "name that with --store; or, to go on with what was here then, delete "+filepath.Join(dir, movedFile),
		"everything in %s was moved to %s", dir, to)
}

// movedTo says which that is; "" = none.
func movedTo(dir string) (string, error) {
	path := filepath.Join(dir, movedFile)
	f, _, err := regular.Open(path, 0)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", disk.Unusable(path, err)
	}
	defer f.Close()
	to, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", disk.Unusable(path, err)
	}
	return strings.TrimSpace(string(to)), nil
}

// RefuseMoved refuses a directory whose place another store has taken than one.
func (h *Handover) RefuseMoved(but string) error {
	if to, err := movedTo(h.db.dir); err != nil || to == but {
		return err
	}
	return refuseMoved(h.db.dir)
}

// Leave marks the directory: no engine opens it any more. to says where everything is now.
func (h *Handover) Leave(to string) error {
	if has, err := movedTo(h.db.dir); err != nil || has == to {
		return err
	}
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
