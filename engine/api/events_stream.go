package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

const typeEvents = "text/event-stream"

// Bounds of one reader of events.
const (
	eventsBatch = 512     // read at once
	maxWords    = 1 << 10 // bytes of a message that a WebSocket's client may send: none is read
)

// eventReader is one who reads events.
type eventReader struct {
	bell    await.Bell
	pos     uint64   // of the last one that was looked at
	account string   // "" = all
	types   []string // none = all
	gap     bool     // what came before pos is not known any more
}

// join adds a reader who has seen the event after; "" = none. An event of another process, or one that
// there has not been yet, makes a gap: nobody knows what lies between.
func (e *Events) join(after, account string, types []string) *eventReader {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := &eventReader{bell: await.NewBell(), pos: e.n, account: account, types: types}
	if after != "" {
		n, ok := e.parse(after)
		r.gap = !ok || n > e.n
		if !r.gap {
			r.pos = n
		}
	}
	e.readers[r] = struct{}{}
	e.on.Store(true)
	e.wake.Ring()
	r.bell.Ring()
	return r
}

// leave takes a reader out. What it has read is kept a while, should it come again.
func (e *Events) leave(r *eventReader) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.readers, r)
	e.left = time.Now()
}

// nextBatch gives what has come since the last time, and how much of it is lost. A hole in the numbers ends
// a batch, so that the gap is said where it is: between the events before it and behind it.
func (e *Events) nextBatch(r *eventReader) (list []packedEvent, missed uint64, more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, _ := slices.BinarySearchFunc(e.ring, r.pos+1, func(p packedEvent, n uint64) int { return cmp.Compare(p.n, n) })
	rest := e.ring[at:]
	// Nothing is kept behind the reader's place: what it lacks, if anything, is lost.
	if len(rest) == 0 {
		missed, r.pos = e.n-r.pos, e.n
		return nil, missed, false
	}
	// The gap is told alone, and what is behind it the next time.
	if missed = rest[0].n - r.pos - 1; missed > 0 {
		r.pos = rest[0].n - 1
		return nil, missed, true
	}
	for i, p := range rest {
		if i == eventsBatch || p.n != r.pos+1 {
			return list, 0, true
		}
		r.pos = p.n
		// One that is about no account, such as an alert, is for all.
		if (r.account == "" || r.account == p.account || p.account == "") &&
			(len(r.types) == 0 || slices.Contains(r.types, p.typ)) {
			list = append(list, p)
		}
	}
	return list, 0, r.pos < e.n
}

// sink is where a reader's events go.
type sink interface {
	send(ctx context.Context, id, typ string, raw []byte) error
	beat(ctx context.Context) error
}

// stream sends a reader's events until the sink fails or ctx ends. A silent stream beats, or a proxy
// would take it for dead.
func (e *Events) stream(ctx context.Context, r *eventReader, out sink) error {
	// Hello comes before the gap: a reader who has lost something finds there what is under way now.
	if err := e.hello(ctx, r, out); err != nil {
		return err
	}
	if r.gap {
		if err := e.sendEvent(ctx, out, event{Type: eventGap}, r.pos); err != nil {
			return err
		}
	}
	beat := time.NewTicker(defaultBeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-beat.C:
			if err := out.beat(ctx); err != nil {
				return err
			}
		case <-r.bell:
			if err := e.pass(ctx, r, out); err != nil {
				return err
			}
		}
	}
}

