package pager

import (
	"net/http"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
)

// setup is targets made ready. It is never changed.
type setup struct {
	client   *client
	twilio   *twilio // nil = nobody is called
	channels []Channel
	hooks    []Hook // in the order that they were given in
	routes   map[string][]string
}

// newSetup makes targets ready: defaults are filled in, and the client knows every host that may be
// called and every secret and number that must be cut out of answers.
func newSetup(t Targets, transport http.RoundTripper) (*setup, error) {
	s := &setup{channels: slices.Clone(t.Channels), hooks: slices.Clone(t.Hooks), routes: t.Routes}
	slices.SortStableFunc(s.channels, func(a, b Channel) int { return strings.Compare(a.Name, b.Name) })
	var secrets []Secret
	var addresses []string
	if t.Call != nil {
		call := t.Call.withDefaults()
		s.twilio = &twilio{opt: call}
		secrets, addresses = append(secrets, call.Account, call.Token), append(addresses, call.BaseURL)
	}
	for _, c := range s.channels {
		secrets = append(secrets, c.URL, c.Secret)
		if c.Form != FormCommand {
			addresses = append(addresses, c.URL.value())
		}
	}
	for _, h := range s.hooks {
		secrets, addresses = append(secrets, h.URL, h.Secret), append(addresses, h.URL.value())
	}
	var err error
	if s.client, err = newClient(transport, secrets, addresses...); err != nil {
		return nil, err
	}
	if s.twilio != nil {
		s.twilio.client = s.client
		s.client.numbers = slices.Concat(s.twilio.opt.To, s.twilio.opt.Allow, []string{s.twilio.opt.From})
	}
	return s, nil
}

// rings reports whether somebody is called about alerts.
func (s *setup) rings() bool { return s.twilio != nil && len(s.twilio.opt.To) > 0 }

// tells reports whether somebody of a name is told of an alert, see Targets.Routes.
func (s *setup) tells(name string, a engine.AlertRow) bool {
	for _, of := range []string{a.Rule, string(a.Severity)} {
		if names, ok := s.routes[of]; ok {
			return slices.Contains(names, name)
		}
	}
	return name != TryCall || a.Severity != engine.SeverityWarning
}

// nobody reports whether there is nobody to tell of alerts.
func (s *setup) nobody() bool { return !s.rings() && len(s.channels) == 0 }

// channel finds a channel by its name; a job may name one that is configured no more.
func (s *setup) channel(name string) (Channel, bool) {
	return first(s.channels, func(c Channel) bool { return c.Name == name })
}

// hook finds a hook by its name, likewise.
func (s *setup) hook(name string) (Hook, bool) {
	return first(s.hooks, func(h Hook) bool { return h.Name == name })
}

// first gives the first of a list that fits.
func first[T any](list []T, is func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], true
	}
	return found, false
}
