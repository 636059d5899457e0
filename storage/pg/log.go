package pg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/storage"
)

// The log of a store that several processes share, and its rows as of some commit of it:
//
//	fs_log     seq 812 | term 3 | rows | changes      what the commit 812 has written and told
//	fs_row     tb jobs | k | v                        a row as every file has it
//	fs_number  tb jobs | n 4711                       the last number of a table that was given
//	fs_store   instance | seq 790                     which commit the rows are of
//
// Who leads adds to the log, and lets the rows follow it.

const (
	// addCommit adds one behind the last one, while its term goes on: an election waits for it.
	addCommit = "with term as (" + fence + `), added as (
	insert into fs_log (seq, term, rows, changes) select $2, $1, $3, $4 from term
	where $2 = 1 + coalesce((select max(seq) from fs_log), (select seq from fs_store)) on conflict (seq) do nothing returning seq
) select seq, pg_notify($5, seq::text) from added`
	isCommit = "select term = $2 and rows = $3 and changes = $4 from fs_log where seq = $1"
	// selectCommits reads some of what is behind a place: at most $2 commits, and but for the last one less than $3 bytes.
	selectCommits = `select seq, rows, changes from (
	select *, sum(octet_length(rows) + octet_length(changes)) over (order by seq rows between unbounded preceding and 1 preceding) as before
	from (select seq, rows, changes from fs_log where seq > $1 order by seq limit $2) behind
) part where before is null or before < $3 order by seq`
	selectEnds = "select instance, coalesce((select max(seq) from fs_log), seq) from fs_store"
)

// Log is the log of a store. It implements storage.Shared.
type Log struct {
	db    *DB
	added await.Bell // rung when this process has added a commit

	mu  sync.Mutex
	ear *pgx.Conn // hears of commits; Wait's
}

// Log is that of the schema.
func (db *DB) Log() *Log { return &Log{db: db, added: await.NewBell()} }

func (l *Log) channel() string { return l.db.Schema() + ".log" }

// Append implements storage.Shared. It asks a server that is away until it answers or the term ends. What is refused after a
// try that was not answered may be there all the same: then it is asked again, too.
func (l *Log) Append(ctx context.Context, term int64, c storage.Commit) error {
	anew, doubt := false, false
	for {
		err := l.append(ctx, term, c)
		if err == nil {
			l.added.Ring()
		}
		if l.stale(err, &anew) {
			continue
		}
		if err == nil || errors.Is(err, ErrDeposed) || Refused(err) && !doubt && !passing(err) {
			return noRoom(err)
		}
		doubt = doubt || !Refused(err)
		if !await.Pause(ctx, lostPause) {
			return ErrDeposed
		}
	}
}

// stale reports whether a statement is to be tried again on a new connection: a session that began while the server was
// read-only stays so when the server can write again. That is believed once.
func (l *Log) stale(err error, asked *bool) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || e.Code != readOnly || *asked {
		return false
	}
	*asked = true
	l.db.pool.Reset()
	return true
}

// append is one try of Append. A try before it, whose answer was lost, may have added the commit: that is looked for.
func (l *Log) append(ctx context.Context, term int64, c storage.Commit) error {
	var seq int64
	err := l.db.pool.QueryRow(ctx, addCommit, term, int64(c.Seq), c.Rows, c.Changes, l.channel()).Scan(&seq, nil)
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	same := false
	err = l.db.pool.QueryRow(ctx, isCommit, int64(c.Seq), term, c.Rows, c.Changes).Scan(&same)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !same {
		return ErrDeposed
	}
	return err
}

// After implements storage.Shared.
func (l *Log) After(ctx context.Context, at storage.Place, carry func(c storage.Commit) error) error {
	for {
		var instance string
		var last int64
		asking, cancel := context.WithTimeout(ctx, answerPatience)
		defer cancel()
		if err := l.db.pool.QueryRow(asking, selectEnds).Scan(&instance, &last); err != nil {
			return err
		}
		if instance != at.Instance || last < int64(at.Seq) {
			return storage.ErrTrimmed
		}
		if last == int64(at.Seq) {
			return nil
		}
		found, err := l.db.pool.Query(asking, selectCommits, int64(at.Seq), carriedCommits, commitBytes)
		if err != nil {
			return err
		}
		commits, err := pgx.CollectRows(found, func(r pgx.CollectableRow) (c storage.Commit, err error) {
			var seq int64
			err = r.Scan(&seq, &c.Rows, &c.Changes)
			c.Seq = uint64(seq)
			return c, err
		})
		if err != nil {
			return err
		}
		if len(commits) == 0 { // they were dropped just now
			return storage.ErrTrimmed
		}
		for _, c := range commits {
			if c.Seq != at.Seq+1 {
				return storage.ErrTrimmed
			}
			if err := carry(c); err != nil {
				return err
			}
			at.Seq = c.Seq
		}
	}
}

