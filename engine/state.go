package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// State is where a job stands. One list serves engine, files, filters and
// screens; the words are River's.
type State uint8

// States of a job.
const (
	Pending   State = iota // waits for children or for an operator
	Available              // may run now
	Scheduled              // not before an instant; with a Hold when sent back uncharged
	Running
	Retryable // failed, has a next try
	Completed
	Cancelled
	Discarded // tries used up, or a permanent error
)

var stateNames = [...]string{"pending", "available", "scheduled", "running", "retryable", "completed", "cancelled",
	"discarded"}

// States lists every state in the order screens use.
func States() []State {
	return []State{Pending, Available, Scheduled, Running, Retryable, Completed, Cancelled, Discarded}
}

// LiveStates are those of jobs that have not ended.
func LiveStates() []State { return []State{Pending, Available, Scheduled, Running, Retryable} }

// String is the state's word, the same in files, filters and on screens.
func (s State) String() string { return human.WordOf(stateNames[:], "state", s) }

// MarshalText writes the word, so that JSON never holds the number.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word. An unknown one is an error that lists the words.
func (s *State) UnmarshalText(b []byte) error { return human.ReadWord(stateNames[:], "state", b, s) }

// ParseState reads a state's word.
func ParseState(word string) (State, error) {
	var s State
	err := s.UnmarshalText([]byte(word))
	return s, err
}

// Terminal reports whether the job will not move by itself any more.
func (s State) Terminal() bool { return s >= Completed }

// Live is the opposite of Terminal: a live job holds its key.
func (s State) Live() bool { return !s.Terminal() }

// Cause is what moves a job.
type Cause uint8

// Causes of a move.
const (
	ByOutcome  Cause = iota // the handler answered
	ByClaim                 // a worker took it
	ByTime                  // its instant came
	ByGroup                 // its children settled
	ByOperator              // a person or a script said so
	ByParent                // its parent ended
	ByDrain                 // the engine stops, or gives it back
	ByRescue                // its process or its heartbeat is gone
	ByUndo                  // an operator took a command back before anything ran
)

// move is a step from one state to another, or to itself.
type move struct{ from, to State }

// moves are the legal moves of a job: everything else is a programming
// error, counted and refused.
var moves = map[move][]Cause{
	{Pending, Available}:   {ByGroup, ByOperator},
	{Pending, Cancelled}:   {ByOperator, ByParent},
	{Pending, Discarded}:   {ByGroup}, // too many dead children
	{Available, Cancelled}: {ByOperator, ByParent},
	{Scheduled, Cancelled}: {ByOperator, ByParent},
	{Retryable, Cancelled}: {ByOperator, ByParent},
	{Scheduled, Available}: {ByTime, ByOperator, ByUndo},
	{Retryable, Available}: {ByTime, ByOperator, ByUndo},
	{Scheduled, Scheduled}: {ByOperator, ByUndo}, // reschedule
	{Retryable, Retryable}: {ByOperator, ByUndo}, // reschedule
	{Available, Scheduled}: {ByOperator, ByUndo}, // reschedule; its instant had come
	{Available, Retryable}: {ByUndo},             // the same
	{Available, Available}: {ByUndo},             // the same
	{Available, Running}:   {ByClaim},
	{Running, Completed}:   {ByOutcome},
	{Running, Retryable}:   {ByOutcome},
	{Running, Scheduled}:   {ByOutcome},
	{Running, Discarded}:   {ByOutcome, ByRescue},
	{Running, Cancelled}:   {ByOutcome, ByOperator, ByParent, ByRescue},
	{Running, Pending}:     {ByOutcome},
	{Running, Available}:   {ByDrain, ByRescue, ByOutcome}, // ByOutcome: waited for a group that was settled
	{Running, Running}:     {ByOperator, ByParent},         // a cancel was asked for
	{Discarded, Available}: {ByOperator},
	{Cancelled, Pending}:   {ByUndo},
	{Cancelled, Available}: {ByOperator, ByUndo},
	{Cancelled, Scheduled}: {ByUndo},
	{Cancelled, Retryable}: {ByUndo},
	{Available, Discarded}: {ByUndo}, // of reclass
	{Completed, Available}: {ByOperator},
}

// Legal reports whether a job may move so.
func Legal(from, to State, by Cause) bool {
	return slices.Contains(moves[move{from, to}], by)
}

// Hold is why a job was sent back without a charge.
type Hold uint8

