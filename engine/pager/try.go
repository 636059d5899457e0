package pager

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Words for who is tried, besides the names of channels.
const (
	TryCall  = "call"     // the telephone
	tryHooks = "webhooks" // the receivers of events
)

// TestEvent is the type of the event that a test sends to hooks.
const TestEvent = "farsight.test"

// target is somebody who can be tried.
type target struct {
	name  string
	words string // who, without what is secret
	specs func(notice) []engine.Spec
}

// targets are all who are told of something, in the order that they are told in.
func (p *Pager) targets(s *setup) (out []target) {
	if s.rings() {
		out = append(out, target{TryCall, s.twilio.words(),
			func(n notice) []engine.Spec { return []engine.Spec{callSpec(n)} }})
	}
	for _, c := range s.channels {
		out = append(out, target{c.Name, c.words(), func(n notice) []engine.Spec {
			end := n
			end.Turn = turnResolved // what a test opens it closes
			return []engine.Spec{channelSpec(c, n), channelSpec(c, end)}
		}})
	}
	for _, h := range s.hooks {
		out = append(out, target{tryHooks, h.words(), func(n notice) []engine.Spec {
			return []engine.Spec{eventSpec(h, Event{ID: TestEvent + ":" + stamp(n.At), Type: TestEvent, At: n.At})}
		}})
	}
	return out
}

// words say who is called.
func (t *twilio) words() string {
	text := "call " + engine.CutNumber(t.opt.To[0])
	for _, to := range t.opt.To[1:] {
		text += ", then " + engine.CutNumber(to) + " when nobody has picked up"
	}
	return text
}

// words say where a channel's notices go; of an address only the host, since its path may be the
// secret.
func (c Channel) words() string {
	switch c.Form {
	case FormCommand:
		return "command " + c.Command[0]
	case FormSigned:
		return c.Name + " at " + hostOf(c.URL) + ", signed"
	}
	return c.Name + " at " + hostOf(c.URL)
}

// words say where a hook's events go.
func (h Hook) words() string { return "webhook for events at " + hostOf(h.URL) + ", signed" }

// hostOf is the part of an address that is no secret.
func hostOf(address Secret) string {
	u, err := url.Parse(address.value())
	if err != nil {
		return masked
	}
	return u.Host
}

// Try lets everybody who is configured, or those of one name, hear a test, by jobs
// like those of an alert: a call that is not answered is made again, and then goes to
// the next number. dry only says who would hear it. The receipt's sample are the keys
// of the jobs, or, of a dry run, who would be told, and whom users may call. Errors are *engine.Problem.
func (p *Pager) Try(ctx context.Context, name string, by engine.Actor, dry bool) (engine.Receipt, error) {
	chosen, err := p.choose(name)
	own := p.set.Load().ownWords()
	if err != nil && (!dry || name != "" || own == "") {
		return engine.Receipt{}, err
	}
	if len(chosen) == 0 {
		return engine.Receipt{Sample: []string{"nobody is told of alerts or events: " + toldBy, own},
			Text: err.Error()}, nil
	}
	var words []string
	for _, t := range chosen {
		words = append(words, t.words)
	}
	if dry {
		text := "would tell: " + strings.Join(words, "; ")
		if name == "" && own != "" {
			words = append(words, own)
		}
		return engine.Receipt{Matched: len(chosen), Would: len(chosen), Sample: words, Text: text}, nil
	}
	if p.jobs == nil {
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "start the engine first",
			"no engine runs that could tell anybody")
	}
	keys, err := p.test(ctx, chosen, by)
	if err != nil {
		return engine.Receipt{}, err
	}
	return engine.Receipt{Matched: len(chosen), Applied: len(chosen), Sample: keys,
		Text: "a test goes to: " + strings.Join(words, "; ")}, nil
}

// toldBy is the advice where nobody is configured.
const toldBy = "fill in [pager] or [webhooks] in config.toml"

// ownWords say whom users may call; "" = they may call nobody.
func (s *setup) ownWords() string {
	if s.twilio == nil || len(s.twilio.opt.Allow) == 0 {
		return ""
	}
	var cut []string
	for _, n := range s.twilio.opt.Allow {
		cut = append(cut, engine.CutNumber(n))
	}
	return "calls of your own may go to " + strings.Join(cut, ", ") + ": `farsight call`"
}

// choose gives those of a name; "" = all. engine.ErrRefused when nobody is configured,
// engine.ErrNotFound when none has the name.
func (p *Pager) choose(name string) (chosen []target, err error) {
	all := p.targets(p.set.Load())
	if len(all) == 0 {
		return nil, engine.Problemf(engine.ErrRefused, toldBy, "nobody is configured to be told")
	}
	var names []string
	for _, t := range all {
		if name == "" || name == t.name {
			chosen = append(chosen, t)
		}
		names = append(names, t.name)
	}
	if len(chosen) == 0 {
		return nil, engine.Problemf(engine.ErrNotFound, "use one of "+strings.Join(names, ", "),
			"nobody is configured by the name of %q", name)
	}
	return chosen, nil
}

// test inserts the jobs of a test, all or none, and answers their keys.
func (p *Pager) test(ctx context.Context, chosen []target, by engine.Actor) (keys []string, err error) {
	now := time.Now().UTC()
	n := notice{
		Turn: turnFired, Alert: testAlert, Since: now, At: now, Rule: testAlert, About: "a test of the pager",
		Value: "0", Limit: "0",
		Next: "nothing: this is a test", By: by.User, Test: true,
	}
	var specs []engine.Spec
	for _, t := range chosen {
		specs = append(specs, t.specs(n)...)
	}
	for _, s := range specs {
		keys = append(keys, s.Key)
	}
	if chosen[0].name == TryCall {
		if err := p.rings(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := p.jobs.Insert(ctx, specs...); err != nil {
		return nil, fmt.Errorf("insert a test of the pager: %w", err)
	}
	return keys, nil
}

// rings refuses a second test call while there is one.
func (p *Pager) rings(ctx context.Context) error {
	for j, err := range p.openCalls(ctx, notice{Test: true}) {
		if err != nil {
			return err
		}
		problem := engine.Problemf(engine.ErrConflict, "wait for it, or `farsight cancel "+j.Key+"`",
			"a test call is under way already: job %s is %s", j.ID, j.State)
		problem.Job = j.ID
		return problem
	}
	return nil
}
