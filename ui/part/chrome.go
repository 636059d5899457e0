package part

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Margin is how many cells stay empty at either side of a screen of w cells.
func Margin(w int) int { return human.Either(w < 100, 1, 2) }

// Tab is one screen of the first row.
type Tab struct {
	Key, Name string
	Click     click
}

// Tabs returns row y of the screen, which lies above the others: the program's name and
// its screens, the active one raised further. Where the names do not fit, the others show
// their keys alone.
func Tabs(th *themes.Theme, y, w int, hits *Hits, name string, tabs []Tab, active int, right ...Cell) string {
	l := NewLine(th, w).On(themes.OnRaised).To(Margin(w)).Cells(As(themes.Focus, name)).Gap(1)
	l.tabs(y, hits, tabs, active, l.at+tabsWidth(tabs)+width(l.cleaned(right))+1 < w-Margin(w))
	return l.edge(right).String()
}

// tabs writes the screens: " 1 Overview  2 Accounts ", or without names " 1 Overview  2 3 4".
func (l *Line) tabs(y int, hits *Hits, tabs []Tab, active int, names bool) {
	for i, t := range tabs {
		from := l.at
		switch {
		case i == active:
			left, right := " ", " "
			if l.th.ASCII() { // neither ground nor, everywhere, bold
				left, right = "[", "]"
			}
			l.On(themes.OnTrack).Cells(As(themes.Accent, left+t.Key+" "), As(themes.Figure, t.Name+right)).On(themes.OnRaised)
		case names:
			l.Gap(1).Cells(As(themes.Off, t.Key+" "), As(themes.Dim, t.Name)).Gap(1)
		default:
			l.Gap(1).Cells(As(themes.Dim, t.Key))
		}
		hits.Add(from, y, l.at-from, 1, t.Click)
	}
}

// edge writes cells at the right margin, if they fit behind a space.
func (l *Line) edge(cells []Cell) *Line {
	cells = l.cleaned(cells)
	w, margin := width(cells), Margin(l.max)
	if w > 0 && w+margin+1 <= l.Room() {
		l.To(l.max - margin - w).Cells(cells...)
	}
	return l
}

// width returns the cells of clean cells.
func width(cells []Cell) int {
	w := 0
	for _, c := range cells {
		w += safe.Width(c.Text)
	}
	return w
}

// tabsWidth is the cells of tabs with their names, a space around each.
func tabsWidth(tabs []Tab) int {
	w := 0
	for _, t := range tabs {
		w += safe.Width(safe.Text(t.Key)) + safe.Width(safe.Text(t.Name)) + 3
	}
	return w
}

// Slots are the facts at the right of the row of the state. Each has its place: nothing
// moves when 7 becomes 19.
type Slots struct {
	// Window names the window that sets the pace, Used of Limit calls are used of it; a
	// Limit of 0 = none is known.
	Window      string
	Used, Limit int
	Alerts      Cell
	Clock       string
	// Hatched fills what is free of the row: somebody has stopped something.
	Hatched bool
	// Click is what a click on the alerts does.
	Click click
}

// Widths of the slots, on a wide row and on a narrow one.
type slotWidths struct{ window, bar, count, alerts int }

var (
	wideSlots   = slotWidths{window: 6, bar: 10, count: 9, alerts: 11}
	narrowSlots = slotWidths{window: 5, bar: 6, count: 9, alerts: 3}
)

const clockSlot = 5 // 12:31

// leastSentence is the room below which a sentence says too little.
const leastSentence = 24

func (s slotWidths) width() int {
	return s.window + 1 + s.bar + 1 + s.count + 2 + s.alerts + 2 + clockSlot
}

// Status returns row y of the screen, the state: what the engine is, a sentence on it,
// and the slots. Where the sentence has no room and texts follow it, the first of them that has stands
// in its place. On a row for both, tabs stand before them and there is no sentence.
func Status(th *themes.Theme, y, w int, hits *Hits, state []Cell, s Slots, text string, texts ...string) string {
	l := NewLine(th, w).On(themes.OnState).To(Margin(w)).Cells(state...)
	place := human.Either(Margin(w) == 1, narrowSlots, wideSlots)
	if room := w - Margin(w) - place.width() - l.at - 4; room >= leastSentence {
		text = l.fitting(room, append([]string{text}, texts...))
		l.Gap(2).write(themes.Text, cmp.Or(Clause(text, room), text), room)
	}
	if free := w - Margin(w) - place.width() - l.at - 4; s.Hatched && free > 0 {
		l.Gap(2).Glyph(themes.Dim, th.Glyphs.Hatch, free)
	}
	return l.slots(y, hits, place, s).String()
}

// fitting is the first of texts, from the longest on, that takes at most room cells, else the last.
func (l *Line) fitting(room int, texts []string) (text string) {
	for _, t := range texts {
		if text = l.clean(t, false); safe.Width(text) <= room {
			break
		}
	}
	return text
}

// Short returns the first row of a screen that has but one for tabs and state. The way to an inner screen takes the
// place of the other tabs: the first of paths that has room, else the last.
func Short(th *themes.Theme, w int, hits *Hits, tabs []Tab, active int, paths []string, state []Cell, s Slots) string {
	l := NewLine(th, w).On(themes.OnRaised)
	end := w - Margin(w) - narrowSlots.width() - width(l.cleaned(state)) - 3
	if apart := end - 2; th.Mood != themes.Run && s.Limit > 0 && len(paths) == 0 && apart >= l.shortTabs(tabs, active) {
		end = apart // "API DOWN 2 min" would read as for how long
	}
	switch {
	case len(paths) > 0:
		l.tabs(0, hits, tabs[active:active+1], 0, false)
		l.Gap(1).Cells(As(themes.Dim, l.th.Glyphs.Crumb+" "))
		l.write(themes.Text, l.fitting(max(end-l.at, 0), paths), max(end-l.at, 0))
	case end >= l.shortTabs(tabs, active):
		l.tabs(0, hits, tabs, active, false)
	default:
		l.tabs(0, hits, tabs[active:active+1], 0, false)
	}
	if l.To(max(end, l.at) + 1); th.Mood != themes.Run {
		l.On(themes.OnState)
	}
	l.Gap(1).Cells(state...)
	return l.slots(0, hits, narrowSlots, s).String()
}

