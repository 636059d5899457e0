package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Forgetting an account deletes all that is stored of it in one transaction: it is all there, or
// none of it is. A dry run goes the same way and is taken back.

// forgetAlone lets one account at a time be forgotten: of two that share a match the second
// deletes it.
const forgetAlone = "select pg_advisory_xact_lock(hashtextextended('farsight.forget.'||current_schema(), 0))"

// Forget deletes all that is stored of an account, by id or Riot ID. cancelled jobs of it were
// cancelled just now for it; none may be live. engine.ErrNotFound; engine.ErrRefused while a job
// of it lives. audit is the number of the entry that tells of it.
func (db *DB) Forget(
	ctx context.Context, account string, by engine.Actor, reason string, cancelled int,
) (done engine.ForgetDone, audit uint64, err error) {
	err = db.Write(ctx, func(tx engine.Tx) error {
		t := own(tx)
		f := &forgetter{t: t, f: both.Forgotten{By: by, Reason: reason, Done: engine.ForgetDone{Cancelled: cancelled}}}
		live, err := f.run(account)
		if err == nil {
			err = both.StillLive(live)
		}
		if err != nil {
			return err
		}
		done = f.f.Done
		audit, err = db.AddAudit(t, f.f.Entry(t.now, ""))
		return err
	})
	return done, audit, err
}

// FinishForgotten has nothing to do: what was interrupted left no trace. A data directory goes on
// here with payloads, which are in files beside its tables.
func (db *DB) FinishForgotten(context.Context, func(both.Forgotten)) error { return nil }

// errDry takes a dry run back.
var errDry = errors.New("it was a dry run")

