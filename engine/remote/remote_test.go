package remote

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

func TestMain(m *testing.M) { leak.Main(m) }

var lane = traffic.Lane{Host: "europe", Method: "match-v5.match"}

// memory is a table, a store and a backend.
type memory struct {
	rows    map[named]*Standing
	order   []named
	granted map[named]time.Time
	why     string
	given   []string // job, why
	stale   bool     // jobs have moved on
	state   []byte   // of the limiter
}

func (m *memory) LoadState(context.Context, string) ([]byte, error) { return m.state, nil }
func (m *memory) SaveState(_ context.Context, _ string, blob []byte) error {
	m.state = blob
	return nil
}
func (m *memory) Accounts(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
	return engine.AccountsPage{}, nil
}
func (m *memory) Recent(context.Context, string, int) ([]engine.Attempt, error) { return nil, nil }

func (m *memory) Write(_ context.Context, fn func(engine.Tx) error) error { return fn(nil) }

func (m *memory) Return(_ context.Context, id engine.JobID, _ engine.Revision, why string, _ bool, also func(engine.Tx) error) error {
	if m.stale {
		return engine.ErrStale
	}
	if err := also(nil); err != nil {
		return err
	}
	m.given = append(m.given, string(id)+" "+why)
	return nil
}

func (m *memory) Grant(_ engine.Tx, g Grant) error {
	at := named{g.Job, g.Rev}
	if m.rows[at] == nil {
		m.order, m.granted[at] = append(m.order, at), time.Now()
	}
	m.rows[at] = &Standing{Grant: g}
	return nil
}

func (m *memory) End(_ engine.Tx, job engine.JobID, rev engine.Revision, how How) error {
	s := m.rows[named{job, rev}]
	if s == nil || s.Report.How != Open || s.Begun != (how == Lost) {
		return ErrMoved
	}
	s.Report.How = how
	return nil
}

func (m *memory) Look(_ context.Context, open []Grant) (all []Standing, why string, err error) {
	for _, at := range m.order {
		if s := *m.rows[at]; s.Report.How == Open || slices.Contains(open, s.Grant) {
			all = append(all, s)
		}
	}
	return all, m.why, nil
}

func (m *memory) Ended(_ context.Context, since time.Time) (all []Standing, err error) {
	for _, at := range m.order {
		if s := *m.rows[at]; !m.granted[at].Before(since) && (s.Report.How == Answered || s.Report.How == Lost) {
			all = append(all, s)
		}
	}
	return all, nil
}

// desk is a leader of a limiter that knows a limit of 20:1.
type desk struct {
	*Leader
	*memory
	limiter *limit.Limiter
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := deskOf(&memory{rows: map[named]*Standing{}, granted: map[named]time.Time{}})
	p, err := d.limiter.Acquire(t.Context(), limit.Request{Host: lane.Host, Method: lane.Method})
	if err != nil {
		t.Fatal(err)
	}
	p.Done(200, answers("1"))
	time.Sleep(2 * time.Second)
	return d
}

// deskOf is a leader whose limiter knows nothing yet.
func deskOf(m *memory) *desk {
	d := &desk{memory: m, limiter: limit.New(limit.Options{Pacing: limit.Burst})}
	limits := traffic.New(traffic.Options{Limiter: d.limiter, Store: m, Lanes: func(engine.Job) (traffic.Lane, bool) { return lane, false }})
	d.Leader = NewLeader(Options{Limits: limits, Table: m, Store: m, Carries: func(k engine.Kind) bool { return k == "carried" }, Target: func(j engine.Job) string { return "of " + string(j.ID) }})
	return d
}

func answers(used string) http.Header {
	h := http.Header{}
	h.Set("X-App-Rate-Limit", "20:1")
	h.Set("X-App-Rate-Limit-Count", used+":1")
	h.Set("X-Method-Rate-Limit", "2000:10")
	h.Set("X-Method-Rate-Limit-Count", "1:10")
	return h
}

// send lets the call of a job go.
func (d *desk) send(t *testing.T, id engine.JobID) *Standing {
	t.Helper()
	j := engine.Job{ID: id, Rev: 1, Kind: "carried", State: engine.Running, Owner: "its account"}
	if a := d.Admit(j); !a.OK {
		t.Fatalf("%+v", a)
	}
	for range 2 { // a transaction may run again
		if err := d.Claimed(nil, j); err != nil {
			t.Fatal(err)
		}
	}
	if !d.Launch(j, func() { t.Error("it runs here") }) || !d.Has(j) {
		t.Fatal("it is not carried out elsewhere")
	}
	return d.rows[named{id, 1}]
}