// Rows implements storage.Shared.
func (l *Log) Rows(ctx context.Context, fill func(s storage.Step) error) (at storage.Place, err error) {
	err = l.db.unhurried(ctx, func(tx pgx.Tx) error {
		var seq int64
		if err := tx.QueryRow(ctx, "select instance, seq from fs_store").Scan(&at.Instance, &seq); err != nil {
			return err
		}
		at.Seq = uint64(seq)
		var s storage.Step
		var n int64
		numbers, _ := tx.Query(ctx, "select tb, n from fs_number") // its error comes with the rows
		_, err := pgx.ForEachRow(numbers, []any{&s.Table, &n}, func() error {
			s.Number = uint64(n)
			return fill(s)
		})
		if err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, "select tb, k, v from fs_row order by tb, k")
		_, err = pgx.ForEachRow(rows, []any{&s.Table, &s.Key, &s.Value}, func() error {
			s.Number = 0
			return fill(storage.Step{Table: s.Table, Key: bytes.Clone(s.Key), Value: bytes.Clone(s.Value)})
		})
		return err
	})
	return at, err
}

// unhurried reads one state of the database, however long that takes.
func (db *DB) unhurried(ctx context.Context, read func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0"); err != nil {
			return err
		}
		return read(tx)
	})
}

// lookAnyway is how often the log is read even if no notification came.
const lookAnyway = time.Second

// Wait implements storage.Shared.
func (l *Log) Wait(ctx context.Context, _ uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ear == nil {
		c, err := l.db.Connect(ctx)
		if err != nil {
			return err
		}
		if _, err := c.Exec(ctx, "listen "+pgx.Identifier{l.channel()}.Sanitize()); err != nil {
			hangUp(c)
			return err
		}
		l.ear = c
		return nil // what came before it listened is looked for at once
	}
	wait, cancel := context.WithTimeout(ctx, lookAnyway)
	defer cancel()
	_, err := l.ear.WaitForNotification(wait)
	if err != nil && (l.ear.IsClosed() || ctx.Err() != nil) {
		hangUp(l.ear)
		l.ear = nil
		return err
	}
	return nil
}

// Rest implements storage.Shared: an ear that nobody reads would fill the server's memory.
func (l *Log) Rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ear != nil {
		hangUp(l.ear)
		l.ear = nil
	}
}

// foldCommits is how many commits the rows follow in one transaction. carriedCommits, of commitBytes at most, are read into
// memory to be carried out on a file. keptCommits stay in the log for keptFor, for files that are behind.
const (
	foldCommits    = 200
	carriedCommits = 100
	commitBytes    = 8 << 20
	keptCommits    = 50_000
	keptFor        = 30 * time.Minute
	foldPause      = 50 * time.Millisecond
)

// Follow lets the rows follow the log within a term, until ctx ends. trouble hears of what keeps them from it, each once in a row.
func (l *Log) Follow(ctx context.Context, term int64, trouble func(error)) error {
	for said := ""; ; {
		_, more, err := l.fold(ctx, term)
		if errors.Is(err, ErrDeposed) {
			return err
		}
		if err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			trouble(err)
		}
		if !await.Pause(ctx, foldPause) {
			return nil
		}
		if err != nil || more {
			continue
		}
		select {
		case <-l.added:
		case <-ctx.Done():
			return nil
		}
	}
}

// within carries a statement out if a term goes on, and gives the number of rows. No other term can begin before it is
// done.
func (l *Log) within(ctx context.Context, term int64, sql string, args ...any) (rows int64, err error) {
	err = l.try(ctx, func() error {
		return pgx.BeginFunc(ctx, l.db.pool, func(tx pgx.Tx) error {
			if err := leads(ctx, tx, term); err != nil {
				return err
			}
			done, err := tx.Exec(ctx, sql, args...)
			rows = done.RowsAffected()
			return err
		})
	})
	return rows, err
}

// leads holds a term until the transaction ends; ErrDeposed when it is over.
func leads(ctx context.Context, tx pgx.Tx, term int64) error {
	held := false
	err := tx.QueryRow(ctx, "select exists ("+fence+")", term).Scan(&held)
	if err == nil && !held {
		err = ErrDeposed
	}
	return err
}

// try carries out what may be carried out twice until a server that is away has answered, or ctx ends.
func (l *Log) try(ctx context.Context, do func() error) error {
	anew := false
	for began := time.Now(); ; {
		err := do()
		if l.stale(err, &anew) {
			continue
		}
		if err == nil || errors.Is(err, ErrDeposed) || errors.Is(err, pgx.ErrNoRows) || Refused(err) && !passing(err) || context.Cause(l.db.life) != nil ||
			time.Since(began) > serverPatience || !await.Pause(ctx, lostPause) {
			return noRoom(err)
		}
		l.db.pool.Reset()
	}
}

// TriggerKind and OrderKind are the kinds of River's rows by which other programs ask for syncs, and members the leader for
// something: see package river.
const (
	TriggerKind = "farsight.trigger"
	OrderKind   = "farsight.order"
)

