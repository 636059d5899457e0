package ui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/fold"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/screen/alerts"
	"github.com/farsight-console/farsight/ui/screen/audit"
	"github.com/farsight-console/farsight/ui/screen/chaospanel"
	"github.com/farsight-console/farsight/ui/screen/classes"
	"github.com/farsight-console/farsight/ui/screen/forensics"
	"github.com/farsight-console/farsight/ui/screen/members"
	"github.com/farsight-console/farsight/ui/screen/messages"
	"github.com/farsight-console/farsight/ui/screen/schedules"
	"github.com/farsight-console/farsight/ui/terminal"
	"github.com/farsight-console/farsight/ui/uitest"
)

// loaded is a console with everything on its screens: 500 retries, 500 accounts,
// a full flight recorder.
func loaded(b *testing.B, w, h int) *model {
	b.Helper()
	opt := testOptions()
	opt.Getenv, opt.Theme = trueColor, "dark"
	fake := uitest.New(uitest.Busy())
	m := newModel(fake, opt)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	u := uitest.Busy().Update
	u.Jobs = append(u.Jobs, uitest.Many(500)...)
	for i := range 500 {
		a := u.Accounts[5]
		a.ID, a.RiotID = fmt.Sprintf("many-%d", i), fmt.Sprintf("Player %d#EUW", i)
		u.Accounts = append(u.Accounts, a)
	}
	for i := range fold.KeptCalls {
		c := u.Calls[i%40]
		c.Seq = uint64(100 + i)
		u.Calls = append(u.Calls, c)
	}
	m.Update(u)
	return m
}

// BenchmarkView draws every screen once per turn and tells the dearest and the mean of
// them; the targets are 0.5 ms at 120x40 and 1 ms at 200x60.
// With -v each screen is told.
func BenchmarkView(b *testing.B) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			took, turns := make([]time.Duration, len(views)), 0
			for b.Loop() {
				turns += viewTurns
				for i, v := range views {
					took[i] += viewTime(b, v.name, size[0], size[1])
				}
			}
			dearest, sum := 0, time.Duration(0)
			for i, d := range took {
				sum += d
				if d > took[dearest] {
					dearest = i
				}
				if testing.Verbose() {
					b.Logf("%s %s: %d us", b.Name(), views[i].name, (d / time.Duration(turns)).Microseconds())
				}
			}
			of := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(turns) }
			b.ReportMetric(of(took[dearest]), "cpu-ms/"+views[dearest].name+"-the-dearest")
			b.ReportMetric(of(sum)/float64(len(views)), "cpu-ms/view")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// viewTurns is how often a screen is drawn in a row: what a process has used is not told
// finely.
const viewTurns = 500

// viewTime is what it takes to draw a screen viewTurns times, with the garbage that this
// makes. As in a real console one model is there, so that none pays for another's.
func viewTime(b *testing.B, name string, w, h int) time.Duration {
	m := loaded(b, w, h)
	benchOpen(m, name)
	m.draw(uitest.Noon)
	runtime.GC() // of what was loaded
	used := cpuTime(b)
	for range viewTurns {
		m.draw(uitest.Noon)
	}
	return cpuTime(b) - used
}

// cpuTime is what this process has used: on a machine that others use too it says
// more than the clock.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func darkOptions() Options {
	opt := testOptions()
	opt.Getenv, opt.Theme = trueColor, "dark"
	return opt
}

// echo tells when a row is written that is selected.
type echo struct {
	sign  []byte // of the selection's background
	wrote chan time.Time
}

func (e *echo) Write(p []byte) (int, error) {
	if !bytes.Contains(p, e.sign) {
		return len(p), nil
	}
	select {
	case e.wrote <- time.Now():
	default:
	}
	return len(p), nil
}

// inTheOpen runs the whole program at 120x40 as it runs for an operator, in real time,
// on an engine; do gets what types keys.
func inTheOpen(b *testing.B, console engine.Console, opt Options, out io.Writer, do func(m *model, press func(string))) {
	b.Helper()
	in, typed := io.Pipe()
	opt.Input, opt.Output, opt.Getenv, opt.Theme = in, out, trueColor, "dark"
	m := newModel(console, opt)
	ctx, cancel := context.WithCancel(b.Context())
	m.ctx = ctx
	done := make(chan error, 1)
	go func() {
		done <- terminal.Run(ctx, m, opt.terminal(), func(ctx context.Context, send func(any)) {
			time.Sleep(time.Second) // Bubble Tea tells its own guess of the size first
			send(tea.WindowSizeMsg{Width: 120, Height: 40})
			m.feed.Run(ctx, send)
		})
	}()
	time.Sleep(2 * time.Second)
	do(m, func(key string) {
		if _, err := io.WriteString(typed, key); err != nil {
			b.Error(err)
		}
	})
	cancel()
	_ = typed.Close()
	<-done
}

// presses is how many keys are measured.
const presses = 100

