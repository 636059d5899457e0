package filter

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

type job = engine.JobRow

// Bits of a job's state word: each state's own, and one for HELD, which is
// scheduled as well.
const (
	bitPending uint64 = 1 << iota
	bitAvailable
	bitScheduled
	bitRunning
	bitRetryable
	bitCompleted
	bitCancelled
	bitDiscarded
	bitHeld

	bitsLive  = bitPending | bitAvailable | bitScheduled | bitRunning | bitRetryable
	bitsEnded = bitCompleted | bitCancelled | bitDiscarded
)

// jobWords are the engine's words with those of other tools and older screens.
var jobWords = []Word{
	{Name: "pending", Bits: bitPending, Help: "waits for children or an operator"},
	{Name: "available", Aliases: []string{"ready", "queued", "waiting"}, Bits: bitAvailable, Help: "may run now"},
	{Name: "scheduled", Bits: bitScheduled, Help: "not before an instant; held ones too"},
	{Name: "held", Aliases: []string{"snoozed"}, Bits: bitHeld, Help: "sent back uncharged, until its reason ends"},
	{Name: "running", Aliases: []string{"active"}, Bits: bitRunning},
	{Name: "retryable", Aliases: []string{"retrying"}, Bits: bitRetryable, Help: "failed, has a next try"},
	{Name: "completed", Aliases: []string{"done"}, Bits: bitCompleted},
	{Name: "cancelled", Aliases: []string{"canceled"}, Bits: bitCancelled},
	{Name: "discarded", Aliases: []string{"dead", "gave up"}, Bits: bitDiscarded, Help: "tries used up, or a permanent error"},
	{Name: "failed", Bits: bitRetryable | bitDiscarded, Help: "retryable or discarded"},
	{Name: "live", Bits: bitsLive, Help: "every state that may still move by itself"},
	{Name: "ended", Aliases: []string{"terminal"}, Bits: bitsEnded, Help: "completed, cancelled or discarded"},
}

// holdWords are the words of engine.Hold by its value.
var holdWords = func() []Word {
	words := []Word{{Name: "none", Bits: 1, Help: "not held"}}
	for h := engine.HoldThrottled; h <= engine.HoldFrozen; h++ {
		words = append(words, Word{Name: h.String(), Bits: 1 << h})
	}
	return words
}()

// Jobs is the schema of job lists: Jobs, Retries and the command jobs.
var Jobs = New(Options{
	Free:  []string{"key", "id", "queue", "kind", "state", "class", "err", "why", "owner", "player"},
	Fuzzy: []string{"key", "queue", "kind"},
	Age:   "age", When: "created",
	Keys: []string{"match", "timeline", "full", "latest", "rank", "report", "resolve", "weekly", "alert.call"},
},
	Field[job]{Name: "job", Help: "key or id", Of: []string{"key", "id"}},
	field("key", Name, "what makes it the only one of its kind", func(r *job) Value { return Text(r.Key) }),
	field("id", Name, "", func(r *job) Value { return Text(r.ID) }),
	field("queue", Name, "", func(r *job) Value { return Text(r.Queue) }),
	field("kind", Name, "which handler runs it", func(r *job) Value { return Text(r.Kind) }),
	Field[job]{Name: "state", Kind: Enum, Words: jobWords, Value: jobState},
	Field[job]{Name: "hold", Kind: Enum, Words: holdWords, Help: "why it was sent back uncharged", Value: jobHold},
	field("try", Number, "charged attempts of this round", func(r *job) Value { return Count(r.Tries) }, "tries"),
	field("attempts", Number, "charged attempts of all rounds", func(r *job) Value { return Count(r.Attempts) }),
	field("holds", Number, "how often it was sent back uncharged", func(r *job) Value { return Count(r.Holds) }),
	field("round", Number, "", func(r *job) Value { return Count(r.Round) }),
	field("phase", Number, "how often it has waited for children", func(r *job) Value { return Count(r.Phase) }),
	field("crashes", Number, "interruptions in a row", func(r *job) Value { return Count(r.Crashes) }),
	field("priority", Number, "1 runs first", func(r *job) Value { return Count(r.Priority) }, "prio"),
	Field[job]{Name: "place", Kind: Number, Help: "in its line, 1 is next", Value: jobPlace},
	Field[job]{Name: "age", Kind: Duration, Help: "running so long, ended so long ago, or else since created", Value: jobAge},
	Field[job]{Name: "due", Aliases: []string{"next"}, Kind: Ahead, Help: "when it may run", Value: jobDue},
	field("created", Past, "", func(r *job) Value { return At(r.Created) }),
	field("started", Past, "its last attempt", func(r *job) Value { return At(r.Started) }),
	field("finished", Past, "", func(r *job) Value { return At(r.Finished) }, "ended"),
	field("class", Name, "fingerprint of the last failure: 429.app, 5xx, timeout", func(r *job) Value { return Text(r.Class) }),
	field("err", Prose, "of the last failure", func(r *job) Value { return Text(r.LastError) }, "error"),
	field("why", Prose, "why it does not run", func(r *job) Value { return Text(r.Why) }),
	Field[job]{Name: "result", Aliases: []string{"last"}, Help: "error, its class, or why it waits", Of: []string{"err", "why", "class"}},
	field("owner", Name, "id of the account it works for", func(r *job) Value { return Text(r.Owner) }, "account"),
	field("player", Name, "whose sync it is", func(r *job) Value { return Text(r.Player) }),
	field("policy", Name, "of its retries", func(r *job) Value { return Text(r.Policy) }),
	field("lock", Name, "", func(r *job) Value { return Text(r.Lock) }),
	Field[job]{Name: "worker", Kind: Number, Help: "that has its running or last attempt in hand", Value: jobWorker},
	field("by", Name, "who asked for it, or gave the last command on it; engine = nobody", func(r *job) Value { return Text(r.Asker()) }),
	Field[job]{Name: "bytes", Kind: Size, Help: "of what it has fetched", Value: jobBytes},
	YesNo("suspect", "three crashes in a row", func(r *job) bool { return r.Suspect() }),
	YesNo("stopping", "a cancel was asked for", func(r *job) bool { return r.CancelAsked }),
)

func jobState(r *job, _ time.Time) Value {
	bits := bitPending << r.State & (bitsLive | bitsEnded)
	if r.State == engine.Scheduled && r.Hold != engine.HoldNone {
		bits |= bitHeld
	}
	return Bits(bits)
}

func jobHold(r *job, _ time.Time) Value { return Bits(1 << r.Hold) }

func jobPlace(r *job, _ time.Time) Value {
	if r.Place == 0 {
		return Value{}
	}
	return Count(r.Place)
}

func jobWorker(r *job, _ time.Time) Value {
	if r.Worker == 0 {
		return Value{}
	}
	return Count(r.Worker)
}

func jobBytes(r *job, _ time.Time) Value {
	if r.Bytes == 0 {
		return Value{}
	}
	return Count(r.Bytes)
}

// jobAge is the AGE of the screens: how long a job has been what it is.
func jobAge(r *job, now time.Time) Value {
	switch {
	case r.State == engine.Running:
		return Since(r.Started, now)
	case r.State.Terminal():
		return Since(r.Finished, now)
	}
	return Since(r.Created, now)
}

// jobDue is the NEXT of the screens: Due counts only in states that wait for it.
func jobDue(r *job, _ time.Time) Value {
	switch r.State {
	case engine.Retryable, engine.Scheduled:
		return At(r.Due)
	case engine.Available:
		return At(r.Until)
	}
	return Value{}
}
