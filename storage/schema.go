package storage

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/storage/internal/rec"
)

// The tables of state.db. Every value is framed by internal/rec (format byte, body, CRC-32C over table, key and value).
// Keys are built by package key: u64 = eight big-endian bytes, time = UTC milliseconds, desc = latest first, str = escaped
// and terminated. A job id on disk is the u64 of its sequence. A marker is an empty body.
//
//	table            key                                     value
//	meta             name                                    schema version, instance, created, run (boot, opened, closed)
//	counters         name                                    a number that a recount of rows must equal
//	state            name                                    a small blob of its owner's, such as the limiter's state
//
//	Live jobs: small tables with monotonic keys. Only job_state changes while a job lives.
//	job_state        u64 id                                  state, revision, tries, due, worker …: 15 to 50 bytes
//	job_spec         u64 id                                  kind, queue, key, lock, owner, policy, arguments; seldom changes
//	job_error        u64 id                                  class and text of the last failure; absent when there is none
//	job_key          unique key as it is                     u64 id of the live job that holds it
//	Ended jobs: one row each. Ids ascend, so the table grows at its end.
//	archive          u64 id                                  spec, state and error in one
//	archive_state    state byte, u64 id                      marker; discarded and cancelled only
//	archive_key      unique key as it is                     u64 id of the latest ended job that had it
//	Attempts of live and ended jobs.
//	attempts         u64 id, u64 n                           one closed attempt, or a hold (number 0)
//	recent           str owner, u64 n                        u64 id, u64 n of an attempt; the last 200 per owner
//	call_sid         external id as it is                    u64 id of the job of kind alert.call that had it in an attempt
//	Groups: a parent's children. groups is a cache of members.
//	members          u64 parent, group byte, u64 child       mark, calls, throttled
//	member_of        u64 child, u64 parent, group byte       marker
//	groups           u64 parent, group byte                  totals per mark, calls, throttled
//
//	queues           name                                    pause switch
//	history          str id, u64 n                           one transition; the last 50 per id
//	audit            u64 seq                                 one operator command
//	audit_moves      u64 seq                                 what that command has changed, before and after
//	days             UTC day as 2026-11-21                   sums of jobs and attempts that ended on it, and the pruned part
//
//	accounts         id                                      the account
//	account_name     str name, str tag, str platform, str id marker; name and tag in lower case
//	account_puuid    PUUID                                   account id
//	runs             id                                      the run
//	run_of_job       u64 id of the sync job                  run id, calls and 429s of the job's own attempts
//	staged           str run, u64 n                          one listed id, in the order of the listing
//	staged_id        str run, str match                      u64 n
//	puuid_cache      str project, str name, str tag          PUUID and when it expires
//	reports          account id                              the play-time report
//	ranks            str account, str queue, time            where the account stood in a ranked queue
//	rank_order       u64 n                                   the ranks row that was the n-th to be stored
//	weekly           Monday as 2026-11-16                    the report of that week over all tracked accounts
//	tag_policies     tag                                     what the syncs of accounts with the tag cover
//	coverage         str account or run, str list            the complete range of a list that is not of all games
//	gaps             str match, str run, str part            whose run it is, and its job that ended without the part
//	schedules        name                                    its next run, pause, edit, last ticks
//	ticks            str schedule, time, str id              marker: a run that was planned and recorded
//	tick_ids         tick id                                 when it was recorded
//	ids_cache        str account, str list                   the newest ids as listed, and when
//
//	matches          id                                      both fetches, the game's facts, payload references
//	match_status     status byte, str id                     marker; temporary_failure and permanently_unfetchable only
//	by_account       str account, desc played, str match     marker; unknown time last
//	accounts_of      str match, str account                  time under which by_account has it
//	participants     match id                                all seats in one
//
//	feed             feed byte, u64 seq                      id and revision of what was added or changed then
//	feed_of          feed byte, id as it is                  u64 seq of its one row in feed; not for ended jobs (feed.go)
//
// The tables of a payload shard, payload/2026-11.db:
//
//	meta             name                                    schema version, month, instance, archived, erased
//	p                match id -> nested table                keys m and t: payload_frame.go
//	dict             u32 number                              part and dictionary; archived shards only
//
// Versions: the first schema is 1, each migration (migrations.go) leads to the next, so that what this program writes is
// newestSchema. A shard counts for itself: an archived one is of version 2, so that a Farsight that cannot read it says so;
// its formats stay readable, and no shard needs a migration.
const (
	firstSchema = 1

	shardArrived  = 1
	shardArchived = 2
)

