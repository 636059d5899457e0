package disk

import (
	"bytes"
	"errors"
	"fmt"
)

// Page kinds and the flag of a leaf element that holds a nested table.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	nestedTable  = 0x01

	ManyFree     = 0xFFFF // free pages: their number stands before the first
	elementSize  = 16     // leaf: flags, position, key size, value size; branch: position, key size, page
	tableHeader  = 16     // root page (0 = inline), sequence
	deepestTable = 64     // levels; a sound file has fewer than ten
)

// walker checks the shape of every reachable page: its own number, its kind, that each element lies
// inside it, that keys ascend, and that no page is used twice. It says nothing about values: those
// carry checksums of their own.
//
// It exists because bbolt trusts its pages: a damaged one ends the process in a goroutine of
// bbolt's own. [OpenFile] has every file walked before bbolt opens it. The layout is that of
// bbolt's file format version 2.
type walker struct {
	data     []byte // the whole file, mapped or read
	pageSize int
	high     uint64   // pages in use are below it
	seen     []uint64 // one bit per page
	free     []byte   // the list of free pages, eight bytes each
}

// bounds are the keys between which a subtree must lie: low <= key < high; nil = open.
type bounds struct{ low, high []byte }

// walk follows one of the two meta pages: the list of free pages, then the tree of tables. It
// returns the first thing that is wrong, as a sentence with the number of the page.
func (w *walker) walk(m BoltMeta) error {
	for id := range uint64(2) {
		if err := w.claim(id); err != nil {
			return err
		}
	}
	// bbolt finds the free pages by a walk where no list was written. A file of ours has one only
	// if it was closed in order.
	if m.Freelist != NoFreelist {
		if err := w.freelist(m.Freelist); err != nil {
			return err
		}
	}
	if err := w.subtree(m.Root, bounds{}, 0); err != nil {
		return err
	}
	return w.freePages()
}

// page returns the bytes of page id and its overflow pages, after checking its header.
func (w *walker) page(id uint64) (b []byte, flags uint16, err error) {
	if id < 2 || id >= w.high {
		return nil, 0, fmt.Errorf("page %d lies outside of the file's %d pages", id, w.high)
	}
	start := int(id) * w.pageSize
	// id uint64, flags uint16, count uint16, overflow uint32
	head := w.data[start : start+PageHeader]
	if self := ByteOrder.Uint64(head); self != id {
		return nil, 0, fmt.Errorf("page %d says that it is page %d", id, self)
	}
	pages := uint64(ByteOrder.Uint32(head[12:])) + 1
	if id+pages > w.high {
		return nil, 0, fmt.Errorf("page %d runs past the end of the file", id)
	}
	for p := id; p < id+pages; p++ {
		if err := w.claim(p); err != nil {
			return nil, 0, err
		}
	}
	return w.data[start : start+int(pages)*w.pageSize], ByteOrder.Uint16(head[8:]), nil
}

// claim marks a page as used. Two owners of one page are the worst that can be: each looks sound
// by itself, and a write to one destroys the other.
func (w *walker) claim(id uint64) error {
	if w.seen[id/64]&(1<<(id%64)) != 0 {
		return fmt.Errorf("page %d is used twice", id)
	}
	w.seen[id/64] |= 1 << (id % 64)
	return nil
}

// freelist reads the list of free pages; [walker.freePages] looks at it once everything that is
// in use has been claimed.
func (w *walker) freelist(id uint64) error {
	b, flags, err := w.page(id)
	if err != nil {
		return err
	}
	n, list := uint64(ByteOrder.Uint16(b[10:])), b[PageHeader:]
	if n == ManyFree {
		n, list = ByteOrder.Uint64(list), list[8:]
	}
	if flags != freelistPage || n > uint64(len(list)/8) {
		return fmt.Errorf("page %d is not the list of free pages", id)
	}
	w.free = list[:n*8]
	return nil
}

// freePages checks that no page in use is listed as free: bbolt would write over it. One that is
// not listed is only lost.
func (w *walker) freePages() error {
	last := uint64(1) // the meta pages are never free
	for list := w.free; len(list) > 0; list = list[8:] {
		id := ByteOrder.Uint64(list)
		// bbolt writes it in ascending order, and searches it so.
		if id <= last || id >= w.high {
			return fmt.Errorf("page %d is out of place in the list of free pages", id)
		}
		if err := w.claim(id); err != nil {
			return fmt.Errorf("the list of free pages: %w", err)
		}
		last = id
	}
	return nil
}

