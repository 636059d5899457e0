package page

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot/route"
)

// Copy is one form in which something can be copied.
//
// An operator copies to paste elsewhere: an id into a shell, JSON into a ticket, a curl to see for
// themselves what Riot answers.
type Copy struct {
	Name string // id, JSON, curl, time …
	What string // a short sample or explanation
	Text string // cleaned: a clipboard is an exit
}

// Copier is a page on which something stands that can be copied in several forms.
type Copier interface {
	// Copies are the forms of what is marked, or under the cursor.
	Copies(v *View) []Copy
}

// CopiesOf makes all forms of some rows.
// Instants are offered of one row alone: of several nobody knows which is meant.
func CopiesOf(v *View, rows []any, id func(i int) string) []Copy {
	if len(rows) == 0 {
		return nil
	}
	ids, calls := make([]string, len(rows)), []string(nil)
	for i := range rows {
		ids[i] = safe.Text(id(i))
		calls = append(calls, curls(v, rows[i])...)
	}
	out := []Copy{{"id", ids[0], strings.Join(ids, "\n")}}
	if text, ok := jsonOf(rows); ok {
		out = append(out, Copy{"JSON", "as the engine has it", text})
	}
	if len(calls) > 0 {
		out = append(out, Copy{"curl", "the call, with $RIOT_API_KEY for the key", strings.Join(calls, "\n")})
	}
	if text := command(rows); text != "" {
		out = append(out, Copy{"command", "the command line that shows it", text})
	}
	if len(rows) > 1 {
		return out
	}
	for _, t := range instantsOf(rows[0]) {
		if !t.at.IsZero() {
			text := absolute(t.at.In(v.Now.Location()))
			out = append(out, Copy{"time " + t.name, text, text})
		}
	}
	return out
}

// command is the command line that shows rows; "" = there is none. What would have to be quoted within
// its quotes is never in an id of ours or Riot's.
func command(rows []any) string {
	list, ids := "", make([]string, len(rows))
	for i := range rows {
		switch r := rows[i].(type) {
		case engine.JobDetail:
			list, ids[i] = "jobs", string(r.Job.ID)
		case engine.JobRow:
			list, ids[i] = "jobs", string(r.ID)
		case engine.AccountRow:
			list, ids[i] = "accounts", r.ID
		case engine.MatchRow:
			list, ids[i] = "matches", r.ID
		}
	}
	of := strings.Join(ids, ",")
	if list == "" || safe.Text(of) != of || strings.ContainsAny(of, "' ") {
		return ""
	}
	return "farsight " + list + " 'id:" + of + "'"
}

// absolute is an instant with its zone, by number and by name.
func absolute(at time.Time) string {
	zone, _ := at.Zone()
	text := at.Format("2006-01-02T15:04:05.000Z07:00")
	if zone == "" || strings.ContainsAny(zone, "+-") {
		return text
	}
	return text + " (" + zone + ")"
}

// jsonOf is one row as an object, several as a list, harmless to a terminal.
// It is what `--json` of the lists gives, since rows are the engine's own.
func jsonOf(rows []any) (string, bool) {
	var thing any = rows
	if len(rows) == 1 {
		thing = rows[0]
	}
	text, err := json.MarshalIndent(thing, "", "  ")
	return string(safe.JSON(text)), err == nil
}

type namedInstant struct {
	name string
	at   time.Time
}

// instantsOf are the instants of a row.
func instantsOf(row any) []namedInstant {
	switch r := row.(type) {
	case engine.JobDetail:
		return instantsOf(r.Job)
	case engine.JobRow:
		return []namedInstant{{"due", r.Due}, {"created", r.Created}, {"started", r.Started}, {"finished", r.Finished}}
	case engine.AccountRow:
		return []namedInstant{{"last sync", r.LastSync}, {"triggered", r.Triggered}, {"finished", r.Finished}, {"complete since", r.Closed}}
	case engine.MatchRow:
		return []namedInstant{{"played", r.Played}, {"fetched", r.FetchedAt}, {"tried", r.LastAttemptAt}}
	case engine.CallRow:
		return []namedInstant{{"of the call", r.At}}
	case engine.BucketRow:
		return []namedInstant{{"reset", r.Reset}, {"next free", r.NextFree}}
	case engine.ScheduleRow:
		if len(r.Next) > 0 {
			return []namedInstant{{"next", r.Next[0]}, {"last", r.Last.At}}
		}
	case engine.AlertRow:
		return []namedInstant{{"since", r.Since}, {"until", r.Until}}
	case engine.AuditEntry:
		return []namedInstant{{"of the command", r.At}}
	case engine.LogRow:
		return []namedInstant{{"of the record", r.At}}
	case engine.PlayReport:
		return []namedInstant{{"built", r.Built}, {"first", r.First}, {"last", r.Last}}
	}
	return nil
}

// curls are the Riot calls behind a row, as a person would make them. The key is
// never in them: the shell puts it in.
func curls(v *View, row any) []string {
	switch r := row.(type) {
	case engine.JobDetail:
		return curls(v, r.Job)
	case engine.JobRow:
		return jobCurl(v, r)
	case engine.MatchRow:
		return matchCurl(r.ID, "")
	case engine.AccountRow:
		return accountCurl(r)
	case engine.CallRow:
		if j, ok := v.Job(r.Job); ok {
			return jobCurl(v, j)
		}
		if strings.HasSuffix(r.Method, ".timeline") {
			return matchCurl(r.Target, "/timeline")
		}
		return matchCurl(r.Target, "")
	}
	return nil
}

// jobCurl is the call that a job makes, from its key: "match:KR_7214550881"; of a sync that of its
// account's list.
func jobCurl(v *View, j engine.JobRow) []string {
	kind, id, _ := strings.Cut(j.Key, ":")
	switch kind {
	case "match":
		return matchCurl(id, "")
	case "timeline":
		return matchCurl(id, "/timeline")
	}
	if a, ok := v.Account(cmp.Or(j.Owner, id)); ok {
		return accountCurl(a)
	}
	return nil
}

// puuidForm is what may stand in an address without a quote.
var puuidForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{10,128}$`) })

// matchCurl is none of what has not the form of a match id: it would stand in a shell.
func matchCurl(id, rest string) []string {
	region, err := route.MatchRegion(id)
	if err != nil {
		return nil
	}
	return []string{curl(string(region), "/lol/match/v5/matches/"+id+rest)}
}

// accountCurl is the first page of an account's list of matches.
func accountCurl(a engine.AccountRow) []string {
	if !puuidForm().MatchString(a.PUUID) || !route.Serves(a.Region) {
		return nil
	}
	return []string{curl(a.Region, "/lol/match/v5/matches/by-puuid/"+a.PUUID+"/ids?start=0&count=100")}
}

// In single quotes nothing of an address means anything to a shell; the key stands in double ones,
// to be filled in by it.
func curl(host, path string) string {
	return `curl --compressed -H "X-Riot-Token: $RIOT_API_KEY" 'https://` + host + ".api.riotgames.com" + path + "'"
}
