package columns

import (
	"cmp"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type (
	alert    = engine.AlertRow
	evidence = engine.Evidence
)

// Alerts is what is told of a rule about a subject.
//
//	ALERT       STATE   SINCE      NOW  LIMIT  WHAT                 EVIDENCE                         REMARK
//	503/europe  FIRING  4 min ago  3    > 2    503 burst per 1 min  europe match-v5.match EUW1_7123  it goes on by itself: …
var Alerts = catalogue(filter.Options{
	Free:  []string{"rule", "subject", "state", "next"},
	Fuzzy: []string{"rule", "subject"},
	Age:   "age", When: "since",
},
	prose("rule", "", func(r *alert) string { return r.About }).head("RULE", table.Words, 24, 34).
		reads(AlertName).line("WHAT", table.Words, 1),
	name("subject", "host, status, queue", func(r *alert) string { return r.Subject }),
	name("state", "firing, pending, acknowledged, silenced, ok", func(r *alert) engine.AlertState { return r.State }).
		head("STATE", table.State, 14, 14).
		cell(AlertSign).sort(func(a, b *alert) int { return AlertRank(a.State) - AlertRank(b.State) }).
		prints(func(r *alert) string { return strings.ToUpper(string(r.State)) }),
	prose("next", "what to do", func(r *alert) string { return r.Next }).head("NEXT STEP", table.Words, 20, 20).drop(1).
		flex(1).cell(nextStep).line("REMARK", table.Words, 1).printsAt(alertRemark),
	// An alert that is well has been so since some instant, too, which nobody wants to know in a list.
	past("since", "", func(r *alert) time.Time { return r.Since }).head("SINCE", table.Number, 6, 6).drop(2).
		colour(themes.Dim).greatestFirst().
		penned(func(p Pen, r *alert) string {
			if r.State == engine.AlertOK {
				return human.None
			}
			return p.Age(r.Since)
		}),
	age("age", "", func(r *alert) time.Time { return r.Since }),
	shown[alert]("id").line("ALERT", table.Words, 0).prints(func(r *alert) string { return r.ID }),
	shown[alert]("now").head("NOW", table.Number, 7, 7).line("NOW", table.Number, 0).
		prints(func(r *alert) string { return r.Now() }).
		cell(func(_ Pen, r *alert) table.Cell {
			c := table.Plain(r.Now())
			if span := time.Duration(r.Value * float64(time.Second)); r.Known && r.Unit == engine.AlertDuration &&
				span >= time.Minute {
				c.Text = human.Dur(span)
			}
			if r.Holds {
				c.Token = themes.Warn
			}
			return c
		}),
	shown[alert]("limit").head("LIMIT", table.Words, 8, 8).colour(themes.Dim).
		says(func(r *alert) string { return r.Bound() }).
		line("LIMIT", table.Number, 0).prints(func(r *alert) string { return r.Bound() }),
	shown[alert]("evidence").line("EVIDENCE", table.Words, 1).prints(func(r *alert) string { return r.Said() }),
	shown[alert]("hour").head("LAST HOUR", table.Number, SparkCells, SparkCells).drop(3),
)

// SparkCells is how many values of an hour a list shows: one per five minutes, as engine.AlertRow.History
// has them. The minute of a member's calls takes as many.
const SparkCells = 12

// Where alerts are shown, with the columns in their order.
var (
	AlertList  = Alerts.Pick("state since rule now limit hour next")
	AlertLines = Alerts.Pick("id state since now limit rule evidence next")
)

// alertWords are the states of alerts as screens write them, and where they stand.
var alertWords = map[engine.AlertState]struct {
	word, sign string
	rank       int
}{
	engine.AlertFiring:       {"FIRING", "FIRING", 0},
	engine.AlertPending:      {"PENDING", "PENDING ALERT", 1},
	engine.AlertAcknowledged: {"ACKNOWLEDGED", "ACKNOWLEDGED", 2},
	engine.AlertSilenced:     {"SILENCED", "SILENCED", 3},
	engine.AlertOK:           {"OK", "OK", 4},
}

// AlertWord is a state of an alert as screens write it.
func AlertWord(s engine.AlertState) string {
	return cmp.Or(alertWords[s].word, strings.ToUpper(string(s)))
}

// AlertRank is where a state stands in the order of screens.
func AlertRank(s engine.AlertState) int { return alertWords[s].rank }

// AlertSign is an alert's word with its sign: one that is pending has the sign
// of an alert, not that of a job.
func AlertSign(p Pen, r *alert) table.Cell {
	return p.Sign(alertWords[r.State].sign, AlertWord(r.State))
}

// AlertName is the rule and what it is about.
func AlertName(r *alert) string { return r.Name() }

// nextStep is what comes next by itself, or what a person can do. It is one cell of a list: of the
// advice it shows the first clause.
func nextStep(p Pen, r *alert) table.Cell {
	switch r.State {
	case engine.AlertOK:
		return table.As(themes.Dim, human.Either(r.Over(), "it is over", human.None))
	case engine.AlertPending:
		if in := p.In(r.Fires); in != human.None {
			return table.As(themes.Dim, "fires in "+in)
		}
		return table.As(themes.Dim, "fires now")
	case engine.AlertSilenced:
		return table.As(themes.Dim, "until "+p.Clock(r.Until)+ByUser(r.By))
	case engine.AlertAcknowledged:
		return table.As(themes.Dim, "seen"+ByUser(r.By))
	}
	if r.Clears.After(p.Now()) {
		return table.As(themes.Dim, "ends in "+p.In(r.Clears))
	}
	return table.Plain(r.Next[:max(strings.IndexAny(r.Next+":", ":,"), 0)]) // the rest is told of the selected alert
}

// alertRemark is what a person wants to know of an alert in its state.
func alertRemark(r *alert, now time.Time) string {
	switch r.State {
	case engine.AlertPending:
		return "fires in " + human.SpanTo(r.Fires, now) + " if it stays"
	case engine.AlertAcknowledged:
		return "seen by " + r.By.User
	case engine.AlertSilenced:
		return "by " + r.By.User + ", for " + human.SpanTo(r.Until, now)
	case engine.AlertFiring:
		if !r.Clears.IsZero() {
			return "ends in " + human.SpanTo(r.Clears, now) + " if it stays clear"
		}
		return r.Next
	}
	return ""
}

// Evidence is what is told of a thing that speaks for an alert.
var Evidence = catalogue(filter.Options{Free: []string{"kind", "id", "text"}, Fuzzy: []string{"text"}, When: "at"},
	name("kind", "job, account, call, queue, reading", func(r *evidence) string { return r.Kind }).
		head("WHAT", table.Words, 8, 8).colour(themes.Dim).rising(),
	name("id", "", func(r *evidence) string { return r.ID }).head("ID", table.ID, 12, 24).drop(1).rising(),
	prose("text", "", func(r *evidence) string { return r.Text }).head("SAID", table.Sentence, 34, 48).flex(1),
	past("at", "", func(r *evidence) time.Time { return r.At }).head("WHEN", table.Words, 12, 12).colour(themes.Dim).
		greatestFirst(),
)

// EvidenceList are the columns of the screen of an alert's evidence.
var EvidenceList = Evidence.Pick("at kind id text")
