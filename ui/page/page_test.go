package page

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/uitest"
)

func view(d *Data) *View {
	return &View{Data: d, Live: d, Theme: themes.NewMono(themes.Unicode), Now: uitest.Noon, W: 120, H: 36, Size: M, Tall: Normal}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{human.Window(time.Second), "1 s"}, {human.Window(2 * time.Minute), "2 min"}, {human.Window(time.Hour), "1 h"}, {human.Window(90 * time.Second), "90 s"}, {human.Window(0), "—"},
		{human.Tight(2 * time.Minute), "2m"}, {human.Tight(10 * time.Second), "10s"}, {human.Tight(time.Hour), "1h"},
		{ShortID("8QfA1b2c3d4e5f6g7h8i9jx2c"), "8Qf…x2c"}, {ShortID("j881"), "j881"},
		{human.Counted(1, "match", "matches"), "1 match"}, {human.Counted(1204, "match", "matches"), "1,204 matches"},
		{columns.StateWord(&engine.Job{State: engine.Scheduled, Hold: engine.HoldThrottled}), "HELD"}, {columns.StateWord(&engine.Job{State: engine.Scheduled}), "SCHEDULED"},
		{columns.StateWord(&engine.Job{State: engine.Discarded}), "DISCARDED"},
		{new(Data).SyncWord(engine.AccountRow{Status: engine.SyncCompleted, Result: "incomplete"}), "INCOMPLETE"}, {new(Data).SyncWord(engine.AccountRow{Status: engine.SyncPending}), "QUEUED"},
		{new(Data).SyncWord(engine.AccountRow{Stand: engine.StandDown, Status: engine.Syncing}), "DOWN"}, {new(Data).SyncWord(engine.AccountRow{Stand: engine.StandDown, Status: engine.SyncCompleted}), "DONE"},
		{new(Data).SyncWord(engine.AccountRow{Stand: engine.StandPaused, Status: engine.SyncPending}), "PAUSED"}, {new(Data).SyncWord(engine.AccountRow{Status: engine.Syncing}), "SYNCING"},
		{columns.MatchWord("outside_retention_window"), "TOO OLD"}, {columns.MatchWord("temporary_failure"), "RETRYABLE"},
		{ETA(engine.ETA{}), ""}, {ETA(engine.ETA{Known: true}), "finishing"},
		{ETA(engine.ETA{Known: true, Calls: 9, Low: 16 * time.Minute, High: 19 * time.Minute}), "~16–19 min"},
		{columns.GameLength(31*time.Minute + 7*time.Second), "31:07"}, {columns.ModeName(420), "Ranked Solo"}, {columns.ModeName(1830), "Swarm"}, {columns.ModeName(9999), "queue 9999"},
		{Sentence(engine.Problemf(engine.ErrConflict, "wait", "it runs")), "it runs: wait"}, {Sentence(errors.New("x")), "x"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestTheWordsOfAScreenAreExplained: those that stand on it and that nobody brings along.
func TestTheWordsOfAScreenAreExplained(t *testing.T) {
	for word, s := range map[string]Screen{"paced": ScreenLimits, "puuid": ScreenAccounts, "shape": ScreenClasses} {
		if names, means := Words(s, true); !strings.Contains(strings.Join(append(names, means...), " "), word) {
			t.Errorf("%q is not told on %v", word, s)
		}
	}
}

// TestAnswerIsAskedForOnce: at once, then only when the version moved, and never
// more often than ReloadEvery or while an answer is on its way.
func TestAnswerIsAskedForOnce(t *testing.T) {
	v := view(&Data{Ready: true})
	var a Answer
	ask := func(after time.Duration, version uint64) bool {
		v.Now = uitest.Noon.Add(after)
		return a.Due(v, version)
	}
	if !ask(0, 1) || ask(0, 1) {
		t.Error("is not asked for exactly once")
	}
	a.Take(v, nil)
	for _, c := range []struct {
		after   time.Duration
		version uint64
		want    bool
	}{{time.Second, 1, false}, {time.Second, 2, false}, {3 * time.Second, 1, false}, {3 * time.Second, 2, true}} {
		if got := ask(c.after, c.version); got != c.want {
			t.Errorf("after %v at version %d: asked %v", c.after, c.version, got)
		}
	}
	a.Take(v, nil)
	if v.Acts = 1; !ask(3*time.Second, 2) {
		t.Error("is not asked for at once when a command was answered")
	}
	if a.Take(v, nil); ask(3*time.Second, 2) {
		t.Error("is asked for twice after a command")
	}
	a.Take(v, errors.New("no"))
	if !a.Have || a.Told(v) == "" {
		t.Error("an error hides the old answer, or itself")
	}
	if !ask(6*time.Second, 2) {
		t.Error("is not asked for again after an error")
	}
	a.Take(v, nil)
	v.Frozen = true
	if ask(time.Hour, 9) {
		t.Error("a frozen view asks")
	}
}

func TestNeedsAreThingsAPersonCanDo(t *testing.T) {
	s := uitest.Broken()
	d := &Data{Ready: true, Engine: *s.Update.Engine, Queues: s.Update.Queues, Accounts: s.Update.Accounts, Limits: *s.Update.Limits}
	needs := d.Needs()
	if len(needs) == 0 || needs[0].ID != "key" || needs[0].Word != "ERROR" {
		t.Fatalf("the first need is %+v, want the key", needs)
	}
	if e := needs[0].Open(view(d)); e.Ask != AskKey {
		t.Error("enter on it does not ask for a key")
	}
	d.Engine = engine.EngineRow{State: engine.EngineLive, Key: "…7f3a", KeySince: uitest.Noon.Add(-22 * time.Hour)}
	d.Queues, d.Accounts = nil, nil
	if needs := d.Needs(); len(needs) != 0 { // whatever its limits are: nobody knows that it expires
		t.Errorf("needs %+v", needs)
	}
	expiry := engine.AlertRow{ID: "key-expires", Rule: "key-expires", About: "key expires soon", State: engine.AlertFiring, Unit: engine.AlertDuration, Value: 5400, Known: true, Limit: 7200, Below: true}
	d.Alerts = []engine.AlertRow{expiry}
	if needs := d.Needs(); len(needs) != 1 || needs[0].Text != "key expires soon: 1 h 30 min" || needs[0].Open(view(d)).Ask != AskKey {
		t.Errorf("needs %+v, want the key's end", needs)
	}
	if left, ok := d.KeyLeft(); !ok || left != 90*time.Minute {
		t.Errorf("the key has %s left, %v", left, ok)
	}
}

// TestP36_ShownTimesAreNeverNegative: whatever the clock did, what a job's row
// shows of its time is not below nothing.
func TestP36_ShownTimesAreNeverNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) time.Time {
			return uitest.Noon.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, name)))
		}
		j := engine.JobRow{Job: engine.Job{
			State: engine.State(rapid.IntRange(0, 7).Draw(t, "state")), Created: at("created"), Started: at("started"), Finished: at("finished"), Due: at("due"),
		}}
		v := view(&Data{Ready: true})
		for _, text := range []string{v.In(j.Due), v.Ago(j.Created)} {
			if text == "" || text[0] == '-' {
				t.Fatalf("shows %q", text)
			}
		}
		for _, c := range columns.Jobs.Pick("age due created") {
			if text := c.Cell(Pen{v}, &j).Text; text == "" || text[0] == '-' {
				t.Fatalf("shows %q", text)
			}
		}
	})
}

