package ingest

import (
	"context"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Store is the part of storage that ingestion works on. Methods that take a Tx
// must be called with the one that Write, Read or the engine gave.
type Store interface {
	Write(ctx context.Context, fn func(engine.Tx) error) error
	Read(ctx context.Context, fn func(engine.Tx) error) error

	// Account, Run and Match answer engine.ErrNotFound for what is not there.
	Account(tx engine.Tx, id string) (league.Account, error)
	// AccountNamed finds by Riot ID, case-insensitively; platform "" = any.
	AccountNamed(tx engine.Tx, name, tag, platform string) (league.Account, error)
	// AccountOfPUUID finds whose PUUID it is, under any key project.
	AccountOfPUUID(tx engine.Tx, puuid string) (id string, ok bool, err error)
	// SaveAccount stores the account with all its index rows and emits its row.
	SaveAccount(tx engine.Tx, a league.Account) error

	// Accounts and AccountRow give accounts as a console shows them, with the
	// progress of their runs. They read by themselves: never call them with a Tx.
	Accounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error)
	AccountRow(ctx context.Context, id string) (engine.AccountRow, error)
	// Detail gives a job with its attempts. As with Accounts, never with a Tx.
	Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error)

	Run(tx engine.Tx, id string) (league.Run, error)
	// SaveRun stores the run and emits its account's row.
	SaveRun(tx engine.Tx, r league.Run) error
	// Stage adds listed ids to the run, each once. An id that any page gave as too
	// old is too old, whichever page came first. It answers how many were new.
	Stage(tx engine.Tx, run string, ids []league.Staged) (added int, err error)
	// Staged gives the run's ids in the order they were staged; Unstage drops them.
	Staged(tx engine.Tx, run string) ([]league.Staged, error)
	Unstage(tx engine.Tx, run string) error

	Match(tx engine.Tx, id string) (league.Match, error)
	// SaveMatch stores the match, its status counters and every index row. It
	// refuses an illegal move of either status (engine.ErrRefused) unless
	// byOperator allows it.
	SaveMatch(tx engine.Tx, m league.Match, byOperator bool) error
	// SaveParticipants replaces the seats of a match, and adds the match to the
	// list of each account that sits in it.
	SaveParticipants(tx engine.Tx, match string, ps []league.Participant) error
	// LinkMatch adds the match to an account's list, as its listing said.
	LinkMatch(tx engine.Tx, account, match string) error
	// Games iterates an account's stored matches, oldest first.
	Games(tx engine.Tx, account string) iter.Seq2[league.Game, error]

	// PutPayload commits a payload to its shard before any state names it. It is
	// idempotent.
	PutPayload(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error
	// FindPayload looks for a payload that a crash left without state.
	FindPayload(ctx context.Context, match string, p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error)

	// Gaps lists what runs miss of a match; SaveGap reports whether a gap is new.
	Gaps(tx engine.Tx, match string) ([]league.Gap, error)
	SaveGap(tx engine.Tx, g league.Gap) (added bool, err error)
	DropGap(tx engine.Tx, g league.Gap) error
	// Group is how a run's children stand; Leave takes one out whose part has come
	// otherwise.
	Group(tx engine.Tx, id engine.GroupID) (engine.GroupStat, error)
	Leave(tx engine.Tx, group engine.GroupID, child engine.JobID) error
	// AccountsOf lists the accounts that have a match in their lists.
	AccountsOf(tx engine.Tx, match string) []string

	SaveReport(tx engine.Tx, r engine.PlayReport) error
	// PlayReport gives the stored report of an account; nil = none.
	PlayReport(tx engine.Tx, account string) (*engine.PlayReport, error)

	// AllAccounts iterates every account. Collect before you write.
	AllAccounts(tx engine.Tx) iter.Seq[league.Account]
	// LastPlayed is when the newest stored game of an account was played; zero =
	// not known. GamesSince iterates those from an instant on, newest first.
	LastPlayed(tx engine.Tx, account string) (time.Time, error)
	GamesSince(tx engine.Tx, account string, from time.Time) iter.Seq2[league.Game, error]

	// TagPolicy gives a tag's policy, the zero one when there is none; saving the
	// zero one removes it.
	TagPolicy(tx engine.Tx, tag string) (league.Policy, error)
	SaveTagPolicy(tx engine.Tx, tag string, p league.Policy) error

	// Coverage gives the known range of one list of an owner: an account, or a run
	// in the making. Zero = none.
	Coverage(tx engine.Tx, owner, list string) (league.Coverage, error)
	SaveCoverage(tx engine.Tx, owner, list string, c league.Coverage) error
	DropCoverage(tx engine.Tx, owner string) error
	MoveCoverage(tx engine.Tx, from, to string) error
	// CachedIDs and CacheIDs keep what Riot listed last, for as long as the caller
	// finds it fresh (S4-8).
	CachedIDs(tx engine.Tx, account, list string) (league.CachedIDs, bool, error)
	CacheIDs(tx engine.Tx, account, list string, c league.CachedIDs) error

	// LastRanks gives the newest row of each ranked queue of an account. DropRank
	// removes an unsure one.
	LastRanks(tx engine.Tx, account string) ([]league.Rank, error)
	SaveRank(tx engine.Tx, r league.Rank) error
	DropRank(tx engine.Tx, r league.Rank) error
	RankHistory(ctx context.Context, q engine.RanksQuery) (engine.RanksPage, error)

	SaveWeekly(tx engine.Tx, r engine.WeeklyReport) error
	HasWeekly(tx engine.Tx, monday string) bool
	// Weekly gives the report of the week that begins on a Monday; "" = the latest.
	Weekly(ctx context.Context, monday string) (*engine.WeeklyReport, error)

	// Strays lists failed matches that no live job tries, the oldest first.
	Strays(tx engine.Tx, before time.Time, limit int, jobKey func(match string) string) (list []league.Stray, total int, err error)
	// Fetched lists matches of which a part is stored, those that changed last first:
	// at most n that fit.
	Fetched(tx engine.Tx, p league.Part, n int, fits func(match string) bool) []string
	AddHistory(tx engine.Tx, id string, t engine.Transition) error

	// CachedPUUID and CachePUUID keep Riot ID -> PUUID for a key project (S4-8).
	CachedPUUID(tx engine.Tx, name, tag, project string, now time.Time) (puuid string, ok bool, err error)
	CachePUUID(tx engine.Tx, name, tag, project, puuid string, until time.Time) error

	// LoadState and SaveState keep small named blobs, such as the limiter's
	// state; nil when there is none.
	LoadState(ctx context.Context, name string) ([]byte, error)
	SaveState(ctx context.Context, name string, blob []byte) error
}
