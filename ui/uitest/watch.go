package uitest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// logRows are a log with a burst in it, the oldest record first.
func logRows() []engine.LogRow {
	var rows []engine.LogRow
	add := func(at time.Time, level, area, text string, job engine.JobID, fields ...string) {
		r := engine.LogRow{Seq: uint64(len(rows) + 1), At: at, Level: level, Area: area, Text: text, Job: job}
		for i := 0; i+1 < len(fields); i += 2 {
			r.Fields = append(r.Fields, engine.LogField{Key: fields[i], Value: fields[i+1]})
		}
		rows = append(rows, r)
	}
	add(clock(12, 14, 2, 0), "info", "main", "engine started", "", "boot", "01JH", "workers", "5")
	add(clock(12, 14, 2, 310), "info", "storage", "opened", "", "matches", "12275", "ms", "41")
	for i := range 24 {
		add(clock(12, 30, i, 200), "info", "local", "match stored", engine.JobID(fmt.Sprintf("j6%02d", i)), "match", fmt.Sprintf("KR_72145506%02d", i), "bytes", strconv.Itoa(41000+137*i))
	}
	add(clock(12, 30, 46, 4), "debug", "storage", "batch committed", "", "puts", "64", "ms", "3.1")
	for i := range 213 {
		add(clock(12, 31, 10, 0).Add(time.Duration(i)*19*time.Millisecond), "warn", "riot", "429 application, the host is held", "j655", "host", "asia", "retry_after", "10s")
	}
	add(clock(12, 31, 30, 4), "debug", "storage", "batch committed", "", "puts", "64", "ms", "3.1")
	add(clock(12, 31, 34, 771), "error", "riot", "403 forbidden (key expired?)", "", "method", "match-v5", "host", "asia")
	add(clock(12, 31, 34, 980), "warn", "riot", "503 service unavailable", "j881", "try", "2", "next", "60s")
	add(clock(12, 31, 35, 0), "info", "limiter", "hold released", "", "bucket", "app:100:120", "held", "3", "waited", "0.84s")
	return rows
}

func alertRows() []engine.AlertRow {
	spark := func(v ...float64) []float64 { return v }
	return []engine.AlertRow{
		{
			ID: "give-ups", Rule: "give-ups", About: "give-up share per 1 h", State: engine.AlertFiring, Holds: true, Since: at(4 * time.Minute), Unit: engine.AlertShare,
			Value: 0.34, Known: true, Limit: 0.3, History: spark(-1, .02, .02, .04, .09, .1, .16, .2, .24, .28, .31, .34), Next: "open its jobs: one error class for most of them can be retried as one",
			Evidence: []engine.Evidence{{At: at(50 * time.Second), Kind: "job", ID: "j003", Text: "match:KR_6011000003: 404"}, {At: at(3 * time.Minute), Kind: "account", ID: "a-kain", Text: "카인#KR1"}, {At: at(3 * time.Minute), Kind: "queue", ID: string(Full), Text: "app:asia 97/100"}},
		},
		{
			ID: "429", Rule: "429", About: "unexpected 429s per 1 h", State: engine.AlertFiring, Holds: true, Since: at(2 * time.Hour), Unit: engine.AlertCount, Value: 1, Known: true,
			History: spark(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), Clears: Noon.Add(17 * time.Minute), Next: "see Limits: another process may use the key",
			Evidence: []engine.Evidence{{At: busyCalls(40)[28].At, Kind: "call", ID: "j777", Text: "asia match-v5 KR_7214550928"}},
		},
		{
			ID: "retries", Rule: "retries", About: "retry success per 1 h", State: engine.AlertPending, Holds: true, Since: at(time.Minute), Fires: Noon.Add(4 * time.Minute), Unit: engine.AlertShare,
			Value: 0.19, Known: true, Limit: 0.2, Below: true, History: spark(.9, .9, .9, .8, .7, .6, .5, .4, .3, .3, .2, .19), Next: "see the error classes: retries do not help against what fails here",
		},
		{
			ID: "queue-age/" + string(Full), Rule: "queue-age", About: "queue age", Subject: string(Full), State: engine.AlertAcknowledged, Holds: true, Since: at(40 * time.Minute),
			By: engine.Actor{User: "ana", Via: "console"}, Unit: engine.AlertDuration, Value: 4020, Known: true, Limit: 3600, Next: "see why its head waits",
		},
		{
			ID: "503/asia", Rule: "503", About: "503 burst per 1 min", Subject: "asia", State: engine.AlertSilenced, Holds: true, Since: at(time.Hour), Until: Noon.Add(58*time.Minute + 25*time.Second),
			By: engine.Actor{User: "op", Via: "console"}, Unit: engine.AlertCount, Value: 3, Known: true, Limit: 2, History: spark(0, 0, 1, 5, 9, 3), Next: "it goes on by itself: the engine probes the host",
		},
		{ID: "writes", Rule: "writes", About: "write p95", State: engine.AlertOK, Unit: engine.AlertDuration, Value: 0.004, Known: true, Limit: 0.1, History: spark(.003, .003, .004, .003, .004, .004)},
		{ID: "key-expires", Rule: "key-expires", About: "key expires soon", State: engine.AlertOK, Unit: engine.AlertDuration, Value: 76440, Known: true, Limit: 7200, Below: true},
		{ID: "log-drops", Rule: "log-drops", About: "dropped log lines per 1 h", State: engine.AlertOK, Unit: engine.AlertCount, Limit: 0},
	}
}