// inFlight is how many calls of the host are, and counted how many it takes to be made.
func (d *desk) inFlight() int { return d.limiter.Snapshot().Hosts[0].Scopes[0].Buckets[0].InFlight }
func (d *desk) counted() int  { return d.limiter.Snapshot().Hosts[0].Scopes[0].Buckets[0].Own }

func (d *desk) lookNow(t *testing.T) {
	t.Helper()
	if err := d.look(t.Context(), d.memory); err != nil {
		t.Error(err)
	}
}

// A call is in flight until its report is read, and then counts from its first byte on.
func TestAReportIsFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.send(t, "a")
		time.Sleep(3 * time.Second)
		s.Begun = true
		d.lookNow(t)
		if d.inFlight() != 1 {
			t.Errorf("%d in flight", d.inFlight())
		}
		s.Report = Report{How: Answered, Ago: 400 * time.Millisecond, Status: 200, Headers: map[string]string{"X-App-Rate-Limit": "20:1", "X-App-Rate-Limit-Count": "1:1"}}
		d.lookNow(t)
		if d.inFlight() != 0 || d.counted() != 1 || d.Has(engine.Job{ID: "a", Rev: 1}) {
			t.Errorf("%d in flight, %d counted", d.inFlight(), d.counted())
		}
		time.Sleep(601 * time.Millisecond)
		if d.counted() != 0 {
			t.Error("it counts for longer than a second")
		}
	})
}

// A 429 that a member met closes its scope here.
func TestA429ThatAMemberMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.send(t, "a")
		s.Report = Report{How: Answered, Status: 429, Class: riot.ClassThrottledApp, Headers: map[string]string{"Retry-After": "30", "X-Rate-Limit-Type": "application"}}
		d.lookNow(t)
		if f, err := d.Forensics(engine.ForensicsQuery{}); err != nil || f.Call.Target != "of a" || f.Call.Job != "a" {
			t.Errorf("the recorder tells of a call for %q of job %s, %v", f.Call.Target, f.Call.Job, err)
		}
		if by := d.CallsBy()["its account"]; len(by) == 0 || by[len(by)-1] != 1 {
			t.Errorf("calls of its account in the past minute: %v", by)
		}
		a := d.Admit(engine.Job{ID: "b", Rev: 1, Kind: "carried"})
		if wait := time.Until(a.Until); a.OK || wait != 31*time.Second {
			t.Errorf("%+v, in %v", a, wait)
		}
	})
}

// What nobody has begun when it has expired comes back, and its place is free; what was begun after
// all does not.
func TestWhatNobodyTakesUpComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		a, b := d.send(t, "a"), d.send(t, "b")
		time.Sleep(5 * time.Second) // after which schema 7 lets nobody begin it
		d.lookNow(t)
		if len(d.given) != 0 {
			t.Errorf("%q before the database says so", d.given)
		}
		a.Expired, b.Expired = true, true
		if all, _, _ := d.Look(t.Context(), nil); len(all) == 2 {
			b.Begun = true // between the look and the end
			for _, s := range all {
				if err := d.fold(t.Context(), d.memory, s); err != nil {
					t.Error(err)
				}
			}
		}
		d.lookNow(t)
		if len(d.given) != 1 || d.given[0] != "a no member took it up" || d.inFlight() != 1 || d.counted() != 0 {
			t.Errorf("%q, %d in flight, %d counted", d.given, d.inFlight(), d.counted())
		}
	})
}

