package page

import "slices"

// word is a word that the console uses in a sense of its own: what it means, in a sentence
// without a full stop, and the screens that show it.
type word struct {
	name, means string
	on          []Screen
}

// glossary says once what the words mean; the help of a screen has those that stand on it.
var glossary = []word{
	{"in line", "ready, waits for its turn under the limits: nothing is wrong (AVAILABLE)", []Screen{ScreenOverview, ScreenJobs, ScreenAccount}},
	{"running", "a worker has it: it waits for the limiter, or for Riot's answer", []Screen{ScreenOverview, ScreenJobs, ScreenJob}},
	{"planned", "what is to come as far as it is known now, drawn in dots; what has happened is drawn solid", []Screen{ScreenOverview, ScreenJobs, ScreenRetries, ScreenLimits, ScreenAccount, ScreenSchedules}},
	{"window", "the span of a limit: so many calls in 2 min, say. When it ends, all of them are free again", []Screen{ScreenOverview, ScreenLimits, ScreenRetries, ScreenForensics}},
	{"bucket", "one limit of Riot's: of all calls to a host, or of one method there", []Screen{ScreenLimits, ScreenForensics}},
	{"paces", "of all limits this one leaves the least room: it says how fast calls go", []Screen{ScreenOverview, ScreenLimits, ScreenJobs}},
	{"paced", "how long our limiter held a call before it was sent, so that no limit is broken", []Screen{ScreenOverview, ScreenLimits, ScreenJob, ScreenForensics}},
	{"took", "from the call that was sent to the last byte of Riot's answer", []Screen{ScreenLimits, ScreenForensics}},
	{"before", "calls that went before their limits were learnt: an answer's headers tell them", []Screen{ScreenLimits}},
	{"429", "Riot's answer to a call too many. The host or the method is held, no try is used", []Screen{ScreenOverview, ScreenLimits, ScreenForensics, ScreenJob, ScreenChaos}},
	{"unexpected", "of a 429: by our own count there was room. Another program uses the key, or a clock is off", []Screen{ScreenOverview, ScreenLimits, ScreenForensics, ScreenAlerts, ScreenEvidence}},
	{"held", "may not run before an instant: after a 429, or while a host is down", []Screen{ScreenOverview, ScreenJobs, ScreenLimits, ScreenAccount, ScreenChaos}},
	{"breaker", "holds a host that only fails: one call in a while tries whether it is back", []Screen{ScreenLimits, ScreenChaos}},
	{"paused", "stopped by somebody; the audit says who", []Screen{ScreenOverview, ScreenJobs, ScreenAccounts, ScreenAccount, ScreenSchedules}},
	{"try", "one run of a job; a 429 or a stop of the engine is none", []Screen{ScreenJobs, ScreenRetries, ScreenJob, ScreenClasses}},
	{"retry", "another try after one that failed, at an instant that is known", []Screen{ScreenOverview, ScreenJobs, ScreenRetries, ScreenJob, ScreenAccount, ScreenChaos}},
	{"late", "how far behind its instant a retry starts, because no window has room before", []Screen{ScreenOverview, ScreenRetries}},
	{"gave up", "all tries failed, or the answer is final, as 404: it runs again only if somebody says so (DISCARDED)", []Screen{ScreenOverview, ScreenJobs, ScreenRetries, ScreenAccounts, ScreenAccount, ScreenJob, ScreenClasses, ScreenChaos}},
	{"cancelled", "ended by somebody, or with its sync; the audit says who", []Screen{ScreenJobs, ScreenJob, ScreenAccount}},
	{"sync", "one pass over an account: its list of matches, each match, its timeline, its rank, the report", []Screen{ScreenOverview, ScreenAccounts, ScreenAccount, ScreenSchedules}},
	{"stored", "on disk here, as Riot told it: it is never fetched again", []Screen{ScreenAccounts, ScreenAccount, ScreenMatches}},
	{"was here", "a match that was stored before this sync found it: it costs no call", []Screen{ScreenAccount}},
	{"too old", "a match older than Riot keeps: it is settled without a call", []Screen{ScreenAccount, ScreenMatches}},
	{"done", "every match of the sync is stored or given up", []Screen{ScreenOverview, ScreenAccounts, ScreenAccount}},
	{"draft", "a report of what is stored so far", []Screen{ScreenReports, ScreenAccount}},
	{"collection", "the games of a ladder's players, each match fetched once", []Screen{ScreenOverview, ScreenCollections, ScreenCollection}},
	{"tracked", "synced again by a schedule, without being asked", []Screen{ScreenAccounts, ScreenAccount, ScreenSchedules}},
	{"puuid", "Riot's id of an account, for this key: it stays when its name changes", []Screen{ScreenAccounts, ScreenAccount, ScreenCollection}},
	{"class", "failed jobs whose errors have one shape: the same but for names and numbers", []Screen{ScreenClasses, ScreenJobs}},
	{"firing", "the rule has held long enough: somebody should look. Seen (a) and silenced (S) stop it from telling again", []Screen{ScreenAlerts, ScreenEvidence}},
	{"pending", "the rule holds, but not for long enough yet", []Screen{ScreenAlerts}},
	{"limit", "of an alert: the value beyond which the rule holds, the dotted line of its chart", []Screen{ScreenAlerts, ScreenEvidence}},
	{"dropped", "lines that the log wrote faster than this console read them; the file has them", []Screen{ScreenLogs}},
	{"hits", "how many calls the fault has struck so far", []Screen{ScreenChaos}},
	{"undo", "gives back what a command changed, where nothing has happened to it since", []Screen{ScreenAudit, ScreenEntry}},
	{"misfire", "a run that was due while the engine was off: left out, or made up for once", []Screen{ScreenSchedules}},
}

// Words are the words that a screen shows, or all the others, and what they mean.
func Words(s Screen, shown bool) (name, means []string) {
	for i := range glossary {
		if w := &glossary[i]; slices.Contains(w.on, s) == shown {
			name, means = append(name, w.name), append(means, w.means)
		}
	}
	return name, means
}
