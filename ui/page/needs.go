package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// Need is something that a person should see, with the key that settles it.
type Need struct {
	ID   string
	Word string // state word: WARN or ERROR
	Text string
	More string // what to do about it, or why; "" = the text says it all
	Key  string // "{key} replaces"
	By   string // who did it; a row that is alone shows it behind Text, if it fits
	// Since is when it began; zero = nobody knows.
	Since time.Time
	Open  func(v *View) Effect
	// Alone: it goes on by itself, and nobody need act.
	Alone bool
}

// alone says that nobody need act, as the next step of a rule does, too.
const alone = "it goes on by itself"

// ruleExpiry is the rule that tells how long the key lives.
const ruleExpiry = "key-expires"

// Needs lists what needs a person, the gravest first.
func (d *Data) Needs() []Need {
	var out []Need
	out = append(out, d.engineNeeds()...)
	out = append(out, d.alertNeeds()...)
	out = append(out, d.pausedQueues()...)
	out = append(out, d.frozen()...)
	out = append(out, d.failedSyncs()...)
	if d.Engine.Failed > 0 {
		out = append(out, Need{
			ID: "failed", Word: "WARN", Text: human.Counted(int(d.Engine.Failed), "match", "matches") + " gave up", More: "what Riot answered is with each of them", Key: "{open}",
			Open: func(*View) Effect { return Effect{Open: &Target{Screen: ScreenJobs, Shown: ShownFailed}} },
		})
	}
	if d.Engine.Unforeseen > 0 && !d.tells("429") {
		text, more := unexpected429s(int(d.Engine.Unforeseen))
		out = append(out, Need{ID: "429", Word: "WARN", Text: text, More: more, Key: "{open}", Open: func(*View) Effect { s := ScreenLimits; return Effect{Go: &s} }})
	}
	return out
}

// unexpected says that some 429s came though our limiter let the calls through.
func unexpected429s(n int) (text, more string) {
	return human.Counted(n, "unexpected 429", "unexpected 429s"), "does another program use this key?"
}

// alertKeys are the keys that settle an alert's cause, where it is not looking at
// its evidence.
var alertKeys = map[string]string{"key": "{key} replaces", ruleExpiry: "{key} replaces"}

// alertNeeds are the alerts that fire and that nobody has seen. A rule about what
// the engine's own state says already is left out.
func (d *Data) alertNeeds() []Need {
	var out []Need
	for _, r := range d.Alerts {
		if r.State != engine.AlertFiring || d.Engine.State == engine.EngineNoKey && r.Rule == "key" {
			continue
		}
		n := Need{ID: "alert:" + r.ID, Word: "FIRING", Text: needName(&r) + ": " + r.Now(), More: r.Next, Alone: strings.HasPrefix(r.Next, alone), Since: r.Since, Key: "{open}", Open: func(*View) Effect { return Effect{Open: &Target{Screen: ScreenEvidence, Row: r}} }}
		if r.Rule == "429" {
			n.Text, n.More = unexpected429s(max(int(r.Value), 1))
		}
		if key, ok := alertKeys[r.Rule]; ok {
			n.Key, n.Open = key, func(*View) Effect { return Effect{Ask: AskKey} }
		}
		out = append(out, n)
	}
	return out
}

// tells reports whether a rule has an alert that is not fine: it says the same as
// a need that is worked out here would.
func (d *Data) tells(rule string) bool {
	return slices.ContainsFunc(d.Alerts, func(r engine.AlertRow) bool { return r.Rule == rule && r.State != engine.AlertOK })
}

// grave are the engine states that need a person or at least their eye.
var grave = map[engine.EngineState]Need{
	engine.EngineNoKey:    {ID: "key", Word: "ERROR", Text: "no key: ", Key: "{key} replaces", Open: func(*View) Effect { return Effect{Ask: AskKey} }},
	engine.EngineAPIDown:  {ID: "api", Word: "ERROR"},
	engine.EngineDegraded: {ID: "degraded", Word: "WARN", Text: "degraded: "},
	engine.EngineBroken:   {ID: "broken", Word: "ERROR", Text: "the engine has stopped: "},
}

