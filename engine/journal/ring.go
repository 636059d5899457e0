package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine"
)

// Bounds of the ring that an engine keeps.
const (
	KeepRecords = 20_000
	KeepBytes   = 8 << 20
)

// Bounds of what is kept of debug records. They are many, so they have a room of
// their own: a warning must not fall out because of calls that went well.
const (
	keepQuiet      = 4_000
	keepQuietBytes = 2 << 20
)

// Ring holds the newest records of a log, bounded in number and in bytes. It is an
// io.Writer of whole lines. It may be used from any goroutine.
type Ring struct {
	mu      sync.Mutex
	rows    shelf[engine.LogRow]
	quiet   shelf[quietLine]
	seq     uint64
	dropped uint64
}

// shelf holds the newest of what is put on it, in ascending order of the numbers.
type shelf[T any] struct {
	all   []T
	used  int // bytes of all
	most  int // how many at most
	bytes int // how many bytes at most, but for the newest, which stays however large
	size  func(T) int
}

// push adds one and lets go of the oldest that have no room any more. The array behind is left to append,
// which copies what still counts when it has to grow.
func (s *shelf[T]) push(v T) {
	s.all = append(s.all, v)
	s.used += s.size(v)
	n := 0
	for len(s.all)-n > 1 && (len(s.all)-n > s.most || s.used > s.bytes) {
		s.used -= s.size(s.all[n])
		clear(s.all[n : n+1]) // its text is not kept by the array
		n++
	}
	s.all = s.all[n:]
}

// quietLine is a debug record as it was written. Nobody looks at most of them: they
// are decoded when somebody asks.
type quietLine struct {
	seq  uint64
	line []byte
}

// NewRing makes a ring of at most so many records and bytes. The newest record
// stays, however large: what one record holds is bounded by Decode.
func NewRing(records, bytes int) *Ring {
	return &Ring{
		rows:  shelf[engine.LogRow]{most: max(records, 1), bytes: bytes, size: size},
		quiet: shelf[quietLine]{most: keepQuiet, bytes: keepQuietBytes, size: func(q quietLine) int { return len(q.line) }},
	}
}

// Write takes one line of the log. It never fails, and keeps nothing of p.
func (r *Ring) Write(p []byte) (int, error) {
	row, _ := Decode(p)
	r.Add(row)
	return len(p), nil
}

// Quiet takes one line of level debug. Only who asks for that level sees it: Page
// does, After does not, since a console is not sent a record per call.
func (r *Ring) Quiet(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	r.quiet.push(quietLine{r.seq, bytes.Clone(p)})
}

// Add appends a record and numbers it. One without an instant is of now. Numbers rise by one over all
// records, debug ones included, and begin anew with each process.
func (r *Ring) Add(row engine.LogRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if row.At.IsZero() {
		row.At = time.Now()
	}
	r.seq++
	row.Seq = r.seq
	r.rows.push(row)
}

// recordOverhead and fieldOverhead are about what a record and a field take besides their text.
const (
	recordOverhead = 128
	fieldOverhead  = 32
)

// size is about what a record takes in memory, in bytes.
func size(row engine.LogRow) int {
	n := recordOverhead + len(row.Text) + len(row.Area) + len(row.Job)
	for _, f := range row.Fields {
		n += fieldOverhead + len(f.Key) + len(f.Value)
	}
	return n
}

// Drop counts a record that the log file could not take.
func (r *Ring) Drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped++
}

// Dropped is how many records the log file could not take.
func (r *Ring) Dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// Page answers a query, newest first. Next is the number to go on below.
func (r *Ring) Page(q engine.LogsQuery) engine.LogsPage {
	// Searched without the lock: a text that nothing fits is looked for in every record.
	k := r.state(q)
	page := engine.LogsPage{Kept: len(k.rows) + len(k.quiet), Dropped: k.dropped}
	limit := q.Rows()
	k.below(q.After)
	for row, ok := k.pop(); ok; row, ok = k.pop() {
		if !q.Fits(row) {
			continue
		}
		if len(page.Logs) == limit {
			page.Next = strconv.FormatUint(page.Logs[limit-1].Seq, 10)
			break
		}
		page.Logs = append(page.Logs, row)
	}
	return page
}

