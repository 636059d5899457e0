package filter_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
)

const benchRows = 100_000

// manyJobs are rows of real length: a third has failed before.
func manyJobs() []engine.JobRow {
	rows := make([]engine.JobRow, benchRows)
	for i := range rows {
		j := &rows[i]
		j.ID, j.Key, j.Kind = engine.JobID(fmt.Sprintf("%016d", i)), fmt.Sprintf("match:KR_%d", 7_214_500_000+i), "match.fetch"
		j.Queue, j.Owner, j.State = "ingest.summoner.full", "01JD4Q8Z9X6V5T3R2P1N0M8K7H", engine.States()[i%8]
		j.Created, j.Due, j.Tries = noon.Add(-time.Duration(i)*time.Second), noon.Add(time.Duration(i)*time.Second), i%5
		j.Why = "app:asia 97/100"
		if i%3 == 0 {
			j.Class, j.LastError = "5xx", fmt.Sprintf("GET asia match-v5.match KR_%d: 503 service unavailable (upstream connect error)", 7_214_500_000+i)
		}
	}
	return rows
}

var benchQueries = map[string]string{
	"fields": "state:retryable,running age<1d -queue:report.*", "numbers": "due<60s try>2", "clock": "created>12:30", "glob": "key:match:KR_72145508*",
	"id": "KR_7214550881", "words": "503 timeout", "word": "unavailable", "nothing": "nothing-has-this", "letters": "~mtch881", "hangul": "카인",
	"regex": `/KR_7.*81$/`, "regex-field": `key:/_72\d+81$/`, "regex-digits": `/5\d\d/`,
}

// BenchmarkFilter100k prints the time to filter 100,000 jobs, which is to be less than 100 ms but for
// regular expressions.
func BenchmarkFilter100k(b *testing.B) {
	rows := manyJobs()
	for name, query := range benchQueries {
		b.Run(name, func(b *testing.B) {
			f, err := filter.Parse(query, columns.Jobs.Schema)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for i := range rows {
					if f.Match(&rows[i], noon) {
						n++
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "ms/100k")
		})
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	account := engine.AccountRow{RiotID: "Blue Heron#KR1", Tags: []string{"pro", "amateur"}}
	tags, err := filter.Parse("-tag:y* -tag:yy -tag:~zz -~zz", columns.Accounts.Schema)
	if n := testing.AllocsPerRun(200, func() { tags.Match(&account, noon) }); n > 0 || err != nil || !tags.Match(&account, noon) {
		t.Errorf("tags allocate %v times (%v)", n, err)
	}
	queries := slices.Collect(maps.Values(benchQueries))
	queries = append(queries, "try:3*", `key:카*`, "due<=now+1h", "finished:yesterday")
	for _, query := range queries {
		if strings.Contains(query, "/") {
			continue // the regexp package pools its machines: now and then it makes one
		}
		f, err := filter.Parse(query, columns.Jobs.Schema)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(200, func() {
			for i := range jobs {
				f.Match(&jobs[i], noon)
			}
		}); n > 0 {
			t.Errorf("%q allocates %v times", query, n)
		}
	}
}
