package ui

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/uitest"
)

// underCursor is the line that the cursor is on.
func (d *desk) underCursor() string {
	for line := range strings.Lines(d.screen()) {
		if strings.Contains(line, "▌") {
			return line
		}
	}
	return ""
}

// TestKeyExpiresAndIsReplaced: Riot refuses the key, everything waits and says for
// what; a new key is pasted without a restart, and the work goes on.
func TestKeyExpiresAndIsReplaced(t *testing.T) {
	const key = "RGAPI-12345678-1234-1234-1234-1234567890ab"
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			row := *uitest.Busy().Update.Engine
			row.State, row.Why = engine.EngineNoKey, "Riot refused the key (403)"
			d.send(engine.Update{Seq: 5000, Engine: &row})
			d.wants("✗ NO KEY", "K replaces")
			d.lacks("● LIVE")
			d.press("3")
			d.wants("✗ NO KEY") // on every screen
			d.press("K")
			d.send(tea.PasteMsg{Content: key})
			d.press("enter")
			if c := d.last(); c.Op != engine.OpKey || c.Key != key {
				t.Errorf("sent %s with a key of %d characters", c.Op, len(c.Key))
			}
			d.wants("✗ NO KEY") // until the engine says that it is well
			row.State, row.Why, row.Key, row.KeySince = engine.EngineLive, "", "…90ab", uitest.Noon
			d.send(engine.Update{Seq: 5001, Engine: &row})
			d.wants("● LIVE")
			d.press("K")
			d.wants("…90ab")
			d.press("esc")
			d.lacks("NO KEY", "RGAPI")
			if len(d.fake.Did()) != 1 {
				t.Errorf("sent %d commands, want the key alone", len(d.fake.Did()))
			}
		})
	}
}

// TestP38_PausedQueueSaysSoOnEachJob: the pause is the engine's word, not the
// key's: reasons change when it has answered, and p takes it back.
func TestP38_PausedQueueSaysSoOnEachJob(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "b")
		d.wants("asia 83/100")
		d.press("1", "p")
		if c := d.last(); c.Op != engine.OpPause || c.Queue != uitest.Full {
			t.Errorf("sent %+v", c)
		}
		d.press("3")
		d.wants("asia 83/100")

		queues, jobs := uitest.Busy().Update.Queues, uitest.Busy().Jobs
		queues[0].Paused, queues[0].By, queues[0].Since = true, engine.Actor{User: "ana", Via: "console"}, uitest.Noon
		var waiting []engine.JobRow
		for i := range jobs {
			if j := &jobs[i]; j.State == engine.Available || j.State == engine.Retryable {
				j.Rev, j.Why, j.Until = j.Rev+1, "queue paused by ana", time.Time{}
				waiting = append(waiting, *j)
			}
		}
		d.fake.Scene.Jobs = jobs
		d.send(engine.Update{Seq: 5001, Queues: queues[:1], Jobs: waiting})
		d.wait(3 * time.Second)
		d.wants("queue paused by ana", "● LIVE")
		d.lacks("asia 83/100")
		d.press("1")
		d.wants("‖ ingest.summoner.full", "p resumes")
		d.press("p")
		if c := d.last(); c.Op != engine.OpResume || c.Queue != uitest.Full {
			t.Errorf("sent %+v", c)
		}
	})
}

// TestFreezeStepToA429AndOpenItsJob: the time cursor goes back to a 429 in the
// recorder, and from there to its counts and its job.
func TestFreezeStepToA429AndOpenItsJob(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("5", "f")
		for range 20 {
			if strings.Contains(d.screen(), "▌  12:31:21.480  429") {
				break
			}
			d.press("[")
		}
		d.wants("▌  12:31:21.480  429", "FROZEN 12:31:22, 13 s back", "70/100")
		d.press("enter")
		d.wants("RATE LIMIT HIT", "91/100", "FROZEN")
		d.press("enter")
		d.wants("match:KR_7214550777")
		d.press("esc", ".")
		d.lacks("FROZEN")
	})
}

