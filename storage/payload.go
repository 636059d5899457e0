package storage

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/league"
)

const (
	payloadDir = "payload"
	shardExt   = ".db"
	// shardIdle is how long a shard that nobody uses stays open.
	shardIdle = 5 * time.Minute
	maxMatch  = 64 // bytes of a match id; Riot's have 8 to 16
)

// Payloads keeps match payloads in one file per month of the game's creation, so that retention is the removal of a file
// and a closed month never changes. Files are opened when first used and closed when idle. Its methods may be called by
// many goroutines at once.
type Payloads struct {
	dir      string
	readOnly bool
	log      zerolog.Logger
	pages    pages

	archiving sync.Mutex // one archiver at a time

	commits writeTimes // of all months
	doomed  doomed     // matches whose payloads are to be deleted

	mu     sync.Mutex
	shards map[string]*shard
}

func newPayloads(dataDir string, readOnly bool, log zerolog.Logger) *Payloads {
	return &Payloads{dir: filepath.Join(dataDir, payloadDir), readOnly: readOnly, log: log, pages: usualPages, shards: map[string]*shard{}}
}

// Put stores the bytes of a payload as they arrived and returns when they are on disk. ref says in which month, and what
// they hold once inflated. The same payload again costs nothing; another one under the same name replaces it. Errors:
// ErrDiskFull (nothing written), ErrUnknown, *Damaged.
func (p *Payloads) Put(ctx context.Context, match string, part league.Part, ref league.PayloadRef, body []byte) error {
	if p.readOnly {
		return ErrReadOnly
	}
	if match == "" || len(match) > maxMatch {
		return fmt.Errorf("match id of %d bytes: outside 1 to %d", len(match), maxMatch)
	}
	v, err := sealPayload(match, part, ref, body)
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
	release := p.doomed.spare(match)
	defer release()
	return p.with(ref.Month, true, func(s *shard) error {
		if s.holds(match, part, k, ref) {
			return nil
		}
		return s.put(match, k, v)
	})
}

// Get returns a payload as it is stored, after checking that it is whole and the one that ref names. ErrDropped when
// retention took it, engine.ErrNotFound when it is not there, *ErrCorrupt when it is not whole.
func (p *Payloads) Get(match string, part league.Part, ref league.PayloadRef) (body []byte, err error) {
	err = p.named(match, part, ref, func(_ *shard, f frame) error {
		body = f.body
		return nil
	})
	return body, err
}

// Raw returns a payload's JSON, inflated and verified. Errors as of Get.
func (p *Payloads) Raw(match string, part league.Part, ref league.PayloadRef) (raw []byte, err error) {
	err = p.named(match, part, ref, func(s *shard, f frame) error {
		raw, err = f.raw(s.dicts)
		return err
	})
	return raw, err
}

var errOther = errors.New("it is not the payload that the match row names")

// named runs f on the payload that ref names; what f finds wrong with it makes it corrupt.
func (p *Payloads) named(match string, part league.Part, ref league.PayloadRef, f func(*shard, frame) error) error {
	if ref.Dropped() {
		return fmt.Errorf("%s of %s: %w", part, match, ErrDropped)
	}
	return p.read(ref.Month, match, part, func(s *shard, have frame) error {
		if !have.same(ref) {
			return errOther
		}
		return f(s, have)
	})
}

