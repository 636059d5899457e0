package plain

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/uitest"
)

// patience is the ceiling for whatever is waited for in real time.
const patience = 3 * time.Minute

func testOptions() Options {
	return Options{Seat: session.Seat{Zone: uitest.Zone, Actor: engine.Actor{User: "ana"}, Getenv: func(name string) string {
		return map[string]string{"NO_COLOR": "1", "TERM": "xterm"}[name]
	}}}
}

// pipes is a plain console between two pipes.
type pipes struct {
	t    *testing.T
	fake *uitest.Fake
	in   *os.File
	out  chan string
	all  []string
	end  chan error
}

func overPipes(t *testing.T, opt Options) *pipes { return overPipesOf(t, uitest.Busy(), opt) }

func overPipesOf(t *testing.T, scene uitest.Scene, opt Options) *pipes {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &pipes{t: t, fake: uitest.New(scene), in: inW, out: make(chan string, 4096), end: make(chan error, 1)}
	opt.Input, opt.Output, opt.Every = inR, outW, 10*time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	read := make(chan struct{})
	go func() {
		err := Run(ctx, p.fake, opt)
		_ = outW.Close()
		p.end <- err
	}()
	go func() {
		defer close(read)
		s := bufio.NewScanner(outR)
		for s.Scan() {
			p.out <- s.Text()
		}
		close(p.out)
	}()
	t.Cleanup(func() {
		cancel()
		_ = inW.Close()
		<-read
		_ = inR.Close()
		_ = outR.Close()
	})
	return p
}

// wants reads until a line holds a text.
func (p *pipes) wants(text string) {
	p.t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-p.out:
			if !ok {
				p.t.Fatalf("ended before %q was said:\n%s", text, strings.Join(p.all, "\n"))
			}
			p.all = append(p.all, line)
			if strings.Contains(line, text) {
				return
			}
		case <-late:
			p.t.Fatalf("never said %q:\n%s", text, strings.Join(p.all, "\n"))
		}
	}
}

