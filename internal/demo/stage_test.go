package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/chaos"
)

// player is an engine that only says what became of it.
type player struct {
	console
	dir       string
	abandoned error
	notes     []string
	ends      string // "stopped", "fallen"
	pages     bool
	ended     func()
	life      context.Context
}

func (p *player) Console() engine.Console { return &p.console }
func (p *player) Note(n engine.Note)      { p.notes = append(p.notes, n.Text) }
func (p *player) Abandon(err error)       { p.abandoned = err }
func (p *player) Stop() error             { return p.end("stopped") }
func (p *player) Fall() error             { return p.end("fallen") }

func (p *player) Page(_ context.Context, on bool) error {
	p.pages = on
	return nil
}

func (p *player) end(how string) error {
	p.ends = how
	p.ended()
	return nil
}

// theatre is a stage and all that has played on it.
type theatre struct {
	*Stage
	played []*player
	ended  int // engines that ended by themselves
	fails  error
}

func newTheatre(t *testing.T) *theatre {
	th := &theatre{}
	th.Stage = newStage(t.TempDir(), func(_ context.Context, dir string, life context.Context, ended func()) (Engine, error) {
		if th.fails != nil {
			return nil, th.fails
		}
		p := &player{dir: dir, life: life, ended: ended}
		th.played = append(th.played, p)
		return p, os.MkdirAll(dir, 0o700)
	})
	if err := th.Begin(t.Context(), func() { th.ended++ }); err != nil {
		t.Fatal(err)
	}
	return th
}

// An engine that is killed is followed by one on the same directory, after what it had
// in hand was dropped; nobody takes its end for the demo's.
func TestAFallenEngineIsRevived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheatre(t)
		first := s.played[0]
		s.fell(first, "killed")
		if !errors.Is(first.abandoned, errFall) {
			t.Errorf("its store was told %v", first.abandoned)
		}
		mended := false
		if err := s.revive(func() { mended = first.ends == "fallen" && first.life.Err() != nil }); err != nil || !mended {
			t.Fatalf("mended in between: %v, %v", mended, err)
		}
		if len(s.played) != 2 || s.played[1].dir != first.dir || s.Dir() != first.dir || s.Engine() != s.played[1] || s.ended != 0 {
			t.Errorf("%d engines on %s and %s, %d ends", len(s.played), first.dir, s.Dir(), s.ended)
		}
		if err := s.Stop(); err != nil || s.played[1].ends != "stopped" || s.ended != 1 {
			t.Errorf("%q, %d ends, %v", s.played[1].ends, s.ended, err)
		}
	})
}

// To begin anew is to leave nothing of the old directory.
func TestAnewIsAnEmptyDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheatre(t)
		first := s.played[0]
		if err := s.anew("again", func() {}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(first.dir); first.ends != "stopped" || !os.IsNotExist(err) || s.Dir() == first.dir || filepath.Dir(s.Dir()) != filepath.Dir(first.dir) {
			t.Errorf("%s, %v; now %s", first.ends, err, s.Dir())
		}
		s.fails = errors.New("no room")
		if err := s.anew("again", func() {}); err == nil {
			t.Error("an engine that cannot start is no news")
		}
		if _, err := s.Console().Find(t.Context(), engine.StatusQuery{}); err == nil || !strings.Contains(err.Error(), "no room") {
			t.Errorf("the console is told %v", err)
		}
	})
}

// What takes a wish to the engine runs beside whoever made it, and may be quicker.
func TestAlertsCallAsThePanelSaidLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newTheatre(t), panel()
		c.stage = s.Stage
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go c.Run(ctx)
		for range 2000 {
			for _, off := range []bool{false, true} {
				if _, err := c.Inject(ctx, chaos.Ask{Name: pagerCalls, Off: off}); err != nil {
					t.Fatal(err)
				}
				if synctest.Wait(); s.played[0].pages == off {
					t.Fatalf("off: %v, and the engine calls: %v", off, s.played[0].pages)
				}
			}
		}
	})
}
