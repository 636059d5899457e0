package both

import (
	"fmt"

	"github.com/farsight-console/farsight/engine/league"
)

// Finding is one thing that is not as it must be.
type Finding struct {
	Table string `json:"table"`
	Key   string `json:"key"` // as text where it is one, else in hexadecimal
	Why   string `json:"why"`

	Match string      `json:"match,omitempty"` // whose payload it is about, which Riot can be asked for again
	Part  league.Part `json:"part,omitempty"`
}

// MaxFindings are listed; a destroyed table would fill memory otherwise.
const MaxFindings = 1000

// CheckReport is what Check found. The store is sound when there are no findings.
type CheckReport struct {
	Rows     map[string]int `json:"rows"` // per table
	Payloads int            `json:"payloads"`
	Bytes    int64          `json:"payload_bytes"`
	Orphans  int            `json:"orphans"` // payloads that no match names: a crash may leave some; they are adopted
	Findings []Finding      `json:"findings"`
	More     int            `json:"more"` // findings above MaxFindings, only counted
}

// Sound reports whether nothing was found.
func (r CheckReport) Sound() bool { return len(r.Findings) == 0 }

// Bad adds a finding.
func (r *CheckReport) Bad(table, key, format string, args ...any) {
	r.add(Finding{Table: table, Key: key, Why: fmt.Sprintf(format, args...)})
}

// BadPayload adds a finding about a stored part of a match.
func (r *CheckReport) BadPayload(table, match string, part league.Part, format string, args ...any) {
	r.add(Finding{Table: table, Key: match, Why: fmt.Sprintf(format, args...), Match: match, Part: part})
}

func (r *CheckReport) add(f Finding) {
	if len(r.Findings) >= MaxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}
