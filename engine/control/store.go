package control

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
)

// Store is the part of storage that queries and the audit work on. Everything it
// returns is as received; screens and commands clean it.
type Store interface {
	operation.Store
	// AccountRow finds by id or "Name#TAG"; engine.ErrNotFound.
	AccountRow(ctx context.Context, id string) (engine.AccountRow, error)
	// AccountRowOn is AccountRow for one platform of a "Name#TAG"; "" = any.
	AccountRowOn(ctx context.Context, id, platform string) (engine.AccountRow, error)
	Identities(ctx context.Context, account string) ([]engine.Identity, error)
	Matches(ctx context.Context, q engine.MatchesQuery) (engine.MatchesPage, error)
	// Settled lists the n matches of an account that were tried last, the oldest first.
	Settled(ctx context.Context, account string, n int) ([]engine.MatchRow, error)
	Report(ctx context.Context, account string) (*engine.PlayReport, error)
	// Spent tells where the time of an account's last n attempts went, the newest first.
	Spent(ctx context.Context, account string, n int) ([]engine.Spent, error)
	// Runs lists the last n syncs of an account, the newest first.
	Runs(ctx context.Context, account string, n int) ([]engine.RunRow, error)
	Totals(ctx context.Context) (engine.Totals, error)
	// Discards gives the number of discarded jobs that are kept, by queue.
	Discards(ctx context.Context) (map[engine.Queue]int, error)
	// Feed reads one page of a durable order; a cursor that is none is ErrInvalid.
	Feed(ctx context.Context, q engine.FeedQuery) (engine.FeedPage, error)
	// Audits lists commands, newest first, without what each has changed.
	Audits(ctx context.Context, q engine.AuditQuery) (engine.AuditPage, error)
	// Days gives the sums of the last n UTC days, the oldest first and today's last.
	Days(ctx context.Context, n int, now time.Time) ([]engine.DaySum, error)
	// JobLog lists ended jobs, newest first; a cursor that is none is ErrInvalid.
	JobLog(ctx context.Context, q engine.JobLogQuery) (engine.JobLogPage, error)
}
