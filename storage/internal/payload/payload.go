package payload

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

const (
	// The folder in the data directory, and the end of a file's name in it: payload/2026-11.db.
	Dir = "payload"
	Ext = ".db"
)

// Store keeps match payloads in one file per month of the game's creation, so that retention is the
// removal of a file and a closed month never changes. Files are opened when first used and closed
// when idle. Its methods may be called by many goroutines at once.
type Store struct {
	Dir      string
	readOnly bool
	log      zerolog.Logger
	Pages    disk.Pages // how many rows go into one transaction

	Copies    map[string]string                       // of a backup: the path of each month's copy; nil = the months lie in Dir
	archiving sync.Mutex                              // one archiver at a time
	breakOff  atomic.Pointer[context.CancelCauseFunc] // ends the last one

	Commits *disk.WriteTimes // of all months
	Doomed  *Doomed          // matches whose payloads are to be deleted

	mu     sync.Mutex
	shards map[string]*Shard
	spoilt map[string]bool // "EUW1_7/match": payloads that somebody found damaged and nobody has put anew
}

// New makes the store of a data directory; nothing is opened yet.
func New(dataDir string, readOnly bool, log zerolog.Logger) *Store {
	return &Store{
		Dir: filepath.Join(dataDir, Dir), readOnly: readOnly, log: log,
		Pages: disk.UsualPages, shards: map[string]*Shard{}, spoilt: map[string]bool{},
		Commits: new(disk.WriteTimes), Doomed: new(Doomed),
	}
}

// Put stores the bytes of a payload as they arrived and returns when they are on disk. ref says in
// which month, and what they hold once inflated. The same payload again costs nothing; another one
// under the same name replaces it. Errors: ErrDiskFull (nothing written), ErrUnknown, *Damaged.
//
// It comes before the transaction of the state that names the payload. A crash in between leaves a
// payload that nobody names, which costs room and no correctness; the other way round a match would
// have none.
func (p *Store) Put(ctx context.Context, match string, part league.Part, ref league.PayloadRef, body []byte) error {
	if p.readOnly {
		return disk.ErrReadOnly
	}
	if err := LegalMatchID(match); err != nil {
		return err
	}
	v, err := Seal(match, part, ref, body)
	if err != nil {
		return err
	}
	k, err := partKey(part)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// A match that is being forgotten and comes again meanwhile keeps what is put now.
	release := p.Doomed.Spare(match)
	defer release()
	return p.With(ref.Month, true, func(s *Shard) error {
		if !s.holds(match, part, k, ref) {
			if err := s.putGrouped(match, k, v); err != nil {
				return err
			}
		}
		p.mu.Lock()
		delete(p.spoilt, string(payloadKey(match, part)))
		p.mu.Unlock()
		return nil
	})
}

const maxMatch = 64 // bytes of a match id; Riot's have 8 to 16

// LegalMatchID refuses an id that no match can have.
func LegalMatchID(id string) error {
	if id == "" || len(id) > maxMatch {
		return fmt.Errorf("match id of %d bytes: outside 1 to %d: %w", len(id), maxMatch, engine.ErrInvalid)
	}
	return nil
}

// Spoilt reports whether somebody has found a payload of a match damaged: all are read by check alone.
func (p *Store) Spoilt(match string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spoilt[string(payloadKey(match, league.PartMatch))] || p.spoilt[string(payloadKey(match, league.PartTimeline))]
}

// Get returns a payload as it is stored, after checking that it is whole and the one that ref
// names. ErrDropped when retention took it, engine.ErrNotFound when it is not there, *ErrCorrupt
// when it is not whole.
//
// ref.Codec may be another one than the stored payload's: the archiver packs without telling the
// state. What both must agree on is the checksum of the JSON.
func (p *Store) Get(match string, part league.Part, ref league.PayloadRef) (body []byte, err error) {
	err = p.named(match, part, ref, func(_ *Shard, f Frame) error {
		body = f.Body
		return nil
	})
	return body, err
}

