package ui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// loaded is a console with everything on its screens: 500 retries, 500 accounts,
// a full flight recorder.
func loaded(b *testing.B, w, h int) *Model {
	b.Helper()
	opt := testOptions()
	opt.Getenv, opt.Theme = trueColor, "dark"
	fake := uitest.New(uitest.Busy())
	m := New(fake, opt)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	u := uitest.Busy().Update
	u.Jobs = append(u.Jobs, uitest.Many(500)...)
	for i := range 500 {
		a := u.Accounts[5]
		a.ID, a.RiotID = fmt.Sprintf("many-%d", i), fmt.Sprintf("Player %d#EUW", i)
		u.Accounts = append(u.Accounts, a)
	}
	for i := range recorderSize {
		c := u.Calls[i%40]
		c.Seq = uint64(100 + i)
		u.Calls = append(u.Calls, c)
	}
	m.Update(updated{u})
	return m
}

// BenchmarkView draws every screen; the targets are 0.5 ms at 120x40 and 1 ms at
// 200x60 (performance.md section 5).
func BenchmarkView(b *testing.B) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		for _, v := range views {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], v.name), func(b *testing.B) {
				m := loaded(b, size[0], size[1])
				benchOpen(m, v.name)
				now := uitest.Noon
				b.ReportAllocs()
				used := cpuTime(b)
				for b.Loop() {
					m.draw(now)
				}
				b.ReportMetric(float64((cpuTime(b)-used).Microseconds())/float64(b.N), "cpu-us/op")
			})
		}
	}
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

// BenchmarkKeyToBytes is the time from a key to what the terminal is sent, of the
// whole program on an engine at work: the target is 50 ms. The key moves the cursor
// of the list of jobs; only frames that paint a selected row count.
func BenchmarkKeyToBytes(b *testing.B) {
	in, typed := io.Pipe()
	out := &echo{wrote: make(chan time.Time, 1)}
	opt := testOptions()
	opt.Input, opt.Output, opt.Getenv, opt.Theme = in, out, trueColor, "dark"
	m := New(newAtWork(gapLocal, false), opt)
	look := m.theme.OpenSel(themes.Text)
	out.sign = []byte(strings.TrimSuffix(look[strings.LastIndex(look, "48;2;"):], "m"))
	ctx, cancel := context.WithCancel(b.Context())
	m.ctx = ctx
	done := make(chan error, 1)
	go func() {
		done <- runProgram(ctx, m, opt, func(ctx context.Context, p *tea.Program) {
			time.Sleep(time.Second) // Bubble Tea tells its own guess of the size first
			p.Send(tea.WindowSizeMsg{Width: 120, Height: 40})
			m.session.run(ctx, p.Send)
		})
	}()
	time.Sleep(2 * time.Second)
	press := func(key string) {
		if _, err := io.WriteString(typed, key); err != nil {
			b.Fatal(err)
		}
	}
	press("3")
	time.Sleep(time.Second)
	var all []time.Duration
	for i := 0; b.Loop(); i++ {
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
	b.StopTimer()
	cancel()
	_ = typed.Close()
	<-done
	slices.Sort(all)
	for name, share := range map[string]float64{"ms-p50": .5, "ms-p95": .95, "ms-p99": .99} {
		b.ReportMetric(float64(all[int(share*float64(len(all)-1))].Microseconds())/1000, name)
	}
}

// benchOpen goes to a view, with the answers it asks for.
func benchOpen(m *Model, name string) {
	switch name {
	case "account":
		m.stack = []page.Page{page.NewAccount("a-kain")}
	case "schedules":
		m.stack = []page.Page{page.NewSchedules()}
	case "job":
		m.stack = []page.Page{page.NewJob("j881")}
	case "audit":
		m.stack = []page.Page{page.NewAudit()}
	case "messages":
		m.stack = []page.Page{page.NewMessages()}
	case "classes":
		m.stack = []page.Page{page.NewClasses("")}
	case "reasons":
		m.stack = []page.Page{page.NewReasons("")}
	case "forensics":
		m.stack = []page.Page{page.NewForensics(29)}
	case "record":
		m.goTo(page.ScreenLogs)
		m.draw(uitest.Noon)
		m.stack = []page.Page{m.page().Act(m.view(uitest.Noon), page.Open).Open}
	case "evidence":
		m.stack = []page.Page{page.NewEvidence(uitest.Busy().Update.Alerts[0])}
	case "entry":
		m.stack = []page.Page{page.NewEntry(uitest.Busy().Audit[0])}
	case "chaos":
		m.opt.Chaos = broken()
		m.stack = []page.Page{page.NewChaos()}
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
		m.rows.apply(engine.Update{Seq: uint64(rev), Jobs: rows}, uitest.Noon)
		m.draw(uitest.Noon)
	}
}