// Unask implements storage.Shared. Other programs write Riot IDs as they like.
func (l *Log) Unask(ctx context.Context, term int64, riotIDs []string) error {
	there := false
	err := l.try(ctx, func() error {
		return l.db.pool.QueryRow(ctx, "select to_regclass('river_job') is not null").Scan(&there)
	})
	if err != nil || !there {
		return err
	}
	var gone []int64
	err = l.try(ctx, func() error {
		gone = nil
		var id int64
		var asked string
		rows, _ := l.db.pool.Query(ctx, "select id, coalesce(args->>'riot_id', '') from river_job where kind = $1", TriggerKind)
		_, err := pgx.ForEachRow(rows, []any{&id, &asked}, func() error {
			if slices.ContainsFunc(riotIDs, func(riotID string) bool { return storage.SameRiotID(asked, riotID) }) {
				gone = append(gone, id)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	_, err = l.within(ctx, term, "delete from river_job where id = any($1) or kind = $2 and finalized_at is not null", gone, OrderKind)
	return err
}

// Trim implements storage.Shared: it waits until the rows have followed.
func (l *Log) Trim(ctx context.Context, term int64) error {
	var last, at int64
	err := l.try(ctx, func() error {
		return l.db.pool.QueryRow(ctx, "select coalesce(max(seq), 0) from fs_log").Scan(&last)
	})
	for err == nil && at < last {
		err = l.try(ctx, func() error { return l.db.pool.QueryRow(ctx, "select seq from fs_store").Scan(&at) })
		if err == nil && at < last && !await.Pause(ctx, foldPause) {
			return context.Cause(ctx)
		}
	}
	if err != nil {
		return err
	}
	_, err = l.within(ctx, term, "delete from fs_log where seq <= $1", last)
	return err
}

// fold carries the next commits out on the rows; n is how many there were, and there may be more.
func (l *Log) fold(ctx context.Context, term int64) (n int, more bool, err error) {
	err = pgx.BeginFunc(ctx, l.db.pool, func(tx pgx.Tx) error {
		if err := leads(ctx, tx, term); err != nil {
			return err
		}
		var seq int64
		if err := tx.QueryRow(ctx, "select seq from fs_store").Scan(&seq); err != nil {
			return err
		}
		found, err := tx.Query(ctx, selectCommits, seq, foldCommits, commitBytes)
		if err != nil {
			return err
		}
		var log, changes []byte
		bytes := 0
		last := map[string]storage.Step{} // of each row, and of each number
		_, err = pgx.ForEachRow(found, []any{&seq, &log, &changes}, func() error {
			n, bytes = n+1, bytes+len(log)+len(changes)
			return storage.Commit{Rows: slices.Clone(log)}.Steps(func(s storage.Step) error {
				last[s.Table+"\x00"+string(s.Key)] = s
				return nil
			})
		})
		more = n == foldCommits || bytes >= commitBytes
		if err == nil && n == 0 {
			_, err = tx.Exec(ctx, "delete from fs_log where at < clock_timestamp() - $1::interval and seq <= (select seq from fs_store)", keptFor)
		}
		if err != nil || n == 0 {
			return err
		}
		if err := l.write(ctx, tx, last); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "update fs_store set seq = $1", seq)
		if err == nil {
			_, err = tx.Exec(ctx, "delete from fs_log where seq <= $1 or seq <= $2 and at < clock_timestamp() - $3::interval", seq-keptCommits, seq, keptFor)
		}
		return err
	})
	return n, more, err
}

// write puts and removes rows, and those of the tables that SQL reads.
func (l *Log) write(ctx context.Context, tx pgx.Tx, steps map[string]storage.Step) error {
	var tables, gone, counted []string
	var keys, values, removed [][]byte
	var numbers []int64
	stale, fresh := map[string][][]byte{}, map[string][]map[string]any{}
	for _, s := range steps {
		if shown, rows := storage.Readable(s); shown != "" {
			stale[shown], fresh[shown] = append(stale[shown], s.Key), append(fresh[shown], rows...)
		}
		switch {
		case s.Key == nil:
			counted, numbers = append(counted, s.Table), append(numbers, int64(s.Number))
		case s.Value == nil:
			gone, removed = append(gone, s.Table), append(removed, s.Key)
		default:
			tables, keys, values = append(tables, s.Table), append(keys, s.Key), append(values, s.Value)
		}
	}
	b := &pgx.Batch{}
	b.Queue("delete from fs_row r using unnest($1::text[], $2::bytea[]) gone(tb, k) where (r.tb, r.k) = (gone.tb, gone.k)", gone, removed)
	b.Queue("insert into fs_row (tb, k, v) select * from unnest($1::text[], $2::bytea[], $3::bytea[]) on conflict (tb, k) do update set v = excluded.v", tables, keys, values)
	b.Queue("insert into fs_number (tb, n) select * from unnest($1::text[], $2::bigint[]) on conflict (tb) do update set n = excluded.n", counted, numbers)
	for table, keys := range stale {
		b.Queue("delete from "+table+" where k = any($1)", keys)
		if len(fresh[table]) == 0 {
			continue
		}
		rows, err := json.Marshal(fresh[table])
		if err != nil {
			return err
		}
		b.Queue(fmt.Sprintf("insert into %[1]s select * from json_populate_recordset(null::%[1]s, $1::json)", table), string(rows))
	}
	return tx.SendBatch(ctx, b).Close()
}
