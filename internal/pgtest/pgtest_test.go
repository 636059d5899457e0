//go:build unix

package pgtest

import (
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// What a test makes in its schema no other test sees, and it is gone afterwards.
func TestASchemaPerTest(t *testing.T) {
	var first string
	t.Run("one", func(t *testing.T) {
		first = Schema(t)
		makeTable(t, first)
	})
	t.Run("two", func(t *testing.T) { makeTable(t, Schema(t)) })
	if err := do(first, "select * from things"); err == nil {
		t.Error("the schema of a test outlives it")
	}
}

func makeTable(t *testing.T, at string) {
	t.Helper()
	for _, sql := range []string{"do $$ begin execute format('create schema %I', current_setting('search_path')); end $$", "create table things ()"} {
		if err := do(at, sql); err != nil {
			t.Fatal(err)
		}
	}
}
