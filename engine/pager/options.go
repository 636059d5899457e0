package pager

import (
	"context"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
)

// Store is the part of storage that the pager works on.
type Store interface {
	// LoadState and SaveState keep small named blobs; nil when there is none.
	LoadState(ctx context.Context, name string) ([]byte, error)
	SaveState(ctx context.Context, name string, blob []byte) error
	// Write runs fn in one transaction, in which PutState keeps a blob, too.
	Write(ctx context.Context, fn func(engine.Tx) error) error
	PutState(tx engine.Tx, name string, blob []byte) error
	// Detail finds a job by its key: the live, else the latest; engine.ErrNotFound.
	Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error)
}

// Jobs is the part of the job engine that alerts start and cancel jobs with.
type Jobs interface {
	Insert(ctx context.Context, specs ...engine.Spec) ([]engine.Enqueued, error)
	Act(ctx context.Context, c engine.Command) (engine.Receipt, error)
}

// Options of a Pager. Store is required.
type Options struct {
	Targets
	Store    Store
	Instance string // names this engine, for receivers that hear of several
	// Account finds the account of an event.
	Account   func(ctx context.Context, id string) (engine.AccountRow, error)
	Transport http.RoundTripper // nil = the hardened one
	OnNote    func(engine.Note) // must not block; nil = nobody is told
	Log       zerolog.Logger
}

// Targets are who is told, and how.
type Targets struct {
	Call     *CallOptions // by telephone, of alerts and by users; nil = nobody is called
	Channels []Channel    // of alerts
	Hooks    []Hook       // of events
	// Routes say who is told of an alert, by its rule or, where that has none, by its severity: [TryCall] and names of
	// channels. Without either every channel is told, and the telephone rings unless it is a warning.
	Routes map[string][]string
}

// Form says how a channel is spoken to.
type Form string

// Forms.
const (
	FormSigned    Form = "webhook"   // JSON with a signature, see the package comment
	FormDiscord   Form = "discord"   // a Discord webhook
	FormPagerDuty Form = "pagerduty" // PagerDuty's Events API v2
	FormCommand   Form = "command"   // a local program
	FormSlack     Form = "slack"     // a Slack incoming webhook
	FormNtfy      Form = "ntfy"      // a topic of ntfy
	FormTelegram  Form = "telegram"  // sendMessage of Telegram's bot API
)

// DefaultTelegram is where Telegram's bots are spoken to.
const DefaultTelegram = "https://api.telegram.org"

// DefaultPagerDuty is where PagerDuty takes events.
const DefaultPagerDuty = "https://events.pagerduty.com/v2/enqueue"

// Channel is somewhere that notices of alerts go.
type Channel struct {
	Name   string // in jobs: it finds the channel again
	Form   Form
	URL    Secret // whoever knows that of a chat can post; Telegram's has the token in it
	Secret Secret // FormSigned: the key of the signature; FormPagerDuty: the routing key; else a token
	To     string // FormTelegram: the chat

	Command []string      // FormCommand: the program and its arguments; no shell
	Timeout time.Duration // FormCommand; 0 = DefaultCommandTimeout
}

// Hook is an address that events are sent to.
type Hook struct {
	Name   string
	URL    Secret
	Secret Secret   // of the signature
	Events []string // which; empty = all
}