// pass sends all there is.
func (e *Events) pass(ctx context.Context, r *eventReader, out sink) error {
	for {
		list, missed, more := e.nextBatch(r)
		if missed > 0 {
			if err := e.sendEvent(ctx, out, event{Type: eventGap, Missed: missed}, r.pos); err != nil {
				return err
			}
		}
		for _, p := range list {
			if err := out.send(ctx, e.id(p.n), p.typ, p.raw); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// hello tells what is under way. The reader has joined before: what happens
// meanwhile follows.
func (e *Events) hello(ctx context.Context, r *eventReader, out sink) error {
	status, err := engine.Ask[engine.StatusAnswer](ctx, e.opt.Console, engine.StatusQuery{})
	if err != nil {
		return err
	}
	ev := event{Type: eventHello}
	for _, row := range status.Open {
		if r.account == "" || r.account == row.ID {
			ev.Open = append(ev.Open, progressOf(row))
		}
	}
	return e.sendEvent(ctx, out, ev, r.pos)
}

// sendEvent sends an event that is for one reader only. It has the number of the event before it: whoever
// comes again with it misses nothing.
func (e *Events) sendEvent(ctx context.Context, out sink, ev event, pos uint64) error {
	ev.N, ev.ID, ev.At = pos, e.id(pos), time.Now()
	raw, err := encode(ev)
	if err != nil {
		return err
	}
	return out.send(ctx, ev.ID, ev.Type, raw[:len(raw)-1])
}

// eventTypes are those that can be asked for.
var eventTypes = []string{eventProgress, eventJob, eventAlert, eventCollection}

// pathEvents is where they are read.
const pathEvents = "/v1/events"

var paramPass = Param{"pass", "of POST /v1/events/pass, in place of the token: for a page in a browser, whose readers of streams send no header"}

// passTime is how long a pass opens a stream; one that is open goes on.
const passTime = 10 * time.Minute

// eventPass lets its bearer open streams of events.
type eventPass struct {
	Pass    string    `json:"pass"`
	Expires time.Time `json:"expires"`
}

// eventPass makes a pass.
func (p *Programs) eventPass(*Request) (eventPass, error) {
	if p.opt.Pass == nil {
		return eventPass{}, engine.Problemf(engine.ErrNotFound, "set `http_listen`", "no page can ask this engine: it listens on no address")
	}
	until := time.Now().Add(passTime).Truncate(time.Second)
	return eventPass{p.opt.Pass(until), until}, nil
}

// events answers with a stream: server-sent events, or a WebSocket for whoever asks to upgrade.
// Last-Event-ID, which browsers send when they connect anew, goes before ?after.
func (p *Programs) events(w http.ResponseWriter, r *Request) error {
	e := p.opt.Events
	if e == nil {
		return engine.Problemf(engine.ErrNotFound, "", "this engine tells no events")
	}
	q := r.URL.Query()
	var types []string
	if text := q.Get("types"); text != "" {
		types = strings.Split(text, ",")
	}
	for _, t := range types {
		if !slices.Contains(eventTypes, t) {
			return engine.Problemf(engine.ErrInvalid, "use "+strings.Join(eventTypes, ", "), "there is no type of events %q", t)
		}
	}
	account, err := p.accountID(r.Context(), q.Get("account"))
	if err != nil {
		return err
	}
	// The request is judged before the reader joins: one that is refused makes no events.
	over := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	if err := handshake(w, r); over && err != nil {
		return err
	}
	// "k3f9.41", as an event has it under id
	after := q.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		after = last
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", typeEvents)
		return nil
	}
	ctx, cancel := untilEnd(r.Context())
	defer cancel()
	reader := e.join(after, account, types)
	defer e.leave(reader)
	if over {
		return e.overSocket(ctx, w, r, reader)
	}
	w.Header().Set("Content-Type", typeEvents)
	passOn(w)
	w.WriteHeader(http.StatusOK)
	_ = e.stream(ctx, reader, sse{w}) // whoever has gone needs no answer
	return nil
}

// accountID is the id of an account that is named by it or by its Riot ID; "" of
// none. One that is unknown is an error: its reader would wait for ever.
func (p *Programs) accountID(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	d, err := engine.Ask[engine.AccountDetail](ctx, p.opt.Console, engine.AccountQuery{ID: name})
	return d.Row.ID, err
}

// overSocket sends events over a WebSocket, one a message. Where the request comes
// from was checked before it got here.
func (e *Events) overSocket(ctx context.Context, w http.ResponseWriter, r *Request, reader *eventReader) error {
	// The option switches off the library's check of the Origin, which welcome has made by the
	// configuration.
	c, err := websocket.Accept(w, r.Request, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // it has answered
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(maxWords)
	// Nothing of what a client sends is read but its goodbye, so that the library sees it go.
	reading, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	gone := c.CloseRead(reading)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(gone, cancel)()
	// The library cuts a connection whose write is given up, so one under way is let end.
	writing, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(goodbye, cut) })()
	_ = e.stream(ctx, reader, socketSink{c, writing})
	if gone.Err() != nil {
		return nil
	}
	// The library waits five seconds for a client that does not say goodbye.
	defer time.AfterFunc(goodbye, hangUp).Stop()
	_ = c.Close(websocket.StatusGoingAway, "the engine stops")
	return nil
}

// sse writes server-sent events. A reader may be slow, but not for ever; meanwhile
// events are kept for them, or lost with a gap.
type sse struct{ w http.ResponseWriter }

// send writes one event with its id, by which a browser goes on after it has connected anew.
func (s sse) send(_ context.Context, id, typ string, raw []byte) error {
	return writeSlowly(s.w, fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, typ, raw))
}

// beat is a comment.
func (s sse) beat(context.Context) error {
	return writeSlowly(s.w, []byte(": the engine lives\n\n"))
}

// socketSink writes to a WebSocket.
type socketSink struct {
	c       *websocket.Conn
	writing context.Context // ends a while after the stream's own
}

// send writes the event alone: its id and its type are members of it.
func (s socketSink) send(_ context.Context, _, _ string, raw []byte) error {
	ctx, cancel := context.WithTimeout(s.writing, writeTimeout)
	defer cancel()
	return s.c.Write(ctx, websocket.MessageText, raw)
}

// beat waits for the pong: the library reads for it beside the writes.
func (s socketSink) beat(context.Context) error {
	ctx, cancel := context.WithTimeout(s.writing, writeTimeout)
	defer cancel()
	return s.c.Ping(ctx)
}

// webSocketVersion is the only one there is (RFC 6455).
const webSocketVersion = "13"

// handshake says what is wrong with the request for a WebSocket, as a problem and with
// the headers that RFC 6455 wants beside it: the library would answer in plain text.
func handshake(w http.ResponseWriter, r *Request) error {
	const do = "let a WebSocket library make the request, or ask without Upgrade for server-sent events"
	switch key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-WebSocket-Key")); {
	case !r.ProtoAtLeast(1, 1) || !hasToken(r.Header["Connection"], "upgrade"):
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		return faultf(http.StatusUpgradeRequired, engine.ErrInvalid, do, "the request has no Connection: Upgrade")
	case r.Header.Get("Sec-WebSocket-Version") != webSocketVersion:
		w.Header().Set("Sec-WebSocket-Version", webSocketVersion)
		return engine.Problemf(engine.ErrInvalid, do, "the WebSocket's version is %q, not %s",
			short(r.Header.Get("Sec-WebSocket-Version")), webSocketVersion)
	case err != nil || len(key) != 16:
		return engine.Problemf(engine.ErrInvalid, do, "Sec-WebSocket-Key holds no 16 bytes")
	}
	return nil
}
