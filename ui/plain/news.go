package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
)

// told is how many sentences of a kind are said one by one; the rest are counted. More would scroll away
// what is told once: that the engine has stopped, that an alert fires.
const told = 3

// sentence is one change in words. Of a kind many can come at once, such as retries; about is the id of
// what it tells of, "" = each stands for itself.
type sentence struct {
	kind, about string
	at          time.Time
	text        string // in lower case and without its full stop: the time stands before it
}

// news gathers sentences until they are said.
type news struct{ all []sentence }

// empty reports whether nothing has changed.
func (n *news) empty() bool { return len(n.all) == 0 }

// add notes a sentence. One about a thing of which there is one already takes its place: only how it
// stands in the end is said.
func (n *news) add(kind, about string, at time.Time, text string) {
	s := sentence{kind, about, at, text}
	i := slices.IndexFunc(n.all, func(old sentence) bool { return old.kind == kind && old.about == about })
	if about != "" && i >= 0 {
		n.all[i] = s
		return
	}
	n.all = append(n.all, s)
}

// drain gives what was gathered, each with its time, and forgets it. Those of one kind that are more than
// told are counted in a last sentence:
//
//	12:31:35 retry of match KR_7214550881 in 12 seconds, try 3 of 5, after 503
//	12:31:36 and 9 more like it: retries were scheduled
func (n *news) drain(zone *time.Location) []string {
	var out []string
	counts := map[string]int{}
	// One that took the place of an older stands where that stood.
	slices.SortStableFunc(n.all, func(a, b sentence) int { return a.at.Compare(b.at) })
	for _, s := range n.all {
		counts[s.kind]++
		if counts[s.kind] <= told {
			out = append(out, s.at.In(zone).Format("15:04:05")+" "+s.text)
		}
	}
	for _, s := range n.all {
		if more := counts[s.kind] - told; more > 0 {
			counts[s.kind] = 0
			out = append(out, s.at.In(zone).Format("15:04:05")+" and "+strconv.Itoa(more)+" more like it: "+foldWords[s.kind])
		}
	}
	n.all = nil
	return out
}

// foldWords name the kinds of sentences that come in numbers. What the engine itself becomes is told each
// time: its kind is not among them, since a later state takes the place of the one before.
var foldWords = map[string]string{
	"retry": "retries were scheduled", "hold": "jobs were sent back to wait", "throttled": "calls were answered 429",
	"progress": "accounts moved on", "sync": "syncs changed their state", "queue": "queues changed",
	"alert": "alerts changed", "limit": "limits changed", "note": "messages", "lost": "changes of the connection",
}

// compare notes what an update changes. It must come before the update is folded in: what was is what
// the rows have until then.
func (p *plain) compare(u engine.Update, now time.Time) {
	// A snapshot comes after a gap of unknown length: what differs is told by the status, not as news.
	if u.Snapshot {
		return
	}
	if e := u.Engine; e != nil {
		p.compareEngine(*e, now)
	}
	for _, q := range u.Queues {
		p.compareQueue(q, now)
	}
	for _, a := range u.Accounts {
		p.compareAccount(a, now)
	}
	for _, j := range u.Jobs {
		p.compareJob(j, now)
	}
	if u.Limits != nil {
		p.compareLimits(*u.Limits, now)
	}
	p.compareAlerts(u.Alerts, now)
	for _, c := range u.Calls {
		// Of all calls those alone that say something about the limits.
		if c.Status == 429 {
			p.news.add("throttled", "", c.At, throttledText(c))
		}
	}
	for _, n := range u.Notes {
		p.news.add("note", "", n.At, strings.ToLower(columns.LevelWord[n.Level])+": "+n.Text)
	}
}

// compareEngine tells another state of the engine, and matches that were given up: "the engine is
// PAUSED: every queue with work is paused".
func (p *plain) compareEngine(e engine.EngineRow, now time.Time) {
	was := p.rows.Data.Engine
	if e.State != was.State {
		text := "the engine is " + string(e.State) + human.If(e.Why != "", ": "+e.Why)
		p.news.add("engine", "state", now, text)
	}
	if e.Failed > was.Failed {
		text := human.Counted(int(e.Failed), "match has", "matches have") + " given up in all"
		p.news.add("engine", "failed", now, fmt.Sprintf("%s, %d just now", text, e.Failed-was.Failed))
	}
}

// compareQueue tells that a queue was paused or goes on, by whom and why. A queue that is new here is no
// news: its jobs are.
func (p *plain) compareQueue(q engine.QueueRow, now time.Time) {
	was, ok := p.rows.Data.Queue(q.Name)
	if !ok || was.Paused == q.Paused {
		return
	}
	text := "queue " + string(q.Name) + " goes on"
	if q.Paused {
		text = "queue " + string(q.Name) + " was paused" + human.If(q.By.User != "", " by "+q.By.User)
		text += human.If(q.Reason != "", ": "+q.Reason)
	}
	p.news.add("queue", string(q.Name), now, text)
}

