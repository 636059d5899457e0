package payload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Closed months are archived: their shard is written anew, each payload as zstd of columns. The new file grows beside the old one, is compared with it
// payload by payload and then takes its name; the old one is gone only then. A crash leaves the old
// file, and a half-made one that the next run goes on with.

const (
	ArchiveExt = ".archiving" // of the half-made file
	// settled is how long after its end a month still gets payloads in the ordinary course of
	// things. Games that ran over the end of the month, and retries of those that failed in it.
	settled = 7 * 24 * time.Hour
	// maxRounds bounds how often a month is gone through again because payloads kept arriving.
	maxRounds = 4
)

// ArchiveOptions say what to archive.
type ArchiveOptions struct {
	Months   []string // nil = all that ended a week ago or earlier
	DryRun   bool
	Workers  int // payloads packed at once; 0 = 1
	Verify   Verifier
	Progress func(ArchiveProgress) // called by one goroutine, a few times a second at most
}

// ArchiveProgress is how far the archiver is with one month.
type ArchiveProgress struct {
	Month         string
	Done, Total   int   // payloads
	Before, After int64 // bytes of the payloads done so far
	Bytes         int64 // of all of them, before
}

// Archive archives closed months, or those that are asked for, one after the other. A month that is
// damaged is left as it is, and says why. Errors: the context's cause, ErrReadOnly, ErrDiskFull,
// *ErrUnusable.
//
// It may run beside an engine that reads and writes the same months: the lock of a shard is held
// for the swap of its file alone. What deletes payloads breaks it off (see deleting).
func (p *Store) Archive(ctx context.Context, o ArchiveOptions) ([]engine.ArchivedMonth, error) {
	// A dry run reads headers alone, and may be asked of a backup.
	if p.readOnly && !o.DryRun {
		return nil, disk.ErrReadOnly
	}
	p.archiving.Lock() // two at once would write to the same new file
	defer p.archiving.Unlock()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p.breakOff.Store(&stop)
	months, err := p.Months()
	if err != nil {
		return nil, err
	}
	var done []engine.ArchivedMonth
	for _, m := range months {
		if !wantMonth(o.Months, m) {
			continue
		}
		r, err := p.archiveMonth(ctx, m, o)
		// One that is damaged must not keep the others from being archived.
		if broken := errors.Is(err, errDeleting); broken || disk.IsDamage(err) {
			r.Left, err = err.Error(), nil
		}
		if err != nil {
			return done, fmt.Errorf("archive %s: %w", m, err)
		}
		done = append(done, r)
	}
	return done, nil
}

// errDeleting is why a month is left half archived.
var errDeleting = errors.New("payloads were deleted meanwhile; the next run goes on where this one stopped")

// deleting keeps the archiver from a file whose payloads are deleted, until done: what it writes anew would keep
// them. One that is at work is broken off, since it takes minutes.
func (p *Store) deleting() (done func()) {
	if stop := p.breakOff.Load(); stop != nil {
		(*stop)(errDeleting)
	}
	p.archiving.Lock()
	return p.archiving.Unlock
}

// wantMonth reports whether the month m, 2026-10, is among those asked for, or closed if none
// were.
func wantMonth(asked []string, m string) bool {
	if asked != nil {
		return slices.Contains(asked, m)
	}
	return MonthEnd(m).Add(settled).Before(disk.Now())
}

// MonthEnd is the first instant after a month such as 2026-11; the zero time of what is none.
func MonthEnd(month string) time.Time {
	t, err := time.Parse("2006-01", month)
	if err != nil {
		return time.Time{}
	}
	return t.AddDate(0, 1, 0)
}

// archiver is at work on one month.
//
// Each pass reads a page of matches from the old file, packs them on several cores, and commits
// them to the new one: read, pack, write. The old file is open only while a page is read.
type archiver struct {
	*Shard
	page   int // matches in one transaction
	o      ArchiveOptions
	report *engine.ArchivedMonth
	erased bool // a new file is wanted where nothing is to be packed: the free pages have what was deleted
	lost   int  // payloads that only a dictionary of an earlier version could unpack

	path string // of the half-made file
	out  *bolt.DB
	enc  *zstd.Encoder
	now  ArchiveProgress // as it was last told
	told time.Time       // when that was
}

