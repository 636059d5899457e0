package page

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

func count(n int) string { return human.Count(int64(n)) }

// short keeps the ends of an opaque id such as a PUUID.
func short(id string) string {
	if len(id) <= 9 {
		return id
	}
	return id[:3] + "…" + id[len(id)-3:]
}

// eta says when work ends as a range; "" while that is not known.
func eta(e engine.ETA) string {
	switch {
	case !e.Known:
		return ""
	case e.Calls <= 0:
		return "finishing"
	}
	return human.ETA(e.Low, e.High)
}

// StateWord is a job's state as screens write it.
func StateWord(j engine.Job) string {
	if j.State == engine.Scheduled && j.Hold != engine.HoldNone {
		return "HELD"
	}
	return stateWords[min(int(j.State), len(stateWords)-1)]
}

var stateWords = func() []string {
	var words []string
	for _, s := range engine.States() {
		words = append(words, strings.ToUpper(s.String()))
	}
	return words
}()

// syncWords are the statuses of an account as screens write them.
var syncWords = map[engine.SyncStatus]string{
	engine.SyncNever: "NEVER", engine.SyncPending: "QUEUED", engine.Syncing: "SYNCING",
	engine.SyncCompleted: "DONE", engine.SyncFailed: "FAILED", engine.SyncCancelled: "CANCELLED",
}

// matchWords are the statuses of a match as screens write them.
var matchWords = map[string]string{
	"unfetched": "UNFETCHED", "success": "STORED", "temporary_failure": "RETRYABLE",
	"permanently_unfetchable": "GAVE UP", "outside_retention_window": "TOO OLD",
}

func matchWord(status string) string {
	if w, ok := matchWords[status]; ok {
		return w
	}
	return strings.ToUpper(status)
}

// modes names the queues players know best; Riot's queues.json, read 2026-01.
var modes = map[int]string{
	400: "Normal Draft", 420: "Ranked Solo", 430: "Normal Blind", 440: "Ranked Flex", 450: "ARAM", 480: "Swiftplay", 490: "Quickplay",
	700: "Clash", 720: "ARAM Clash", 900: "ARURF", 1700: "Arena", 1710: "Arena", 1810: "Swarm", 1820: "Swarm", 1900: "URF",
}

func modeName(queue int, mode string) string {
	if name, ok := modes[queue]; ok {
		return name
	}
	if mode != "" {
		return mode
	}
	return "queue " + strconv.Itoa(queue)
}

// job names without the word that every row of a screen would repeat.
func keyOf(j engine.Job) string { return keyText(&j) }

// nameOf is what a list calls a job: a sync by its player, in front of its key, which is
// of an id that says nothing.
func nameOf(j *engine.JobRow) string {
	if j.Player == "" {
		return keyText(&j.Job)
	}
	return j.Player + " " + keyText(&j.Job)
}

// keyText is keyOf for those who ask a hundred thousand times: a job is hundreds
// of bytes.
func keyText(j *engine.Job) string {
	if j.Key != "" {
		return j.Key
	}
	return string(j.Kind) + " " + string(j.ID)
}

// inShort is an error without the words that each row of a list would repeat: which
// method of which host was called is told elsewhere, and the status is what counts.
func inShort(err string) string {
	rest, ours := strings.CutPrefix(err, "riot: ")
	if !ours {
		return err
	}
	_, said, ok := strings.Cut(rest, ": ")
	if !ok {
		return err
	}
	return strings.TrimPrefix(said, "status ")
}
