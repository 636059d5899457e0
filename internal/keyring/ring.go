// Package keyring knows which API key is used: where it comes from, what is done when
// Riot refuses it, and when it expires.
package keyring

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/riot"
)

// Env is the environment variable with the API key. It is unset once read.
const Env = "RIOT_API_KEY"

// Ring is where the API key comes from and where a new one goes: the environment, else a file of mode
// 0600. It is never a flag, a setting or a row. A key that Riot refuses counts as absent, so that the
// next source applies. Its methods may be called at the same time.
type Ring struct {
	*riot.Keys
	path string   // of the key file
	env  riot.Key // what the environment held; the zero Key when nothing

	changing atomic.Bool // another key is put in place, of which those who make calls are not told yet

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

// Load reads the key from its first source: Env, which is unset then, else the file. No
// key at all is not an error.
func Load(path string) (*Ring, error) {
	k := &Ring{path: path}
	var err error
	if k.env, err = fromEnv(Env); err != nil {
		return nil, err
	}
	k.Keys = riot.NewKeys(riot.Key{})
	first, ok, err := k.next(riot.Key{})
	if err != nil {
		return nil, err
	}
	if ok {
		k.use(first)
	}
	return k, nil
}

// Of is a ring with a key at hand, which is used from now on. Replace keeps new ones at
// the path.
func Of(key riot.Key, source, path string) *Ring {
	k := &Ring{Keys: riot.NewKeys(key), path: path, source: source, since: time.Now()}
	if source == Env {
		k.env = key
	}
	return k
}

// next is the first source with a key that has not been refused and is another
// than one. An error is about the key file: one that is there but cannot be used.
func (k *Ring) next(than riot.Key) (s sourced, ok bool, err error) {
	// The environment first, as in all settings.
	if k.usable(k.env) && !k.env.Equal(than) {
		return sourced{k.env, Env}, true, nil
	}
	key, err := FromFile(k.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return s, false, nil
	}
	if err != nil || !k.usable(key) || key.Equal(than) {
		return s, false, err
	}
	return sourced{key, k.path}, true, nil
}

// usable reports whether there is a key and Riot has not refused it in this process.
func (k *Ring) usable(key riot.Key) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !key.IsZero() && !k.refused[key.Fingerprint()]
}

// another is what would be used in place of the key in use.
func (k *Ring) another() (s sourced, ok bool) {
	s, ok, err := k.next(k.Get())
	return s, ok && err == nil
}

// Untried reports whether another source holds a key that has not been refused, or is just coming into use.
func (k *Ring) Untried() bool {
	_, ok := k.another()
	return ok || k.changing.Load() // in this order: the other one may have come into use meanwhile
}

// refuse notes that Riot refuses the key in use.
func (k *Ring) refuse() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused == nil {
		k.refused = map[string]bool{}
	}
	k.refused[k.Get().Fingerprint()] = true
}

// use uses a key for all calls from now on.
func (k *Ring) use(s sourced) {
	k.Set(s.key)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.source, k.since = s.source, time.Now()
	delete(k.refused, s.key.Fingerprint())
}

// From says in words where the key in use comes from.
func (k *Ring) From() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.source
}

// None says what to do without a key.
func (k *Ring) None() error {
	return fmt.Errorf("no API key: set %s, or put the key into %s (mode 0600); get one at https://developer.riotgames.com, or try `farsight demo`", Env, k.path)
}

// Replace takes a new key for all calls from now on, and keeps it in the key
// file for the next start.
func (k *Ring) Replace(text string) error {
	key, err := riot.ParseIssued(text)
	if err != nil {
		return err
	}
	if err := regular.Replace(k.path, []byte(text+"\n")); err != nil {
		return fmt.Errorf("the key could not be kept in %s: %w", k.path, err)
	}
	k.use(sourced{key, k.path})
	return nil
}

// Shown is all of the key that is ever shown: its last four characters.
func (k *Ring) Shown() string {
	s := k.Get().String()
	if len(s) < 4 {
		return ""
	}
	return "…" + s[len(s)-4:]
}

// Since is when this process first used the key.
func (k *Ring) Since() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.since
}

// Reload takes the key of the key file, unless the environment's is in use, which
// comes first. No file changes nothing.
func (k *Ring) Reload() (changed bool, err error) {
	if k.From() == Env {
		return false, nil
	}
	key, err := FromFile(k.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && key.IsZero() {
		return false, nil
	}
	if err != nil || key.Equal(k.Get()) {
		return false, err
	}
	k.use(sourced{key, k.path})
	return true, nil
}

// Shadows reports whether the environment's key is in use while the key file holds
// another.
func (k *Ring) Shadows() bool {
	if k.From() != Env {
		return false
	}
	key, err := FromFile(k.path)
	return err == nil && !key.IsZero() && !key.Equal(k.Get())
}

// Path is where the key file is, or would be.
func (k *Ring) Path() string { return k.path }

// Environ is the entry that gives the environment's key to another process; "" = it
// held none.
func (k *Ring) Environ() string { return k.env.Environ(Env) }
