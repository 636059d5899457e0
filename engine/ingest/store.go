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

// Store is what all parts of ingestion together need of a store. Each part sees its own
// share of it. A method that takes a Tx must be called with the one that Write, Read or
// the engine gave; one that takes a context reads by itself, and never with a Tx.
type Store interface {
	frontStore
	syncStore
	identityStore
	rangeStore
	fetchStore
	settleStore
	reportStore
	rankStore
	upkeepStore
	collectStore
	witnessStore
	projectStore
	storedStore
	traffic.History
}

// What each part needs: the rows that it reads and writes, by the facets below.
type (
	// frontStore is of the commands: starting syncs, tracking, saying the cost.
	frontStore interface {
		transactor
		accountStore
		accountNames
		accountRows
		runStore
		gameReader
		tagPolicies
		puuids
		// Schedule gives the state of a recurring schedule; engine.ErrNotFound before its first run.
		Schedule(tx engine.Tx, name string) (cron.State, error)
	}
	// syncStore is of the steps of a sync, from the Riot ID to its end.
	syncStore interface {
		reader
		accountStore
		runStore
		matchStore
		gameReader
		puuids
		payloads
		staging
		// LinkMatch adds the match to an account's list, as its listing said.
		LinkMatch(tx engine.Tx, account, match string) error
	}
	// identityStore is of who an account is under the key in use.
	identityStore interface {
		reader
		players
		accountStore
		gameReader
		puuids
	}
	// rangeStore is of how far the lists of an account are known.
	rangeStore interface {
		matchReader
		staging
		coverages
		// CachedIDs and CacheIDs keep what Riot listed last, for as long as the caller
		// finds it fresh (S4-8).
		CachedIDs(tx engine.Tx, account, list string) (league.CachedIDs, bool, error)
		CacheIDs(tx engine.Tx, account, list string, c league.CachedIDs) error
	}
	// fetchStore is of fetching the parts of a match.
	fetchStore interface {
		reader
		matchStore
		payloads
		gaps
		// SaveParticipants replaces the seats of a match, and adds the match to the
		// list of each account that sits in it.
		SaveParticipants(tx engine.Tx, match string, ps []league.Participant) error
	}
	// settleStore is of what runs miss, and of giving it to them late.
	settleStore interface {
		accountStore
		runStore
		matchStore
		gaps
		groups
		history
		// Leave takes a child out of a group whose part has come otherwise.
		Leave(tx engine.Tx, group engine.GroupID, child engine.JobID) error
		// AccountsOf lists the accounts that have a match in their lists.
		AccountsOf(tx engine.Tx, match string) []string
	}
	// reportStore is of the play-time report and of the weekly one.
	reportStore interface {
		reader
		accountReader
		accountList
		runReader
		gameReader
		groups
		coverages
		SaveReport(tx engine.Tx, r engine.PlayReport) error
		// PlayReport gives the stored report of an account; nil = none.
		PlayReport(tx engine.Tx, account string) (*engine.PlayReport, error)
		SaveWeekly(tx engine.Tx, r engine.WeeklyReport) error
		HasWeekly(tx engine.Tx, monday string) bool
	}
	// rankStore is of the ranks of accounts.
	rankStore interface {
		reader
		accountReader
		// LastRanks gives the newest row of each ranked queue of an account. DropRank
		// removes an unsure one.
		LastRanks(tx engine.Tx, account string) ([]league.Rank, error)
		SaveRank(tx engine.Tx, r league.Rank) error
		DropRank(tx engine.Tx, r league.Rank) error
	}
	// upkeepStore is of the sweep.
	upkeepStore interface {
		history
		// Strays lists failed matches that are due and that no live job tries: those that were given up
		// last, the oldest first.
		Strays(tx engine.Tx, due func(*league.Match) bool, limit int,
			jobKey func(match string) string) (list []league.Stray, total int, err error)
	}
	// collectStore is of collections, their ladders and their players.
	collectStore interface {
		transactor
		accountStore
		runStore
		groups
		Collection(tx engine.Tx, id string) (engine.Collection, error)
		SaveCollection(tx engine.Tx, c engine.Collection) error
		// Collections lists all of them, in the order in which they were made.
		Collections(tx engine.Tx) ([]engine.Collection, error)
		// CollectedMatches is how many matches a collection has found.
		CollectedMatches(tx engine.Tx, id string) (int, error)
		players
		// NextPlayer is the player of a collection that was found behind another; after "" the first.
		NextPlayer(tx engine.Tx, collection, after string) (a league.Account, ok bool, err error)
		SaveRank(tx engine.Tx, r league.Rank) error
		// SeatsOf gives the seats of some matches of an owner, those behind a place in its list; next is the place where
		// to go on, "" = at the end.
		SeatsOf(tx engine.Tx, owner, after string, matches int) (seats []league.Participant, next string, err error)
	}
	// witnessStore is of what a lane is known to have answered.
	witnessStore interface {
		reader
		accountList
		// Fetched lists matches of which a part is stored, those that changed last first:
		// at most n that fit.
		Fetched(tx engine.Tx, p league.Part, n int, fits func(match string) bool) []string
	}
	// projectStore is of the projects of keys.
	projectStore interface {
		transactor
		accountList
		traffic.Loader
		SaveState(ctx context.Context, name string, blob []byte) error
	}
	// storedStore answers the queries of the domain.
	storedStore interface {
		reader
		accountReader
		runReader
		gameReader
		traffic.Loader
		// CollectionRows lists all collections with how far they are, the newest first.
		CollectionRows(ctx context.Context) ([]engine.CollectionRow, error)
		RankHistory(ctx context.Context, q engine.RanksQuery) (engine.RanksPage, error)
		// Weekly gives the report of the week that begins on a Monday; "" = the latest.
		Weekly(ctx context.Context, monday string) (*engine.WeeklyReport, error)
	}
)

