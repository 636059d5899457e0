package dataset

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// In a file of 150 games: what ten players did takes less than 0.72 KB of a match, and its timeline 12 KB. Who they
// are depends on how often the same play: a PUUID has 78 random characters, so that ten new ones are 585 bytes.
func TestL24_WhatAMatchTakes(t *testing.T) {
	const matches = 150
	step = matches
	l := sim.LadderSpec{Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: 60}
	day := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	s := sim.New(sim.Options{Seed: 3, Limits: sim.Limits{App: []sim.Limit{{N: 1000, Per: time.Second}}}, Latency: sim.Instant,
		Ladders: []sim.LadderSpec{l}, Epoch: day})
	e := Export{Dir: t.TempDir()}
	e.Payload = func(_ context.Context, q engine.PayloadQuery) ([]byte, error) {
		path := "/asia/lol/match/v5/matches/" + q.Match
		if q.Timeline {
			path += "/timeline"
		}
		ask := httptest.NewRequest(http.MethodGet, path, nil)
		ask.Header.Set("X-Riot-Token", "RGAPI-00000001-cafe-4bad-8bad-c0ffee000000")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, ask)
		return w.Body.Bytes(), nil
	}
	e.Feed = func(ctx context.Context, q engine.FeedQuery) (page engine.FeedPage, err error) {
		for _, id := range s.LadderMatchIDs(l)[:matches] {
			switch q.Kind {
			case engine.FeedTimelines:
				page.Rows = append(page.Rows, engine.FeedRow{ID: id, Timeline: &engine.TimelineRow{Match: id, FetchedAt: day, Played: day}})
			case engine.FeedParticipants:
				raw, _ := e.Payload(ctx, engine.PayloadQuery{Match: id})
				game, err := riot.ParseMatch(raw, id)
				if err != nil {
					return page, err
				}
				for i, p := range game.Participants {
					won := p.Win
					page.Rows = append(page.Rows, engine.FeedRow{ID: id, Seat: &engine.SeatRow{Match: id, Index: i, PUUID: p.PUUID, RiotID: p.Name + "#" + p.Tag,
						Champion: p.ChampionName, Team: p.TeamID, Won: &won, Kills: p.Kills, Deaths: p.Deaths, Assists: p.Assists, Played: day}})
				}
			}
		}
		return page, nil
	}
	if _, err := e.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	takes := map[string]int{}
	for name, raw := range files(t, e.Dir) {
		table, _, _ := strings.Cut(name, "/")
		takes[table] += len(raw) / matches
		f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Metadata().RowGroups {
			for _, c := range g.Columns {
				if column := c.MetaData.PathInSchema[0]; column == "puuid" || column == "riot_id" {
					takes["who"] += int(c.MetaData.TotalCompressedSize) / matches
				}
			}
		}
	}
	if takes["participants"]-takes["who"] > 720 || takes["events"]+takes["frames"] > 12_000 {
		t.Errorf("a match takes %v", takes)
	}
}