// Has reports whether the month's shard holds the payload, whole.
func (p *Payloads) Has(month, match string, part league.Part) (bool, error) {
	err := p.read(month, match, part, func(*shard, frame) error { return nil })
	if isNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Find looks for a payload in all months, newest first: a crash may have left one that no state names. It comes as gzip, or
// as it arrived; one that the archiver packed is packed as gzip again, so that nobody else has to know of dictionaries. A
// shard that is damaged, or a payload that is not whole, counts as not there.
func (p *Payloads) Find(ctx context.Context, match string, part league.Part) (ref league.PayloadRef, body []byte, ok bool, err error) {
	ok, err = p.find(ctx, match, part, func(s *shard, f frame) error {
		if !f.packed() {
			ref, body = f.ref, f.body
			return nil
		}
		raw, err := f.raw(s.dicts)
		if err != nil {
			return err
		}
		ref, body = f.ref, packGzip(raw)
		ref.Codec, ref.Size = codecGzip, len(body)
		return nil
	})
	return ref, body, ok, err
}

// FindRaw is Find for those who want the JSON.
func (p *Payloads) FindRaw(ctx context.Context, match string, part league.Part) (raw []byte, ok bool, err error) {
	ok, err = p.find(ctx, match, part, func(s *shard, f frame) error {
		raw, err = f.raw(s.dicts)
		return err
	})
	return raw, ok, err
}

func (p *Payloads) find(ctx context.Context, match string, part league.Part, use func(*shard, frame) error) (ok bool, err error) {
	if p.doomed.has(match) {
		return false, nil
	}
	months, err := p.Months()
	if err != nil {
		return false, err
	}
	for _, m := range slices.Backward(months) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if err = p.read(m, match, part, use); err == nil {
			return true, nil
		}
		if !isNotFound(err) && !isDamage(err) {
			return false, err
		}
	}
	return false, nil
}

// packGzip is for speed, not for size: nobody stores what it makes.
func packGzip(raw []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, _ = w.Write(raw) // a bytes.Buffer takes everything
		_ = w.Close()
	}
	return b.Bytes()
}

// Months lists the months that have a shard, oldest first.
func (p *Payloads) Months() ([]string, error) {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unusable(p.dir, err)
	}
	var months []string
	for _, e := range entries {
		if m, ok := strings.CutSuffix(e.Name(), shardExt); ok && checkMonth(m) == nil {
			months = append(months, m)
		}
	}
	return months, nil
}

// Drop deletes a month's payloads for good: the whole file. Only the operator's retention rule may ask for it.
func (p *Payloads) Drop(month string) error {
	if p.readOnly {
		return ErrReadOnly
	}
	if err := checkMonth(month); err != nil {
		return err
	}
	return p.shard(month).drop()
}

// read runs use on a stored payload. What is wrong with it, use's error included, makes it corrupt.
func (p *Payloads) read(month, match string, part league.Part, use func(*shard, frame) error) error {
	k, err := partKey(part)
	if err != nil {
		return err
	}
	return p.with(month, false, func(s *shard) error {
		v, err := s.get(match, k)
		if err != nil {
			return err
		}
		f, err := openPayload(month, match, part, v)
		if err == nil {
			err = use(s, f)
		}
		if err != nil {
			return p.corrupt(month, match, part, err)
		}
		return nil
	})
}

func (p *Payloads) corrupt(month, match string, part league.Part, err error) error {
	return &ErrCorrupt{Bucket: payloadDir + "/" + month, Key: payloadKey(match, part), Err: err}
}

// with runs f on the open shard of a month.
func (p *Payloads) with(month string, create bool, f func(*shard) error) error {
	if err := checkMonth(month); err != nil {
		return err
	}
	s := p.shard(month)
	if err := s.acquire(create); err != nil {
		return err
	}
	defer s.release()
	return f(s)
}

func (p *Payloads) shard(month string) *shard {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shards[month]
	if s == nil {
		s = &shard{month: month, path: filepath.Join(p.dir, month+shardExt), readOnly: p.readOnly, log: p.log, commits: &p.commits}
		p.shards[month] = s
	}
	return s
}

func (p *Payloads) all() []*shard {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*shard
	for _, s := range p.shards {
		list = append(list, s)
	}
	return list
}

func (p *Payloads) closeIdle() {
	for _, s := range p.all() {
		s.closeIdle()
	}
}

func (p *Payloads) close() error {
	var errs []error
	for _, s := range p.all() {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

func (p *Payloads) any() bool {
	months, err := p.Months()
	return err == nil && len(months) > 0
}

func checkMonth(m string) error {
	if _, err := time.Parse("2006-01", m); err != nil || len(m) != 7 {
		return fmt.Errorf("month %q is not of the form 2026-11", m)
	}
	return nil
}

func partKey(p league.Part) ([]byte, error) {
	switch p {
	case league.PartMatch:
		return []byte("m"), nil
	case league.PartTimeline:
		return []byte("t"), nil
	}
	return nil, fmt.Errorf("a match has no part %q", p)
}

func partOfKey(k []byte) league.Part {
	if string(k) == "t" {
		return league.PartTimeline
	}
	return league.PartMatch
}