// compareAccount tells that a sync has begun or ended, else how far it has come. An account that is new
// here counts as one that was never synced.
func (p *plain) compareAccount(a engine.AccountRow, now time.Time) {
	was, _ := p.rows.Data.Account(a.ID)
	if a.Status != was.Status {
		p.news.add("sync", a.ID, now, "the sync of "+a.RiotID+" "+columns.SyncText(a))
		return
	}
	moved := a.Matches.Done() != was.Matches.Done() || a.Phase != was.Phase || a.Listed != was.Listed
	if a.Status == engine.Syncing && moved {
		p.news.add("progress", a.ID, now, a.RiotID+": "+progressText(a))
	}
}

// progressText says how far a sync has come: "134 of 879 matches, 15 percent, 9 to be tried again,
// about 16 minutes left". What is nothing is left out.
func progressText(a engine.AccountRow) string {
	// Its pages are still listed: nobody knows how many matches there will be.
	if a.Matches.Total <= 0 {
		return "looking for matches, " + strconv.Itoa(a.Listed) + " found"
	}
	m := a.Matches
	share := strings.Replace(human.Percent(float64(m.Done())/float64(m.Total)), " %", " percent", 1)
	counted := func(n int, what string) string { return human.If(n > 0, strconv.Itoa(n)+" "+what) }
	timelines := fmt.Sprintf("timelines %d of %d", a.Timelines.Done(), a.Timelines.Total)
	return human.List(strconv.Itoa(m.Done())+" of "+human.Counted(m.Total, "match", "matches"), share,
		counted(m.Retrying, "to be tried again"), counted(m.Failed, "gave up"), counted(m.Cancelled, "cancelled"),
		human.If(a.Phase == engine.PhaseTimelines, timelines),
		human.If(a.ETA.Known && a.ETA.Calls > 0, "about "+human.Spoken(a.ETA.High)+" left"))
}

// compareJob tells of retries and of jobs that were sent back to wait. That jobs begin and end is
// told by the progress of their account.
func (p *plain) compareJob(j engine.JobRow, now time.Time) {
	was, _ := p.rows.Data.Job(j.ID)
	// A row comes again when its reason or its place in the line changes, which is no news.
	if was.Rev >= j.Rev || was.State == j.State && was.Tries == j.Tries && was.Due.Equal(j.Due) {
		return
	}
	wait := human.Spoken(j.Due.Sub(now))
	// Held jobs were sent back without a try: that is no failure, and has a sentence of its own.
	switch {
	case j.State == engine.Retryable:
		after := cmp.Or(string(j.Class), "a failure")
		p.news.add("retry", string(j.ID), now, "retry of "+thing(j.Job)+" in "+wait+", "+tryText(j)+", after "+after)
	case j.State == engine.Scheduled && j.Hold != engine.HoldNone:
		p.news.add("hold", string(j.ID), now, thing(j.Job)+" waits "+wait+": "+cmp.Or(j.Why, j.Hold.String()))
	}
}

// tryText is the try that comes next: "try 3 of 5". Of some kinds of jobs nobody says how many there are.
func tryText(j engine.JobRow) string {
	return human.Either(j.MaxAttempts <= 0, "try "+strconv.Itoa(j.Tries+1), fmt.Sprintf("try %d of %d", j.Tries+1, j.MaxAttempts))
}

// thing names a job in words: match KR_7214550881. One without a key is called by its kind and its id.
func thing(j engine.Job) string {
	return strings.Replace(cmp.Or(j.Key, string(j.Kind)+" "+string(j.ID)), ":", " ", 1)
}

// throttledText is a 429 in words: "429 service from europe for match-v5.match EUW1_7214550881, to
// wait 2 seconds".
func throttledText(c engine.CallRow) string {
	return "429 " + strings.TrimPrefix(string(c.Class), "429.") + " from " + c.Host + " for " + c.Method + " " + c.Target +
		human.If(c.RetryAfter > 0, ", to wait "+human.Spoken(c.RetryAfter)) +
		// Such a one is worth a look: somebody else may use the key.
		human.If(c.Unforeseen, ", unexpected: by our count there was room")
}