// Facets: the methods about one kind of row.
type (
	reader interface {
		Read(ctx context.Context, fn func(engine.Tx) error) error
	}
	transactor interface {
		reader
		Write(ctx context.Context, fn func(engine.Tx) error) error
	}

	// accountReader, runReader and matchReader answer engine.ErrNotFound for what is
	// not there.
	accountReader interface {
		Account(tx engine.Tx, id string) (league.Account, error)
	}
	accountStore interface {
		accountReader
		// SaveAccount stores the account with all its index rows and emits its row.
		SaveAccount(tx engine.Tx, a league.Account) error
	}
	accountNames interface {
		// AccountNamed finds by Riot ID, case-insensitively; platform "" = any.
		AccountNamed(tx engine.Tx, name, tag, platform string) (league.Account, error)
	}
	accountList interface {
		// AllAccounts iterates every account. Collect before you write.
		AllAccounts(tx engine.Tx) iter.Seq[league.Account]
	}
	// accountRows gives accounts as a console shows them, with the progress of their
	// runs.
	accountRows interface {
		Accounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error)
		AccountRow(ctx context.Context, id string) (engine.AccountRow, error)
	}
	puuids interface {
		// AccountOfPUUID finds whose PUUID it is, under any key project.
		AccountOfPUUID(tx engine.Tx, puuid string) (id string, ok bool, err error)
		// CachedPUUID and CachePUUID keep Riot ID -> PUUID for a key project (S4-8).
		CachedPUUID(tx engine.Tx, name, tag, project string, now time.Time) (puuid string, ok bool, err error)
		CachePUUID(tx engine.Tx, name, tag, project, puuid string, until time.Time) error
	}
	players interface {
		// PlayerOf finds a player of a collection by a PUUID, or by the Riot ID that it was asked for by.
		PlayerOf(tx engine.Tx, collection, platform, who string) (a league.Account, ok bool, err error)
	}
	tagReader interface {
		// TagPolicy gives a tag's policy, the zero one when there is none.
		TagPolicy(tx engine.Tx, tag string) (league.Policy, error)
	}
	tagPolicies interface {
		tagReader
		// SaveTagPolicy with the zero policy removes it.
		SaveTagPolicy(tx engine.Tx, tag string, p league.Policy) error
	}

	runReader interface {
		Run(tx engine.Tx, id string) (league.Run, error)
	}
	runStore interface {
		runReader
		// SaveRun stores the run and emits its account's row.
		SaveRun(tx engine.Tx, r league.Run) error
	}
	staging interface {
		// Stage adds listed ids to the run, each once. An id that any page gave as inside
		// retention is not too old, whichever page came first. It answers how many were new.
		Stage(tx engine.Tx, run string, ids []league.Staged) (added int, err error)
		// Staged gives the run's ids in the order they were staged; Unstage drops them.
		Staged(tx engine.Tx, run string) ([]league.Staged, error)
		Unstage(tx engine.Tx, run string) error
	}
	coverages interface {
		// Coverage gives the known range of one list of an owner: an account, or a run
		// in the making. Zero = none.
		Coverage(tx engine.Tx, owner, list string) (league.Coverage, error)
		SaveCoverage(tx engine.Tx, owner, list string, c league.Coverage) error
		DropCoverage(tx engine.Tx, owner string) error
		MoveCoverage(tx engine.Tx, from, to string) error
	}

	matchReader interface {
		Match(tx engine.Tx, id string) (league.Match, error)
	}
	matchStore interface {
		matchReader
		// SaveMatch stores the match, its status counters and every index row. It
		// refuses an illegal move of either status (engine.ErrRefused) unless
		// byOperator allows it.
		SaveMatch(tx engine.Tx, m league.Match, byOperator bool) error
	}
	gameReader interface {
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
	}
	payloads interface {
		// PutPayload commits a payload to its shard before any state names it. It is
		// idempotent.
		PutPayload(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error
		// FindPayload looks for a payload that a crash left without state.
		FindPayload(ctx context.Context, match string,
			p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error)
		// CheckPayload proves that a stored part is whole: engine.ErrUnreadable, engine.ErrNotFound.
		CheckPayload(ctx context.Context, match string, p league.Part) error
	}
	gaps interface {
		// Gaps lists what runs miss of a match; SaveGap reports whether a gap is new.
		Gaps(tx engine.Tx, match string) ([]league.Gap, error)
		SaveGap(tx engine.Tx, g league.Gap) (added bool, err error)
		DropGap(tx engine.Tx, g league.Gap) error
	}
	groups interface {
		// Group is how a run's children stand.
		Group(tx engine.Tx, id engine.GroupID) (engine.GroupStat, error)
	}
	history interface {
		AddHistory(tx engine.Tx, id string, t engine.Transition) error
	}
)