// archiveMonth does one month, if there is something to do. The room that it needs is that of
// the old file at most: a new one is never larger.
func (p *Store) archiveMonth(ctx context.Context, month string, o ArchiveOptions) (r engine.ArchivedMonth, err error) {
	began := time.Now()
	r.Month = month
	a := &archiver{
		Shard: p.Shard(month), page: p.Pages.Archive, o: o, report: &r,
	}
	// payload/2026-10.db.archiving, beside the file whose place it takes: a rename must not leave
	// the disk.
	a.path = a.Shard.Path + ArchiveExt
	if r.Before, err = disk.UsedBytes(a.Shard.Path); err != nil {
		return r, err
	}
	r.After = r.Before
	untouched, err := a.count(ctx)
	if err != nil {
		return r, err
	}
	switch {
	case untouched || r.Packed == 0 && !a.erased:
		r.Packed, r.ToPack, r.Left = 0, 0, "archived already"
		return r, nil
	case a.lost > 0 && !a.erased: // its dictionaries stay for the program that has packed it
		r.Packed, r.ToPack, r.Left = 0, 0, errDictionary.Error()
		return r, nil
	case o.DryRun:
		return r, nil
	}
	if err := disk.NeedRoom(p.Dir, "the archive of "+month, r.Before); err != nil {
		return r, err
	}
	err = a.run(ctx)
	r.Took = time.Since(began)
	if err == nil && r.Left == "" {
		r.After, err = disk.UsedBytes(a.Shard.Path)
	}
	return r, err
}

// use runs f in a reading transaction of the month's shard as it is now.
// It takes the shard anew each time: nothing keeps writers waiting while a page is packed.
func (a *archiver) use(f func(*bolt.Tx) error) error {
	if err := a.acquire(false); err != nil {
		return err
	}
	defer a.release()
	return a.View(f)
}

// count looks at every payload's header. untouched: nothing was put since the archiver last wrote
// the file. Whether a month has changed is told by a number, and not by its payloads: those of a
// year are hundreds of thousands, and a nightly run must cost nothing where nothing is to be done.
func (a *archiver) count(ctx context.Context) (untouched bool, err error) {
	err = a.use(func(b *bolt.Tx) error {
		m := disk.MetaOf(b)
		// The number of the archiver's own last transaction. A damaged one counts as none: the
		// month is gone through then, and stays as it is where nothing is to be done.
		if last, ok, err := m.Number(metaArchived); err == nil && ok && last == uint64(b.ID()) {
			untouched = true
		}
		a.erased = m.Has(metaErased)
		p := b.Bucket([]byte(Table))
		return p.ForEachBucket(func(match []byte) error {
			return errors.Join(context.Cause(ctx), p.Bucket(match).ForEach(func(_, v []byte) error {
				a.report.Payloads++
				a.now.Bytes += int64(len(v))
				// The second byte of a frame is its codec: payload_frame.go.
				if len(v) > 1 && !packedCodec(v[1]) {
					a.report.Packed++
					a.report.ToPack += int64(len(v))
				}
				if byDictionary(v) {
					a.lost++
				}
				return nil
			}))
		})
	})
	return untouched, err
}

// packedCodec reports whether a payload of that codec is as small as the archiver makes it.
func packedCodec(c byte) bool {
	return int(c) < len(codecs) && (codecs[c] == codecZstd || codecs[c] == codecColumns)
}

// run makes the new file and puts it in the place of the old one.
// What arrived while it was packed is brought over by another pass, which reads what the new
// file has already and packs only the rest. Each is shorter than the one before it.
func (a *archiver) run(ctx context.Context) error {
	var err error
	if a.enc, err = newEncoder(max(a.o.Workers, 1)); err != nil {
		return err
	}
	defer a.enc.Close()
	if err := a.begin(); err != nil {
		return err
	}
	defer a.end()
	// A closed month gets few payloads: the second round finds nothing new but in rare cases.
	for range maxRounds {
		if err := a.pass(ctx); err != nil {
			return err
		}
		seq, same, err := a.prove(ctx)
		if err != nil {
			return err
		}
		if !same {
			continue
		}
		if done, err := a.swap(ctx, seq); done || err != nil {
			return err
		}
		if err := a.reopen(); err != nil {
			return err
		}
	}
	a.report.Left = "payloads kept arriving; the next run goes on where this one stopped"
	return nil
}

