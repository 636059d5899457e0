package columns

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type job = engine.JobRow

// Jobs is what is told of a job, on every surface. Filters offer the columns in this order.
// A row of the list on a screen:
//
//	JOB                  QUEUE                 STATE      TRY  NEXT   AGE    RESULT OR REASON
//	match:KR_7214550881  ingest.summoner.full  RETRYABLE  2/5  +0:41  3 min  503: service unavailable
var Jobs = catalogue(filter.Options{
	Free:  []string{"key", "id", "queue", "kind", "state", "class", "err", "why", "owner", "player"},
	Fuzzy: []string{"key", "queue", "kind"},
	Age:   "age", When: "created",
	Keys: []string{"match", "timeline", "full", "latest", "rank", "report", "resolve", "weekly", "alert.call"},
},
	anyOf[job]("job", "key or id", "key", "id").head("JOB", table.ID, 22, 24).flex(1).
		says(jobName).prints(jobName).ordered(func(r *job) string { return JobKey(&r.Job) }),
	name("key", "what makes it the only one of its kind", func(r *job) string { return r.Key }).export("key"),
	name("id", "", func(r *job) engine.JobID { return r.ID }).head("ID", table.Words, 20, 20).drop(5).
		colour(themes.Dim).rising().line("ID", table.Number, 0),
	name("queue", "", func(r *job) engine.Queue { return r.Queue }).head("QUEUE", table.Words, 22, 22).drop(5).
		colour(themes.Dim).rising().export("queue").always(),
	name("kind", "which handler runs it", func(r *job) engine.Kind { return r.Kind }).export("kind").always(),
	enum("state", "", jobWords, jobState).head("STATE", table.State, 11, 11).
		cell(func(p Pen, r *job) table.Cell { return p.State(StateWord(&r.Job)) }).
		sort(func(a, b *job) int { return cmp.Compare(StateRank(a.State), StateRank(b.State)) }).
		prints(func(r *job) string { return strings.ToUpper(r.State.String()) }).export("state").
		value(func(r *job) any { return r.State.String() }),
	enum("hold", "why it was sent back uncharged", holdWords,
		func(r *job) filter.Value { return filter.Bits(1 << r.Hold) }).head("HOLD", table.Words, 10, 10).drop(7).
		colour(themes.Held).says(holdWord).sort(func(a, b *job) int { return cmp.Compare(a.Hold, b.Hold) }).
		export("hold").value(func(r *job) any { return orNull(holdWord(r)) }),
	number("try", "charged attempts of this round", func(r *job) int { return r.Tries }).as("tries").
		head("TRY", table.Number, 3, 3).rising().
		says(func(r *job) string { return Tries(r, r.Tries) }).export("tries"),
	number("attempts", "of all rounds; a sync that waits for its matches and goes on is at the same one", func(r *job) int { return r.Tried() }).export("attempts"),
	number("holds", "how often it was sent back uncharged", func(r *job) int { return r.Holds }).export("holds"),
	number("round", "", func(r *job) int { return r.Round }).export("round"),
	number("phase", "how often it has waited for other jobs", func(r *job) int { return r.Phase }),
	number("crashes", "interruptions in a row", func(r *job) int { return r.Crashes }).export("crashes"),
	number("priority", "1 runs first", func(r *job) int { return int(r.Priority) }).as("prio"),
	known("place", "in its line, 1 is next", func(r *job) int { return r.Place }),
	age("age", "running so long, ended so long ago, or else since created", jobSince).head("AGE", table.Number, 6, 6).
		drop(2).colour(themes.Dim).rising(),
	ahead("due", "when it may run", NextAt).as("next").head("NEXT", table.Number, 6, 7).penned(NextTry).rising().
		line("", table.Words, 0).printsAt(jobTurn).export("due_at").value(jobDue),
	past("created", "", func(r *job) time.Time { return r.Created }).head("CREATED", table.Words, 12, 12).drop(6).
		colour(themes.Dim).rising().export("created_at"),
	past("started", "its last attempt", func(r *job) time.Time { return r.Started }).export("started_at"),
	past("finished", "", func(r *job) time.Time { return r.Finished }).as("ended").export("finished_at"),
	name("class", "fingerprint of the last failure: 429.app, 5xx, timeout",
		func(r *job) engine.Class { return r.Class }).export("class").
		head("CLASS", table.Words, 20, 20).drop(5).colour(themes.Err).rising(),
	prose("err", "of the last failure", func(r *job) string { return r.LastError }).as("error").export("last_error"),
	prose("why", "why it does not run", func(r *job) string { return r.Why }),
	anyOf[job]("result", "error, its class, or why it waits", "err", "why", "class").as("last").
		head("RESULT OR REASON", table.Sentence, 18, 40).flex(2).drop(1).
		cell(func(p Pen, r *job) table.Cell {
			if r.State == engine.Discarded {
				return table.As(themes.Err, LastResult(p, r))
			}
			return table.As(themes.Dim, LastResult(p, r))
		}).ordered(func(r *job) string { return r.LastError + r.Why }).line("LAST RESULT", table.Words, 1).
		prints(lastError),
	name("owner", "id of the account it works for", func(r *job) string { return r.Owner }).as("account").
		export("owner"),
	name("player", "whose sync it is", func(r *job) string { return r.Player }),
	name("policy", "of its retries", func(r *job) string { return r.Policy }),
	name("lock", "", func(r *job) string { return r.Lock }),
	known("worker", "that has its running or last attempt in hand", func(r *job) int { return r.Worker }).
		head("WORKER", table.Number, 6, 6).drop(4).spare().rising().
		cell(func(_ Pen, r *job) table.Cell {
			if r.State == engine.Running && r.Worker > 0 {
				return table.As(themes.Run, strconv.Itoa(r.Worker))
			}
			return table.As(themes.Dim, none(r.Worker, human.None, human.Count))
		}),
	name("by", "who asked for it, or gave the last command on it; engine = nobody", (*job).Asker).
		head("BY", table.Words, 8, 12).drop(4).spare().rising().
		cell(func(_ Pen, r *job) table.Cell {
			if r.By == "" {
				return table.As(themes.Dim, engine.ByEngine)
			}
			return table.Plain(r.By)
		}),
	size("bytes", "of what it has fetched", func(r *job) int { return r.Bytes }).head("BYTES", table.Number, 7, 7).
		drop(4).spare().colour(themes.Dim).greatestFirst(),
	yesNo("suspect", "three crashes in a row", func(r *job) bool { return r.Suspect() }),
	yesNo("stopping", "a cancel was asked for", func(r *job) bool { return r.CancelAsked }),
	shown[job]("args").export("args").value(func(r *job) any { return document(r.Args) }),

	// In groups a job has its state above it, and its life beside it.
	shown[job]("called").head("JOB", table.ID, 15, 16).reads(JobCalled),
	shown[job]("what").head("KIND", table.Words, 8, 8).drop(3).colour(themes.Dim).
		reads(func(r *job) string { return kindWord(r.Kind) }),
	shown[job]("for").head("FOR", table.Words, 8, 11).drop(1).ordered(func(r *job) string { return r.Owner }),
	shown[job]("dots").head("TRIES", table.Words, 5, 5).
		sort(func(a, b *job) int { return cmp.Compare(a.Tries, b.Tries) }),
	past("waited", "", func(r *job) time.Time { return r.Created }).head("WAITED", table.Number, 6, 6).drop(2).
		colour(themes.Dim).penned(func(p Pen, r *job) string {
		if !r.Finished.IsZero() { // it waits no more
			return human.Age(r.Finished.Sub(r.Created))
		}
		return p.Age(r.Created)
	}).rising().unasked(),
	ahead("goes", "", NextAt).head("GOES", table.Number, 6, 6).rising().unasked(),

	// Of jobs that wait for their next try.
	prose("answer", "", func(r *job) string { return r.LastError }).head("LAST ANSWER", table.Sentence, 15, 24).flex(1).
		reads(func(r *job) string { return LastAnswer(&r.Job) }).unasked(),
	ahead("in", "", due).head("DUE", table.Number, 5, 6).colour(themes.Retry).penned(dueIn).rising().unasked(),
	shown[job]("late").head("LATE", table.Number, 5, 6).
		sort(func(a, b *job) int { return cmp.Compare(a.Starts.Sub(a.Due), b.Starts.Sub(b.Due)) }),
	number("next_try", "", func(r *job) int { return r.Tries }).head("NEXT TRY", table.Number, 8, 8).
		says(func(r *job) string { return Tries(r, r.Tries+1) }).rising().unasked(),
	shown[job]("starts").head("STARTS", table.Sentence, 21, 28).drop(1).flex(1),
	ahead("due_clock", "", due).head("DUE AT", table.Words, 14, 14).drop(6).colour(themes.Dim).
		penned(func(p Pen, r *job) string { return p.Clock(r.Due) }).rising().unasked(),
)

