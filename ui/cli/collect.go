package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// collectSummary is the last line of `collect --json`. Scripts depend on its names.
type collectSummary struct {
	Event      string           `json:"event"` // "summary"
	Collection string           `json:"collection"`
	Result     string           `json:"result"` // completed, incomplete, failed, interrupted, cancelled
	Players    int              `json:"players"`
	Listed     int              `json:"players_listed"`
	Failed     int              `json:"players_failed"`
	Matches    engine.Collected `json:"matches"`
	ElapsedS   float64          `json:"elapsed_s"`
	Error      string           `json:"error,omitempty"`
}

// collectProgress is one line of `collect --json` while it runs.
type collectProgress struct {
	Event      string           `json:"event"` // "progress"
	Collection string           `json:"collection"`
	Phase      string           `json:"phase"` // ladders, players
	Done       int              `json:"done"`
	Total      int              `json:"total"`
	Matches    engine.Collected `json:"matches"`
	ETA        *int             `json:"eta_s"`          // null = not known, as while it is held
	Held       string           `json:"held,omitempty"` // why nothing moves, in words
}

// collectLook is how often a collection is looked at while somebody waits for it.
const collectLook = time.Second

// collect starts a collection, or joins it, and shows it until its round has ended or ctx is cancelled. One that goes on
// every so often is followed for good.
func (f *Following) collect(ctx context.Context, c engine.Console) (s Summary, err error) {
	ask := engine.Command{Op: engine.OpCollect, Collect: f.opt.Collect, By: f.opt.By}
	if agree := f.opt.Agree; agree != nil {
		ask.DryRun = true
		r, err := c.Do(ctx, ask)
		switch {
		case ctx.Err() != nil && gone(ctx) == nil:
			return s, &NotAgreed{errors.New("nothing was started")}
		case err != nil:
			return s, err
		}
		if err := agree(r); err != nil {
			return s, &NotAgreed{err}
		}
		f.opt.Agree, ask.DryRun = nil, false
	}
	r, err := c.Do(ctx, ask)
	if err != nil {
		return s, err
	}
	if r.Applied > 0 && !f.show.out.JSON {
		if err := Acted(f.show.out, r, false, ""); err != nil {
			return s, err
		}
	}
	f.opt.Account = r.Collection
	row := engine.CollectionRow{}
	defer func() { f.collected = summarizeCollection(row, s, f.began) }()
	s = Summary{Event: summaryEvent, Account: r.Collection, Result: ResultInterrupted}
	pace := engine.Pace{}
	for {
		a, err := engine.Ask[engine.CollectionsAnswer](ctx, c, engine.CollectionsQuery{Name: r.Collection})
		if err != nil {
			return s, err
		}
		was := row.Job
		row = a.Collections[0]
		f.row.Job = row.Job
		if was != "" && was != row.Job { // the next round: an engine of its own works on what it is asked for
			f.opt.Collect.Since, f.opt.Collect.Matches, f.opt.Collect.Every, f.opt.Collect.Priority = "", 0, 0, 0 // somebody may have changed them
			if _, err := c.Do(ctx, ask); err != nil {
				return s, err
			}
		}
		refused := ""
		if st, err := engine.Ask[engine.StatusAnswer](ctx, c, engine.StatusQuery{}); err == nil {
			refused = f.applyUpdate(engine.Update{Engine: &st.Engine})
		}
		f.show.collection(row, pace.Ends(&row, time.Now()))
		switch {
		case refused != "":
			s.Result, s.Error = ResultFailed, refused
			return s, nil
		case row.Result != "":
			s.Result, s.Error = row.Result, row.Error
			return s, nil
		case !await.Pause(ctx, collectLook):
			return s, nil
		}
	}
}

// NotAgreed is why a collection was not begun: nobody has agreed to what it costs, or somebody left before that was told.
type NotAgreed struct{ error }

func (e *NotAgreed) Unwrap() error { return e.error }

