package uitest

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// row is an account of the scene.
func (f *Fake) row(id string) (engine.AccountRow, bool) {
	for _, a := range f.Scene.Update.Accounts {
		if a.ID == id {
			return a, true
		}
	}
	return engine.AccountRow{}, false
}

// cells are the matches of an account: fetched from the newest back, as a sync does, with
// what could not be had among them.
func (f *Fake) cells(id string) engine.MatchCells {
	a, _ := f.row(id)
	m := a.Matches
	out := engine.MatchCells{Account: id, Row: a}
	if m.Total <= 0 {
		return out
	}
	cells := []byte(strings.Repeat(string(engine.CellToCome), max(m.Open-m.Retrying, 0)))
	known := []byte(strings.Repeat(string(engine.CellHad), m.Had) + strings.Repeat(string(engine.CellStored), m.Stored))
	if !a.Status.Open() {
		known = []byte(strings.Repeat(string(engine.CellStored), m.Had+m.Stored))
	}
	for i := range m.Failed + m.Retrying {
		letter := byte(engine.CellGaveUp)
		if i >= m.Failed {
			letter = engine.CellRetrying
		}
		at := (i*37 + 11) % max(len(known), 1)
		known = append(known[:at], append([]byte{letter}, known[at:]...)...)
	}
	cells = append(cells, known...)
	out.Cells = string(cells)
	month := ""
	for i, letter := range cells {
		if letter != engine.CellStored && letter != engine.CellHad {
			out.Undated++
			continue
		}
		played := Noon.Add(-time.Duration(len(cells)-i) * 13 * time.Hour)
		if now := played.UTC().Format("2006-01"); now != month {
			month = now
			out.Months = append(out.Months, engine.MonthCell{Cell: i, Played: played})
		}
	}
	for i := range cells {
		if letter := cells[i]; letter == engine.CellStored && len(out.Newest) < 60 && a.Status.Open() {
			out.Newest = append(out.Newest, engine.StoredCell{Cell: i, Stored: at(time.Duration(len(out.Newest)) * 430 * time.Millisecond)})
		}
	}
	return out
}

// draft is what a report of the account would say: a seventh of the one that playReport
// gives for what was stored of it.
func (f *Fake) draft(id string) *engine.PlayReport {
	a, ok := f.row(id)
	if !ok || a.Matches.Stored+a.Matches.Had <= 0 {
		return &engine.PlayReport{Account: id, Zone: "Asia/Seoul", Built: Noon}
	}
	r := playReport(id)
	r.Matches, r.LeftOut, r.Missing, r.Built = a.Matches.Stored+a.Matches.Had, 0, max(a.Matches.Total-a.Matches.Stored-a.Matches.Had, 0), Noon
	return r
}

// runs are the last syncs of an account: the present one, and a day back others.
func runs(a engine.AccountRow) []engine.RunRow {
	out := []engine.RunRow{{
		ID: "run-1", Kind: a.Kind, By: "ana", Triggered: a.Triggered, Started: a.Started, Finished: a.Finished, Result: a.Result, Matches: a.Matches, Calls: a.Calls,
	}}
	if !a.Status.Open() && a.Result == "" {
		out[0].Result = map[engine.SyncStatus]string{engine.SyncCompleted: "completed", engine.SyncFailed: "failed", engine.SyncCancelled: "cancelled"}[a.Status]
	}
	for i, n := range []int{4, 0, 7} {
		began := at(time.Duration(26+24*i) * time.Hour)
		out = append(out, engine.RunRow{
			ID: "run-" + string(rune('2'+i)), Kind: "latest", Triggered: began, Started: began, Finished: began.Add(time.Duration(2+n) * time.Second), Result: "completed",
			Matches: engine.Progress{Total: 20, Stored: n, Had: 20 - n}, Calls: 2 + 2*n,
		})
	}
	return out
}
