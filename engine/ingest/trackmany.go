package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// trackBatch is how many accounts one transaction takes: no other writer gets its turn while it runs.
const trackBatch = 250

// line is a line of a list that makes sense: a Riot ID, its platform and its tags, with its number in the
// list for whoever must look it up there.
type line struct {
	engine.TrackLine
	who who
}

// TrackMany tracks a whole list, and starts a first `latest` run of each account
// that was never synced: its cost is the receipt's. Lines that make no sense are
// answered as rejects and harm no other; a line that is tracked already is no fault.
// With dry nothing is changed.
//
// The list goes in batches of trackBatch, each a transaction, so that a long one does not keep other
// writers waiting. An error in a later batch leaves the earlier ones tracked, and the same list given
// again goes on behind them.
func (in *Ingest) TrackMany(ctx context.Context, lines []engine.TrackLine, dry bool,
	by engine.Actor) (out engine.Receipt, err error) {
	good, rejects := checkLines(lines)
	out = engine.Receipt{Matched: len(lines), Rejects: rejects, Skipped: map[string]int{}}
	if len(rejects) > 0 {
		out.Skipped["rejected"] = len(rejects)
	}
	fresh := map[route.Region]int{}
	for batch := range slices.Chunk(good, trackBatch) {
		n, err := in.trackBatch(ctx, batch, dry, by, fresh)
		if err != nil {
			return out, err
		}
		out.Applied += n
	}
	if had := len(good) - out.Applied; had > 0 {
		out.Skipped["tracked already"] = had
	}
	looks := 0
	for _, n := range fresh {
		looks += n
	}
	out.Cost = in.costOfNew(fresh)
	out.Nothing = out.Applied == 0
	verb := "tracked"
	if dry {
		verb = "would be tracked"
	}
	n := func(of int) string { return human.Count(int64(of)) }
	out.Text = fmt.Sprintf("%s of %s %s, %s already were, %s rejected",
		n(out.Applied), human.Counted(len(lines), "account", "accounts"), verb, n(len(good)-out.Applied),
		n(len(rejects)))
	switch {
	case looks == 0:
	case in.opt.SyncOff:
		out.Cost = nil
		out.Text += "; no first look is made: " + whySyncsOff
	case !dry:
		out.Text += fmt.Sprintf("; the first look at %s is in line", n(looks))
	}
	return out, nil
}

// checkLines tells the lines that can be tracked from those that cannot. An
// account that is listed twice is taken once. Nothing of the store is needed for that: a dry run and
// the real one reject the same lines.
func checkLines(lines []engine.TrackLine) (good []line, rejects []engine.TrackReject) {
	seen := map[string]int{}
	for _, l := range lines {
		w, err := whoIs(l.Account, l.Platform)
		if err == nil && (w.id != "" || w.platform == "") {
			err = errors.New("write a Riot ID and its platform, such as Name#TAG,euw1")
		}
		if err == nil {
			l.Tags, err = tagsOf(l.Tags)
		}
		name := strings.ToLower(w.String()) + " " + string(w.platform)
		if first, twice := seen[name]; err == nil && twice {
			err = fmt.Errorf("the same account as in line %d", first)
		}
		if err != nil {
			rejects = append(rejects, engine.TrackReject{Line: l.Line, Reason: riot.Redact(err.Error())})
			continue
		}
		seen[name] = l.Line
		good = append(good, line{l, w})
	}
	return good, rejects
}

// trackBatch tracks some accounts in one transaction. A transaction may run twice, so what
// it counts begins at zero each time and is added to fresh after the commit.
func (in *Ingest) trackBatch(ctx context.Context, batch []line, dry bool, by engine.Actor,
	fresh map[route.Region]int) (applied int, err error) {
	var counted map[route.Region]int
	work := func(tx engine.Tx) error {
		applied, counted = 0, map[route.Region]int{}
		for _, l := range batch {
			changed, never, err := in.trackLine(tx, l, dry, by)
			if err != nil {
				return err
			}
			if changed {
				applied++
			}
			if changed && never {
				counted[l.who.platform.Region()]++
			}
		}
		return nil
	}
	if dry {
		err = in.store.Read(ctx, work)
	} else {
		err = in.store.Write(ctx, work)
	}
	if err != nil {
		return 0, fmt.Errorf("track lines %d to %d: %w", batch[0].Line, batch[len(batch)-1].Line, err)
	}
	for region, n := range counted {
		fresh[region] += n
	}
	return applied, nil
}

// trackLine tracks one account. never says that it has not been synced yet, and no sync
// of it is under way: then it gets a first look.
func (in *Ingest) trackLine(tx engine.Tx, l line, dry bool, by engine.Actor) (changed, never bool, err error) {
	a, err := in.store.AccountNamed(tx, l.who.name, l.who.tag, string(l.who.platform))
	if dry && errors.Is(err, engine.ErrNotFound) {
		return true, true, nil
	}
	if errors.Is(err, engine.ErrNotFound) {
		a, err = league.Account{
			ID: newID(), GameName: l.who.name, TagLine: l.who.tag, Platform: string(l.who.platform),
			Status: engine.SyncNever.String(), Created: now(),
		}, nil
	}
	if err != nil {
		return false, false, err
	}
	never = a.LastSync.IsZero() && a.Status != engine.SyncPending.String() && a.Status != engine.Syncing.String()
	if changed = (tracking{tags: l.Tags}).on(&a); !changed || dry {
		return changed, never, nil
	}
	a.Updated = now()
	if err := in.store.SaveAccount(tx, a); err != nil || !never || in.opt.SyncOff {
		return true, never, err
	}
	return true, true, in.firstLook(tx, a, by)
}

// firstLook starts a `latest` run of a new account, as the schedule would at its
// next tick. Nobody waits for it: a whole list must not go before what an operator
// asks for.
func (in *Ingest) firstLook(tx engine.Tx, a league.Account, by engine.Actor) error {
	policy, err := in.policyOf(tx, a)
	if err != nil {
		return err
	}
	_, err = in.start(tx, a, in.complete(league.Ask{Mode: ModeLatest}, policy), policy,
		engine.Actor{User: by.User, Via: "engine"})
	return err
}

// costOfNew is what the first `latest` runs of new accounts take, by region; the
// regions go on side by side.
func (in *Ingest) costOfNew(fresh map[route.Region]int) *engine.Cost {
	cost := &engine.Cost{AtMost: true}
	for region, n := range fresh {
		calls := n * callsOf(in.opt.LatestCount, in.opt.LatestCount, in.opt.LatestCount)
		eta := in.opt.Limits.ETA(string(region), string(route.Match), calls)
		cost.Calls += calls
		if eta.Low >= cost.Takes {
			cost.Takes, cost.Bucket = eta.Low, eta.Bucket
		}
	}
	return cost
}
