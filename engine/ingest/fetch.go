package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// fetches are the handlers of match.fetch and timeline.fetch.
type fetches struct {
	means
	*settlement
}

// fetch is the handler of a part of a match: nothing is called for one that is settled or
// that Riot does not keep any more. What is settled is looked at again here and not only when the job
// was made: between the two another run, a retry or an adopted payload may have brought the part, and
// its age grows while the job waits. settled runs in both cases, since the runs that wait for the job
// must learn what became of the part.
func fetch[T any](ctx context.Context, in *fetches, r engine.Run, from source[T]) engine.Outcome {
	args, err := decode[fetchArgs](r.Job)
	if err != nil {
		return badArgs(err)
	}
	m, err := in.loadMatch(ctx, args.Match)
	switch {
	case err != nil:
		return traffic.Fault(err)
	case m.Of(from.part).Status.Settled():
		return engine.Done(func(tx engine.Tx) error { return from.settled(tx, r.Job, args) })
	case in.span(from.part).Expired(m.Played, in.opt.Limits.Now()):
		return engine.Done(func(tx engine.Tx) error {
			err := in.changePart(tx, args.Match, from.part,
				func(_ *league.Match, f *league.Fetch) { f.Status = league.OutsideRetentionWindow })
			return errors.Join(err, from.settled(tx, r.Job, args))
		})
	}
	got, o, ok := obtain(ctx, in, r, m, args, from)
	if !ok {
		return o
	}
	return engine.Done(func(tx engine.Tx) error { return from.store(tx, r.Job, args, got) }).With(o.Call)
}

// changePart edits a part of a match and stores it, unless the part was settled
// meanwhile: then it belongs to whoever settled it. edit gets the record as the transaction has it,
// which may be newer than what the attempt began with.
func (in *settlement) changePart(tx engine.Tx, id string, part league.Part,
	edit func(m *league.Match, f *league.Fetch)) error {
	m, err := in.store.Match(tx, id)
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	f := m.Of(part)
	if f.Status.Settled() {
		return nil
	}
	edit(&m, f)
	if err := in.store.SaveMatch(tx, m, false); err != nil {
		return fmt.Errorf("save match %s: %w", id, err)
	}
	return nil
}

// loadMatch reads the record of a match outside of the transaction that ends the job: the call to Riot
// lies between the two.
func (in *fetches) loadMatch(ctx context.Context, id string) (m league.Match, err error) {
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		m, err = in.store.Match(tx, id)
		return err
	})
	if err != nil {
		return m, fmt.Errorf("load match %s: %w", id, err)
	}
	return m, nil
}

// fetched is a payload that is on disk, and what was read of it. ref goes into the record.
type fetched[T any] struct {
	ref  league.PayloadRef
	body T
}

// source is where a part of a match comes from: Riot, or the disk. payload gives what is
// to be stored, and in which month's shard.
type source[T any] struct {
	part    league.Part
	method  route.Method
	fetch   func(ctx context.Context, r route.Region, id string) (T, error)
	read    func(p riot.Payload, id string) (T, error)
	payload func(m league.Match, got T) (p riot.Payload, month string)

	// In the transaction that ends the job: store is the success; settled is for a part
	// that needs no fetching.
	store   func(tx engine.Tx, job engine.Job, args fetchArgs, got fetched[T]) error
	settled func(tx engine.Tx, job engine.Job, args fetchArgs) error
}

// obtain adopts the payload that an interrupted attempt left behind, or fetches it and
// puts it on disk (P3). ok is false when o is the job's answer already. The payload is committed to its
// shard before the job's transaction, so that a crash between the two leaves a payload without a state,
// which the next attempt adopts, and never a state without its payload.
func obtain[T any](ctx context.Context, in *fetches, r engine.Run, m league.Match, args fetchArgs,
	from source[T]) (got fetched[T], o engine.Outcome, ok bool) {
	if in.again(r.Job, *m.Of(from.part)) {
		if got, ok = adopt(ctx, in.store, args.Match, from.part, from.read); ok {
			return got, o.With(engine.CallStat{Bytes: got.ref.Size}), true
		}
	}
	at, region, err := fetchLane(args.Match, from.method)
	if err != nil {
		return got, badArgs(err), false
	}
	trip := traffic.Trip{Run: r, At: at, Region: region, Used: args.Used, Missing: in.disbelief(r.Job, args)}
	o, ok = in.calls.Call(ctx, trip, func(ctx context.Context) (err error) {
		got.body, err = from.fetch(ctx, region, args.Match)
		return err
	})
	if !ok {
		return got, o, false
	}
	// The call was made, so that its cost is told also where the shard cannot be written.
	payload, month := from.payload(m, got.body)
	// Size is the packed one and RawLen the unpacked one, both in bytes; CRC is of the unpacked one.
	got.ref = league.PayloadRef{Month: month, Codec: codecGzip, Size: len(payload.Body), RawLen: payload.RawLen, CRC: payload.CRC}
	if err := in.store.PutPayload(ctx, args.Match, from.part, got.ref, payload.Body); err != nil {
		return got, traffic.Fault(fmt.Errorf("store %s of %s: %w", from.part, args.Match, err)).With(o.Call), false
	}
	return got, o, true
}

// disbelief is what a fetch makes of a 404. The job's class tells whether the call before has found
// nothing either: the second 404 in a row is believed.
func (in *fetches) disbelief(j engine.Job, args fetchArgs) traffic.Disbelief {
	switch {
	case args.Again:
		return traffic.StillMissing
	case in.opt.RetryMissing:
		return traffic.AskByTable
	case args.Confirm && j.Class != riot.ClassMissing:
		return traffic.AskOnceMore
	}
	return traffic.Believed
}

