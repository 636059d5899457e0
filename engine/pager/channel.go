package pager

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
)

// message is what a form makes of a notice.
type message struct {
	body   []byte
	header http.Header
}

// forms is the table of what is POSTed.
var forms = map[Form]func(p *Pager, c Channel, n notice) message{
	FormSigned:    (*Pager).signed,
	FormDiscord:   (*Pager).discord,
	FormPagerDuty: (*Pager).pagerDuty,
	FormSlack:     (*Pager).slack,
	FormNtfy:      (*Pager).ntfy,
	FormTelegram:  (*Pager).telegram,
}

// deliver is one attempt to tell a webhook of an alert. Only a later try looks whether the alert is
// over: the first comes at once, and what it says was so.
func (p *Pager) deliver(ctx context.Context, r engine.Run) engine.Outcome {
	var n notice
	if o, ok := argsOf(r, &n); !ok {
		return o
	}
	s := p.set.Load()
	c, ok := s.channel(n.Channel)
	if !ok || forms[c.Form] == nil {
		return engine.Fail(fmt.Errorf("the configuration has no channel %s any more", n.Channel)).As("no-channel")
	}
	if n.Turn == turnFired && r.Job.Round <= 1 && r.Job.Tries > 1 && p.isOver(n) {
		return engine.Abort(errors.New("the alert was over before this could be told")).As("over")
	}
	n.evidence = p.evidence(n)
	return s.post(ctx, c.URL, forms[c.Form](p, c, n))
}

// isOver reports whether an alert has ended since a notice was made: what is told
// late must not open again what was resolved.
func (p *Pager) isOver(n notice) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n.Test {
		return false
	}
	for _, a := range p.rows {
		if a.ID == n.Alert {
			return a.State == engine.AlertOK || a.State == engine.AlertPending
		}
	}
	return p.known
}

// post sends one message and says what the answer means for the job.
func (s *setup) post(ctx context.Context, to Secret, m message) engine.Outcome {
	req, err := http.NewRequest(http.MethodPost, to.value(), bytes.NewReader(m.body))
	if err != nil {
		return engine.Fail(errors.New("the configured address makes no request")).As("address")
	}
	req.Header = m.header
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "farsight")
	began := time.Now()
	a, err := s.client.do(ctx, req)
	stat := engine.CallStat{Calls: 1, Status: a.status, HTTP: time.Since(began)}
	if ctx.Err() != nil {
		return engine.Retry(context.Cause(ctx)).With(stat)
	}
	if err != nil {
		return engine.Retry(err).As("network").With(stat)
	}
	return s.verdict(a).With(stat)
}

// verdict reads an answer: what may pass is tried again, what never will is not.
func (s *setup) verdict(a answer) engine.Outcome {
	class := engine.Class(fmt.Sprint(a.status))
	switch {
	case a.status >= 200 && a.status < 300:
		return engine.Done(nil)
	case a.status == http.StatusTooManyRequests:
		return engine.Snooze(a.retryAfter(time.Now()), engine.HoldThrottled, s.client.says(a)).As(class)
	case a.status >= 500, a.status == http.StatusRequestTimeout, a.status == http.StatusTooEarly:
		return engine.Retry(s.client.says(a)).As(class)
	case a.status >= 300 && a.status < 400:
		return engine.Fail(errors.New("the answer was a redirect, and none is followed: configure the address it leads to")).As(class)
	}
	return engine.Fail(s.client.says(a)).As(class)
}

// alertBody is what a signed webhook and a command get.
type alertBody struct {
	ID       string    `json:"id"`
	Type     string    `json:"type"`
	At       time.Time `json:"at"`
	Instance string    `json:"instance,omitempty"`
	Text     string    `json:"text"`
	Alert    alertPart `json:"alert"`
}

// alertPart is the alert in that body. Receivers depend on the names: one may be added, none change or
// go.
type alertPart struct {
	ID       string          `json:"id"`
	Rule     string          `json:"rule"`
	About    string          `json:"about"`
	Subject  string          `json:"subject,omitempty"`
	Since    time.Time       `json:"firing_since"`
	Severity engine.Severity `json:"severity,omitempty"`
	Value    string          `json:"value"`
	Limit    string          `json:"limit"`
	Next     string          `json:"next,omitempty"`
	Evidence string          `json:"evidence,omitempty"` // the latest that speaks for it
	By       string          `json:"by,omitempty"`
}

// alertJSON is a notice as programs get it; text that strangers have chosen cannot harm a terminal that
// shows it.
func (p *Pager) alertJSON(n notice) []byte {
	return safe.JSON(encode(alertBody{
		ID: n.id(), Type: n.event(), At: n.At, Instance: p.opt.Instance, Text: safe.Text(n.words()),
		Alert: alertPart{ID: n.Alert, Rule: n.Rule, About: n.About, Subject: n.Subject, Since: n.Since, Severity: n.Severity, Value: n.Value,
			Limit: n.Limit, Next: n.Next, Evidence: n.evidence, By: n.By},
	}))
}

