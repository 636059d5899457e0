package alert

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Bounds of what is kept, whatever is fed: beyond them a new name counts as others.
const (
	maxStatuses = 64
	maxHosts    = 32
	maxSubjects = 64 // alerts of one rule
	maxKinds    = 32
	others      = "others"
)

// Cells of the rings.
const (
	perMinute = time.Minute
	perSpike  = 5 * time.Minute
	perBurst  = 10 * time.Second
	day       = 24 * time.Hour
)

// Options of a Monitor.
type Options struct {
	Rules []Rule // nil = Rules()
	// Policies are the retry policies in force: they say when a job has used up its
	// attempts. nil = nobody knows.
	Policies engine.Policies
}

// Monitor folds what happens into counts and evaluates the rules over them. It is
// safe for concurrent use, and no method blocks.
type Monitor struct {
	rules    []Rule
	policies engine.Policies

	mu sync.Mutex
	counts
	ends    engine.Ends
	reading Reading
	read    bool
	callSeq uint64 // of the last call that was folded
	drops   uint64 // Reading.LogDrops, as last told
	// heard is by account the last change of its sync, or the last time that it had a reason to be silent.
	heard   map[string]time.Time
	started map[engine.Queue]time.Time // when a job of it began last
	seen    time.Time
	sums    sums
	began   time.Time // traffic is counted from here on; zero = nothing was evaluated yet
	alerts  map[string]*alert
	of      map[string][]*alert // the same by rule, each by subject
}

// counts are the windows.
type counts struct {
	// Where nothing else is said a window is an hour, counted by the minute.
	tally                    // of all jobs
	kinds                    map[engine.Kind]*tally
	unforeseen, dropped, odd *ring
	unavailable              map[string]*ring // 503s per host
	calls, throttled, stored *ring            // for a day, by half an hour
	trails                   map[string]trail // by alert id
}

// tally counts jobs and their attempts.
type tally struct {
	completed, discarded, cancelled *ring
	atMax, attempts                 *ring            // of completed and discarded jobs
	charged, retries, won           *ring            // ended attempts; retries are those after the first of a round
	statuses                        map[string]*ring // attempts by how they ended, for a day
	lately                          map[string]*ring // the same for an hour, per minute
	tries                           map[string]*ring // ended attempts by their try: 2, and of those the won ones: 2 won
}

// tryNames are the names of a try's rings.
func tryNames(try int) (made, won string) {
	made = strconv.Itoa(min(try, engine.TriesTold))
	return made, made + " won"
}

func newTally() tally {
	minute := func() *ring { return newRing(perMinute, reach) }
	return tally{
		completed: minute(), discarded: minute(), cancelled: minute(), atMax: minute(), attempts: minute(),
		charged: minute(), retries: minute(), won: minute(), statuses: map[string]*ring{}, lately: map[string]*ring{},
		tries: map[string]*ring{},
	}
}

// tallyOf gives the tally of a kind to read; of "" that of all. Of one that nobody has seen it is
// empty: its rings are nil, and a nil ring sums up to 0.
func (c *counts) tallyOf(kind engine.Kind) *tally {
	if kind == "" {
		return &c.tally
	}
	if t := c.kinds[kind]; t != nil {
		return t
	}
	return &tally{}
}

// each gives the tallies in which something of a kind counts: that of all, and while there
// is room its own. Of "", which is an attempt whose job no change has named, only that of all.
func (c *counts) each(kind engine.Kind) []*tally {
	if kind == "" {
		return []*tally{&c.tally}
	}
	if c.kinds[kind] == nil {
		if len(c.kinds) >= maxKinds {
			return []*tally{&c.tally}
		}
		t := newTally()
		c.kinds[kind] = &t
	}
	return []*tally{&c.tally, c.kinds[kind]}
}

// tallies are that of all jobs, and that of each kind.
func (c *counts) tallies() []*tally {
	return slices.AppendSeq([]*tally{&c.tally}, maps.Values(c.kinds))
}

