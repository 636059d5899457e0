package storage

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// A live job is three records, so that the one that changes with each move stays small: its spec, its state, and (only
// after a failure) its error. An ended one is all of it in one record.

func encodeSpec(e *rec.Enc, j *engine.Job) {
	e.Str(string(j.Kind))
	e.Str(string(j.Queue))
	e.Str(j.Key)
	e.Str(j.Lock)
	e.Str(j.Owner)
	e.Byte(byte(j.Priority))
	e.Str(j.Policy)
	e.Bytes(j.Args)
	e.Time(j.Created)
}

func decodeSpec(d *rec.Dec, j *engine.Job) {
	j.Kind = engine.Kind(d.Str())
	j.Queue = engine.Queue(d.Str())
	j.Key = d.Str()
	j.Lock = d.Str()
	j.Owner = d.Str()
	j.Priority = engine.Priority(d.Byte())
	j.Policy = d.Str()
	j.Args = d.Bytes()
	j.Created = d.Time()
}

// encodeAdded writes what came to jobs after the first release: at the end of a state record and of an archived one, and
// only where there is something to say (rec.Dec.More).
func encodeAdded(e *rec.Enc, j *engine.Job) {
	if j.By == "" && j.Worker == 0 && j.Bytes == 0 {
		return
	}
	e.Str(j.By)
	e.Int(int64(j.Worker))
	e.Int(int64(j.Bytes))
}

func decodeAdded(d *rec.Dec, j *engine.Job) {
	if d.More() {
		j.By, j.Worker, j.Bytes = d.Str(), d.Num(), d.Num()
	}
}

// Flags of a state record.
const (
	flagFront = 1 << iota
	flagParents
	flagCancel
)

func encodeState(e *rec.Enc, j *engine.Job) {
	e.Byte(byte(j.State))
	e.Byte(flags(j))
	e.Byte(byte(j.Hold))
	e.Uint(uint64(j.Rev))
	e.Int(int64(j.Phase))
	e.Int(int64(j.Round))
	e.Int(int64(j.Tries))
	e.Int(int64(j.Attempts))
	e.Int(int64(j.Holds))
	e.Int(int64(j.Crashes))
	e.Int(int64(j.Group))
	e.Time(j.Due)
	e.Time(j.Started)
	e.Time(j.Finished)
	e.Str(j.Boot)
}

func decodeState(d *rec.Dec, j *engine.Job) {
	j.State = engine.State(d.Byte())
	f := d.Byte()
	j.Front, j.HasParents, j.CancelAsked = f&flagFront != 0, f&flagParents != 0, f&flagCancel != 0
	j.Hold = engine.Hold(d.Byte())
	j.Rev = engine.Revision(d.Uint())
	j.Phase, j.Round, j.Tries, j.Attempts = d.Num(), d.Num(), d.Num(), d.Num()
	j.Holds, j.Crashes, j.Group = d.Num(), d.Num(), d.Num()
	j.Due, j.Started, j.Finished = d.Time(), d.Time(), d.Time()
	j.Boot = d.Str()
}

func flags(j *engine.Job) (f byte) {
	if j.Front {
		f |= flagFront
	}
	if j.HasParents {
		f |= flagParents
	}
	if j.CancelAsked {
		f |= flagCancel
	}
	return f
}

func encodeError(e *rec.Enc, j *engine.Job) {
	e.Str(string(j.Class))
	e.Str(j.LastError)
}

func decodeError(d *rec.Dec, j *engine.Job) {
	j.Class = engine.Class(d.Str())
	j.LastError = d.Str()
}

// Guesses of what the parts take, in bytes: no less than they do as a rule.

func specSize(j *engine.Job) int {
	return 24 + len(j.Kind) + len(j.Queue) + len(j.Key) + len(j.Lock) + len(j.Owner) + len(j.Policy) + len(j.Args)
}

func stateSize(j *engine.Job) int { return 48 + len(j.Boot) + len(j.By) }

func errorSize(j *engine.Job) int { return 4 + len(j.Class) + len(j.LastError) }

func (t *Tx) putSpec(k []byte, j *engine.Job) error {
	e := t.enc(fJobSpec, specSize(j))
	encodeSpec(&e, j)
	err := t.put(tJobSpec, k, &e)
	if t.specs.watching() {
		t.specs.wrote(k, t.value(tJobSpec, k))
	}
	return err
}