// Raw returns a payload's JSON, inflated and verified. Errors as of Get.
func (p *Store) Raw(match string, part league.Part, ref league.PayloadRef) (raw []byte, err error) {
	err = p.named(match, part, ref, func(s *Shard, f Frame) error {
		raw, err = f.Raw()
		return err
	})
	return raw, err
}

var errOther = errors.New("it is not the payload that the match row names")

// named runs f on the payload that ref names; what f finds wrong with it makes it corrupt.
func (p *Store) named(match string, part league.Part, ref league.PayloadRef, f func(*Shard, Frame) error) error {
	if ref.Dropped() {
		return fmt.Errorf("%s of %s: %w", part, match, disk.ErrDropped)
	}
	return p.read(ref.Month, match, part, func(s *Shard, have Frame) error {
		if !have.same(ref) {
			return errOther
		}
		return f(s, have)
	})
}

// Find looks for a payload in all months, newest first: a crash may have left one that no state
// names. It comes as gzip, or as it arrived; one that the archiver packed is packed as gzip again. A shard that is damaged, or a payload that is
// not whole, counts as not there.
func (p *Store) Find(
	ctx context.Context, match string, part league.Part,
) (ref league.PayloadRef, body []byte, ok bool, err error) {
	// The fastest level: the body goes to whoever puts the payload again, and is not kept.
	use := func(s *Shard, f Frame) error {
		ref, body, err = f.arrived(gzip.BestSpeed) // nobody stores it
		return err
	}
	// It is about to be deleted, since nobody but a forgotten account had it. Adopting it would
	// name what is not there a moment later.
	if p.Doomed.Has(match) {
		return ref, nil, false, nil
	}
	months, err := p.Months()
	if err != nil {
		return ref, nil, false, err
	}
	for _, m := range slices.Backward(months) {
		if ctx.Err() != nil {
			return ref, nil, false, context.Cause(ctx)
		}
		if err = p.read(m, match, part, use); err == nil {
			return ref, body, true, nil
		}
		if !disk.IsNotFound(err) && !disk.IsDamage(err) {
			return ref, nil, false, err
		}
	}
	return ref, nil, false, nil
}

// Arrived gives a payload of a month as Riot sent it.
func (p *Store) Arrived(month, match string, part league.Part) (ref league.PayloadRef, body []byte, err error) {
	err = p.read(month, match, part, func(s *Shard, f Frame) error {
		ref, body, err = f.arrived(gzip.DefaultCompression)
		return err
	})
	return ref, body, err
}

// arrived gives a payload as it arrived; one that the archiver packed is packed as gzip again.
func (f Frame) arrived(level int) (ref league.PayloadRef, body []byte, err error) {
	if !f.packed() {
		return f.Ref, f.Body, nil
	}
	raw, err := f.Raw()
	if err != nil {
		return ref, nil, err
	}
	ref, body = AsGzip(f.Ref, raw, level)
	return ref, body, nil
}

// AsGzip packs a payload as Riot does. Length and checksum stay those of the JSON.
func AsGzip(ref league.PayloadRef, raw []byte, level int) (league.PayloadRef, []byte) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err == nil {
		_, _ = w.Write(raw) // a bytes.Buffer takes everything
		_ = w.Close()
	}
	ref.Codec, ref.Size = CodecGzip, b.Len()
	return ref, b.Bytes()
}

// Months lists the months that have a shard, oldest first.
func (p *Store) Months() ([]string, error) {
	if p.Copies != nil {
		return slices.Sorted(maps.Keys(p.Copies)), nil
	}
	entries, err := os.ReadDir(p.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk.Unusable(p.Dir, err)
	}
	var months []string
	for _, e := range entries {
		// Half-made files (2026-11.db.archiving) and whatever else lies there are passed over. The
		// names are in order, as os.ReadDir gives them.
		if m, ok := strings.CutSuffix(e.Name(), Ext); ok && checkMonth(m) == nil {
			months = append(months, m)
		}
	}
	return months, nil
}

