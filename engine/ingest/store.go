package ingest

import (
	"context"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
)

// Store is what ingestion needs of a store. A method that takes a Tx must be called with the one that Write, Read or
// the engine gave; one that takes a context reads by itself, and never with a Tx.
// What is not there is engine.ErrNotFound.
type Store interface {
	Read(ctx context.Context, fn func(engine.Tx) error) error
	Write(ctx context.Context, fn func(engine.Tx) error) error

	// Accounts, those of players included.

	Account(tx engine.Tx, id string) (league.Account, error)
	// SaveAccount stores the account with all its index rows and emits its row.
	SaveAccount(tx engine.Tx, a league.Account) error
	// AccountNamed finds by Riot ID, case-insensitively; platform "" = any.
	AccountNamed(tx engine.Tx, name, tag, platform string) (league.Account, error)
	// AllAccounts iterates every account. Collect before you write.
	AllAccounts(tx engine.Tx) iter.Seq[league.Account]
	Accounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error)
	AccountRow(ctx context.Context, id string) (engine.AccountRow, error)
	RowOf(tx engine.Tx, a league.Account) (engine.AccountRow, error)
	// AccountOfPUUID finds whose PUUID it is, under any key project.
	AccountOfPUUID(tx engine.Tx, puuid string) (id string, ok bool, err error)
	// CachedPUUID and CachePUUID keep Riot ID -> PUUID for a key project (S4-8).
	CachedPUUID(tx engine.Tx, name, tag, project string, now time.Time) (puuid string, ok bool, err error)
	CachePUUID(tx engine.Tx, name, tag, project, puuid string, until time.Time) error
	// TagPolicy gives a tag's policy, the zero one when there is none.
	TagPolicy(tx engine.Tx, tag string) (league.Policy, error)
	// SaveTagPolicy with the zero policy removes it.
	SaveTagPolicy(tx engine.Tx, tag string, p league.Policy) error
	// LastRanks gives the newest row of each ranked queue of an account. DropRank
	// removes an unsure one.
	LastRanks(tx engine.Tx, account string) ([]league.Rank, error)
	SaveRank(tx engine.Tx, r league.Rank) error
	DropRank(tx engine.Tx, r league.Rank) error

	// Runs, and how far the lists of an account are known.

	Run(tx engine.Tx, id string) (league.Run, error)
	// SaveRun stores the run and emits its account's row.
	SaveRun(tx engine.Tx, r league.Run) error
	// Stage adds listed ids to the run, each once. An id that any page gave as inside
	// retention is not too old, whichever page came first. It answers how many were new.
	Stage(tx engine.Tx, run string, ids []league.Staged) (added int, err error)
	// Staged gives the run's ids in the order they were staged; Unstage drops them.
	Staged(tx engine.Tx, run string) ([]league.Staged, error)
	Unstage(tx engine.Tx, run string) error
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

	// Matches, with what was fetched of them.

	Match(tx engine.Tx, id string) (league.Match, error)
	// SaveMatch stores the match, its status counters and every index row. It
	// refuses an illegal move of either status (engine.ErrRefused) unless
	// byOperator allows it.
	SaveMatch(tx engine.Tx, m league.Match, byOperator bool) error
	// LinkMatch adds the match to an account's list, as its listing said.
	LinkMatch(tx engine.Tx, account, match string) error
	// SaveParticipants replaces the seats of a match, and adds the match to the
	// list of each account that sits in it.
	SaveParticipants(tx engine.Tx, match string, ps []league.Participant) error
	// Games iterates an account's stored matches, oldest first, and GamesSince those
	// from an instant on, newest first.
	Games(tx engine.Tx, account string) iter.Seq2[league.Game, error]
	GamesSince(tx engine.Tx, account string, from time.Time) iter.Seq2[league.Game, error]
	// MatchesOf iterates every match in an account's list, stored or not, in any order.
	// Of one whose record cannot be read the error says why, and the iteration goes on.
	MatchesOf(tx engine.Tx, account string) iter.Seq2[league.Match, error]
	// LastPlayed is when the newest stored game of an account was played; zero = not
	// known.
	LastPlayed(tx engine.Tx, account string) (time.Time, error)
	// PutPayload commits a payload to its shard before any state names it. It is
	// idempotent.
	PutPayload(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error
	// FindPayload looks for a payload that a crash left without state.
	FindPayload(ctx context.Context, match string,
		p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error)
	// CheckPayload proves that a stored part is whole: engine.ErrUnreadable, engine.ErrNotFound.
	CheckPayload(ctx context.Context, match string, p league.Part) error
	// Fetched lists matches of which a part is stored, those that changed last first:
	// at most n that fit.
	Fetched(tx engine.Tx, p league.Part, n int, fits func(match string) bool) []string
	// Strays lists failed matches that are due and that no live job tries: those that were given up
	// last, the oldest first.
	Strays(tx engine.Tx, due func(*league.Match) bool, limit int,
		jobKey func(match string) string) (list []league.Stray, total int, err error)

	// What runs miss, and those who wait for it.

	// Gaps lists what runs miss of a match; SaveGap reports whether a gap is new.
	Gaps(tx engine.Tx, match string) ([]league.Gap, error)
	SaveGap(tx engine.Tx, g league.Gap) (added bool, err error)
	DropGap(tx engine.Tx, g league.Gap) error
	// Group is how a run's children stand.
	Group(tx engine.Tx, id engine.GroupID) (engine.GroupStat, error)
	// Leave takes a child out of a group whose part has come otherwise.
	Leave(tx engine.Tx, group engine.GroupID, child engine.JobID) error
	// AccountsOf lists the accounts that have a match in their lists.
	AccountsOf(tx engine.Tx, match string) []string
	AddHistory(tx engine.Tx, id string, t engine.Transition) error

	// Reports.

	SaveReport(tx engine.Tx, r engine.PlayReport) error
	// PlayReport gives the stored report of an account; nil = none.
	PlayReport(tx engine.Tx, account string) (*engine.PlayReport, error)
	SaveWeekly(tx engine.Tx, r engine.WeeklyReport) error
	HasWeekly(tx engine.Tx, monday string) bool
	// CollectionRows lists all collections with how far they are, the newest first.
	CollectionRows(ctx context.Context) ([]engine.CollectionRow, error)
	// LastPlayers are the n players of a collection that were listed last, up to one of them; "" = to the last.
	LastPlayers(ctx context.Context, id, ladder, upto string, n int) ([]engine.CollectionPlayer, error)
	RankHistory(ctx context.Context, q engine.RanksQuery) (engine.RanksPage, error)
	// Weekly gives the report of the week that begins on a Monday; "" = the latest.
	Weekly(ctx context.Context, monday string) (*engine.WeeklyReport, error)

	// Collections, their ladders and their players.

	// PlayerOf finds a player of a collection by a PUUID, or by the Riot ID that it was asked for by.
	PlayerOf(tx engine.Tx, collection, platform, who string) (a league.Account, ok bool, err error)
	Collection(tx engine.Tx, id string) (engine.Collection, error)
	SaveCollection(tx engine.Tx, c engine.Collection) error
	// Collections lists all of them, in the order in which they were made.
	Collections(tx engine.Tx) ([]engine.Collection, error)
	// CollectedMatches is how many matches a collection has found.
	CollectedMatches(tx engine.Tx, id string) (int, error)
	// Reprioritize gives waiting jobs of a queue another priority, but those of one kind: some behind a job; next is
	// where to go on, "" = at the end.
	Reprioritize(tx engine.Tx, q engine.Queue, but engine.Kind, p engine.Priority, after string) (next string, err error)
	// NextPlayer is the player of a collection that was found next after another; after "" the first.
	NextPlayer(tx engine.Tx, collection, after string) (a league.Account, ok bool, err error)
	// SeatsOf gives the seats of some matches of an owner, those behind a place in its list; next is the place where
	// to go on, "" = at the end.
	SeatsOf(tx engine.Tx, owner, after string, matches int) (seats []league.Participant, next string, err error)

	// What engines keep.

	// Schedule gives the state of a recurring schedule.
	Schedule(tx engine.Tx, name string) (cron.State, error)
	SaveState(ctx context.Context, name string, blob []byte) error
	traffic.History
	traffic.Loader
}
