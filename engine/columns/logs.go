package columns

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/table"
)

// Record is a record of the log with its fields as text.
type Record struct {
	engine.LogRow
	Pairs []string // key=value
	Told  string   // the same in one row, an error without what the row says anyhow
}

// Logs is what is told of a record of the log.
// A filter asks for a field by its pair: field:bucket=app:europe.
var Logs = catalogue(filter.Options{
	Free:  []string{"text", "area", "field", "job"},
	Fuzzy: []string{"text"},
	Age:   "age", When: "at",
	Keys: []string{"match", "timeline", "full", "latest"},
},
	prose("text", "", func(r *Record) string { return r.Text }).head("TEXT", table.Words, 0, 0),
	name("area", "limiter, riot, storage", func(r *Record) string { return r.Area }).head("AREA", table.Words, 0, 0),
	enum("level", "", levelWords, recordLevel).ranked().head("LEVEL", table.Words, 0, 0).
		says(func(r *Record) string { return r.Level }),
	name("job", "id of a job", func(r *Record) engine.JobID { return r.Job }).head("JOB", table.Words, 0, 0),
	tags("field", "key=value, or a part of it", func(r *Record) *[]string { return &r.Pairs }).inside().
		head("FIELDS", table.Words, 0, 0).says(func(r *Record) string { return strings.Join(r.Pairs, " ") }),
	past("at", "", func(r *Record) time.Time { return r.At }).head("TIME", table.Words, 0, 0).
		penned(func(p Pen, r *Record) string {
			return r.At.In(p.Now().Location()).Format("2006-01-02T15:04:05.000Z07:00")
		}),
	age("age", "", func(r *Record) time.Time { return r.At }),
)

// LogExport are the columns of records that a screen copies or writes to a file; it draws
// records line by line itself.
var LogExport = Logs.Pick("at level area text job field")

// levelWords are the levels as a filter asks for them: level>=warn.
var levelWords = func() []filter.Word {
	short := map[string]string{"debug": "dbg", "info": "inf", "warn": "wrn", "error": "err"}
	var words []filter.Word
	for i, level := range engine.LogLevels() {
		words = append(words, filter.Word{Name: level, Aliases: []string{short[level]}, Bits: 1 << i})
	}
	return words
}()

// recordLevel is the bit of a record's level; one that is none of ours fits no level.
func recordLevel(r *Record) filter.Value {
	if rank := engine.LogRank(r.Level); rank >= 0 {
		return filter.Bits(1 << rank)
	}
	return filter.Value{}
}