// Files are the paths of the shards, oldest first.
func (p *Store) Files() ([]string, error) {
	list, err := p.Months()
	for i, m := range list {
		list[i] = filepath.Join(p.Dir, m+Ext)
	}
	return list, err
}

// Weigh gives the bytes of a month's payloads. *disk.Damaged says why they cannot be told.
func (p *Store) Weigh(month string) (int64, error) {
	path := filepath.Join(p.Dir, month+Ext)
	if _, err := disk.Preflight(path); err != nil {
		return 0, err
	}
	return disk.UsedBytes(path)
}

// Drop deletes a month's payloads for good: the whole file. Only the operator's retention rule may
// ask for it.
func (p *Store) Drop(month string) error {
	if p.readOnly {
		return disk.ErrReadOnly
	}
	if err := checkMonth(month); err != nil {
		return err
	}
	defer p.deleting()()
	return p.Shard(month).drop()
}

// read runs use on a stored payload. What is wrong with it, use's error included, makes it corrupt.
func (p *Store) read(month, match string, part league.Part, use func(*Shard, Frame) error) error {
	k, err := partKey(part)
	if err != nil {
		return err
	}
	return p.With(month, false, func(s *Shard) error {
		v, err := s.Get(match, k)
		if err != nil {
			return err
		}
		f, err := Open(month, match, part, v)
		if err == nil {
			err = use(s, f)
		}
		if err != nil {
			p.mu.Lock()
			p.spoilt[string(payloadKey(match, part))] = true
			p.mu.Unlock()
			return &disk.ErrCorrupt{Bucket: Dir + "/" + month, Key: payloadKey(match, part), Err: err}
		}
		return nil
	})
}

// With runs f on the open shard of a month.
func (p *Store) With(month string, create bool, f func(*Shard) error) error {
	if err := checkMonth(month); err != nil {
		return err
	}
	s := p.Shard(month)
	if err := s.acquire(create); err != nil {
		return err
	}
	defer s.release()
	return f(s)
}

// Shard is the file of a month, which may not be there yet: the same one for all who ask.
func (p *Store) Shard(month string) *Shard {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shards[month]
	if s == nil {
		// A shard is never taken out of the map again: its lock is what keeps those apart who use
		// the file and those who close or replace it.
		s = &Shard{Month: month, Path: cmp.Or(p.Copies[month], filepath.Join(p.Dir, month+Ext)), readOnly: p.readOnly, log: p.log, commits: p.Commits}
		p.shards[month] = s
	}
	return s
}

// all are the shards that anybody has asked for.
func (p *Store) all() []*Shard {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*Shard
	for _, s := range p.shards {
		list = append(list, s)
	}
	return list
}

// CloseIdle closes the shards that nobody has used for ShardIdle.
func (p *Store) CloseIdle() {
	for _, s := range p.all() {
		s.closeIdle()
	}
}

// Close closes every shard that is open.
func (p *Store) Close() error {
	var errs []error
	for _, s := range p.all() {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// Any reports whether there is a month with payloads.
func (p *Store) Any() bool {
	months, err := p.Months()
	return err == nil && len(months) > 0
}

// checkMonth refuses what is no month: it becomes the name of a file.
func checkMonth(m string) error {
	if _, err := time.Parse("2006-01", m); err != nil || len(m) != 7 {
		return fmt.Errorf("month %q is not of the form 2026-11", m)
	}
	return nil
}

// partKey is the key of a part within its match.
func partKey(p league.Part) ([]byte, error) {
	switch p {
	case league.PartMatch:
		return []byte("m"), nil
	case league.PartTimeline:
		return []byte("t"), nil
	}
	return nil, fmt.Errorf("a match has no part %q", p)
}

// PartOfKey is the part of a match that a key within it names.
func PartOfKey(k []byte) league.Part {
	// Anything else is taken for the match: a key that is neither fails its checksum, which covers
	// the part.
	if string(k) == "t" {
		return league.PartTimeline
	}
	return league.PartMatch
}
