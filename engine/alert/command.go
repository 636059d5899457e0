package alert

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// maxSilence is the longest silence: what is silent for longer is forgotten.
const maxSilence = 7 * 24 * time.Hour

// Acknowledge says that somebody has seen a firing alert. It holds until the alert
// ends. Errors are *engine.Problem.
func (m *Monitor) Acknowledge(id string, by engine.Actor, now time.Time) (engine.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(id)
	switch {
	case err != nil:
		return engine.Receipt{}, err
	case a.State != engine.AlertFiring:
		return engine.Receipt{}, engine.Problemf(engine.ErrConflict, "list those that fire with `farsight alerts`", "alert %s is not firing", id)
	case !a.Acked.IsZero():
		return engine.Receipt{Matched: 1, Nothing: true, Text: fmt.Sprintf("alert %s is acknowledged already", id)}, nil
	}
	a.Acked, a.AckBy = now, by
	return engine.Receipt{Matched: 1, Applied: 1, Text: fmt.Sprintf("alert %s is acknowledged", id)}, nil
}

// Silence keeps an alert silent until an instant, at most seven days ahead,
// whatever its rule says; an instant that has passed ends a silence. Errors are
// *engine.Problem.
func (m *Monitor) Silence(id string, until time.Time, by engine.Actor, now time.Time) (engine.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(id)
	switch {
	case err != nil:
		return engine.Receipt{}, err
	case until.Sub(now) > maxSilence:
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "choose seven days or less",
			"alert %s cannot be silent for %s", id, human.Span(until.Sub(now)))
	case !until.After(now):
		return a.unmute(id, now), nil
	}
	a.Until, a.MuteBy, a.Muted = until, by, now
	return engine.Receipt{Matched: 1, Applied: 1, Due: until,
		Text: fmt.Sprintf("alert %s is silent until %s", id, until.UTC().Format("2006-01-02 15:04 UTC"))}, nil
}

// unmute ends a silence. What the alert has become below it is heard at once.
func (a *alert) unmute(id string, now time.Time) engine.Receipt {
	if !now.Before(a.Until) {
		return engine.Receipt{Matched: 1, Nothing: true, Text: fmt.Sprintf("alert %s is not silenced", id)}
	}
	a.Until, a.MuteBy, a.Muted = time.Time{}, engine.Actor{}, time.Time{}
	return engine.Receipt{Matched: 1, Applied: 1, Text: fmt.Sprintf("alert %s is heard again", id)}
}

// find gives an alert by its id. A rule that has no alert yet can be named too. So a rule can be
// silenced before it ever fires. engine.ErrNotFound names nothing that there is.
func (m *Monitor) find(id string) (*alert, error) {
	if a, ok := m.alerts[id]; ok {
		return a, nil
	}
	for _, r := range m.rules {
		if r.Name == id {
			return m.alertOf(id, ""), nil
		}
	}
	return nil, engine.Problemf(engine.ErrNotFound, "list the alerts to see their ids", "there is no alert %q", id)
}
