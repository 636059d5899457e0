package storage

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// A live job is three records, so that the one that changes with each move stays small: its spec,
// its state, and (only after a failure) its error. An ended one is all of it in one record. Job b41
// (number 41) while it waits for its second try:
//
// 	job_state  00 00 00 00 00 00 00 29 -> retryable, revision 5, tries 1, due …
// 	job_spec   00 00 00 00 00 00 00 29 -> match.fetch, queue, key "match:KR_7214550881", arguments, created …
// 	job_error  00 00 00 00 00 00 00 29 -> class "503", text of the last failure
// 	job_key    "match:KR_7214550881"   -> 41
//
// When it ends, these four rows go and archive gets one row under the same number.

var (
	tJobState = collection.Declare(
		collection.New("job_state", "u64 id",
			"state, revision, tries, due, worker …: 15 to 50 bytes. It alone changes while a job lives"),
		collection.Records[engine.Job]{Format: 6, Fields: liveFields, Key: byID})
	tJobSpec = collection.Declare(
		collection.New("job_spec", "u64 id", "kind, queue, key, lock, owner, policy, arguments; seldom changes"),
		collection.Records[engine.Job]{Format: 7, Fields: specFields})
	tJobError = collection.Declare(
		collection.New("job_error", "u64 id", "class and text of the last failure; absent when there is none"),
		collection.Records[engine.Job]{Format: 8, Fields: errorFields})
	tArchive = collection.Declare(
		collection.New("archive", "u64 id", "an ended job: spec, state and error in one").Grows(),
		collection.Records[engine.Job]{Format: 9, Fields: archivedFields, Key: byID,
			Indexes: []collection.Index[engine.Job]{archiveState},
			Counts: func(j *engine.Job) []string {
				if j.State != engine.Discarded {
					return nil
				}
				return []string{countDiscards + string(j.Queue)}
			},
		})
	archiveState = collection.Index[engine.Job]{
		Table: collection.New("archive_state", "state byte, u64 id", "marker; discarded and cancelled jobs only"),
		Rows: func(j *engine.Job) []collection.Entry {
			if !listed(j.State) {
				return nil
			}
			return []collection.Entry{{Key: string(stateKey(j.State, key.Uint64(mustNumber(j.ID))))}}
		},
		Of:      func(e collection.Entry) []byte { return []byte(e.Key[min(len(e.Key), 1):]) },
		Missing: "is not listed by its state",
		Wrong:   "lists a job of another state",
	}
)

// byID is the key of a job's records.
func byID(c *key.Coder, j *engine.Job) { keyJob(c, &j.ID) }

func specFields(c *rec.Coder, j *engine.Job) {
	c.Str((*string)(&j.Kind), (*string)(&j.Queue), &j.Key, &j.Lock, &j.Owner)
	c.Byte((*byte)(&j.Priority))
	c.Str(&j.Policy)
	c.Bytes((*[]byte)(&j.Args))
	c.Time(&j.Created)
}

func stateFields(c *rec.Coder, j *engine.Job) {
	c.Byte((*byte)(&j.State))
	c.Flags(&j.Front, &j.HasParents, &j.CancelAsked)
	c.Byte((*byte)(&j.Hold))
	c.Uint((*uint64)(&j.Rev))
	c.Int(&j.Phase, &j.Round, &j.Tries, &j.Attempts, &j.Holds, &j.Crashes, &j.Group)
	c.Time(&j.Due, &j.Started, &j.Finished)
	c.Str(&j.Boot)
}

func errorFields(c *rec.Coder, j *engine.Job) { c.Str((*string)(&j.Class), &j.LastError) }

// addedFields came to jobs after the first release: at the end of a state record and of an archived
// one.
func addedFields(c *rec.Coder, j *engine.Job) {
	if c.More(j.By != "" || j.Worker != 0 || j.Bytes != 0 || len(j.Failed) > 0) {
		c.Str(&j.By)
		c.Int(&j.Worker, &j.Bytes)
	}
	if c.More(len(j.Failed) > 0) {
		rec.List(c, &j.Failed, 1, func(c *rec.Coder, at *time.Time) { c.Time(at) })
	}
}

func liveFields(c *rec.Coder, j *engine.Job) {
	stateFields(c, j)
	addedFields(c, j)
}

func archivedFields(c *rec.Coder, j *engine.Job) {
	specFields(c, j)
	stateFields(c, j)
	errorFields(c, j)
	addedFields(c, j)
}

// readJob gives the live or ended job under k; ok is false when there is none.
func (t *txn) readJob(k []byte) (j engine.Job, ok bool, err error) {
	if j, ok, err = t.readLive(k); ok || err != nil {
		return j, ok, err
	}
	return tArchive.Get(t, k)
}

// readLive gives the live job under k. It reads into the transaction's own job, so that reading
// many costs no memory for each.
func (t *txn) readLive(k []byte) (j engine.Job, ok bool, err error) {
	// Fields of the job that was read before must not show through where a record has none.
	t.live = engine.Job{}
	if ok, err = tJobState.Add(t, k, &t.live); ok {
		ok, err = t.readRest(k, &t.live)
	}
	return t.live, ok, err
}

