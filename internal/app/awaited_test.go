package app

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
)

// The tests that wait longest. Tests begin in the order of their files' names: these may not be the last to end.

// idleSpan is how long an idle console is listened to. Beyond a minute the clock may move.
var idleSpan = time.Duration(scratch.Sized(9, 60)) * time.Second

// settled is longer than the messages stay that fade; a console that has just begun shows none.
var settled = time.Duration(scratch.Sized(3, 12)) * time.Second

// silence waits until nothing has been written for so long, and gives how much it was.
func silence(p *child, seen *lockedBuffer) (n int) {
	p.t.Helper()
	last := time.Now()
	p.until("silence", func() bool {
		if now := len(seen.String()); now != n {
			n, last = now, time.Now()
		}
		time.Sleep(20 * time.Millisecond)
		return time.Since(last) > settled
	})
	return n
}

// clockBytes is more than a change of the minute in the title costs.
const clockBytes = 200

// plannedNext is when the next run of any schedule is due.
func plannedNext(t *testing.T, dir string) (next time.Time) {
	t.Helper()
	c := api.NewClient(controlSocket(dir))
	defer c.Close()
	for _, s := range ask[engine.SchedulesPage](t, c, engine.SchedulesQuery{}).Schedules {
		for _, at := range s.Next {
			if next.IsZero() || at.Before(next) {
				next = at
			}
		}
	}
	if next.IsZero() {
		t.Fatal("nothing is planned")
	}
	return next
}

// TestTmux_IdleConsoleIsSilent: a real terminal is sent nothing between two changes
// of the minute while nothing happens.
func TestTmux_IdleConsoleIsSilent(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Nothing Happens#TMUX", 5)), freshDir(t)
	p, master, seen := onTerminal(t, []string{"--data-dir", dir}, s.env("TERM=xterm-256color"))
	screen := onGlass(seen)
	p.until("the console", func() bool { return strings.Contains(screen(), "LIVE") })
	// Its first minute: then calls are told by the minute. Where there is little room it says "since start".
	young := func() bool {
		return strings.Contains(screen(), "since the start") || strings.Contains(screen(), "since start")
	}
	before, minutes := 0, 0
	for another := true; another; { // the hour, and what runs at its minute, change more than a clock; so does the end of the first minute
		planned := plannedNext(t, dir)
		was := young() // it may end while silence is waited for
		before = silence(p, seen)
		from := time.Now().Add(-settled / 2) // a change that is painted late is one, too
		time.Sleep(idleSpan)
		to := time.Now()
		minutes = int(to.Truncate(time.Minute).Sub(from.Truncate(time.Minute)) / time.Minute)
		another = !to.Truncate(time.Hour).Equal(from.Truncate(time.Hour)) || !planned.After(to) || was != young()
	}
	if n := len(seen.String()) - before; n > minutes*clockBytes {
		was, is := newGlass(120, 40, func(string) {}), newGlass(120, 40, func(string) {})
		_, _ = was.Write([]byte(seen.String()[:before]))
		_, _ = is.Write([]byte(seen.String()))
		t.Errorf("%d bytes in %s of idleness, with %d changes of the minute: %q\nbefore:\n%s\nafter:\n%s", n, idleSpan, minutes, tail(seen.String(), n), was.text(), is.text())
	}
	_, _ = master.WriteString("q")
	p.until("the end", func() bool {
		_, _ = master.WriteString("y")
		time.Sleep(50 * time.Millisecond)
		select {
		case <-p.exited:
			return true
		default:
			return false
		}
	})
}

// TestB9r_ASyncOutlivesAServerThatOnlyReads: for longer than a term lasts its writes are refused, and then it goes on by
// itself, as it says.
func TestB9r_ASyncOutlivesAServerThatOnlyReads(t *testing.T) {
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	at := pgtest.Own(t).URL
	s := inSchema{t, startSim(t, quick(player("Blue Heron#EUW", 40))), at, freshDir(t)}
	letGo := s.sim.holdFrom(t, 20)
	only := func(reads string) {
		sql(t, at, "set default_transaction_read_only = off")
		sql(t, at, "alter system set default_transaction_read_only = "+reads)
		sql(t, at, "select pg_reload_conf()::text")
	}
	p := s.command("sync", "Blue Heron#EUW", "--platform", "euw1", "--timelines", "none").start(t)
	p.says("matches ")
	only("on")
	p.says("does not lead any more")
	letGo()
	p.says("it goes on when that is over")
	only("off")
	if r := p.wait().wants(t, exitDone); !strings.Contains(r.stdout, "40") {
		t.Errorf("it said %q", r.stdout)
	}
	s.sound()
}
