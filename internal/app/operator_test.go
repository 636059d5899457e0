package app

import (
	"os/user"
	"testing"
)

// TestAServiceIsNamedByItsUser: it has no USER, and the audit is read by people.
func TestAServiceIsNamedByItsUser(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("USER", "")
	t.Setenv("USERNAME", "")
	if got := operator("cli").User; got != u.Username {
		t.Errorf("%q, want %q", got, u.Username)
	}
}