// subtree checks the page id and all below it. The depth is bounded because a page that names
// one above it would be followed for ever; [walker.claim] finds that too, but only where the
// page was not yet claimed by its own parent.
func (w *walker) subtree(id uint64, in bounds, depth int) error {
	if depth > deepestTable {
		return fmt.Errorf("page %d lies too deep", id)
	}
	b, flags, err := w.page(id)
	if err != nil {
		return err
	}
	switch flags {
	case branchPage:
		err = w.branch(b, in, depth)
	case leafPage:
		err = w.leaf(b, in, depth)
	default:
		err = fmt.Errorf("is of kind %#x, neither branch nor leaf", flags)
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// branch checks its keys and then its children, each of which must lie between its own key and
// the next one. The lowest key of a branch may be greater than the lowest below it nowhere but
// at the left edge of the tree, where the bound is open.
func (w *walker) branch(b []byte, in bounds, depth int) error {
	n := int(ByteOrder.Uint16(b[10:]))
	if n == 0 || PageHeader+n*elementSize > len(b) {
		return fmt.Errorf("a branch of %d elements", n)
	}
	keys := make([][]byte, n)
	for i := range keys {
		at := PageHeader + i*elementSize
		k, err := within(b, at, ByteOrder.Uint32(b[at:]), ByteOrder.Uint32(b[at+4:]), 0)
		if err != nil {
			return fmt.Errorf("element %d %w", i, err)
		}
		keys[i] = k
		var before []byte
		if i > 0 {
			before = keys[i-1]
		}
		if err := ascending(before, k, in); err != nil {
			return err
		}
	}
	for i, k := range keys {
		child := bounds{low: k, high: in.high}
		if i+1 < n {
			child.high = keys[i+1]
		}
		if err := w.subtree(ByteOrder.Uint64(b[PageHeader+i*elementSize+8:]), child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// leaf checks its elements; the values of nested tables are trees of their own.
func (w *walker) leaf(b []byte, in bounds, depth int) error {
	n := int(ByteOrder.Uint16(b[10:]))
	if PageHeader+n*elementSize > len(b) {
		return fmt.Errorf("a leaf of %d elements", n)
	}
	var before []byte
	for i := range n {
		at := PageHeader + i*elementSize
		flags, pos := ByteOrder.Uint32(b[at:]), ByteOrder.Uint32(b[at+4:])
		ksize, vsize := ByteOrder.Uint32(b[at+8:]), ByteOrder.Uint32(b[at+12:])
		k, err := within(b, at, pos, ksize, vsize)
		if err != nil {
			return fmt.Errorf("element %d %w", i, err)
		}
		if err := ascending(before, k, in); err != nil {
			return err
		}
		before = k
		if flags&nestedTable == 0 {
			continue
		}
		// pos counts from the element and not from the page: bbolt's leafPageElement.
		start := at + int(pos) + int(ksize)
		if err := w.table(b[start:start+int(vsize)], depth); err != nil {
			return fmt.Errorf("table in element %d: %w", i, err)
		}
	}
	return nil
}

// table checks a nested table: its own tree, or the one page that it carries inline.
func (w *walker) table(v []byte, depth int) error {
	if len(v) < tableHeader {
		return fmt.Errorf("its header has %d bytes", len(v))
	}
	if root := ByteOrder.Uint64(v); root != 0 {
		return w.subtree(root, bounds{}, depth+1)
	}
	// bbolt keeps a small table within the value of its parent, as a page without a number.
	inline := v[tableHeader:]
	if len(inline) < PageHeader || ByteOrder.Uint16(inline[8:]) != leafPage || depth > deepestTable {
		return errors.New("its inline page is no leaf")
	}
	return w.leaf(inline, bounds{}, depth+1)
}

// within returns the key of the element at offset at, if key and value lie inside b.
func within(b []byte, at int, pos, ksize, vsize uint32) ([]byte, error) {
	start := uint64(at) + uint64(pos)
	if end := start + uint64(ksize) + uint64(vsize); end > uint64(len(b)) {
		return nil, fmt.Errorf("ends at byte %d of %d", end, len(b))
	}
	return b[start : start+uint64(ksize)], nil
}

// ascending checks a key against the one before it (nil = it is the first of its page) and against
// the bounds.
func ascending(before, k []byte, in bounds) error {
	switch {
	// Keys of a page ascend strictly; only the first may be equal to the bound of its parent, which
	// is a copy of it.
	case before != nil && bytes.Compare(before, k) >= 0,
		before == nil && in.low != nil && bytes.Compare(in.low, k) > 0,
		in.high != nil && bytes.Compare(k, in.high) >= 0:
		return errors.New("its keys are out of order")
	}
	return nil
}
