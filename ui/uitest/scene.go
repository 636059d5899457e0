package uitest

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Scene is a state of the whole product: the snapshot that Watch begins with,
// and what queries answer.
type Scene struct {
	Name     string
	Update   engine.Update
	Jobs     []engine.JobRow
	Details  map[engine.JobID]engine.JobDetail
	Accounts map[string]engine.AccountDetail
	Matches  []engine.MatchRow
	Plans    []engine.ScheduleRow
	Members  engine.MembersPage
	Logs     []engine.LogRow // oldest first
	Audit    []engine.AuditEntry
	Classes  engine.ClassesAnswer
	Cost     engine.Cost // of whatever is asked about
	Past     []engine.Moment
	// Collections are what is collected.
	Collections []engine.CollectionRow
}

// Zone is the zone of all scenes, without a need for zone files.
var Zone = time.FixedZone("KST", 9*60*60)

// Noon is the instant the scenes are drawn at: 12:31:35 in Zone.
var Noon = time.Date(2026, 1, 20, 12, 31, 35, 0, Zone)

// Names of queues the scenes use.
const (
	Full   engine.Queue = "ingest.summoner.full"
	Latest engine.Queue = "ingest.summoner.latest"
	Rank   engine.Queue = "ingest.rank.daily"
	Report engine.Queue = "report.weekly"
)

// Scenes gives all of them, by name.
func Scenes() []Scene {
	return []Scene{Busy(), Empty(), Broken(), Browse(), Hostile()}
}

// Busy is a development key at work: two syncs run, one waits, retries are due.
func Busy() Scene {
	s := Scene{
		Name: "busy",
		Jobs: busyJobs(),
		Details: map[engine.JobID]engine.JobDetail{
			"j881": retryingDetail(),
			"j777": runningDetail(),
			"j655": heldDetail(),
			"j003": discardedDetail(),
		},
	}
	rows := busyAccounts()
	rows[0].ETA, rows[1].ETA = lateETA, syncETA
	s.Accounts = map[string]engine.AccountDetail{rows[1].ID: syncingDetail(rows[1]), rows[0].ID: {Row: rows[0], Report: playReport(rows[0].ID)}}
	s.Matches, s.Plans, s.Members, s.Collections = storedMatches(), plans(), sharing(), collections()
	row := busyEngine()
	limits := busyLimits()
	s.Update = engine.Update{
		Seq: 4711, Snapshot: true, Engine: &row, Queues: busyQueues(), Accounts: rows,
		Jobs: live(s.Jobs), Limits: &limits, Calls: busyCalls(40),
		Notes: []engine.Note{{At: Noon.Add(-time.Second), Level: engine.LevelOK, Text: "Blue Heron#KR1 resumed at 290/300 after restart"}},
	}
	Foresee(&s.Update)
	s.showToWatchers()
	return s
}

// Empty is an engine that has never been asked for anything.
func Empty() Scene {
	row := engine.EngineRow{State: engine.EngineLive, Key: "…7f3a", Boot: "b1", Started: Noon.Add(-time.Minute), Workers: 5}
	return Scene{Name: "empty", Update: engine.Update{
		Seq: 1, Snapshot: true, Engine: &row, Limits: &engine.LimitsRow{At: Noon},
		Queues: []engine.QueueRow{queue(Full, 0, 0, 0), queue(Latest, 0, 0, 0)},
	}}
}

// Broken is an engine whose key was refused while work waits.
func Broken() Scene {
	s := Busy()
	s.Name = "error"
	row := busyEngine()
	row.State, row.Why = engine.EngineNoKey, "Riot answered 403 to account-v1 on asia: the key has expired or was refused"
	row.InFlight, row.CallsPerMin, row.Spark = 0, 0, nil
	s.Update.Engine = &row
	s.Update.Limits.KeyRefused, s.Update.Limits.KeyAsks = Noon.Add(-2*time.Minute), Noon.Add(38*time.Second)
	for i := range s.Update.Queues {
		q := &s.Update.Queues[i]
		q.Paused, q.Reason, q.Why = true, "key refused", "key refused"
		q.By, q.Since = engine.Actor{User: "engine", Via: "engine"}, Noon.Add(-2*time.Minute)
	}
	for i := range s.Update.Accounts {
		if a := &s.Update.Accounts[i]; a.Status.Open() {
			a.Stand, a.ETA = engine.StandHeld, engine.ETA{Why: row.Why, Stand: engine.StandHeld}
		}
	}
	s.inNoLine()
	s.Update.Notes = []engine.Note{{At: Noon, Level: engine.LevelErr, Text: "the key …7f3a was refused (403): 732 jobs wait"}}
	return s
}

