package pg

import (
	"context"
	"errors"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/pgtest"
)

// A job is moved, as at each claim and each end.
func BenchmarkMove(b *testing.B) {
	db := open(b, pgtest.Schema(b))
	id := insert(b, db, spec("a"))[0]
	for b.Loop() {
		must(b, db.Write(context.Background(), func(tx engine.Tx) error {
			j, err := db.Job(tx, id)
			j.Rev++
			return errors.Join(err, db.SaveJob(tx, j))
		}))
	}
}