// TestSortIsStable: the order depends on the rows alone, and running syncs keep
// the order they started in.
func TestSortIsStable(t *testing.T) {
	rows := uitest.Busy().Update.Accounts
	want := []string{"a-heron", "a-kain", "a-night", "a-wren", "a-oslo", "a-quiet"}
	SortAccounts(rows)
	for i, a := range rows {
		if a.ID != want[i] {
			t.Errorf("row %d is %s, want %s", i, a.ID, want[i])
		}
	}
	jobs := uitest.Busy().Jobs
	SortJobs(jobs)
	for i := 1; i < len(jobs); i++ {
		if compareJobs(&jobs[i-1], &jobs[i]) > 0 {
			t.Errorf("%s stands before %s", jobs[i-1].ID, jobs[i].ID)
		}
	}
}

func TestReasonsAndErrorsInShort(t *testing.T) {
	for long, want := range map[string]string{
		"riot: match-v5.match on europe: status 503: service unavailable": "503: service unavailable",
		"riot: match-v5.match on europe: the body ended early":            "the body ended early",
		"503 service unavailable":                                         "503 service unavailable",
		"riot: something else":                                            "riot: something else",
	} {
		if got := columns.InShort(long); got != want {
			t.Errorf("%q in short is %q, want %q", long, got, want)
		}
	}
}

