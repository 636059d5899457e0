package journal

import (
	"strconv"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Bounds of the ring that an engine keeps.
const (
	KeepRecords = 20_000
	KeepBytes   = 8 << 20
)

// Sizes of pages (engine.Page).
const (
	defaultPage = 100
	largestPage = 500
)

// Ring holds the newest records of a log, bounded in number and in bytes. It is an
// io.Writer of whole lines. It may be used from any goroutine.
type Ring struct {
	records int
	bytes   int

	mu      sync.Mutex
	rows    []engine.LogRow // ascending by Seq, without gaps
	used    int             // bytes of rows
	seq     uint64
	dropped uint64
}

// NewRing makes a ring of at most so many records and bytes. The newest record
// stays, however large: what one record holds is bounded by Decode.
func NewRing(records, bytes int) *Ring { return &Ring{records: max(records, 1), bytes: bytes} }

// Write takes one line of the log. It never fails, and keeps nothing of p.
func (r *Ring) Write(p []byte) (int, error) {
	row, _ := Decode(p)
	r.Add(row)
	return len(p), nil
}

// Add appends a record and numbers it. One without an instant is of now.
func (r *Ring) Add(row engine.LogRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if row.At.IsZero() {
		row.At = time.Now()
	}
	r.seq++
	row.Seq = r.seq
	r.rows = append(r.rows, row)
	r.used += size(row)
	r.trim()
}

// trim lets go of the oldest. The array behind is left to append, which copies
// what still counts when it has to grow.
func (r *Ring) trim() {
	n := 0
	for len(r.rows)-n > 1 && (len(r.rows)-n > r.records || r.used > r.bytes) {
		r.used -= size(r.rows[n])
		r.rows[n] = engine.LogRow{}
		n++
	}
	r.rows = r.rows[n:]
}

// overhead is about what a record and a field take besides their text.
const (
	recordOverhead = 128
	fieldOverhead  = 32
)

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
	rows, page := r.state()
	limit := pageLimit(q.Page)
	for i := below(rows, q.After) - 1; i >= 0; i-- {
		if !q.Fits(rows[i]) {
			continue
		}
		if len(page.Logs) == limit {
			page.Next = strconv.FormatUint(page.Logs[limit-1].Seq, 10)
			break
		}
		page.Logs = append(page.Logs, rows[i])
	}
	return page
}

// state copies what is kept, so that a search does not hold up those who log.
func (r *Ring) state() ([]engine.LogRow, engine.LogsPage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]engine.LogRow(nil), r.rows...), engine.LogsPage{Kept: len(r.rows), Dropped: r.dropped}
}

// After gives the records after a number, oldest first, at most the newest limit.
func (r *Ring) After(seq uint64, limit int) []engine.LogRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 || r.seq <= seq {
		return nil
	}
	n := int(min(r.seq-seq, uint64(len(r.rows)), uint64(max(limit, 0))))
	return append([]engine.LogRow(nil), r.rows[len(r.rows)-n:]...)
}

// below is how many rows have numbers below a cursor. A cursor that cannot be read
// means the newest.
func below(rows []engine.LogRow, cursor string) int {
	seq, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil || len(rows) == 0 {
		return len(rows)
	}
	first := rows[0].Seq
	if seq <= first {
		return 0
	}
	return int(min(seq-first, uint64(len(rows))))
}

func pageLimit(p engine.Page) int {
	if p.Limit <= 0 {
		return defaultPage
	}
	return min(p.Limit, largestPage)
}