// end lets go of everything, also after an error; it may be called more than once.
func (a *archiver) end() {
	if a.out != nil {
		_ = a.out.Close() // what was committed is synced; the rest is not missed
	}
	a.out = nil
}

// piece is one payload on its way from the old file to the new one.
type piece struct {
	match string
	key   []byte
	from  []byte // as it lies in the old file
	to    []byte // for the new one; nil = it has it already
	bad   bool
}

// pass brings over what the new file does not have yet.
// A page is committed before the next is read: an interrupted run loses the work of one page.
func (a *archiver) pass(ctx context.Context) error {
	a.now = ArchiveProgress{Month: a.Month, Total: a.report.Payloads, Bytes: a.now.Bytes}
	a.report.Bad = 0
	var after []byte
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		page, next, err := a.read(after)
		if err != nil {
			return err
		}
		if err := a.pack(page); err != nil {
			return err
		}
		if err := a.write(page); err != nil {
			return err
		}
		if next == nil {
			// The number is that of the transaction which writes it, so a file in which it is the last one has not been
			// touched since: see [archiver.count].
			a.reportProgress(true)
			err := a.out.Update(func(b *bolt.Tx) error {
				return disk.MetaOf(b).PutNumber(metaArchived, uint64(b.ID()))
			})
			if err != nil {
				return disk.Unusable(a.path, err)
			}
			crash.Point("archive-sealed")
			return nil
		}
		after = next
	}
}

// read copies the payloads of the next matches out of the old file.
// next is the match to go on behind; nil at the end of the month. The bytes are copied: packing
// them takes longer than a transaction should be kept open, which would keep bbolt from using
// free pages again.
func (a *archiver) read(after []byte) (page []*piece, next []byte, err error) {
	var last []byte
	err = a.use(func(b *bolt.Tx) error {
		p := b.Bucket([]byte(Table))
		c := p.Cursor()
		match, _ := c.Seek(after)
		if after != nil && bytes.Equal(match, after) {
			match, _ = c.Next()
		}
		for n := 0; match != nil; match, _ = c.Next() {
			if n++; n > a.page {
				next = last
				return nil
			}
			last = bytes.Clone(match)
			err := p.Bucket(match).ForEach(func(k, v []byte) error {
				page = append(page, &piece{match: string(match), key: bytes.Clone(k), from: bytes.Clone(v)})
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return page, next, err
}

// write commits a page to the new file.
func (a *archiver) write(page []*piece) error {
	err := a.out.Update(func(b *bolt.Tx) error {
		p := b.Bucket([]byte(Table))
		// Keys come in their order: pages that are left nearly full are never split.
		p.FillPercent = disk.AppendFill
		for _, x := range page {
			if x.to == nil {
				continue
			}
			m, err := p.CreateBucketIfNotExists([]byte(x.match))
			if err != nil {
				return err
			}
			if err := m.Put(x.key, x.to); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return disk.Unusable(a.path, err)
	}
	crash.Point("archive-page")
	for _, x := range page {
		a.now.Done++
		a.now.Total = max(a.now.Total, a.now.Done) // payloads arrive meanwhile
		a.now.Before += int64(len(x.from))
		a.now.Bytes = max(a.now.Bytes, a.now.Before)
		a.now.After += int64(len(x.to))
		if x.bad {
			a.report.Bad++
		}
	}
	a.reportProgress(false)
	return nil
}

// tellEvery bounds how often progress is told: a page takes milliseconds.
const tellEvery = 200 * time.Millisecond

// reportProgress passes progress on; the last one of a month always, so that its bar ends full.
func (a *archiver) reportProgress(last bool) {
	if a.o.Progress == nil || !last && time.Since(a.told) < tellEvery {
		return
	}
	a.told = time.Now()
	a.o.Progress(a.now)
}
