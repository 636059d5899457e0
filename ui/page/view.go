package page

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/chaos"
	"github.com/farsight-console/farsight/ui/part"
)

// Size is the width class of the screen: one, two or three panes.
type Size uint8

// Width classes.
const (
	S Size = iota
	M
	L
)

// Tall is the height class of the screen.
type Tall uint8

// Height classes.
const (
	Short Tall = iota
	Normal
	High
)

// View is what a page may look at while it draws or acts.
type View struct {
	*Data
	Theme *themes.Theme
	Now   time.Time // in the zone of the screen
	W, H  int       // of the page's own area
	X, Y  int       // where on the screen that area begins
	// Hits takes what of the area can be clicked; nil = nobody wants to know.
	Hits *part.Hits
	Size Size
	Tall Tall
	// Frozen says that Data stands still; Live is the newest there is.
	Frozen bool
	Live   *Data
	// Notes are the messages there were, oldest first; Noted counts them all.
	Notes []engine.Note
	Noted int
	// Chaos is what the demo's simulator does wrong; nil elsewhere, and on other
	// screens than its own.
	Chaos *chaos.State
	// Slow says that the terminal is at the end of a network: what only gives an
	// impression moves a third as often.
	Slow bool
	// Hurry says that a key was pressed a moment ago, or that somebody else has given a
	// command: what follows it is shown as it comes, however often that is.
	Hurry bool
	// Pressed says that a key was pressed a moment ago.
	Pressed bool
	// Acts counts the commands of this console that were answered, and how often those
	// of others made its lists due.
	Acts int
	// Foot is kept from one page to the next.
	Foot *Foot
	// Past likewise.
	Past *Past
	// Keys puts the keys in force into a sentence, see the function of that name; nil =
	// there are none.
	Keys func(text string) string
	// Ticks is set by whoever draws something that changes each second, so that
	// a screen without such a thing is never drawn for nothing.
	Ticks bool

	needs   []Need
	counted bool
}

// Until counts down to an instant.
func (v *View) Until(at time.Time) string {
	if at.IsZero() {
		return part.None
	}
	if at.Sub(v.Now) < time.Hour {
		v.Ticks = true
	}
	if at.Before(v.Now) {
		return human.Until(at, v.Now)
	}
	return human.Until(at, v.Beat())
}

// Beat is the second the screen is in. Countdowns and ages are told from it, so
// that all of them move in one frame a second: digits that each move at a time of
// their own are most of what a terminal would be sent.
func (v *View) Beat() time.Time { return v.Now.Truncate(time.Second) }

// Unhurried is how often something moves that only gives an impression.
func (v *View) Unhurried(every time.Duration) time.Duration {
	return human.Either(v.Slow, 3*every, every)
}

// In is the time that is left, without a sign: 41 s. It counts whole seconds, so
// that it moves once a second; the last one reads 1 s.
func (v *View) In(at time.Time) string {
	if at.IsZero() || !at.After(v.Now) {
		return part.None
	}
	d := at.Sub(v.Beat())
	if d < time.Hour {
		v.Ticks = true
	}
	return human.Dur((d + time.Second - 1).Truncate(time.Second))
}

// Age is how old an instant is in one unit.
func (v *View) Age(at time.Time) string {
	if at.IsZero() {
		return part.None
	}
	d := v.Beat().Sub(at.Truncate(time.Second))
	if d < time.Minute {
		v.Ticks = true
	}
	return human.Age(d)
}

// Ago is age with the word.
func (v *View) Ago(at time.Time) string {
	if at.IsZero() {
		return part.None
	}
	if v.Now.Sub(at) < time.Minute {
		v.Ticks = true
	}
	return human.Ago(v.Beat().Sub(at.Truncate(time.Second)))
}

// Clock is an instant of the day.
func (v *View) Clock(at time.Time) string { return part.Clock(at, v.Now) }

// Around is about when something ends: to the second within twelve hours, then to the minute.
func (v *View) Around(at time.Time) string {
	return "~" + human.Either(at.Sub(v.Now) < 12*time.Hour, v.Clock(at), engine.When(at, v.Now))
}

// State is a state word with its sign.
func (v *View) State(word string) part.Cell { return part.StateCell(v.Theme, word) }

// pad is how many cells stay empty at either side of a block of sections.
func (v *View) pad() int { return human.Either(v.Size == S, 0, 1) }

// Inner is how wide the rows of sections are that stand in a block of w cells.
func (v *View) Inner(w int) int { return w - 2*v.pad() }

// Sections draws a block of w x h cells whose first cell is x, y of the page's area.
func (v *View) Sections(x, y, w, h int, sections ...part.Section) []string {
	return part.Sections(v.Theme, v.X+x, v.Y+y, w, h, v.pad(), v.Hits, sections...)
}

// Whole draws sections on all of the page's area.
func (v *View) Whole(sections ...part.Section) []string {
	return v.Sections(0, 0, v.W, v.H, sections...)
}

// Row is one painted row of w cells.
func (v *View) Row(w int, cells ...part.Cell) string { return part.Row(v.Theme, w, cells...) }

// Paragraph is a text on as many rows of w cells as it takes.
func (v *View) Paragraph(w int, t themes.Token, text string) []string {
	return part.Paragraph(v.Theme, w, t, text)
}

