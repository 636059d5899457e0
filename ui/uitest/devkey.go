package uitest

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// The limits of a development key, and how many matches each account of its scene has.
const (
	devWindow  = 2 * time.Minute
	devLimit   = 100
	devMatches = 120
)

// devBegan is when the scene of a development key began.
var devBegan = at(42 * time.Second)

// devMade is how many calls were made by an instant: a burst of 20 first, then each window is used up evenly.
func devMade(now time.Time, most int) int {
	up := now.Sub(devBegan)
	windows, rest := int(up/devWindow), up%devWindow
	n := int(rest*devLimit/devWindow) + 1
	if windows == 0 {
		n = min(int(rest/(50*time.Millisecond))+1, 20) + int(max(rest-time.Second, 0)*80/(119*time.Second))
	}
	return min(windows*devLimit+n, most)
}

// devCallAt is when a call was made, from 0 on.
func devCallAt(i int) time.Time {
	switch n := i % devLimit; {
	case i < 20:
		return devBegan.Add(time.Duration(i) * 50 * time.Millisecond)
	case i < devLimit:
		return devBegan.Add(time.Second + time.Duration(i-19)*119*time.Second/80)
	default:
		return devBegan.Add(time.Duration(i/devLimit)*devWindow + time.Duration(n)*devWindow/devLimit)
	}
}

// devLimits are the windows at an instant.
func devLimits(now time.Time, most int) engine.LimitsRow {
	made := devMade(now, most)
	count := func(method string, window time.Duration, limit int) engine.BucketRow {
		reset := now.Add(window - now.Sub(devBegan)%window)
		b := engine.BucketRow{Host: "europe", Kind: "app", Method: method, Window: window, Limit: limit, Reset: reset, ServerAt: now, Mode: "sliding", Waiting: most - made}
		if method != "" {
			b.Kind = "method"
		}
		if begin := reset.Add(-window); begin.After(devBegan) {
			b.Used = made - devMade(begin.Add(-1), most)
		} else {
			b.Used = made
		}
		b.Server = b.Used
		return b
	}
	paces := count("", devWindow, devLimit)
	paces.Paces, paces.Name = true, "app:europe 120s"
	return engine.LimitsRow{
		At: now, Hosts: []engine.LimitHost{{Host: "europe", Learnt: devBegan, Blind: 1}},
		Buckets: []engine.BucketRow{count("", time.Second, 20), paces, count("match-v5.match", 10*time.Second, 2000)},
	}
}

// DevKey is an engine on a development key that has begun with so many accounts 42 s before Noon, as it
// stands at an instant after that.
func DevKey(accounts int, now time.Time) Scene {
	all := accounts * devMatches
	made, limits := devMade(now, all), devLimits(now, all)
	s := Scene{Name: fmt.Sprintf("devkey%d", accounts)}
	row := engine.EngineRow{
		State: engine.EngineLive, Demo: true, Key: "…7f3a", Boot: "01JD", Started: devBegan, SinceStart: now.Sub(devBegan) < time.Minute, Workers: 12,
		Accounts: int64(accounts), Stored: int64(made), Waiting: int64(all - made), Meter: engine.Meter{Spark: make([]int, 24), P50: 62 * time.Millisecond, Answered: now},
	}
	if row.CallsPerMin = float64(made); !row.SinceStart {
		row.CallsPerMin -= float64(devMade(now.Add(-time.Minute), all))
	}
	var rows []engine.AccountRow
	for i := range accounts {
		done := (made + accounts - 1 - i) / accounts
		a := engine.AccountRow{
			ID: fmt.Sprintf("v%03d", i), RiotID: fmt.Sprintf("Player %d#DEV", i+1), Platform: "euw1", Region: "europe", Status: engine.Syncing, Job: engine.JobID(fmt.Sprintf("s%03d", i)), Kind: "full",
			Queue: Full, Phase: engine.PhaseMatches, Matches: engine.Progress{Total: devMatches, Stored: done, Open: devMatches - done}, Triggered: devBegan, Started: devBegan,
		}
		if done == devMatches {
			a.Status, a.Result, a.Phase, a.Finished, a.LastSync = engine.SyncCompleted, "completed", engine.PhaseDone, now, now
		}
		rows = append(rows, a)
	}
	for i := max(made-200, 0); i < made+120 && i < all; i++ {
		key := fmt.Sprintf("EUW1_%d", 6741269343+i*7919)
		j := job(fmt.Sprintf("m%05d", i), "match:"+key, engine.Available)
		if i < made {
			s.Update.Calls = append(s.Update.Calls, engine.CallRow{
				Seq: uint64(i + 1), At: devCallAt(i), Host: "europe", Method: "match-v5.match", Target: key, Job: j.ID, Status: 200,
				Took: time.Duration(42+i*37%48) * time.Millisecond, Paced: time.Second, PacedBy: "app:europe 100/120s", Try: 1, Asked: devBegan,
			})
			continue
		}
		j.Created, j.Owner, j.Place, j.Line, j.Until = devBegan, fmt.Sprintf("v%03d", i%accounts), i-made+1, "full europe/match-v5.match", devCallAt(i)
		j.Why = "in line"
		s.Jobs = append(s.Jobs, j)
	}
	s.Jobs = byPolicy(s.Jobs...)
	s.Update.Seq, s.Update.Snapshot, s.Update.Engine, s.Update.Limits, s.Update.Accounts = uint64(1000+made), true, &row, &limits, rows
	s.Update.Queues = []engine.QueueRow{queue(Full, all-made, 0, 0)}
	for was := engine.Latest(devBegan, now.Add(-time.Minute)); was.Before(now); was = was.Add(time.Second) {
		m := engine.Moment{At: was, Engine: row, Queues: []engine.QueueRow{queue(Full, all-devMade(was, all), 0, 0)}, Limits: devLimits(was, all)}
		m.Engine.Stored, m.Engine.Waiting = int64(devMade(was, all)), int64(all-devMade(was, all))
		s.Past = append(s.Past, m)
	}
	Foresee(&s.Update)
	return s
}
