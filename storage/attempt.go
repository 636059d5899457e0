package storage

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var (
	// Job b41 after two tries and a hold between them:
	//
	//	41, 1 -> number 1, round 1, 14:00:00 to 14:00:01, class "503"
	//	41, 2 -> number 0, a hold until the bucket opens
	//	41, 3 -> number 2, round 1, done
	tAttempts = collection.Declare(
		collection.New("attempts", "u64 id, u64 n", "one closed attempt of a live or ended job, or a hold (number 0)").
			Grows().BelongsTo(ofJob),
		collection.Records[engine.Attempt]{Format: 10, Fields: attemptFields})
	tRecent = collection.Declare(
		collection.New("recent", "str owner, u64 n", "u64 id, u64 n of an attempt; the last 200 per owner").
			BelongsTo(ofAccount),
		collection.Records[attemptAt]{Format: 11, Fields: func(c *rec.Coder, a *attemptAt) { c.Uint(&a.job, &a.n) }})
)

// attemptAt is the key of an attempt.
type attemptAt struct{ job, n uint64 }

// key is that of the attempt: the same sixteen bytes of job and number as in table attempts.
func (a attemptAt) key() []byte { return key.AppendUint64(key.Uint64(a.job), a.n) }

// attemptFields are those of an attempt, in their order for good. The worker came later and stands at
// the end, so that an attempt from before has none; it is 0 then.
func attemptFields(c *rec.Coder, a *engine.Attempt) {
	c.Int(&a.Number, &a.Round, &a.Try, &a.Phase)
	c.Uint((*uint64)(&a.Rev))
	c.Time(&a.Start, &a.End)
	c.Byte((*byte)(&a.Verb), (*byte)(&a.Hold))
	c.Str((*string)(&a.Class), &a.Err, &a.External)
	c.Int(&a.Status)
	c.Dur(&a.Queued, &a.Paced, &a.Limiter, &a.HTTP)
	c.Time(&a.Next)
	c.Str(&a.Decision)
	if c.More(a.Worker != 0) {
		c.Int(&a.Worker)
	}
}

// attempts gives a job's closed attempts and its holds, oldest first. One that cannot be read is
// left out.
func (t *txn) attempts(job []byte) (attempts, holds []engine.Attempt) {
	for a, err := range tAttempts.Under(t, job) {
		switch {
		case err != nil:
		// A hold is a pause that was charged no attempt, such as a wait for a closed bucket.
		case a.Number == 0:
			holds = append(holds, a)
		default:
			attempts = append(attempts, a)
		}
	}
	return attempts, holds
}

// Recent gives the attempts of an account's jobs that ended last, newest first, at most 200.
func (db *DB) Recent(ctx context.Context, account string, n int) (list []engine.Attempt, err error) {
	err = db.view(ctx, func(t *txn) error {
		t.eachRecent(account, n, func(_ []byte, a engine.Attempt) { list = append(list, a) })
		return nil
	})
	return list, err
}

// Spent tells where the time of an account's last n attempts went, the newest first.
// It is what the screen of an account shows of the limiter, the wire and the queue.
func (db *DB) Spent(ctx context.Context, account string, n int) (list []engine.Spent, err error) {
	err = db.view(ctx, func(t *txn) error {
		t.eachRecent(account, n, func(job []byte, a engine.Attempt) {
			j, _, _ := t.readJob(job) // one that cannot be read has no kind; check names it
			list = append(list, a.Spent(j.Kind))
		})
		return nil
	})
	return list, err
}

// eachRecent goes through the last n attempts of an account's jobs, the newest first.
func (t *txn) eachRecent(account string, n int, tell func(job []byte, a engine.Attempt)) {
	for at, err := range tRecent.Back(t, key.Strings(account), nil) {
		if n == 0 {
			return
		}
		if err != nil {
			continue // the list is a convenience; check names what is corrupt
		}
		if a, ok, err := tAttempts.Get(t, at.key()); ok && err == nil {
			tell(key.Uint64(at.job), a)
			n--
		}
	}
}
