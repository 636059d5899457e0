package pager

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// masked stands in the place of a secret.
const masked = "****"

// Secret is a token, a password or an address that is one. Every way to print,
// format or encode it gives "****". The zero Secret means that none is set.
type Secret struct {
	// A closure and not a string: printers that walk unexported fields by reflection
	// find an address.
	reveal func() string
}

// NewSecret hides s; white space around it is dropped.
func NewSecret(s string) Secret {
	s = strings.TrimSpace(s)
	if s == "" {
		return Secret{}
	}
	return Secret{reveal: func() string { return s }}
}

// IsZero reports whether no secret is set.
func (s Secret) IsZero() bool { return s.reveal == nil }

// value is the secret itself, for the one place that sends it.
func (s Secret) value() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// String gives the mask; empty for the zero Secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return masked
}

// GoString gives the mask.
func (s Secret) GoString() string { return s.String() }

// Format gives the mask for every verb, %x and %q included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText gives the mask; encoding/json and zerolog's Interface use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue gives the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// redact cuts the secret out of a text that came from outside.
func (s Secret) redact(text string) string {
	if s.IsZero() {
		return text
	}
	return strings.ReplaceAll(text, s.value(), masked)
}
