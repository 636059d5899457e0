package collection

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// Going backwards through a table from which this transaction has deleted: bbolt (1.5.0) leaves the
// pages that were emptied where they are until the commit, and its Last and Prev do not expect such
// pages.

// seekBefore moves c to the last key that is before k; nil k = the last of all. Nil when there is
// none.
func seekBefore(c *bolt.Cursor, k []byte) (at, v []byte) {
	if k == nil {
		return last(c)
	}
	if at, _ := c.Seek(k); at == nil {
		return last(c)
	}
	return prev(c, k)
}

// last moves c to the last key. Among nothing but emptied pages bbolt's Last looks for the last key
// for ever.
func last(c *bolt.Cursor) (at, v []byte) {
	if first, _ := c.First(); first == nil {
		return nil, nil
	}
	return c.Last()
}

// prev moves c, which stands at k, one key back. On an emptied page bbolt's Prev gives none though
// there are keys before it: the next Prev goes on from there.
func prev(c *bolt.Cursor, k []byte) (at, v []byte) {
	if at, v = c.Prev(); at != nil {
		return at, v
	}
	if first, _ := c.Bucket().Cursor().First(); first == nil || bytes.Compare(first, k) >= 0 {
		return nil, nil
	}
	for at == nil {
		at, v = c.Prev()
	}
	return at, v
}
