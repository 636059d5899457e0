package api

import (
	"os"
	"path/filepath"
	"testing"
)

// A socket on which another user listens may take what is typed, a key included.
func TestB17u_AttachTrustsOnlyItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	me, group := os.Getuid(), os.Getgid()
	for _, c := range []struct {
		who  uint32
		as   int
		mode os.FileMode
		in   []int
		want bool
	}{
		{1234, 1234, 0o600, nil, true},
		{0, 1234, 0o600, nil, true},
		{4321, 1234, 0o600, []int{group}, false},
		{4321, 1234, 0o660, []int{group}, false}, // not the one whose file it is
		{4321, 0, 0o666, nil, false},
		{uint32(me), me + 1, 0o666, []int{group}, me == 0},
		{uint32(me), me + 1, 0o660, []int{group}, true},
	} {
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := believed(c.who, c.as, info, c.in); got != c.want {
			t.Errorf("user %d, mode %o, to user %d in %v: %t", c.who, c.mode, c.as, c.in, got)
		}
	}
}