func (d *Data) engineNeeds() []Need {
	n, ok := grave[d.Engine.State]
	if !ok {
		return nil
	}
	n.Text += d.Engine.Why
	if d.Engine.State == engine.EngineAPIDown {
		n.Text, n.More, _ = strings.Cut(n.Text, ": ")
		n.More += "; " + alone
		n.Alone = true
	}
	if waiting := d.waitingJobs(); d.Engine.State == engine.EngineNoKey && waiting > 0 {
		n.Text, n.More = "no key: "+human.Counted(waiting, "job waits", "jobs wait"), d.Engine.Why
	}
	if d.Engine.State == engine.EngineNoKey && d.Engine.Key == "" {
		n.Key = "{key} gives one"
	}
	return []Need{n}
}

func (d *Data) waitingJobs() int {
	n := 0
	for _, q := range d.Queues {
		n += q.Counts[engine.Available] + q.Counts[engine.Scheduled] + q.Counts[engine.Retryable]
	}
	return n
}

// KeyLeft is how long the key can live at most, as the alert about it tells; ok is false
// for a key that is not known to die.
func (d *Data) KeyLeft() (left time.Duration, ok bool) {
	for _, r := range d.Alerts {
		if r.Rule == ruleExpiry && r.Known && d.Engine.State != engine.EngineNoKey {
			return max(time.Duration(r.Value*float64(time.Second)), 0), true
		}
	}
	return 0, false
}

func (d *Data) pausedQueues() []Need {
	var out []Need
	for _, q := range d.Queues {
		if !q.Paused || q.By.Via == "engine" {
			continue
		}
		name, by := q.Name, "paused"+columns.ByUser(q.By)
		out = append(out, Need{
			ID: "pause:" + string(q.Name), Word: "PAUSED", Text: string(q.Name), By: by, More: by + ": " + cmp.Or(q.Reason, "nothing of it starts"), Since: q.Since, Key: "{pause} resumes",
			Open: func(*View) Effect { return Effect{Open: ToQueue(name)} },
		})
	}
	return out
}

// frozen are the hosts and methods whose calls wait until somebody resumes them.
func (d *Data) frozen() []Need {
	var out []Need
	for _, b := range d.Limits.Buckets {
		name := strings.TrimSpace(b.Host + " " + b.Method)
		if !b.StaysFrozen() || slices.ContainsFunc(out, func(n Need) bool { return n.ID == "frozen:"+name }) {
			continue
		}
		out = append(out, Need{
			ID: "frozen:" + name, Word: "FROZEN", Text: engine.AreFrozen(b.Host, b.Method), More: cmp.Or(b.FreezeWhy, human.Either(b.Method == "", "its calls", "they")+" wait until somebody resumes them"), Key: "{open}",
			Open: func(*View) Effect { s := ScreenLimits; return Effect{Go: &s} },
		})
	}
	return out
}

// shownSyncs bounds how many failed syncs are told one by one.
const shownSyncs = 5

func (d *Data) failedSyncs() []Need {
	var out []Need
	for i := range d.Accounts {
		if d.Accounts[i].Status != engine.SyncFailed {
			continue
		}
		id, name := d.Accounts[i].ID, d.Accounts[i].RiotID
		if len(out) == shownSyncs {
			return append(out, Need{
				ID: "syncs", Word: "WARN", Text: "more syncs failed", Key: "{open}",
				Open: func(*View) Effect { s := ScreenAccounts; return Effect{Go: &s} },
			})
		}
		out = append(out, Need{
			ID: "sync:" + id, Word: "WARN", Text: "sync failed: " + name, Key: "{open}",
			Open: func(*View) Effect { return Effect{Open: ToAccount(id)} },
		})
	}
	return out
}

// Needs is Data.Needs, worked out once for a drawing.
func (v *View) Needs() []Need {
	if !v.counted {
		v.needs, v.counted = v.Data.Needs(), true
	}
	return v.needs
}

// Firing is how many alerts fire and nobody has seen, for the title; "" = none.
func (v *View) Firing() string { return human.If(v.Engine.Alerts > 0, strconv.Itoa(v.Engine.Alerts)) }

// needName leaves out in what time: the screen of alerts tells.
func needName(r *engine.AlertRow) string {
	short := *r
	short.About, _, _ = strings.Cut(r.About, " per ")
	return columns.AlertName(&short)
}