func (t *Tx) putState(k []byte, j *engine.Job) error {
	e := t.enc(fJobState, stateSize(j))
	encodeState(&e, j)
	encodeAdded(&e, j)
	return t.put(tJobState, k, &e)
}

func (t *Tx) putError(k []byte, j *engine.Job) error {
	e := t.enc(fJobError, errorSize(j))
	encodeError(&e, j)
	return t.put(tJobError, k, &e)
}

func (t *Tx) putArchived(k []byte, j *engine.Job) error {
	e := t.enc(fArchived, specSize(j)+stateSize(j)+errorSize(j))
	encodeSpec(&e, j)
	encodeState(&e, j)
	encodeError(&e, j)
	encodeAdded(&e, j)
	return t.put(tArchive, k, &e)
}

// readJob gives the live or ended job under k; ok is false when there is none.
func (t *Tx) readJob(k []byte) (j engine.Job, ok bool, err error) {
	if j, ok, err = t.readLive(k); ok || err != nil {
		return j, ok, err
	}
	return t.readEnded(k)
}

func (t *Tx) readLive(k []byte) (j engine.Job, ok bool, err error) {
	v := t.value(tJobState, k)
	if v == nil {
		return j, false, nil
	}
	if j, err = decodeLive(k, v); err != nil {
		return j, false, err
	}
	return t.readRest(k, j)
}

// decodeLive reads what the state record of a live job says; readRest adds the other records.
func decodeLive(k, v []byte) (j engine.Job, err error) {
	body, err := tJobState.body(k, v, fJobState)
	if err != nil {
		return j, err
	}
	d := rec.NewDec(body)
	decodeState(d, &j)
	decodeAdded(d, &j)
	j.ID = jobID(key.Read(k).Uint64())
	return j, tJobState.done(k, d)
}

func (t *Tx) readRest(k []byte, j engine.Job) (engine.Job, bool, error) {
	v := t.value(tJobSpec, k)
	if v == nil {
		return j, false, tJobSpec.corrupt(k, errMissing)
	}
	body, err := tJobSpec.body(k, v, fJobSpec)
	if err != nil {
		return j, false, err
	}
	d := rec.NewDec(body)
	decodeSpec(d, &j)
	if err := tJobSpec.done(k, d); err != nil {
		return j, false, err
	}
	d, ok, err := t.get(tJobError, k, fJobError)
	if err != nil || !ok {
		return j, err == nil, err
	}
	decodeError(d, &j)
	return j, true, tJobError.done(k, d)
}

func (t *Tx) readEnded(k []byte) (j engine.Job, ok bool, err error) {
	v := t.value(tArchive, k)
	if v == nil {
		return j, false, nil
	}
	j, err = decodeEnded(k, v)
	return j, err == nil, err
}

func decodeEnded(k, v []byte) (j engine.Job, err error) {
	d, err := tArchive.open(k, v, fArchived)
	if err != nil {
		return j, err
	}
	decodeSpec(d, &j)
	decodeState(d, &j)
	decodeError(d, &j)
	decodeAdded(d, &j)
	j.ID = jobID(key.Read(k).Uint64())
	return j, tArchive.done(k, d)
}

// putLive writes what differs of a live job's records.
func (t *Tx) putLive(k []byte, j, old *engine.Job, known bool) error {
	if err := t.putState(k, j); err != nil {
		return err
	}
	if !known || !sameSpec(j, old) {
		if err := t.putSpec(k, j); err != nil {
			return err
		}
	}
	if known && j.Class == old.Class && j.LastError == old.LastError {
		return nil
	}
	if j.Class == "" && j.LastError == "" {
		return t.remove(tJobError, k)
	}
	return t.putError(k, j)
}

func sameSpec(a, b *engine.Job) bool {
	return a.Kind == b.Kind && a.Queue == b.Queue && a.Key == b.Key && a.Lock == b.Lock && a.Owner == b.Owner &&
		a.Priority == b.Priority && a.Policy == b.Policy && string(a.Args) == string(b.Args) && a.Created.Equal(b.Created)
}
