package keyring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
)

const (
	keyOfEnv  = "RGAPI-0e000000-dead-4bad-8bad-00ca9a51b12d"
	keyOfFile = "RGAPI-0f000000-dead-4bad-8bad-00ca9a51b12e"
)

// The key is no setting: it is read from its variable, which is gone afterwards.
func TestS4_12_TheKeyLeavesTheEnvironment(t *testing.T) {
	t.Setenv(Env, keyOfEnv)
	k, err := Load(filepath.Join(t.TempDir(), "riot.key"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := riot.ParseKey(keyOfEnv)
	if err != nil || !k.Get().Equal(want) || k.From() != Env {
		t.Errorf("from %q: %v", k.From(), err)
	}
	if _, there := os.LookupEnv(Env); there {
		t.Errorf("%s is still set", Env)
	}
}

// What stands in no source, and what cannot be used, is no other source.
func TestTheNextSourceMustBeUsable(t *testing.T) {
	env, err := riot.ParseKey(keyOfEnv)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "riot.key")
	k := &Ring{Keys: riot.NewKeys(env), env: env, path: path}
	if _, ok := k.another(); ok {
		t.Error("a file that is not there has a key")
	}
	if err := errors.Join(os.WriteFile(path, []byte(keyOfFile+"\n"), 0o600), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, ok := k.another(); ok {
		t.Error("a key that others may read is used")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	s, ok := k.another()
	if !ok || s.source != path {
		t.Fatalf("%v %v", s.source, ok)
	}
	k.refuse()
	k.use(s)
	if _, ok := k.another(); ok || k.From() != path {
		t.Error("a refused key comes again")
	}
}

// While the next key comes into use it is one that nobody has tried, until those who make calls know it: a sync that looks
// in between must not end as refused.
func TestTheNextKeyIsUntriedUntilAllKnowIt(t *testing.T) {
	env, err := riot.ParseKey(keyOfEnv)
	path := filepath.Join(t.TempDir(), "riot.key")
	if err := errors.Join(err, os.WriteFile(path, []byte(keyOfFile+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	k := &Ring{Keys: riot.NewKeys(env), env: env, path: path, source: Env}
	told := limitsFunc(func() {
		if !k.Untried() || k.From() != path {
			t.Errorf("the key of %s: untried %v", k.From(), k.Untried())
		}
	})
	w := Watch{Keys: k, Limits: told, Note: func(engine.Note) {},
		Probe: func(context.Context) error { return &riot.Error{Reason: riot.Denied403} }}
	if !w.tryOther(t.Context()) || k.Untried() || k.From() != path {
		t.Errorf("the key of %s is used, untried %v", k.From(), k.Untried())
	}
}

type limitsFunc func()

func (limitsFunc) KeyRefused() bool { return true }
func (limitsFunc) KeyWorks()        {}
func (f limitsFunc) KeyChanged()    { f() }
