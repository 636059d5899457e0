package pg

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine/await"
)

// errLost: the connection was lost, or there is none to be had. Nothing was committed.
var errLost = errors.New("the connection to the database is lost")

// patience is how long what is waited for.
type patience struct {
	server time.Duration // for a server that is lost, until it is there again
	answer time.Duration // for one answer; after that the connection counts as lost
	echo   time.Duration // for an own commit to be heard of; after that none is
}

// usualPatience is more for an answer than the server takes at most, so that an answer that does
// not come says something of the network.
var usualPatience = patience{server: 30 * time.Second, answer: statementPatience + 5*time.Second, echo: time.Second}

const (
	// connectPatience is for a server that does not answer.
	connectPatience = 10 * time.Second
	// statementPatience is for one statement, with what it waits for.
	statementPatience = 30 * time.Second
	// forEver is also for what the pool would do by itself now and then: a connection is used as
	// long as it lasts.
	forEver = 100 * 365 * 24 * time.Hour
	// maxTries bounds how often a transaction is begun again that the database has ended for
	// the sake of another.
	maxTries = 20
	// lostPause is between two tries of a server that is lost.
	lostPause = 200 * time.Millisecond
)

// again carries out try until it is done, fails for good, the store is abandoned, or patience ends:
// soon after an error that retry takes for one of two that met, and for as long as a server takes to
// begin anew after a lost connection, unless what was told by then cannot be taken back.
func (db *DB) again(ctx context.Context, retry func(error) bool, try func() (told bool, err error)) error {
	for n, began := 1, time.Now(); ; n++ {
		told, err := try()
		var pause time.Duration
		switch cut := context.Cause(db.life); {
		case err != nil && cut != nil: // no connection is made any more
			return cut
		case retry(err) && n < maxTries:
			pause = rand.N(time.Duration(n) * 5 * time.Millisecond)
		case errors.Is(err, errLost) && !told && time.Since(began) < db.patience.server:
			if n > 1 {
				pause = lostPause
			}
			db.pool.Reset() // the others have most likely gone the same way
		default:
			return err
		}
		if !await.Pause(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// anotherWon reports whether the database has ended a transaction for the sake of another: it
// can run again.
func anotherWon(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch e.Code {
	case "40001", // serialization_failure
		"40P01", // deadlock_detected
		"23505": // unique_violation: what was not there when it was looked for is there now
		return true
	}
	return false
}
