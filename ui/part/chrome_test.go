package part

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Each slot stands where it stands whatever it holds; what has no room goes from the left.
func TestStatusHasFixedSlots(t *testing.T) {
	state := []Cell{StateCell(mono, "LIVE"), As(themes.Accent, "  DEMO")}
	slots := Slots{Window: "12 s", Used: 80, Limit: 100, Alerts: As(themes.Warn, "▲ 2 alerts"), Clock: "15:35"}
	why := "96 % of what the key allows; the 12 s window brakes"
	row := plain(Status(mono, 1, 120, nil, state, slots, why))
	if got := squeeze(row); got != "● LIVE DEMO "+why+" 12 s ▄▄▄▄▄▄▄▄ 80/100 ▲ 2 alerts 15:35" {
		t.Errorf("%q", got)
	}
	slots.Used, slots.Alerts, slots.Clock = 7, As(themes.Warn, "▲ 19 alerts"), "15:36"
	other := plain(Status(mono, 1, 120, nil, state, slots, "nothing to do"))
	for _, piece := range []string{" 12 s ", "/100", "▲", "15:3"} {
		a, b := strings.LastIndex(row, piece), strings.LastIndex(other, piece)
		if a < 0 || b < 0 || safe.Width(row[:a]) != safe.Width(other[:b]) {
			t.Errorf("%s moved:\n%s\n%s", piece, row, other)
		}
	}
	if got := squeeze(plain(Status(mono, 1, 60, nil, state, slots, why))); got != "● LIVE DEMO 12 s ▖ 7/100 ▲ … 15:36" {
		t.Errorf("%q", got)
	}
}

func TestShortHoldsTabsAndState(t *testing.T) {
	state := []Cell{StateCell(mono, "LIVE"), As(themes.Accent, " DEMO")}
	slots := Slots{Window: "12 s", Used: 80, Limit: 100, Alerts: As(themes.Warn, "▲2"), Clock: "15:35"}
	tabs := []Tab{{Key: "1", Name: "Overview"}, {Key: "2", Name: "Accounts"}, {Key: "3", Name: "Jobs"}}
	for path, want := range map[string]string{
		"":            "1 Overview 2 3 ● LIVE DEMO 12 s ▄▄▄▄▄ 80/100 ▲2 15:35",
		"Night Heron": "1 Overview ▸ Night Heron ● LIVE DEMO 12 s ▄▄▄▄▄ 80/100 ▲2 15:35",
		"Schedules ▸ Audit ▸ Messages|… ▸ Messages|…": "1 Overview ▸ … ▸ Messages ● LIVE DEMO 12 s ▄▄▄▄▄ 80/100 ▲2 15:35",
	} {
		paths := slices.DeleteFunc(strings.Split(path, "|"), func(p string) bool { return p == "" })
		if got := squeeze(plain(Short(mono, 80, nil, tabs, 0, paths, state, slots))); got != want {
			t.Errorf("%q", got)
		}
	}
	stands := *mono
	stands.Mood = themes.Err
	if row := plain(Short(&stands, 80, nil, tabs, 0, nil, []Cell{StateCell(mono, "API DOWN")}, slots)); !strings.Contains(row, "API DOWN    12 s") {
		t.Errorf("the window reads as since when: %q", row)
	}
}

// squeeze makes one space of many: where the gap falls is not the point.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestTabs(t *testing.T) {
	tabs := []Tab{{Key: "1", Name: "Overview"}, {Key: "2", Name: "Accounts"}, {Key: "3", Name: "Jobs"}}
	for w, want := range map[int]string{
		60: " 1 Overview 2 Accounts  3 Jobs                      ? help",
		24: " 1 Overview 2 3",
	} {
		if got := plain(Tabs(mono, 0, w, nil, "", tabs, 0, Plain("? help"))); squeeze(got) != squeeze(want) {
			t.Errorf("%d cells: %q", w, got)
		}
	}
}

