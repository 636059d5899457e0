package traffic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
)

func TestOutcomeOf(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	next := at.Add(time.Minute)
	for name, c := range map[string]struct {
		err  error
		s    situation
		verb engine.Verb
		hold engine.Hold
		at   time.Time
		as   engine.Class
	}{
		"429": {
			err:  &riot.Error{Reason: riot.Throttled, Class: riot.ClassThrottledApp, RetryAt: at.Add(9 * time.Second)},
			verb: engine.VerbSnooze, hold: engine.HoldThrottled, at: at.Add(9 * time.Second), as: riot.ClassThrottledApp,
		},
		"429 for a year": {
			err:  &riot.Error{Reason: riot.Throttled, Class: riot.ClassThrottledApp, RetryAt: at.AddDate(1, 0, 0)},
			verb: engine.VerbSnooze, hold: engine.HoldThrottled, at: at.Add(10 * time.Minute), as: riot.ClassThrottledApp,
		},
		"429 in the past": {
			err:  &riot.Error{Reason: riot.Throttled, Class: riot.ClassThrottledUnknown, RetryAt: at.Add(-time.Hour)},
			verb: engine.VerbSnooze, hold: engine.HoldThrottled, at: at.Add(time.Second), as: riot.ClassThrottledUnknown,
		},
		"5xx":     {err: &riot.Error{Reason: riot.Transient, Class: riot.ClassServer}, verb: engine.VerbRetry, as: riot.ClassServer},
		"timeout": {err: &riot.Error{Reason: riot.Timeout, Class: riot.ClassTimeout}, verb: engine.VerbRetry, as: riot.ClassTimeout},
		"5xx in an outage": {
			err: &riot.Error{Reason: riot.Transient, Class: riot.ClassServer}, s: situation{outage: true},
			verb: engine.VerbSnooze, hold: engine.HoldOutage, at: next, as: riot.ClassServer,
		},
		"no network": {
			err:  &riot.Error{Reason: riot.Local, Class: riot.ClassLocal},
			verb: engine.VerbSnooze, hold: engine.HoldLocalNetwork, at: next, as: riot.ClassLocal,
		},
		"404": {err: &riot.Error{Reason: riot.Missing, Class: riot.ClassMissing}, verb: engine.VerbFail, as: riot.ClassMissing},
		"404 to be confirmed": {
			err: &riot.Error{Reason: riot.Missing, Class: riot.ClassMissing}, s: situation{missing: AskOnceMore},
			verb: engine.VerbRetry, at: at.Add(300 * time.Second), as: riot.ClassMissing,
		},
		"404 by the table": {
			err: &riot.Error{Reason: riot.Missing, Class: riot.ClassMissing}, s: situation{missing: AskByTable},
			verb: engine.VerbRetry, as: riot.ClassMissing,
		},
		"400":           {err: &riot.Error{Reason: riot.BadRequest, Class: riot.ClassBadRequest}, verb: engine.VerbFail, as: riot.ClassBadRequest},
		"other project": {err: &riot.Error{Reason: riot.WrongProject, Class: riot.ClassWrongProject}, verb: engine.VerbFail, as: riot.ClassWrongProject},
		"401": {
			err:  &riot.Error{Reason: riot.Denied401, Class: riot.ClassUnauthorized},
			verb: engine.VerbSnooze, hold: engine.HoldKeyInvalid, at: next, as: riot.ClassUnauthorized,
		},
		"no key": {
			err:  &riot.Error{Reason: riot.NoKey, Class: riot.ClassNoKey},
			verb: engine.VerbSnooze, hold: engine.HoldKeyInvalid, at: next, as: riot.ClassNoKey,
		},
		"403 of the key": {
			err:  &riot.Error{Reason: riot.Denied403, Class: riot.ClassForbidden},
			verb: engine.VerbSnooze, hold: engine.HoldKeyInvalid, at: next, as: riot.ClassForbidden,
		},
		"403 of the target": {
			err: &riot.Error{Reason: riot.Denied403, Class: riot.ClassForbidden}, s: situation{keyWorks: true},
			verb: engine.VerbSnooze, hold: engine.HoldOutage, at: at.Add(5 * time.Second), as: "403.path",
		},
		"403 of the target, again": {
			err: &riot.Error{Reason: riot.Denied403, Class: riot.ClassForbidden}, s: situation{keyWorks: true, again: true},
			verb: engine.VerbFail, as: "403.path",
		},
		"firewall": {
			err:  &riot.Error{Reason: riot.Blocked, Class: riot.ClassBlocked},
			verb: engine.VerbRetry, as: riot.ClassBlocked,
		},
		"firewall before everything": {
			err: &riot.Error{Reason: riot.Blocked, Class: riot.ClassBlocked}, s: situation{outage: true},
			verb: engine.VerbSnooze, hold: engine.HoldOutage, at: next, as: riot.ClassBlocked,
		},
		"bad payload": {err: &riot.Error{Reason: riot.Malformed, Class: riot.ClassPayload, Excerpt: "<html>"}, verb: engine.VerbRetry, as: riot.ClassPayload},
		"too large":   {err: &riot.Error{Reason: riot.TooLarge, Class: riot.ClassPayload}, verb: engine.VerbRetry, as: riot.ClassPayload},
		"new reason":  {err: &riot.Error{Reason: 99, Class: "new"}, verb: engine.VerbRetry, as: "new"},
		"wrapped":     {err: fmt.Errorf("fetch: %w", &riot.Error{Reason: riot.Missing, Class: riot.ClassMissing}), verb: engine.VerbFail, as: riot.ClassMissing},
		"shutdown":    {err: engine.ErrShutdown, verb: engine.VerbRetry},
		"deadline":    {err: context.DeadlineExceeded, verb: engine.VerbRetry, as: riot.ClassTimeout},
		"disk full": {
			err:  fmt.Errorf("store: %w", syscall.ENOSPC),
			verb: engine.VerbSnooze, hold: engine.HoldDiskFull, at: at.Add(10 * time.Second), as: classStorage,
		},
		"store": {err: errors.New("cannot read"), verb: engine.VerbRetry, as: classStorage},
	} {
		c.s.now, c.s.next = at, next
		o := outcomeOf(c.err, c.s)
		if o.Verb != c.verb || o.Hold != c.hold || !o.At.Equal(c.at) || o.Class != c.as || o.Err == nil {
			t.Errorf("%s: %v hold %q at %v class %q err %v", name, o.Verb, o.Hold, o.At, o.Class, o.Err)
		}
		if o.Commit != nil {
			t.Errorf("%s: a failure commits nothing of its own", name)
		}
	}
}

func TestABadPayloadKeepsItsStart(t *testing.T) {
	o := outcomeOf(&riot.Error{Reason: riot.Malformed, Class: riot.ClassPayload, Message: "the answer is no JSON", Excerpt: "Just a moment"}, situation{})
	if !strings.Contains(o.Err.Error(), "Just a moment") {
		t.Errorf("%v", o.Err)
	}
}