// Holds, with the words that people read.
const (
	HoldNone Hold = iota
	HoldThrottled
	HoldKeyInvalid
	HoldOutage
	HoldLocalNetwork
	HoldDiskFull
	HoldFrozen
)

var holdNames = [...]string{"", "throttled", "key invalid", "outage", "local network", "disk full", "frozen"}

// What rows and titles say of the holds that stop all calls.
const (
	KeyRefused = "Riot refuses the key"
	CutOff     = "this machine cannot reach Riot"
)

// String is the hold in words, "" of none.
func (h Hold) String() string { return human.WordOf(holdNames[:], "hold", h) }

// Reason is why a job is held, for a reader who knows no states.
func (h Hold) Reason() string {
	return "held: " + human.Either(h == HoldThrottled, "429, too many calls", h.String())
}

// MarshalText writes the hold's words.
func (h Hold) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the hold's words.
func (h *Hold) UnmarshalText(b []byte) error { return human.ReadWord(holdNames[:], "hold", b, h) }

// Stand is what keeps work from going on, in the word that titles have for it.
type Stand string

// Stands. What is down is Riot's, what is held waits for something else that is not
// its turn: a key, a network, an operator's freeze.
const (
	StandPaused Stand = "PAUSED"
	StandHeld   Stand = "HELD"
	StandDown   Stand = "DOWN"
)

// fails ends the reason of what waits for an endpoint that is down.
const fails = " fail"

// Outage is that reason: "match calls to europe fail".
func Outage(host, method string) string { return CallsTo(host, method) + fails }

// CallsTo names the calls of one method of a host.
func CallsTo(host, method string) string { return MethodWord(method) + callsTo + host }

const callsTo = " calls to "

// AreFrozen begins what is said of a host or a method that an operator has stopped: "europe is frozen", "match calls to
// europe are frozen".
func AreFrozen(host, method string) string {
	if method == "" {
		return host + " is" + frozen
	}
	return CallsTo(host, method) + " are" + frozen
}

const frozen = " frozen"

// WithoutHost is the reason of an outage or a freeze without its host, where there is only one: "match calls fail". Of
// another reason ok is false.
func WithoutHost(why string) (brief string, ok bool) {
	what, rest, named := strings.Cut(why, callsTo)
	at := strings.Index(rest, " ")
	if !named || at < 0 || rest[at:] != fails && !strings.HasPrefix(rest[at:], " are"+frozen) {
		return "", false
	}
	return what + " calls" + rest[at:], true
}

// MethodWord is what a method asks for: timeline of match-v5.timeline, account of account-v1.by-riot-id.
func MethodWord(method string) string {
	service, what, _ := strings.Cut(method, ".")
	if what, _, _ = strings.Cut(what, "by-"); what != "" {
		return strings.TrimSuffix(what, ".")
	}
	service, _, _ = strings.Cut(service, "-v")
	return service
}

// ParseLimit takes apart what the limiter calls a limit, app:asia 120s or match-v5.match:asia 100/10s: its host, its method,
// which is "" of the app's own, and its window. ok is false of another name.
func ParseLimit(name string) (host, method string, window time.Duration, ok bool) {
	scope, span, _ := strings.Cut(name, " ")
	method, host, ok = strings.Cut(scope, ":")
	window, err := time.ParseDuration(span[strings.Index(span, "/")+1:])
	return host, strings.TrimPrefix(method, "app"), window, ok && err == nil
}

// LimitWords are a limit as the limiter names it in the words of the list of limits: asia match 10 s.
func LimitWords(name string) string {
	host, method, window, ok := ParseLimit(name)
	if !ok {
		return name
	}
	return host + human.If(method != "", " "+MethodWord(method)) + " " + human.Window(window)
}

// WindowOf is a window in a sentence: the 2 min window, asia's where one host of several is meant, and of whose calls where it
// is a method's.
func WindowOf(host, method string, window time.Duration, one bool) string {
	return human.Either(one, "the", human.Whose(host)) + " " + human.Window(window) + " window" +
		human.If(method != "", " of "+MethodWord(method)+" calls")
}

// Held says what stands before any limit: a paused queue, a key that is refused, an
// outage, a freeze. The zero one = nothing does.
type Held struct {
	Reason string
	Until  time.Time // when that is looked at again; zero = not known
	Ends   bool      // it is over then for sure
	Stand  Stand
}
