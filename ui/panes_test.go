package ui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/uitest"
)

// wide runs f with a console of three panes.
func wide(t *testing.T, f func(d *desk)) {
	t.Helper()
	bubble(t, func(t *testing.T) { f(open(t, uitest.Busy(), 200, 60, testOptions())) })
}

// TestRailChoosesTheQueue: Q gives the queues the keys, the jobs are those of the one
// under the cursor, p pauses that one, and esc goes back to the jobs.
func TestRailChoosesTheQueue(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("3", "b", "Q")
			d.wants("▸QUEUES", "▌  all queues", "report.weekly ‖")
			d.press("p")
			d.wants("choose one queue to pause")
			d.none()
			d.press("j", "j")
			d.wants("▌  ingest.summoner.latest")
			d.press("r")
			d.wants("the keys are in the queues: enter goes to the jobs")
			d.none()
			d.press("p")
			if c := d.last(); c.Op != engine.OpPause || c.Queue != uitest.Latest {
				t.Errorf("sent %+v", c)
			}
			d.press("esc")
			d.wants("JOBS", "ingest.summoner.latest")
			d.lacks("match:KR_7214550881")
			d.press("Q", "k", "enter")
			d.wait(3 * time.Second)
			d.wants("ingest.summoner.full", "match:KR_7214550881")
			asked := d.fake.Asked()
			last := uitest.Latest
			for _, q := range asked {
				if q, ok := q.(engine.JobsQuery); ok {
					last = q.Queue
				}
			}
			if last != uitest.Full {
				t.Errorf("asked for the jobs of %q last", last)
			}
		})
	}
}

// TestRailStaysOutOfListsOfOneReason: a class or a reason is of all queues.
func TestRailStaysOutOfListsOfOneReason(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.toMore()
		d.press("enter")
		d.lacks("all queues")
		d.press("Q")
		d.wants("esc goes back to all jobs")
	})
}

// TestTheInspectorFollowsTheCursor on a screen of three panes.
func TestTheInspectorFollowsTheCursor(t *testing.T) {
	wide(t, func(d *desk) {
		d.press("3", "b")
		d.wait(2 * time.Second)
		d.press("g")
		d.reads("↻ RETRYABLE 2 of 5 tries used, next +0:10", "wait 1 min")
		d.wants("#2 12:30:46")
		d.press("G", "k")
		d.reads("✗ DISCARDED 1 of 5 tries used", "last: 404 not found (final)")
		d.press("enter")
		d.wants("JOB j003")
	})
}

// TestJobShowsItsRecordRaw: beside the inspector where there is room, else on v.
func TestJobShowsItsRecordRaw(t *testing.T) {
	wide(t, func(d *desk) {
		d.show(inspector.NewJob("j881"))
		d.wants("X-App-Rate-Limit-Count: 6:1,49:120", `"key": "match:KR_7214550881"`, "TRIES")
	})
	busy(t, func(d *desk) {
		d.show(inspector.NewJob("j881"))
		d.lacks(`"key"`)
		d.press("v")
		d.wants("RAW", "X-App-Rate-Limit-Count: 6:1,49:120", `"decision": "policy match step 2: 1 min"`)
		d.press("G")
		d.wants(`"last_error": "503 service unavailable"`)
		d.press("esc")
		d.lacks("RAW")
		d.wants("JOB j881")
	})
}

// TestAllMatchesAsAWall: an account has a cell for each match, and enter opens the job of
// the one under the cursor of those that were stored last.
func TestAllMatchesAsAWall(t *testing.T) {
	wide(t, func(d *desk) {
		d.show(accounts.NewAccount("a-kain"))
		d.wants("879 MATCHES", "131 stored", "736 to come", "Nov 25", "JUST STORED", "■■■", "···")
		d.press("j", "enter")
		if !slices.Contains(d.fake.Asked(), engine.Query(engine.JobQuery{Key: "match:KR_7214550868"})) {
			t.Errorf("asked %+v", d.fake.Asked())
		}
	})
}

// full is the busy scene with nothing left of the limit of asia.
func full() uitest.Scene {
	s := uitest.Busy()
	limits := *s.Update.Limits
	limits.Buckets = append([]engine.BucketRow(nil), limits.Buckets...)
	limits.Buckets[1].Used = 100
	s.Update.Limits = &limits
	uitest.Foresee(&s.Update)
	return s
}

// TestI2_RetriesTellWhatTheyTakeAndWhichAreLate: the screen shows how much room the windows of
// the limit leave, which retries start late for want of it, and until when.
func TestI2_RetriesTellWhatTheyTakeAndWhichAreLate(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4")
		d.wants("2nd, after 30 s", "room of asia in the 2 min windows  100 calls each", "retries, next minute", "of what the key allows", "per 20 s")
		d.lacks("No room")
		d.press("<")
		d.wants("per 15 s")
		d.lacks("per 20 s")
		for range 9 {
			d.press("<")
		}
		d.wants("this is the nearest")
		for range 20 {
			d.press(">")
		}
		d.wants("this is a whole day")
	})
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, full(), size[0], size[1], testOptions())
			d.press("4")
			d.wants("+29 s", "No room until")
		})
	}
	bubble(t, func(t *testing.T) {
		s := full()
		s.Update.Limits.Buckets[1].BlockedBy = "frozen"
		uitest.Foresee(&s.Update)
		d := open(t, s, 160, 40, testOptions())
		d.press("4")
		d.wants("held", "asia is frozen: no room", "when it goes is not known")
	})
}

// A picture of a bad day: ladders, what retries achieve, what they cost.
func TestRetriesOfAPatchDay(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.PatchDay(), size[0], size[1], testOptions())
			d.press("4")
			d.wants("12 wait, the next goes in 0:10", "503 unavailable", "+8 s", "If it fails again: 12:31:51 +6 s")
			compare(t, fmt.Sprintf("patchday-retries-%dx%d", size[0], size[1]), ansi.Strip(d.m.frame))
		})
	}
}

// TestTheRailTellsWholeNumbers: as many jobs as its column has no room for are told in thousands; and of the rail and
// the jobs the one that has the keys is marked.
func TestTheRailTellsWholeNumbers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scene := uitest.Busy()
		scene.Update.Queues[0].Counts[engine.Available] = 12_345
		d := open(t, scene, 200, 60, testOptions())
		d.press("3", "Q")
		d.wants("▸QUEUES", "12.3k", " JOBS ")
		d.lacks("▸JOBS")
		d.press("enter")
		d.wants("▸JOBS")
		d.lacks("▸QUEUES")
	})
}

// TestTheRailCountsRetriesAsTheListDoes: one whose instant has come stands in line, and is a retry all the same.
func TestTheRailCountsRetriesAsTheListDoes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scene := uitest.Busy()
		for i := range scene.Update.Jobs {
			if j := &scene.Update.Jobs[i]; j.State == engine.Available {
				j.Tries, j.Attempts = 1, 1
				q := slices.IndexFunc(scene.Update.Queues, func(q engine.QueueRow) bool { return q.Name == j.Queue })
				scene.Update.Queues[q].Again = 1
				break
			}
		}
		d := open(t, scene, 200, 60, testOptions())
		d.press("3", "Q")
		d.wants("10 RETRYABLE", "retry 10")
	})
}
