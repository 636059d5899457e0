package both

import (
	"fmt"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// CheckReport is what Check found. The store is sound when there are no findings.
type CheckReport struct {
	Rows     map[string]int    `json:"rows"` // per table
	Payloads int               `json:"payloads"`
	Bytes    int64             `json:"payload_bytes"`
	Orphans  int               `json:"orphans"` // payloads that no match names: a crash may leave some; they are adopted
	Findings []payload.Finding `json:"findings"`
	More     int               `json:"more"` // findings above payload.MaxFindings, only counted
}

// Sound reports whether nothing was found.
func (r CheckReport) Sound() bool { return len(r.Findings) == 0 }

// Bad adds a finding.
func (r *CheckReport) Bad(table, key, format string, args ...any) {
	r.add(payload.Finding{Table: table, Key: key, Why: fmt.Sprintf(format, args...)})
}

// BadPayload adds a finding about a stored part of a match.
func (r *CheckReport) BadPayload(table, match string, part league.Part, format string, args ...any) {
	r.add(payload.Finding{Table: table, Key: match, Why: fmt.Sprintf(format, args...), Match: match, Part: part})
}

func (r *CheckReport) add(f payload.Finding) {
	if len(r.Findings) >= payload.MaxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}
