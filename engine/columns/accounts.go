package columns

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

// account is the row of the catalogue below; the other files have theirs likewise, so that a column's
// getter stays short.
type account = engine.AccountRow

// Accounts is what is told of an account and its last sync. What a screen knows of its
// queue and of the time it takes is drawn there.
//
//	ACCOUNT         PLATFORM  STATE    MATCHES  TIMELINES  FAILED  LAST SYNC       TRACKED
//	Blue Heron#KR1  kr        SYNCING  134/879  12/879     0       2 h 05 min ago  yes
var Accounts = catalogue(filter.Options{
	Free:  []string{"name", "id", "platform", "region", "state", "phase", "tag", "err"},
	Fuzzy: []string{"name", "tag"},
	Age:   "last", When: "last",
},
	anyOf[account]("account", "Riot ID, our id or PUUID", "name", "id", "puuid").head("ACCOUNT", table.Words, 16, 20).
		flex(1).line("", table.Words, 1).
		reads(func(r *account) string { return r.RiotID }).prints(func(r *account) string { return r.RiotID }),
	prose("name", "Riot ID: Name#TAG", func(r *account) string { return r.RiotID }).as("riot_id"),
	name("id", "our own", func(r *account) string { return r.ID }),
	name("puuid", "under the present key", func(r *account) string { return r.PUUID }),
	name("platform", "euw1, kr", func(r *account) string { return r.Platform }).line("PLATFORM", table.Words, 0),
	name("region", "europe, asia", func(r *account) string { return r.Region }).head("REGION", table.Words, 8, 8).
		drop(6).colour(themes.Dim).rising().
		says(func(r *account) string { return cmp.Or(r.Region, r.Platform) }),
	enum("state", "", syncWords, accountState).as("status").head("STATE", table.State, 12, 12).
		sort(func(a, b *account) int { return cmp.Compare(SyncRank(a.Status), SyncRank(b.Status)) }).
		prints(accountWord),
	enum("phase", "", phaseWords, func(r *account) filter.Value { return word(phaseWords, string(r.Phase)) }).
		as("stage"),
	name("kind", "of the last sync: full, latest", func(r *account) string { return r.Kind }),
	name("queue", "of the last sync", func(r *account) engine.Queue { return r.Queue }),
	name("job", "of the last sync", func(r *account) engine.JobID { return r.Job }),
	tags("tag", "any of its tags", func(r *account) *[]string { return &r.Tags }).as("tags"),
	yesNo("tracked", "kept in sync by itself", func(r *account) bool { return r.Tracked }).
		line("TRACKED", table.Words, 0),
	// Less than nothing while it is not listed: then there is no number to compare.
	number("total", "matches of the sync, once listed", func(r *account) int { return r.Matches.Total }).
		unknown(func(r *account) bool { return r.Matches.Total < 0 }),
	number("done", "matches that came to their end", func(r *account) int { return r.Matches.Done() }),
	number("percent", "done of total", func(r *account) int { return r.Matches.Done() * 100 / r.Matches.Total }).
		unknown(func(r *account) bool { return r.Matches.Total <= 0 }).as("progress"),
	number("new", "matches this sync stored", func(r *account) int { return r.Matches.Stored }).as("stored").
		head("NEW", table.Number, 5, 6).drop(4).dimZero(themes.Text).greatestFirst(),
	number("had", "matches stored before", func(r *account) int { return r.Matches.Had }),
	number("open", "matches not settled", func(r *account) int { return r.Matches.Open }).as("left"),
	number("retrying", "matches and timelines that failed and will be tried again",
		func(r *account) int { return r.Matches.Retrying + r.Timelines.Retrying }).as("retry").
		head("RETRY", table.Number, 5, 5).drop(3).dimZero(themes.Retry).greatestFirst(),
	number("failed", "matches that gave up", func(r *account) int { return r.Matches.Failed }).as("fail").
		head("FAIL", table.Number, 4, 4).drop(2).dimZero(themes.Err).greatestFirst().line("FAILED", table.Number, 0),
	number("cancelled", "matches that an operator cancelled", func(r *account) int { return r.Matches.Cancelled }).
		line("CANCELLED", table.Number, 0),
	number("too_old", "matches outside retention", func(r *account) int { return r.Matches.TooOld }).as("tooold"),
	number("unaskable", "matches whose id names no platform", func(r *account) int { return r.Matches.Unaskable }),
	number("timelines", "timelines that came to their end", func(r *account) int { return r.Timelines.Done() }).
		line("TIMELINES", table.Number, 0).prints(func(r *account) string { return fraction(r.Timelines) }),
	number("calls", "to Riot, of the sync", func(r *account) int { return r.Calls }),
	number("limited", "429s of the sync", func(r *account) int { return r.Throttled }).as("rate_limited"),
	number("resumed", "restarts the sync survived", func(r *account) int { return r.Resumed }),
	past("last", "last sync that completed", func(r *account) time.Time { return r.LastSync }).as("last_sync").
		head("LAST SYNC", table.Words, 14, 14).drop(5).colour(themes.Dim).
		penned(func(p Pen, r *account) string {
			if r.Status.Open() {
				return "since " + p.Clock(r.Triggered)
			}
			return p.Ago(r.LastSync)
		}).greatestFirst().printsAt(lastSync),
	past("started", "", func(r *account) time.Time { return r.Started }),
	past("finished", "", func(r *account) time.Time { return r.Finished }),
	past("updated", "", func(r *account) time.Time { return r.Updated }),
	prose("err", "of the last failure", func(r *account) string { return r.LastError }).as("error").
		line("ERROR", table.Words, 1),

	shown[account]("progress_bar").head("PROGRESS", table.Progress, 20, 24).tail(11).flex(1).
		sort(func(a, b *account) int { return cmp.Compare(doneOf(b), doneOf(a)) }),
	shown[account]("next").head("NEXT CALL", table.Number, 9, 9),
	shown[account]("eta").head("ETA", table.Number, 10, 11),
	shown[account]("stage_words").head("STAGE", table.Sentence, 24, 40).flex(1).drop(1),
	shown[account]("matches").line("MATCHES", table.Number, 0).
		prints(func(r *account) string { return fraction(r.Matches) }),
)

