package riot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
)

const (
	keyPrefix = "RGAPI-"
	keyTail   = 36 // characters of the UUID that follows the prefix
	maxKey    = 256
	mask      = keyPrefix + "****"
)

// Key is a Riot API key that does not show itself: every way to print, format or encode it gives
// "RGAPI-****abcd" with the last four characters. The zero Key means that none is set.
type Key struct {
	// A closure and not a string: printers that walk unexported fields by reflection find an address.
	reveal func() string
}

// ParseKey reads a key as typed or pasted; white space around it is dropped. It refuses only what cannot
// go into a header, since a simulated Riot takes any key: see Key.CheckForm for Riot's own form.
func ParseKey(s string) (Key, error) {
	s = strings.TrimSpace(s)
	// What a header cannot carry, or what a paste has picked up unseen.
	hidden := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case s == "":
		return Key{}, fmt.Errorf("the API key is empty: get one at https://developer.riotgames.com")
	case len(s) > maxKey:
		return Key{}, fmt.Errorf("the API key has %d characters: expected RGAPI- and 36 more", len(s))
	case strings.ContainsFunc(s, hidden):
		return Key{}, fmt.Errorf("the API key holds spaces or characters that are not ASCII: paste it again")
	}
	return Key{reveal: func() string { return s }}, nil
}

// CheckForm tells whether k has the form that Riot gives out, RGAPI- and a UUID. The error is one
// sentence for the operator and does not hold the key.
func (k Key) CheckForm() error {
	tail, ok := strings.CutPrefix(k.value(), keyPrefix)
	if k.IsZero() || !ok || len(tail) != keyTail || keyRun(tail) != keyTail {
		return fmt.Errorf("the API key does not look like RGAPI-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx: copy it again from https://developer.riotgames.com")
	}
	return nil
}

// ParseIssued is ParseKey of a key that Riot has given out: one of another form is refused, before it
// is sent anywhere. What was pasted may be a password.
func ParseIssued(s string) (Key, error) {
	k, err := ParseKey(s)
	if err == nil {
		err = k.CheckForm()
	}
	if err != nil {
		return Key{}, err
	}
	return k, nil
}

// IsZero reports whether no key is set.
func (k Key) IsZero() bool { return k.reveal == nil }

// Equal reports whether both hold the same key.
func (k Key) Equal(other Key) bool { return k.value() == other.value() }

// Fingerprint names a key without revealing it, for audits and for caches kept per key: 12 hexadecimal
// digits of a hash; empty for the zero Key.
func (k Key) Fingerprint() string {
	if k.IsZero() {
		return ""
	}
	// With a prefix of its own, so that the hash is none that anybody else may keep of the key.
	sum := sha256.Sum256([]byte("farsight key\x00" + k.value()))
	return hex.EncodeToString(sum[:6])
}

// Redact cuts this very key out of s, and whatever else looks like a key.
func (k Key) Redact(s string) string {
	if v := k.value(); v != "" {
		s = strings.ReplaceAll(s, v, k.String())
	}
	return Redact(s)
}

func (k Key) value() string {
	if k.reveal == nil {
		return ""
	}
	return k.reveal()
}

// String gives the masked form; empty for the zero Key. Short keys, which only tests have, show nothing.
func (k Key) String() string {
	v := k.value()
	switch {
	case v == "":
		return ""
	case len(v) < keyTail:
		return mask
	}
	return mask + v[len(v)-4:]
}

// GoString gives the masked form.
func (k Key) GoString() string { return k.String() }

// Format gives the masked form for every verb, %x and %q included.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// MarshalText gives the masked form; encoding/json and zerolog's Interface use it.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue gives the masked form.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// Redact masks whatever looks like an API key in s, also one that was cut short: the last net under log
// writers and error texts.
func Redact(s string) string {
	if !strings.Contains(s, keyPrefix) {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, keyPrefix)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		// A key that was cut short, or is followed by more text, is masked as far as it goes.
		n := keyRun(rest)
		b.WriteString(masked(rest[:n]))
		s = rest[n:]
	}
}

// masked is what stands in place of the prefix and the n key characters after it. Eight are enough to be
// part of a key; fewer are a word of a sentence, such as "RGAPI-".
func masked(tail string) string {
	switch {
	case len(tail) < 8:
		return keyPrefix + tail
	case len(tail) < keyTail:
		return mask
	}
	return mask + tail[len(tail)-4:]
}

// keyRun counts the characters at the start of s that may be part of a key.
func keyRun(s string) int {
	outside := func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'f') && (r < 'A' || r > 'F')
	}
	if i := strings.IndexFunc(s, outside); i >= 0 {
		return i
	}
	return len(s)
}

// KeySource gives the key for the next call; the zero Key when there is none.
type KeySource interface{ Get() Key }

// Keys holds the current key and lets it be replaced while calls go on: each call reads it once, just
// before its request is written. The zero value holds no key.
type Keys struct{ current atomic.Pointer[Key] }

// NewKeys holds k.
func NewKeys(k Key) *Keys {
	// The zero Key may be held: it is one that is not set yet.
	ks := &Keys{}
	ks.Set(k)
	return ks
}

// Set replaces the key for all calls that start from now on.
func (ks *Keys) Set(k Key) { ks.current.Store(&k) }

// Get is the current key.
func (ks *Keys) Get() Key {
	if k := ks.current.Load(); k != nil {
		return *k
	}
	return Key{}
}

// Environ gives the key as an entry of the environment of a process of ours, which
// unsets it once it has read it. It is the only way out for a key besides the wire;
// "" for no key.
func (k Key) Environ(name string) string {
	if k.IsZero() {
		return ""
	}
	return name + "=" + k.value()
}