// readRest adds what the state record of a live job does not tell.
func (t *txn) readRest(k []byte, j *engine.Job) (ok bool, err error) {
	ok, err = tJobSpec.Add(t, k, j)
	if err == nil && !ok {
		// A state without a spec cannot run: nobody knows what it is. A missing error record only
		// says that nothing has failed.
		err = tJobSpec.Corrupt(k, collection.ErrMissing)
	}
	if err == nil {
		_, err = tJobError.Add(t, k, j)
	}
	return err == nil, err
}

// putLive writes what differs of a live job's records. known says that old is what they hold now;
// otherwise state and spec are written whole, as a new job needs it and one that is opened again.
func (t *txn) putLive(k []byte, j, old *engine.Job, known bool) error {
	if err := tJobState.Put(t, k, j); err != nil {
		return err
	}
	if !known || !sameSpec(j, old) {
		if err := tJobSpec.Put(t, k, j); err != nil {
			return err
		}
	}
	if known && j.Class == old.Class && j.LastError == old.LastError {
		return nil
	}
	// A retry by an operator clears the failure.
	if j.Class == "" && j.LastError == "" {
		return t.Remove(tJobError.Table, k)
	}
	return tJobError.Put(t, k, j)
}

// sameSpec reports whether the spec record of a job, the largest of the three, may stay as it is.
func sameSpec(a, b *engine.Job) bool {
	return a.Kind == b.Kind && a.Queue == b.Queue && a.Key == b.Key && a.Lock == b.Lock && a.Owner == b.Owner &&
		a.Priority == b.Priority && a.Policy == b.Policy && string(a.Args) == string(b.Args) && a.Created.Equal(b.Created)
}

var (
	// A job that ends moves from the first to the second: the key is free, and still leads to what
	// became of it.
	tJobKey     = collection.New("job_key", "unique key as it is", "u64 id of the live job that holds it")
	tArchiveKey = collection.New("archive_key", "unique key as it is", "u64 id of the latest ended job that had it")
)

// listed reports whether ended jobs of this state are listed by it: the failed ones, not the many
// completed ones.
func listed(s engine.State) bool { return s == engine.Discarded || s == engine.Cancelled }

func stateKey(s engine.State, k []byte) []byte { return append([]byte{byte(s)}, k...) }

// countDiscards is the counter of a queue's discarded jobs, and the queue's name.
const countDiscards = "discarded."

func jobID(n uint64) engine.JobID { return engine.JobID(key.JobID(n)) }

// jobNumber is the opposite of jobID; ErrNotFound for what no job can be called.
func jobNumber(id engine.JobID) (uint64, error) {
	n, ok := key.JobNumber(string(id))
	if !ok {
		return 0, noJob(id)
	}
	return n, nil
}

// noJob is the error of an id that no job has, as `job "b41": not found`.
func noJob(id engine.JobID) error { return fmt.Errorf("job %q: %w", id, engine.ErrNotFound) }

// jobKey is the key of a job's rows.
func jobKey(id engine.JobID) ([]byte, error) {
	n, err := jobNumber(id)
	if err != nil {
		return nil, err
	}
	return key.Uint64(n), nil
}

// jobKey is the same in the transaction's memory.
func (t *txn) jobKey(id engine.JobID) ([]byte, error) {
	n, err := jobNumber(id)
	if err != nil {
		return nil, err
	}
	return t.NumberKey(n), nil
}

// keyJob is a job's number in a key.
func keyJob(c *key.Coder, id *engine.JobID) {
	var n uint64
	if !c.Reading() {
		n = mustNumber(*id)
	}
	if c.Uint64(&n); c.Reading() {
		*id = jobID(n)
	}
}

// mustNumber is jobNumber for an id that has been checked already.
func mustNumber(id engine.JobID) uint64 {
	n, _ := jobNumber(id)
	return n
}

// Every id that is anybody's, of an account, a run, a match or a job, has its transitions:
//
//	"EUW1_7012345678", 3 -> 2026-11-21T14:00:00Z, "unfetched" to "success", by "engine"
var tHistory = collection.Declare(
	collection.New("history", "str id, u64 n", "one transition; the last 50 per id").BelongsTo(ofAccount|ofRun|ofMatch),
	collection.Records[transition]{
		Format: 15,
		Key: func(c *key.Coder, tr *transition) {
			c.Str(&tr.Of)
			c.Uint64(&tr.Seq)
		},
		Fields: func(c *rec.Coder, tr *transition) {
			c.Time(&tr.At)
			c.Str(&tr.From, &tr.To, &tr.Reason, &tr.Actor)
		}})

// transition is one, with the id of what has moved.
type transition struct {
	engine.Transition
	Of string
}

// maxHistory transitions are kept per id.
// A match that fails for weeks would otherwise have a transition for each try.
const maxHistory = 50

// AddHistory appends one transition of anything that has an id. Seq is given here; the order is by
// it, not by time, since clocks step back.
func (db *DB) AddHistory(tx engine.Tx, id string, tr engine.Transition) error {
	return tHistory.KeepLast(own(tx), key.Strings(id), maxHistory, &transition{Transition: tr, Of: id})
}

// history gives the last transitions of an id, oldest first.
func (t *txn) history(id string) (list []engine.Transition, err error) {
	for tr, err := range tHistory.Under(t, key.Strings(id)) {
		if err != nil {
			return nil, err
		}
		list = append(list, tr.Transition)
	}
	return list, nil
}
