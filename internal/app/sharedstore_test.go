package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/storage/fleet"
)

// led does something in a term of a store that is opened for it.
func led(t *testing.T, cfg config.Config, do func(s *store)) {
	t.Helper()
	s, err := openServer(cfg, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	term, release, err := fleet.Take(t.Context(), s.server, fleet.Options{ID: "1-a", Host: "here"})
	if err == nil {
		err = s.lead(t.Context(), term) // as commands do, nobody serves it yet
	}
	if err != nil {
		t.Fatal(err)
	}
	served := serving(t, s)
	do(s)
	if err := errors.Join(release(), served(), s.Close()); err != nil {
		t.Error(err)
	}
}

// On a server that has taken the place of another what was called last is not known: the limits' windows count as full for
// whoever leads, until they are saved again. What this process has a copy of is made anew. Not beside other tests: who
// leads keeps the server's clock, and so does all of its process.
func TestH14c_ALeadOnAnotherServer(t *testing.T) {
	cfg := config.Config{Store: pgtest.Schema(t), DataDir: freshDir(t)}
	limits := func(s *store) string {
		blob, err := s.LoadState(t.Context(), traffic.LimiterState)
		if err != nil {
			t.Error(err)
		}
		return string(blob)
	}
	save := func(s *store, what string) {
		if err := s.SaveState(t.Context(), traffic.LimiterState, []byte(what)); err != nil {
			t.Error(err)
		}
	}
	led(t, cfg, func(s *store) { save(s, "known") })
	led(t, cfg, func(s *store) {
		if got := limits(s); got != "known" {
			t.Errorf("on the same server: %s", got)
		}
	})
	sql(t, cfg.Store, "update fs_store set cluster = '7421840112342-00000001' returning seq::text")
	for range 2 {
		led(t, cfg, func(s *store) {
			if got := limits(s); got != "{}" {
				t.Errorf("on another: %s", got)
			}
		})
	}
	led(t, cfg, func(s *store) { save(s, "known again") })
	led(t, cfg, func(s *store) {
		if got := limits(s); got != "known again" {
			t.Errorf("saved again: %s", got)
		}
	})
	// Of a damaged copy, and of none, another is made.
	state := filepath.Join(cfg.DataDir, replicaDir, "state.db")
	for what, spoil := range map[string]func() error{
		"damaged": func() error { return os.WriteFile(state, []byte("no database at all"), 0o600) },
		"gone":    func() error { return os.RemoveAll(filepath.Dir(state)) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		led(t, cfg, func(s *store) {
			if got := limits(s); got != "known again" {
				t.Errorf("%s: %s", what, got)
			}
		})
	}
	// Beside who works there another reads by a copy of its own, which follows.
	led(t, cfg, func(s *store) {
		reader, err := readServer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		save(s, "later")
		eventually(t, "what is written meanwhile", func() bool { return limits(reader) == "later" })
		if reader.dir == nil {
			t.Error("two have one file")
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(reader.dir.Path); err == nil {
			t.Error("the copy is left")
		}
	})
}

// serving lets a store commit until it is told to end.
func serving(t *testing.T, s *store) (end func() error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	return func() error { stop(); return <-done }
}
