package api

import (
	"github.com/farsight-console/farsight/engine"
)

// AccountProgress is how far the live or last sync of an account has come.
type AccountProgress struct {
	Account   string            `json:"account"` // id
	RiotID    string            `json:"riot_id"`
	Platform  string            `json:"platform"`
	Status    engine.SyncStatus `json:"status"`
	Kind      string            `json:"kind,omitempty"`
	Phase     engine.Phase      `json:"phase,omitempty"`
	Job       engine.JobID      `json:"job,omitempty"`
	Done      int               `json:"done"`      // items that have come to their end
	Total     int               `json:"total"`     // -1 = not known yet
	Cancelled int               `json:"cancelled"` // part of Total, not of Done
	Matches   engine.Progress   `json:"matches"`
	Timelines engine.Progress   `json:"timelines"`
	Calls     int               `json:"calls"`        // to Riot, of the run
	Throttled int               `json:"rate_limited"` // 429s among them
	Result    string            `json:"result,omitempty"`
	LastError string            `json:"last_error,omitempty"` // as received
}

// progressOf is an account's progress; of its matches, until their timelines are
// what is left.
func progressOf(a engine.AccountRow) AccountProgress {
	shown := a.Matches
	if a.Phase == engine.PhaseTimelines {
		shown = a.Timelines
	}
	return AccountProgress{
		Account: a.ID, RiotID: a.RiotID, Platform: a.Platform, Status: a.Status, Kind: a.Kind, Phase: a.Phase, Job: a.Job,
		Done: shown.Done(), Total: shown.Total, Cancelled: shown.Cancelled, Matches: a.Matches, Timelines: a.Timelines,
		Calls: a.Calls, Throttled: a.Throttled, Result: a.Result, LastError: a.LastError,
	}
}
