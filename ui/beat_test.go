package ui

import (
	"context"
	"io"
	"iter"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/ui/uitest"
)

// pen notes when something was written.
type pen struct{ at []time.Time }

func (p *pen) Write(b []byte) (int, error) {
	p.at = append(p.at, time.Now())
	return len(b), nil
}

// beating runs a model that shows what it was sent last.
func beating(t *testing.T, do func(p *tea.Program, b *beat, out *pen)) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		out, b := &pen{}, &beat{}
		p := tea.NewProgram(beaten{echoes{}, b}, tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(frames), tea.WithoutSignalHandler(), tea.WithWindowSize(80, 24))
		b.program = p
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		do(p, b, out)
		b.stop()
		p.Quit()
		_ = typed.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// echoes shows how many keys came, or the last frame.
type echoes struct {
	shows
	keys int
}

func (e echoes) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		e.keys++
		e.frame = strconv.Itoa(e.keys)
	case frameMsg:
		e.frame = string(msg)
	}
	return e, nil
}

// TestAKeyIsAnsweredAtOnce, other messages within a frame, and keys that are held down
// no more often than the screen may be painted.
func TestAKeyIsAnsweredAtOnce(t *testing.T) {
	beating(t, func(p *tea.Program, b *beat, out *pen) {
		if b.clock == nil {
			t.Fatal("the clock of Bubble Tea was not found: has it another in this version?")
		}
		sent := time.Now()
		p.Send(tea.KeyPressMsg{Code: 'a', Text: "a"})
		time.Sleep(time.Second)
		synctest.Wait()
		if took := out.at[len(out.at)-1].Sub(sent); took > 2*echoIn {
			t.Errorf("a key is answered after %s", took)
		}
		sent = time.Now()
		p.Send(frameMsg("another"))
		time.Sleep(time.Second)
		synctest.Wait()
		if took := out.at[len(out.at)-1].Sub(sent); took > frame+echoIn {
			t.Errorf("a message is painted after %s", took)
		}
		before := len(out.at)
		for range 1000 {
			p.Send(tea.KeyPressMsg{Code: 'a', Text: "a"})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(out.at) - before; n < frames/2 || n > frames+5 {
			t.Errorf("a key held down for a second is painted %d times", n)
		}
	})
}

// TestTheClockRests while nothing happens, and still beats now and then.
func TestTheClockRests(t *testing.T) {
	beating(t, func(_ *tea.Program, b *beat, _ *pen) {
		b.mu.Lock()
		clock := b.clock
		b.mu.Unlock()
		beats := 0
		for end := time.After(10 * time.Second); ; {
			select {
			case <-clock.C: // Bubble Tea takes some of them first
				beats++
				continue
			case <-end:
			}
			break
		}
		if beats > 10 {
			t.Errorf("%d beats in ten seconds in which nothing happened", beats)
		}
	})
}

// fading is an engine that has made its last call two minutes ago: what it tells of
// its pace still moves, as in the hub.
type fading struct{ *uitest.Fake }

func (f fading) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		last := time.Now().Add(-90 * time.Second)
		u := f.Scene.Update
		u.Calls = slices.Clone(u.Calls)
		for i := range u.Calls {
			u.Calls[i].At = last.Add(time.Duration(i-len(u.Calls)) * time.Second)
		}
		for ok := yield(u); ok && await.Pause(ctx, 250*time.Millisecond); {
			row := *u.Engine
			row.Spark = make([]int, 24)
			if age := int(time.Since(last) / (5 * time.Second)); age < 20 {
				row.Spark[23-age], row.Spark[22-age] = 5, 1+int(time.Since(last)/time.Second)%5
			}
			ok = yield(engine.Update{Seq: u.Seq, Engine: &row})
		}
	}
}

// rested is a scene in which all is done.
func rested() uitest.Scene {
	s := uitest.Busy()
	s.Jobs, s.Update.Jobs, s.Update.Notes, s.Update.Alerts = nil, nil, nil, nil
	for i := range s.Update.Accounts {
		a := &s.Update.Accounts[i]
		a.Status, a.LastSync = engine.SyncCompleted, uitest.Noon.Truncate(time.Minute).Add(-time.Hour)
	}
	row := *s.Update.Engine
	row.CallsPerMin, row.InFlight, row.Spark = 0, 0, nil
	s.Update.Engine, s.Update.Limits = &row, &engine.LimitsRow{At: uitest.Noon}
	for i := range s.Update.Queues {
		q := engine.QueueRow{QueueState: engine.QueueState{Name: s.Update.Queues[i].Name}}
		s.Update.Queues[i] = q
	}
	return s
}

// TestScreensAreSilentAfterWork: a minute after the last call nothing is sent between
// two changes of the minute, although the charts of the pace grow older.
func TestScreensAreSilentAfterWork(t *testing.T) {
	for _, keys := range []string{"1", "2", "3", "4", "5", "9"} {
		if n := sentOver(t, fading{uitest.New(rested())}, testOptions(), keys, 40*time.Second); n != 0 {
			t.Errorf("screen %s sent %d bytes", keys, n)
		}
	}
}
