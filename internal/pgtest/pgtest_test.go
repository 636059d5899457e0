//go:build unix

package pgtest

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// What a test makes in its schema no other test sees, and it is gone afterwards.
func TestASchemaPerTest(t *testing.T) {
	var first string
	t.Run("one", func(t *testing.T) {
		first = Schema(t)
		must(t, makeTable(first))
	})
	t.Run("two", func(t *testing.T) { must(t, makeTable(Schema(t))) })
	if err := do(first, "select * from things"); err == nil {
		t.Error("the schema of a test outlives it")
	}
}

// Somebody may be connected to what a new database is usually made from.
func TestASchemaBesideOthers(t *testing.T) {
	base, err := server()
	needs(t, err)
	at, err := within(base, "template1", "public")
	must(t, err)
	c, err := pgx.Connect(t.Context(), at)
	must(t, err)
	defer c.Close(context.Background())
	must(t, makeTable(Schema(t)))
}

// A schema that is made once is in each test's database, as it was made; a process may have several.
func TestMade(t *testing.T) {
	Made(makeTable)(t)
	n := 0
	tables := Made(func(at string) error {
		n++
		return makeTable(at)
	})
	for range 2 {
		t.Run("", func(t *testing.T) {
			at := tables(t)
			for _, sql := range []string{"create table others ()", "drop table things"} {
				must(t, do(at, sql))
			}
		})
	}
	if n != 1 && os.Getenv(envServer) == "" {
		t.Errorf("it is made %d times", n)
	}
}

// makeTable makes the schema of an address, with a table.
func makeTable(at string) (err error) {
	for _, sql := range []string{"do $$ begin execute format('create schema %I', current_setting('search_path')); end $$", "create table things ()"} {
		err = errors.Join(err, do(at, sql))
	}
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
