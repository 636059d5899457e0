package uitest

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// collections are one at work, one that a ladder is read for, one that comes again, and one that has failed.
func collections() []engine.CollectionRow {
	row := func(name string, ask engine.CollectAsk, began time.Duration) engine.CollectionRow {
		r := engine.CollectionRow{Collection: engine.Collection{ID: "c-" + name, CollectAsk: ask, Job: engine.JobID("j-" + name), Round: 1,
			By: "ana", Created: at(began + time.Minute)}}
		r.Name = name
		if began > 0 {
			r.Started = at(began)
		}
		return r
	}
	kr := row("kr-solo-master+", engine.CollectAsk{Tiers: []string{"master+"}, Platforms: []string{"kr"}, Queue: "solo", Since: "14d"}, 50*time.Minute)
	kr.Players, kr.Ladder, kr.Ladders, kr.Pages, kr.Moved = 6021, 3, 3, 3, 2
	kr.Listed, kr.Failed, kr.Calls, kr.Short = 1337, 3, 1411, 1
	kr.Collected = engine.Collected{Found: 11_204, Stored: 9_310, Had: 131, Lost: 3, TooOld: 41, Again: 24_120}
	kr.Parts = []engine.CollectionPart{
		{Name: "kr challenger", Players: 300, Done: 300, Ladder: true, Read: true}, {Name: "kr grandmaster", Players: 700, Done: 700, Ladder: true, Read: true},
		{Name: "kr master", Players: 5021, Done: 340, Ladder: true, Read: true},
	}
	for i, name := range []string{"Rank Climber#KR1", strings.Repeat("q", engine.PUUIDLength), "한글 이름#KR2", "Tilted#NA1"} {
		kr.Last = append(kr.Last, engine.CollectionPlayer{Name: name, Platform: "kr", Tier: "MASTER", Points: 312 - i, Listed: 18 + 9*i, New: 2 * i,
			Status: []string{"syncing", "completed", "failed", "completed"}[i], At: at([]time.Duration{4 * time.Second, 12 * time.Second, 5 * time.Minute, 51 * time.Minute}[i])})
	}
	for i, n := range []int{310, 420, 1204, 1377, 402, 388, 451, 467, 630, 1690, 1811, 512, 488, 620, 44} {
		kr.Days = append(kr.Days, engine.DayPlayed{Day: engine.UTCDay(at(time.Duration(14-i) * 24 * time.Hour)), Matches: n})
	}
	euw := row("euw-diamond", engine.CollectAsk{Tiers: []string{"diamond1..diamond4"}, Platforms: []string{"euw1"}, Queue: "solo", Matches: 50_000, Timelines: "none"}, 2*time.Minute)
	euw.Players, euw.Ladder, euw.Page, euw.Ladders, euw.Pages = 2870, 1, 4, 4, 15
	euw.Parts = []engine.CollectionPart{
		{Name: "euw1 diamond I", Players: 2255, Ladder: true, Read: true}, {Name: "euw1 diamond II", Players: 615, Ladder: true, Page: 4},
		{Name: "euw1 diamond III", Ladder: true}, {Name: "euw1 diamond IV", Ladder: true},
	}
	daily := row("jp1-flex-challenger", engine.CollectAsk{Tiers: []string{"challenger"}, Platforms: []string{"jp1"}, Queue: "flex", Every: 24 * time.Hour}, 0)
	daily.Next = at(-7 * time.Hour)
	daily.Round, daily.Players, daily.Ladders = 4, 50, 1
	daily.Collected = engine.Collected{Found: 812, Stored: 812, Again: 3_004}
	failed := row("na1-solo-iron", engine.CollectAsk{Tiers: []string{"iron"}, Platforms: []string{"na1"}, Queue: "solo"}, 26*time.Hour)
	failed.Result, failed.Finished, failed.Ladders = "failed", at(26*time.Hour-time.Minute), 4
	failed.Error = "the ladders name nobody: a season may just have begun; run the same command again when games were played"
	return []engine.CollectionRow{euw, kr, daily, failed}
}

// Collecting is Busy beside collections at work.
func Collecting() Scene {
	s := Busy()
	s.Name = "collecting"
	kr, euw := queue(engine.CollectionQueue("kr-solo-master+"), 1850, 4, 0), queue(engine.CollectionQueue("euw-diamond"), 1, 1, 0)
	kr.Why = "accounts go first"
	e := *s.Update.Engine
	e.Waiting += int64(kr.Counts[engine.Available])
	s.Update.Engine = &e
	s.Update.Queues = append(s.Update.Queues, kr, euw)
	for i, key := range []string{"match:KR_7214551003", "timeline:KR_7214551003", "match:KR_7214551004"} {
		j := engine.JobRow{Job: engine.Job{ID: engine.JobID("k" + key[len(key)-4:] + key[:1]), Kind: "match.fetch", Key: key, Queue: kr.Name,
			Owner: "c-kr-solo-master+", State: engine.Running, Started: at(time.Duration(i+1) * 100 * time.Millisecond), Tries: 1, Rev: 1}}
		s.Jobs = append(s.Jobs, j)
	}
	s.Update.Jobs = live(s.Jobs)
	return s
}

// collected are the collections that a query asks for.
func (f *Fake) collected(q engine.CollectionsQuery) (a engine.CollectionsAnswer, err error) {
	for _, r := range f.Scene.Collections {
		if q.Name == "" || q.Name == r.Name {
			a.Collections = append(a.Collections, r)
		}
	}
	if q.Name != "" && len(a.Collections) == 0 {
		return a, engine.Problemf(engine.ErrNotFound, "", "there is no collection %q", q.Name)
	}
	return a, nil
}
