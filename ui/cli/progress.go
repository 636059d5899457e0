package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
)

// show draws one run: NDJSON lines, a bar on a terminal, or a plain line now and
// then where there is neither.
//
//	{"event":"progress","account":"Blue Heron#EUW","phase":"matches","done":134,"total":879,…}
//	■■■■···················· Blue Heron#EUW  matches 134/879  retrying 9  ~16 min
//	Blue Heron#EUW  matches 134/879  NO KEY: Riot refused it
type show struct {
	out   Out
	last  progress  // what was told last; of no meaning until shown
	held  string    // why the engine lets nothing move, such as "NO KEY: …"; "" while all is well
	waits string    // why this run does not move; "" = nothing is known to hold it
	at    time.Time // when that was
	bar   bool      // a bar stands on the last line
	shown bool      // something was told
}

// Intervals between two lines of each form. A plain line stays in a log: one in five seconds is enough.
const (
	jsonEvery  = 200 * time.Millisecond
	barEvery   = 250 * time.Millisecond
	plainEvery = 5 * time.Second
)

// engine notes what state the engine is in: a held run must say why. A run goes on while the engine
// drains, so that stopping is no reason.
func (s *show) engine(e engine.EngineRow) {
	s.held = ""
	switch e.State {
	case engine.EngineLive, engine.EngineStopping:
	case engine.EngineHeld: // another's host perhaps: the run says it of its own
	default:
		s.held = string(e.State) + ": " + e.Why
	}
}

// row shows how far the run is, if that is news and not too soon. A phase that
// has ended is shown with its last figures before the next one begins, so that a program which reads
// along sees each phase reach its total.
func (s *show) row(a engine.AccountRow, eta engine.ETA) {
	phase := phaseOf(a)
	if s.shown && phase != s.last.Phase {
		s.printLine(lineOf(a, s.last.Phase), engine.ETA{})
	}
	now := lineOf(a, phase)
	if eta.Known {
		secs := int(eta.High.Seconds())
		now.ETA = &secs
	}
	now.Held = cmp.Or(s.held, s.waits) // what holds the engine holds every run
	// A line is due at once where something turns: the run ends, a phase begins, what holds it changes.
	turn := !a.Status.Open() || now.Phase != s.last.Phase || now.Held != s.last.Held
	if !turn && time.Since(s.at) < s.every() {
		return
	}
	s.printLine(now, eta)
}

// printLine prints one line of progress, unless it says what the last one said. That it cannot be written is
// no reason to stop the sync: the summary's error will say so.
func (s *show) printLine(now progress, eta engine.ETA) {
	if s.shown && same(now, s.last) {
		return
	}
	s.last, s.at, s.shown = now, time.Now(), true
	switch {
	case s.out.JSON:
		_ = s.out.json(now)
	case s.out.Width > 0:
		s.draw(now, eta)
	default:
		_, _ = fmt.Fprintln(s.out.W, s.out.clean(s.sentence(now, eta)))
	}
}

// lineOf is what a row says of one of its phases.
func lineOf(a engine.AccountRow, phase string) progress {
	p := countsOf(a, phase)
	return progress{
		Event: "progress", Account: a.RiotID, Phase: phase,
		Done: p.Done(), Total: p.Total, Retrying: p.Retrying, Failed: p.Failed, Cancelled: p.Cancelled,
	}
}

// same reports whether two lines tell the same, but for the forecast: that alone moves all the time.
func same(a, b progress) bool {
	a.ETA, b.ETA = nil, nil
	return a == b
}

// every is the least time between two lines that tell of the same phase.
func (s *show) every() time.Duration {
	switch {
	case s.out.JSON:
		return jsonEvery
	case s.out.Width > 0:
		return barEvery
	}
	return plainEvery
}

// sentence says the progress in words; of what holds the run and how long it takes only the first.
func (s *show) sentence(p progress, eta engine.ETA) string {
	total := "?" // pages are still listed
	if p.Total >= 0 {
		total = count(p.Total)
	}
	counted := func(what string, n int) string { return human.If(n > 0, fmt.Sprintf("  %s %d", what, n)) }
	line := fmt.Sprintf("%s  %s %s/%s", p.Account, p.Phase, count(p.Done), total) +
		counted("retrying", p.Retrying) + counted("gave up", p.Failed) + counted("cancelled", p.Cancelled)
	if p.Held != "" {
		return line + "  " + p.Held
	}
	return line + etaWords(eta)
}

// etaWords say how long it still takes and what paces it, or why nobody knows: "  ~16 min, paced by
// the europe 2 min window". The later end of the forecast is told: a sync that ends sooner annoys nobody.
func etaWords(eta engine.ETA) string {
	switch {
	case !eta.Known && eta.Why != "":
		return "  " + eta.Why
	case !eta.Known || eta.High <= 0:
		return ""
	}
	words := "  ~" + human.Span(eta.High)
	switch {
	case eta.Why != "":
		words += ", " + eta.Why
	case eta.Bucket != "":
		words += ", paced by the " + engine.LimitWords(eta.Bucket) + " window"
	}
	return words
}

// draw paints the bar over the one before. The last cell of the row stays free: some terminals wrap as
// soon as it is written.
func (s *show) draw(p progress, eta engine.ETA) {
	line := s.out.clean(s.sentence(p, eta))
	if p.Total > 0 {
		line = themes.GlyphsOf(s.out.ASCII).Bar(p.Done*barCells/p.Total, barCells) + " " + line
	}
	_, _ = fmt.Fprint(s.out.W, "\r\x1b[K"+s.out.cut(line, s.out.Width-1))
	s.bar = true
}

// barCells is the width of the bar, without its ends: with the account's name and the figures behind it
// a line of 80 cells is full.
const barCells = 24

// done ends the bar's line, so that what is printed next does not stand on it.
func (s *show) done() {
	if s.bar {
		_, _ = fmt.Fprintln(s.out.W)
	}
	s.bar = false
}

// end prints the summary: of a sync that was not due, why it was not.
//
//	Blue Heron#EUW completed: 876 matches stored (3 could not be had), 0 too old; 876 timelines; …
func (s *show) end(sum Summary) error {
	if s.out.JSON {
		return s.out.json(sum)
	}
	if sum.Nothing != "" {
		_, err := fmt.Fprintln(s.out.W, s.out.clean(sum.Nothing))
		if err != nil || sum.Result == ResultCompleted {
			return err
		}
	}
	line := fmt.Sprintf("%s %s: %s matches stored%s, %s too old; %s timelines%s; %s calls, %s rate limited, in %s",
		sum.Account, sum.Result, count(sum.Matches.Success), lost(sum.Matches), count(sum.Matches.TooOld),
		count(sum.Timelines.Success), lost(sum.Timelines), count(sum.Calls), count(sum.RateLimited),
		human.Span(time.Duration(sum.ElapsedS*float64(time.Second))))
	// Why one has failed, the caller says, as the command's error.
	line += human.If(sum.Error != "" && (sum.Result == ResultInterrupted || sum.Result == ResultIncomplete), ": "+sum.Error)
	_, err := fmt.Fprintln(s.out.W, s.out.clean(line))
	return err
}

// lost says how many could not be had, were cancelled, cannot be asked for or still wait, if any.
func lost(c Counts) string {
	gaps := engine.Progress{Failed: c.Permanent, Cancelled: c.Cancelled, Unaskable: c.Unaskable}.Gaps()
	gaps = human.List(gaps, human.If(c.Temporary > 0, count(c.Temporary)+" to come"))
	return human.If(gaps != "", " ("+gaps+")")
}
