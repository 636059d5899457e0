package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/farsight-console/farsight/engine"
)

// broadcast is a listener for programs whose events run.
type broadcast struct {
	*web
	*office
	events *Events
	mu     sync.Mutex
	alerts []engine.AlertRow
	of     []engine.CollectionRow
	open   []engine.AccountRow
}

func tell(t testing.TB) *broadcast {
	t.Helper()
	b := &broadcast{office: quiet()}
	rest := b.find
	b.find = func(q engine.Query) (engine.Answer, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch q := q.(type) {
		case engine.AccountQuery:
			if id := strings.TrimPrefix(q.ID, "Name#"); strings.HasPrefix(id, "01") {
				return engine.AccountDetail{Row: engine.AccountRow{ID: id}}, nil
			}
		case engine.AlertsQuery:
			return engine.AlertsAnswer{Alerts: append([]engine.AlertRow(nil), b.alerts...)}, nil
		case engine.CollectionsQuery:
			return engine.CollectionsAnswer{Collections: slices.Clone(b.of)}, nil
		case engine.StatusQuery:
			return engine.StatusAnswer{Engine: engine.EngineRow{State: engine.EngineLive}, Open: b.open}, nil
		}
		return rest(q)
	}
	b.events = NewEvents(EventsOptions{Console: b.office, Boot: "b0.0t"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.events.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	b.web = listen(t, b.office, func(p *ProgramsOptions, _ *Options) { p.Events = b.events })
	return b
}

// reader reads server-sent events.
type reader struct {
	t     testing.TB
	lines *bufio.Reader
	close func()
}

func (b *broadcast) read(t testing.TB, query, last string) *reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	req, err := http.NewRequestWithContext(ctx, "GET", b.base+"/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	r := &reader{t: t, lines: bufio.NewReader(resp.Body), close: sync.OnceFunc(func() { cancel(); resp.Body.Close() })}
	t.Cleanup(r.close)
	if hello := r.next(); hello.Type != eventHello {
		t.Fatalf("the first event is %+v", hello)
	}
	return r
}

// next is the next event. Its fields and its data say the same.
func (r *reader) next() (e event) {
	r.t.Helper()
	fields := map[string]string{}
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			r.t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		if name, value, ok := strings.Cut(line, ": "); ok && name != "" {
			fields[name] = value
		}
		if line == "" && fields["data"] != "" {
			break
		}
	}
	if err := json.Unmarshal([]byte(fields["data"]), &e); err != nil {
		r.t.Fatal(err)
	}
	if e.ID != fields["id"] || e.Type != fields["event"] {
		r.t.Errorf("%+v stands under %v", e, fields)
	}
	return e
}

// until skips to an event of a type.
func (r *reader) until(typ string) event {
	r.t.Helper()
	for {
		if e := r.next(); e.Type == typ {
			return e
		}
	}
}

func ended(id int) engine.Change {
	return engine.Change{Before: engine.Running, Job: &engine.Job{ID: engine.JobID("c" + strconv.Itoa(id)), Kind: "match.fetch", Owner: "01A", State: engine.Completed, Attempts: 1}}
}

func account(id string, done int) engine.Change {
	return engine.Change{Account: &engine.AccountRow{ID: id, RiotID: "Name\x1b[31m#" + id, Status: engine.Syncing, Phase: engine.PhaseMatches, Matches: engine.Progress{Total: 100, Stored: done, Open: 100 - done}}}
}

func TestS1_11_EventsOfASync(t *testing.T) {
	t.Parallel()
	b := tell(t)
	b.mu.Lock()
	b.open = []engine.AccountRow{*account("01A", 5).Account}
	b.mu.Unlock()
	r := b.read(t, "", "")
	one := b.read(t, "?account=01B&types=progress,alert", "")

	// A hundred commits in a row are one event of progress, and a hundred ends of jobs.
	began := time.Now()
	for i := range 100 {
		b.events.Publish([]engine.Change{account("01A", i+1), ended(i), {Job: &engine.Job{ID: "c7", State: engine.Running}}})
	}
	b.events.Publish([]engine.Change{account("01B", 3)})
	var last uint64
	jobs, progress := 0, 0
	for jobs < 100 || progress < 2 {
		e := r.next()
		if last != 0 && e.N != last+1 {
			t.Errorf("%d came after %d", e.N, last)
		}
		last = e.N
		switch e.Type {
		case eventJob:
			if e.Job.ID != engine.JobID("c"+strconv.Itoa(jobs)) || e.Job.State != engine.Completed {
				t.Errorf("%+v", e.Job)
			}
			jobs++
		case eventProgress:
			progress++
			if p := e.Progress; p.Account == "01A" && jobs == 100 && (p.Done != 100 || p.Total != 100 || p.RiotID != "Name\x1b[31m#01A") {
				t.Errorf("%+v", p)
			}
		}
	}
	if most := 20 + 2*int(time.Since(began)/(250*time.Millisecond)); progress > most {
		t.Errorf("%d events of progress of 101 commits", progress)
	}
	if e := one.next(); e.Type != eventProgress || e.Progress.Account != "01B" || e.Progress.Done != 3 {
		t.Errorf("who asked for one account was told %+v", e)
	}

	// An alert that comes to fire is told, once.
	b.mu.Lock()
	b.alerts = []engine.AlertRow{{ID: "429", Rule: "429", State: engine.AlertFiring}}
	b.mu.Unlock()
	for _, r := range []*reader{r, one} {
		if e := r.until(eventAlert); e.Alert.ID != "429" || e.Alert.State != engine.AlertFiring {
			t.Errorf("%+v", e.Alert)
		}
	}
	b.mu.Lock()
	b.alerts[0].State = engine.AlertAcknowledged
	b.mu.Unlock()
	if e := r.until(eventAlert); e.Alert.State != engine.AlertAcknowledged {
		t.Errorf("%+v", e.Alert)
	}
}

// A collection that has come further is told, to whoever does not ask for an account.
func TestL9_EventsOfACollection(t *testing.T) {
	t.Parallel()
	b := tell(t)
	r, one := b.read(t, "?types=collection", ""), b.read(t, "?types=collection,job&account=01A", "")
	for n := range 3 {
		b.mu.Lock()
		b.of = []engine.CollectionRow{{Collection: engine.Collection{ID: "01C"}, Listed: n}}
		b.mu.Unlock()
		for told := -1; told < n; {
			told = r.next().Collection.Listed
		}
	}
	b.events.Publish([]engine.Change{ended(1)})
	if e := one.next(); e.Type != eventJob {
		t.Errorf("%+v", e)
	}
}

func TestEventsGoOnBehindTheLastOne(t *testing.T) {
	t.Parallel()
	b := tell(t)
	r := b.read(t, "?types=job", "")
	b.events.Publish([]engine.Change{ended(0), ended(1)})
	first := r.next()
	r.next()
	r.close()
	for i := 2; i < 50; i++ {
		b.events.Publish([]engine.Change{ended(i)})
	}
	r = b.read(t, "?types=job", first.ID)
	for i := 1; i < 50; i++ {
		if e := r.next(); e.Type != eventJob || e.Job.ID != engine.JobID("c"+strconv.Itoa(i)) {
			t.Fatalf("event %d is %+v", i, e)
		}
	}
	again := b.read(t, "?types=job&after="+first.ID, "")
	if e := again.next(); e.Job == nil || e.Job.ID != "c1" {
		t.Errorf("%+v", e)
	}

	// What is not kept any more is said, with how much it is; of another process
	// nobody knows.
	for i := range 6000 {
		b.events.Publish([]engine.Change{ended(i)})
		if i%1000 != 999 {
			continue
		}
		for e := r.next(); e.Job == nil || e.Job.ID != engine.JobID("c"+strconv.Itoa(i)); e = r.next() {
			// The last one came: all before it are packed.
		}
	}
	r = b.read(t, "", first.ID)
	if e := r.next(); e.Type != eventGap || e.Missed < 1000 {
		t.Errorf("%+v", e)
	} else if next := r.next(); next.N != e.N+1 {
		t.Errorf("%d comes after a gap up to %d", next.N, e.N)
	}
	for _, strange := range []string{"other.5", "b00t.999999999", "nonsense", "b00t.-1"} {
		r = b.read(t, "?types=job", strange)
		if e := r.next(); e.Type != eventGap || e.Missed != 0 {
			t.Errorf("%s: %+v", strange, e)
		}
	}
}

// A reader who does not read is overtaken: publishing never waits for anybody.
func TestASlowReaderOfEventsCostsNothing(t *testing.T) {
	t.Parallel()
	b := tell(t)
	slow := b.read(t, "", "")
	long := strings.Repeat("x", 1000)
	for i := range 50_000 {
		c := ended(i)
		c.Job.LastError = long
		b.events.Publish([]engine.Change{c})
		if i%5000 == 0 {
			time.Sleep(50 * time.Millisecond) // so that some are packed
		}
	}
	last := uint64(0)
	for {
		e := slow.next()
		if e.Type == eventGap && e.Missed > 0 {
			break
		}
		if last != 0 && e.N != last+1 {
			t.Fatalf("%d came after %d, and no gap was told", e.N, last)
		}
		last = e.N
	}
}

func TestEventsOverAWebSocket(t *testing.T) {
	t.Parallel()
	b := tell(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dial := func(head http.Header) (*websocket.Conn, error) {
		c, resp, err := websocket.Dial(ctx, strings.Replace(b.base, "http", "ws", 1)+"/v1/events?types=job", &websocket.DialOptions{HTTPHeader: head, HTTPClient: b.http})
		if err != nil && resp != nil {
			err = fmt.Errorf("status %d", resp.StatusCode)
		}
		return c, err
	}
	auth := http.Header{"Authorization": {"Bearer " + b.token}}
	for want, head := range map[string]http.Header{
		"401": {}, "403": {"Authorization": auth["Authorization"], "Origin": {"http://evil.example"}},
	} {
		if c, err := dial(head); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v %v", head, c, err)
		}
	}
	c, err := dial(http.Header{"Authorization": auth["Authorization"], "Origin": {b.base}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	next := func() (e event) {
		t.Helper()
		typ, raw, err := c.Read(ctx)
		if err != nil || typ != websocket.MessageText {
			t.Fatal(typ, err)
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := next(); e.Type != eventHello {
		t.Errorf("%+v", e)
	}
	b.events.Publish([]engine.Change{account("01A", 1), ended(1), ended(2)})
	one, two := next(), next()
	if one.Job.ID != "c1" || two.Job.ID != "c2" || two.N != one.N+1 {
		t.Errorf("%+v %+v", one, two)
	}
}
