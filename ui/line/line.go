// Package line reads operations that are asked for by a line of text, such as
// "reschedule match:KR_1 +10m because the site is deployed". The palette and the plain
// console read theirs the same way.
package line

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/page"
)

// line is one that is being read: the command that it makes grows with each part that is understood.
type line struct {
	*page.View
	o    operation.Operation
	c    engine.Command
	text string // its target, and what it needs besides: "europe match-v5 50%"
	name string // of the target, as questions call it
	arg  string // what it needs besides
}

// targets find what a line is about, each by its kind, among what is live, or say why they cannot.
var targets = map[operation.Target]func(*line) (wrong string){
	operation.Class: (*line).class, operation.Queue: (*line).queue, operation.Bucket: (*line).bucket,
	operation.Account: (*line).account, operation.Stored: (*line).stored, operation.Schedule: (*line).schedule,
	operation.Alert: (*line).alert, operation.Entry: (*line).entry, operation.Ladders: (*line).ladders,
}

// Read makes an effect of what stands behind an operation's word, or says what is wrong
// with it. " because " begins the reason of any of them, but for words that are spoken.
func Read(v *page.View, o operation.Operation, text string) (e page.Effect, wrong string) {
	l := &line{View: v, o: o, c: engine.Command{Op: o.Op}}
	// What is spoken may well hold the word because.
	if o.Arg == operation.Say {
		return l.call(text)
	}
	var reason string
	l.text, reason, _ = strings.Cut(text, " because ")
	l.text, reason = strings.TrimSpace(l.text), strings.TrimSpace(reason)
	switch o.Arg {
	case operation.Why:
		l.arg = reason
	// "reschedule Name With Blanks#EUW 1h": the last word, since a name may have several.
	case operation.When:
		at := strings.LastIndexByte(l.text, ' ')
		l.text, l.arg = strings.TrimSpace(l.text[:max(at, 0)]), l.text[at+1:]
	case operation.Share: // its argument is a share or a reason, with or without because
		l.text = strings.Replace(text, "because ", "", 1)
	}
	if o.Target == operation.Job {
		return l.job(reason)
	}
	if find := targets[o.Target]; find != nil { // some operations are about nothing, such as one on the key
		if wrong := find(l); wrong != "" {
			return page.Effect{}, wrong
		}
	}
	if wrong := page.ReadArg(&l.c, l.arg, v.Now); wrong != "" {
		return page.Effect{}, wrong
	}
	l.c.Reason = cmp.Or(reason, l.c.Reason)
	return page.Ask(l.c, l.name), ""
}

// Live finds a live job by id or key, with or without job: in front: "job:match:EUW1_7012345678".
func Live(d *page.Data, arg string) (engine.JobRow, bool) {
	arg = strings.TrimPrefix(arg, "job:")
	return first(d.Jobs, func(j engine.JobRow) bool { return string(j.ID) == arg || j.Key == arg })
}

// Stored finds an account by its Riot ID, in any case of letters, or by our id.
func Stored(d *page.Data, name string) (engine.AccountRow, bool) {
	return first(d.Accounts, func(a engine.AccountRow) bool { return a.ID == name || strings.EqualFold(a.RiotID, name) })
}

// first is the first row that fits.
func first[T any](rows []T, fits func(T) bool) (row T, ok bool) {
	if i := slices.IndexFunc(rows, fits); i >= 0 {
		return rows[i], true
	}
	return row, false
}

