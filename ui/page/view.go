package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// instant keeps tables of functions short.
type instant = time.Time

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
	Size  Size
	Tall  Tall
	// Frozen says that Data stands still; Live is the newest there is.
	Frozen bool
	Live   *Data
	// Ticks is set by whoever draws something that changes each second, so that
	// a screen without such a thing is never drawn for nothing.
	Ticks bool

	needs   []Need
	counted bool
}

// until counts down to an instant.
func (v *View) until(at time.Time) string {
	if at.IsZero() {
		return part.None
	}
	if at.Sub(v.Now) < time.Hour {
		v.Ticks = true
	}
	return part.Until(at, v.Now)
}

// in is the time that is left, without a sign: 41 s. It counts whole seconds, so
// that it moves once a second; the last one reads 1 s.
func (v *View) in(at time.Time) string {
	d := at.Sub(v.Now)
	if at.IsZero() || d <= 0 {
		return part.None
	}
	if d < time.Hour {
		v.Ticks = true
	}
	return part.Dur((d + time.Second - 1).Truncate(time.Second))
}

// age is how old an instant is in one unit.
func (v *View) age(at time.Time) string {
	if at.IsZero() {
		return part.None
	}
	d := v.Now.Sub(at)
	if d < time.Minute {
		v.Ticks = true
	}
	if d < 10*time.Second {
		return part.Dur(d)
	}
	return part.Coarse(d)
}

// ago is age with the word.
func (v *View) ago(at time.Time) string {
	if at.IsZero() {
		return part.None
	}
	if v.Now.Sub(at) < time.Minute {
		v.Ticks = true
	}
	return part.Ago(v.Now.Sub(at))
}

// clock is an instant of the day.
func (v *View) clock(at time.Time) string { return part.Clock(at, v.Now) }

// state is a state word with its sign.
func (v *View) state(word string) part.Cell { return part.StateCell(v.Theme, word) }

// row is one painted row of w cells.
func (v *View) row(w int, cells ...part.Cell) string { return part.Row(v.Theme, w, cells...) }

// sep joins facts that stand in one row.
func (v *View) sep() part.Cell { return part.As(themes.Dim, " "+v.Theme.Glyphs.Sep+" ") }

// join puts facts in one row, empty ones left out.
func (v *View) join(facts ...part.Cell) []part.Cell {
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

// waiting says why nothing is shown yet; "" when the first rows have come.
func (v *View) waiting() string {
	if v.Ready {
		return ""
	}
	return "loading…"
}

// start says why a list is empty and the key that fills it, where there is one.
func (v *View) start(why, key string) string {
	if v.Engine.State == engine.EngineBrowse {
		return why
	}
	return why + " " + v.Theme.Glyphs.Sep + " " + key
}

// rate is the calls per minute of the engine.
func (v *View) rate() int { return int(v.Engine.CallsPerMin + 0.5) }

// liveJob is a job as the engine has it now. Actions on a frozen screen act on
// the present, and send its revision.
func (v *View) liveJob(j engine.JobRow) engine.JobRow {
	if v.Live == nil {
		return j
	}
	if now, ok := v.Live.Job(j.ID); ok && now.Rev > j.Rev {
		return now
	}
	return j
}

// Tightest is the application window with the least room, over all hosts.
func (d *Data) Tightest() (engine.BucketRow, bool) {
	var worst engine.BucketRow
	found := false
	for _, b := range d.Limits.Buckets {
		if b.Kind != "app" || b.Limit <= 0 {
			continue
		}
		if !found || ratio(b) > ratio(worst) {
			worst, found = b, true
		}
	}
	return worst, found
}

func ratio(b engine.BucketRow) float64 {
	if b.Limit <= 0 {
		return 0
	}
	return float64(b.Used) / float64(b.Limit)
}