// table is one bbolt bucket.
type table struct {
	name string
	seed rec.Seed
	at   int     // index in tables
	fill float64 // how full a split leaves a page; 0 = bbolt's half
}

// Rows that only ever come at the end leave full pages behind.
const appendFill = 0.9

var tables []*table

func newTable(name string, fill float64) *table {
	t := &table{name: name, seed: rec.TableSeed(name), at: len(tables), fill: fill}
	tables = append(tables, t)
	return t
}

var (
	tMeta     = newTable("meta", 0)
	tCounters = newTable("counters", 0)
	tState    = newTable("state", 0)

	tJobState     = newTable("job_state", 0)
	tJobSpec      = newTable("job_spec", 0)
	tJobError     = newTable("job_error", 0)
	tJobKey       = newTable("job_key", 0)
	tArchive      = newTable("archive", appendFill)
	tArchiveState = newTable("archive_state", 0)
	tArchiveKey   = newTable("archive_key", 0)
	tAttempts     = newTable("attempts", appendFill)
	tRecent       = newTable("recent", 0)
	tCallSID      = newTable("call_sid", 0)
	tMembers      = newTable("members", appendFill)
	tMemberOf     = newTable("member_of", appendFill)
	tGroups       = newTable("groups", 0)

	tQueues  = newTable("queues", 0)
	tHistory = newTable("history", 0)
	tAudit   = newTable("audit", appendFill)

	tAuditMoves = newTable("audit_moves", appendFill)

	tDays = newTable("days", 0)

	tAccounts     = newTable("accounts", 0)
	tAccountName  = newTable("account_name", 0)
	tAccountPUUID = newTable("account_puuid", 0)
	tRuns         = newTable("runs", appendFill)
	tRunOfJob     = newTable("run_of_job", appendFill)
	tStaged       = newTable("staged", 0)
	tStagedID     = newTable("staged_id", 0)
	tPUUIDCache   = newTable("puuid_cache", 0)
	tReports      = newTable("reports", 0)

	tRanks       = newTable("ranks", 0)
	tRankOrder   = newTable("rank_order", appendFill)
	tWeekly      = newTable("weekly", 0)
	tTagPolicies = newTable("tag_policies", 0)
	tCoverage    = newTable("coverage", 0)
	tGaps        = newTable("gaps", 0)
	tIDsCache    = newTable("ids_cache", 0)

	tSchedules = newTable("schedules", 0)
	tTicks     = newTable("ticks", appendFill)
	tTickIDs   = newTable("tick_ids", 0)

	tMatches      = newTable("matches", 0)
	tMatchStatus  = newTable("match_status", 0)
	tByAccount    = newTable("by_account", 0)
	tAccountsOf   = newTable("accounts_of", 0)
	tParticipants = newTable("participants", 0)

	tFeed   = newTable("feed", appendFill)
	tFeedOf = newTable("feed_of", 0)
)

// createTables makes all tables of a new state file.
func createTables(b *bolt.Tx) error {
	for _, t := range tables {
		if _, err := b.CreateBucket([]byte(t.name)); err != nil {
			return fmt.Errorf("create table %s: %w", t.name, err)
		}
	}
	return nil
}

// Formats of records; one number per shape, in any table. They are on disk: a new one goes to the end. A changed shape gets
// a new number and a migration; fields that are added at the end of a record do not (rec.Dec.More).
const (
	fMarker byte = 1 + iota
	fNumber
	fText
	fBlob
	fBoot
	fJobState
	fJobSpec
	fJobError
	fArchived
	fAttempt
	fRecent
	fMember
	fGroup
	fQueue
	fTransition
	fAudit
	fAccount
	fRun
	fRunOfJob
	fStaged
	fCached
	fReport
	fMatch
	fSeats
	fTime
	fRank
	fWeekly
	fPolicy
	fCoverage
	fIDs
	fSchedule
	fFeed
	fMoved
	fDay
	fGap
)

// Formats of what the store keeps about itself, numbered apart from the others, so that neither moves the other's.
const (
	fDictionary byte = 128 + iota // in shards
	fPlace
	fSizes
)
