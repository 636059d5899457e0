package storage

import (
	"context"
	"fmt"

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

var tCallSID = collection.New("call_sid", "external id as it is",
	"u64 id of the job of kind alert.call that had it in an attempt")

// externalScan is how many of the newest attempts are looked through for an external id that is in
// no index.
const externalScan = 5000

// noteExternal makes an attempt of a call known by its external id, for whoever asks with the id of
// the call that was made. Riot's trace ids are not kept so: there is one per call to Riot, and
// nobody asks for an old one.
func (t *txn) noteExternal(k []byte, j engine.Job, a engine.Attempt) error {
	if j.Kind != engine.KindCall || !keepable(a.External) {
		return nil
	}
	return t.PutNumber(tCallSID, []byte(a.External), key.Read(k).Uint64())
}

// keepable reports whether a text can be a key of bbolt's.
func keepable(external string) bool { return external != "" && len(external) <= maxExternal }

// maxExternal bounds what the other side may make us keep as a key. Twilio's ids have 34 bytes.
const maxExternal = 256

// jobOfExternal finds the job by the external id of one of its attempts: a call's in the index, any
// other among the newest jobs' attempts. engine.ErrNotFound.
func (t *txn) jobOfExternal(external string) (engine.Job, error) {
	missing := fmt.Errorf("job with the external id %q: %w", external, engine.ErrNotFound)
	if !keepable(external) {
		return engine.Job{}, missing
	}
	n, ok, err := t.Number(tCallSID, []byte(external))
	if err != nil {
		return engine.Job{}, err
	}
	if ok {
		return t.job(jobID(n))
	}
	// The newest attempts are those of the highest job numbers, not those that ended last: an old
	// job that was tried again just now is far back.
	looked := 0
	for r := range t.RowsBack(tAttempts.Table, nil, nil) {
		if looked++; looked > externalScan {
			break
		}
		if a, err := tAttempts.Decode(r.Key, r.Value); err == nil && a.External == external {
			return t.job(jobID(key.Read(r.Key).Uint64()))
		}
	}
	return engine.Job{}, missing
}

// forgetCalls takes a job that is pruned out of the index.
func (t *txn) forgetCalls(j engine.Job) error {
	if j.Kind != engine.KindCall {
		return nil
	}
	k, err := t.jobKey(j.ID)
	if err != nil {
		return err
	}
	attempts, holds := t.attempts(k)
	for _, a := range append(attempts, holds...) {
		if !keepable(a.External) {
			continue
		}
		// A call's id is in one attempt only, so nobody else needs the row.
		if err := t.Remove(tCallSID, []byte(a.External)); err != nil {
			return err
		}
	}
	return nil
}