// Where accounts are shown, with the columns in their order.
var (
	AccountList  = Accounts.Pick("account region state progress_bar next eta last new failed retrying stage_words")
	AccountLines = Accounts.Pick("account platform state matches timelines failed cancelled last tracked err")
)

// Bits of an account's state word: those of engine.SyncStatus in its order, since
// a bit is found by a status's number, and one for INCOMPLETE, which is completed
// as well.
const (
	bitSyncNever uint64 = 1 << iota
	bitSyncPending
	bitSyncing
	bitSyncCompleted
	bitSyncFailed
	bitSyncCancelled
	bitSyncIncomplete
)

var syncWords = []filter.Word{
	{Name: "never", Bits: bitSyncNever, Help: "not synced yet"},
	{Name: "pending", Aliases: []string{"queued", "waiting"}, Bits: bitSyncPending, Help: "a sync waits to start"},
	{Name: "syncing", Aliases: []string{"running"}, Bits: bitSyncing},
	{Name: "completed", Aliases: []string{"done"}, Bits: bitSyncCompleted, Help: "incomplete ones too"},
	{Name: "incomplete", Bits: bitSyncIncomplete, Help: "completed, but some matches could not be had"},
	{Name: "failed", Bits: bitSyncFailed, Help: "resolving or listing failed"},
	{Name: "cancelled", Aliases: []string{"canceled"}, Bits: bitSyncCancelled},
}

// phaseWords are the words of engine.Phase, in order.
var phaseWords = []filter.Word{
	{Name: string(engine.PhaseResolve), Bits: 1 << 0},
	{Name: string(engine.PhaseList), Aliases: []string{"ids"}, Bits: 1 << 1},
	{Name: string(engine.PhaseMatches), Bits: 1 << 2},
	{Name: string(engine.PhaseReport), Bits: 1 << 3},
	{Name: string(engine.PhaseTimelines), Bits: 1 << 4},
	{Name: string(engine.PhaseDone), Bits: 1 << 5},
}

// accountState is the bits that a filter's words are compared with: an account that is incomplete has
// two.
func accountState(r *account) filter.Value {
	// A status that a newer engine made has none of the bits and so fits no word; the mask keeps it from
	// having that of INCOMPLETE.
	bits := bitSyncNever << r.Status & (bitSyncIncomplete - 1)
	if r.Incomplete() {
		bits |= bitSyncIncomplete
	}
	return filter.Bits(bits)
}

// accountWord is how an account stands, as commands print it. What keeps its sync from going on, such
// as PAUSED, goes before the status.
func accountWord(r *account) string {
	switch {
	case r.Stand != "":
		return string(r.Stand)
	case r.Incomplete():
		return "INCOMPLETE"
	}
	return strings.ToUpper(r.Status.String())
}

// syncRank orders accounts by how much they are at work.
var syncRank = [...]int{
	engine.Syncing: 0, engine.SyncPending: 1, engine.SyncFailed: 2, engine.SyncCancelled: 3,
	engine.SyncCompleted: 4, engine.SyncNever: 5,
}

// SyncRank is where a status stands in the order of screens. One that a newer engine made goes last.
func SyncRank(s engine.SyncStatus) int { return rank(syncRank[:], int(s)) }

// doneOf is which part of its matches a sync has done; less than nothing while nobody
// knows how many there are.
func doneOf(r *account) float64 {
	if r.Matches.Total <= 0 {
		return -1
	}
	return float64(r.Matches.Done()) / float64(r.Matches.Total)
}

// fraction is 134/879, and 134/? while nobody knows how many there are.
func fraction(p engine.Progress) string {
	if p.Total < 0 {
		return human.Count(int64(p.Done())) + "/?"
	}
	return human.Count(int64(p.Done())) + "/" + human.Count(int64(p.Total))
}

// lastSync is when the last sync ended, and when it became complete if that was later.
func lastSync(r *account, now time.Time) string {
	text := human.SpanAgo(r.LastSync, now)
	if !r.Closed.IsZero() {
		text += ", complete " + human.SpanAgo(r.Closed, now)
	}
	return text
}

// SyncText says how the sync of an account stands, behind its name: "is complete: 879
// matches, 3 could not be had". Screens, message lines and the plain console say the same.
func SyncText(a engine.AccountRow) string {
	switch a.Status {
	case engine.SyncPending:
		return "waits for its turn"
	case engine.Syncing:
		return "has begun"
	case engine.SyncCompleted:
		text := "is complete: " + human.Counted(a.Matches.Total, "match", "matches")
		if a.Incomplete() {
			had := a.Matches.Total - a.Matches.Failed - a.Matches.Cancelled - a.Matches.Unaskable
			text = "is incomplete: " + strconv.Itoa(had) + " of " + human.Counted(a.Matches.Total, "match", "matches")
		}
		if gaps := a.Matches.Gaps(); gaps != "" {
			text += ", " + gaps
		}
		return text
	case engine.SyncFailed:
		return "has failed: " + cmp.Or(a.LastError, "no reason is known")
	case engine.SyncCancelled:
		return "was cancelled"
	}
	return "has not run yet"
}