func TestHintsKeepTheHelp(t *testing.T) {
	hints := []Hint{{Key: "enter", Does: "open"}, {Key: "t", Does: "sync account"}, {Key: "p", Does: "pause queue", Off: true}, {Key: "?", Does: "keys", Keep: true}, {Key: "q", Does: "quit"}}
	for w, want := range map[int]string{
		80: " enter open  t sync account  p pause queue  ? keys  q quit",
		40: " enter open  t sync account  ? keys",
		10: " ? keys",
	} {
		if got := plain(Hints(mono, 0, w, nil, hints)); got != want {
			t.Errorf("%d cells: %q", w, got)
		}
	}
}

func TestMessage(t *testing.T) {
	toast := Toast{Word: "OK", Text: "Blue Heron#KR1 resumed at 290/300", More: 2}
	for w, want := range map[int]string{
		80: " ✓ Blue Heron#KR1 resumed at 290/300 (+2)                      M messages",
		40: " ✓ Blue Heron#KR1 resumed at 290/… (+2)",
	} {
		if got := plain(Message(mono, w, toast, Plain("M messages"))); squeeze(got) != squeeze(want) {
			t.Errorf("%d cells: %q", w, got)
		}
	}
	if got := plain(Message(mono, 20, Toast{})); got != "" {
		t.Errorf("an empty message shows %q", got)
	}
}

func TestSectionsNoteWhatCanBeClicked(t *testing.T) {
	want := `▸NOW of 46 ────────── tail
 46 calls/min

 Queues     wait   run
 row of 26 cells, cut here,

 NEEDS YOU ───────────────`
	var hits Hits
	clicked := [2]int{}
	got := Sections(mono, 10, 20, 27, 8, 0, &hits, Section{Title: "NOW", Note: "of 46", Tail: "tail", Focus: true, Rows: []string{" 46 calls/min"}, Height: 1},
		Section{Head: " Queues     wait   run", Rows: []string{" row of 26 cells, cut here, so"}, Height: 1, Click: func(x, y int) string {
			clicked = [2]int{x, y}
			return "open"
		}}, Section{Title: "NEEDS YOU"})
	if plain(got...) != want+"\n" {
		t.Errorf("got\n%s", plain(got...))
	}
	if action, found := hits.Click(13, 24); action != "open" || !found || clicked != [2]int{3, 0} {
		t.Errorf("clicked %q %v at %v", action, found, clicked)
	}
	if _, found := hits.Click(13, 25); found {
		t.Error("an empty row can be clicked")
	}
	ascii := Sections(themes.NewMono(themes.Plain), 0, 0, 16, 3, 1, nil, Section{Title: "NOW", Rows: []string{"카인"}})
	if plain(ascii...) != "  NOW --------\n kain\n" {
		t.Errorf("got\n%s", plain(ascii...))
	}
}

