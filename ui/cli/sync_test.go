package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
)

// fake is a console with one account, whose updates a test scripts.
type fake struct {
	row     engine.AccountRow
	eta     engine.ETA
	receipt engine.Receipt
	err     error
	updates []engine.Update
	every   time.Duration
	asked   engine.Command
	job     engine.JobRow
	later   engine.ETA // once an engine is LIVE that was not
	ends    bool       // Watch does, after the updates
	gone    bool       // the engine does then, too
	last    engine.AccountRow
	over    time.Time // from then on the row is last; zero never
}

func (f *fake) account() engine.AccountRow {
	if f.over.IsZero() || time.Now().Before(f.over) {
		return f.row
	}
	return f.last
}

func (f *fake) Do(_ context.Context, c engine.Command) (engine.Receipt, error) {
	f.asked = c
	return f.receipt, f.err
}

func (f *fake) Find(_ context.Context, q engine.Query) (engine.Answer, error) {
	switch q.(type) {
	case engine.AccountQuery:
		if f.gone && f.ends && f.updates == nil {
			return nil, engine.Problemf(engine.ErrGone, "", "not connected")
		}
		return engine.AccountDetail{Row: f.account(), ETA: f.eta}, nil
	case engine.JobQuery:
		return engine.JobDetail{Job: f.job}, nil
	}
	return nil, engine.ErrNotFound
}

func (f *fake) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		for _, u := range f.updates {
			time.Sleep(f.every)
			if u.Engine != nil && u.Engine.State == engine.EngineLive && f.later != (engine.ETA{}) {
				f.eta = f.later
			}
			if ctx.Err() != nil || !yield(u) {
				return
			}
		}
		if f.ends {
			f.updates = nil
			return
		}
		<-ctx.Done()
	}
}

// at is the account's row at a point of its sync.
func at(phase engine.Phase, done, total int) engine.AccountRow {
	row := engine.AccountRow{ID: "a", RiotID: "Blue Heron#EUW", Status: engine.Syncing, Phase: phase, Listed: 40}
	row.Matches = engine.Progress{Total: 40, Stored: 40}
	switch phase {
	case engine.PhaseList:
		row.Matches, row.Listed = engine.Progress{Total: -1}, done
	case engine.PhaseMatches:
		row.Matches = engine.Progress{Total: total, Stored: done, Open: total - done, Retrying: 1, Failed: 0}
	case engine.PhaseTimelines:
		row.Timelines = engine.Progress{Total: total, Stored: done, Open: total - done}
	}
	return row
}

func ended(result string) engine.AccountRow {
	row := at(engine.PhaseTimelines, 38, 38)
	row.Status, row.Phase, row.Result = engine.SyncCompleted, engine.PhaseDone, result
	row.Matches = engine.Progress{Total: 40, Stored: 30, Had: 5, Failed: 2, TooOld: 3}
	row.Calls, row.Throttled = 77, 4
	return row
}

func updates(rows ...engine.AccountRow) (out []engine.Update) {
	for _, r := range rows {
		out = append(out, engine.Update{Accounts: []engine.AccountRow{r, {ID: "other", RiotID: "Nobody#X"}}})
	}
	return out
}

// follow runs Sync in a bubble and gives what was printed.
func followed(t *testing.T, f *fake, o Out, opt SyncOptions) (text string, sum Summary) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var b bytes.Buffer
		o.W = &b
		var err error
		if sum, err = Sync(ctx, f, opt, o); err != nil {
			t.Fatal(err)
		}
		text = b.String()
	})
	return text, sum
}

