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

// A key with the limits of a development key expires a day after it was seen first,
// over restarts too; one that works for longer is none.
func TestKeyAge(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	dev := engine.LimitsRow{Buckets: []engine.BucketRow{
		{Host: "europe", Kind: "app", Window: time.Second, Limit: 20}, {Host: "europe", Kind: "app", Window: 2 * time.Minute, Limit: 100},
		{Host: "europe", Kind: "method", Method: "match-v5.match", Window: 10 * time.Second, Limit: 2000},
	}}
	production := engine.LimitsRow{Buckets: []engine.BucketRow{{Host: "europe", Kind: "app", Window: 10 * time.Second, Limit: 500}}}
	store := fileShelf(filepath.Join(dir, "blob"))
	var worked time.Time
	limits := dev
	open := func() *Age {
		k := &Age{Store: store, Log: zerolog.Nop(), Limits: func() engine.LimitsRow { return limits }, Calls: func(q engine.CallsQuery) (p engine.CallsPage) {
			if !worked.IsZero() && q.Status == 200 {
				p.Calls = []engine.CallRow{{At: worked, Status: 200}}
			}
			return p
		}}
		k.Load(t.Context())
		return k
	}
	wants := func(k *Age, at time.Time, key string, want time.Time) {
		t.Helper()
		if got := k.Expires(t.Context(), at, key); !got.Equal(want) {
			t.Errorf("key %q at %s expires %s, want %s", key, at, got, want)
		}
	}
	k := open()
	wants(k, now, "", time.Time{})
	wants(k, now, "aa", now.Add(24*time.Hour))
	k = open()
	wants(k, now.Add(3*time.Hour), "aa", now.Add(24*time.Hour))
	wants(k, now.Add(3*time.Hour), "bb", now.Add(27*time.Hour)) // a new key
	wants(k, now.Add(25*time.Hour), "aa", now.Add(24*time.Hour))
	worked = now.Add(25 * time.Hour)
	wants(k, now.Add(26*time.Hour), "aa", time.Time{}) // a personal key
	k = open()
	worked = time.Time{}
	wants(k, now.Add(48*time.Hour), "aa", time.Time{})
	limits = production
	wants(k, now, "cc", time.Time{})
	limits = engine.LimitsRow{}
	wants(k, now, "dd", time.Time{}) // nothing is known of it yet
	for i := range 20 {
		k.Expires(t.Context(), now.Add(time.Duration(i)*time.Hour), fmt.Sprint("key", i))
	}
	if len(open().keys) != agedKeys {
		t.Errorf("%d keys are remembered", len(open().keys))
	}
	if err := os.WriteFile(string(store), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	limits = dev
	wants(open(), now, "aa", now.Add(24*time.Hour))
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
