package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/farsight-console/farsight/engine/regular"
)

// The layout of a bbolt file, version 2 (bbolt 1.5, internal/common/page.go and meta.go). Numbers
// are in the machine's own byte order.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2

	PageHeader = 16 // id 8, flags 2, count 2, overflow 4
	metaSize   = 64
	metaSummed = 56 // the bytes before the checksum

	smallestPage, largestPage = 1 << 10, 1 << 24
	NoFreelist                = ^uint64(0)
)

var ByteOrder = binary.NativeEndian

// BoltMeta is one of the two meta pages. They are written in turn, so one of them may be half
// written after a power cut.
type BoltMeta struct {
	PageSize       int
	Root, Freelist uint64
	High           uint64 // pages in use: the high-water mark
	Txid           uint64
}

// metaState tells a meta page that a power cut may leave from one that only damage explains.
type metaState int

const (
	// One torn page is what a power cut leaves; bbolt then goes on from the other one, which is one
	// transaction older.
	metaGood metaState = iota
	metaTorn           // magic, version and page size are right, the sum is not
	metaBad
)

// ReadMeta reads a meta page, of which the first PageHeader+metaSize bytes are needed.
func ReadMeta(page []byte) (BoltMeta, metaState) {
	b := page[PageHeader : PageHeader+metaSize]
	m := BoltMeta{
		PageSize: int(ByteOrder.Uint32(b[8:])),
		Root:     ByteOrder.Uint64(b[16:]),
		Freelist: ByteOrder.Uint64(b[32:]),
		High:     ByteOrder.Uint64(b[40:]),
		Txid:     ByteOrder.Uint64(b[48:]),
	}
	if ByteOrder.Uint32(b) != boltMagic || ByteOrder.Uint32(b[4:]) != boltVersion || !validPageSize(m.PageSize) {
		return m, metaBad
	}
	h := fnv.New64a()
	h.Write(b[:metaSummed])
	if h.Sum64() != ByteOrder.Uint64(b[metaSummed:]) {
		return m, metaTorn
	}
	return m, metaGood
}

// validPageSize reports whether bbolt could have written pages of that size: a power of two.
func validPageSize(n int) bool { return n >= smallestPage && n <= largestPage && n&(n-1) == 0 }

// Preflight proves that bbolt can open the file at path without reading past its end or falling
// over a page that is not what it claims to be. bbolt maps the file and walks it in a goroutine of
// its own, where such a fault ends the process. The file is only read. note is not empty when one
// of the two meta pages was torn, as a power cut may leave it.
func Preflight(path string) (note string, err error) {
	// A symbolic link is refused, as when the file is opened for good.
	f, info, err := regular.Open(path, regular.NoFollow)
	if err != nil {
		return "", Unusable(path, err)
	}
	defer f.Close()
	m, note, err := NewestMeta(f, info.Size())
	if err == nil {
		err = walkFile(f, m)
	}
	if err != nil {
		return "", &Damaged{Path: path, Why: err.Error()}
	}
	return note, nil
}

// Seal gives a file that was closed in order a time that only such a file can have: its nanoseconds tell the meta pages
// and the size, and whatever writes to it afterwards changes them. Where a file system has no such fine times, and where
// it fails, the file is looked at page by page.
func Seal(path string) error {
	seal, _, err := sealOf(path)
	if err != nil {
		return err
	}
	return os.Chtimes(path, time.Time{}, seal)
}

// sealed reports whether nothing has written to a file since it was closed in order.
func sealed(path string) bool {
	seal, has, err := sealOf(path)
	return err == nil && has.Equal(seal)
}

// sealOf is the time that a file closed in order gets, in the steps of the coarsest file system that has parts of a second
// (NTFS: 100 ns), and the one that it has.
func sealOf(path string) (seal, has time.Time, err error) {
	f, info, err := regular.Open(path, regular.NoFollow)
	if err != nil {
		return seal, has, err
	}
	defer f.Close()
	m, note, err := NewestMeta(f, info.Size())
	if err != nil || note != "" || m.Freelist == NoFreelist {
		return seal, has, errors.Join(err, errors.New("it was not closed in order"))
	}
	h := fnv.New64a()
	for page := range int64(2) {
		if _, err := io.Copy(h, io.NewSectionReader(f, page*int64(m.PageSize), PageHeader+metaSize)); err != nil {
			return seal, has, err
		}
	}
	fmt.Fprint(h, info.Size())
	has = info.ModTime()
	return has.Truncate(time.Second).Add(time.Duration(h.Sum64()%1e7) * 100), has, nil
}

// NewestMeta reads both meta pages and returns the one that counts.
func NewestMeta(f *os.File, size int64) (m BoltMeta, note string, err error) {
	// An empty file is what a crash leaves of one that somebody else was making; bbolt would fill
	// it.
	if size == 0 {
		return m, "", errors.New("the file is empty")
	}
	// Page 0 tells the page size, and so where page 1 is.
	first := make([]byte, PageHeader+metaSize)
	if _, err := f.ReadAt(first, 0); err != nil {
		return m, "", fmt.Errorf("it has only %d bytes", size)
	}
	m0, s0 := ReadMeta(first)
	if s0 == metaBad {
		return m, "", errors.New("meta page 0 is not that of a database (wrong kind of file, or overwritten)")
	}
	second := make([]byte, PageHeader+metaSize)
	if _, err := f.ReadAt(second, int64(m0.PageSize)); err != nil {
		return m, "", fmt.Errorf("it has only %d bytes", size)
	}
	m1, s1 := ReadMeta(second)
	if s1 == metaBad || m1.PageSize != m0.PageSize {
		return m, "", errors.New("meta page 1 is not that of a database (overwritten)")
	}
	switch {
	case s0 == metaTorn && s1 == metaTorn:
		return m, "", errors.New("the checksums of both meta pages do not hold")
	case s0 == metaTorn:
		m, note = m1, "meta page 0 is torn, as a power cut leaves it: went on from meta page 1"
	case s1 == metaTorn:
		m, note = m0, "meta page 1 is torn, as a power cut leaves it: went on from meta page 0"
	case m1.Txid > m0.Txid:
		m = m1
	default:
		m = m0
	}
	// High is looked at by itself first: the product of a wild number could overflow and seem
	// small.
	if need := m.High * uint64(m.PageSize); m.High > uint64(size) || need > uint64(size) {
		return m, "", fmt.Errorf("it is cut short: %d of %d bytes", size, need)
	}
	return m, note, nil
}

// walkFile maps the used part of the file and walks its pages.
func walkFile(f *os.File, m BoltMeta) (err error) {
	// Only the pages in use are mapped: what bbolt has reserved behind them is never read.
	data, unmap, err := mapFile(f, int(m.High)*m.PageSize)
	if err != nil {
		return fmt.Errorf("cannot be mapped: %w", err)
	}
	defer unmap()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a page cannot be read: %v", r)
		}
	}()
	w := walker{data: data, pageSize: m.PageSize, high: m.High, seen: make([]uint64, m.High/64+1)}
	return w.walk(m)
}