// A call that was begun and is silent counts from the instant on at which both clocks have seen
// three seconds pass; its job comes back when its member is gone.
func TestASilentCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.send(t, "a")
		s.Begun = true
		for i, c := range []struct {
			pause, database time.Duration
			gone            bool
			inFlight, back  int
		}{
			{0, 0, false, 1, 0},
			{time.Second, time.Hour, true, 1, 0},           // the database's clock was set
			{2 * time.Second, 2 * time.Second, true, 1, 0}, // this one's is ahead
			{time.Second, 4 * time.Second, false, 0, 0},
			{time.Hour, hopeless - 1, false, 0, 0},
			{time.Second, 5 * time.Second, true, 0, 0},
			{time.Second, 5 * time.Second, false, 0, 0}, // it was the database that was away
			{time.Hour, 5 * time.Second, true, 0, 0},
			{stillGone, 5 * time.Second, true, 0, 1},
		} {
			time.Sleep(c.pause)
			s.BegunAgo, s.Gone = c.database, c.gone
			d.lookNow(t)
			if d.inFlight() != c.inFlight || len(d.given) != c.back {
				t.Errorf("%d: %d in flight, %q", i, d.inFlight(), d.given)
			}
		}
		d.lookNow(t)
		if d.Has(engine.Job{ID: "a", Rev: 1}) {
			t.Error("it is held for ever")
		}
	})
}

// The answer of a silent call is still an answer.
func TestALateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.send(t, "a")
		s.Begun, s.BegunAgo = true, time.Minute
		d.lookNow(t)
		time.Sleep(4 * time.Second)
		d.lookNow(t)
		s.Report = Report{How: Answered, Status: 429, Class: riot.ClassThrottledApp, Headers: map[string]string{"Retry-After": "30", "X-Rate-Limit-Type": "application"}}
		d.lookNow(t)
		if a := d.Admit(engine.Job{ID: "b", Rev: 1, Kind: "carried"}); a.OK {
			t.Error("it closes nothing")
		}
	})
}

// A job that has moved on without the end of its permit does not keep the permit open.
func TestAJobThatHasMovedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.send(t, "a").Expired = true
		d.stale = true
		d.lookNow(t)
		d.lookNow(t)
		if d.inFlight() != 0 || d.Has(engine.Job{ID: "a", Rev: 1}) {
			t.Error("it is open")
		}
		d.stale = false
		d.send(t, "b").Report.How = Unused // its member could not begin
		d.lookNow(t)
		if len(d.given) != 1 || d.given[0] != "b its call was not made" {
			t.Errorf("%q", d.given)
		}
	})
}

// What was not claimed after all gives its place back, and what is not carried runs here.
func TestWhatIsNotClaimedOrNotCarried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		j := engine.Job{ID: "a", Rev: 1, Kind: "carried"}
		d.Admit(j)
		if err := d.Claimed(nil, j); err != nil {
			t.Error(err)
		}
		d.Dropped("a")
		if d.inFlight() != 0 || d.Has(j) {
			t.Error("its place is not free")
		}
		other, ran := engine.Job{ID: "b", Rev: 1, Kind: "other"}, make(chan bool, 1)
		d.Admit(other)
		if err := d.Claimed(nil, other); err != nil || d.Launch(other, func() { ran <- true }) || !<-ran {
			t.Errorf("%v", err)
		}
		// A lane of which the last answer was a failure is tried by the leader alone.
		d.send(t, "c").Report = Report{How: Answered, Status: 503, Class: riot.ClassServer}
		d.lookNow(t)
		j = engine.Job{ID: "d", Rev: 1, Kind: "carried"}
		d.Admit(j)
		if err := d.Claimed(nil, j); err != nil || d.Launch(j, func() { ran <- true }) || !<-ran {
			t.Errorf("%v", err)
		}
	})
}

// While no member takes anything up, nothing is admitted, and the reason is told.
func TestAStopByRiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.why = "River's queue is paused"
		d.lookNow(t)
		if a := d.Admit(engine.Job{ID: "a", Rev: 1, Kind: "carried"}); a.OK || a.Reason != d.why || d.Held(lane.String()).Reason != d.why {
			t.Errorf("%+v", a)
		}
		select {
		case <-d.Changed():
		default:
			t.Error("nobody is told")
		}
		d.why = ""
		d.lookNow(t)
		d.send(t, "a")
	})
}

// Who leads next counts what is open, and folds what comes of it.
func TestTheNextLeaderAdopts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newDesk(t)
		s := first.send(t, "a")
		s.Begun, s.GrantedAgo = true, time.Second
		d := newDesk(t)
		d.memory.rows, d.memory.order = first.rows, first.order
		if err := d.Restore(t.Context(), true, nil); err != nil {
			t.Error(err)
		}
		if !d.Has(engine.Job{ID: "a", Rev: 2, CancelAsked: true}) || d.inFlight() != 1 {
			t.Errorf("%d in flight", d.inFlight())
		}
		s.Report = Report{How: Answered, Status: 200}
		d.lookNow(t)
		if d.inFlight() != 0 || d.counted() != 1 {
			t.Errorf("%d in flight, %d counted", d.inFlight(), d.counted())
		}
	})
}

