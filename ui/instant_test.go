package ui

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// number is the first number that a pattern finds in a text; ok is false where it finds none.
func number(pattern, text string) (n int, ok bool) {
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
	return n, err == nil
}

// TestV1a_OneInstantForAScreen: over an hour of a development key with a cap, calls of somebody else, a 429, a pause,
// an outage, retries and a freeze, the figures of each frame of four screens go together; so they do, seen more seldom, with
// 210 accounts and several hosts.
func TestV1a_OneInstantForAScreen(t *testing.T) {
	long(t)
	few := scratch.Sized(30, 60)
	cases := []struct {
		accounts, steps, first int
		hosts                  []string
	}{{20, scratch.Sized(60, 1800), 0, nil}, {60, few, 1, nil}, {210, few, 2, []string{"asia"}}, {1, few, 3, nil},
		{210, few, 0, []string{"asia", "americas"}}, {1, few, 2, nil}, {60, few, 3, nil}}
	for _, c := range cases[:scratch.Sized(4, len(cases))] { // each screen at least
		bubble(t, func(t *testing.T) { hourOf(t, c.accounts, c.steps, c.first, c.hosts) })
	}
}

// TestV1l_ThePanelIsOfTheRowUnderTheCursor: when the account under a cursor at rest ends and others stand first, what
// stands below the list is of the row that has the cursor in that very frame.
func TestV1l_ThePanelIsOfTheRowUnderTheCursor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(3, uitest.Noon)
		d := open(t, s, 120, 40, testOptions())
		d.press("2")
		u, seen := s.Update, map[string]bool{}
		u.Snapshot = false
		d.each = func() {
			name := regexp.MustCompile(`Player \d+#DEV`).FindString(d.rowWith("▌"))
			if seen[name] = true; !strings.Contains(d.screen(), name+"  euw1 · not tracked") {
				t.Errorf("the cursor is on %s:\n%s", name, d.screen())
			}
		}
		for i := range 2 {
			a := &s.Update.Accounts[i]
			a.Status, a.Result, a.Phase, a.Finished = engine.SyncCompleted, "completed", engine.PhaseDone, time.Now()
			u.Accounts, u.Seq = []engine.AccountRow{*a}, u.Seq+1
			d.send(u)
			d.wait(time.Second)
		}
		if len(seen) < 2 {
			t.Errorf("only %v had the cursor:\n%s", seen, d.screen())
		}
	})
}

// TestV1j_AnAccountIsOfOneReading: while matches come the row of an account, its bar, its stages, its cells and the strip
// that pins it tell the same of them in each frame, below the list and on the account's own screen, to its end.
func TestV1j_AnAccountIsOfOneReading(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"below the list": {"2", "w"}, "its own": {"2", "w", "enter"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := open(t, uitest.DevKey(1, uitest.Noon), 120, 40, testOptions())
				d.press(keys...)
				frames := 0
				for range scratch.Sized(133, 530) {
					d.wait(scratch.Sized[time.Duration](800, 200) * time.Millisecond)
					s := uitest.DevKey(1, time.Now())
					s.Update.Snapshot, d.fake.Scene = false, s
					d.each = func() {
						if checkAccounts(t, d.screen()); strings.Contains(d.screen(), " left of 120") {
							frames++
						}
					}
					if d.send(s.Update); t.Failed() {
						t.Fatalf("\n%s", d.screen())
					}
					d.each = nil
				}
				if frames < 100 || !strings.Contains(d.screen(), "120 done") {
					t.Errorf("%d frames of matches that come:\n%s", frames, d.screen())
				}
			})
		})
	}
}

