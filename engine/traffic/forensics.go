package traffic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// cases are the 429s that were looked into. They are stored: who looks for the
// cause of a bad night finds an engine that was started again. They are looked into when somebody asks
// and once a second, before the recorder loses what led to them.
type cases struct {
	calls *recorder
	store keeper

	mu    sync.Mutex
	list  []engine.Forensics // ascending by number
	seen  uint64             // the last call that was looked at
	fresh bool               // list holds what is not stored yet
	saved time.Time
}

const (
	casesState = "forensics"
	// casesKept bounds what is stored, and saveCasesEvery how often a storm of 429s
	// writes it.
	casesKept      = 32
	saveCasesEvery = 10 * time.Second
)

// find says what led to a 429 (I-9). Errors are *engine.Problem. A number that is none of the cases is
// looked up in the recorder, which tells "no 429" from "not known".
func (k *cases) find(q engine.ForensicsQuery) (engine.Forensics, error) {
	k.collect()
	k.mu.Lock()
	list := slices.Clone(k.list)
	k.mu.Unlock()
	f, err := pickCase(list, q)
	if err == nil || q.Seq == 0 {
		return f, err
	}
	calls, cut := k.calls.upTo(q.Seq)
	if n := len(calls); n > 0 && calls[n-1].Seq == q.Seq {
		if calls[n-1].Status != 429 {
			return f, engine.Problemf(engine.ErrInvalid, "name the call of a 429, or none for the latest",
				"call %d was answered with %s", q.Seq, answerWord(calls[n-1].Status))
		}
		return inspect(calls, cut), nil
	}
	return f, err
}

// answerWord is how a person is told of a status: "404", or "nothing" where no answer came.
func answerWord(status int) string {
	if status == 0 {
		return "nothing"
	}
	return fmt.Sprint(status)
}

// pickCase finds a 429 by number, or the latest, and adds the numbers of the rest.
func pickCase(list []engine.Forensics, q engine.ForensicsQuery) (engine.Forensics, error) {
	at := len(list) - 1
	if q.Seq != 0 {
		at = slices.IndexFunc(list, func(f engine.Forensics) bool { return f.Call.Seq == q.Seq })
	}
	switch {
	case at < 0 && q.Seq == 0:
		return engine.Forensics{}, engine.Problemf(engine.ErrNotFound, "",
			"no 429 is known: Riot has refused no call that is still recorded")
	case at < 0:
		return engine.Forensics{}, engine.Problemf(engine.ErrNotFound, "name none for the latest 429",
			"no call %d is recorded", q.Seq)
	}
	f := list[at]
	for i := range slices.Backward(list) {
		if i != at {
			f.Others = append(f.Others, list[i].Call.Seq)
		}
	}
	return f, nil
}

// collect looks into the 429s since the last time.
func (k *cases) collect() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, row := range k.calls.after(k.seen) {
		k.seen = row.Seq
		if row.Status != 429 {
			continue
		}
		calls, cut := k.calls.upTo(row.Seq)
		if len(calls) == 0 {
			continue // pushed out in this very instant
		}
		k.list = append(k.list, inspect(calls, cut))
		k.fresh = true
	}
	if over := len(k.list) - casesKept; over > 0 {
		k.list = slices.Delete(k.list, 0, over)
	}
}

// forgets takes off whose calls they were, and which. collect has looked into all that the recorder held.
func (k *cases) forgets() {
	k.collect()
	k.calls.forgets()
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.list {
		c := &k.list[i].Call
		k.fresh = k.fresh || c.Owner+c.Target != ""
		c.Owner, c.Target = "", ""
	}
}

// save stores what is new. A store that cannot take it is asked again later. The lock is let go for the
// write. last writes at once, for an engine that ends.
func (k *cases) save(ctx context.Context, now time.Time, last bool) {
	k.collect()
	k.mu.Lock()
	if !k.fresh || !last && now.Sub(k.saved) < saveCasesEvery {
		k.mu.Unlock()
		return
	}
	// It is marked as stored before it is: what comes in during the write marks it again.
	k.saved, k.fresh = now, false
	blob, err := json.Marshal(k.list)
	k.mu.Unlock()
	if err == nil {
		err = k.store.SaveState(ctx, casesState, blob)
	}
	if err != nil {
		k.mu.Lock()
		k.fresh = true
		k.mu.Unlock()
	}
}

// restore takes over what was looked into before. Nothing depends on it: what
// cannot be read is begun anew. Numbers of calls go on behind the stored ones, so that one number never
// means two calls.
func (k *cases) restore(ctx context.Context) {
	list, err := storedCases(ctx, k.store)
	if err != nil || len(list) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	newest := list[len(list)-1].Call.Seq
	k.list, k.seen = list, newest
	k.calls.goOnFrom(newest)
}

// storedCases reads what save wrote, the oldest first; nil when nothing was ever written.
func storedCases(ctx context.Context, store Loader) (list []engine.Forensics, err error) {
	_, err = engine.LoadStored(ctx, store, casesState, &list)
	return list, err
}

// StoredForensics says what led to a 429 by what the last engine has stored.
func StoredForensics(ctx context.Context, store Loader, q engine.ForensicsQuery) (engine.Forensics, error) {
	list, err := storedCases(ctx, store)
	if err != nil {
		return engine.Forensics{}, err
	}
	return pickCase(list, q)
}