// job acts on a live job as its key on a list would, on a sync by its account, too. What
// has ended is not among the live rows: force takes its id, force and retry its key.
func (l *line) job(reason string) (e page.Effect, wrong string) {
	name := strings.TrimPrefix(l.text, "job:")
	j, live := Live(l.Live, name)
	if a, ok := Stored(l.Live, name); ok && !live {
		j, live = Live(l.Live, string(a.Job))
	}
	needs := ""
	if l.o.Arg != operation.NoArg { // told after a name that is wrong
		needs = page.ReadArg(&l.c, l.arg, l.Now)
	}
	// Force takes what has ended, by its id. A key may be that of a match that has no job any more: the engine
	// knows.
	switch ended := l.o.Arg == operation.Why || l.o.Calls && strings.Contains(name, ":"); {
	case !live && !ended:
		return e, "no live job is called " + name + ": jobs lists them"
	case needs != "":
		return e, needs
	case live && l.o.Arg == operation.NoArg:
		if e, wrong = page.ActOn(l.View, j, page.Action(l.o.Op)); e.Do != nil {
			e.Do.Reason = reason
		}
		return e, wrong
	}
	// Of a live job the revision goes along: if it has moved on meanwhile, the engine refuses.
	l.c.Job, l.c.IfRev, l.c.Reason = cmp.Or(j.ID, engine.JobID(name)), j.Rev, reason
	return page.Ask(l.c, name), ""
}

// class names an error class. Its jobs are tried with one first (the canary): if that fails again, the
// others are left.
func (l *line) class() (wrong string) {
	if l.name = l.text; l.name == "" {
		return "name an error class, such as 404"
	}
	l.c.Canary, l.c.Select = true, &engine.Selection{Filter: &engine.JobFilter{Class: engine.Class(l.name)}}
	return ""
}

// queue reads the name of one that has been seen; another one is answered with those that there are.
func (l *line) queue() (wrong string) {
	l.c.Queue = engine.Queue(l.text)
	if _, ok := l.Live.Queue(l.c.Queue); ok {
		return ""
	}
	names := make([]string, len(l.Live.Queues))
	for i, q := range l.Live.Queues {
		names[i] = string(q.Name)
	}
	return "name a queue: " + strings.Join(names, ", ")
}

// schedule reads the name of one; whether there is one is for the engine to say. The word
// of the line is the same for all that can be done to it, which comes first: "schedule pause latest",
// "schedule edit latest @every 15m".
func (l *line) schedule() (wrong string) {
	what, text, _ := strings.Cut(l.text, " ")
	l.o = operation.Of(engine.Op(what + "-schedule"))
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	l.c.Op, l.c.Schedule, l.arg = l.o.Op, name, strings.TrimSpace(rest)
	switch {
	case l.o.Target != operation.Schedule:
		return "say edit, run, pause or resume, and the name of a schedule"
	case name == "":
		return "name a schedule behind it, such as latest"
	case l.o.Arg == operation.NoArg && l.arg != "":
		return what + " takes the name of a schedule and nothing more"
	case l.o.Arg != operation.NoArg && l.arg == "":
		return l.o.Needs
	// "schedule edit latest as configured" takes an operator's change away.
	case l.arg == operation.AsConfigured:
		l.arg = ""
	}
	return ""
}

// alert finds one by its id, "503/asia", or by its rule, "503", if only one alert is of it.
func (l *line) alert() (wrong string) {
	if l.text == "" && l.o.Arg != operation.NoArg {
		return l.o.Needs
	}
	var all, ids []string
	for i := range l.Live.Alerts {
		a := &l.Live.Alerts[i]
		if all = append(all, a.ID); a.ID == l.text || a.Rule == l.text {
			ids = append(ids, a.ID)
		}
	}
	switch {
	case slices.Contains(ids, l.text):
		l.c.Alert = l.text
	case len(ids) == 1:
		l.c.Alert = ids[0]
	case len(ids) > 1:
		return "several alerts are called " + l.text + ": " + strings.Join(ids, ", ")
	default:
		return "there is no alert " + l.text + ": " + cmp.Or(strings.Join(all, ", "), "none has been seen yet")
	}
	return ""
}