// hourOf looks so often in an hour at one of the screens.
func hourOf(t *testing.T, accounts, steps, first int, hosts []string) {
	d := open(t, uitest.DevKey(accounts, uitest.Noon), 120, 40, testOptions())
	var again []engine.JobID // retries that were told of
	for step := range steps {
		// A forecast holds for two seconds: every other frame has one that is older than its limits.
		apart := time.Hour / time.Duration(steps)
		if step%2 == 0 && !scratch.Whole { // nobody looks meanwhile: nothing is drawn
			d.send(tea.WindowSizeMsg{})
			d.wait(2*apart - 5*time.Second)
			d.send(tea.WindowSizeMsg{Width: 120, Height: 40})
			d.wait(5*time.Second - 600*time.Millisecond)
		} else {
			d.wait([]time.Duration{2*apart - 600*time.Millisecond, 600 * time.Millisecond}[step%2])
		}
		now := time.Now()
		s := uitest.DevKey(accounts, now)
		s.Beside(hosts...)
		u, most := &s.Update, 100
		u.Snapshot = step%30 == 0
		switch b, minute := &u.Limits.Buckets[1], (step+1)*60/steps; { // what comes and goes does so between two close frames
		case minute >= 10 && minute < 14:
			b.Cap, most = 50, max(50, b.Used)
		case minute >= 20 && minute < 24:
			b.Server, b.Foreign = min(b.Used+step%9, 100), step%9
		case minute >= 30 && minute < 32:
			b.Blocked, b.BlockedBy = now.Add(5*time.Second), "429 app"
		case minute >= 36 && minute < 40:
			s.PauseOne()
		case minute >= 40 && minute < 42:
			u.Queues[0].Paused, u.Engine.State = true, engine.EnginePaused
		case minute >= 16 && minute < 20:
			s.TryAgain(4)
		case minute >= 46 && minute < 50:
			s.TryAgain(4)
			s.Fail(now.Truncate(4*time.Minute), now.Truncate(20*time.Second).Add(20*time.Second))
		case minute >= 52 && minute < 56:
			s.Freeze(now.Truncate(4 * time.Minute).Add(4 * time.Minute))
		}
		uitest.Foresee(u)
		for i := range u.Jobs {
			again = slices.DeleteFunc(again, func(id engine.JobID) bool { return id == u.Jobs[i].ID })
		}
		u.Gone, again = again, nil
		for i := range u.Jobs {
			again = append(again, u.Jobs[i].ID)
		}
		screen := (first + step/2) % 4
		before := d.screen()
		d.fake.Scene = s
		look := func() {
			if d.screen() == before || t.Failed() {
				return
			}
			switch screen {
			case 0:
				checkOverview(t, d.screen(), most)
				checkSoFar(t, d.screen(), u)
			case 1:
				checkLimits(t, d.screen(), most)
			case 2:
				checkJobs(t, d.screen(), u.Engine.Retrying)
			default:
				checkAccounts(t, d.screen())
			}
			checkReasons(t, d.screen())
			checkCause(t, d.screen(), u)
			checkPause(t, d.screen(), u)
			if t.Failed() {
				t.Errorf("after %d s:\n%s", now.Sub(uitest.Noon)/time.Second, d.screen())
			}
		}
		if step%2 == 0 {
			d.send(*u)
			d.press([]string{"1", "5", "3", "2"}[screen])
		} else {
			d.each = look
			d.send(*u)
			d.each = nil
		}
		if look(); t.Failed() {
			return
		}
	}
}

// checkCause is of an engine that stands: each place tells the same cause, with the same number of jobs, and no call is
// planned for an instant before it goes on.
func checkCause(t *testing.T, screen string, u *engine.Update) {
	if !strings.Contains(screen, string(u.Engine.State)) {
		t.Errorf("the engine is %s", u.Engine.State)
	}
	for _, n := range regexp.MustCompile(`calls to \S+ fail: ([\d,]+) jobs? wait`).FindAllStringSubmatch(screen, -1) {
		if want := page.Count(u.Queues[0].Counts[engine.Available]); n[1] != want {
			t.Errorf("%s jobs wait by the cause, %s do", n[1], want)
		}
	}
	if u.Engine.State == engine.EngineAPIDown {
		if strings.Contains(screen, "on time") || strings.Contains(screen, "in the air") {
			t.Error("a call leaves in an outage")
		}
		if n, ok := number(`next try in (\d+) s`, screen); ok {
			if left := int(u.Limits.Breakers[0].Next.Sub(time.Now().Truncate(time.Second)) / time.Second); n != left {
				t.Errorf("the next try is in %d s, it is told in %d", left, n)
			}
		}
	}
}

