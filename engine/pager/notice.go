package pager

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Kinds of jobs.
const (
	kindCall    = engine.KindCall
	KindWebhook = engine.Kind("alert.webhook")
	KindCommand = engine.Kind("alert.command")
	KindEvent   = engine.Kind("event.webhook")
)

// Queues.
const (
	QueuePager    engine.Queue = "pager"
	QueueWebhooks engine.Queue = "webhooks"
	QueueCalls    engine.Queue = "calls" // of users' own
)

// turn is what has become of an alert.
type turn string

// Turns.
const (
	turnFired        turn = "fired"
	turnAcknowledged turn = "acknowledged"
	turnResolved     turn = "resolved"
)

// notice is what a job tells of an alert, as it stood when the job was made. It is
// the job's arguments: no number, address or secret is in it. Text is as received.
type notice struct {
	Turn     turn            `json:"turn"`
	Channel  string          `json:"channel,omitempty"` // "" = a call
	Level    int             `json:"level,omitempty"`   // of a call: which number, from 0
	Alert    string          `json:"alert"`             // its id
	Since    time.Time       `json:"firing_since"`
	At       time.Time       `json:"at"` // of the turn
	Rule     string          `json:"rule"`
	Severity engine.Severity `json:"severity,omitempty"`
	About    string          `json:"about"`
	Subject  string          `json:"subject,omitempty"`
	Value    string          `json:"value"`
	Limit    string          `json:"limit"`
	Next     string          `json:"next,omitempty"`
	By       string          `json:"by,omitempty"`   // who has acknowledged it, or asked for the test
	Test     bool            `json:"test,omitempty"` // no alert is behind it
	Own      *ownCall        `json:"own,omitempty"`  // a user's own call: then all fields about an alert are empty

	evidence string // of the alert, read when the notice is sent: no job keeps it, since it may name a person
}

// noticeOf is an alert as it is told at a turn. since is that of its firing, whatever the row says: the
// turns of one firing belong together by it.
func noticeOf(of turn, a engine.AlertRow, since, at time.Time) notice {
	n := notice{
		Turn: of, Alert: a.ID, Since: since.UTC(), At: at.UTC(), Rule: a.Rule, Severity: a.Severity, About: a.About, Subject: a.Subject,
		Value: a.Now(), Limit: a.Bound(), Next: a.Next,
	}
	if of == turnAcknowledged {
		n.By = a.By.User
	}
	return n
}

// subject names what a call is about, for people who look after it.
func (n notice) subject() string {
	if n.Own != nil {
		return "to " + n.Own.Digits
	}
	return "about alert " + n.Alert
}

// words are the notice as a sentence.
func (n notice) words() string {
	if n.Test {
		return n.testWords()
	}
	switch n.Turn {
	case turnAcknowledged:
		return fmt.Sprintf("Farsight alert %s was acknowledged by %s: %s is %s", n.Alert, n.By, n.About, n.Value)
	case turnResolved:
		return fmt.Sprintf("Farsight alert %s is over", n.Alert)
	}
	text := fmt.Sprintf("Farsight alert %s: %s is %s, limit %s", n.Alert, n.About, n.Value, n.Limit)
	if n.evidence != "" {
		text += ": " + n.evidence
	}
	return text
}

// id names the turn of one firing, for ever.
func (n notice) id() string {
	return fmt.Sprintf("alert.%s:%s:%s", n.Turn, n.Alert, stamp(n.Since))
}

// stamp writes an instant so that keys sort by it.
func stamp(at time.Time) string { return at.UTC().Format("20060102T150405.000Z") }

// callKey is the key of a call job: alert.call:{alert}:{firing since}, and the
// number's place when it is not the first.
func (n notice) callKey() string {
	key := fmt.Sprintf("%s:%s:%s", kindCall, n.Alert, stamp(n.Since))
	if n.Test {
		key = testKey
	}
	if n.Level > 0 {
		key += fmt.Sprintf(":%d", n.Level+1)
	}
	return key
}

// callSpec is a notice's job for the telephone. Its key has the firing in it, so that one firing calls
// once.
func callSpec(n notice) engine.Spec {
	return engine.Spec{
		Kind: kindCall, Queue: QueuePager, Policy: engine.PolicyCall, Args: encode(n), Key: n.callKey(),
		Lock: lineLock(n.Level), Priority: engine.PriorityOperator,
	}
}

// lineLock is the lock of the number at a place of CallOptions.To: a line rings once
// at a time.
func lineLock(level int) string { return fmt.Sprintf("line:%d", level+1) }

// channelSpec is a notice's job for one channel. Its lock lets a channel's notices
// go one after the other.
func channelSpec(c Channel, n notice) engine.Spec {
	n.Channel = c.Name
	kind := KindWebhook
	if c.Form == FormCommand {
		kind = KindCommand
	}
	return engine.Spec{
		Kind: kind, Queue: QueuePager, Policy: engine.PolicyIngest, Args: encode(n),
		Key:  fmt.Sprintf("%s:%s:%s", kind, c.Name, n.id()),
		Lock: "channel:" + c.Name, Priority: engine.PriorityHigh,
	}
}

// encode cannot fail: what is stored are strings, numbers and instants of ours.
func encode(args any) json.RawMessage {
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("pager: encode %T: %v", args, err))
	}
	return b
}

// testKey is the key of a test call: there is one at a time.
const testKey = string(kindCall) + ":" + testAlert

// testWords are a test as a sentence.
func (n notice) testWords() string {
	if n.Turn == turnResolved {
		return "Farsight's test of the pager is over"
	}
	return fmt.Sprintf("This is a test of the Farsight pager, asked for by %s. Nothing is wrong", n.By)
}

// ownCall is a call of a user's own as its job keeps it: no whole number is in it.
type ownCall struct {
	Number string `json:"number"` // its mark: the number is looked for among those that are allowed when it is called
	Digits string `json:"digits"` // its last ones, for people
	Text   string `json:"say"`    // as it is spoken
	// Language is that of the text; "" = en-US.
	Language string `json:"language,omitempty"`
	By       string `json:"by,omitempty"`
}

// testAlert is the name under which a test is told, in the place of an alert's.
const testAlert = "test"

// argsOf reads what a job was made with; ok is false when that cannot be read, and o is its end.
func argsOf(r engine.Run, args any) (o engine.Outcome, ok bool) {
	if err := json.Unmarshal(r.Job.Args, args); err != nil {
		return engine.Fail(fmt.Errorf("the job's arguments cannot be read: %w", err)).As("args"), false
	}
	return o, true
}