// summarizeCollection is what a round has come to since somebody waited for it.
func summarizeCollection(row engine.CollectionRow, s Summary, start time.Time) collectSummary {
	return collectSummary{
		Event: summaryEvent, Collection: s.Account, Result: s.Result, Players: row.Players, Listed: row.Listed,
		Failed: row.Failed, Matches: row.Collected, Error: s.Error,
		ElapsedS: math.Round(time.Since(start).Seconds()*10) / 10,
	}
}

// collection shows how far a collection is, if that is news and not too soon.
func (s *show) collection(row engine.CollectionRow, ends time.Time) {
	now := collectProgress{Event: "progress", Collection: row.Name, Phase: "ladders", Done: row.Ladder, Total: row.Ladders,
		Matches: row.Collected, Held: s.held}
	if row.Ladder >= row.Ladders {
		now.Phase, now.Done, now.Total = "players", row.Done(), row.Players
	}
	if row.Paused {
		now.Held = cmp.Or(now.Held, "paused: `farsight collections --resume "+row.Name+"` lets it go on")
	}
	if row.Started.IsZero() && row.Round > 1 {
		now.Held = cmp.Or(now.Held, fmt.Sprintf("round %d has not begun", row.Round))
	}
	if now.Phase == "players" && now.Held == "" && !ends.IsZero() {
		secs := int(time.Until(ends).Seconds())
		now.ETA = &secs
	}
	if s.shown && row.Result == "" && time.Since(s.at) < s.every() {
		return
	}
	s.at, s.shown = time.Now(), true
	switch {
	case s.out.JSON:
		_ = s.out.json(now)
		return
	case s.out.Width > 0:
		_, _ = fmt.Fprint(s.out.W, "\r\x1b[K"+s.out.cut(s.out.clean(collectLine(now)), s.out.Width-1))
		s.bar = true
	default:
		_, _ = fmt.Fprintln(s.out.W, s.out.clean(collectLine(now)))
	}
}

// collectLine says the progress in words.
//
//	kr-solo-master+  players 134/6,021  matches 9,310 of 11,204 stored  ~3 h
func collectLine(p collectProgress) string {
	line := fmt.Sprintf("%s  %s %s/%s", p.Collection, p.Phase, count(p.Done), count(p.Total))
	line += human.If(p.Matches.Found > 0, fmt.Sprintf("  matches %s of %s stored", count(p.Matches.Stored), count(p.Matches.Found)))
	switch {
	case p.Held != "":
		line += "  " + p.Held
	case p.ETA != nil:
		line += "  ~" + human.Span(time.Duration(*p.ETA)*time.Second)
	}
	return line
}

// endCollection prints the summary.
func (s *show) endCollection(sum collectSummary) error {
	s.done()
	if s.out.JSON {
		return s.out.json(sum)
	}
	line := fmt.Sprintf("%s %s: %s players listed", sum.Collection, sum.Result, count(sum.Listed))
	line += human.If(sum.Failed > 0, fmt.Sprintf(" (%s could not be)", count(sum.Failed)))
	m := sum.Matches
	line += fmt.Sprintf(", %s of %s matches stored (%s of them before, %s could not be had, %s too old), %s listed again, in %s",
		count(m.Stored), count(m.Found), count(m.Had), count(m.Lost), count(m.TooOld), count(m.Again),
		human.Span(time.Duration(sum.ElapsedS*float64(time.Second))))
	_, err := fmt.Fprintln(s.out.W, s.out.clean(line))
	return err
}

// Collections lists collections, or one in depth by its name.
func Collections(name string) List {
	return listing[engine.CollectionRow]{
		of: columns.Collections, shown: columns.CollectionLines,
		none: "nothing is collected yet: `farsight collect master+ --platform kr --since 14d` begins",
		read: once(engine.CollectionsQuery{Name: name}, func(a engine.CollectionsAnswer) []engine.CollectionRow { return a.Collections }, nil),
	}.list()
}
