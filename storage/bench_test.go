package storage

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/key"
)

// opsPerSecond runs op n times from callers goroutines and returns the rate.
func opsPerSecond(callers, n int, op func(i uint64) error) float64 {
	var next atomic.Uint64
	var wg sync.WaitGroup
	began := time.Now()
	for range callers {
		wg.Go(func() {
			for i := next.Add(1); i <= uint64(n); i = next.Add(1) {
				if err := op(i); err != nil {
					panic(err)
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(began).Seconds()
}

func benchBolt(b *testing.B, name string) *bolt.DB {
	b.Helper()
	db, err := bolt.Open(filepath.Join(b.TempDir(), name), 0o600, disk.BoltOptions())
	must(b, err)
	must(b, db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("x")); return err }))
	b.Cleanup(func() { must(b, db.Close()) })
	return db
}

func putSmall(tx *bolt.Tx, i uint64) error {
	return tx.Bucket([]byte("x")).Put(binary.BigEndian.AppendUint64(nil, i), make([]byte, 40))
}

// BenchmarkGroupCommit measures one committer goroutine against db.Batch and against one operation per transaction, in one
// run, so that the ratios hold on a busy machine. Measured before: 2.6, 20 and 69 times one operation per transaction at
// 10, 100 and 1,000 callers, and 6, 4.5 and 1 times db.Batch, which waits on a timer.
func BenchmarkGroupCommit(b *testing.B) {
	for _, callers := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			n := max(b.N, 300)
			single := benchBolt(b, "single")
			alone := opsPerSecond(1, min(n, 1000), func(i uint64) error {
				return single.Update(func(tx *bolt.Tx) error { return putSmall(tx, i) })
			})
			batched := benchBolt(b, "batch")
			batch := opsPerSecond(callers, min(n, callers*100), func(i uint64) error {
				return batched.Batch(func(tx *bolt.Tx) error { return putSmall(tx, i) })
			})
			db := start(b, "")
			value := make([]byte, 40)
			ctx := context.Background()
			b.ResetTimer()
			group := opsPerSecond(callers, n, func(i uint64) error {
				return db.Write(ctx, func(tx engine.Tx) error {
					return own(tx).PutBlob(tState, key.Uint64(i), value)
				})
			})
			b.StopTimer()
			b.ReportMetric(group, "ops/s")
			b.ReportMetric(group/alone, "x_one_per_tx")
			b.ReportMetric(group/batch, "x_db.Batch")
		})
	}
}

// BenchmarkJobCycle claims and completes jobs from 100 callers, two writes each, and measures it against two bare writes.
func BenchmarkJobCycle(b *testing.B) {
	for _, finished := range []int{0, 100_000} {
		b.Run(fmt.Sprint("finished=", finished), func(b *testing.B) {
			db := start(b, "")
			finish(b, db, finished)
			n := max(b.N, 200)
			ids := make([]engine.JobID, n+1)
			must(b, db.Write(context.Background(), func(tx engine.Tx) error {
				for i := range ids {
					a, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Args: []byte(`{"match":"EUW1_1234567890"}`)})
					if err != nil {
						return err
					}
					ids[i] = a[0].ID
				}
				return nil
			}))
			b.ResetTimer()
			rate := opsPerSecond(100, n, func(i uint64) error {
				if err := moveTo(db, ids[i], engine.Running); err != nil {
					return err
				}
				return moveTo(db, ids[i], engine.Completed)
			})
			b.StopTimer()
			bare := opsPerSecond(100, 2*n, func(i uint64) error {
				return db.Write(context.Background(), func(tx engine.Tx) error {
					return own(tx).PutBlob(tState, key.Uint64(i), make([]byte, 40))
				})
			})
			b.ReportMetric(rate, "jobs/s")
			b.ReportMetric(rate/(bare/2), "x_bare_committer")
		})
	}
}

func moveTo(db *DB, id engine.JobID, to engine.State) error {
	return db.Write(context.Background(), func(tx engine.Tx) error {
		j, err := db.Job(tx, id)
		if err != nil {
			return err
		}
		j.State = to
		j.Rev++
		return db.SaveJob(tx, j)
	})
}

// finish fills the archive with n completed jobs.
func finish(b *testing.B, db *DB, n int) {
	b.Helper()
	for done := 0; done < n; done += 10_000 {
		must(b, db.Write(context.Background(), func(tx engine.Tx) error {
			for i := range 10_000 {
				a, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: fmt.Sprint("match:EUW1_", done+i), Args: []byte(`{"match":"EUW1_1234567890"}`)})
				if err != nil {
					return err
				}
				j, err := db.Job(tx, a[0].ID)
				if err != nil {
					return err
				}
				j.State, j.Rev = engine.Completed, 2
				if err := db.SaveJob(tx, j); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// BenchmarkPutPayload stores matches of 10 KB and timelines of 48 KB from eight callers and prints how much larger the
// shard is than what it holds.
func BenchmarkPutPayload(b *testing.B) {
	p := payloads(b)
	body := []byte(strings.Repeat("0123456789abcdef", 48<<10/16))
	ref := league.PayloadRef{Month: testMonth, Codec: "gzip", Size: len(body), RawLen: 473_000, CRC: 1}
	n := max(b.N, 200)
	rate := opsPerSecond(8, n, func(i uint64) error {
		id := fmt.Sprintf("EUW1_%010d", i)
		if err := p.Put(context.Background(), id, league.PartMatch, ref, body[:10<<10]); err != nil {
			return err
		}
		return p.Put(context.Background(), id, league.PartTimeline, ref, body)
	})
	var used int64
	must(b, p.With(testMonth, false, func(s *payload.Shard) error {
		return s.Bolt.View(func(tx *bolt.Tx) error { used = tx.Size(); return nil })
	}))
	b.ReportMetric(rate, "matches/s")
	b.ReportMetric(float64(used)/float64(n*(58<<10)), "x_wire_bytes")
}

// BenchmarkOpen opens a store of 100,000 matches: the preflight, and bbolt's own opening after a stop in order, which has
// left the list of free pages, and after a kill, which has not.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	db, err := Open(Options{Dir: dir})
	must(b, err)
	stop := serve(b, db)
	for done := 0; done < 100_000; done += 10_000 {
		write(b, db, func(tx engine.Tx) error {
			for i := range 10_000 {
				m := league.Match{ID: fmt.Sprintf("EUW1_%010d", done+i), Mode: "CLASSIC", Patch: "26.22", Played: noon, Listed: noon}
				if err := db.SaveMatch(tx, m, false); err != nil {
					return err
				}
			}
			return nil
		})
	}
	stop()
	must(b, db.Close())
	var walked, clean, killed time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := disk.Preflight(disk.StatePath(dir)); err != nil {
			b.Fatal(err)
		}
		walked += time.Since(began)
		clean += openBare(b, dir, true)
		killed += openBare(b, dir, false)
	}
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(per(walked), "ms-preflight")
	b.ReportMetric(per(clean), "ms-bbolt-after-stop")
	b.ReportMetric(per(killed), "ms-bbolt-after-kill")
	b.ReportMetric(0, "ns/op")
}

// openBare opens the state file with bbolt alone, and leaves it as the other kind of stop does.
func openBare(b *testing.B, dir string, afterStop bool) time.Duration {
	began := time.Now()
	file, err := bolt.Open(disk.StatePath(dir), disk.FileMode, disk.BoltOptions())
	must(b, err)
	took := time.Since(began)
	file.NoFreelistSync = afterStop
	must(b, file.Update(func(*bolt.Tx) error { return nil }))
	must(b, file.Close())
	return took
}
