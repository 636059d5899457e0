package pg

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
	names          string // of the columns: "match, index, puuid"
	from           string // select names from name
	key            string // where match = $1 and index = $2
	insert, upsert string
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
	all := strings.Join(names, ", ")
	s := &statements{names: all, from: "select " + all + " from " + name + " ", key: "where " + strings.Join(key, " and ")}
	s.insert = fmt.Sprintf("insert into %s (%s) values (%s)", name, all, strings.Join(places, ", "))
	s.upsert = fmt.Sprintf("%s on conflict (%s) do update set %s", s.insert, keys, strings.Join(sets, ", "))
	return s
}

// of is a table's rows as another query gives them. What list and its like are asked for follows it.
func (tb *table[T]) of(query string) *table[T] {
	return &table[T]{tb.name, tb.columns, func() *statements { return &statements{from: query} }}
}

// dropped deletes the rows that which names when list or its like is asked for them, and gives them
// as they were.
func (tb *table[T]) dropped(which string) *table[T] {
	return tb.of("with gone as (delete from " + tb.name + " " + which + " returning *) select " + tb.sql().names + " from gone")
}

// forEach writes a pattern for each column, with its name for every %: of "% = g.% - s.%" it makes
// "open = g.open - s.open, done = g.done - s.done".
func forEach(columns []column, pattern string) string {
	var all []string
	for _, c := range columns {
		all = append(all, strings.ReplaceAll(pattern, "%", c.name))
	}
	return strings.Join(all, ", ")
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
func (tb *table[T]) drop(t *txn, key ...any) { t.exec("delete from "+tb.name+" "+tb.sql().key, key...) }

// find gives the row of a key, and locks it in a writing transaction.
func (tb *table[T]) find(t *txn, key ...any) (v T, ok bool, err error) {
	return tb.first(t, tb.sql().key+t.lock, key...)
}

// need is find of a row that must be there: engine.ErrNotFound with what was looked for.
func (tb *table[T]) need(t *txn, what string, key ...any) (T, error) {
	return tb.want(t, what, tb.sql().key+t.lock, key...)
}

// first gives the first of the rows that which names: "where key = $1 order by id desc limit 1".
func (tb *table[T]) first(t *txn, which string, args ...any) (v T, ok bool, err error) {
	rows, err := tb.list(t, which, args...)
	if len(rows) > 0 {
		return rows[0], true, nil
	}
	return v, false, err
}

// want is first of a row that must be there.
func (tb *table[T]) want(t *txn, what, which string, args ...any) (T, error) {
	v, ok, err := tb.first(t, which, args...)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", what, engine.ErrNotFound)
	}
	return v, err
}

// list gives the rows that which names, all of them for "".
func (tb *table[T]) list(t *txn, which string, args ...any) (all []T, err error) {
	var bad error
	err = tb.each(t, func(v T, err error) {
		all = append(all, v)
		bad = cmp.Or(bad, err)
	}, which, args...)
	if err = cmp.Or(err, bad); err != nil {
		return nil, err
	}
	return all, nil
}

// sound is list without the rows that cannot be read; check names those.
func (tb *table[T]) sound(t *txn, which string, args ...any) (all []T, err error) {
	err = tb.each(t, func(v T, err error) {
		if err == nil {
			all = append(all, v)
		}
	}, which, args...)
	return all, err
}

// page is list of at most limit rows, with in next what place makes of the last of them; "" = there are
// no more.
func (tb *table[T]) page(t *txn, limit int, place func(T) string, which string, args ...any) (rows []T, next string, err error) {
	// One more than the page has tells whether there is another one.
	rows, err = tb.list(t, which+" limit "+strconv.Itoa(limit+1), args...)
	if len(rows) > limit {
		rows = rows[:limit]
		next = place(rows[limit-1])
	}
	return rows, next, err
}

// each goes through the rows that which names. A row that cannot be read comes
// with its error, engine.ErrUnreadable, and with the columns before the bad one; it is not the
// store's. Nothing else can be asked for meanwhile.
func (tb *table[T]) each(t *txn, yield func(v T, err error), which string, args ...any) error {
	var v, none T
	into := tb.values(&v) // once for all rows: a page has thousands of values
	return t.query(func(rows pgx.Rows) {
		v = none // nothing of a row is left in the next one, such as a map
		err := scan(rows, into)
		if err != nil {
			err = fmt.Errorf("a row of table %s: %w: %w", tb.name, engine.ErrUnreadable, err)
		}
		yield(v, err)
	}, tb.sql().from+which, args...)
}

// records reads the rows of a query into the fields of a T, in their order.
func records[T any](t *txn, sql string, args ...any) ([]T, error) {
	return declare("", "", fields[T](nil)).of(sql).list(t, "", args...)
}

// values reads the only column of all rows of a query.
func values[T any](t *txn, sql string, args ...any) (list []T, err error) {
	var v T
	var bad error
	into := []any{standing(&v)}
	err = t.query(func(rows pgx.Rows) {
		bad = cmp.Or(bad, scan(rows, into))
		list = append(list, v)
	}, sql, args...)
	return list, cmp.Or(err, bad)
}