// newCounts makes the windows, empty.
func newCounts() counts {
	minute := func() *ring { return newRing(perMinute, reach) }
	span := func() *ring { return newRing(engine.TrafficEvery, day) }
	return counts{
		tally: newTally(), kinds: map[engine.Kind]*tally{}, unforeseen: minute(), dropped: minute(), odd: minute(),
		calls: span(), throttled: span(), stored: span(), unavailable: map[string]*ring{}, trails: map[string]trail{},
	}
}

// alert is one rule about one subject.
type alert struct {
	rule    string
	subject string
	life
	last    sample
	holding bool
	history history
}

// New makes a monitor that has seen nothing.
func New(opt Options) *Monitor {
	if opt.Rules == nil {
		opt.Rules = rules()
	}
	return &Monitor{rules: slices.Clone(opt.Rules), policies: opt.Policies, counts: newCounts(),
		alerts: map[string]*alert{}, of: map[string][]*alert{},
		ends: engine.Ends{}, heard: map[string]time.Time{}, started: map[engine.Queue]time.Time{}}
}

// Changes folds the changes of one commit: jobs that ended, and attempts.
func (m *Monitor) Changes(at time.Time, changes []engine.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kinds := engine.KindsOf(changes)
	for i := range changes {
		switch c := &changes[i]; {
		case c.Attempt != nil:
			m.attempt(c.Of, kinds[c.Of], *c.Attempt)
		case c.Job != nil:
			m.job(at, c)
		case c.Account != nil:
			m.noteLife(c.Account.ID, at)
		case c.Totals != nil:
			m.grown(at, c.Totals.Success)
		case c.Forgotten != "":
			m.forgets(c.Forgotten)
		}
	}
}

// forgets drops what speaks for the alerts: it may name whoever was forgotten, and does not tell. What
// happens from now on takes its place.
func (m *Monitor) forgets(account string) {
	delete(m.heard, account)
	clear(m.trails)
	for _, a := range m.alerts {
		a.last.evidence = nil
	}
}

// job folds what became of a job: a sign of life of its sync, a start of its queue, or an end.
func (m *Monitor) job(at time.Time, c *engine.Change) {
	m.noteLife(c.Job.Owner, at)
	if c.Job.State == engine.Running && c.Before != engine.Running {
		m.started[c.Job.Queue] = at
	}
	if end, ok := m.ends.Of(c); ok {
		m.ended(at, end)
	}
}

// noteLife notes a sign of life of an account's sync. Those of others are forgotten at the
// next reading.
func (m *Monitor) noteLife(account string, at time.Time) {
	if account != "" {
		m.heard[account] = at
	}
}

// ended counts a job that has ended, when it did, or takes it back.
func (m *Monitor) ended(at time.Time, e engine.End) {
	j := e.Job
	if !j.Finished.IsZero() {
		at = j.Finished
	}
	upTo := m.policies.UsedUp(j)
	for _, t := range m.each(j.Kind) {
		t.ended(at, e, upTo)
	}
	m.sums.on(j.Finished, func(d *engine.DaySum) { d.CountEnded(j.State, int64(e.Count)) })
	if e.Count < 0 {
		return
	}
	if j.State == engine.Discarded {
		m.callEnded(at, j)
	}
	if upTo {
		m.note(giveUps, "", j.Kind, jobEvidence(at, j))
	}
}

// ended counts an end; with e.Count -1 it takes one back. Cancelled jobs are in no share: they have neither
// failed nor succeeded.
func (t *tally) ended(at time.Time, e engine.End, usedUp bool) {
	switch e.Job.State {
	case engine.Cancelled:
		t.cancelled.add(at, e.Count)
		return
	case engine.Completed:
		t.completed.add(at, e.Count)
	case engine.Discarded:
		t.discarded.add(at, e.Count)
	}
	if usedUp {
		t.atMax.add(at, e.Count)
	}
	t.attempts.add(at, e.Count*e.Attempts)
}

