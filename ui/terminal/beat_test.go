package terminal

import (
	"io"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
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