// shortTabs is what the screens take where the others show their keys alone.
func (l *Line) shortTabs(tabs []Tab, active int) int {
	return tabsWidth(tabs[active:active+1]) + 1 + 2*(len(tabs)-1)
}

// slots writes the facts at the right: what has no room goes from the left.
func (l *Line) slots(y int, hits *Hits, place slotWidths, s Slots) *Line {
	end := l.max - Margin(l.max)
	clock := end - clockSlot
	alerts := clock - 2 - place.alerts
	count := alerts - 2 - place.count
	bar := count - 1 - place.bar
	window := bar - 1 - place.window
	if s.Limit > 0 {
		if l.at < window {
			l.To(window).Field(As(themes.Dim, s.Window), place.window, Number)
		}
		if l.at < bar {
			l.To(bar).Bar(themes.Run, place.bar, float64(s.Used)/float64(s.Limit))
		}
		if l.at < count {
			l.To(count).Field(Plain(strconv.Itoa(s.Used)+"/"+strconv.Itoa(s.Limit)), place.count, Number)
		}
	}
	if l.at < alerts {
		l.To(alerts).Field(s.Alerts, place.alerts, Words)
		hits.Add(alerts, y, place.alerts, 1, s.Click)
	}
	if l.at < clock {
		l.To(clock).Field(As(themes.Dim, s.Clock), clockSlot, Number)
	}
	return l
}

// Hint is a key and what it does here.
type Hint struct {
	Key, Does string
	// Also is what the help finds the key by besides; it is not drawn.
	Also string
	// Off draws the hint dimmed: the key cannot act now, but answers why.
	Off bool
	// Keep holds the hint while others are dropped.
	Keep bool
	// Click is what a click on it does.
	Click click
}

// Hints returns row y of the screen, the key hints; those that do not fit are dropped from
// the right.
func Hints(th *themes.Theme, y, w int, hits *Hits, hints []Hint) string {
	l := NewLine(th, w).To(Margin(w))
	kept := 0
	for _, h := range hints {
		if h.Keep {
			kept += l.hintWidth(h)
		}
	}
	full := false
	for _, h := range hints {
		need := l.hintWidth(h)
		if h.Keep {
			kept -= need
		} else if full = full || l.Room() < need+kept; full {
			continue
		}
		if l.Room() >= need-l.hintGap() {
			from := l.at
			l.hint(h)
			hits.Add(from, y, need-l.hintGap(), 1, h.Click)
		}
	}
	return l.String()
}

// hintGap parts a hint from the next.
func (l *Line) hintGap() int { return 1 + Margin(l.max) }

// hintWidth counts "key does" with the gap behind it.
func (l *Line) hintWidth(h Hint) int {
	return safe.Width(l.clean(h.Key, false)) + 1 + safe.Width(l.clean(h.Does, false)) + l.hintGap()
}

// hint writes "key does" and the gap behind it.
func (l *Line) hint(h Hint) {
	key, does := themes.Focus, themes.Dim
	if h.Off {
		key, does = themes.Off, themes.Off
	}
	l.Cells(As(key, h.Key)).Gap(1).Cells(As(does, h.Does)).Gap(l.hintGap())
}

// Toast is one message. Word (OK, WARN, ERROR …) gives its sign and colour, At when it came
// up, if that is told.
type Toast struct {
	Word, Text, At string
	// More counts the messages behind it.
	More int
}

// Message returns the message row: the toast, and right at the end if the
// toast leaves room for it. A zero toast leaves the row empty.
func Message(th *themes.Theme, w int, t Toast, right ...Cell) string {
	l := NewLine(th, w).To(Margin(w))
	if t.Word != "" || t.Text != "" {
		l.toast(t)
	}
	return l.edge(right).String()
}

// Messages returns two rows: the message in the second, after an empty one; one that is
// too long for a row begins in the first.
func Messages(th *themes.Theme, w int, t Toast, right ...Cell) []string {
	lines := Wrap(t.Text, w-2*Margin(w)-len("! ")-len(" (+999)"))
	if len(lines) < 2 {
		return []string{NewLine(th, w).String(), Message(th, w, t, right...)}
	}
	first := t
	first.Text, first.More, first.At = lines[0], 0, ""
	l := NewLine(th, w).To(Margin(w) + 2)
	l.end(strings.Join(lines[1:], " "), t)
	return []string{Message(th, w, first), l.edge(right).String()}
}

// toast writes a message behind the sign of its word: "! the key expires in 2 h (+2)".
func (l *Line) toast(t Toast) {
	s := l.th.State(t.Word)
	l.Cells(As(s.Token, s.Glyph)).Gap(1).end(t.Text, t)
}

// end writes the end of a message: its text, how many are behind it, and when it came up.
func (l *Line) end(text string, t Toast) {
	more := human.If(t.More > 0, " (+"+strconv.Itoa(t.More)+")")
	l.write(themes.Text, l.clean(text, false), max(l.Room()-Margin(l.max)-len(more), 0))
	l.Cells(As(themes.Dim, more))
	if t.At != "" && l.Room() > len(t.At)+3+Margin(l.max) {
		l.Gap(3).Cells(As(themes.Dim, t.At))
	}
}