// Where jobs are shown, with the columns in their order. The spare ones of a list are
// printed as well where a terminal is wide.
var (
	JobList   = Jobs.Pick("job queue state try due age result id hold created worker bytes by")
	JobGroups = Jobs.Pick("called what for dots waited goes queue class id hold created worker bytes by").
			asked("queue class id hold created").fit("for", 11, 11, 1)
	RetryList = Jobs.Pick("called what for answer in late next_try starts class queue due_clock").
			asked("for next_try starts class queue due_clock").
			fit("for", 11, 14, 3).fit("next_try", 8, 8, 4).fit("starts", 30, 30, 5)
	JobLines  = Jobs.Pick("id job queue state try due created worker bytes by result")
	JobExport = Jobs.Pick("kind queue key owner state hold attempts round try holds crashes class err created started finished due args")
)

// Bits of a job's state word: each state's own, and one for HELD, which is
// scheduled as well. They stand in the order of engine.State, whose number a
// bit is found by.
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
var jobWords = []filter.Word{
	{Name: "pending", Bits: bitPending, Help: "waits for other jobs or an operator"},
	{Name: "available", Aliases: []string{"ready", "queued", "waiting"}, Bits: bitAvailable, Help: "may run now, for the first time"},
	{Name: "scheduled", Bits: bitScheduled, Help: "not before an instant; held ones too"},
	{Name: "held", Aliases: []string{"snoozed"}, Bits: bitHeld, Help: "sent back uncharged, until its reason ends"},
	{Name: "running", Aliases: []string{"active"}, Bits: bitRunning},
	{Name: "retryable", Aliases: []string{"retrying"}, Bits: bitRetryable, Help: "failed, has a next try or is in line for it"},
	{Name: "completed", Aliases: []string{"done"}, Bits: bitCompleted},
	{Name: "cancelled", Aliases: []string{"canceled"}, Bits: bitCancelled},
	{Name: "discarded", Aliases: []string{"dead", "gave up"}, Bits: bitDiscarded,
		Help: "tries used up, or a permanent error"},
	{Name: "failed", Bits: bitRetryable | bitDiscarded, Help: "retryable or discarded"},
	{Name: "live", Bits: bitsLive, Help: "every state that may still move by itself"},
	{Name: "ended", Aliases: []string{"terminal"}, Bits: bitsEnded, Help: "completed, cancelled or discarded"},
}

