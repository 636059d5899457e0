package ui

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/ui/terminal"
	"github.com/farsight-console/farsight/ui/uitest"
)

// counter counts what a terminal would be sent.
type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// sentOver runs the whole program at 120x40 in a bubble and gives the bytes that
// it writes in a stretch of time, once it has come to rest.
func sentOver(t *testing.T, console engine.Console, opt Options, keys string, span time.Duration) int64 {
	t.Helper()
	return sentOn(t, console, opt, span, keys)[0]
}

// sentOn does so on several screens, one after the other: each is where its keys lead.
func sentOn(t *testing.T, console engine.Console, opt Options, span time.Duration, screens ...string) (sent []int64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(uitest.Noon.Truncate(time.Minute).Add(-10 * time.Second)))
		in, typed := io.Pipe()
		out := &counter{}
		opt.Input, opt.Output, opt.Getenv, opt.Theme = in, out, trueColor, "dark"
		m := newModel(console, opt)
		ctx, cancel := context.WithCancel(t.Context())
		m.ctx = ctx
		done, begun := make(chan error, 1), make(chan func(any), 1)
		press := func(send func(any), keys string) {
			for _, r := range keys {
				send(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
		go func() {
			done <- terminal.Run(ctx, m, opt.terminal(), func(ctx context.Context, send func(any)) {
				time.Sleep(time.Second) // Bubble Tea tells its own guess of the size first
				send(tea.WindowSizeMsg{Width: 120, Height: 40})
				press(send, screens[0])
				begun <- send
				m.feed.Run(ctx, send)
			})
		}()
		time.Sleep(15 * time.Second) // the minute has changed, messages have faded
		if n := out.n.Load(); n < 1000 {
			t.Errorf("only %d bytes were sent at first: nothing is on the screen", n)
		}
		send := <-begun
		for i, keys := range screens {
			if i > 0 {
				press(send, keys)
				time.Sleep(3 * time.Second)
			}
			before := out.n.Load()
			time.Sleep(span)
			sent = append(sent, out.n.Load()-before)
		}
		cancel()
		_ = typed.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return sent
}

// TestIdleScreenSendsNothing between two changes of the minute.
func TestIdleScreenSendsNothing(t *testing.T) {
	for _, keys := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "M", "U", "S", "X"} {
		opt := testOptions()
		if keys == "X" {
			panel := broken()
			for i := range panel.state.Rows {
				panel.state.Rows[i].On, panel.state.Rows[i].Until = false, time.Time{}
			}
			opt.Chaos = panel
		}
		if n := sentOver(t, uitest.New(uitest.Empty()), opt, keys, 40*time.Second); n != 0 {
			t.Errorf("screen %s sent %d bytes", keys, n)
		}
	}
}

// bytesMatter is false where everything is slow. See race_test.go.
var bytesMatter = true

// TestBusyTraffic holds the screens to half of what they may send: 8 KB/s at ten updates a
// second, 4 KiB/s at four.
func TestBusyTraffic(t *testing.T) {
	t.Parallel()
	if !bytesMatter {
		t.Skip("how much is sent is counted without the race detector")
	}
	const over = 8                               // seconds; all screens within one minute, whose change is sent, too
	screens := []string{"4", "1", "2", "3", "5"} // retries fall due soon after the begin
	for _, c := range []struct {
		name  string
		ssh   bool
		every time.Duration
		most  int64
	}{{"local", false, 100 * time.Millisecond, 4000}, {"ssh", true, 250 * time.Millisecond, 2048}} {
		for _, wide := range scratch.Sized([]bool{c.ssh}, []bool{false, true}) {
			opt := testOptions()
			opt.SSH = c.ssh
			for i, n := range sentOn(t, newAtWork(c.every, wide), opt, over*time.Second, screens...) {
				n /= over
				t.Logf("%s, wide name %v, screen %s: %d B/s", c.name, wide, screens[i], n)
				if n > c.most {
					t.Errorf("%s, wide name %v, screen %s: %d B/s, at most %d", c.name, wide, screens[i], n, c.most)
				}
			}
		}
	}
}

// TestKoreanListsCostWhatOthersCost: a screen full of letters of two cells, of which
// a few rows move, is sent as sparingly as one of Latin names (see halves).
func TestKoreanListsCostWhatOthersCost(t *testing.T) {
	t.Parallel()
	if !bytesMatter {
		t.Skip("how much is sent is counted without the race detector")
	}
	sent := map[string]int64{}
	for _, name := range []string{"Player", "한국어플레이어"} {
		a := newAtWork(100*time.Millisecond, true)
		for i := range 30 {
			row := a.Scene.Update.Accounts[3]
			row.ID, row.RiotID = fmt.Sprintf("many-%02d", i), fmt.Sprintf("%s %02d#KR1", name, i)
			a.Scene.Update.Accounts = append(a.Scene.Update.Accounts, row)
		}
		sent[name] = sentOver(t, a, testOptions(), "2", 40*time.Second) / 40 // a frame more or less says nothing
		t.Logf("%s: %d B/s", name, sent[name])
	}
	if korean, latin := sent["한국어플레이어"], sent["Player"]; korean > latin*6/5 {
		t.Errorf("Korean names cost %d B/s, Latin ones %d", korean, latin)
	}
}