// Browse is stored data without an engine.
func Browse() Scene {
	s := Busy()
	s.Name = "browse"
	row := busyEngine()
	row.State, row.Why, row.Key = engine.EngineBrowse, "no engine runs here: stored data only", ""
	row.InFlight, row.CallsPerMin, row.Spark, row.Workers = 0, 0, nil, 0
	s.Update.Engine, s.Update.Limits, s.Update.Calls, s.Update.Notes = &row, &engine.LimitsRow{At: Noon}, nil, nil
	for i := range s.Update.Accounts { // nobody foresees anything
		s.Update.Accounts[i].ETA = engine.ETA{}
	}
	for i := range s.Update.Jobs {
		s.Update.Jobs[i].Starts = time.Time{}
	}
	return s
}

// hostile names and messages: everything a terminal must not see.
var hostile = []string{
	"\u202eevil\u202c#NA1", "\x1b[2J\x1b]0;gone\x07#EUW", "a\u0300\u0301\u0302\u0303\u0304b#KR1",
	"👨‍👩‍👧‍👦🇰🇷1️⃣#KR1", "กิ่งไม้\u200b\u2060#TH", "\xff\xfe broken\x00#NUL", "tab\tand\nline\r#NEW", "한국어플레이어이름열여섯자#KR1",
}

// Hostile is Busy with text from people who wish us ill.
func Hostile() Scene { return HostileOf(hostile) }

// HostileOf is Busy with texts in every place where others put theirs; at least two.
func HostileOf(hostile []string) Scene {
	s := Busy()
	s.Name = "hostile"
	for i := range s.Update.Accounts {
		a := &s.Update.Accounts[i]
		a.RiotID = hostile[i%len(hostile)]
		a.LastError = "bad\x1b[31m " + hostile[(i+1)%len(hostile)]
	}
	for i := range s.Jobs {
		s.Jobs[i].LastError = "<html>\x1b]8;;http://evil\x07click\u202e " + hostile[i%len(hostile)]
		s.Jobs[i].Why = hostile[(i+3)%len(hostile)]
	}
	s.Update.Jobs = live(s.Jobs)
	for id, d := range s.Details {
		d.Account = hostile[0]
		for i := range d.Attempts {
			d.Attempts[i].Err = hostile[i%len(hostile)]
			d.Attempts[i].Decision = hostile[(i+1)%len(hostile)]
		}
		s.Details[id] = d
	}
	for id, d := range s.Accounts {
		d.Row.RiotID = hostile[1]
		for i := range d.Recent {
			d.Recent[i].Champion = hostile[i%len(hostile)]
		}
		if d.Report != nil {
			d.Report.Zone = hostile[1]
		}
		s.Accounts[id] = d
	}
	for i := range s.Plans {
		s.Plans[i].Reason, s.Plans[i].Last.Reason = hostile[i%len(hostile)], hostile[(i+1)%len(hostile)]
	}
	for i := range s.Members.Members {
		s.Members.Members[i].Host, s.Members.Members[i].Version = hostile[i%len(hostile)], hostile[(i+1)%len(hostile)]
	}
	for i := range s.Matches {
		m := &s.Matches[i]
		m.Champion, m.Mode, m.QueueID = hostile[i%len(hostile)], hostile[(i+1)%len(hostile)], 0
		m.LastError = hostile[(i+2)%len(hostile)]
	}
	for i := range s.Update.Calls {
		s.Update.Calls[i].Target = hostile[i%len(hostile)]
		s.Update.Calls[i].PacedBy = hostile[(i+2)%len(hostile)]
	}
	s.Update.Notes = []engine.Note{{At: Noon, Level: engine.LevelWarn, Text: hostile[1]}}
	s.spoil()
	return s
}

// live keeps the rows that Watch would send.
func live(jobs []engine.JobRow) []engine.JobRow {
	var out []engine.JobRow
	for _, j := range jobs {
		if j.State.Live() {
			out = append(out, j)
		}
	}
	return out
}

// Many makes so many waiting retries, for benchmarks.
func Many(n int) []engine.JobRow {
	rows := make([]engine.JobRow, n)
	for i := range rows {
		j := job(fmt.Sprintf("m%06d", i), fmt.Sprintf("match:KR_%010d", 7214550000+i), engine.Retryable)
		j.Tries, j.Class, j.Due = 1+i%4, "503", Noon.Add(time.Duration(i)*time.Second)
		rows[i] = j
	}
	return byPolicy(rows...)
}