// What was cancelled is not done: no bar is full, and the summary says how many.
func TestSync_CancelledIsNotDone(t *testing.T) {
	cancelled := ended("cancelled")
	cancelled.Status = engine.SyncCancelled
	cancelled.Matches = engine.Progress{Total: 879, Stored: 300, Failed: 1, Cancelled: 578}
	last := at(engine.PhaseMatches, 300, 879)
	last.Matches = cancelled.Matches
	last.Status = engine.SyncCancelled
	f := &fake{row: at(engine.PhaseMatches, 10, 879), every: time.Second, updates: updates(last, cancelled)}
	text, sum := followed(t, f, Out{Width: 120, ASCII: true}, SyncOptions{Account: "Blue Heron#EUW"})
	for _, says := range []string{"301/879", "cancelled 578", "cancelled: 300 matches stored (1 could not be had, 578 cancelled)"} {
		if !strings.Contains(text, says) {
			t.Errorf("%q is not in\n%s", says, text)
		}
	}
	if full := strings.Repeat("#", barCells); strings.Contains(text, full) || strings.Contains(text, "879/879") {
		t.Errorf("a full bar:\n%s", text)
	}
	if c := sum.Matches; c.Cancelled != 578 || c.Success+c.Temporary+c.Permanent+c.TooOld+c.Cancelled != c.Total {
		t.Errorf("the summary counts %+v", c)
	}
}

// The lines of `sync --json` field by field: scripts depend on them.
func TestSync_NDJSON(t *testing.T) {
	f := &fake{
		row: at(engine.PhaseList, 0, 0), every: time.Second, eta: engine.ETA{Known: true, High: 912 * time.Second},
		updates: updates(at(engine.PhaseList, 40, 0), at(engine.PhaseMatches, 10, 40), at(engine.PhaseMatches, 10, 40), at(engine.PhaseMatches, 30, 40), at(engine.PhaseTimelines, 5, 38), ended("incomplete")),
	}
	text, sum := followed(t, f, Out{JSON: true}, SyncOptions{Account: "Blue Heron#EUW"})
	want := `
{"event":"progress","account":"Blue Heron#EUW","phase":"list","done":40,"total":-1,"retrying":0,"failed":0,"cancelled":0,"eta_s":912}
{"event":"progress","account":"Blue Heron#EUW","phase":"matches","done":10,"total":40,"retrying":1,"failed":0,"cancelled":0,"eta_s":912}
{"event":"progress","account":"Blue Heron#EUW","phase":"matches","done":30,"total":40,"retrying":1,"failed":0,"cancelled":0,"eta_s":912}
{"event":"progress","account":"Blue Heron#EUW","phase":"matches","done":40,"total":40,"retrying":0,"failed":0,"cancelled":0,"eta_s":null}
{"event":"progress","account":"Blue Heron#EUW","phase":"timelines","done":5,"total":38,"retrying":0,"failed":0,"cancelled":0,"eta_s":912}
{"event":"progress","account":"Blue Heron#EUW","phase":"timelines","done":38,"total":38,"retrying":0,"failed":0,"cancelled":0,"eta_s":912}
{"event":"summary","account":"Blue Heron#EUW","result":"incomplete","matches":{"total":40,"success":35,"temporary_failure":0,"permanently_unfetchable":2,"outside_retention_window":3,"unaskable":0,"cancelled":0},"timelines":{"total":38,"success":38,"temporary_failure":0,"permanently_unfetchable":0,"outside_retention_window":0,"unaskable":0,"cancelled":0},"calls":77,"rate_limited":4,"elapsed_s":6}
`
	if text != strings.TrimPrefix(want, "\n") {
		t.Errorf("printed\n%s\nwant%s", text, want)
	}
	if sum.Result != ResultIncomplete {
		t.Errorf("result %q", sum.Result)
	}
}

// The summary has every field even where all is zero.
func TestSummary_FieldsAreStable(t *testing.T) {
	raw, err := json.Marshal(summarize(engine.AccountRow{Result: "completed"}, time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"event", "result", "matches", "timelines", "calls", "rate_limited", "elapsed_s"} {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing in %s", name, raw)
		}
	}
	for _, part := range []string{"matches", "timelines"} {
		counts, _ := got[part].(map[string]any)
		for _, name := range []string{"total", "success", "temporary_failure", "permanently_unfetchable", "outside_retention_window"} {
			if _, ok := counts[name]; !ok {
				t.Errorf("%s.%s is missing in %s", part, name, raw)
			}
		}
	}
}

