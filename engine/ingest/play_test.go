package ingest_test

import (
	"context"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestPlayWeekByWeek: what the query adds up is what is stored, in the zone asked for.
func TestPlayWeekByWeek(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		seoul, err := time.LoadLocation("Asia/Seoul")
		must(t, err)
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 60)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		id := r.settle("Ana#EUW", time.Hour).ID
		answer, known, err := r.in.Find(context.Background(), engine.PlayQuery{Account: id, Zone: "Asia/Seoul"})
		must(t, err)
		p, ok := answer.(engine.Play)
		if !known || !ok || len(p.Weeks) != 4 || p.Zone != "Asia/Seoul" || p.Cut || len(p.Champions) == 0 {
			t.Fatalf("%+v", answer)
		}
		var games []league.Game
		r.read(func(tx engine.Tx) error {
			for g, err := range r.db.Games(tx, id) {
				must(t, err)
				games = append(games, g)
			}
			return nil
		})
		champions, stored := map[string]int{}, 0
		for _, g := range games {
			if g.Here {
				champions[g.Champion]++
				stored++
			}
		}
		told := 0
		for i, c := range p.Champions {
			told += c.Games
			if champions[c.Name] != c.Games || i > 0 && c.Games > p.Champions[i-1].Games || c.Wins > c.Games {
				t.Errorf("%+v, want %d games", c, champions[c.Name])
			}
		}
		if p.Games != stored || p.More == 0 && told != stored {
			t.Errorf("%d games, %d by champion, %d are stored", p.Games, told, stored)
		}
		for _, w := range p.Weeks {
			from, err := time.ParseInLocation(time.DateOnly, w.Week, seoul)
			must(t, err)
			want, minutes, sum := 0, 0.0, 0.0
			for _, g := range games {
				if g.Here && !g.Played.Before(from) && g.Played.Before(from.AddDate(0, 0, 7)) {
					want++
				}
				for at, end := g.Played, g.Played.Add(g.Duration); g.Here && at.Before(end); at = at.Add(time.Second) {
					if !at.Before(from) && at.Before(from.AddDate(0, 0, 7)) {
						minutes += 1.0 / 60
					}
				}
			}
			for d := range w.Minutes {
				for _, m := range w.Minutes[d] {
					sum += m
				}
			}
			if from.Weekday() != time.Monday || w.Games != want || sum < minutes-1 || sum > minutes+1 {
				t.Errorf("week %s: %d games, %.1f minutes; want %d and %.1f", w.Week, w.Games, sum, want, minutes)
			}
		}
		if p.Weeks[0].Games == 0 {
			t.Error("the newest week has no game")
		}
		report, err := r.db.Report(context.Background(), id)
		must(t, err)
		answer, _, err = r.in.Find(context.Background(), engine.PlayQuery{Account: id, Draft: true})
		must(t, err)
		if d := answer.(engine.Play).Draft; d == nil || d.Matches != report.Matches || d.Zone != report.Zone || d.Games != report.Games || d.Missing != 0 || p.Draft != nil {
			t.Errorf("the draft of a built report is %+v, want %+v", d, report)
		}
		_, _, err = r.in.Find(context.Background(), engine.PlayQuery{Account: id, Zone: "Mars/Olympus"})
		wantProblem(t, err, engine.ErrInvalid)
		_, _, err = r.in.Find(context.Background(), engine.PlayQuery{Account: "nobody"})
		wantProblem(t, err, engine.ErrNotFound)
	})
}
