package filter

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

type account = engine.AccountRow

// Bits of an account's state word: those of engine.SyncStatus, and one for
// INCOMPLETE, which is completed as well.
const (
	bitSyncNever uint64 = 1 << iota
	bitSyncPending
	bitSyncing
	bitSyncCompleted
	bitSyncFailed
	bitSyncCancelled
	bitSyncIncomplete
)

var syncWords = []Word{
	{Name: "never", Bits: bitSyncNever, Help: "not synced yet"},
	{Name: "pending", Aliases: []string{"queued", "waiting"}, Bits: bitSyncPending, Help: "a sync waits to start"},
	{Name: "syncing", Aliases: []string{"running"}, Bits: bitSyncing},
	{Name: "completed", Aliases: []string{"done"}, Bits: bitSyncCompleted, Help: "incomplete ones too"},
	{Name: "incomplete", Bits: bitSyncIncomplete, Help: "completed, but some matches could not be had"},
	{Name: "failed", Bits: bitSyncFailed, Help: "resolving or listing failed"},
	{Name: "cancelled", Aliases: []string{"canceled"}, Bits: bitSyncCancelled},
}

// phaseWords are the words of engine.Phase, in order.
var phaseWords = []Word{
	{Name: string(engine.PhaseResolve), Bits: 1 << 0},
	{Name: string(engine.PhaseList), Aliases: []string{"ids"}, Bits: 1 << 1},
	{Name: string(engine.PhaseMatches), Bits: 1 << 2},
	{Name: string(engine.PhaseReport), Bits: 1 << 3},
	{Name: string(engine.PhaseTimelines), Bits: 1 << 4},
	{Name: string(engine.PhaseDone), Bits: 1 << 5},
}

// Accounts is the schema of account lists.
var Accounts = New(Options{
	Free:  []string{"name", "id", "platform", "region", "state", "phase", "tag", "err"},
	Fuzzy: []string{"name", "tag"},
	Age:   "last", When: "last",
},
	Field[account]{Name: "account", Help: "Riot ID, our id or PUUID", Of: []string{"name", "id", "puuid"}},
	field("name", Prose, "Riot ID: Name#TAG", func(r *account) Value { return Text(r.RiotID) }, "riot_id"),
	field("id", Name, "our own", func(r *account) Value { return Text(r.ID) }),
	field("puuid", Name, "under the present key", func(r *account) Value { return Text(r.PUUID) }),
	field("platform", Name, "euw1, kr", func(r *account) Value { return Text(r.Platform) }),
	field("region", Name, "europe, asia", func(r *account) Value { return Text(r.Region) }),
	Field[account]{Name: "state", Aliases: []string{"status"}, Kind: Enum, Words: syncWords, Value: accountState},
	Field[account]{Name: "phase", Aliases: []string{"stage"}, Kind: Enum, Words: phaseWords, Value: accountPhase},
	field("kind", Name, "of the last sync: full, latest", func(r *account) Value { return Text(r.Kind) }),
	field("queue", Name, "of the last sync", func(r *account) Value { return Text(r.Queue) }),
	field("job", Name, "of the last sync", func(r *account) Value { return Text(r.Job) }),
	field("tag", Name, "any of its tags", func(r *account) Value { return Texts(&r.Tags) }, "tags"),
	YesNo("tracked", "kept in sync by itself", func(r *account) bool { return r.Tracked }),
	field("total", Number, "matches of the sync, once listed", accountTotal),
	field("done", Number, "matches that came to their end", func(r *account) Value { return Count(r.Matches.Done()) }),
	field("percent", Number, "done of total", accountPercent, "progress"),
	field("new", Number, "matches this sync stored", func(r *account) Value { return Count(r.Matches.Stored) }, "stored"),
	field("had", Number, "matches stored before", func(r *account) Value { return Count(r.Matches.Had) }),
	field("open", Number, "matches not settled", func(r *account) Value { return Count(r.Matches.Open) }, "left"),
	field("retrying", Number, "matches that failed and will be tried again", func(r *account) Value { return Count(r.Matches.Retrying) }, "retry"),
	field("failed", Number, "matches that gave up", func(r *account) Value { return Count(r.Matches.Failed) }, "fail"),
	field("cancelled", Number, "matches that an operator cancelled", func(r *account) Value { return Count(r.Matches.Cancelled) }),
	field("too_old", Number, "matches outside retention", func(r *account) Value { return Count(r.Matches.TooOld) }, "tooold"),
	field("timelines", Number, "timelines that came to their end", func(r *account) Value { return Count(r.Timelines.Done()) }),
	field("calls", Number, "to Riot, of the sync", func(r *account) Value { return Count(r.Calls) }),
	field("limited", Number, "429s of the sync", func(r *account) Value { return Count(r.Throttled) }, "rate_limited"),
	field("resumed", Number, "restarts the sync survived", func(r *account) Value { return Count(r.Resumed) }),
	field("last", Past, "last sync that completed", func(r *account) Value { return At(r.LastSync) }, "last_sync"),
	field("started", Past, "", func(r *account) Value { return At(r.Started) }),
	field("finished", Past, "", func(r *account) Value { return At(r.Finished) }),
	field("updated", Past, "", func(r *account) Value { return At(r.Updated) }),
	field("err", Prose, "of the last failure", func(r *account) Value { return Text(r.LastError) }, "error"),
)

func accountState(r *account, _ time.Time) Value {
	bits := bitSyncNever << r.Status & (bitSyncIncomplete - 1)
	if r.Status == engine.SyncCompleted && r.Result == "incomplete" {
		bits |= bitSyncIncomplete
	}
	return Bits(bits)
}

func accountPhase(r *account, _ time.Time) Value { return wordValue(phaseWords, string(r.Phase)) }

// accountTotal is unknown while pages are listed.
func accountTotal(r *account) Value {
	if r.Matches.Total < 0 {
		return Value{}
	}
	return Count(r.Matches.Total)
}

func accountPercent(r *account) Value {
	if r.Matches.Total <= 0 {
		return Value{}
	}
	return Count(r.Matches.Done() * 100 / r.Matches.Total)
}