// compareLimits tells what stops calls: a freeze, a wait that a 429 has ordered. That a window is
// full is everyday business.
func (p *plain) compareLimits(l engine.LimitsRow, now time.Time) {
	was := map[string]engine.BucketRow{}
	for _, b := range p.rows.Data.Limits.Buckets {
		was[bucketName(b)] = b
	}
	for _, b := range l.Buckets {
		name := bucketName(b)
		old := was[name]
		// Frozen by an operator, or blocked because a 429 has said so.
		switch {
		case b.Frozen() && !old.Frozen():
			p.news.add("limit", name, now, name+" was frozen: "+cmp.Or(b.FreezeWhy, "no reason given"))
		case !b.Frozen() && old.Frozen():
			p.news.add("limit", name, now, name+" is open again")
		case b.Blocked.After(now) && !old.Blocked.After(now):
			p.news.add("limit", name, now, name+" lets nothing through for "+human.Spoken(b.Blocked.Sub(now))+": "+b.BlockedBy)
		}
	}
}

// bucketName names a limit: "asia app per 2 minutes", "asia match-v5.match per 10 seconds". A limit of a
// service has no window.
func bucketName(b engine.BucketRow) string {
	// A window of the application has no method: asia app.
	return b.Host + " " + cmp.Or(b.Method, b.Kind) + human.If(b.Window > 0, " per "+human.Spoken(b.Window))
}

// compareAlerts tells alerts that fire and those that are over, with what to do next. What only
// pends may be over before anybody reads it.
func (p *plain) compareAlerts(rows []engine.AlertRow, now time.Time) {
	// An alert that is new here was all right before.
	was := map[string]engine.AlertState{}
	for _, a := range p.rows.Data.Alerts {
		was[a.ID] = a.State
	}
	for _, a := range rows {
		// What is acknowledged or silenced is told too: somebody has seen it.
		old := cmp.Or(was[a.ID], engine.AlertOK)
		// An alert that pended and never fired is not: its end is no news.
		if a.State == old || a.State == engine.AlertPending || a.State == engine.AlertOK && old == engine.AlertPending {
			continue
		}
		text := "alert " + string(a.State) + ": " + strings.TrimSpace(a.About+" "+a.Subject)
		if said := a.Said(); said != "" && a.State == engine.AlertFiring {
			text += ": " + said
		}
		text += human.If(a.State == engine.AlertFiring && a.Next != "", ". Next: "+a.Next)
		p.news.add("alert", a.ID, now, text)
	}
}

// statusLines say how everything stands, in the order of the Overview. Nothing is drawn, and no sign
// stands for a word.
func (p *plain) statusLines() []string {
	d := &p.rows.Data
	e := d.Engine
	calls := strconv.Itoa(e.Calls()) + " calls a minute"
	if e.SinceStart { // less than a minute ago: there is no rate yet
		calls = human.Counted(e.Calls(), "call", "calls") + " since the start"
	}
	lines := []string{fmt.Sprintf("%s The engine is %s. %s, %d of %d workers at work, "+
		"%s matches stored, %d to be tried again, %d gave up, %d too old.",
		p.clock(time.Now(), "15:04:05"), cmp.Or(string(e.State), "not known"), calls, e.InFlight, e.Workers,
		human.Count(e.Stored), e.Retrying, e.Failed, e.TooOld)}
	switch {
	case e.Why != "": // it does not work as it should
		lines = append(lines, "It is "+string(e.State)+" because "+e.Why+".")
	case e.Pace != "":
		lines = append(lines, "Why it is not faster: "+e.Pace+".")
	}
	for _, n := range d.Needs() {
		lines = append(lines, "Needs you: "+n.Word+", "+n.Text+".")
	}
	for _, a := range d.Syncing() {
		lines = append(lines, a.RiotID+" "+d.SyncWord(a)+": "+progressText(a)+".")
	}
	lines = append(lines, p.collecting()...)
	// Of all windows the one that decides how fast the work goes.
	if b, ok := d.Limits.Pacing(""); ok {
		lines = append(lines, fmt.Sprintf("Tightest limit: %s, %d of %d used.", bucketName(b), b.Used, b.Limit))
	}
	return lines
}

// collecting are the collections that are not done.
func (p *plain) collecting() (lines []string) {
	v := &page.View{Data: &p.rows.Data, Now: time.Now().In(p.opt.Location())}
	c := page.Collections{}
	q := c.Any(v)
	if q == nil {
		return nil
	}
	a, err := p.console.Find(p.ctx, q)
	c.Got(v, q, a, err)
	for _, r := range c.Open(v) {
		lines = append(lines, fmt.Sprintf("%s %s: %s of %s, %s of %s stored.", r.Name, v.CollectionWord(r), human.Count(int64(r.Done())),
			human.Counted(r.Players, "player", "players"), human.Count(int64(r.Collected.Stored)), human.Counted(r.Collected.Found, "match", "matches")))
	}
	return lines
}