func auditRows() []engine.AuditEntry {
	ana, op := engine.Actor{User: "ana", Session: "s1", Via: "console"}, engine.Actor{User: "op", Via: "cli"}
	stand := func(s engine.State, due time.Duration, round, tries int) engine.JobStand {
		j := engine.JobStand{State: s, Round: round, Tries: tries}
		if due > 0 {
			j.Due = Noon.Add(due)
		}
		return j
	}
	return []engine.AuditEntry{
		{Seq: 9, At: at(40 * time.Second), By: ana, Op: engine.OpUndo, Target: "command #8", Result: "undone reschedule of 1 job", Matched: 1, Applied: 1},
		{Seq: 8, At: at(50 * time.Second), By: ana, Op: engine.OpReschedule, Target: "job j902", Result: "job j902 is due at 12:40", Matched: 1, Applied: 1, Moves: []engine.JobMove{
			{Job: "j902", Rev: 4, Before: stand(engine.Retryable, 31*time.Second, 1, 1), After: stand(engine.Scheduled, 9*time.Minute, 1, 1)},
		}},
		{Seq: 7, At: at(3 * time.Minute), By: op, Op: engine.OpCancel, Target: "2 jobs", Reason: "the account was merged", Result: "cancelled 2 of 3 jobs, 1 running", Matched: 3, Applied: 2, Moves: []engine.JobMove{
			{Job: "j017", Rev: 7, Before: stand(engine.Retryable, time.Minute, 1, 3), After: stand(engine.Cancelled, 0, 1, 3)},
			{Job: "j003", Rev: 5, Before: stand(engine.Available, 0, 1, 0), After: stand(engine.Cancelled, 0, 1, 0)},
		}},
		{Seq: 6, At: at(2 * time.Hour), By: ana, Op: engine.OpPause, Target: "queue " + string(Report), Reason: "moving the data directory", Result: "queue report.weekly is paused", Matched: 1, Applied: 1, Queue: &engine.QueueMove{
			Before: engine.QueueState{Name: Report}, After: engine.QueueState{Name: Report, Paused: true, By: ana, Since: at(2 * time.Hour)},
		}},
		{Seq: 5, At: at(26 * time.Hour), By: op, Op: engine.OpTrigger, Target: "account Winter Wren#NA1", Result: "Winter Wren#NA1 is SYNCING already"},
	}
}

