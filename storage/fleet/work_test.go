package fleet

import (
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Of each member it is told what it has in hand and which calls it made, of those that are gone what
// they have left, and who has led.
func TestWhatMembersHaveInHand(t *testing.T) {
	at := made(t)
	db := open(t, at)
	for _, sql := range []string{
		`insert into fs_member (id, host, version, key_fp, may_lead, ahead_ms, seen, in_hand, late) values
			('a', 'one', '2', 'k', true, 20, clock_timestamp() + interval '1 hour', 1, 0), ('b', 'two', '1', 'other', true, -2000, clock_timestamp() + interval '1 hour', 7, 3),
			('c', 'two', '2', '', false, 0, clock_timestamp() + interval '1 hour', 0, 0), ('d', 'six', '2', 'k', true, 0, clock_timestamp() - interval '1 hour', 2, 0)`,
		"update fs_fleet set epoch = 3, holder = 'a', since = clock_timestamp() - interval '10 minutes', expires = clock_timestamp() + interval '1 hour'",
		"update fs_fleet set led_with = 'k'",
		`insert into fs_term (epoch, holder, host, since, until, lapsed) values
			(2, 'd', 'six', clock_timestamp() - interval '2 hours', clock_timestamp() - interval '11 minutes', true), (3, 'a', 'one', clock_timestamp() - interval '10 minutes', null, false)`,
		// The leader carries one job out itself, two are by others; of one that is gone a call is open, and
		// one nobody has taken up. What one that does not lead any more has told of its own is past.
		`insert into fs_call (id, job, epoch, host, method, path, key_fp, member, begun) select 10 + id, id, 3, 'europe', 'm', '/', 'k', 'b', clock_timestamp() from generate_series(1, 2) id`,
		`insert into fs_call (id, job, epoch, host, method, path, key_fp, member, begun, ended, how) select 100 + n, 6 + n, 3, 'europe', 'm', '', 'k', 'b', clock_timestamp(), clock_timestamp(), 'answered' from generate_series(1, 5) n`,
		`insert into fs_call (id, job, epoch, host, method, path, key_fp, member, begun, ended, how) values (-6, -6, 3, 'europe', 'm', '', 'k', 'b', clock_timestamp(), clock_timestamp(), 'unused')`,
		`insert into fs_call (id, job, epoch, host, method, path, key_fp, member, begun, granted) values (-7, -7, 3, 'europe', 'm', '/', 'k', 'd', clock_timestamp() - interval '1 hour', clock_timestamp() - interval '1 hour'), (-8, -8, 3, 'europe', 'm', '/', 'k', '', null, clock_timestamp())`,
		// The leader's own: two calls, beside one that a member made for it and one to a webhook.
		`insert into fs_job_ended (k, id, kind) select int8send(id), id, kind from (values (7, 'k'), (20, 'k'), (21, 'k'), (22, 'event.webhook')) v (id, kind)`,
		`insert into fs_attempt (k, job, number, started, ended, status, http_us)
			select int8send(id), id, 1, clock_timestamp() - interval '1 minute', clock_timestamp(), 200, 9 from fs_job_ended`,
	} {
		do(t, at, sql)
	}
	p, err := Look(t.Context(), db, 0)
	must(t, err)
	type seen struct {
		id                string
		role              engine.MemberRole
		hand, calls, late int
		key, versions     bool
	}
	var got []seen
	for _, m := range p.Members {
		got = append(got, seen{m.ID, m.Role, m.InFlight, m.Minute(), m.Late, m.OtherKey, m.OtherVersion})
		if len(m.Calls) != engine.ForecastPast {
			t.Errorf("%s: calls in %d steps", m.ID, len(m.Calls))
		}
	}
	want := []seen{{"a", engine.MemberLeads, 1, 2, 0, false, false}, {"b", engine.MemberStandsBy, 2, 7, 3, true, true}, {"c", engine.MemberFollows, 0, 0, 0, false, false}, {"d", engine.MemberGone, 1, 0, 0, false, false}}
	if !slices.Equal(got, want) {
		t.Errorf("members %+v", got)
	}
	if p.Epoch != 3 || p.Leader != "a" || p.At.Sub(p.Since) < 9*time.Minute || p.Waiting != 1 || p.LeftOver != 1 || p.Key != "k" {
		t.Errorf("%+v", p)
	}
	if len(p.Terms) != 2 || p.Terms[0].Leader != "a" || !p.Terms[0].Until.IsZero() || !p.Terms[1].Lapsed || p.Terms[1].Until.IsZero() {
		t.Errorf("terms %+v", p.Terms)
	}
	do(t, at, "update fs_fleet set expires = '-infinity'")
	if p, err = Look(t.Context(), db, 0); err != nil || p.Leader != "" || p.LeftOver != 3 || p.Members[0].Role != engine.MemberStandsBy {
		t.Errorf("after the term: %+v, %v", p, err)
	}
}

// A term ends when it is given back, or when it was not renewed any more; the last ones are kept.
func TestWhoHasLed(t *testing.T) {
	t.Parallel()
	at := made(t)
	db := open(t, at)
	take := func(id string) {
		_, release, err := Take(t.Context(), db, Options{ID: id, Host: "here", TTL: ttl})
		must(t, err)
		must(t, release())
	}
	do(t, at, "update fs_fleet set epoch = 0") // each version of the schema has ended a term
	take("a")
	do(t, at, "update fs_fleet set epoch = 2, holder = 'gone', expires = clock_timestamp() + interval '1 second'")
	do(t, at, "insert into fs_term (epoch, holder, host, since) values (2, 'gone', 'there', clock_timestamp())")
	take("b")
	p, err := Look(t.Context(), db, ttl)
	must(t, err)
	if len(p.Terms) != 3 {
		t.Fatalf("%+v", p.Terms)
	}
	for i, want := range []engine.TermRow{{Epoch: 3, Leader: "b", Host: "here"}, {Epoch: 2, Leader: "gone", Host: "there", Lapsed: true}, {Epoch: 1, Leader: "a", Host: "here"}} {
		got := p.Terms[i]
		if got.Until.Before(got.Since) {
			t.Errorf("term %d: from %s to %s", got.Epoch, got.Since, got.Until)
		}
		if got.Since, got.Until = want.Since, want.Until; got != want {
			t.Errorf("%+v", got)
		}
	}
	do(t, at, "update fs_term set epoch = epoch - 97")
	do(t, at, "update fs_fleet set epoch = 4")
	take("c")
	if p, err = Look(t.Context(), db, ttl); err != nil || len(p.Terms) != 2 || p.Terms[0].Epoch != 5 {
		t.Errorf("%+v, %v", p.Terms, err)
	}
}
