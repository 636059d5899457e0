package ui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// order is a command as a line of text asks for it. What stands behind its word is
// read the same way by the palette and by the plain console; " because " begins the
// reason of any of them.
type order struct {
	name, ghost, help string
	read              func(d *page.Data, arg string, now time.Time) (c engine.Command, wrong string)
}

var orders = []order{
	{"pause", "a queue, because why", "pause a queue", queueOrder(engine.OpPause)},
	{"resume", "a queue", "let a queue go on", queueOrder(engine.OpResume)},
	{"force", "job:KEY because why", "run a job once more, past its limit of tries", forceOrder},
	{"reschedule", "job:KEY +10m, 14:00 or now", "give a waiting job another time", rescheduleOrder},
	{"freeze", "host [method] 60% +10m or until 14:00, because why", "freeze or cap a rate limit", freezeOrder},
	{"thaw", "host [method]", "end a freeze or a cap", thawOrder},
	{"track", "Name#TAG platform", "keep an account fresh by the schedules", trackOrder(engine.OpTrack)},
	{"untrack", "Name#TAG", "stop that; what is stored stays", trackOrder(engine.OpUntrack)},
	{"schedule", "edit, run, pause or resume NAME: schedule edit latest 0 */2 * * *", "steer a schedule", scheduleOrder},
	{"ack", "an alert: ack 429", "acknowledge an alert that fires", ackOrder},
	{"silence", "an alert and until when: silence 429 +30m, 14:00 or now", "silence an alert for a time", silenceOrder},
}

// reasoned parts an argument from its reason.
func reasoned(arg string) (rest, reason string) {
	rest, reason, _ = strings.Cut(arg, " because ")
	return strings.TrimSpace(rest), strings.TrimSpace(reason)
}

func queueOrder(op engine.Op) func(d *page.Data, arg string, _ time.Time) (engine.Command, string) {
	return func(d *page.Data, arg string, _ time.Time) (engine.Command, string) {
		name, reason := reasoned(arg)
		if _, ok := d.Queue(engine.Queue(name)); !ok {
			names := make([]string, len(d.Queues))
			for i, q := range d.Queues {
				names[i] = string(q.Name)
			}
			return engine.Command{}, "name a queue: " + strings.Join(names, ", ")
		}
		return engine.Command{Op: op, Queue: engine.Queue(name), Reason: reason}, ""
	}
}

// liveJobIn finds a live job by id or key, with or without job: in front.
func liveJobIn(d *page.Data, arg string) (engine.JobRow, bool) {
	arg = strings.TrimPrefix(arg, "job:")
	i := slices.IndexFunc(d.Jobs, func(j engine.JobRow) bool { return string(j.ID) == arg || j.Key == arg })
	if i < 0 {
		return engine.JobRow{}, false
	}
	return d.Jobs[i], true
}

// forceOrder names the job by its id if it is not at work: what has ended is not
// among the live rows.
func forceOrder(d *page.Data, arg string, _ time.Time) (engine.Command, string) {
	name, reason := reasoned(arg)
	if name == "" || reason == "" {
		return engine.Command{}, "say why: force " + or(name, "job:KEY") + " because …; the reason stays with the job"
	}
	c := engine.Command{Op: engine.OpForce, Job: engine.JobID(strings.TrimPrefix(name, "job:")), Reason: reason}
	j, live := liveJobIn(d, name)
	switch {
	case live:
		c.Job, c.IfRev = j.ID, j.Rev
	case strings.Contains(string(c.Job), ":"):
		return engine.Command{}, "no live job is called " + string(c.Job) + ": name one that has ended by its id"
	}
	return c, ""
}

func rescheduleOrder(d *page.Data, arg string, now time.Time) (engine.Command, string) {
	text, reason := reasoned(arg)
	name, when, _ := strings.Cut(text, " ")
	j, ok := liveJobIn(d, name)
	if !ok {
		return engine.Command{}, "no live job is called " + strings.TrimPrefix(name, "job:")
	}
	at, ok := page.WhenOf(when, now)
	if !ok {
		return engine.Command{}, "write when behind it: +10m, 14:00 or now"
	}
	return engine.Command{Op: engine.OpReschedule, Job: j.ID, IfRev: j.Rev, At: at, Reason: reason}, ""
}

// scheduleOps are what can be done to a schedule besides editing it.
var scheduleOps = map[string]engine.Op{"run": engine.OpRunSchedule, "pause": engine.OpPauseSchedule, "resume": engine.OpResumeSchedule}

// asConfigured is the plan that takes an edit back.
const asConfigured = "as configured"

// scheduleOrder names a schedule; whether there is one is for the engine to say.
func scheduleOrder(_ *page.Data, arg string, _ time.Time) (engine.Command, string) {
	text, reason := reasoned(arg)
	what, text, _ := strings.Cut(text, " ")
	name, plan, _ := strings.Cut(strings.TrimSpace(text), " ")
	c := engine.Command{Op: scheduleOps[what], Schedule: name, Reason: reason}
	switch plan = strings.TrimSpace(plan); {
	case c.Op == "" && what != "edit":
		return c, "say edit, run, pause or resume, and the name of a schedule"
	case name == "":
		return c, "name a schedule behind it, such as latest"
	case c.Op != "" && plan != "":
		return c, what + " takes the name of a schedule and nothing more"
	case c.Op != "":
		return c, ""
	case plan == "":
		return c, "write its plan behind the name, such as 0 */2 * * *, or " + asConfigured
	}
	if c.Op = engine.OpEditSchedule; plan == asConfigured {
		return c, ""
	}
	var wrong string
	c.Expr, c.Zone, wrong = page.ReadPlan(plan)
	return c, wrong
}

