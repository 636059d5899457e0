package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// fetches are the handlers of match.fetch and timeline.fetch.
type fetches struct {
	opt   *Options
	store fetchStore
	api   API
	calls *traffic.Caller
	*settlement
}

// fetchMatch is the handler of match.fetch.
func (in *fetches) fetchMatch(ctx context.Context, r engine.Run) engine.Outcome {
	args, err := decode[fetchArgs](r.Job)
	if err != nil {
		return badArgs(err)
	}
	m, err := in.loadMatch(ctx, args.Match)
	switch {
	case err != nil:
		return traffic.Fault(err)
	case m.Match.Status.Settled():
		return engine.Done(func(tx engine.Tx) error { return in.sortForParents(tx, r.Job, args) })
	case in.opt.Matches.Expired(m.Played, now()):
		return engine.Done(func(tx engine.Tx) error { return in.expireMatch(tx, r.Job, args) })
	}
	got, o, ok := obtain(ctx, in, r, m.Match, args, source[riot.Match]{
		part: league.PartMatch, method: route.Match, fetch: in.api.Match, read: riot.ReadMatch,
		payload: func(got riot.Match) (riot.Payload, string) { return got.Payload, monthOf(got) },
	})
	if !ok {
		return o
	}
	return engine.Done(func(tx engine.Tx) error { return in.storeMatch(tx, r.Job, args, got) }).With(o.Call)
}

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

// fetched is a payload that is on disk, and what it says.
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
	payload func(got T) (p riot.Payload, month string)
}

