package page

import (
	"strconv"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestV6c_WhatEndsNextComesFirst, and the sync that somebody has just asked for is among the first.
func TestV6c_WhatEndsNextComesFirst(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	v, f := &View{Data: &Data{}, Now: now}, Forecast{}
	for i := range 60 {
		id := strconv.Itoa(i)
		v.Accounts = append(v.Accounts, engine.AccountRow{ID: id, Status: engine.Syncing, Triggered: now.Add(time.Duration(i) * time.Second)})
		if i > 0 { // nobody knows the end of the first
			f.Plan.Accounts = append(f.Plan.Accounts, engine.AccountForecast{Account: id, Ends: now.Add(time.Duration(60-i%59) * time.Minute)})
		}
	}
	v.Accounts = append(v.Accounts, engine.AccountRow{ID: "done", Status: engine.SyncCompleted})
	all := f.Arriving(v)
	if len(all) != 60 || all[0].ID != "58" || all[1].ID != "57" || all[2].ID != "59" || all[3].ID != "56" || all[59].ID != "0" {
		t.Errorf("%d syncs, %s %s %s %s … %s", len(all), all[0].ID, all[1].ID, all[2].ID, all[3].ID, all[59].ID)
	}
	f.Plan.At, f.Plan.Step, f.Plan.Accounts[0].Planned = now, 5*time.Second, []int{0, 0, 1, 0}
	if at := f.NextOf("1"); !at.Equal(now.Add(10*time.Second)) || !f.NextOf("2").IsZero() {
		t.Errorf("the next call is made at %v", at)
	}
	if !f.EndOf("0").IsZero() || !f.Ends().Equal(now.Add(time.Hour)) {
		t.Errorf("the last ends at %v", f.Ends())
	}
}

// TestV6c_NearEndsMoveNoRow: an estimate that moves by a second, over a full ten of them, moves nothing.
func TestV6c_NearEndsMoveNoRow(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	v := &View{Data: &Data{}}
	for _, id := range []string{"a", "b"} {
		v.Accounts = append(v.Accounts, engine.AccountRow{ID: id, Status: engine.Syncing})
	}
	var f Forecast
	for _, step := range []struct {
		a, b  time.Duration
		first string
	}{
		{100 * time.Second, 101 * time.Second, "a"},
		{100 * time.Second, 99 * time.Second, "a"},
		{109 * time.Second, 94 * time.Second, "a"},
		{109 * time.Second, 80 * time.Second, "b"},
		{95 * time.Second, 89 * time.Second, "b"},
	} {
		f.Plan.Accounts = []engine.AccountForecast{{Account: "a", Ends: now.Add(step.a)}, {Account: "b", Ends: now.Add(step.b)}}
		if got := f.ByEnd(v)[0].ID; got != step.first {
			t.Errorf("ends at %v and %v: %s is first, want %s", step.a, step.b, got, step.first)
		}
	}
}

// TestV6e_APauseMovesNoAccount: while nobody knows when they end, accounts stand in the order in which they would have.
func TestV6e_APauseMovesNoAccount(t *testing.T) {
	v := view(new(Data))
	var f Forecast
	for i, id := range []string{"a", "b", "c"} {
		v.Accounts = append(v.Accounts, engine.AccountRow{ID: id, Status: engine.Syncing})
		f.Plan.Accounts = append(f.Plan.Accounts, engine.AccountForecast{Account: id, Ends: v.Now.Add(time.Hour - time.Duration(i)*time.Minute)})
	}
	order := func() (ids string) {
		for _, a := range f.ByEnd(v) {
			ids += a.ID
		}
		return ids
	}
	works := order()
	for i := range f.Plan.Accounts {
		f.Plan.Accounts[i].Ends = time.Time{}
	}
	paused := order()
	if f.Plan.Accounts = nil; works != "cba" || paused != works || order() != works {
		t.Errorf("%s at work, %s in a pause, %s without a plan", works, paused, order())
	}
}

// TestV1q_TheBusiestHostIsTheOneThatIsToldOf: where the title names another host than that with the most calls planned, the
// windows are of the named one, unless nothing is to come there.
func TestV1q_TheBusiestHostIsTheOneThatIsToldOf(t *testing.T) {
	v, f := view(&Data{}), Forecast{}
	v.Limits.Buckets = []engine.BucketRow{{Host: "asia", Paces: true, Waiting: 400}, {Host: "europe", Paces: true, Waiting: 399}}
	f.Plan = engine.Forecast{At: v.Now, Hosts: []engine.HostForecast{{Host: "europe", Line: 402}, {Host: "asia", Line: 400}}}
	if h := f.Busiest(v); h == nil || h.Host != "asia" {
		t.Errorf("asia is told of: %+v", h)
	}
	if f.Plan.Hosts[1].Line = 0; f.Busiest(v).Host != "europe" {
		t.Error("nothing is planned on asia")
	}
	if v.Engine.State = engine.EnginePaused; f.Busiest(v).Host != "asia" {
		t.Error("the engine was paused while asia was told of")
	}
	v.Engine.State, v.Limits.Buckets[0].Host, v.Limits.Buckets[1].Host = engine.EngineLive, "europe", "asia"
	f.Plan.Hosts = []engine.HostForecast{{Host: "asia"}, {Host: "europe"}}
	if f.Busiest(v).Host != "europe" {
		t.Error("at the end of all work it is the one that is told of")
	}
	f.Plan.Hosts[1].Line, v.Queues = 5, []engine.QueueRow{{Counts: map[engine.State]int{engine.Completed: 5}}}
	if h := f.Busiest(v); h.Line != 0 || h.Host != "europe" {
		t.Errorf("all is done: %+v", h)
	}
}