func classRows() engine.ClassesAnswer {
	row := func(class engine.Class, host, method, shape, text string, latest engine.JobID, waiting, dead int, first, last time.Duration, sample ...string) engine.ClassRow {
		c := engine.ErrorClass{Class: class, Method: method, Host: host, Shape: shape}
		r := engine.ClassRow{
			ErrorClass: c, ID: c.ID(), Jobs: waiting + dead, Waiting: waiting, Dead: dead, Share: float64(waiting+dead) / 12, First: at(first), Last: at(last), Error: text, Latest: latest, Sample: sample,
		}
		for i := range waiting + dead {
			r.Failed(at(last+first/8*time.Duration(i)), Noon)
		}
		return r
	}
	return engine.ClassesAnswer{Jobs: 12, Classes: []engine.ClassRow{
		row("503", "asia", "match-v5.match", "# service unavailable", "503 service unavailable", "j881", 8, 0, 22*time.Minute, 48*time.Second, "match:KR_7214550881", "match:KR_7214550911", "match:KR_7214550921"),
		row("404", "asia", "match-v5.match", "# not found (final)", "404 not found (final)", "j003", 0, 3, 3*time.Hour, 11*time.Minute, "match:KR_6011000003"),
		row("500", "asia", "match-v5.match", "# internal error", "500 internal error", "j902", 1, 0, 49*time.Second, 49*time.Second, "match:KR_7214550902"),
	}}
}

// classesOf are the error classes of jobs, as an engine counts them.
func classesOf(jobs []engine.JobRow) (a engine.ClassesAnswer) {
	at := map[engine.ErrorClass]int{}
	for _, j := range jobs {
		if j.Class == "" {
			continue
		}
		a.Jobs++
		class := engine.ClassOf(j.Job, "europe/"+strings.Replace(string(j.Kind), ".fetch", "", 1))
		i, ok := at[class]
		if !ok {
			i, at[class] = len(a.Classes), len(a.Classes)
			a.Classes = append(a.Classes, engine.ClassRow{ErrorClass: class, ID: class.ID(), First: j.Started})
		}
		r := &a.Classes[i]
		r.Jobs++
		for _, failed := range j.Failed {
			r.Failed(failed, Noon)
		}
		if j.State.Live() {
			r.Waiting++
		} else {
			r.Dead++
		}
		if r.Last.Before(j.Started) {
			r.Last, r.Error, r.Latest = j.Started, j.LastError, j.ID
		}
	}
	for i := range a.Classes {
		a.Classes[i].Share = float64(a.Classes[i].Jobs) / float64(a.Jobs)
	}
	return a
}

// forensics is what is known of the 429 that our limiter did not foresee.
func forensics(call engine.CallRow) engine.Forensics {
	call.Counts = nil
	f := engine.Forensics{
		Call: call, Kind: "application", Foreign: true, ClockOffset: -1300 * time.Millisecond,
		Text: "The server counted 100 of 100 calls in 2 min where we counted 91: 9 calls were made by somebody else with this key. We wait 10 s as it asked.",
		Windows: []engine.WindowCount{
			{Scope: "app", Window: time.Second, Limit: 20, Ours: 3, Server: 3}, {Scope: "app", Window: 2 * time.Minute, Limit: 100, Ours: 91, Server: 100},
			{Scope: "match-v5.match", Window: 10 * time.Second, Limit: 2000, Ours: 12, Server: -1},
		},
		Spent: []engine.SpentCalls{{What: "match-v5.match", Calls: 68}, {What: "match-v5.timeline", Calls: 19}, {What: "others", Calls: 9}, {What: "match-v5.ids", Calls: 4}},
	}
	return f
}