// Fitting joins facts as join does, as many whole ones as w cells hold.
func (v *View) Fitting(w int, facts ...part.Cell) []part.Cell {
	var kept []part.Cell
	for _, f := range facts {
		width := safe.Width(safe.Text(f.Text))
		if len(kept) > 0 {
			width += 3
		}
		if w -= width; f.Text != "" && w >= 0 {
			kept = append(kept, f)
		}
	}
	return v.Join(kept...)
}

// Failed says in the place of a list that it could not be read: it is asked for again by
// itself, see [Answer.Due].
func (v *View) Failed(what string) string {
	return v.Theme.State("ERROR").Glyph + " ERROR  " + what + v.Keyed(" could not be read; tried again by itself, {reload} at once")
}

// Unread reports whether a text is what failed says.
func (v *View) Unread(text string) bool {
	return strings.HasPrefix(text, v.Theme.State("ERROR").Glyph+" ERROR")
}

// Said is a sentence in the place of what there is not, on as many rows as it needs.
func (v *View) Said(w int, text string) []string {
	rows := []string{""}
	for _, line := range part.Wrap(text, max(w-6, 10)) {
		rows = append(rows, v.Row(w, part.As(themes.Dim, "   "+line)))
	}
	return rows
}

// sep joins facts that stand in one row.
func (v *View) sep() part.Cell { return part.As(themes.Dim, " "+v.Theme.Glyphs.Sep+" ") }

// Join puts facts in one row, empty ones left out.
func (v *View) Join(facts ...part.Cell) []part.Cell {
	var cells []part.Cell
	for _, f := range facts {
		if f.Text == "" {
			continue
		}
		if len(cells) > 0 {
			cells = append(cells, v.sep())
		}
		cells = append(cells, f)
	}
	return cells
}

// Waiting says why nothing is shown yet; "" when the first rows have come.
func (v *View) Waiting() string { return human.If(!v.Ready, "loading…") }

// Start says why a list is empty and the key that fills it, where there is one.
func (v *View) Start(why, key string) string {
	if !v.Lost.IsZero() {
		return "not connected: nothing to show until the engine is back"
	}
	if v.Engine.State == engine.EngineBrowse {
		return why
	}
	return why + " " + v.Theme.Glyphs.Sep + " " + v.Keyed(key)
}

// LiveJob is a job as the engine has it now. Actions on a frozen screen act on
// the present, and send its revision.
func (v *View) LiveJob(j engine.JobRow) engine.JobRow {
	if v.Live == nil {
		return j
	}
	if now, ok := v.Live.Job(j.ID); ok && now.Rev > j.Rev {
		return now
	}
	return j
}

// WindowCalled is a limit as the limiter names it, "app:asia 120s" or "app:asia 100/120s", by its window: the 2 min
// window, asia's where there are several hosts, and of whose calls where it is a method's. Another name is returned as it is.
func (v *View) WindowCalled(name string) string { return windowCalled(name, OneHost(v)) }

func windowCalled(name string, one bool) string {
	host, method, window, ok := engine.ParseLimit(name)
	if !ok {
		return name
	}
	return engine.WindowOf(host, method, window, one)
}

// Ratio is how much of a window is used, 0 to 1 and beyond; 0 of one whose limit is not known.
func (v *View) Ratio(b engine.BucketRow) float64 {
	return human.Either(b.Limit <= 0, 0, float64(b.Counted(v.Now))/float64(b.Limit))
}

// Spaced writes facts with room between them, empty ones left out.
func Spaced(v *View, w int, facts []part.Cell) string {
	l := part.NewLine(v.Theme, w).Gap(1)
	for i, f := range slices.DeleteFunc(facts, func(f part.Cell) bool { return f.Text == "" }) {
		if i > 0 {
			l.Gap(3)
		}
		l.Cells(f)
	}
	return l.String()
}

// Keyed puts keys into a sentence: {sync} stands for the key of that action on the screen
// on top as it is bound now, {jobs/pause} for that on another screen.
func Keyed(text string, key func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(key(name))
		text = after
	}
}

// Keyed is Keyed with the keys in force. Where there are none, as in line mode, an
// action is called by its name.
func (v *View) Keyed(text string) string {
	if v.Keys == nil {
		return Keyed(text, func(name string) string { return name[strings.IndexByte(name, '/')+1:] })
	}
	return v.Keys(text)
}

// Flow writes facts in one row of w cells, and goes on in the next where they do not
// fit; none is cut that would fit into a row of its own.
func (v *View) Flow(w int, facts ...part.Cell) []string {
	var rows []string
	var line []part.Cell
	sep, used := safe.Width(v.sep().Text), 0
	for _, f := range facts {
		if f.Text == "" {
			continue
		}
		need := safe.Width(safe.Text(f.Text))
		if used > 0 && 1+used+sep+need > w {
			rows = append(rows, v.fact(w, line))
			line, used = nil, 0
		}
		if used > 0 {
			used += sep
		}
		line, used = append(line, f), used+need
	}
	if used == 0 {
		return rows
	}
	return append(rows, v.fact(w, line))
}

func (v *View) fact(w int, facts []part.Cell) string {
	return v.Row(w, append([]part.Cell{part.Plain(" ")}, v.Join(facts...)...)...)
}

// Gone is the cause of a console that has lost its engine.
func (v *View) Gone() string { return "the engine has gone: what is shown is as of " + v.Clock(v.At) }