// event is the notice's type, such as alert.fired.
func (n notice) event() string { return "alert." + string(n.Turn) }

// signed is a message for a webhook of the user's own, see the package comment.
func (p *Pager) signed(c Channel, n notice) message {
	return sign(c.Secret, n.event(), n.id(), p.alertJSON(n))
}

// sign makes a signed message; its timestamp is of this attempt.
func sign(secret Secret, event, id string, body []byte) message {
	now := time.Now()
	h := http.Header{}
	h.Set(HeaderEvent, event)
	h.Set(HeaderDelivery, id)
	h.Set(HeaderTimestamp, fmt.Sprint(now.Unix()))
	h.Set(HeaderSignature, signature(secret.value(), now, body))
	h.Set(headerStandardID, standardID(id))
	h.Set(headerStandardTimestamp, fmt.Sprint(now.Unix()))
	h.Set(headerStandardSignature, signStandard(secret.value(), standardID(id), now, body))
	return message{body: body, header: h}
}

// discord is a message to a channel (Discord, Execute Webhook): nobody is
// mentioned by a name that a stranger has chosen, and nothing is set in bold by it.
func (p *Pager) discord(_ Channel, n notice) message {
	return message{body: encode(map[string]any{
		"content": n.chat(plain), "username": "Farsight", "allowed_mentions": map[string]any{"parse": []string{}},
	})}
}

// chat is a notice for people: what fires and, below it, what to do. Its length fits all chats, Discord's 2000 characters
// and ntfy's 4096 bytes. escape takes the meaning from what the chat would read.
func (n notice) chat(escape func(string) string) string {
	const most = 1000
	text := safe.Text(n.words())
	if n.Turn == turnFired && n.Next != "" {
		text += "\n" + safe.Text(n.Next)
	}
	r := []rune(text)
	return escape(string(r[:min(len(r), most)]))
}

// slack is a message of an incoming webhook: nothing in it is a link, a mention or in bold.
func (p *Pager) slack(_ Channel, n notice) message {
	return message{body: encode(map[string]any{"text": n.chat(unmarked), "mrkdwn": false})}
}

// unmarked takes the meaning from the three signs that Slack reads.
var unmarked = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// ntfy is a message to a topic: the body is the text, and headers say how loud it is.
func (p *Pager) ntfy(c Channel, n notice) message {
	h := http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Title": {"Farsight"}, "Priority": {"default"}}
	if n.Turn == turnFired && n.Severity != engine.SeverityWarning {
		h.Set("Priority", "urgent")
	}
	if !c.Secret.IsZero() {
		h.Set("Authorization", "Bearer "+c.Secret.value())
	}
	return message{body: []byte(n.chat(strings.Clone)), header: h}
}

// telegram is a message to a chat; without a parse mode its text is read as it is.
func (p *Pager) telegram(c Channel, n notice) message {
	return message{body: encode(map[string]any{"chat_id": c.To, "text": n.chat(strings.Clone),
		"link_preview_options": map[string]any{"is_disabled": true}})}
}

// plain takes the meaning from what Discord's markdown would read.
var plain = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, "<", `\<`,
	"[", `\[`).Replace

// actions are PagerDuty's words (Events API v2, event_action).
var actions = map[turn]string{turnFired: "trigger", turnAcknowledged: "acknowledge", turnResolved: "resolve"}

// pagerDuty is an event of one incident: the dedup key is the same for all turns of
// one firing.
func (p *Pager) pagerDuty(c Channel, n notice) message {
	const most = 1024 // of a summary
	summary := []rune(safe.Text(n.words()))
	event := map[string]any{
		"routing_key": c.Secret.value(), "event_action": actions[n.Turn],
		"dedup_key": strings.Join([]string{"farsight", p.opt.Instance, n.Alert, stamp(n.Since)}, ":"),
	}
	if n.Turn == turnFired {
		event["client"] = "Farsight"
		event["payload"] = map[string]any{
			"summary": string(summary[:min(len(summary), most)]), "source": source(p.opt.Instance), "severity": cmp.Or(string(n.Severity), "error"),
			"timestamp": n.At.Format(time.RFC3339), "component": n.Rule,
			"custom_details": map[string]string{"value": n.Value, "limit": n.Limit, "next": n.Next, "alert": n.Alert, "evidence": n.evidence},
		}
	}
	return message{body: safe.JSON(encode(event))}
}

// source is what PagerDuty shows as where an event comes from; it must not be empty.
func source(instance string) string {
	if instance == "" {
		return "farsight"
	}
	return instance
}