func TestV11b_WhoseAJobIs(t *testing.T) {
	d := Data{Accounts: []engine.AccountRow{{ID: "01A", RiotID: "Ana#EUW"}}}
	for want, j := range map[string]engine.JobRow{
		"Ana#EUW":         {Job: engine.Job{Owner: "01A", Queue: "ingest.summoner.full"}},
		"Ben#KR1":         {Job: engine.Job{Owner: "01B", Queue: "ingest.summoner.full"}, Player: "Ben#KR1"},
		"kr-solo-master+": {Job: engine.Job{Owner: "01C", Queue: engine.CollectionQueue("kr-solo-master+")}},
		"rank.daily":      {Job: engine.Job{Queue: "ingest.rank.daily"}},
	} {
		if got := d.Whose(&j); got != want {
			t.Errorf("%+v: %q, want %q", j, got, want)
		}
	}
}

// TestV7j_WithoutAnInstantPlacesCount: of a line that stands, what gives way to others is behind them, then what is too
// far back to have a place, then what waits for others; on the board as in a list.
func TestV7j_WithoutAnInstantPlacesCount(t *testing.T) {
	row := func(id string, s engine.State, place int, p engine.Priority) engine.JobRow {
		return engine.JobRow{Job: engine.Job{ID: engine.JobID(id), State: s, Priority: p}, Place: place, Line: id[:1]}
	}
	rows := []engine.JobRow{
		row("z waits", engine.Pending, 0, 0), row("m far", engine.Available, 0, 0), row("t 1", engine.Available, 1, engine.PriorityLow),
		row("m 2", engine.Available, 2, 0), row("r", engine.Retryable, 0, 0), row("m 1", engine.Available, 1, 0),
	}
	v := View{Data: &Data{}}
	v.Leaving(rows)
	for i, want := range []engine.JobID{"r", "m 1", "m 2", "t 1", "m far", "z waits"} {
		if rows[i].ID != want {
			t.Errorf("%d is %s, want %s", i, rows[i].ID, want)
		}
	}
}

// TestV7j_LinesThatWaitForOneWindowTakeTurns: they go by their places, whatever line was read first.
func TestV7j_LinesThatWaitForOneWindowTakeTurns(t *testing.T) {
	opens := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var rows []engine.JobRow
	for _, line := range []string{"full europe/account-v1.by-riot-id", "full europe/match-v5.ids"} {
		for place := range 3 {
			var j engine.JobRow
			j.State, j.Line, j.Place, j.Until = engine.Available, line, place+1, opens
			rows = append(rows, j)
		}
	}
	v := view(new(Data))
	v.Now = opens.Add(-time.Minute)
	for range 2 {
		slices.Reverse(rows)
		v.Leaving(rows)
		var places []int
		for _, j := range rows {
			places = append(places, j.Place)
		}
		if !slices.Equal(places, []int{1, 1, 2, 2, 3, 3}) {
			t.Errorf("they go as %v", places)
		}
	}
}

// TestInstantsReadAsTheClockShowsThem: of another day with that day.
func TestInstantsReadAsTheClockShowsThem(t *testing.T) {
	at := time.Date(2026, 11, 29, 20, 50, 0, 0, time.FixedZone("KST", 9*3600))
	for text, want := range map[string]string{
		"until=2026-11-29T11:50:16Z type=app": "until=20:50:16 type=app", "due 2026-11-29T16:00:00.123+00:00": "due Mon 30 Nov 01:00", "no instant": "no instant",
	} {
		if got := Clocked(text, at); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestV7t_LinesTakeTurnsWithinASecond: of those that leave within the second of a frame the same line is always first, and
// each keeps its order; what leaves later stands as it did.
func TestV7t_LinesTakeTurnsWithinASecond(t *testing.T) {
	v := view(new(Data))
	v.Now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	row := func(line string, place, ms int) *engine.JobRow {
		var j engine.JobRow
		j.State, j.Line, j.Place, j.Until = engine.Available, line, place, v.Now.Add(time.Duration(ms)*time.Millisecond)
		return &j
	}
	for _, rows := range [][]*engine.JobRow{
		{row("asia", 7, -100), row("europe", 3, 100), row("asia", 8, 300), row("europe", 4, 500), row("europe", 5, 700), row("europe", 6, 1200), row("asia", 9, 1300)},
		{row("europe", 3, 100), row("europe", 4, 200), row("asia", 7, 300), row("europe", 5, 500), row("asia", 8, 700), row("europe", 6, 1200), row("asia", 9, 1300)},
	} {
		v.TakeTurns(rows)
		var places []int
		for _, j := range rows {
			places = append(places, j.Place)
		}
		if !slices.Equal(places, []int{7, 3, 8, 4, 5, 6, 9}) {
			t.Errorf("they stand as %v", places)
		}
	}
}
