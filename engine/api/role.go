package api

import (
	"net/http"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Role is what a caller may do.
type Role uint8

// Roles, each with what those before it may.
const (
	Stranger Role = iota // nothing
	Viewer               // look
	Operator             // act
)

var roleNames = [...]string{"stranger", "viewer", "operator"}

// String is the role's word, as it stands in refusals and in Hello.
func (r Role) String() string { return human.WordOf(roleNames[:], "role", r) }

// MarshalText writes the role's word.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the role's word.
func (r *Role) UnmarshalText(b []byte) error { return human.ReadWord(roleNames[:], "role", b, r) }

// Caller is who sent a request, and what they may do.
type Caller struct {
	Actor engine.Actor
	Role  Role
	// Own says, by the kernel's word, that the caller is the user whose files the engine
	// works on, or root: only these may name files of the engine's host.
	Own bool
	// Where names the credential, for the log and the audit of a refusal: "uid 1001,
	// process 4711".
	Where string
}

// Who tells a request's caller by what the transport knows of it. Its error is the
// answer: a *engine.Problem, or one of faultf.
type Who func(r *http.Request) (Caller, error)
