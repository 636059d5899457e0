package logs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
)

// recordOf gives the fields their order once, when the record comes: a row is drawn many times.
// Pairs hold the values whole, Told in short; the job stands in both, however it was logged.
func recordOf(r engine.LogRow) columns.Record {
	out := columns.Record{LogRow: r, Pairs: make([]string, 0, len(r.Fields)+1)}
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

// book joins what the engine had in memory with what Watch has told since.
// Records of Watch and of answers overlap; Seq, which the engine counts up by record, tells which
// are known already.
type book struct {
	records  []columns.Record // oldest first
	last     uint64           // Seq of the newest one
	restarts uint64           // of the data that it was made of
	// More than records, where not all were asked for yet.
	kept  int    // in the engine's memory
	next  string // cursor of older ones; "" = there are none
	older bool   // they are wanted

	seen    []columns.Record // that fit
	fitting int
}

// read takes an answer, which is newest first.
// older says that the page continues the list to the past; else it takes the place of all.
func (b *book) read(page engine.LogsPage, older bool) {
	rows := make([]columns.Record, 0, len(page.Logs))
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
// A frozen view keeps what it has, whatever the engine did meanwhile.
func (b *book) collect(v *page.View) {
	if v.Restarts != b.restarts && !v.Frozen {
		*b = book{restarts: v.Restarts, kept: b.kept}
	}
	from, _ := slices.BinarySearchFunc(v.Logs, b.last+1,
		func(r engine.LogRow, seq uint64) int { return cmp.Compare(r.Seq, seq) })
	for _, r := range v.Logs[from:] {
		b.records, b.last = append(b.records, recordOf(r)), r.Seq
	}
	// Cloned, so that the array of the dropped ones is given back.
	if over := len(b.records) - mostRecords; over > 0 {
		b.records = slices.Clone(b.records[over:])
	}
}

// mostRecords bounds what a screen holds; the engine and its file have more.
const mostRecords = 10_000

// leveled keeps the records of a level and above, of one job if it is named.
// A level of 0 means all.
func (b *book) leveled(level int, job engine.JobID) []columns.Record {
	if level == 0 && job == "" {
		return b.records
	}
	var out []columns.Record
	for _, r := range b.records {
		if block.LevelRank(r.Level) >= level && (job == "" || r.Job == job) {
			out = append(out, r)
		}
	}
	return out
}

// line is a line of the log: a record, or a fold that stands for several.
// Its id is "r" or "f" with the Seq of its record, or of the first record of its burst: "f18240".
type line struct {
	id    string
	at    int           // of its record in the fitting ones
	more  int           // records that it stands for; 0 = it is a record itself
	first uint64        // Seq of the burst's first record
	span  time.Duration // from the first to the last of the burst
}

// A burst is at least so many equal messages, none later than so long after the
// one before.
// Of three a fold would save one row; what comes after 5 s of silence is another event.
const (
	burstLeast = 4
	burstGap   = 5 * time.Second
)

// foldLines makes lines of records: a burst is its first record and a fold.
// open names the bursts that were opened, by the Seq of their first record; those are listed whole.
func foldLines(all []columns.Record, open map[uint64]bool) []line {
	lines := make([]line, 0, len(all))
	for i := 0; i < len(all); {
		n := burst(all[i:])
		if n < burstLeast || open[all[i].Seq] {
			for k := range n {
				lines = append(lines, line{id: "r" + strconv.FormatUint(all[i+k].Seq, 10), at: i + k,
					first: all[i].Seq})
			}
			i += n
			continue
		}
		seq := strconv.FormatUint(all[i].Seq, 10)
		lines = append(lines, line{id: "r" + seq, at: i, first: all[i].Seq})
		lines = append(lines, line{id: "f" + seq, at: i + n - 1, more: n - 1, first: all[i].Seq,
			span: all[i+n-1].At.Sub(all[i].At)})
		i += n
	}
	return lines
}

// burst counts the records at the start that say the same.
// It is at least 1. Fields may differ: a burst is the same message about different jobs.
func burst(all []columns.Record) int {
	n := 1
	for n < len(all) && sameMessage(&all[n], &all[0]) && all[n].At.Sub(all[n-1].At) <= burstGap {
		n++
	}
	return n
}

// sameMessage reports whether two records differ in nothing but their fields and instant.
func sameMessage(a, b *columns.Record) bool {
	return a.Text == b.Text && a.Level == b.Level && a.Area == b.Area
}