func (p *pipes) types(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// TestL28_PlainTellsOfCollections: how everything stands has what is collected in it.
func TestL28_PlainTellsOfCollections(t *testing.T) {
	p := overPipesOf(t, uitest.Collecting(), testOptions())
	p.wants("kr-solo-master+ RUNNING: 1,340 of 6,021 players, 9,310 of 11,204 matches stored.")
	p.types("quit")
	<-p.end
}

// TestPlainTellsEachChangeAndFoldsRepeats.
func TestPlainTellsEachChangeAndFoldsRepeats(t *testing.T) {
	p := overPipes(t, testOptions())
	p.wants("help lists them")
	scene := uitest.Busy()
	u := engine.Update{Seq: 5000}
	for i, j := range uitest.Many(9) {
		j.Rev, j.Due = 9, time.Now().Add(12*time.Minute)
		j.Tries = 2
		if i == 0 {
			j.Key = "match:KR_\x1b[2J"
		}
		u.Jobs = append(u.Jobs, j)
	}
	short := uitest.Many(1)[0]
	short.ID, short.Key, short.Rev, short.Due, short.MaxAttempts = "short", "match:KR_3", 9, time.Now().Add(time.Minute), 3
	u.Jobs = append([]engine.JobRow{short}, u.Jobs...)
	row := scene.Update.Accounts[1]
	row.Status, row.Matches.Stored, row.Matches.Open = engine.SyncCompleted, 876, 0
	u.Accounts = []engine.AccountRow{row}
	queue := scene.Update.Queues[0]
	queue.Paused, queue.By, queue.Reason = true, engine.Actor{User: "ana"}, "deploy"
	u.Queues = []engine.QueueRow{queue}
	p.fake.Push(u)
	p.wants("queue ingest.summoner.full was paused by ana: deploy")
	p.wants("the sync of 카인#KR1 is complete: 879 matches, 3 could not be had")
	p.wants("retry of match KR_3 in ") // by a policy of three tries
	if said := p.all[len(p.all)-1]; !strings.Contains(said, ", try 2 of 3,") {
		t.Errorf("of a retry of three tries it says %q", said)
	}
	p.wants("retry of match KR_7214550001 in ")
	if said := p.all[len(p.all)-1]; !regexp.MustCompile(` in (12 minutes|11 minutes.*|10 minutes.*), try 3 of 5`).MatchString(said) {
		t.Errorf("of a retry it says %q", said)
	}
	p.wants("and 7 more like it: retries were scheduled")
	p.types("quit")
	<-p.end
	if text := strings.Join(p.all, "\n"); strings.Contains(text, "\x1b") {
		t.Error("an escape sequence came through")
	}
}

// An engine that has lost its store tells no rows; why, it does. With the first rows all is told anew.
func TestW5e_PlainTellsWhyThereAreNoRowsYet(t *testing.T) {
	opt := testOptions()
	opt.Seat.Input, opt.Seat.Output = strings.NewReader(""), io.Discard
	p := newPlain(t.Context(), nil, opt)
	p.applyUpdate(engine.Update{Engine: &engine.EngineRow{State: engine.EngineOpening, Why: "the database is lost"}}, time.Now())
	if told := strings.Join(p.news.drain(time.UTC), "\n"); !strings.HasSuffix(told, "the engine is OPENING: the database is lost") {
		t.Errorf("told %q", told)
	}
	p.applyUpdate(engine.Update{Engine: &engine.EngineRow{State: engine.EngineBroken}}, time.Now())
	p.applyUpdate(engine.Update{Snapshot: true, Engine: &engine.EngineRow{State: engine.EngineLive}}, time.Now())
	if told := p.news.drain(time.UTC); len(told) > 0 {
		t.Errorf("told after the greeting: %q", told)
	}
}

// A console of an engine without rows ends with its input and by quit, and what else is typed waits for rows.
func TestW5e_PlainCanBeLeftWhileThereAreNoRows(t *testing.T) {
	for typed, waits := range map[string]bool{"": false, "quit": false, ":Q": false, "help": true} {
		synctest.Test(t, func(t *testing.T) {
			opt, out := testOptions(), &strings.Builder{}
			opt.Seat.Input, opt.Seat.Output = strings.NewReader(""), out
			opt.Command = func(_ context.Context, _ engine.Console, args []string, _ io.Reader, _ io.Writer) error {
				return errors.New("carried out: " + args[0])
			}
			p := newPlain(t.Context(), nil, opt)
			updates, lines, ended := make(chan any, 1), make(chan string, 1), make(chan error, 1)
			p.lines = lines
			updates <- engine.Update{Engine: &engine.EngineRow{State: engine.EngineOpening, Why: "the database is lost"}}
			if typed != "" {
				lines <- typed
			}
			close(lines)
			go func() { ended <- p.loop(updates) }()
			synctest.Wait()
			if waits == (len(ended) > 0) {
				t.Errorf("after %q: ended %v, want %v", typed, waits, !waits)
			}
			if waits {
				updates <- engine.Update{Snapshot: true, Engine: &engine.EngineRow{State: engine.EngineLive}}
			} else if !strings.Contains(out.String(), "the database is lost") && typed == "" {
				t.Errorf("told %q", out)
			}
			select {
			case err := <-ended:
				if text := out.String(); err != nil || waits && !strings.HasSuffix(text, "Carried out: help.\n") {
					t.Errorf("%v, told %q", err, text)
				}
			case <-time.After(time.Hour):
				close(updates)
				t.Errorf("nothing ends it after %q", typed)
				p.done = true
			}
		})
	}
}

// TestPlainTellsInOrder: a change that takes the place of an older one is told at its own time,
// behind what came before it.
func TestPlainTellsInOrder(t *testing.T) {
	var n news
	at := func(s int) time.Time { return time.Date(2026, 11, 24, 11, 24, s, 0, time.UTC) }
	n.add("progress", "a", at(1), "a: 1 of 9")
	n.add("sync", "b", at(2), "b has begun")
	n.add("progress", "a", at(3), "a: 2 of 9")
	if got, want := strings.Join(n.drain(time.UTC), "\n"), "11:24:02 b has begun\n11:24:03 a: 2 of 9"; got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
}

// What was done here can be taken back without its number for as long as in the console of screens.
func TestW5h_UndoWithoutANumberEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := uitest.New(uitest.Busy())
		fake.Answer = func(c engine.Command) (engine.Receipt, error) { return engine.Receipt{Audit: 41, Undo: true}, nil }
		a := acting{fake, newPlain(t.Context(), fake, testOptions())}
		a.p.rows.Apply(fake.Scene.Update, time.Now())
		for after, may := range map[time.Duration]bool{session.UndoFor: true, session.UndoFor + time.Second: false} {
			if _, err := a.Do(t.Context(), engine.Command{Op: engine.OpPause}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			before := len(fake.Did())
			_, err := a.Do(t.Context(), engine.Command{Op: engine.OpUndo, DryRun: true})
			if did := fake.Did()[before:]; (err == nil) != may || may != (len(did) == 1 && did[0].Audit == 41) {
				t.Errorf("after %s: %v, did %+v", after, err, did)
			}
		}
	})
}