// holdWords are the words of engine.Hold by its value.
var holdWords = func() []filter.Word {
	words := []filter.Word{{Name: "none", Bits: 1, Help: "not held"}}
	for h := engine.HoldThrottled; h <= engine.HoldFrozen; h++ {
		words = append(words, filter.Word{Name: h.String(), Bits: 1 << h})
	}
	return words
}()

// jobState is the bits that a filter's words are compared with: a job that is held has two, those of
// scheduled and held; one in line for another try has that of what is tried again, as it is counted.
func jobState(r *job) filter.Value {
	bits := bitPending << r.State & (bitsLive | bitsEnded)
	if r.InLineAgain() {
		bits = bitRetryable
	}
	if r.State == engine.Scheduled && r.Hold != engine.HoldNone {
		bits |= bitHeld
	}
	return filter.Bits(bits)
}

// StateWord is a job's state as screens write it. A state that a newer engine made is written as the
// last one.
func StateWord(j *engine.Job) string {
	if j.State == engine.Scheduled && j.Hold != engine.HoldNone {
		return "HELD"
	}
	return stateWords[min(int(j.State), len(stateWords)-1)]
}

// stateWords are the states by number, as screens write them.
var stateWords = func() []string {
	var words []string
	for _, s := range engine.States() {
		words = append(words, strings.ToUpper(s.String()))
	}
	return words
}()

// holdWord says why a job was sent back uncharged; "" = it was not.
func holdWord(r *job) string {
	if r.Hold == engine.HoldNone {
		return ""
	}
	return r.Hold.String()
}

// stateRank orders jobs: what will run and when, what runs, what waits, what
// ended. What runs does not stand first: it comes and goes many times a second,
// and the first row is where the cursor begins.
var stateRank = [...]int{
	engine.Retryable: 0, engine.Scheduled: 1, engine.Running: 2, engine.Available: 3, engine.Pending: 4,
	engine.Discarded: 5, engine.Cancelled: 6, engine.Completed: 7,
}

// StateRank is where a state stands in the order of screens; one that a newer engine
// made goes last.
func StateRank(s engine.State) int { return rank(stateRank[:], int(s)) }

// rank is the place of a state in such a table, whose index is the state; a state beyond its end goes last.
func rank(ranks []int, state int) int {
	if state < len(ranks) {
		return ranks[state]
	}
	return len(ranks)
}

// jobName is what a list calls a job: a sync by its player, in front of its key, which is
// of an id that says nothing.
func jobName(r *job) string {
	if r.Player == "" {
		return JobKey(&r.Job)
	}
	return r.Player + " " + JobKey(&r.Job)
}

// JobKey names a job where its player is told elsewhere: match:KR_7214550881.
func JobKey(j *engine.Job) string {
	if j.Key != "" {
		return j.Key
	}
	return string(j.Kind) + " " + string(j.ID)
}

