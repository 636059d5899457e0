package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/wall"
)

// syncArgs are the arguments of account.sync: what never changes during a run.
// The children read them to know what their parents want. Such as:
//
//	{"account":"01JD…","run":"01JE…","mode":"full","platform":"euw1","timelines":"ranked","requested_by":"ana"}
//
// Platform and Known stand here although the account has them, too: [LaneOf] reads them from the job
// alone, without a transaction.
type syncArgs struct {
	Account   string           `json:"account"`
	Run       string           `json:"run"`
	Mode      string           `json:"mode"`
	Platform  string           `json:"platform"`
	Known     bool             `json:"known_puuid,omitempty"` // its PUUID was known: which call resolves it
	Timelines league.Timelines `json:"timelines"`
	Force     bool             `json:"force,omitempty"`
	Priority  engine.Priority  `json:"priority,omitempty"` // of its matches, when its policy names one
	By        string           `json:"requested_by,omitempty"`
	// Collection is that of a player. Where the PUUID is known the sync begins with the lists: nothing else is known.
	Collection string `json:"collection,omitempty"`
}

// fetchArgs are the arguments of match.fetch and timeline.fetch. The account that wanted the match is
// not among them: a job serves every run that waits for it.
type fetchArgs struct {
	Match string `json:"match"`
	// Confirm asks once more, five minutes later, before a 404 is believed: new
	// games are listed before they can be fetched.
	Confirm bool `json:"confirm_404,omitempty"`
	// More says that the timeline will follow: pacing counts calls to come.
	More bool `json:"timeline_follows,omitempty"`
	// Used is how many attempts count already: those of the job before, which ended
	// without an answer (S0-3).
	Used int `json:"attempts_used,omitempty"`
	// Again says that the match was not found before (B-3b).
	Again bool `json:"again_404,omitempty"`
}

// rankArgs are the arguments of rank.fetch and account.resolve. The platform is there for [LaneOf],
// which may not look the account up.
type rankArgs struct {
	Account  string `json:"account"`
	Platform string `json:"platform"`
}

// collectArgs are the arguments of a collection's round.
type collectArgs struct {
	Collection string `json:"collection"`
}

// weeklyArgs are the arguments of report.weekly.
type weeklyArgs struct {
	Week string `json:"week"` // a Monday, 2026-11-16
}

// sweepArgs are the arguments of sweep.
type sweepArgs struct {
	// Every is from one sweep to the next, as planned when this one began; 0 = nobody
	// knows.
	Every time.Duration `json:"every_ns,omitempty"`
}

// noArgs are the arguments of prune and compact.
type noArgs struct{}

// encode cannot fail: arguments are strings and flags of ours. A panic here is a type that somebody has
// given a field which JSON does not know, and the first test that makes such a job meets it.
func encode(args any) json.RawMessage {
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("ingest: encode %T: %v", args, err))
	}
	return b
}

// decode reads a job's arguments. Unknown fields are refused (S4-4): they would
// be an order that nobody carries out. An error is final for the job, see badArgs: an older program may
// have read what a newer one wrote.
func decode[T any](j engine.Job) (args T, err error) {
	d := json.NewDecoder(bytes.NewReader(j.Args))
	d.DisallowUnknownFields()
	if err = d.Decode(&args); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	if err != nil {
		return args, fmt.Errorf("arguments of %s %s cannot be read: %w", j.Kind, j.ID, err)
	}
	return args, nil
}

// Classes of jobs that ended for what they are about.
const (
	// classArgs is of a job whose arguments, or what they name, cannot be worked on; classSame of an
	// account that turned out to be another one that is known.
	classArgs engine.Class = "args"
	classSame engine.Class = "identity"
	// classID is of a match whose id names no platform that is known.
	classID engine.Class = "id"
	// ClassPlatform is of a sync of an account that is not on its platform.
	ClassPlatform engine.Class = "platform"
)

// badArgs ends a job that nobody can carry out. It fails at once: the next attempt would read the same
// bytes.
func badArgs(err error) engine.Outcome { return engine.Fail(err).As(classArgs) }

// Keys under which only one live job may exist: "full:01JD…", "match:EUW1_7123", "timeline:EUW1_7123",
// "rank:01JD…". A match's key has no account in it, so that ten players of one game who are all synced
// share one fetch of it.
func syncKey(mode, account string) string { return mode + ":" + account }
func matchKey(id string) string           { return PartKey(league.PartMatch, id) }
func timelineKey(id string) string        { return PartKey(league.PartTimeline, id) }
func rankJobKey(account string) string    { return "rank:" + account }
func collectKey(id string) string         { return "collect:" + id }
func resolveKey(account string) string    { return "resolve:" + account }

// PartKey is the key of the job that fetches a part of a match.
func PartKey(p league.Part, id string) string { return string(p) + ":" + id }

// wants reports whether a match's timeline belongs to the choice. Ranked are the
// queues 420 (solo) and 440 (flex). A choice that an older record left empty means all.
func wants(t league.Timelines, queue int) bool {
	switch t {
	case league.TimelinesNone:
		return false
	case league.TimelinesRanked:
		return queue == 420 || queue == 440
	}
	return true
}

// Kinds of jobs.
const (
	// Stored jobs name them: a kind that is renamed leaves jobs that nobody handles.
	KindSync     engine.Kind = "account.sync"
	KindMatch    engine.Kind = "match.fetch"
	KindTimeline engine.Kind = "timeline.fetch"
	KindRank     engine.Kind = "rank.fetch"
	KindWeekly   engine.Kind = "report.weekly"
	KindResolve  engine.Kind = "account.resolve"
	KindSweep    engine.Kind = "sweep"
	KindPrune    engine.Kind = "prune"
	KindCompact  engine.Kind = "compact"
	kindCollect  engine.Kind = "collect"
)

// Queues (S4-1). The children of a sync run in its queue; what keeps the store
// itself in order has one of its own.
const (
	QueueLatest engine.Queue = "ingest.summoner.latest"
	QueueFull   engine.Queue = "ingest.summoner.full"
	QueueRank   engine.Queue = "ingest.rank.daily"
	QueueWeekly engine.Queue = "report.weekly"
	QueueUpkeep engine.Queue = "upkeep"
)

// Modes of a sync.
const (
	ModeFull   = "full"
	ModeLatest = "latest"
)

// Results of a run.
const (
	resultCompleted  = "completed"
	resultIncomplete = "incomplete"
	resultFailed     = "failed"
	resultCancelled  = "cancelled"
)

// now is the wall clock as rows keep it.
func now() time.Time { return wall.Now() }
