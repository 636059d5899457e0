package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ReasonsQuery groups the live jobs that do not run by why they do not (I-1); answered by
// ReasonsAnswer. It looks at some of the jobs and says where the others begin: whoever
// asks on until there are no others has looked at all, and puts the answers together as
// Reasons does.
type ReasonsQuery struct {
	Page
	Queue Queue `json:"queue,omitempty"` // "" = all
}

// ReasonsAnswer answers ReasonsQuery, the largest group first.
type ReasonsAnswer struct {
	Reasons []ReasonRow `json:"reasons"`
	Next    string      `json:"next,omitempty"` // cursor; "" = the end
	Looked  int         `json:"looked"`         // jobs that were looked at, running ones too
}

func (ReasonsQuery) query() {}

// ReasonRow is why some jobs do not run. It is of jobs in one state whose reasons have one
// shape: those of First.
type ReasonRow struct {
	Shape string    `json:"shape"` // without the numbers that differ from job to job
	Text  string    `json:"text"`  // of the one that comes first
	Jobs  int       `json:"jobs"`
	First JobRow    `json:"first"`         // the one that comes first
	Ends  time.Time `json:"ends,omitzero"` // when it ends for the first of them; zero = not known
	Last  time.Time `json:"last_ends,omitzero"`
}

// Why jobs do not run that stand in line, and have no place of their own there: it is not
// counted, or their turn has come.
const (
	FarBack   = "far back in line"
	StartsNow = "starts now"
	JustMoved = "has just moved"
)

// NextTry is why a job does not run that waits for its instant after so many failed tries.
func NextTry(tries int) string { return fmt.Sprintf("next try after %d failed", tries) }

// Reason is why a job does not run, in words; "" = it runs or has ended.
func (j *JobRow) Reason() string {
	switch {
	case j.State == Running || j.State.Terminal():
		return ""
	case j.State == Retryable && (j.Why == "" || j.Why == NextTry(j.Tries)):
		return "backs off after " + cmp.Or(string(j.Class), "a failure")
	case j.Why != "":
		return j.Why
	case j.Hold != HoldNone:
		return j.Hold.Reason()
	case j.State == Available:
		return "may run now"
	}
	return "is " + j.State.String()
}

// ShapeInLine is the shape of the reasons of all that stand in a line which moves.
const ShapeInLine = "in line"

// ReasonShape is what jobs have in common that do not run for one reason: its words without
// what differs from job to job. All that stand in a line which moves have one, whatever of
// the limits it waits for at the moment.
func (j *JobRow) ReasonShape() string {
	if j.State == Available && j.Stand == "" &&
		(j.Place > 0 || strings.HasPrefix(j.Why, FarBack) || j.Why == StartsNow || j.Why == JustMoved) {
		return ShapeInLine
	}
	return Shape(j.Reason())
}

// ReasonEnds is when a job's reason ends; zero = not known.
func (j *JobRow) ReasonEnds() time.Time {
	if j.Until.IsZero() && (j.State == Retryable || j.State == Scheduled) {
		return j.Due
	}
	return j.Until
}

// ReasonOf is the group of one job; false = it runs or has ended.
func ReasonOf(j JobRow) (ReasonRow, bool) {
	why, ends := j.Reason(), j.ReasonEnds()
	return ReasonRow{Shape: j.ReasonShape(), Text: why, Jobs: 1, First: j, Ends: ends, Last: ends}, why != ""
}

// Reasons puts groups of jobs together. The zero Reasons has none.
type Reasons struct {
	at   map[ReasonKey]int
	rows []ReasonRow
}

// ReasonKey tells groups of jobs apart: a paused queue holds jobs in line and jobs that back
// off, and those are two groups.
type ReasonKey struct {
	State State
	Held  bool // sent back uncharged
	Shape string
}

// Key is the group of a row.
func (r *ReasonRow) Key() ReasonKey {
	return ReasonKey{r.First.State, r.First.Hold != HoldNone, r.Shape}
}

// Add makes groups of one key one.
func (g *Reasons) Add(rows ...ReasonRow) {
	for i := range rows {
		key := rows[i].Key()
		n, ok := g.at[key]
		switch {
		case ok:
			g.rows[n].join(&rows[i])
			continue
		case g.at == nil:
			g.at = map[ReasonKey]int{}
		}
		g.at[key] = len(g.rows)
		g.rows = append(g.rows, rows[i])
	}
}

// Rows are the groups so far, the largest first.
func (g *Reasons) Rows() []ReasonRow {
	return slices.SortedStableFunc(slices.Values(g.rows), func(a, b ReasonRow) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), strings.Compare(a.Shape, b.Shape))
	})
}

// join adds the jobs of another group of the same shape.
func (r *ReasonRow) join(more *ReasonRow) {
	r.Jobs += more.Jobs
	if r.Ends.IsZero() || !more.Ends.IsZero() && more.Ends.Before(r.Ends) {
		r.Ends = more.Ends
	}
	if more.Last.After(r.Last) {
		r.Last = more.Last
	}
	if at := more.First.Place; at > 0 && (r.First.Place == 0 || at < r.First.Place) {
		r.Text, r.First = more.Text, more.First
	}
}

// StoreShut is how the reason begins of an engine whose store takes no writes for now, but for a
// full disk of its own machine: "store: read-only".
const StoreShut = "store: "