// obtain adopts the payload that an interrupted attempt left behind, or fetches it and
// puts it on disk (P3).
func obtain[T any](ctx context.Context, in *fetches, r engine.Run, f league.Fetch, args fetchArgs, from source[T]) (got fetched[T], o engine.Outcome, ok bool) {
	if in.again(r.Job, f) {
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
	payload, month := from.payload(got.body)
	got.ref = refOf(payload, month)
	if err := in.store.PutPayload(ctx, args.Match, from.part, got.ref, payload.Body); err != nil {
		return got, traffic.Fault(fmt.Errorf("store %s of %s: %w", from.part, args.Match, err)).With(o.Call), false
	}
	return got, o, true
}

// disbelief is what a fetch makes of a 404.
func (in *fetches) disbelief(j engine.Job, args fetchArgs) traffic.Disbelief {
	switch {
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
// whole and about the match.
func adopt[T any](ctx context.Context, s payloads, id string, part league.Part, read func(riot.Payload, string) (T, error)) (got fetched[T], ok bool) {
	ref, body, found, err := s.FindPayload(ctx, id, part)
	if err != nil || !found || ref.Codec != codecGzip {
		return got, false
	}
	got.ref = ref
	got.body, err = read(riot.Payload{Body: body, Codec: riot.Gzip, RawLen: ref.RawLen, CRC: ref.CRC}, id)
	return got, err == nil
}

const codecGzip = "gzip"

func refOf(p riot.Payload, month string) league.PayloadRef {
	return league.PayloadRef{Month: month, Codec: codecGzip, Size: len(p.Body), RawLen: p.RawLen, CRC: p.CRC}
}

// monthOf names the shard of a match: the month its game was created, else
// played, else now, since an aborted game may tell neither.
func monthOf(m riot.Match) string {
	at := m.PlayedAt()
	switch {
	case m.CreationMs > 0:
		at = time.UnixMilli(m.CreationMs).UTC()
	case at.IsZero():
		at = now()
	}
	return at.Format("2006-01")
}

// storeMatch is the success of a match: its facts, its seats, and the job of its
// timeline, in the transaction that ends its own job.
func (in *fetches) storeMatch(tx engine.Tx, job engine.Job, args fetchArgs, got fetched[riot.Match]) error {
	m, err := in.store.Match(tx, args.Match)
	if err != nil {
		return fmt.Errorf("load match %s: %w", args.Match, err)
	}
	if m.Match.Status.Settled() { // another run settled it meanwhile
		return in.sortForParents(tx, job, args)
	}
	succeed(&m.Match, got.ref)
	describe(&m, got.body)
	if err := in.store.SaveMatch(tx, m, false); err != nil {
		return fmt.Errorf("save match %s: %w", m.ID, err)
	}
	if err := in.store.SaveParticipants(tx, m.ID, seatsOf(got.body)); err != nil {
		return fmt.Errorf("save the seats of match %s: %w", m.ID, err)
	}
	return in.sortForParents(tx, job, args)
}

func succeed(f *league.Fetch, ref league.PayloadRef) {
	f.Status, f.Ref, f.LastAttemptAt = league.Success, ref, now()
	f.Attempts++
	if f.FetchedAt.IsZero() {
		f.FetchedAt = f.LastAttemptAt
	}
}

func describe(m *league.Match, got riot.Match) {
	m.Played, m.Duration = got.PlayedAt(), time.Duration(got.DurationS)*time.Second
	m.QueueID, m.Mode, m.Patch = got.QueueID, got.Mode, got.Patch
	m.Aborted, m.Remake, m.Participants = got.Aborted, got.Remake, len(got.Participants)
}

func seatsOf(m riot.Match) []league.Participant {
	seats := make([]league.Participant, len(m.Participants))
	for i, p := range m.Participants {
		seats[i] = league.Participant{
			Match: m.ID, Index: p.Index, PUUID: p.PUUID, RiotID: nameOf(p), Champion: p.ChampionName,
			Team: p.TeamID, Won: p.Win, Kills: p.Kills, Deaths: p.Deaths, Assists: p.Assists,
		}
	}
	return seats
}

func nameOf(p riot.Participant) string {
	if p.Tag == "" {
		return p.Name
	}
	return p.Name + "#" + p.Tag
}

// expireMatch settles a match whose date turned out to lie beyond retention.
func (in *fetches) expireMatch(tx engine.Tx, job engine.Job, args fetchArgs) error {
	m, err := in.store.Match(tx, args.Match)
	if err != nil {
		return fmt.Errorf("load match %s: %w", args.Match, err)
	}
	m.Match.Status = league.OutsideRetentionWindow
	if err := in.store.SaveMatch(tx, m, false); err != nil {
		return fmt.Errorf("save match %s: %w", m.ID, err)
	}
	return in.sortForParents(tx, job, args)
}

// sortForParents tells every run that waits for the match what becomes of its
// timeline, and creates the one job that fetches it for all who want it.
func (in *fetches) sortForParents(tx engine.Tx, job engine.Job, args fetchArgs) error {
	m, err := in.store.Match(tx, args.Match)
	if err != nil {
		return fmt.Errorf("load match %s: %w", args.Match, err)
	}
	gaps, err := in.store.Gaps(tx, args.Match)
	if err != nil {
		return fmt.Errorf("look for runs that miss match %s: %w", args.Match, err)
	}
	var groups []engine.GroupID
	var first syncArgs
	waiting := len(gaps) > 0
	err = in.eachRun(tx, job, league.GroupMatches, func(parent engine.Job, want syncArgs, run *league.Run) error {
		if parent.State.Terminal() || slices.ContainsFunc(gaps, func(g league.Gap) bool { return g.Run == run.ID && g.Part == league.PartMatch }) {
			return nil // closeGaps sorts it
		}
		waiting = true
		w := wish{run: run, args: want, parent: parent.ID}
		if m.Match.Status != league.Success {
			w.lacksMatch(m)
			return nil
		}
		open, err := in.sortTimeline(tx, &m, w)
		if open {
			groups, first = append(groups, w.group()), want
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !waiting && m.Match.Status == league.Success:
		return in.fetchUnwaited(tx, job, m)
	case len(groups) == 0:
		return nil
	}
	_, err = tx.Enqueue(timelineSpec(job.Queue, job.Owner, m.ID, first, groups))
	if err != nil {
		return fmt.Errorf("create the job of timeline %s: %w", m.ID, err)
	}
	return nil
}