// alertIn finds an alert by its id, or by its rule if only one alert is of it.
func alertIn(d *page.Data, name string) (id, wrong string) {
	var ids []string
	for i := range d.Alerts {
		if a := &d.Alerts[i]; a.ID == name || a.Rule == name {
			ids = append(ids, a.ID)
		}
	}
	switch {
	case slices.Contains(ids, name):
		return name, ""
	case len(ids) == 1:
		return ids[0], ""
	case len(ids) > 1:
		return "", "several alerts are called " + name + ": " + strings.Join(ids, ", ")
	}
	for i := range d.Alerts {
		ids = append(ids, d.Alerts[i].ID)
	}
	return "", "there is no alert " + name + ": " + or(strings.Join(ids, ", "), "none has been seen yet")
}

func ackOrder(d *page.Data, arg string, _ time.Time) (engine.Command, string) {
	name, reason := reasoned(arg)
	id, wrong := alertIn(d, name)
	return engine.Command{Op: engine.OpAck, Alert: id, Reason: reason}, wrong
}

func silenceOrder(d *page.Data, arg string, now time.Time) (engine.Command, string) {
	text, reason := reasoned(arg)
	at := strings.LastIndexByte(text, ' ')
	if at < 0 {
		return engine.Command{}, "write until when behind the alert: +30m, 14:00, or now to end a silence"
	}
	until, ok := page.WhenOf(text[at+1:], now)
	if !ok {
		return engine.Command{}, "write until when behind the alert: +30m, 14:00, or now to end a silence"
	}
	id, wrong := alertIn(d, strings.TrimSpace(text[:at]))
	return engine.Command{Op: engine.OpSilence, Alert: id, At: until, Reason: reason}, wrong
}

// bucketOf reads a host and, if the next word is one of its methods, that.
func bucketOf(d *page.Data, arg string) (b engine.Bucket, rest, wrong string) {
	host, rest, _ := strings.Cut(arg, " ")
	method, after, _ := strings.Cut(strings.TrimSpace(rest), " ")
	known := false
	for _, r := range d.Limits.Buckets {
		if r.Host != host {
			continue
		}
		known = true
		if method != "" && (r.Method == method || strings.HasPrefix(r.Method, method+"-v")) {
			return engine.Bucket{Host: host, Method: r.Method}, after, ""
		}
	}
	if !known {
		return b, "", "no limit of the host " + host + " is known: " + strings.Join(hostsOf(d), ", ")
	}
	return engine.Bucket{Host: host}, strings.TrimSpace(rest), ""
}

func hostsOf(d *page.Data) []string {
	var hosts []string
	for _, b := range d.Limits.Buckets {
		if !slices.Contains(hosts, b.Host) {
			hosts = append(hosts, b.Host)
		}
	}
	return hosts
}

func freezeOrder(d *page.Data, arg string, now time.Time) (engine.Command, string) {
	b, rest, wrong := bucketOf(d, arg)
	if wrong != "" {
		return engine.Command{}, wrong
	}
	c, wrong := page.FreezeOf(strings.Replace(rest, "because ", "", 1), now)
	c.Bucket.Host, c.Bucket.Method = b.Host, b.Method
	return c, wrong
}

func thawOrder(d *page.Data, arg string, _ time.Time) (engine.Command, string) {
	text, reason := reasoned(arg)
	b, _, wrong := bucketOf(d, text)
	return engine.Command{Op: engine.OpThaw, Bucket: b, Reason: reason}, wrong
}

func trackOrder(op engine.Op) func(d *page.Data, arg string, _ time.Time) (engine.Command, string) {
	return func(d *page.Data, arg string, _ time.Time) (engine.Command, string) {
		text, reason := reasoned(arg)
		i := slices.IndexFunc(d.Accounts, func(a engine.AccountRow) bool { return a.ID == text || strings.EqualFold(a.RiotID, text) })
		if i >= 0 {
			a := &d.Accounts[i]
			return engine.Command{Op: op, Account: a.ID, Sync: engine.SyncAsk{Platform: a.Platform}, Reason: reason}, ""
		}
		c, wrong := parseSync(text, d)
		c.Op, c.Reason = op, reason
		return c, wrong
	}
}

// verb is the order as the palette knows it.
func (o order) verb() verb {
	return verb{o.name, o.ghost, func(m *Model, arg string, now time.Time) (tea.Cmd, string) {
		if why := m.refuses(); why != "" {
			return nil, why
		}
		c, wrong := o.read(&m.rows.data, arg, now)
		if wrong != "" {
			return nil, wrong
		}
		return m.do(c), ""
	}}
}

// plain is the order as the plain console knows it.
func (o order) plain() plainCommand {
	return plainCommand{o.name, o.ghost, o.help, func(p *plain, arg string) {
		if p.refused() {
			return
		}
		c, wrong := o.read(&p.rows.data, arg, time.Now().In(p.opt.zone()))
		if wrong != "" {
			p.say("Nothing was done: " + wrong + ".")
			return
		}
		p.do(c)
	}}
}
