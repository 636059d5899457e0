package pg

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
)

// column is a column of a table with where its value lies: a pointer, from which it is written
// and into which it is read.
type column struct {
	name string
	at   any
}

// table is a table whose rows are values of T.
type table[T any] struct {
	name    string
	columns func(v *T) []column
	sql     func() *statements // made when first asked for: most programs have no server
}

// statements are the usual ones of a table.
type statements struct {
	these, from                 string // select …; these from name
	insert, upsert, get, remove string
}

// declare makes a table with the columns of its primary key: "account, queue, at"; "" = its rows are
// neither replaced nor looked for by a key.
func declare[T any](name, keys string, columns func(v *T) []column) *table[T] {
	return &table[T]{name, columns, sync.OnceValue(func() *statements { return write(name, keys, columns(new(T))) })}
}

func write(name, keys string, columns []column) *statements {
	key := strings.Split(keys, ", ")
	var names, places, sets []string
	for i, c := range columns {
		names = append(names, c.name)
		places = append(places, fmt.Sprintf("$%d", i+1))
		if !slices.Contains(key, c.name) {
			sets = append(sets, c.name+" = excluded."+c.name)
		}
	}
	for i := range key {
		key[i] += fmt.Sprintf(" = $%d", i+1)
	}
	all, where := strings.Join(names, ", "), "where "+strings.Join(key, " and ")
	s := &statements{these: "select " + all + " ", from: "select " + all + " from " + name + " "}
	s.insert = fmt.Sprintf("insert into %s (%s) values (%s)", name, all, strings.Join(places, ", "))
	s.upsert = fmt.Sprintf("%s on conflict (%s) do update set %s", s.insert, keys, strings.Join(sets, ", "))
	s.get = s.from + where
	s.remove = "delete from " + name + " " + where
	return s
}

// values are the pointers of a row, as arguments or as targets.
func (tb *table[T]) values(v *T) []any {
	columns := tb.columns(v)
	at := make([]any, len(columns))
	for i := range columns {
		at[i] = columns[i].at
	}
	return at
}

// add inserts a row; put inserts it or replaces what is there.
func (tb *table[T]) add(t *txn, v T) { t.exec(tb.sql().insert, tb.values(&v)...) }
func (tb *table[T]) put(t *txn, v T) { t.exec(tb.sql().upsert, tb.values(&v)...) }

// drop removes the row of a key.
func (tb *table[T]) drop(t *txn, key ...any) { t.exec(tb.sql().remove, key...) }

// find gives the row of a key, and locks it in a writing transaction.
func (tb *table[T]) find(t *txn, key ...any) (v T, ok bool, err error) {
	return tb.first(t, tb.sql().get+t.lock, key...)
}

// first gives the first row of a query that begins with from.
func (tb *table[T]) first(t *txn, sql string, args ...any) (v T, ok bool, err error) {
	var bad error
	err = tb.each(t, func(row T, err error) {
		if !ok && bad == nil {
			v, ok, bad = row, err == nil, err
		}
	}, sql, args...)
	if err == nil {
		err = bad
	}
	return v, ok, err
}

// want is first of a row that must be there: engine.ErrNotFound with what was looked for.
func (tb *table[T]) want(t *txn, what string, sql string, args ...any) (T, error) {
	v, ok, err := tb.first(t, sql, args...)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", what, engine.ErrNotFound)
	}
	return v, err
}

// list gives the rows of a query that begins with from.
func (tb *table[T]) list(t *txn, sql string, args ...any) (all []T, err error) {
	var bad error
	err = tb.each(t, func(v T, err error) {
		if bad == nil {
			all, bad = append(all, v), err
		}
	}, sql, args...)
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// each goes through the rows of a query that begins with from. A row that cannot be read comes
// with its error, engine.ErrUnreadable, and with the columns before the bad one; it is not the
// store's. Nothing else can be asked for meanwhile.
func (tb *table[T]) each(t *txn, yield func(v T, err error), sql string, args ...any) error {
	var v, none T
	into := tb.values(&v) // once for all rows: a page has thousands of values
	return t.query(func(rows pgx.Rows) {
		v = none // nothing of a row is left in the next one, such as a map
		err := scan(rows, into)
		if err != nil {
			err = fmt.Errorf("a row of table %s: %w: %w", tb.name, engine.ErrUnreadable, err)
		}
		yield(v, err)
	}, sql, args...)
}
