package logs

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
)

// Record is a record of the log with its fields as text.
type Record = columns.Record

func recordOf(r engine.LogRow) Record {
	out := Record{LogRow: r, Pairs: make([]string, 0, len(r.Fields)+1)}
	told, named := make([]string, 0, len(r.Fields)+1), false
	for _, first := range []bool{true, false} {
		for _, f := range r.Fields {
			if slices.Contains(firstFields, f.Key) == first {
				named = named || f.Key == "job"
				out.Pairs = append(out.Pairs, f.Key+"="+f.Value)
				told = append(told, f.Key+"="+columns.InShort(f.Value))
			}
		}
	}
	if r.Job != "" && !named {
		out.Pairs = append(out.Pairs, "job="+string(r.Job))
		told = append(told, "job="+string(r.Job))
	}
	out.Told = strings.Join(told, " ")
	return out
}

// firstFields are told before the others, which a row may have no room for: what a
// record is about and how it ended.
var firstFields = []string{"account", "target", "match", "bucket", "alert", "status", "result", "state", "err"}

// logBook joins what the engine had in memory with what Watch has told since.
type logBook struct {
	records  []Record // oldest first
	last     uint64   // Seq of the newest one
	restarts uint64   // of the data that it was made of
	kept     int      // in the engine's memory
	next     string   // cursor of older ones; "" = there are none
	older    bool     // they are wanted

	seen    []Record // that fit
	fitting int
}

// read takes an answer, which is newest first.
func (b *logBook) read(page engine.LogsPage, older bool) {
	rows := make([]Record, 0, len(page.Logs))
	for _, r := range slices.Backward(page.Logs) {
		rows = append(rows, recordOf(r))
	}
	b.kept, b.next = page.Kept, page.Next
	if older {
		b.records = append(rows, b.records...)
		return
	}
	newer := b.records
	b.records, b.last = rows, 0
	if len(rows) > 0 {
		b.last = rows[len(rows)-1].Seq
	}
	for _, r := range newer { // what Watch told while the question was under way
		if r.Seq > b.last {
			b.records, b.last = append(b.records, r), r.Seq
		}
	}
}

// collect takes what Watch has told. Another snapshot may be of another engine,
// whose numbers begin anew.
func (b *logBook) collect(v *page.View) {
	if v.Restarts != b.restarts && !v.Frozen {
		*b = logBook{restarts: v.Restarts, kept: b.kept}
	}
	from, _ := slices.BinarySearchFunc(v.Logs, b.last+1, func(r engine.LogRow, seq uint64) int {
		if r.Seq < seq {
			return -1
		}
		return 1
	})
	for _, r := range v.Logs[from:] {
		b.records, b.last = append(b.records, recordOf(r)), r.Seq
	}
	if over := len(b.records) - mostLogs; over > 0 {
		b.records = slices.Clone(b.records[over:])
	}
}

// mostLogs bounds what a screen holds; the engine and its file have more.
const mostLogs = 10_000

// leveled keeps the records of a level and above, of one job if it is named.
func (b *logBook) leveled(level int, job engine.JobID) []Record {
	if level == 0 && job == "" {
		return b.records
	}
	var out []Record
	for _, r := range b.records {
		if block.LevelRank(r.Level) >= level && (job == "" || r.Job == job) {
			out = append(out, r)
		}
	}
	return out
}

// logLine is a line of the log: a record, or a fold that stands for several.
type logLine struct {
	id    string
	at    int           // of its record in the fitting ones
	more  int           // records that it stands for; 0 = it is a record itself
	first uint64        // Seq of the burst's first record
	span  time.Duration // from the first to the last of the burst
}

// A burst is at least so many equal messages, none later than so long after the
// one before.
const (
	burstLeast = 4
	burstGap   = 5 * time.Second
)

// foldLines makes lines of records: a burst is its first record and a fold.
func foldLines(all []Record, open map[uint64]bool) []logLine {
	lines := make([]logLine, 0, len(all))
	for i := 0; i < len(all); {
		n := burst(all[i:])
		if n < burstLeast || open[all[i].Seq] {
			for k := range n {
				lines = append(lines, logLine{id: "r" + strconv.FormatUint(all[i+k].Seq, 10), at: i + k, first: all[i].Seq})
			}
			i += n
			continue
		}
		seq := strconv.FormatUint(all[i].Seq, 10)
		lines = append(lines, logLine{id: "r" + seq, at: i, first: all[i].Seq})
		lines = append(lines, logLine{id: "f" + seq, at: i + n - 1, more: n - 1, first: all[i].Seq, span: all[i+n-1].At.Sub(all[i].At)})
		i += n
	}
	return lines
}

// burst counts the records at the start that say the same.
func burst(all []Record) int {
	n := 1
	for n < len(all) && sameMessage(&all[n], &all[0]) && all[n].At.Sub(all[n-1].At) <= burstGap {
		n++
	}
	return n
}

func sameMessage(a, b *Record) bool {
	return a.Text == b.Text && a.Level == b.Level && a.Area == b.Area
}