// Lines come no more often than each form allows, and none says what the one
// before said.
func TestSync_LinesAreNotTooMany(t *testing.T) {
	for name, c := range map[string]struct {
		out        Out
		separator  string
		least, top int
	}{
		"json":  {Out{JSON: true}, "\n", 40, 55},
		"bar":   {Out{Width: 80}, "\r", 30, 45},
		"plain": {Out{}, "\n", 2, 6},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{row: at(engine.PhaseMatches, 0, 1000), every: 10 * time.Millisecond}
			for n := range 1000 { // ten seconds
				f.updates = append(f.updates, updates(at(engine.PhaseMatches, n, 1000))...)
			}
			f.updates = append(f.updates, updates(ended("completed"))...)
			text, _ := followed(t, f, c.out, SyncOptions{})
			if n := strings.Count(text, c.separator); n < c.least || n > c.top {
				t.Errorf("%d lines in ten seconds:\n%s", n, text)
			}
			last := ""
			for line := range strings.SplitSeq(text, c.separator) {
				if line == last && line != "" {
					t.Errorf("twice: %q", line)
				}
				last = line
			}
		})
	}
}

// On a terminal: one line that is painted over, with a bar, the ETA and the
// bucket that sets the pace, never wider than the terminal.
func TestSync_Bar(t *testing.T) {
	eta := engine.ETA{Known: true, High: 61 * time.Second, Bucket: "app:europe 100/120s"}
	for _, width := range []int{200, 80, 40, 10, 1} {
		f := &fake{row: at(engine.PhaseMatches, 0, 40), eta: eta, every: time.Second, updates: updates(at(engine.PhaseMatches, 20, 40), ended("completed"))}
		text, _ := followed(t, f, Out{Width: width}, SyncOptions{Account: "Blue Heron#EUW"})
		painted, rest, _ := strings.Cut(text, "\n")
		for line := range strings.SplitSeq(strings.TrimPrefix(painted, "\r\x1b[K"), "\r\x1b[K") {
			if safe.Width(line) > max(width-1, 0) {
				t.Errorf("width %d: %q", width, line)
			}
			harmless(t, line)
		}
		if width == 200 && !strings.Contains(painted, "■■■■■■■■■■■■············ Blue Heron#EUW  matches 20/40  retrying 1  ~1 min 01 s, paced by the europe 2 min window") {
			t.Errorf("painted %q", painted)
		}
		if !strings.HasPrefix(rest, "Blue Heron#EUW completed: 35 matches stored (2 could not be had), 3 too old; 38 timelines; 77 calls, 4 rate limited, in 2 s") {
			t.Errorf("it ended with %q", rest)
		}
	}
	f := &fake{row: at(engine.PhaseMatches, 0, 40), every: time.Second, updates: updates(at(engine.PhaseMatches, 20, 40), ended("completed"))}
	if text, _ := followed(t, f, Out{Width: 80, ASCII: true}, SyncOptions{}); !strings.Contains(text, "[############------------]") {
		t.Errorf("in ASCII: %q", text)
	}
}

// A run that is held says why at once, and again when the reason changes.
func TestSync_SaysWhyNothingMoves(t *testing.T) {
	row := at(engine.PhaseMatches, 3, 40)
	down := engine.Update{Engine: &engine.EngineRow{State: engine.EngineDegraded, Why: "this machine cannot reach Riot"}}
	up := engine.Update{Engine: &engine.EngineRow{State: engine.EngineLive}}
	for name, o := range map[string]Out{"json": {JSON: true}, "plain": {}, "bar": {Width: 200}} {
		f := &fake{row: row, every: time.Second, updates: []engine.Update{updates(row)[0], down, down, up, updates(ended("completed"))[0]}}
		text, _ := followed(t, f, o, SyncOptions{})
		if n := strings.Count(text, "DEGRADED: this machine cannot reach Riot"); n != 1 {
			t.Errorf("%s: told %d times:\n%s", name, n, text)
		}
	}
}