// WouldForget counts what Forget would delete, and changes nothing. engine.ErrNotFound.
func (db *DB) WouldForget(ctx context.Context, account string) (done engine.ForgetDone, err error) {
	err = db.Write(ctx, func(tx engine.Tx) error {
		f := &forgetter{t: own(tx)}
		live, err := f.run(account)
		if err != nil {
			return err
		}
		done = f.f.Done
		done.Seats, done.Cancelled = 0, live
		done.Jobs += live // they are cancelled before, and go as ended ones
		return errDry
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	return done, err
}

// LiveJobsOf gives the live jobs that are an account's, or are about it, the oldest first; by id
// or Riot ID. Those that wait and that another account's sync counts are left out: they become
// that account's. engine.ErrNotFound.
func (db *DB) LiveJobsOf(ctx context.Context, account string) ([]engine.Job, error) {
	return answer(ctx, db, func(t *txn) (jobs []engine.Job, err error) {
		a, err := t.accountOn(account, "")
		if err == nil {
			jobs, _, err = t.liveOf(a.ID)
		}
		return jobs, err
	})
}

// heired is a job with another account whose sync counts it; "" = none does.
type heired struct {
	engine.Job
	heir string
}

var tHeired = declare("", "", func(h *heired) []column { return append(jobColumns(&h.Job), column{"", (*text)(&h.heir)}) })

// withHeir reads jobs of a table of them that name any of some texts.
//
// An account's id and its PUUIDs may stand anywhere in a job: in its key ("full:01JG…"), its
// arguments, the text of an error. $1 is the account, $2 the texts.
func withHeir(tb *table[engine.Job]) string {
	return "select " + tb.sql().names + `, coalesce((
	select p.owner from fs_mark m
	join (select id, owner from fs_job union all select id, owner from fs_job_ended) p on p.id = m.parent
	where m.child = j.id and p.owner not in ('', $1) order by m.parent, m.grp limit 1), '')
from ` + tb.name + ` j where exists (select from unnest($2::text[]) name
	where strpos(concat_ws(E'\n', owner, key, lock, args::text, last_error, failed::text), name) > 0) `
}

// liveOf gives the live jobs that are an account's or about it, and as they are to be stored those
// that another account gets: the sync of that one counts them.
func (t *txn) liveOf(account string) (mine, bequeathed []engine.Job, err error) {
	order := "order by id"
	if t.lock != "" {
		order += " for update of j"
	}
	jobs, err := tHeired.of(withHeir(tLive)).list(t, order, account, []string{account})
	for _, j := range jobs {
		if j.heir == "" || j.State == engine.Running {
			mine = append(mine, j.Job)
			continue
		}
		if j.Owner == account {
			j.Owner = j.heir
			j.Rev++
			bequeathed = append(bequeathed, j.Job)
		}
	}
	return mine, bequeathed, err
}

// forgetter is at work on one account.
type forgetter struct {
	t *txn
	f both.Forgotten

	alone []string // matches that no other account has
}

// run deletes everything but the live jobs, of which there may be none.
func (w *forgetter) run(account string) (live int, err error) {
	w.t.unhurried()
	w.t.exec(forgetAlone)
	a, err := w.t.accountOn(account, "")
	if err != nil {
		return 0, err
	}
	mine, bequeathed, err := w.t.liveOf(a.ID)
	if err != nil {
		return 0, err
	}
	w.f.Began = w.t.now
	w.f.Identify(a)
	for _, j := range bequeathed {
		if err := w.t.db.SaveJob(w.t, j); err != nil {
			return 0, err
		}
	}
	// The account goes first: only seats of PUUIDs that are nobody's are masked. Matches go before
	// states, from which those that are deleted are taken too.
	steps := []func(league.Account) error{w.account, w.matches, w.jobs, w.runs, w.rest, w.weeklies, w.seats, w.states, w.asked}
	for _, step := range steps {
		if err := step(a); err != nil {
			return 0, err
		}
	}
	return len(mine), nil
}

// gone deletes rows and counts them, which is what the audit tells of.
func (t *txn) gone(sql string, args ...any) (n int, err error) {
	t.dirty = true
	n, _, err = value[int](t, "with gone as ("+sql+" returning 1) select count(*) from gone", args...)
	return n, err
}

// account takes the account away with what is found by it: its PUUIDs, what Riot has answered for
// its Riot ID, its transitions, ranges, cached lists and report. Consoles are told, after the
// commit, that it is gone.
func (w *forgetter) account(a league.Account) (err error) {
	tAccounts.drop(w.t, (*text)(&a.ID))
	w.t.sums.count(both.CountAccounts, -1)
	w.t.exec("delete from fs_puuid where account = $1", a.ID)
	w.t.exec("delete from fs_puuid_cache where puuid = any($1) or (name, tag) = ($2, $3)", w.f.PUUIDs,
		storable(both.Fold(a.GameName)), storable(both.Fold(a.TagLine)))
	w.t.exec("delete from fs_history where of = $1", a.ID)
	w.t.exec("delete from fs_coverage where owner = $1", a.ID)
	w.t.exec("delete from fs_cache where account = $1", a.ID)
	w.t.Emit(engine.Change{Forgotten: a.ID})
	w.f.Done.Reports, err = w.t.gone("delete from fs_report where account = $1", a.ID)
	return err
}

// matches takes the account's list apart: what no other account has is deleted with its payloads.
func (w *forgetter) matches(a league.Account) error {
	w.t.dirty = true
	type listed struct {
		Match  string
		Shared bool
	}
	mine, err := records[listed](w.t, `with mine as (delete from fs_listing where account = $1 returning match)
select match, exists (select from fs_listing o where o.match = mine.match and o.account <> $1) from mine order by match`, a.ID)
	if err != nil {
		return err
	}
	for _, m := range mine {
		if m.Shared {
			w.f.Done.Shared++
		} else {
			w.alone = append(w.alone, m.Match)
		}
	}
	err = tMatches.dropped("where id = any($1)").each(w.t, func(m league.Match, err error) {
		if err != nil {
			return // what it counted nobody knows; check does
		}
		w.f.Done.Matches++
		w.f.Done.Bytes += both.StoredBytes(m)
		for _, name := range both.MatchCounters(&m) {
			w.t.sums.count(name, -1)
		}
	}, "", w.alone)
	w.t.exec("delete from fs_seat where match = any($1)", w.alone)
	w.t.exec("delete from fs_payload where match = any($1)", w.alone)
	w.t.exec("delete from fs_history where of = any($1)", w.alone)
	return err
}

// atOnce is how many jobs are deleted at once: what is known of them is in memory meanwhile.
const atOnce = 1000

// jobs deletes the ended jobs of the account, and those of others that are about it alone, such as
// the events that told of it. A job that another account's sync counts stays, and becomes that
// account's.
func (w *forgetter) jobs(a league.Account) error {
	names := append([]string{a.ID}, w.f.PUUIDs...)
	for last, more := int64(0), true; more; {
		page, err := tHeired.of(withHeir(tEnded)).list(w.t, "and id > $3 order by id limit $4 for update of j", a.ID,
			names, last, atOnce)
		if err != nil {
			return err
		}
		var gone []engine.Job
		for _, j := range page {
			last, _ = JobNumber(j.ID)
			switch {
			case j.heir == "":
				gone = append(gone, j.Job)
			case j.Owner == a.ID:
				w.t.exec("update fs_job_ended set owner = $2 where id = $1", last, j.heir)
			}
		}
		attempts, err := w.t.dropEnded(gone)
		if err != nil {
			return err
		}
		w.f.Done.Jobs += len(gone)
		w.f.Done.Attempts += attempts
		more = len(page) == atOnce
	}
	return nil
}

// runs deletes the syncs of the account, with what they had listed. Ranges belong to the account,
// or to a run in the making: all owners that its runs may have written as are named.
func (w *forgetter) runs(a league.Account) error {
	runs, err := tRuns.list(w.t, "where account = $1", a.ID)
	var ids, owners []string
	for _, r := range runs {
		of := r.Ranges()
		ids, owners = append(ids, r.ID), append(owners, r.ID, of.Making, of.Own, of.Filters)
	}
	w.f.Done.Runs = len(runs)
	w.t.exec("delete from fs_staged where run = any($1)", ids)
	w.t.exec("delete from fs_history where of = any($1)", ids)
	w.t.exec("delete from fs_coverage where owner = any($1)", owners)
	w.t.exec("delete from fs_run where account = $1", a.ID)
	return err
}

// rest deletes what no other step does.
func (w *forgetter) rest(a league.Account) (err error) {
	w.t.exec("update fs_attempt set owner = '' where owner = $1", a.ID) // of jobs that are another's now
	w.t.exec("delete from fs_gap where account = $1 or job = $1", a.ID)
	w.f.Done.Ranks, err = w.t.gone("delete from fs_rank where account = $1", a.ID)
	return err
}

// weeklies takes the account's line out of the weekly reports.
func (w *forgetter) weeklies(a league.Account) error {
	weeks, err := tWeekly.list(w.t, "where strpos(report::text, $1) > 0 for update", a.ID)
	for _, r := range weeks {
		both.WithoutAccount(&r, a.ID)
		tWeekly.put(w.t, r)
	}
	w.f.Done.Reports += len(weeks)
	return err
}

// seatMask is both.SeatMask of the columns match and puuid.
const seatMask = `'` + both.MaskedSeat + `' || left(encode(sha256(convert_to(%[1]s, 'UTF8') || '\x00'::bytea || convert_to(%[2]s, 'UTF8')), 'hex'), 32)`

var (
	maskSeats = fmt.Sprintf(`update fs_seat set puuid = `+seatMask+`, riot_id = ''
where puuid = any($1) and not exists (select from fs_puuid p where p.puuid = fs_seat.puuid) returning match`, "match", "puuid")

	// unmaskSeats gives an account that was forgotten and is synced again its seat in a match that
	// had stayed.
	unmaskSeats = fmt.Sprintf(`with back as (
	update fs_seat s set puuid = p.puuid, riot_id = a.game_name || '#' || a.tag_line
	from fs_puuid p join fs_account a on a.id = p.account
	where s.match = $2 and s.puuid like '`+both.MaskedSeat+`%%' and p.account = $1 and s.puuid = `+seatMask+` returning s.match
) update fs_match set seats_xid = pg_current_xact_id(), seats_id = nextval('fs_feed')
where id in (select match from back)`, "s.match", "p.puuid")
)

// seats takes the player's name off the matches that stay, those too that were never in the
// account's list.
func (w *forgetter) seats(league.Account) error {
	w.t.dirty = true
	masked := w.t.strings(maskSeats, w.f.PUUIDs)
	w.f.Done.Seats = len(masked)
	slices.Sort(masked)
	for _, match := range slices.Compact(masked) {
		w.t.toEnd("seats", match)
	}
	return w.t.err
}

// states takes the account out of what is kept as blobs, such as the last calls and what led to a
// 429. All are locked in the order of their names, as two of these would meet otherwise.
func (w *forgetter) states(a league.Account) error {
	all, err := tStates.list(w.t, "order by name for update")
	scrub := both.NewScrub(a, w.alone)
	for _, s := range all {
		if clean, found := scrub.Blob(s.Blob); found {
			tStates.put(w.t, both.State{Name: s.Name, Blob: clean})
		}
	}
	return err
}

// TriggerKind is the kind of River's rows by which other programs ask for syncs: see package river.
const TriggerKind = "farsight.trigger"

// OrderKind is the kind of River's rows by which the leader is asked for something: they may name anybody.
const OrderKind = "farsight.order"

// asked deletes River's rows by which other programs have asked for syncs of the account, and those
// that are not due yet, too. They write Riot IDs as they like.
func (w *forgetter) asked(a league.Account) error {
	there, _, err := value[bool](w.t, "select to_regclass('river_job') is not null")
	if err != nil || !there {
		return err
	}
	type trigger struct {
		ID     int64
		RiotID string
	}
	all, err := records[trigger](w.t, "select id, coalesce(args->>'riot_id', '') from river_job where kind = $1",
		TriggerKind)
	var gone []int64
	for _, asked := range all {
		name, tag, _ := strings.Cut(asked.RiotID, "#")
		if bare(name) == both.Fold(a.GameName) && bare(tag) == both.Fold(a.TagLine) {
			gone = append(gone, asked.ID)
		}
	}
	w.t.exec("delete from river_job where id = any($1)", gone)
	w.t.exec("delete from river_job where kind = $1 and finalized_at is not null", OrderKind)
	return err
}

// bare is a part of a Riot ID as it is compared, without what copying it from a page may have added.
func bare(part string) string {
	return both.Fold(strings.TrimFunc(part, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }))
}
