package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

func TestLimitsSayHowTheyWereLearnt(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 14, 0, 0, time.Local)
	l := engine.LimitsRow{
		Hosts:   []engine.LimitHost{{Host: "asia", Learnt: at, Blind: 1}, {Host: "kr", Learnt: at.Add(-time.Hour), Blind: 1}},
		Buckets: []engine.BucketRow{{Host: "asia", Waiting: 3}},
	}
	if got, want := howLearnt(l), "learnt from headers 2026-11-21 12:14:00, 3 calls wait, 2 calls were sent before the limits were known"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := howLearnt(engine.LimitsRow{}); !strings.HasPrefix(got, "learnt from headers, 0 calls wait, 0 calls were sent before") {
		t.Errorf("%q", got)
	}
}

// told is a console that has one answer.
type told struct {
	engine.Console
	answer engine.Answer
}

func (c told) Find(context.Context, engine.Query) (engine.Answer, error) { return c.answer, nil }

// A count that the server told minutes ago says so.
func TestLimitsSayHowOldTheServersCountIs(t *testing.T) {
	for age, want := range map[time.Duration]string{7*time.Minute + time.Second: "84, 7 min 01 s ago", time.Second: "84 "} {
		var b bytes.Buffer
		row := engine.BucketRow{Host: "asia", Kind: "app", Window: time.Second, Limit: 20, Server: 84, ServerAt: time.Now().Add(-age)}
		if err := Limits("").Show(t.Context(), told{answer: engine.LimitsRow{Buckets: []engine.BucketRow{row}, Cause: "LIVE: 96 % of what the key allows"}}, Out{W: &b}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "\nLIVE: 96 % of what the key allows; learnt ") {
			t.Errorf("after %s %q is not in\n%s", age, want, b.String())
		}
	}
}

// The cause is told where no limit is known, too, and what an operator froze is not called open.
func TestW5b_LimitsTellTheCause(t *testing.T) {
	frozen := engine.BucketRow{Host: "europe", Kind: "app", Window: time.Second, Limit: 20, Server: -1, BlockedBy: engine.BlockedFrozen}
	thaws := frozen
	thaws.Thaws = time.Now().Add(time.Hour)
	for _, c := range []struct {
		buckets []engine.BucketRow
		filter  string
		want    []string
	}{
		{nil, "", []string{"no limits known yet", "\nHELD: europe is frozen\n"}},
		{[]engine.BucketRow{frozen}, "asia", []string{"nothing fits", "\nHELD: europe is frozen\n"}},
		{[]engine.BucketRow{frozen, thaws}, "", []string{" FROZEN\n", " FROZEN, 59 min", "\nHELD: europe is frozen; learnt"}},
	} {
		var b bytes.Buffer
		if err := Limits(c.filter).Show(t.Context(), told{answer: engine.LimitsRow{Buckets: c.buckets, Cause: "HELD: europe is frozen"}}, Out{W: &b}); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "OPEN") {
				t.Errorf("%q is not in\n%s", want, b.String())
			}
		}
	}
}

// What keeps an account's run from going on is its state, and that of a queue whose work
// may not start.
func TestI1_ListsSayWhatKeepsWorkBack(t *testing.T) {
	status := engine.StatusAnswer{
		Queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: "ingest.match"}, Stand: engine.StandDown}},
		Open:   []engine.AccountRow{{ID: "a", RiotID: "Ana#EUW", Status: engine.Syncing, Stand: engine.StandHeld}, {ID: "b", RiotID: "Ben#EUW", Status: engine.Syncing}},
	}
	var b bytes.Buffer
	if err := Status("", false).Show(t.Context(), told{answer: status}, Out{W: &b}); err != nil {
		t.Fatal(err)
	}
	words := map[string]string{"ingest.match": "DOWN", "Ana#EUW": "HELD", "Ben#EUW": "SYNCING"}
	for line := range strings.Lines(b.String()) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); words[name] != "" {
			if !strings.Contains(line, words[name]) {
				t.Errorf("%q does not say %s", line, words[name])
			}
			delete(words, name)
		}
	}
	if len(words) > 0 {
		t.Errorf("not listed: %v in\n%s", words, b.String())
	}
}

// TestW5g_StatusTellsOneCause: what would set the pace is no second one.
func TestW5g_StatusTellsOneCause(t *testing.T) {
	status := engine.StatusAnswer{
		Engine: engine.EngineRow{State: engine.EngineHeld, Why: "europe is frozen until 12:30 UTC"},
		Pacing: &engine.BucketRow{Host: "europe", Name: "app:europe 120s", Used: 19, Limit: 300, Waiting: 900, Paces: true},
	}
	var b bytes.Buffer
	if err := Status("", false).Show(t.Context(), told{answer: status}, Out{W: &b}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.HasPrefix(text, "HELD: europe is frozen until 12:30 UTC\n") || strings.Contains(text, "app:europe") {
		t.Errorf("told\n%s", text)
	}
}

// A filter by what one player did in a match needs that player: without one it would fit
// nothing for ever. What is of the match, and a free word, need none.
func TestMatchesOfAllSayWhatNeedsAPlayer(t *testing.T) {
	page := engine.MatchesPage{Matches: []engine.MatchRow{{ID: "KR_1", Champion: "Lux", QueueID: 420, Mode: "CLASSIC", Status: "success"}}}
	for text, needs := range map[string]string{
		"champion:Lux": "champion", "-champion:Lux": "champion", "kills>3": "kills", "queue:420 result:win": "result", "deaths:0": "deaths", "assists>9": "assists",
		"queue:420": "", "lux": "", "mode:CLASSIC": "", "": "", "Ana#EUW champion:Lux": "",
	} {
		var b bytes.Buffer
		err := Matches(text, false).Show(t.Context(), told{answer: page}, Out{W: &b})
		if needs == "" {
			if err != nil || !strings.Contains(b.String(), "KR_1") {
				t.Errorf("%q: %v, %s", text, err, b.String())
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), needs+" is one player's in a match") || !strings.Contains(err.Error(), "farsight matches 'Name#TAG ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