// kindWord is what a kind of job is called where there is little room: match, timeline, sync.
func kindWord(k engine.Kind) string {
	object, does, ok := strings.Cut(string(k), ".")
	switch {
	case ok && object == "account":
		return does
	case ok && does == "call":
		return does
	}
	return object
}

// JobCalled names a job whose kind and player stand beside it: KR_7214550881 of match:KR_7214550881, and
// latest of a sync, whose key goes on with an id that says nothing. Beside that of a collection stands the collection:
// it is named by its player.
func JobCalled(r *job) string {
	of, what, ok := strings.Cut(r.Key, ":")
	switch {
	case !ok:
		return JobKey(&r.Job)
	case r.Player != "" && strings.HasPrefix(string(r.Queue), string(engine.CollectionQueue(""))):
		name, _, _ := strings.Cut(r.Player, "#")
		return name
	case r.Player != "":
		return of
	}
	return what
}

// Tries is 2/5: charged attempts of the round and how many there may be.
func Tries(r *job, tries int) string {
	if r.MaxAttempts <= 0 {
		return strconv.Itoa(tries)
	}
	return fmt.Sprintf("%d/%d", tries, r.MaxAttempts)
}

// due is the instant that a job waits for, as stored, whatever its state.
func due(r *job) time.Time { return r.Due }

// dueIn is how long until a job's instant, 0:12; "now" when that has come.
func dueIn(p Pen, r *job) string {
	if !r.Due.After(p.Now()) {
		return "now"
	}
	return strings.TrimPrefix(p.Until(r.Due), "+")
}

// NextAt is when a job moves by itself: an instant counts only in states that wait for it;
// zero = it does not, or nobody knows when.
func NextAt(r *job) time.Time {
	switch r.State {
	case engine.Retryable, engine.Scheduled:
		return r.Due
	case engine.Available:
		return r.Until
	}
	return time.Time{}
}

// NextTry writes that instant; what is overdue tells since when.
func NextTry(p Pen, r *job) string {
	at := NextAt(r)
	switch {
	case at.IsZero():
		return human.None
	case r.State == engine.Available && !at.After(p.Now()):
		return "now"
	case r.State == engine.Available:
		return p.In(at)
	}
	return strings.TrimPrefix(p.Until(at), "due ")
}

// jobTurn is how long until a job may run: by its instant, else by its turn.
func jobTurn(r *job, now time.Time) string {
	if !r.State.Live() || r.State == engine.Running {
		return "-"
	}
	return human.SpanTo(r.ReasonEnds(), now)
}

// jobDue is when a live job may go on; what an ended one was due once says nothing.
func jobDue(r *job) any {
	if r.State.Terminal() {
		return instant(time.Time{})
	}
	return instant(r.Due)
}

// jobSince is since when a job has been what it is. So the column AGE says how long it has run, or how
// long ago it ended.
func jobSince(r *job) time.Time {
	switch {
	case r.State == engine.Running:
		return r.Started
	case r.State.Terminal():
		return r.Finished
	}
	return r.Created
}

// LastResult is what a screen says of a job's past or present. Why it waits goes before an old error,
// but for a job whose error is why it waits.
func LastResult(p Pen, r *job) string {
	switch {
	case r.Why != "" && (r.State != engine.Retryable || r.LastError == ""):
		return p.Why(r.Why)
	case r.State == engine.Running:
		return string(r.Kind)
	case r.LastError != "":
		return InShort(r.LastError)
	}
	return string(r.Class)
}

// lastError is a job's last error, else why it does not run yet.
func lastError(r *job) string {
	if r.LastError != "" || !r.State.Live() {
		return r.LastError
	}
	return r.Why
}

// InShort is an error without the words that each row of a list would repeat: which
// method of which host was called is told elsewhere, and the status is what counts. "riot:
// match-v5.match on europe: status 503: …" becomes "503: …".
func InShort(err string) string {
	rest, ours := strings.CutPrefix(err, "riot: ")
	if !ours {
		return err
	}
	_, said, ok := strings.Cut(rest, ": ")
	if !ok {
		return err
	}
	return strings.TrimPrefix(said, "status ")
}

// document is stored JSON as it is, so that no number in it is rounded. What is
// no JSON after all becomes a text that shows it.
func document(raw json.RawMessage) any {
	switch {
	case len(raw) == 0:
		return nil
	case !json.Valid(raw):
		return string(raw)
	}
	return raw
}

// WhoGoesNext orders live jobs: those that run, then by when they may. What nobody knows
// the instant of comes last.
func WhoGoesNext(a, b engine.JobRow) int {
	switch runs, other := a.State == engine.Running, b.State == engine.Running; {
	case runs && other:
		return 0
	case runs:
		return -1
	case other:
		return 1
	}
	return cmp.Or(ZeroLast(a.ReasonEnds(), b.ReasonEnds()), cmp.Compare(a.Place, b.Place)) // lines take turns
}