// checkPause is of an engine with two queues, one of which is paused: the row of the state names it, and nowhere do its
// jobs go.
func checkPause(t *testing.T, screen string, u *engine.Update) {
	if len(u.Queues) < 2 {
		return
	}
	const old = 4 // a sentence and a plan stand for two seconds
	goes, stands := u.Queues[0].Counts[engine.Available], u.Queues[1].Counts[engine.Available]
	for pattern, want := range map[string]int{
		`ingest.summoner.latest is paused with ([\d,]+) jobs`: stands, `([\d,]+) calls wait for`: goes,
		`([\d,]+) calls planned`: goes, `NEXT ([\d,]+) CALLS`: goes,
	} {
		if n, ok := number(pattern, screen); ok && max(n-want, want-n) > old {
			t.Errorf("%d jobs by %s, want %d", n, pattern, want)
		}
	}
	if stands > 0 && !strings.Contains(screen, "ingest.summoner.latest is paused with ") {
		t.Error("the row of the state does not name the pause")
	}
	if odd := regexp.MustCompile(`Player \d*[02468] .*(on time|boarding|in the air)`).FindString(screen); odd != "" {
		t.Errorf("a call of a paused queue leaves: %q", odd)
	}
}

// checkOverview is of Overview: a window takes no more than its limit, the row of the state tells what stands below
// its tooth, and the board and its title count the same calls.
func checkOverview(t *testing.T, screen string, most int) {
	used, _ := number(` (\d+)/100 `, screen)
	made, more := 0, 0
	if sum := regexp.MustCompile(` (\d+)\+(\d+) `).FindStringSubmatch(screen); sum != nil {
		made, _ = strconv.Atoi(sum[1])
		more, _ = strconv.Atoi(sum[2])
		if made+more > most || made != used {
			t.Errorf("%d+%d of %d, with %d used", made, more, most, used)
		}
	}
	planned, ok := number(`([\d,]+) calls planned`, screen)
	if rest, below := number(`… ([\d,]+) more;`, screen); ok && below && (planned <= rest || planned-rest > 20) {
		t.Errorf("%d calls are planned, %d below the board", planned, rest)
	}
}

// checkLimits is of Limits: what is used and what is left are the limit, and a count of the last minute is not old.
func checkLimits(t *testing.T, screen string, most int) {
	used, _ := number(` (\d+)/100 `, screen)
	if row, ok := number(`app +(\d+)/100`, screen); ok && row != used {
		t.Errorf("%d are used by the row of the state, %d by its window", used, row)
	}
	if left, ok := number(`(\d+) left`, screen); ok && used+left > most {
		t.Errorf("%d used and %d left of %d", used, left, most)
	}
	if strings.Contains(screen, "min ago") {
		t.Error("Riot answered a second ago")
	}
	checkWindows(t, screen, most)
}

// checkWindows is of the plan in words: the calls of its windows are those that come next. It tells them until there is
// room, or says how many more there are. Of several hosts it is one.
func checkWindows(t *testing.T, screen string, most int) {
	next, ok := number(`NEXT ([\d,]+) CALLS`, screen)
	if !ok || strings.Contains(screen, "americas") || !regexp.MustCompile(`then .*(more|room)`).MatchString(screen) {
		return
	}
	sum := 0
	for pattern, each := range map[string]int{
		`(\d+) left, spread`: 1, `left, (\d+) planned`: 1, `then \d+ a window, (\d+) times`: most, `then ([\d,]+) in the next window`: 1, `then ([\d,]+) more`: 1, `then ([\d,]+), and`: 1,
	} {
		n, _ := number(pattern, screen)
		sum += n * each
	}
	if sum != next {
		t.Errorf("%d calls come next, %d by their windows", next, sum)
	}
}