// kept is a copy of what the ring holds, so that a search does not hold up those
// who log.
type kept struct {
	rows    []engine.LogRow
	quiet   []quietLine
	dropped uint64
}

// state copies what a query may look at: debug records only for whoever asks for that level.
func (r *Ring) state(q engine.LogsQuery) kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := kept{rows: slices.Clone(r.rows.all), dropped: r.dropped}
	// The lowest of the levels is debug.
	if q.Level == engine.LogLevels()[0] {
		k.quiet = slices.Clone(r.quiet.all)
	}
	return k
}

// below lets go of what is not older than a cursor. One that cannot be read means
// the newest.
func (k *kept) below(cursor string) {
	seq, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return
	}
	k.rows = k.rows[:sort.Search(len(k.rows), func(i int) bool { return k.rows[i].Seq >= seq })]
	k.quiet = k.quiet[:sort.Search(len(k.quiet), func(i int) bool { return k.quiet[i].seq >= seq })]
}

// pop takes the newest record out.
func (k *kept) pop() (row engine.LogRow, ok bool) {
	n, m := len(k.rows), len(k.quiet)
	switch {
	case n == 0 && m == 0:
		return row, false
	// The two are one log, in the order of their numbers.
	case m == 0 || n > 0 && k.rows[n-1].Seq > k.quiet[m-1].seq:
		row, k.rows = k.rows[n-1], k.rows[:n-1]
		return row, true
	}
	last := k.quiet[m-1]
	k.quiet = k.quiet[:m-1]
	row, _ = Decode(last.line)
	row.Seq = last.seq
	return row, true
}

// After gives the records after a number, oldest first, at most the newest limit.
// Debug records are not among them.
func (r *Ring) After(seq uint64, limit int) []engine.LogRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := sort.Search(len(r.rows.all), func(i int) bool { return r.rows.all[i].Seq > seq })
	return slices.Clone(r.rows.all[max(from, len(r.rows.all)-max(limit, 0)):])
}

// Bounds of one record: a stack is long, and what a server said may be anything.
const (
	maxValue  = 16 << 10 // bytes of a text or a value
	maxFields = 64
)

// levels are the words that zerolog writes, as ours.
var levels = map[string]string{
	"trace": "debug", "debug": "debug", "info": "info", "warn": "warn",
	"error": "error", "fatal": "error", "panic": "error",
}

// errNotARecord says that a line is no JSON object.
var errNotARecord = errors.New("not a log record")

// Decode reads one line of the log as zerolog writes it. A line that is none, such
// as one cut by a crash, comes back as text of level info, and ok is false.
func Decode(line []byte) (row engine.LogRow, ok bool) {
	line = bytes.TrimSpace(line)
	if err := decode(line, &row); err != nil {
		return engine.LogRow{Level: "info", Text: bounded(string(line))}, false
	}
	if row.Level == "" {
		row.Level = "info"
	}
	return row, true
}

// decode reads the members one by one and not into a map: fields keep the order in which they were
// logged.
func decode(line []byte, row *engine.LogRow) error {
	// {"level":"warn","job":"b41","attempt":2,"time":"…","message":"attempt failed"}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errNotARecord
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return errNotARecord
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return errNotARecord
		}
		setMember(row, key.(string), textOf(raw)) // keys of an object are strings, or Token has failed
	}
	if _, err := d.Token(); err != nil || d.More() {
		return errNotARecord
	}
	return nil
}

// setMember puts one member of the object where it belongs. What does not look like
// its name says stays a field: nothing is lost.
func setMember(row *engine.LogRow, key, value string) {
	switch key {
	case "level":
		if l, known := levels[value]; known {
			row.Level = l
			return
		}
	case "time":
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			row.At = at
			return
		}
	case "message":
		row.Text = value
		return
	case "area":
		row.Area = value
		return
	case "job":
		row.Job = engine.JobID(value)
		return
	}
	if len(row.Fields) < maxFields {
		row.Fields = append(row.Fields, engine.LogField{Key: bounded(key), Value: value})
	}
}

// textOf is a JSON value as a person reads it: strings without their quotes.
func textOf(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return bounded(s)
	}
	return bounded(string(raw))
}

// bounded cuts a text at a rune.
func bounded(s string) string {
	if len(s) <= maxValue {
		return s
	}
	// Back to where a rune begins, at most three bytes.
	n := maxValue
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n]) + "…"
}
