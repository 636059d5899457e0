package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/riot"
)

// keyEnv is the environment variable with the API key. It is unset once read.
const keyEnv = "RIOT_API_KEY"

// keyring is where the API key comes from and where a new one goes: the
// environment, else a file of mode 0600. It is never a flag, a setting or a row. A
// key that Riot refuses counts as absent, so that the next source applies (spec
// section 2.4).
type keyring struct {
	*riot.Keys
	path string   // of the key file
	env  riot.Key // what the environment held; the zero Key when nothing

	mu      sync.Mutex
	source  string // in words
	since   time.Time
	refused map[string]bool // by fingerprint
}

// sourced is a key with where it comes from.
type sourced struct {
	key    riot.Key
	source string
}

// loadKey reads the key from its first source. No key at all is not an error.
func loadKey(cfg config.Config) (*keyring, error) {
	k := &keyring{path: cfg.KeyFile}
	if k.path == "" {
		k.path = filepath.Join(cfg.DataDir, "riot.key")
	}
	var err error
	if k.env, err = riot.KeyFromEnv(keyEnv); err != nil {
		return nil, err
	}
	k.Keys = riot.NewKeys(riot.Key{})
	first, ok, err := k.next(riot.Key{})
	if err != nil {
		return nil, err
	}
	if ok {
		k.take(first)
	}
	return k, nil
}

// next is the first source with a key that has not been refused and is another
// than one. An error is about the key file: one that is there but cannot be used.
func (k *keyring) next(than riot.Key) (s sourced, ok bool, err error) {
	if k.usable(k.env) && !k.env.Equal(than) {
		return sourced{k.env, keyEnv}, true, nil
	}
	key, err := riot.KeyFromFile(k.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return s, false, nil
	}
	if err != nil || !k.usable(key) || key.Equal(than) {
		return s, false, err
	}
	return sourced{key, k.path}, true, nil
}

func (k *keyring) usable(key riot.Key) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !key.IsZero() && !k.refused[key.Fingerprint()]
}

// another is what would be used in place of the key in use.
func (k *keyring) another() (s sourced, ok bool) {
	s, ok, err := k.next(k.Get())
	return s, ok && err == nil
}

// refuse notes that Riot refuses the key in use.
func (k *keyring) refuse() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused == nil {
		k.refused = map[string]bool{}
	}
	k.refused[k.Get().Fingerprint()] = true
}

// take uses a key for all calls from now on.
func (k *keyring) take(s sourced) {
	k.Set(s.key)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.source, k.since = s.source, time.Now()
	delete(k.refused, s.key.Fingerprint())
}

// from says in words where the key in use comes from.
func (k *keyring) from() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.source
}

// errNoKey says what to do without a key.
func (k *keyring) errNoKey() error {
	return fmt.Errorf("no API key: set %s, or put the key into %s (mode 0600); get one at https://developer.riotgames.com, or try `farsight demo`", keyEnv, k.path)
}

// Replace takes a new key for all calls from now on, and keeps it in the key
// file for the next start.
func (k *keyring) Replace(text string) error {
	key, err := riot.ParseKey(text)
	if err != nil {
		return err
	}
	if err := key.CheckForm(); err != nil {
		return err
	}
	if err := writeSecret(k.path, text); err != nil {
		return fmt.Errorf("the key could not be kept in %s: %w", k.path, err)
	}
	k.take(sourced{key, k.path})
	return nil
}

// writeSecret replaces a file that only its owner may read, whole or not at all.
func writeSecret(path, text string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.WriteString(text + "\n"); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Shown is all of the key that is ever shown: its last four characters.
func (k *keyring) Shown() string {
	s := k.Get().String()
	if len(s) < 4 {
		return ""
	}
	return "…" + s[len(s)-4:]
}

// Since is when this process first used the key.
func (k *keyring) Since() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.since
}