// checkSoFar is of the figures below the board of Overview: what is stored is so many of what was found, and the stack
// holds as many as are retried, which are not in line besides.
func checkSoFar(t *testing.T, screen string, u *engine.Update) {
	stored, _ := number(`([\d,]+) stored `, screen)
	if found, ok := number(`of ([\d,]+) found`, screen); ok && found != len(u.Accounts)*120 || ok && stored > found {
		t.Errorf("%d are stored of %d found", stored, found)
	}
	if n, _ := number(`([\d,]+) retrying`, screen); n != u.Engine.Retrying {
		t.Errorf("%d are retrying, %d by the screen", u.Engine.Retrying, n)
	}
	inLine := 0
	for _, q := range u.Queues {
		inLine += q.Counts[engine.Available] - q.Again
	}
	if n, ok := number(`([\d,]+) in line`, screen); ok && n != inLine {
		t.Errorf("%d are in line, %d by the screen", inLine, n)
	}
	if n, ok := number(`HOLDING STACK (\d+)`, screen); ok && n != u.Engine.Retrying {
		t.Errorf("%d are retrying, %d by the stack", u.Engine.Retrying, n)
	}
}

// checkReasons is of what holds a job back: its reason counts what the row of the state does.
func checkReasons(t *testing.T, screen string) {
	used, _ := number(` (\d+)/100 `, screen)
	for _, found := range regexp.MustCompile(`app (\d+)/100 used( in any)?`).FindAllStringSubmatch(screen, -1) {
		if found[2] == "" && found[1] != strconv.Itoa(used) {
			t.Errorf("%d are used by the row of the state, %q", used, found[0])
		}
	}
}

// checkAccounts is of Accounts: its title counts the syncs by the words of their rows, and of the account below the list
// the row, the stages and the cells tell the same.
func checkAccounts(t *testing.T, screen string) {
	title := regexp.MustCompile(`ACCOUNTS .*`).FindString(screen)
	for _, row := range regexp.MustCompile(`(?m)^[ ▌]+Player \d+#DEV +\S+ ([A-Z]+) `).FindAllStringSubmatch(screen, -1) {
		if row[1] != "DONE" && !strings.Contains(title, " "+row[1]) {
			t.Errorf("a sync is %s, by the title %q", row[1], title)
		}
	}
	cells, ok := number(`(?m)■ +([\d,]+) stored`, screen)
	if !ok {
		return
	}
	// Where the account under a cursor at rest has just ended, the list is a frame ahead of what stands below it.
	below := regexp.MustCompile(`(Player \d+#DEV) +\w+ ·`).FindStringSubmatch(screen)
	if below == nil {
		t.Errorf("whose the %d cells are is not told", cells)
		return
	}
	for pattern, want := range map[string]int{below[1] + ` +\S+ [A-Z]+ .* (\d+)/120 `: cells, `matches (\d+)/120 `: cells, `(\d+) left of 120`: 120 - cells, `· +(\d+) to come`: 120 - cells} {
		if n, ok := number(pattern, screen); ok && n != want {
			t.Errorf("%d stored by the cells, %d by %s", cells, n, pattern)
		}
	}
}

// checkJobs is of Jobs: the bar, the group and the row of the state count the same, and what is retried is as many as on
// other screens, in line or not.
func checkJobs(t *testing.T, screen string, retrying int) {
	group, grouped := number(`([\d,]+) AVAILABLE`, screen)
	paused, stands := number(`([\d,]+) AVAILABLE +queue paused`, screen)
	if stands {
		group += paused
	}
	if bar, ok := number(`([\d,]+) available`, screen); ok && grouped && group != bar { // a bar of many tells thousands
		t.Errorf("%d available in the bar, %d in the group", bar, group)
	}
	for _, pattern := range []string{`■ +([\d,]+) retry`, `([\d,]+) RETRYABLE`} {
		if n, ok := number(pattern, screen); ok && n != retrying {
			t.Errorf("%d by %s, %d are retrying", n, pattern, retrying)
		}
	}
	if title, ok := number(`JOBS ([\d,]+) of all`, screen); ok && grouped && group+retrying != title {
		t.Errorf("%d in the title, %d in the group", title, group)
	}
	if calls, ok := number(`([\d,]+) calls wait for`, screen); ok && grouped && !stands && calls != group+retrying { // all are in line
		t.Errorf("%d calls wait by the row of the state, %d in the group", calls, group)
	}
	used, _ := number(` (\d+)/100 `, screen)
	if row, ok := number(`(\d+) of 100 calls of the`, screen); ok && row != used {
		t.Errorf("%d used by the row of the state, %d by the group", used, row)
	}
}