// find answers the queries of the screens that look on.
func (f *Fake) find(q engine.Query) (engine.Answer, error) {
	switch q := q.(type) {
	case engine.AlertsQuery:
		return engine.AlertsAnswer{Alerts: f.Scene.Update.Alerts, At: at(5 * time.Second)}, nil
	case engine.AuditQuery:
		return f.audit(q), nil
	case engine.LogsQuery:
		return f.logs(q), nil
	case engine.ClassesQuery:
		return f.Scene.Classes, nil
	case engine.ForensicsQuery:
		for _, c := range f.Scene.Update.Calls {
			if c.Seq == q.Seq && c.Status == 429 {
				a := forensics(c)
				a.Text = f.Scene.sentence(a.Text)
				return a, nil
			}
		}
		return nil, engine.Problemf(engine.ErrNotFound, "", "call %d is no 429 of the flight recorder", q.Seq)
	}
	return nil, engine.Problemf(engine.ErrInvalid, "", "the scripted console has no answer to %T", q)
}

func (f *Fake) audit(q engine.AuditQuery) engine.AuditPage {
	var page engine.AuditPage
	for _, e := range f.Scene.Audit {
		if q.Seq != 0 && e.Seq != q.Seq {
			continue
		}
		if q.Seq == 0 {
			e.Moves, e.Queue = nil, nil
		}
		page.Entries = append(page.Entries, e)
	}
	page.Entries, page.Next = pageOf(page.Entries, q.Page)
	return page
}

// logs pages through the records of the scene, newest first.
func (f *Fake) logs(q engine.LogsQuery) engine.LogsPage {
	page := engine.LogsPage{Kept: len(f.Scene.Logs), Dropped: f.Scene.Update.Engine.LogDrops}
	levels := []string{"", "debug", "info", "warn", "error"}
	for _, r := range slices.Backward(f.Scene.Logs) {
		before, _ := strconv.ParseUint(q.After, 10, 64)
		if before > 0 && r.Seq >= before || q.Job != "" && r.Job != q.Job || slices.Index(levels, r.Level) < slices.Index(levels, q.Level) {
			continue
		}
		if q.Limit > 0 && len(page.Logs) == q.Limit {
			page.Next = strconv.FormatUint(page.Logs[len(page.Logs)-1].Seq, 10)
			break
		}
		page.Logs = append(page.Logs, r)
	}
	return page
}

// sentence is a sentence as the people of a scene write it.
func (s Scene) sentence(text string) string {
	if s.Name != "hostile" {
		return text
	}
	return strings.Join(append([]string{text}, hostile...), " ")
}

// showToWatchers gives a scene what the screens show that look on.
func (s *Scene) showToWatchers() {
	s.Logs, s.Audit, s.Classes = logRows(), auditRows(), classRows()
	s.Update.Alerts = alertRows()
	s.Update.Logs = s.Logs[len(s.Logs)-40:]
	s.Update.Engine.Alerts = 2
	s.Update.Engine.LogDrops = 0
}

// spoil puts hostile text wherever somebody else's text is shown.
func (s *Scene) spoil() {
	bad := func(i int) string { return hostile[i%len(hostile)] }
	for i := range s.Logs {
		s.Logs[i].Text, s.Logs[i].Area = bad(i/3)+" \x1b[2Jlog", bad(i+1)
		for n := range s.Logs[i].Fields {
			s.Logs[i].Fields[n].Key, s.Logs[i].Fields[n].Value = bad(i+n), bad(i+n+1)
		}
	}
	s.Update.Logs = s.Logs[len(s.Logs)-40:]
	for i := range s.Update.Alerts {
		a := &s.Update.Alerts[i]
		a.Subject, a.Next, a.By.User = bad(i), bad(i+1), bad(i+2)
		for n := range a.Evidence {
			a.Evidence[n].ID, a.Evidence[n].Text = bad(i+n), bad(i+n+2)
		}
	}
	for i := range s.Audit {
		e := &s.Audit[i]
		e.By.User, e.Target, e.Reason, e.Result = bad(i), bad(i+1), bad(i+2), bad(i+3)
	}
	for i := range s.Classes.Classes {
		c := &s.Classes.Classes[i]
		c.Error, c.Shape, c.Host, c.Sample = bad(i), bad(i+1), bad(i+2), hostile
	}
	s.Update.Engine.LogDrops = 17
}