// A key that is refused before it ever worked ends the sync; later it is waited
// for.
// TestW5d_ASyncOutlivesTheReading: what held it ends with the engine's state, not when the ETA is asked for next.
func TestW5d_ASyncOutlivesTheReading(t *testing.T) {
	all := updates(at(engine.PhaseList, 40, 0), at(engine.PhaseList, 40, 0), at(engine.PhaseMatches, 0, 40), at(engine.PhaseMatches, 40, 40), ended("completed"))
	all[0].Engine, all[1].Engine = &engine.EngineRow{State: engine.EngineOpening, Why: "being read"}, &engine.EngineRow{State: engine.EngineLive}
	f := &fake{row: at(engine.PhaseList, 0, 0), eta: engine.ETA{Why: "being read"}, later: engine.ETA{Known: true, High: time.Minute}, updates: all, every: 100 * time.Millisecond}
	text, _ := followed(t, f, Out{}, SyncOptions{})
	if _, then, ok := strings.Cut(text, "OPENING: being read\n"); !ok || strings.Contains(then, "being read") || !strings.Contains(then, "matches 0/40") {
		t.Errorf("printed %q", text)
	}
}

func TestSync_RefusedKey(t *testing.T) {
	for _, c := range []struct {
		engine engine.EngineRow
		error  string
		want   string
	}{
		{engine.EngineRow{Key: "…7f3a"}, keyRefused, ResultFailed},
		{engine.EngineRow{Why: "there is no API key yet"}, "there is no API key yet", ResultFailed},
		{engine.EngineRow{Key: "…7f3a", KeyWorked: true}, "", ResultCompleted},
	} {
		c.engine.State = engine.EngineNoKey
		f := &fake{row: at(engine.PhaseMatches, 3, 40), every: time.Second, updates: []engine.Update{{Engine: &c.engine}, updates(ended("completed"))[0]}}
		if _, sum := followed(t, f, Out{JSON: true}, SyncOptions{}); sum.Result != c.want || sum.Error != c.error {
			t.Errorf("got %+v, want %s", sum, c.want)
		}
	}
}

// What a trigger answers decides how the run is followed; B-5: inside the cooldown the result is that of the account.
func TestB5_SyncTrigger(t *testing.T) {
	conflict := engine.Problemf(engine.ErrConflict, "", "it runs already")
	f := &fake{row: at(engine.PhaseMatches, 3, 40), err: conflict, every: time.Second, updates: updates(ended("completed"))}
	if _, sum := followed(t, f, Out{}, SyncOptions{Account: "Blue Heron#EUW"}); sum.Result != ResultCompleted {
		t.Errorf("an open run was not joined: %+v", sum)
	}
	f = &fake{row: ended("completed"), receipt: engine.Receipt{Nothing: true, Text: "nothing to do for another 4 min"}}
	text, sum := followed(t, f, Out{}, SyncOptions{Account: "Blue Heron#EUW", Ask: engine.SyncAsk{Count: 5}, By: engine.Actor{User: "ana"}})
	if sum.Result != ResultCompleted || text != "nothing to do for another 4 min\n" {
		t.Errorf("%+v, %q", sum, text)
	}
	short := ended("incomplete")
	short.LastError, short.Matches.Unaskable = "its list is not proven", 2
	f2 := &fake{row: short, receipt: engine.Receipt{Nothing: true, Text: "nothing to do for another 4 min"}}
	text, sum = followed(t, f2, Out{}, SyncOptions{Account: "Blue Heron#EUW"})
	if sum.Result != ResultIncomplete || sum.Matches.Unaskable != 2 || !strings.HasPrefix(text, "nothing to do for another 4 min\n") ||
		!strings.Contains(text, "2 cannot be asked for") || !strings.Contains(text, ": its list is not proven\n") {
		t.Errorf("B-5: %+v, %q", sum, text)
	}
	if f.asked.Op != engine.OpTrigger || f.asked.Sync.Count != 5 || f.asked.By.User != "ana" {
		t.Errorf("asked %+v", f.asked)
	}
	f = &fake{err: engine.Problemf(engine.ErrRefused, "set SYNC_ENABLE=true", "syncs are switched off")}
	if _, err := Sync(t.Context(), f, SyncOptions{}, Out{W: &bytes.Buffer{}}); err == nil {
		t.Error("a refusal was lost")
	}
}