// TestTwoConsolesActOnOneJob: the second one is told who was first and when, both
// see the same row, and nothing is done twice.
func TestTwoConsolesActOnOneJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ana := open(t, uitest.Busy(), 120, 40, testOptions())
		opt := testOptions()
		opt.Actor = engine.Actor{User: "bo"}
		bo := open(t, uitest.Busy(), 80, 24, opt)
		done := 0
		answer := func(c engine.Command) (engine.Receipt, error) {
			if done++; done > 1 {
				return engine.Receipt{}, engine.Problemf(engine.ErrConflict, "", "match:KR_7214550881 is CANCELLED already, by ana at 12:31")
			}
			return engine.Receipt{Seq: 4712, Job: c.Job, Applied: 1, Undo: true, Audit: 10, Text: "cancelled match:KR_7214550881"}, nil
		}
		ana.fake.Answer, bo.fake.Answer = answer, answer
		for _, d := range []*desk{ana, bo} {
			d.press("4")
			d.wants("550881")
		}
		ana.press("x")
		bo.press("x")
		ana.wants("cancelled the match", "z undo 10 s")
		bo.wants("▲ ", "is CANCELLED already, by ana at 12:31")
		bo.lacks("z undo")
		if a, b := ana.last(), bo.last(); a.Job != b.Job || a.IfRev != b.IfRev || a.By.User != "ana" || b.By.User != "bo" {
			t.Errorf("sent %+v and %+v", a, b)
		}
		row, _ := ana.m.rows.Data.Job("j881")
		row.State, row.Rev = engine.Cancelled, 4
		u := engine.Update{Seq: 4712, Jobs: []engine.JobRow{row}, Notes: []engine.Note{{Level: engine.LevelInfo, Text: "ana: cancel job j881", By: ana.m.opt.By()}}}
		for _, d := range []*desk{ana, bo} {
			d.send(u)
			d.wants("(left)")
		}
		bo.wants("ana: cancel job j881")  // what the other one did
		ana.lacks("ana: cancel job j881") // and knows herself
	})
}

// TestP31_LiveRefreshNeverMovesTheCursorNorAnswersADialog: whatever comes in while a
// person looks at a row or reads a question, the row stays under the cursor or is
// marked as left, and the answer is about what was asked.
func TestP31_LiveRefreshNeverMovesTheCursorNorAnswersADialog(t *testing.T) {
	jobs := uitest.Busy().Jobs
	storm := rapid.Custom(func(t *rapid.T) engine.Update {
		u := engine.Update{Jobs: uitest.Many(rapid.IntRange(0, 8).Draw(t, "new"))}
		for i := range u.Jobs {
			u.Jobs[i].Due = uitest.Noon.Add(time.Duration(rapid.IntRange(-5, 400).Draw(t, "due")) * time.Second)
		}
		for range rapid.IntRange(0, 8).Draw(t, "moves") {
			j := rapid.SampledFrom(jobs).Draw(t, "job")
			j.State = rapid.SampledFrom([]engine.State{engine.Available, engine.Running, engine.Retryable, engine.Completed, engine.Cancelled, engine.Discarded}).Draw(t, "state")
			j.Due = uitest.Noon.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "due")) * time.Second)
			j.Rev = engine.Revision(rapid.IntRange(4, 99).Draw(t, "rev"))
			u.Jobs = append(u.Jobs, j)
		}
		u.Snapshot = rapid.IntRange(0, 9).Draw(t, "kind") == 0
		if u.Snapshot {
			all := uitest.Busy().Update
			u.Engine, u.Queues, u.Accounts, u.Limits = all.Engine, all.Queues, all.Accounts, all.Limits
		}
		return u
	})
	storms := rapid.SliceOfN(storm, 40, 40).Example(7)

	busy(t, func(d *desk) {
		d.press("4", "j", "j")
		const key = "50901"
		for i, u := range storms {
			u.Seq = uint64(5000 + i)
			d.send(u)
			if line := d.underCursor(); !strings.Contains(line, key) {
				t.Fatalf("update %d moved the cursor to %s", i, line)
			}
		}
	})
	busy(t, func(d *desk) {
		d.press("3", "/")
		d.text("running")
		d.press("enter", "x")
		const question = "Cancel a running job?"
		d.wants(question)
		for i, u := range storms {
			u.Seq = uint64(5000 + i)
			d.send(u)
			d.wait(200 * time.Millisecond)
		}
		d.wants(question)
		d.none()
		d.press("y")
		if c := d.last(); c.Op != engine.OpCancel || c.Job != "j780" || c.IfRev != 3 || len(d.fake.Did()) != 1 {
			t.Errorf("sent %+v, want the job and the revision that were asked about", c)
		}
	})
}