// bucket reads a host and, if the next word is one of its methods, that: "europe match-v5 50%". The
// version of a method may be left out: match means match-v5.match as well.
func (l *line) bucket() (wrong string) {
	host, rest, _ := strings.Cut(l.text, " ")
	method, after, _ := strings.Cut(strings.TrimSpace(rest), " ")
	l.arg = strings.TrimSpace(rest)
	var hosts []string
	for _, r := range l.Live.Limits.Buckets {
		if !slices.Contains(hosts, r.Host) {
			hosts = append(hosts, r.Host)
		}
		if r.Host == host && method != "" && (r.Method == method || strings.HasPrefix(r.Method, method+"-v")) {
			l.c.Bucket.Method, l.arg = r.Method, after
			break
		}
	}
	if !slices.Contains(hosts, host) {
		return "no limit of the host " + host + " is known: " + strings.Join(hosts, ", ")
	}
	l.c.Bucket.Host = host
	return ""
}

// stored reads an account that is known here.
func (l *line) stored() (wrong string) {
	a, ok := Stored(l.Live, l.text)
	if !ok {
		return "there is no account " + cmp.Or(l.text, "without a name")
	}
	l.c.Account, l.name = a.ID, a.RiotID
	return ""
}

// account reads one that is stored, but not for a sync, which may be of a new one of that
// name on another platform; else its Riot ID and its platform.
func (l *line) account() (wrong string) {
	if a, ok := Stored(l.Live, l.text); ok && l.o.Ask.Text == "" {
		l.c.Account, l.c.Sync.Platform = a.ID, a.Platform
		return ""
	}
	l.c.Account, l.c.Sync.Platform, wrong = riotID(l.Live, l.text)
	l.name = l.c.Account
	return wrong
}

// entry reads the number of a command in the audit, "#41" or "41".
func (l *line) entry() (wrong string) {
	n, err := strconv.ParseUint(strings.TrimPrefix(l.text, "#"), 10, 64)
	if l.c.Audit = n; err != nil || n == 0 {
		return l.text + " is no number of a command: the audit has them in its last column"
	}
	return ""
}

// call reads a telephone number and what shall be said, which is taken as it stands: a text may
// well say because. Whether the number may be called is for the engine to say.
func (l *line) call(text string) (e page.Effect, wrong string) {
	number, say, _ := strings.Cut(strings.TrimSpace(text), " ")
	if say = strings.TrimSpace(say); number == "" || say == "" {
		return e, l.o.Needs
	}
	l.c.Call = &engine.CallAsk{To: number, Say: say}
	return page.Ask(l.c, engine.CutNumber(number)), ""
}

// riotID reads "Name#TAG platform", such as "Blue Heron#EUW euw1". A tag has no spaces, so what
// follows it is the platform. An account that is known needs none, and all others have d.Platform, where that
// is set.
func riotID(d *page.Data, text string) (id, platform, wrong string) {
	text = strings.TrimSpace(text)
	at := strings.LastIndexByte(text, '#')
	if at <= 0 {
		return "", "", "a Riot ID looks like Name#TAG: type it with the # and the tag"
	}
	// The tag, and perhaps the platform.
	rest := strings.Fields(text[at+1:])
	if len(rest) == 0 || len(rest) > 2 {
		return "", "", "type one Riot ID and its platform: Name#TAG euw1"
	}
	id = strings.TrimSpace(text[:at]) + "#" + rest[0]
	if len(rest) == 2 {
		return id, strings.ToLower(rest[1]), ""
	}
	// An account that nobody knows yet has to be looked for on one platform.
	if platform = platformOf(id, d.Platform, d.Accounts); platform == "" {
		return "", "", "say the platform too: " + text + " euw1 (or kr, na1, eun1, jp1, br1, …)"
	}
	return id, platform, ""
}

// platformOf is where an account that is named without a platform plays: where the only
// one of that name does, else usual.
func platformOf(riotID, usual string, known []engine.AccountRow) string {
	found := ""
	for i := range known {
		switch a := &known[i]; {
		case !strings.EqualFold(a.RiotID, riotID) || a.Platform == "":
		case found != "" && found != a.Platform:
			return usual
		default:
			found = a.Platform
		}
	}
	return cmp.Or(found, usual)
}
