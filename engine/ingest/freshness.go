package ingest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// lateShown bounds the list of late accounts.
const lateShown = 100

// need is what the tracked accounts of a region need of the key, in calls. 40 that are looked at each hour
// need 40 times callsPerLook of them an hour.
type need struct {
	perHour float64
	behind  float64 // of the late accounts, at once
}

// Freshness says what the tracked accounts need of the key, who is late, and when
// all are fresh. The batches are not one snapshot: an account that is synced between two of them may
// count as late, and the next answer has it right.
func (in *Ingest) Freshness(ctx context.Context) (f engine.Freshness, err error) {
	accounts, err := in.tracked(ctx)
	if err != nil {
		return f, err
	}
	f.Accounts = len(accounts)
	needs := map[route.Region]need{}
	for batch := range slices.Chunk(accounts, trackBatch) {
		if err := in.addNeeds(ctx, &f, needs, batch); err != nil {
			return f, fmt.Errorf("read the rhythm of the tracked accounts: %w", err)
		}
	}
	in.sayNeeds(&f, needs)
	in.sayOutlook(&f, now())
	f.Late = f.Late[:min(lateShown, f.Lates)]
	return f, nil
}

// addNeeds adds a batch of accounts up, in a transaction that is short.
func (in *Ingest) addNeeds(ctx context.Context, f *engine.Freshness, needs map[route.Region]need,
	batch []league.Account) error {
	at := now()
	return in.store.Read(ctx, func(tx engine.Tx) error {
		plan, err := in.latestEvery(tx, at)
		if err != nil {
			return err
		}
		for _, a := range batch {
			b, err := in.beatOf(tx, a, at, plan)
			if err != nil {
				return err
			}
			region := route.Platform(a.Platform).Region()
			n := needs[region]
			n.perHour += callsPerLook(b) / b.every.Hours()
			if b.isLate(at) {
				for _, l := range in.lookLoads(b) {
					n.behind += l.Calls
				}
				f.Late = append(f.Late, engine.LateAccount{
					ID: a.ID, RiotID: a.RiotID(), Last: a.LastSync, Cadence: b.every,
					Failed: a.Status == engine.SyncFailed.String(),
				})
			}
			needs[region] = n
		}
		return nil
	})
}

// sayNeeds writes what each region needs of the key against what its limits allow, such as
// "needs 412 of 3,000 calls per hour in europe". Late accounts go by how long they wait.
func (in *Ingest) sayNeeds(f *engine.Freshness, needs map[route.Region]need) {
	slices.SortStableFunc(f.Late, func(a, b engine.LateAccount) int {
		return cmp.Or(a.Last.Compare(b.Last), strings.Compare(a.ID, b.ID))
	})
	f.Lates = len(f.Late)
	var parts []string
	for region, n := range needs {
		rate, bucket := in.opt.Limits.Rate(string(region))
		f.Regions = append(f.Regions, engine.FreshnessHost{Region: string(region), Needs: n.perHour, Behind: n.behind,
			Allowed: rate * 3600, Bucket: bucket})
	}
	slices.SortStableFunc(f.Regions, func(a, b engine.FreshnessHost) int { return strings.Compare(a.Region, b.Region) })
	for _, h := range f.Regions {
		of := "an unknown number of"
		if h.Allowed > 0 {
			of = human.Count(int64(math.Round(h.Allowed)))
		}
		parts = append(parts, fmt.Sprintf("needs %s of %s calls per hour in %s", human.Count(int64(math.Ceil(h.Needs))), of, h.Region))
	}
	f.Text = cmp.Or(strings.Join(parts, ", "), "no account is tracked")
}

// sayOutlook says when all tracked accounts are fresh. What the key allows beyond
// what keeps them fresh is left for those that are late; who is late is looked at
// when `latest` runs, a bounded number each time.
//
// The cases go from what rules a date out to what gives one: a region that needs more than it is
// allowed never catches up, so that this is said before anything is reckoned.
func (in *Ingest) sayOutlook(f *engine.Freshness, at time.Time) {
	failed := 0
	for _, a := range f.Late {
		if a.Failed {
			failed++
		}
	}
	tight, unknown := tightest(f.Regions)
	switch {
	case f.Accounts == 0:
		f.Outlook = "track accounts to keep them fresh"
	case in.opt.SyncOff:
		f.Never, f.Outlook = true, "they go stale: "+whySyncsOff
	case tight != nil:
		f.Never, f.Outlook = true, fmt.Sprintf(
			"they never all are fresh: %s allows %.0f %% of what %s needs; what helps: a longer cadence or timelines=none for some (track --tag T --policy 'cadence=24h timelines=none'), tracking fewer, or a key with a higher limit",
			cmp.Or(tight.Bucket, "the key"), math.Floor(100*tight.Allowed/tight.Needs), tight.Region)
	case f.Lates == 0:
		f.FreshAt, f.Outlook = at, "all are fresh"
	case failed == f.Lates:
		f.Never, f.Outlook = true, fmt.Sprintf("all are fresh but %s that cannot be synced: `farsight accounts 'state:failed'` says why", human.Count(int64(failed)))
	case unknown:
		f.Outlook = "when all are fresh is known after the first call: nobody knows the key's limits yet"
	default:
		wait := catchUp(f.Regions, f.Lates)
		f.FreshAt = at.Add(wait)
		f.Outlook = fmt.Sprintf("all are fresh in about %s", human.Span(wait.Round(time.Minute)))
		if failed > 0 {
			f.Outlook += fmt.Sprintf(", but %s that cannot be synced: `farsight accounts 'state:failed'` says why",
				human.Count(int64(failed)))
		}
	}
}

// tightest is the region that is allowed the smallest part of what it needs; nil where
// all are allowed all. unknown says that the limits of a region are not known.
func tightest(regions []engine.FreshnessHost) (tight *engine.FreshnessHost, unknown bool) {
	for i, h := range regions {
		switch {
		case h.Allowed <= 0:
			unknown = true
		case h.Needs >= h.Allowed && (tight == nil || h.Allowed/h.Needs < tight.Allowed/tight.Needs):
			tight = &regions[i]
		}
	}
	return tight, unknown
}

// shippedEvery is how often `latest` runs by the schedule that ships. Another one makes the forecast rougher
// and nothing else.
const shippedEvery = time.Hour

// catchUp is how long the late accounts take: the regions go on side by side, and
// each run of `latest` starts a bounded number of syncs.
func catchUp(regions []engine.FreshnessHost, lates int) time.Duration {
	hours := 0.0
	// Nothing is divided by zero: a region that needs all of what it is allowed is tightest, and never
	// comes here.
	for _, h := range regions {
		hours = max(hours, h.Behind/(h.Allowed-h.Needs))
	}
	runs := (lates + maxStarts - 1) / maxStarts
	return max(time.Duration(hours*float64(time.Hour)), time.Duration(runs)*shippedEvery)
}
