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

// The same, by four writers of a process that hears of all commits.
func BenchmarkMoveServed(b *testing.B) {
	for _, served := range []bool{false, true} {
		b.Run(map[bool]string{false: "alone", true: "served"}[served], func(b *testing.B) {
			db := open(b, pgtest.Schema(b))
			if served {
				ctx, stop := context.WithCancel(context.Background())
				done, up := make(chan error), make(chan struct{}, 1)
				db.OnGap(func() { up <- struct{}{} })
				go func() { done <- db.Serve(ctx) }()
				<-up
				defer func() { stop(); <-done }()
			}
			b.SetParallelism(2)
			b.ResetTimer()
			b.RunParallel(func(p *testing.PB) {
				id := insert(b, db, spec(""))[0]
				for p.Next() {
					must(b, db.Write(context.Background(), func(tx engine.Tx) error {
						j, err := db.Job(tx, id)
						j.Rev++
						return errors.Join(err, db.SaveJob(tx, j))
					}))
				}
			})
		})
	}
}
