package page

import (
	"fmt"

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

// syncWords are the statuses of an account as screens write them.
var syncWords = map[engine.SyncStatus]string{
	engine.SyncNever: "NEVER", engine.SyncPending: "QUEUED", engine.Syncing: "SYNCING",
	engine.SyncCompleted: "DONE", engine.SyncFailed: "FAILED", engine.SyncCancelled: "CANCELLED",
}

// two is a number of at least two digits.
func two(n int) string { return fmt.Sprintf("%02d", n) }
