package cli

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Payloads reads Riot's JSON of a stored match.
type Payloads func(ctx context.Context, match string) (raw []byte, err error)

// exported is one line of `export matches --format ndjson` (spec section 1.1).
type exported struct {
	ID            string          `json:"match_id"`
	Status        string          `json:"status"`
	Timeline      string          `json:"timeline_status"`
	Attempts      int             `json:"attempts"`
	Played        *time.Time      `json:"played_at"`
	DurationS     float64         `json:"duration_s"`
	QueueID       int             `json:"queue_id"`
	FetchedAt     *time.Time      `json:"fetched_at"`
	LastAttemptAt *time.Time      `json:"last_attempt_at"`
	LastError     *string         `json:"last_error"`
	Payload       json.RawMessage `json:"payload,omitempty"`
}

// ExportOptions say what an export holds.
type ExportOptions struct {
	After    string // the last match id of an export before
	Payloads Payloads
}

// ExportMatches writes one line per match, each once, in the order of their ids;
// it answers how many. A payload that cannot be read is an error that names it.
func ExportMatches(ctx context.Context, c engine.Console, opt ExportOptions, o Out) (n int, err error) {
	q := engine.MatchesQuery{All: true, Page: engine.Page{After: opt.After, Limit: pageSize}}
	for {
		page, err := ask[engine.MatchesPage](ctx, c, q)
		if err != nil {
			return n, err
		}
		for _, m := range page.Matches {
			line, err := export(ctx, m, opt.Payloads)
			if err != nil {
				return n, err
			}
			if err := o.json(line); err != nil {
				return n, err
			}
			n++
		}
		if page.Next == "" {
			return n, nil
		}
		q.After = page.Next
	}
}

func export(ctx context.Context, m engine.MatchRow, payloads Payloads) (exported, error) {
	line := exported{
		ID: m.ID, Status: m.Status, Timeline: m.Timeline, Attempts: m.Attempts,
		Played: instant(m.Played), DurationS: m.Duration.Seconds(), QueueID: m.QueueID,
		FetchedAt: instant(m.FetchedAt), LastAttemptAt: instant(m.LastAttemptAt),
	}
	if m.LastError != "" {
		line.LastError = &m.LastError
	}
	if payloads == nil || m.FetchedAt.IsZero() {
		return line, nil
	}
	raw, err := payloads(ctx, m.ID)
	if errors.Is(err, engine.ErrNotFound) {
		return line, nil
	}
	line.Payload = raw
	return line, err
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