// jobEvidence names a job that speaks for an alert: "match:EUW1_7123: 503".
func jobEvidence(at time.Time, j *engine.Job) engine.Evidence {
	return engine.Evidence{At: at, Kind: "job", ID: string(j.ID),
		Text: cmp.Or(j.Key, string(j.Kind)) + ": " + string(j.Class)}
}

// callEnded counts a telephone call that was given up for a status that is in no
// table (S2-1).
func (m *Monitor) callEnded(at time.Time, j *engine.Job) {
	status, _, _ := strings.Cut(string(j.Class), ".")
	if j.Kind != engine.KindCall || !engine.CallStatus(status).Rule().Alert {
		return
	}
	m.odd.add(at, 1)
	m.note(oddCalls, "", j.Kind, jobEvidence(at, j))
}

// attempt folds a closed attempt, or a hold, of a job, with its kind where that is known. It counts statuses and
// retries, each attempt once.
func (m *Monitor) attempt(job engine.JobID, kind engine.Kind, a engine.Attempt) {
	status, told := a.Ending(kind)
	for _, t := range m.each(kind) {
		t.attempt(a, status, told)
	}
	m.sums.on(a.End, func(d *engine.DaySum) { d.CountAttempt(a, 1) })
	if a.End.IsZero() || !told {
		return
	}
	e := engine.Evidence{At: a.End, Kind: "job", ID: string(job), Text: a.Err}
	if !engine.Succeeded(status) && !a.Missing() {
		m.note(spike, bounded(m.statuses, status, maxStatuses), kind, e)
	}
	if retry, won := a.Retry(); retry && !won {
		m.note(retriesWon, "", kind, e)
	}
}

// attempt counts a closed attempt. told is false of one that says nothing about the other side, such as
// a hold.
func (t *tally) attempt(a engine.Attempt, status string, told bool) {
	if a.Charged() {
		t.charged.add(a.End, 1)
	}
	if a.End.IsZero() || !told {
		return
	}
	name := bounded(t.lately, status, maxStatuses)
	ringOf(t.lately, name, perMinute, reach).add(a.End, 1)
	if !a.Missing() { // ten matches of a list that are gone need nobody
		ringOf(t.statuses, bounded(t.statuses, status, maxStatuses), perSpike, day+reach).add(a.End, 1)
	}
	made, wonOnes := tryNames(a.Try)
	if told, won := a.Told(); told {
		ringOf(t.tries, made, perMinute, reach).add(a.End, 1)
		if won {
			ringOf(t.tries, wonOnes, perMinute, reach).add(a.End, 1)
		}
	}
	retry, won := a.Retry()
	if retry {
		t.retries.add(a.End, 1)
	}
	if won {
		t.won.add(a.End, 1)
	}
}

// Calls folds calls of the flight recorder, oldest first. Calls that were folded
// already, by their sequence, do nothing.
func (m *Monitor) Calls(rows []engine.CallRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range rows {
		if r := &rows[i]; r.Seq > m.callSeq {
			m.callSeq = r.Seq
			m.call(r)
		}
	}
}

// CallSeq is the sequence of the last call that was folded.
func (m *Monitor) CallSeq() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.callSeq
}

// call counts a call of the flight recorder.
func (m *Monitor) call(r *engine.CallRow) {
	e := engine.Evidence{At: r.At, Kind: "call", ID: string(r.Job), Text: r.Host + " " + r.Method + " " + r.Target}
	m.calls.add(r.At, 1)
	if r.Status == 429 {
		m.throttled.add(r.At, 1)
	}
	if r.Unforeseen {
		m.unforeseen.add(r.At, 1)
		m.note(unforeseen, "", "", e)
	}
	if r.Status == 503 {
		host := bounded(m.unavailable, r.Host, maxHosts)
		ringOf(m.unavailable, host, perBurst, time.Minute).add(r.At, 1)
		m.note(unavailable, host, "", e)
	}
}