// Cancelled from outside, the run is open still and the summary says so.
func TestSync_Interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		f := &fake{row: at(engine.PhaseMatches, 3, 40), every: time.Second, updates: updates(at(engine.PhaseMatches, 8, 40))}
		var b bytes.Buffer
		sum, err := Sync(ctx, f, SyncOptions{}, Out{W: &b, JSON: true})
		if err != nil || sum.Result != ResultInterrupted || sum.Matches.Success != 8 || sum.Matches.Temporary != 32 {
			t.Errorf("%+v, %v", sum, err)
		}
		if !strings.HasSuffix(b.String(), "}\n") || !strings.Contains(b.String(), `"result":"interrupted"`) {
			t.Errorf("printed %q", b.String())
		}
	})
}

// A sync that does not move says why without being asked, on a paused queue as with a
// job that tries again.
func TestSync_SaysWhyItWaits(t *testing.T) {
	due := time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local)
	for name, f := range map[string]*fake{
		"  queue paused by ana\n": {eta: engine.ETA{Why: "queue paused by ana"}},
		"  next try after 1 failed at 15:04:05: timeout after 10s\n": {job: engine.JobRow{
			Job: engine.Job{State: engine.Retryable, LastError: "timeout after 10s"}, Why: "next try after 1 failed", Until: due,
		}},
	} {
		f.row, f.every, f.updates = at(engine.PhaseList, 0, 0), 3*time.Second, updates(at(engine.PhaseList, 0, 0), ended("completed"))
		f.row.Job = "7"
		text, _ := followed(t, f, Out{}, SyncOptions{Account: "Blue Heron#EUW"})
		if !strings.HasPrefix(text, "Blue Heron#EUW  list 0/?"+name) {
			t.Errorf("want %q first, got\n%s", name, text)
		}
	}
}

// When the engine goes, the run is followed on the next one: not begun again, and told
// from there even if it has ended meanwhile.
func TestSync_GoesOnWithTheNextEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := at(engine.PhaseMatches, 20, 40)
		half.Run = "run1"
		only := engine.Update{Engine: &engine.EngineRow{State: engine.EngineLive, OnlyServed: true}, Accounts: []engine.AccountRow{half}}
		first := &fake{row: half, every: time.Second, updates: []engine.Update{only}, ends: true, gone: true}
		var b bytes.Buffer
		f := Follow(SyncOptions{Account: "Blue Heron#EUW"}, Out{W: &b})
		if _, err := f.On(t.Context(), first); !errors.Is(err, engine.ErrGone) || strings.Contains(b.String(), "incomplete") {
			t.Fatalf("%v, printed %q", err, b.String())
		}
		if !f.OnlyServed() {
			t.Error("nobody knows that it was another sync's engine")
		}
		last := ended("incomplete")
		last.Run = "run1"
		next := &fake{row: last}
		sum, err := f.On(t.Context(), next)
		if err != nil || sum.Result != ResultIncomplete || next.asked.Op != "" || !strings.Contains(b.String(), "Blue Heron#EUW incomplete: 35 matches stored") {
			t.Errorf("%+v, %v, asked %+v, printed %q", sum, err, next.asked, b.String())
		}
	})
}

// A stream that breaks is no end: the engine answers, and is watched again.
func TestSync_WatchesAgain(t *testing.T) {
	f := &fake{row: at(engine.PhaseMatches, 3, 40), every: time.Second, updates: updates(at(engine.PhaseMatches, 8, 40)), ends: true}
	synctest.Test(t, func(t *testing.T) {
		f.last, f.over = ended("completed"), time.Now().Add(30*time.Second)
		sum, err := Sync(t.Context(), f, SyncOptions{}, Out{W: &bytes.Buffer{}})
		if err != nil || sum.Result != ResultCompleted {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// Interrupted before the engine has answered, a sync says so, and nothing of a damage.
func TestSync_InterruptedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fake{err: engine.Problemf(engine.ErrBroken, "run `farsight check`", "what is stored could not be read")}
	var b bytes.Buffer
	sum, err := Sync(ctx, f, SyncOptions{Account: "Blue Heron#EUW"}, Out{W: &b, JSON: true})
	if err != nil || sum.Result != ResultInterrupted || !strings.Contains(b.String(), `"result":"interrupted"`) {
		t.Errorf("%+v, %v, printed %q", sum, err, b.String())
	}
}
