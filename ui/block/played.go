package block

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Played is what an account has played lately, week by week and champion by champion, with
// what a report would say of what is stored so far.
type Played struct {
	page.Answer
	of   string // account, its last run and the zone
	Play engine.Play
}

// playedEvery is how old an answer gets before the next is asked for while matches come: for each
// one the engine reads all games of the account.
const playedEvery = 5 * time.Second

// Want asks for what the account has played, in the zone of its report; "" = the engine's own.
// While a sync adds to it, it is asked for again every few seconds. nil = no question is due.
func (p *Played) Want(v *page.View, a engine.AccountRow, r *engine.PlayReport) engine.Query {
	zone := ""
	if r != nil {
		zone = r.Zone
	}
	// Anything that makes another answer of it is in the name: the account, its last run, how that
	// ended, and the zone. The champions of the same account stay on the screen until the new
	// answer is there; those of another account never do.
	if of := a.ID + " " + string(a.Job) + " " + a.Result + " " + zone; of != p.of {
		p.Answer, p.of = page.Answer{}, of
		if p.Play.Account != a.ID {
			p.Play = engine.Play{}
		}
	}
	age := v.Now.Sub(p.At)
	if a.ID == "" || p.Have && (!a.Status.Open() || age >= 0 && age < v.Unhurried(playedEvery)) || !p.Due(v, v.Seq) {
		return nil
	}
	return engine.PlayQuery{Account: a.ID, Zone: zone, Weeks: charts.BesideWeeks, Draft: true}
}

// Got takes the answer to Want's question; an error keeps what there was.
func (p *Played) Got(v *page.View, a engine.Answer, err error) {
	if play, ok := a.(engine.Play); p.Take(v, err) && ok {
		p.Play = play
	}
}

// Report is the report of an account and what it is made of. While a sync adds matches, or where
// there is no report yet, it is a draft made of what is stored so far; nil = there is neither.
func (p *Played) Report(a engine.AccountRow, r *engine.PlayReport) (report *engine.PlayReport, note string) {
	d := p.Play.Draft
	switch {
	case r != nil && (d == nil || !a.Status.Open() || a.Matches.Open <= 0):
		_, note = Coverage(r)
		return r, note
	case d == nil || d.Matches == 0:
		return d, ""
	}
	return d, "from " + page.Count(d.Matches) + " of " + human.Counted(d.Matches+d.Missing, "match", "matches")
}

// IsDraft reports whether r is the draft, and not a report that was stored.
func (p *Played) IsDraft(r *engine.PlayReport) bool { return r != nil && r == p.Play.Draft }

// WonCell is how many of some games were won: "31 won, 52 %", or "31 of 59 won" where others were
// remakes; empty if none was won or lost.
func WonCell(wins, games, remakes int) part.Cell {
	if games == remakes {
		return part.Cell{}
	}
	of := human.If(remakes > 0, " of "+page.Count(games-remakes))
	return part.As(themes.Dim, page.Count(wins)+of+" won, "+human.Percent(float64(wins)/float64(games-remakes)))
}

// championRows are the champions of an account, the most played first, and how many of the
// games with each were won.
func championRows(v *page.View, play *engine.Play, w int) []string {
	all := make([]Bar, 0, len(play.Champions))
	for _, c := range play.Champions {
		won := human.Percent(float64(c.Wins) / float64(max(c.Games-c.Remakes, 1)))
		text := fmt.Sprintf("%s %5s", page.Count(c.Games), won)
		all = append(all, Bar{cmp.Or(c.Name, "not told"), float64(c.Games), text})
	}
	return Bars(v, all, themes.Run, w)
}

// Champions is the section of the champions that an account played most, in h rows. Its note counts
// those that are not shown, also those that the engine did not send.
func (p *Played) Champions(v *page.View, w, h int) part.Section {
	s := part.Section{Title: "CHAMPIONS", Tail: "games, won", Height: h, Rows: championRows(v, &p.Play, w)}
	if hidden := max(len(s.Rows)-h, 0) + p.Play.More; hidden > 0 {
		s.Note = page.Count(hidden) + " more"
	}
	if s.Empty = "known with the first match that is stored"; p.Loading() {
		s.Empty = "loading the champions…"
	}
	s.Rows = slices.Clip(s.Rows[:min(len(s.Rows), h)])
	return s
}

// Coverage says of how many matches a report is made: "from 397 of 412 matches 96 %", and the state
// word for that. It is always told: a report of half of the matches looks like that of a player who
// plays half as much.
func Coverage(r *engine.PlayReport) (word, text string) {
	all := r.Matches + r.Missing
	text = "from " + page.Count(r.Matches) + " of " + human.Counted(all, "match", "matches")
	if r.Missing == 0 {
		return "OK", text
	}
	text += " " + human.Percent(float64(r.Matches)/float64(max(all, 1)))
	text += human.If(r.Cancelled > 0, ": "+engine.Gaps(r.Missing-r.Cancelled, r.Cancelled))
	return "PARTIAL", text
}

// PlaySpan is from when to when the games of a report were played; "" = it has none.
func PlaySpan(v *page.View, r *engine.PlayReport) string {
	if r.First.IsZero() {
		return ""
	}
	first, last := r.First.In(v.Now.Location()), r.Last.In(v.Now.Location())
	from := "2 Jan"
	if first.Year() != last.Year() {
		from = "2 Jan 2006"
	}
	return first.Format(from) + " to " + last.Format("2 Jan 2006")
}
