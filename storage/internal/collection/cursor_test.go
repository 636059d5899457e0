package collection

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// TestBackwardsOverEmptiedPages: whatever a transaction has deleted of a bucket of many pages,
// the way back from any key gives exactly what is left, and ends.
func TestBackwardsOverEmptiedPages(t *testing.T) {
	const rows = 400
	name := func(i int) []byte { return fmt.Appendf(nil, "%05d%060d", i, i) }
	file, err := bolt.Open(filepath.Join(t.TempDir(), "b"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	bucket := []byte("rows")
	err = file.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket(bucket)
		for i := 0; i < rows && err == nil; i++ {
			err = b.Put(name(i), nil)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		tx, err := file.Begin(true)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		b := tx.Bucket(bucket)
		left := make([]bool, rows)
		for i := range left {
			left[i] = true
		}
		// Pages are emptied by ranges; all of them, in about one of three.
		for range rapid.IntRange(0, 4).Draw(t, "ranges") {
			from, to := rapid.IntRange(0, rows).Draw(t, "from"), rapid.IntRange(0, rows).Draw(t, "to")
			if rapid.IntRange(0, 9).Draw(t, "all") == 0 {
				from, to = 0, rows
			}
			for i := from; i < to; i++ {
				if err := b.Delete(name(i)); err != nil {
					t.Fatal(err)
				}
				left[i] = false
			}
		}
		from := rapid.IntRange(0, rows).Draw(t, "before")
		var want, got [][]byte
		for i := from - 1; i >= 0; i-- {
			if left[i] {
				want = append(want, name(i))
			}
		}
		before := name(from)
		if from == rows && rapid.Bool().Draw(t, "from the end") {
			before = nil
		}
		c := b.Cursor()
		for k, _ := seekBefore(c, before); k != nil; k, _ = prev(c, k) {
			got = append(got, slices.Clone(k))
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%d keys before %q, not %d", len(got), before, len(want))
		}
	})
}