// BenchmarkKeyToBytes is the time from a key to what the terminal is sent, of the
// whole program on an engine at work: the target is 50 ms. The key moves the cursor
// of the list of jobs; only frames that paint a selected row count.
func BenchmarkKeyToBytes(b *testing.B) {
	out := &echo{wrote: make(chan time.Time, 1)}
	look := newModel(uitest.New(uitest.Busy()), darkOptions()).theme.On(themes.OnSel, themes.Text)
	out.sign = []byte(strings.TrimSuffix(look[strings.LastIndex(look, "48;2;"):], "m"))
	var all []time.Duration
	inTheOpen(b, newAtWork(100*time.Millisecond, true), testOptions(), out, func(_ *model, press func(string)) {
		press("3")
		time.Sleep(time.Second)
		for i := range presses {
			time.Sleep(time.Duration(37+i*29%60) * time.Millisecond)
			select {
			case <-out.wrote:
			default:
			}
			began := time.Now()
			press([]string{"j", "k"}[i%2])
			select {
			case at := <-out.wrote:
				all = append(all, at.Sub(began))
			case <-time.After(5 * time.Second):
				b.Fatal("the key moved nothing")
			}
		}
	})
	slices.Sort(all)
	for name, share := range map[string]float64{"ms-p50": .5, "ms-p95": .95, "ms-p99": .99} {
		b.ReportMetric(float64(all[int(share*float64(len(all)-1))].Microseconds())/1000, name)
	}
	b.ReportMetric(0, "ns/op")
}

// idleFor is how long an idle console is measured. It writes when the minute changes,
// which is waited for.
const idleFor = 5 * time.Second

// BenchmarkIdle is what a console costs on which nothing happens, after work and on
// the first screen: bytes, the share of a core and how often a thread was woken. The
// targets are 0 bytes, 0.3 % and 60 a second.
func BenchmarkIdle(b *testing.B) {
	out := &counter{}
	inTheOpen(b, uitest.New(rested()), testOptions(), out, func(*model, func(string)) {
		time.Sleep(3 * time.Second) // the first lists are read once more
		if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < idleFor+time.Second {
			time.Sleep(left + time.Second)
		}
		bytes, used, woken, began := out.n.Load(), cpuTime(b), wakeups(b), time.Now()
		time.Sleep(idleFor)
		took := time.Since(began)
		b.ReportMetric(float64(out.n.Load()-bytes), "bytes")
		b.ReportMetric(100*float64(cpuTime(b)-used)/float64(took), "cpu-%")
		b.ReportMetric(float64(wakeups(b)-woken)/took.Seconds(), "wakeups/s")
		b.ReportMetric(0, "ns/op")
	})
}

// wakeups is how often threads of this process have gone to sleep, and so were woken.
func wakeups(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return int64(u.Nvcsw)
}

// busyFor is how long busy consoles are listened to.
const busyFor = 8 * time.Second

// BenchmarkTraffic is what a terminal is sent while the engine is at work, of each of
// the first five screens, with Korean names: the targets are 8 KB/s at ten updates a
// second and 4 KiB/s at four. All run side by side.
func BenchmarkTraffic(b *testing.B) {
	var wg sync.WaitGroup
	for _, c := range []struct {
		name  string
		ssh   bool
		every time.Duration
	}{{"KB/s-at-10-updates", false, 100 * time.Millisecond}, {"KB/s-at-4-updates", true, 250 * time.Millisecond}} {
		for i, screen := range page.Tabs()[:5] {
			out, opt := &counter{}, testOptions()
			opt.SSH = c.ssh
			listen := func(_ *model, press func(string)) {
				press(string(rune('1' + i)))
				time.Sleep(5 * time.Second) // messages have faded, nothing is done in a hurry
				before, began := out.n.Load(), time.Now()
				time.Sleep(busyFor)
				b.ReportMetric(float64(out.n.Load()-before)/time.Since(began).Seconds()/1000, c.name+"-"+strings.ToLower(screen.String()))
			}
			wg.Go(func() { inTheOpen(b, newAtWork(c.every, true), opt, out, listen) })
		}
	}
	wg.Wait()
	b.ReportMetric(0, "ns/op")
}

// benchOpen goes to a view, with the answers it asks for.
func benchOpen(m *model, name string) {
	switch name {
	case "account":
		m.stack = []page.Page{accounts.NewAccount("a-kain")}
	case "flat":
		m.goTo(page.ScreenJobs)
		m.page().Act(m.view(uitest.Noon), page.ByReason)
	case "members":
		m.stack = []page.Page{members.New()}
	case "schedules":
		m.stack = []page.Page{schedules.New()}
	case "job":
		m.stack = []page.Page{inspector.NewJob("j881")}
	case "audit":
		m.stack = []page.Page{audit.New()}
	case "messages":
		m.stack = []page.Page{messages.New()}
	case "classes":
		m.stack = []page.Page{classes.New("")}
	case "forensics":
		m.stack = []page.Page{forensics.New(29)}
	case "record":
		m.goTo(page.ScreenLogs)
		m.draw(uitest.Noon)
		m.stack = []page.Page{screen.New(m.page().Act(m.view(uitest.Noon), page.Open).Open)}
	case "evidence":
		m.stack = []page.Page{alerts.NewEvidence(uitest.Busy().Update.Alerts[0])}
	case "entry":
		m.stack = []page.Page{audit.NewEntry(uitest.Busy().Audit[0])}
	case "chaos":
		m.opt.Chaos = broken()
		m.stack = []page.Page{chaospanel.New()}
	default:
		for _, s := range page.Tabs() {
			if strings.EqualFold(s.String(), name) {
				m.goTo(s)
			}
		}
	}
	v := m.view(uitest.Noon)
	if q := m.page().Want(v); q != nil {
		a, err := m.console.Find(context.Background(), q)
		m.page().Got(v, q, a, err)
	}
}

// BenchmarkUpdate folds a busy tenth of a second in and draws it.
func BenchmarkUpdate(b *testing.B) {
	m := loaded(b, 120, 40)
	rows := uitest.Many(40)
	rev := engine.Revision(4)
	for b.Loop() {
		rev++
		for i := range rows {
			rows[i].Rev = rev
		}
		m.rows.Apply(engine.Update{Seq: uint64(rev), Jobs: rows}, uitest.Noon)
		m.draw(uitest.Noon)
	}
}
