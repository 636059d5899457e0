package page

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// reads is how the rows of a long list are read for sorting: each row once, into a
// number and a text. A comparison that went back to the rows would wait for memory
// twice, and a hundred thousand rows take two million comparisons.
type reads[T any] struct {
	id func(*T) string
	by map[string]func(*T) sortKey // by the title of the column
}

// sortKey orders a row: by num first, then by text.
type sortKey struct {
	num  uint64
	text string
}

// readText orders by a text, readUp by a number and readDown by a number with the
// greatest first.
func readText[T any](of func(*T) string) func(*T) sortKey {
	return func(row *T) sortKey { return sortKey{text: of(row)} }
}

func readUp[T any](of func(*T) int64) func(*T) sortKey {
	return func(row *T) sortKey { return sortKey{num: ordered(of(row))} }
}

func readDown[T any](of func(*T) int64) func(*T) sortKey {
	return func(row *T) sortKey { return sortKey{num: ^ordered(of(row))} }
}

// readDue orders by instants, those that are not known last, see zeroLast.
func readDue[T any](of func(*T) time.Time) func(*T) sortKey {
	return func(row *T) sortKey {
		if at := of(row); !at.IsZero() {
			return sortKey{num: ordered(nanos(at))}
		}
		return sortKey{num: ^uint64(0)}
	}
}

// readNewest orders by instants, the newest first.
func readNewest[T any](of func(*T) time.Time) func(*T) sortKey {
	return readDown(func(row *T) int64 { return nanos(of(row)) })
}

// nanos orders instants; zero, which is no instant, comes before all of them.
func nanos(at time.Time) int64 {
	if at.IsZero() {
		return -1 << 63
	}
	return at.UnixNano()
}

// ordered maps numbers to such without a sign, in the same order.
func ordered(n int64) uint64 { return uint64(n) ^ 1<<63 }

// sortItem is a row while it is sorted: what most comparisons end with, in 32 bytes.
type sortItem struct {
	num, text, id uint64 // of the texts: eight bytes behind what all of them begin with
	at            int32  // the row
}

// sortByKey orders rows by what is read of them, equal ones by their id.
func sortByKey[T any](rows []*T, r *reads[T], read func(*T) sortKey, down bool, stop *halt) []keyed[T] {
	texts, ids, items := make([]string, len(rows)), make([]string, len(rows)), make([]sortItem, len(rows))
	inHalves(len(rows), func(from, to int) (none struct{}) {
		for i := from; i < to && !stop.at(i); i++ {
			k := read(rows[i])
			texts[i], ids[i], items[i] = k.text, r.id(rows[i]), sortItem{num: k.num, at: int32(i)}
		}
		return none
	})
	textFrom, idFrom := alike(texts), alike(ids)
	for i := range items {
		items[i].text, items[i].id = head(texts[i], textFrom), head(ids[i], idFrom)
	}
	sign := 1
	if down {
		sign = -1
	}
	compare := func(a, b sortItem) int {
		switch {
		case a.num != b.num:
			return sign * cmp.Compare(a.num, b.num)
		case a.text != b.text:
			return sign * cmp.Compare(a.text, b.text)
		}
		if d := sign * strings.Compare(texts[a.at], texts[b.at]); d != 0 || a.id == b.id {
			return cmp.Or(d, strings.Compare(ids[a.at], ids[b.at]))
		}
		return cmp.Compare(a.id, b.id)
	}
	halves := inHalves(len(items), func(from, to int) []sortItem {
		if !stop.on() {
			slices.SortFunc(items[from:to], compare)
		}
		return items[from:to]
	})
	out := make([]keyed[T], len(rows))
	for i, item := range merged(halves[0], halves[1], compare) {
		out[i] = keyed[T]{rows[item.at], ids[item.at]}
	}
	return out
}

// alike is how many bytes all texts begin with: keys of matches share a dozen.
func alike(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	first := texts[0]
	n := len(first)
	for _, s := range texts {
		n = min(n, len(s))
		for i := range n {
			if s[i] != first[i] {
				n = i
				break
			}
		}
	}
	return n
}

// head is the eight bytes of s from a place on, as a number of the same order.
func head(s string, from int) uint64 {
	if len(s) >= from+8 {
		return binary.BigEndian.Uint64([]byte(s[from : from+8]))
	}
	var b [8]byte
	copy(b[:], s[min(from, len(s)):])
	return binary.BigEndian.Uint64(b[:])
}