func TestBars(t *testing.T) {
	ascii, blocks, dark := themes.NewMono(themes.Plain), themes.NewMono(themes.Blocks), looks()["dark painted"]
	shares := []Share{{Token: themes.Run, Name: "running", Sign: "●", N: 2}, {Token: themes.Line, Name: "in line", Sign: "○", N: 535}, {Token: themes.Err, Name: "gave up", Sign: "✗"}}
	for _, c := range []struct{ got, want string }{
		{plain(bar(mono, 10, themes.Run, 0.5)), "▄▄▄▄▄"},
		{plain(bar(mono, 10, themes.Run, 0.001)), ""},
		{plain(bar(mono, 10, themes.Run, 0.26)), "▄▄▖"},
		{plain(bar(mono, 10, themes.Run, 0.9999)), "▄▄▄▄▄▄▄▄▄▖"},
		{plain(bar(mono, 10, themes.Run, 7)), "▄▄▄▄▄▄▄▄▄▄"},
		{plain(bar(mono, 10, themes.Run, math.NaN())), ""},
		{plain(bar(dark, 6, themes.Run, 0.5)), "▄▄▄▄▄▄"},
		{plain(bar(ascii, 10, themes.Run, 0.5)), "[####----]"},
		{plain(bar(ascii, 2, themes.Run, 0.5)), "#-"},
		{plain(NewLine(mono, 10).Meter(10, 0.42, true).String()), "████▎⣿⣿⣿⣿⣿"},
		{plain(NewLine(mono, 4).Meter(4, 0.5, false).String()), "██··"},
		{plain(NewLine(ascii, 10).Meter(10, 0.42, true).String()), "####::::::"},
		{plain(NewLine(blocks, 4).Meter(4, 0.5, true).String()), "██░░"},
		{plain(NewLine(mono, 10).Stack(10, shares).String()), "●○○○○○○○○○"},
		{plain(NewLine(dark, 10).Stack(10, shares).String()), "▄▄▄▄▄▄▄▄▄▄"},
		{plain(NewLine(mono, 41).Legend(shares).String()), " ● 2 running ○ 535 in line   ✗ 0 gave up"},
		{plain(NewLine(mono, 20).Legend(shares).String()), " ● 2 running"},
		{plain(digitsOf(mono, "42")...), "╻ ╻╺━┓\n┗━┫┏━┛\n  ╹┗━╸"},
		{plain(digitsOf(mono, "1,0%")...), "╺┓  ┏━┓\n ┃  ┃ ┃\n╺┻╸,┗━┛%"},
		{plain(digitsOf(ascii, "42")...), "\n42\n"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestPrompt(t *testing.T) {
	p := Prompt{Label: "/", Ghost: "state:failed"}
	if row, at := p.View(mono, 20); plain(row) != " / state:failed" || at != 3 {
		t.Errorf("%q, cursor %d", plain(row), at)
	}
	p.Insert("state:faile queue:x\nignored")
	for _, key := range []string{"ctrl+w", "backspace"} {
		p.Edit(key)
	}
	p.Insert("d")
	for _, key := range []string{"home", "delete"} {
		p.Edit(key)
	}
	p.Insert("S")
	if p.Value() != "State:failed" {
		t.Errorf("value %q", p.Value())
	}
	if row, at := p.View(mono, 20); plain(row) != " / State:failed" || at != 4 {
		t.Errorf("%q, cursor %d", plain(row), at)
	}
	if p.Edit("f5") {
		t.Error("f5 edits")
	}
	p.Edit("end")
	if row, at := p.View(mono, 10); plain(row) != " / failed" || at != 9 {
		t.Errorf("scrolled to %q, cursor %d", plain(row), at)
	}
}

func TestPromptHidesSecrets(t *testing.T) {
	p := Prompt{Mask: true}
	p.Insert("RGAPI-1234")
	if row, _ := p.View(mono, 30); plain(row) != " ••••••••••" {
		t.Errorf("%q", plain(row))
	}
	p.Set(strings.Repeat("x", 3*maxInput))
	if len(p.Value()) != maxInput {
		t.Errorf("%d runes were taken", len(p.Value()))
	}
}

func answer(key, does, action string) Hint {
	return Hint{Key: key, Does: does, Click: func(int, int) string { return action }}
}

func TestDialogDefaultsToNo(t *testing.T) {
	d := Dialog{Title: "Cancel 14 jobs?", Body: []string{"3 of them are running. What they fetched stays stored."}, Yes: answer("y", "cancel 14 jobs", "yes"), No: answer("n", "keep", "no")}
	want := `
   Cancel 14 jobs? ──────────────────
   3 of them are running. What they
   fetched stays stored.

  ▌n keep    y cancel 14 jobs
   ──────────────────────────────────`
	var hits Hits
	if rows, _ := d.View(mono, 40, 20, &hits); plain(rows...) != want {
		t.Errorf("got\n%s", plain(rows...))
	}
	for x, want := range map[int]string{2: "no", 9: "no", 12: "yes", 27: "yes"} {
		if got, _ := hits.Click(x, 5); got != want {
			t.Errorf("a click into cell %d of the answers means %q, want %q", x, got, want)
		}
	}
	if rows, _ := d.View(mono, 40, 4, nil); !strings.Contains(plain(rows...), "▌n keep") {
		t.Errorf("no answers in\n%s", plain(rows...))
	}
}

// What is typed to agree stays visible however little room there is, and View says where.
func TestDialogShowsWhereItsWordIsTyped(t *testing.T) {
	d := Dialog{Title: "Purge?", Body: []string{strings.Repeat("What ended is gone. ", 20)}, Word: "purge", Input: &Prompt{}}
	d.Input.Insert("pur")
	for h := 6; h < 30; h++ {
		rows, at := d.View(mono, 40, h, nil)
		if len(rows) > h || at <= 0 || at >= len(rows) || strings.TrimSpace(plain(rows[at])) != "pur" || !strings.Contains(plain(rows[at-1]), "type purge to go on") {
			t.Errorf("%d rows: the word is typed in row %d of\n%s", h, at, plain(rows...))
		}
	}
}

func TestOverlaySplitsWideLettersCleanly(t *testing.T) {
	base := []string{mono.Paint(themes.Err, "한한한한한한"), "한한한한한한", ""}
	got := Overlay(mono, 12, 3, base, []string{"+-+", "+-+"}, 4, 0)
	if plain(got...) != "한한+-+ 한한\n한한+-+ 한한\n" {
		t.Errorf("got\n%s", plain(got...))
	}
	for _, row := range got {
		if err := checkRow(mono, row, 12); err != nil {
			t.Error(err)
		}
	}
	th := themes.New(themes.Palettes()[1], themes.TrueColor, true, themes.Unicode)
	got = Overlay(th, 12, 1, []string{th.Paint(themes.Err, "한한한한한한")}, []string{"+-+"}, 4, 0)
	if look, _, _ := strings.Cut(th.Paint(themes.Err, "한"), "한"); look == "" || !strings.Contains(got[0], " "+look+"한한") {
		t.Errorf("the end has lost its colour: %q", got[0])
	}
}

// What is laid over a screen does not bring the terminal's own background through.
func TestOverlayKeepsTheGround(t *testing.T) {
	th := themes.New(themes.Palettes()[1], themes.TrueColor, true, themes.Unicode)
	over, _ := Panel(th.Raised(), 12, 3, nil, Section{Title: "THEME", Height: 1})
	for i, row := range Overlay(th, 30, 5, nil, over, 9, 1) {
		if strings.Contains(row, "\x1b[m") || strings.Contains(row, "\x1b[0m") {
			t.Errorf("row %d goes back to the terminal's look: %q", i, row)
		}
	}
}

func TestWrap(t *testing.T) {
	got := strings.Join(Wrap("what they fetched 한한한한한 stays", 9), "|")
	if got != "what they|fetched|한한한한|한 stays" {
		t.Errorf("%q", got)
	}
	if got := Wrap("한", 1); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestHelpInColumns(t *testing.T) {
	groups := []Group{{"Move", []Hint{{Key: "j k", Does: "down, up"}}}, {"Act", []Hint{{Key: "t", Does: "sync"}}}}
	want := " MOVE                                  ACT\n j k      down, up                     t        sync"
	if got := Help(mono, 80, groups); plain(got...) != want {
		t.Errorf("got\n%s", plain(got...))
	}
	if got := plain(Help(mono, 30, groups)...); !strings.HasSuffix(got, "\n\n ACT\n t        sync") {
		t.Errorf("in one column\n%s", got)
	}
}

func bar(th *themes.Theme, w int, t themes.Token, ratio float64) string {
	return NewLine(th, w).Bar(t, w, ratio).String()
}

func digitsOf(th *themes.Theme, figure string) (rows []string) {
	for y := range digitRows {
		rows = append(rows, NewLine(th, DigitsWidth(th, figure)).Digits(y, figure).String())
	}
	return rows
}
