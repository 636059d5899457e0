package keyring

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
)

// Riot deactivates a development key a day after it was made (Riot docs, Web APIs);
// counted from when it was first seen here, that is the latest that this can be.
const devKeyLife = 24 * time.Hour

// devLimits are the application limits of development keys. Personal keys have the
// same, and do not expire: the limits alone tell nothing. A key is known to expire when
// one before it did, of the same API project and with the same limits: all development
// keys of a developer are of one project, and a personal key is of another.
var devLimits = map[time.Duration]int{time.Second: 20, 2 * time.Minute: 100}

// Under which name the ages are stored, and of how many keys.
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
	First   time.Time `json:"first"`            // when it was first seen on this directory
	Lasts   bool      `json:"lasts"`            // it has worked for longer than a development key can
	Died    bool      `json:"died,omitempty"`   // it worked, and was refused within a day
	Worked  bool      `json:"worked,omitempty"` // with the limits of a development key
	Project string    `json:"project,omitempty"`
}

// Age knows when the key in use expires, if it is a development key. It stores
// fingerprints, never keys. Only the alerts' goroutine uses it.
type Age struct {
	Store  Shelf
	Limits func() engine.LimitsRow
	Calls  func(engine.CallsQuery) engine.CallsPage
	// Project is the alias of the API project of a key that works.
	Project func() string
	Log     zerolog.Logger

	keys   map[string]agedKey // by fingerprint
	judged time.Time          // the newest call that went well, when the limits were last looked at
}

// Load takes over what is stored. What cannot be read counts as never seen.
func (k *Age) Load(ctx context.Context) {
	k.keys = map[string]agedKey{}
	_, err := engine.LoadStored(ctx, k.Store, keyAgeState, &k.keys)
	if err != nil || k.keys == nil {
		k.Log.Warn().Err(err).Msg("the age of the API key could not be read")
		k.keys = map[string]agedKey{}
	}
}

// Expires gives the instant at which the key stops working at the latest; zero when that
// is not known, it never does, or has done so: refused says that Riot refuses it.
func (k *Age) Expires(ctx context.Context, now time.Time, fingerprint string, refused bool) time.Time {
	if fingerprint == "" {
		return time.Time{}
	}
	was, known := k.keys[fingerprint]
	key := was
	if !known {
		key.First = now.Round(0).UTC()
	}
	end, worked := key.First.Add(devKeyLife), k.worked()
	if !key.Worked && worked.After(key.First) && !worked.Equal(k.judged) { // only a newer answer can tell of other limits
		k.judged = worked
		if isDevelopment(k.Limits()) {
			key.Worked, key.Project = true, k.Project()
		}
	}
	key.Lasts = key.Lasts || now.After(end) && worked.After(end)
	// A key that was refused later than a day after its first call may have been taken back by hand.
	key.Died = key.Worked && refused && (key.Died || now.Before(end))
	if key != was || !known {
		k.keep(ctx, fingerprint, key)
	}
	if refused || !key.Worked || key.Lasts || !k.expire(key.Project) {
		return time.Time{}
	}
	return end
}

// expire reports whether the keys of a project live for a day: one did, and none has
// outlived it.
func (k *Age) expire(project string) (expire bool) {
	for _, key := range k.keys {
		if key.Project != project || !key.Worked {
			continue
		}
		if key.Lasts {
			return false
		}
		expire = expire || key.Died
	}
	return expire
}

// worked is when the newest call was made that went well.
func (k *Age) worked() (at time.Time) {
	for _, c := range k.Calls(engine.CallsQuery{Status: 200, Page: engine.Page{Limit: 1}}).Calls {
		at = c.At
	}
	return at
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
	if err := engine.SaveStored(ctx, k.Store, keyAgeState, k.keys); err != nil && ctx.Err() == nil {
		k.Log.Warn().Err(err).Msg("the age of the API key could not be saved")
	}
}
