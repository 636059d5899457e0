package keyring

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
)

// Riot deactivates a development key a day after it was made (Riot docs, Web APIs);
// the first day that we see it is the latest that this can be.
const devKeyLife = 24 * time.Hour

// devLimits are the application limits of development keys. Personal keys have the
// same, and do not expire: what works for longer than a day is none (riot-api.md,
// section 1).
var devLimits = map[time.Duration]int{time.Second: 20, 2 * time.Minute: 100}

const (
	keyAgeState = "key age"
	agedKeys    = 8 // keys that are remembered
)

// Shelf keeps a small text under a name.
type Shelf interface {
	LoadState(ctx context.Context, name string) ([]byte, error)
	SaveState(ctx context.Context, name string, state []byte) error
}

// agedKey is what is known of one key's age.
type agedKey struct {
	First time.Time `json:"first"` // when it was first seen on this directory
	Lasts bool      `json:"lasts"` // it has worked for longer than a development key can
}

// Age knows when the key in use expires, if it is a development key. It stores
// fingerprints, never keys. Only the alerts' goroutine uses it.
type Age struct {
	Store  Shelf
	Limits func() engine.LimitsRow
	Calls  func(engine.CallsQuery) engine.CallsPage
	Log    zerolog.Logger

	keys map[string]agedKey // by fingerprint
}

// Load takes over what is stored. What cannot be read counts as never seen.
func (k *Age) Load(ctx context.Context) {
	k.keys = map[string]agedKey{}
	blob, err := k.Store.LoadState(ctx, keyAgeState)
	if err == nil && blob != nil {
		err = json.Unmarshal(blob, &k.keys)
	}
	if err != nil || k.keys == nil {
		k.Log.Warn().Err(err).Msg("the age of the API key could not be read")
		k.keys = map[string]agedKey{}
	}
}

// Expires gives the instant at which the key stops working; zero when that is not
// known, or it never does.
func (k *Age) Expires(ctx context.Context, now time.Time, fingerprint string) time.Time {
	if fingerprint == "" {
		return time.Time{}
	}
	key, known := k.keys[fingerprint]
	if !known {
		key.First = now.Round(0).UTC()
		k.keep(ctx, fingerprint, key)
	}
	end := key.First.Add(devKeyLife)
	if !key.Lasts && now.After(end) && k.workedAfter(end) {
		key.Lasts = true
		k.keep(ctx, fingerprint, key)
	}
	if key.Lasts || !isDevelopment(k.Limits()) {
		return time.Time{}
	}
	return end
}

// workedAfter reports whether the newest call that went well came after an instant.
func (k *Age) workedAfter(at time.Time) bool {
	page := k.Calls(engine.CallsQuery{Status: 200, Page: engine.Page{Limit: 1}})
	return len(page.Calls) > 0 && page.Calls[0].At.After(at)
}

// isDevelopment reports whether Riot's headers told the limits of a development key.
func isDevelopment(l engine.LimitsRow) bool {
	told := map[time.Duration]int{}
	for _, b := range l.Buckets {
		if b.Kind == "app" {
			told[b.Window] = b.Limit
		}
	}
	return maps.Equal(told, devLimits)
}

// keep stores a key's age, and forgets the oldest ones.
func (k *Age) keep(ctx context.Context, fingerprint string, key agedKey) {
	k.keys[fingerprint] = key
	for len(k.keys) > agedKeys {
		delete(k.keys, slices.MinFunc(slices.Collect(maps.Keys(k.keys)), func(a, b string) int {
			return k.keys[a].First.Compare(k.keys[b].First)
		}))
	}
	blob, err := json.Marshal(k.keys)
	if err == nil {
		err = k.Store.SaveState(ctx, keyAgeState, blob)
	}
	if err != nil && ctx.Err() == nil {
		k.Log.Warn().Err(err).Msg("the age of the API key could not be saved")
	}
}
