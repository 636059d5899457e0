package keyring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
)

// ageRig is what an Age reads.
type ageRig struct {
	*testing.T
	store   fileShelf
	limits  engine.LimitsRow
	project string
	worked  time.Time // the newest call that went well
	now     time.Time
	*Age
}

var devLimitsTold = engine.LimitsRow{Buckets: []engine.BucketRow{
	{Host: "europe", Kind: "app", Window: time.Second, Limit: 20}, {Host: "europe", Kind: "app", Window: 2 * time.Minute, Limit: 100},
	{Host: "europe", Kind: "method", Method: "match-v5.match", Window: 10 * time.Second, Limit: 2000},
}}

func newAgeRig(t *testing.T) *ageRig {
	r := &ageRig{T: t, store: fileShelf(filepath.Join(t.TempDir(), "blob")), limits: devLimitsTold, project: "default", now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	r.open()
	return r
}

// open starts anew on what is stored.
func (r *ageRig) open() {
	r.Age = &Age{Store: r.store, Log: zerolog.Nop(), Limits: func() engine.LimitsRow { return r.limits }, Project: func() string { return r.project },
		Calls: func(q engine.CallsQuery) (p engine.CallsPage) {
			if !r.worked.IsZero() && q.Status == 200 {
				p.Calls = []engine.CallRow{{At: r.worked, Status: 200}}
			}
			return p
		}}
	r.Load(r.Context())
}

// wants looks at a key in use some time after the last look.
func (r *ageRig) wants(after time.Duration, key string, works bool, want time.Time) {
	r.Helper()
	r.now = r.now.Add(after)
	r.Expires(r.Context(), r.now, key, false) // it is seen before it is used
	if works {
		r.worked = r.now.Add(time.Second)
	}
	r.now = r.now.Add(5 * time.Second)
	if got := r.Expires(r.Context(), r.now, key, key != "" && !works); !got.Equal(want) {
		r.Errorf("key %q at %s expires %s, want %s", key, r.now, got, want)
	}
}

var never time.Time

// The limits of a development key are those of a personal key too: no key is known to
// expire by them.
func TestKeyAge_LimitsTellNothing(t *testing.T) {
	r := newAgeRig(t)
	r.wants(0, "", false, never)
	r.wants(time.Hour, "aa", true, never)
	r.wants(22*time.Hour, "aa", true, never)
	r.open()
	r.wants(3*time.Hour, "aa", true, never) // it has outlived a day
	r.wants(24*time.Hour, "aa", true, never)
}

// A key that was refused within a day was a development key: the next one of its project
// expires a day after it was seen first, over restarts too.
func TestKeyAge_AKeyThatDiedTellsOfTheNext(t *testing.T) {
	r := newAgeRig(t)
	r.wants(0, "aa", true, never)
	r.wants(20*time.Hour, "aa", false, never)
	first := r.now.Add(time.Hour)
	r.wants(time.Hour, "bb", true, first.Add(24*time.Hour))
	r.open()
	r.wants(22*time.Hour, "bb", true, first.Add(24*time.Hour))
	r.project = "personal"
	r.wants(time.Hour, "cc", true, never) // a key of another project
	r.project = "default"
	r.wants(4*time.Hour, "bb", true, never) // it lives on: it was none after all
	r.wants(time.Hour, "dd", true, never)
}

// A key that never worked was mistyped or blocked; one that works again was blocked for a
// while; other limits are of other keys.
func TestKeyAge_WhatIsNoProof(t *testing.T) {
	r := newAgeRig(t)
	r.wants(0, "typo", false, never)
	r.wants(time.Hour, "aa", true, never)
	r.wants(time.Hour, "aa", false, never)
	r.wants(time.Hour, "aa", true, never)
	r.limits = engine.LimitsRow{Buckets: []engine.BucketRow{{Host: "europe", Kind: "app", Window: 10 * time.Second, Limit: 500}}}
	r.wants(time.Hour, "big", true, never)
	r.wants(time.Hour, "big", false, never)
	r.wants(time.Hour, "next", true, never)
}

// So many keys are remembered, and what cannot be read is as if nobody had seen any.
func TestKeyAge_IsBounded(t *testing.T) {
	r := newAgeRig(t)
	for i := range 20 {
		r.wants(time.Minute, fmt.Sprint("key", i), false, never)
	}
	if r.open(); len(r.keys) != agedKeys {
		t.Errorf("%d keys are remembered", len(r.keys))
	}
	if err := os.WriteFile(string(r.store), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.open()
	r.wants(time.Hour, "aa", true, never)
}

// fileShelf keeps one blob in a file.
type fileShelf string

func (f fileShelf) LoadState(context.Context, string) ([]byte, error) {
	b, err := os.ReadFile(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func (f fileShelf) SaveState(_ context.Context, _ string, blob []byte) error {
	return os.WriteFile(string(f), blob, 0o600)
}
