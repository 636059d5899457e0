package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/storage/internal/both"
)

// ErrDeposed says that who wrote does not lead the fleet any more. Nothing was written.
var ErrDeposed = both.ErrDeposed

// fence holds the one row of the fleet until the transaction ends. An election changes its key:
// so it waits for every transaction of the term before, and those that come later find nothing.
// The renewals of a term change only what is no key, and wait for nobody.
const fence = "select from fs_fleet where epoch = $1 and expires > clock_timestamp() for key share"

// Led gives the same store for who leads the fleet in the term of an epoch: what is written
// through it later is refused with ErrDeposed.
// When over ends they do not wait for a lost server either.
func (db *DB) Led(epoch int64, over context.Context) *DB { return &DB{db.shared, epoch, over} }

// within is a context that ends with the term, too.
func (db *DB) within(ctx context.Context) (context.Context, func()) {
	if db.over == nil {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	forget := context.AfterFunc(db.over, func() { end(context.Cause(db.over)) })
	return ctx, func() { forget(); end(nil) }
}

// Connect gives a connection to the schema outside of the pool.
func (db *DB) Connect(ctx context.Context) (*pgx.Conn, error) {
	return connect(ctx, db.pool.Config().ConnConfig)
}