// What was let go and answered after the limiter's state was saved counts for the next leader, whoever
// has read the report; what was answered before is in the state.
func TestTheNextLeaderCountsWhatWasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newDesk(t)
		for _, id := range []engine.JobID{"a", "b"} {
			first.send(t, id).Report = Report{How: Answered, Status: 200}
		}
		first.lookNow(t)
		time.Sleep(10 * time.Millisecond)
		ended, end := context.WithCancel(t.Context())
		end()
		if err := first.Run(ended); err != nil { // it saves the state at its end
			t.Error(err)
		}
		time.Sleep(10 * time.Millisecond)
		for _, p := range []struct {
			id  engine.JobID
			how How
		}{{"c", Answered}, {"d", Lost}, {"e", Unused}, {"f", Answered}, {"g", Open}} {
			first.send(t, p.id).Report.How = p.how
		}
		d := deskOf(first.memory)
		if err := d.Restore(t.Context(), false, func(func(engine.Job, error) bool) {}); err != nil {
			t.Error(err)
		}
		if d.inFlight() != 1 || d.counted() != 5 {
			t.Errorf("%d in flight, %d counted, want one and five", d.inFlight(), d.counted())
		}
	})
}

// A member makes the call that it has begun, once, and none else.
func TestAMembersCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := NewCalls(), limit.Request{Host: lane.Host, Method: lane.Method, Job: "a"}
		if _, err := c.Acquire(t.Context(), r); !errors.Is(err, errNoGrant) {
			t.Errorf("without a grant: %v", err)
		}
		began := time.Now()
		call := c.Begin("a", began)
		if r := call.Report(); r.How != Unused {
			t.Errorf("%+v", r)
		}
		p, err := c.Acquire(t.Context(), r)
		if err != nil || p.(interface{ WriteBy() time.Time }).WriteBy() != began.Add(writeWithin) {
			t.Fatal(err)
		}
		if _, err := c.Acquire(t.Context(), r); !errors.Is(err, errNoGrant) {
			t.Errorf("a second one: %v", err)
		}
		if r := call.Report(); r.How != Lost {
			t.Errorf("under way: %+v", r)
		}
		time.Sleep(time.Second)
		p.FirstByte()
		time.Sleep(time.Second)
		h := answers("20")
		h.Set("X-Rate-Limit-Type", "application")
		h.Set("Retry-After", "7")
		h.Set("X-Other", "1")
		got := p.Done(429, h)
		if wait := time.Until(got.RetryAt); got.Throttle != limit.Application || wait != 7*time.Second || got.Took != time.Second {
			t.Errorf("%+v, in %v", got, wait)
		}
		c.Note(riot.Call{Receipt: limit.Receipt{Job: "a"}, Class: "429.app", Latency: 3 * time.Second, Bytes: 9})
		time.Sleep(time.Second)
		told := call.Report()
		if told.How != Answered || told.Ago != 2*time.Second || told.Status != 429 || told.Class != "429.app" || told.Bytes != 9 || len(told.Headers) != 6 {
			t.Errorf("%+v", told)
		}
		c.End("a")
		if _, err := c.Acquire(t.Context(), r); !errors.Is(err, errNoGrant) {
			t.Errorf("after its end: %v", err)
		}
	})
}

// A call that was not written, or not answered, is told as that.
func TestAMembersCallWithoutAnAnswer(t *testing.T) {
	for how, end := range map[How]func(riot.Permit){
		Unused: func(p riot.Permit) { p.Refund() },
		Lost:   func(p riot.Permit) { p.Wrote(); p.Lost() },
	} {
		c := NewCalls()
		call := c.Begin("a", time.Now())
		p, err := c.Acquire(t.Context(), limit.Request{Job: "a"})
		if err != nil {
			t.Fatal(err)
		}
		end(p)
		if r := call.Report(); r.How != how {
			t.Errorf("%s: %+v", how, r)
		}
	}
}
