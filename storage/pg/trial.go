package pg

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/storage/internal/both"
)

const (
	// A sample is so large, or takes so long.
	sampleBytes    = 32 << 20
	samplePatience = 2 * time.Second

	// The values are not compressed, as payloads are not.
	makeSample = "create table fs_sample (v bytea); alter table fs_sample alter column v set storage external"
)

// errSampled takes back what was made for a sample.
var errSampled = errors.New("it was a sample")

// WouldTakeOver proves that TakeOver may begin, and tells how much there is to copy and, by a
// sample of it, about how long that takes. It changes nothing: the schema and the table that the
// sample needs are made in a transaction that is taken back. Errors: those of TakeOver.
func WouldTakeOver(ctx context.Context, o Options, from source) (r Taken, err error) {
	conf, err := config(o)
	if err != nil {
		return r, err
	}
	all, err := from.Collections(ctx)
	if err != nil {
		return r, err
	}
	if r, err = sizeOf(all); err != nil {
		return r, err
	}
	r.DryRun, r.From, r.To = true, from.Name(), Name(o.URL)
	err = prepare(ctx, conf.ConnConfig, func(ctx context.Context, c *pgx.Conn, schema string) error {
		if r.Resumed, err = mayTake(ctx, c, schema); err != nil {
			return err
		}
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if err := makeSchema(ctx, tx, schema); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, makeSample); err != nil {
				return err
			}
			began := time.Now() // of the rows alone: what comes before is the same for any number
			size, err := sample(ctx, c, from, all)
			if size > 0 {
				r.Took = time.Duration(float64(time.Since(began)) * float64(r.Bytes) / float64(size))
			}
			return cmp.Or(err, errSampled)
		})
		if errors.Is(err, errSampled) {
			return nil
		}
		return said(ctx, err)
	})
	return r, err
}

// sample copies some rows of the largest collection, and reads them back; size is what they have in
// the source. The largest one, which is that of payloads in all but the smallest stores, says how
// fast the whole goes.
func sample(ctx context.Context, c *pgx.Conn, from source, all []both.Collection) (size int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	largest := slices.MaxFunc(all, func(a, b both.Collection) int { return cmp.Compare(a.Bytes, b.Bytes) })
	began := time.Now()
	var rows [][]any
	_, err = from.Each(ctx, largest.Name, nil, func(v any) {
		if p, is := v.(both.Payload); is {
			rows = append(rows, []any{bytes.Clone(p.Body)})
		} else {
			rows = append(rows, []any{fmt.Append(nil, v)})
		}
	}, func(n int) bool {
		size += n
		return size < sampleBytes && time.Since(began) < samplePatience
	})
	if err == nil {
		_, err = c.CopyFrom(ctx, pgx.Identifier{"fs_sample"}, []string{"v"}, pgx.CopyFromRows(rows))
	}
	if err == nil {
		_, err = c.Exec(ctx, "select v from fs_sample", pgx.QueryExecModeSimpleProtocol)
	}
	return size, err
}
