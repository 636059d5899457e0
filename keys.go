package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/riot"
)

// keyEnv is the environment variable with the API key. It is unset once read.
const keyEnv = "RIOT_API_KEY"

// keyring is where the API key comes from and where a new one goes: the
// environment, else a file of mode 0600. It is never a flag, a setting or a row.
type keyring struct {
	*riot.Keys
	path   string // of the key file
	source string // in words

	mu    sync.Mutex
	since time.Time
}

// loadKey reads the key from its first source. No key at all is not an error.
func loadKey(cfg Config) (*keyring, error) {
	k := &keyring{path: cfg.KeyFile}
	if k.path == "" {
		k.path = filepath.Join(cfg.DataDir, "riot.key")
	}
	key, err := riot.KeyFromEnv(keyEnv)
	k.source = keyEnv
	if err == nil && key.IsZero() {
		key, err = riot.KeyFromFile(k.path)
		k.source = k.path
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	k.Keys = riot.NewKeys(key)
	if key.IsZero() {
		k.source = ""
	} else {
		k.since = time.Now()
	}
	return k, nil
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
	k.Set(key)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.since = time.Now()
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