// Reading is what is measured elsewhere, as it stands now.
type Reading struct {
	KeyExpires  time.Time // zero = not known
	KeyRejected bool
	ClockAhead  time.Duration      // Riot's clock less this machine's; 0 = they agree
	Holds       []engine.LimitHold // waits above ten minutes that Riot asked for
	Syncing     []Beat             // accounts whose run is under way
	// Waits says why a syncing account may have been silent for so long without anybody
	// being needed, such as a paused queue; "" = nothing excuses it. It is asked only of
	// accounts that are silent. nil = nothing excuses any.
	Waits  func(account string, silent time.Duration) string
	Queues []engine.QueueRow // those paused are not judged
	// State and Cause are what consoles show of the engine as a whole, see control.Control.Cause: alerts have no words of
	// their own for why nothing moves.
	State engine.EngineState
	Cause string
	// Stopped says why the engine starts nothing at all, such as a full disk, which its
	// state tells: log lines that are lost meanwhile are no alert of their own.
	Stopped string
	// Writes is the p95 of the last minute per store: "state", "payload".
	Writes   map[string]time.Duration
	LogDrops uint64 // since the process started
	Free     int64  // bytes that the disk still takes; 0 = not known
	Down     []engine.BreakerRow
	Backup   string             // why the last scheduled backup failed; "" = it did not
	Members  []engine.MemberRow // of a shared database
}

// Beat says when a syncing account was last heard of: a commit of its run, or a
// beat of its job, which waits for a permit.
type Beat struct {
	Account string // id
	Name    string // Riot ID, as received
	Last    time.Time
}

// Read takes a reading; it counts until the next one.
func (m *Monitor) Read(now time.Time, r Reading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	more := r.LogDrops - m.drops
	if r.LogDrops < m.drops { // another process counts
		more = r.LogDrops
	}
	m.drops = r.LogDrops
	if r.Stopped == "" {
		m.dropped.add(now, int(min(more, 1<<30)))
	}
	m.reading, m.read = r, true
	m.attend(now)
}

// attend keeps what is remembered to the syncs and queues that there are, and asks the
// silent ones for their reasons. A sync with a reason to be silent counts as heard of just now, so that
// its silence begins when the reason ends.
func (m *Monitor) attend(now time.Time) {
	r, open := &m.reading, map[string]bool{}
	for i, b := range r.Syncing {
		open[b.Account] = true
		last := engine.Latest(b.Last, m.heard[b.Account])
		if silent := now.Sub(last); silent >= askAfter && r.Waits != nil && r.Waits(b.Account, silent) != "" {
			last = now
		}
		r.Syncing[i].Last, m.heard[b.Account] = last, last
	}
	maps.DeleteFunc(m.heard, func(account string, _ time.Time) bool { return !open[account] })
	known := map[engine.Queue]bool{}
	for _, q := range r.Queues {
		known[q.Name] = true
	}
	maps.DeleteFunc(m.started, func(q engine.Queue, _ time.Time) bool { return !known[q] })
}

// askAfter is the silence from which on its reason is asked for.
const askAfter = time.Minute

// note keeps evidence for the alerts that measure it, of all jobs or of the kind's alone.
func (m *Monitor) note(what measure, subject string, kind engine.Kind, e engine.Evidence) {
	for _, r := range m.rules {
		if r.Measure == what && (r.Kind == kind || r.Kind == "" && kind != engine.KindCall) {
			id := idOf(r.Name, subject)
			m.trails[id] = m.trails[id].add(e)
		}
	}
}

// idOf names an alert: "503/europe", or the rule alone where it has no subjects. It has no blanks, so that it is one word
// of a command line.
func idOf(rule, subject string) string {
	if subject == "" {
		return rule
	}
	return rule + "/" + strings.ReplaceAll(subject, " ", "-")
}

// bounded gives the name under which something counts: its own, while there is
// room.
func bounded[T any](m map[string]T, name string, limit int) string {
	if _, ok := m[name]; ok || len(m) < limit-1 {
		return name
	}
	return others
}

// ringOf gives the ring of a name, and makes it at its first event.
func ringOf(m map[string]*ring, name string, cell, reach time.Duration) *ring {
	r, ok := m[name]
	if !ok {
		r = newRing(cell, reach)
		m[name] = r
	}
	return r
}