// TestP32_AllWithoutAFilterIsCountedFirst: to act on everything that is shown, with
// nothing that narrows it down, names the number and a sample and is no until said;
// what the engine is sent are ids, never "all".
func TestP32_AllWithoutAFilterIsCountedFirst(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "A", "x")
		d.wants("Cancel ", "match:KR_7214550881, ", "more", "type all to go on", "▌esc no")
		d.press("enter")
		for _, c := range d.fake.Did() {
			if !c.DryRun {
				t.Errorf("sent %+v without a yes", c)
			}
		}
		d.press("esc", "x", "y", "enter") // a y is a letter of the word here
		d.wants("type all to go on", "nothing was done: type the word that is shown")
		d.press("backspace")
		d.text("all")
		d.press("enter")
		c := d.last()
		if c.DryRun || c.Op != engine.OpCancel || c.Select == nil || c.Select.Filter != nil || len(c.Select.IDs) == 0 || len(c.Select.IDs) != len(c.Select.Revs) {
			t.Errorf("sent %+v", c)
		}
	})
}

// onHub is a console that watches a hub.
type onHub struct {
	*uitest.Fake
	hub *hub.Hub
}

func (c onHub) Watch(ctx context.Context) iter.Seq[engine.Update] { return c.hub.Watch(ctx) }

// source is the scene as the hub's telemetry.
type source struct{ engine.Update }

func (s source) Engine() (*engine.EngineRow, *engine.LimitsRow) {
	return s.Update.Engine, s.Update.Limits
}
func (s source) Queues() []engine.QueueRow            { return s.Update.Queues }
func (source) CallsAfter(uint64) []engine.CallRow     { return nil }
func (source) Row(j engine.Job) engine.JobRow         { return engine.JobRow{Job: j} }
func (source) ETA(string) engine.ETA                  { return engine.ETA{} }
func (source) Start(engine.JobID) (time.Time, string) { return time.Time{}, "" }

// TestS1_11_ProgressReachesEveryConsole: three consoles of different sizes and pace
// on one engine; each shows the progress of a sync, none of them ever goes back, and
// all end on the same number.
func TestS1_11_ProgressReachesEveryConsole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(uitest.Noon))
		scene := uitest.Busy()
		kain := scene.Update.Accounts[1]
		h := hub.New(hub.Options{Source: source{scene.Update}, Accounts: func(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
			return engine.AccountsPage{Accounts: scene.Update.Accounts, Total: len(scene.Update.Accounts)}, nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		type console struct {
			*desk
			got  chan engine.Update
			seen []int
		}
		var all []*console
		for i, size := range sizes {
			opt := testOptions()
			opt.SSH, opt.MaxFPS = i == 1, []int{10, 4, 1}[i]
			d := open(t, scene, size[0], size[1], opt)
			d.press("2")
			d.on("Blue Heron") // of the account under the cursor a row tells what its cells do
			c := &console{desk: d, got: make(chan engine.Update, 1000)}
			all = append(all, c)
			s := session.NewFeed(onHub{d.fake, h}, opt.Seat)
			running.Go(func() {
				s.Run(ctx, func(msg any) {
					if u, ok := msg.(engine.Update); ok {
						c.got <- u
					}
				})
			})
		}
		for done := 134; done <= 879; done++ {
			kain.Matches.Stored, kain.Matches.Open = done-3, 879-done
			row := kain
			h.Publish(uint64(5000+done), []engine.Change{{Account: &row}})
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		cancel()
		running.Wait()
		for _, c := range all {
			for len(c.got) > 0 {
				u := <-c.got
				c.send(u)
				for _, a := range u.Accounts {
					if a.ID == kain.ID {
						c.seen = append(c.seen, a.Matches.Done())
					}
				}
			}
			c.wants("879/879")
			for i := 1; i < len(c.seen); i++ {
				if c.seen[i] < c.seen[i-1] {
					t.Errorf("progress went back from %d to %d", c.seen[i-1], c.seen[i])
				}
			}
			if len(c.seen) < 5 {
				t.Errorf("a console of %d columns saw %d steps", c.m.w, len(c.seen))
			}
		}
		time.Sleep(2 * time.Minute)
	})
}
