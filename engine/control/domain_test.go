package control

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// fakeDomain knows one query.
type fakeDomain struct{ Domain }

func (d *fakeDomain) Find(_ context.Context, q engine.Query) (engine.Answer, bool, error) {
	if _, ok := q.(engine.FreshnessQuery); ok {
		return engine.Freshness{Accounts: 7}, true, nil
	}
	return nil, false, nil
}

func TestTheDomainAnswersWhatTheConsoleDoesNotKnow(t *testing.T) {
	d := &fakeDomain{}
	f := finder{domain: d}
	if a, err := f.find(context.Background(), engine.FreshnessQuery{}); err != nil || a.(engine.Freshness).Accounts != 7 {
		t.Errorf("%v, %v", a, err)
	}
	for _, f := range []finder{f, {}} {
		if _, err := f.find(context.Background(), engine.RanksQuery{}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("a query that nobody knows: %v", err)
		}
	}
}

func TestSchedulesAreListed(t *testing.T) {
	c := &Control{finder: finder{schedules: planned{rows: []engine.ScheduleRow{{Name: "latest", Next: []time.Time{{}}}}}}}
	a, err := c.find(context.Background(), engine.SchedulesQuery{})
	if page, ok := a.(engine.SchedulesPage); err != nil || !ok || len(page.Schedules) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}