// again reports whether a payload may have been left behind by an earlier attempt,
// or by whatever was fetched between a backup and the instant at which it was put
// back: only then is it looked for. No id tells its age, so that once a backup was
// put back any match may be among those, also one that is listed anew. A payload
// that is known already is to be replaced: an operator has forced that.
func (in *fetches) again(j engine.Job, f league.Fetch) bool {
	if f.Ref != (league.PayloadRef{}) {
		return false
	}
	return !in.opt.Restored.IsZero() || j.Crashes > 0 || j.Attempts > 1 || j.Holds > 0 || j.Round > 1
}

// adopt takes a payload that is on disk without a state that names it, if it is
// whole and about the match. Whatever is wrong with it, also an error of the disk, is no error of the
// attempt: the part is then fetched, and what is stored takes the place of what was there.
func adopt[T any](ctx context.Context, s Store, id string, part league.Part,
	read func(riot.Payload, string) (T, error)) (got fetched[T], ok bool) {
	ref, body, found, err := s.FindPayload(ctx, id, part)
	if err != nil || !found || ref.Codec != codecGzip {
		return got, false
	}
	got.ref = ref
	got.body, err = read(riot.Payload{Body: body, Codec: riot.Gzip, RawLen: ref.RawLen, CRC: ref.CRC}, id)
	return got, err == nil
}

// codecGzip is the one codec of payloads: they are kept as Riot has sent them, and packed where they
// came unpacked.
const codecGzip = "gzip"

// succeed writes a fetched part into its record. FetchedAt stays that of the first time when a part is
// fetched anew.
func succeed(f *league.Fetch, ref league.PayloadRef) {
	f.Status, f.Ref, f.LastAttemptAt = league.Success, ref, now()
	f.Attempts++
	if f.FetchedAt.IsZero() {
		f.FetchedAt = f.LastAttemptAt
	}
}

// The functions here write the domain's side of a job's move, in the move's own
// transaction, whoever caused it: a handler, an operator, a rescue. What goes
// well is written by the handler's Commit instead.

// partMoved keeps the status of a part of a match in step with its job (S0-1, S0-7), and
// the runs that want it. A part that is given up or cancelled also leaves a gap in each run that waits
// for it; one that is done closes those of all others.
func (in *fetches) partMoved(part league.Part) func(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	return func(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
		args, err := decode[fetchArgs](after)
		if err != nil {
			return nil // a job that nobody can read has no match to keep in step
		}
		switch {
		case before.State == after.State:
			return nil
		case after.State == engine.Retryable && before.State == engine.Running:
			return in.failed(tx, args.Match, part, after, league.TemporaryFailure)
		case after.State == engine.Discarded && before.State != engine.Running: // a reclass was undone
			return errors.Join(in.givenUpAgain(tx, args.Match, part), in.missed(tx, args.Match, part, after))
		case after.State == engine.Discarded:
			if err := in.failed(tx, args.Match, part, after, league.PermanentlyUnfetchable); err != nil {
				return err
			}
			return in.missed(tx, args.Match, part, after)
		case after.State == engine.Cancelled:
			return errors.Join(in.cancelled(tx, args.Match, part, before, after),
				in.missed(tx, args.Match, part, after))
		case after.State == engine.Completed:
			return in.closeGaps(tx, after, args.Match, part)
		case before.State.Terminal():
			return in.reopen(tx, args.Match, part)
		}
		return nil
	}
}

// failed writes a charged failure down. A match that is not in the table is that of an account which
// was forgotten while the job ran.
func (in *fetches) failed(tx engine.Tx, id string, part league.Part, job engine.Job, to league.Status) error {
	err := in.changePart(tx, id, part, func(_ *league.Match, f *league.Fetch) {
		f.Status, f.LastAttemptAt = to, now()
		f.LastError, f.LastClass = job.LastError, string(job.Class)
		f.Attempts++
	})
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	return err
}

// givenUpAgain takes an operator's new round back that has not begun: no attempt
// was made.
func (in *fetches) givenUpAgain(tx engine.Tx, id string, part league.Part) error {
	return in.changePart(tx, id, part, func(_ *league.Match, f *league.Fetch) { f.Status = league.PermanentlyUnfetchable })
}

// partUndone takes a command on a part's job back. After a cancel no run misses the part
// for want of it.
func (in *fetches) partUndone(part league.Part) func(tx engine.Tx, before, after engine.Job) error {
	return func(tx engine.Tx, before, after engine.Job) error {
		if before.State != engine.Cancelled {
			return in.partMoved(part)(tx, before, after, engine.Outcome{})
		}
		args, err := decode[fetchArgs](after)
		if err != nil {
			return nil // as in partMoved
		}
		return errors.Join(in.reopen(tx, args.Match, part), in.wantedAgain(tx, args.Match, part, after))
	}
}

// cancelled marks a part whose job was cancelled, and how: by itself, or along with a sync. A sync and
// what waits under it are cancelled in one transaction, and a part that runs ends some time after. So a
// parent counts that was cancelled at the part's end or, if it ran, after its start. Stored instants
// have whole milliseconds.
func (in *fetches) cancelled(tx engine.Tx, id string, part league.Part, before, after engine.Job) error {
	parents, err := tx.Parents(after.ID)
	if err != nil {
		return fmt.Errorf("list who waits for job %s: %w", after.ID, err)
	}
	since := after.Finished
	if before.State == engine.Running {
		since = before.Started
	}
	how := league.CancelledAlone
	for _, p := range parents {
		if p.Job.State == engine.Cancelled && !p.Job.Finished.Before(since.Truncate(time.Millisecond)) {
			how = league.CancelledAlong
		}
	}
	return in.changePart(tx, id, part, func(_ *league.Match, f *league.Fetch) { f.Cancelled = how })
}
