package league

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// Status is the domain status of a match, and separately of its timeline.
type Status uint8

// Statuses (S0-1). Being worked on is a job's state, not a status.
const (
	Unfetched Status = iota
	Success
	TemporaryFailure
	PermanentlyUnfetchable
	OutsideRetentionWindow
)

var statusNames = [...]string{"unfetched", "success", "temporary_failure", "permanently_unfetchable",
	"outside_retention_window"}

// String is the status's word, as it is stored in exports and asked for in filters.
func (s Status) String() string { return human.WordOf(statusNames[:], "match status", s) }

// MarshalText writes the status's word.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the status's word.
func (s *Status) UnmarshalText(b []byte) error {
	return human.ReadWord(statusNames[:], "match status", b, s)
}

// Settled reports whether the status is final: nothing changes it by itself.
func (s Status) Settled() bool {
	return s == Success || s == PermanentlyUnfetchable || s == OutsideRetentionWindow
}

// legal holds the moves of S0-1; the flag tells a move that
// only an operator (retry, force, reclass) may make, or a list that names what was called too old.
var legal = map[[2]Status]bool{
	{Unfetched, Success}:                       false,
	{Unfetched, TemporaryFailure}:              false,
	{Unfetched, PermanentlyUnfetchable}:        false,
	{Unfetched, OutsideRetentionWindow}:        false,
	{TemporaryFailure, TemporaryFailure}:       false,
	{TemporaryFailure, Success}:                false,
	{TemporaryFailure, PermanentlyUnfetchable}: false,
	{TemporaryFailure, OutsideRetentionWindow}: false,
	{PermanentlyUnfetchable, Unfetched}:        true,
	{OutsideRetentionWindow, Unfetched}:        true,
	{Success, Unfetched}:                       true, // force on a match
}

// LegalStatus reports whether a match may move so. byOperator is true for retry,
// force and reclass.
func LegalStatus(from, to Status, byOperator bool) bool {
	needsOperator, ok := legal[[2]Status{from, to}]
	return ok && (byOperator || !needsOperator)
}

// Part is half of what Riot keeps of a match.
type Part string

// Parts of a match.
const (
	PartMatch    Part = "match"
	PartTimeline Part = "timeline"
)

// Fetch is how one part of a match stands (S0-7).
type Fetch struct {
	Status        Status
	Attempts      int       // RetryCount: charged attempts so far, all rounds
	FetchedAt     time.Time // first success only
	LastAttemptAt time.Time
	LastError     string // as received
	LastClass     string
	Ref           PayloadRef // zero unless Success
	Cancelled     Cancel     // its last job was cancelled
}

// Cancel says how a part's last job was cancelled. The sweep leaves both alone.
type Cancel uint8

// Ways of a cancel.
const (
	NotCancelled   Cancel = iota
	CancelledAlong        // with the sync that wanted it: a later sync takes it up
	CancelledAlone        // by itself: only a retry or a forced sync takes it up
)

// PayloadRef says where a payload lies and how to know it is whole.
type PayloadRef struct {
	Month  string // shard: month the game was created, "2026-11"
	Codec  string // of the day it was fetched ("gzip"; the shard knows how it lies there now), or CodecDropped
	Size   int    // bytes as they arrived
	RawLen int
	CRC    uint32 // CRC32C of the raw bytes
}

// CodecDropped marks a payload that the operator's own retention rule deleted.
// Its match was fetched and stays a success.
const CodecDropped = "dropped"

// Dropped reports whether retention took the payload.
func (r PayloadRef) Dropped() bool { return r.Codec == CodecDropped }

// Match is a played game, or the promise of one while only its id is known.
type Match struct {
	ID       string
	Match    Fetch
	Timeline Fetch

	Played       time.Time // start, else creation, else end; zero = unknown
	Duration     time.Duration
	QueueID      int
	Mode         string
	Patch        string
	Aborted      bool
	Remake       bool
	Participants int
	Listed       time.Time // when its id was first seen
}

// Of is how a part stands.
func (m *Match) Of(p Part) *Fetch {
	if p == PartTimeline {
		return &m.Timeline
	}
	return &m.Match
}

// Participant is one seat of a match: (match id, index in info.participants).
// Several bots share the PUUID "BOT", so the PUUID is no key.
type Participant struct {
	Match    string
	Index    int
	PUUID    string
	RiotID   string
	Champion string
	Team     int
	Won      bool
	Kills    int
	Deaths   int
	Assists  int
}

// Game is what the play-time report needs of a stored match.
type Game struct {
	Match    string
	Played   time.Time
	Duration time.Duration
	QueueID  int
	Here     bool   // one of the participants is the account
	Won      bool   // and won
	Remake   bool   // ended before it began: neither won nor lost
	Champion string // as received
}
