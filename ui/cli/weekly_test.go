package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

// answering is a console that has one answer per kind of query.
type answering struct {
	engine.Console
	answer func(engine.Query) (engine.Answer, error)
}

func (a answering) Find(_ context.Context, q engine.Query) (engine.Answer, error) { return a.answer(q) }

func printed(t *testing.T, asJSON bool, show func(cli.Out) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := show(cli.Out{W: &b, JSON: asJSON}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		found := false
		for have := range strings.Lines(text) {
			found = found || strings.Join(strings.Fields(have), " ") == line
		}
		if !found {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

var friday = time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)

func TestRanksArePrintedPageByPage(t *testing.T) {
	t.Setenv("TZ", "UTC")
	rows := []engine.RankRow{
		{Account: "01A", Queue: "RANKED_SOLO_5x5", At: friday, Tier: "GOLD", Division: "II", Points: 40, Wins: 30, Losses: 10},
		{Account: "01A", Queue: "RANKED_FLEX_SR", At: friday, Unranked: true},
	}
	c := answering{answer: func(q engine.Query) (engine.Answer, error) {
		asked := q.(engine.RanksQuery)
		if asked.Account != "Ana#EUW" || asked.Queue != "RANKED" {
			t.Errorf("asked %+v", asked)
		}
		if asked.After == "" {
			return engine.RanksPage{Ranks: rows[:1], Next: "more"}, nil
		}
		return engine.RanksPage{Ranks: rows[1:]}, nil
	}}
	show := func(o cli.Out) error { return cli.Ranks("Ana#EUW", "RANKED").Show(t.Context(), c, o) }
	at := friday.Local().Format("2006-01-02 15:04:05")
	wantLines(t, printed(t, false, show), "AT QUEUE RANK POINTS WINS LOSSES WON",
		at+" RANKED_SOLO_5x5 GOLD II 40 30 10 75 %", at+" RANKED_FLEX_SR unranked 0 0 0 -")
	if lines := strings.Count(printed(t, true, show), "\n"); lines != 2 {
		t.Errorf("%d lines of JSON", lines)
	}
}

func TestTheWeeklyReportIsPrinted(t *testing.T) {
	r := &engine.WeeklyReport{
		Week: "2026-11-09", From: time.Date(2026, 11, 9, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), Zone: "UTC", Built: friday,
		Played: 3, Complete: 1,
		Accounts: []engine.WeeklyAccount{{RiotID: "Ana#EUW", Games: 2, Minutes: 61.5, Wins: 1}, {RiotID: "Ben\u202e#EUW", Games: 1, Minutes: 25, Wins: 1, Missing: "2 matches"}},
	}
	r.Games[0][20], r.Minutes[0][20], r.Minutes[0][21] = 2, 50, 11.5
	r.Games[6][9], r.Minutes[6][9] = 1, 25
	c := answering{answer: func(q engine.Query) (engine.Answer, error) {
		if week := q.(engine.WeeklyQuery).Week; week != "2026-11-11" {
			t.Errorf("asked for %q", week)
		}
		return r, nil
	}}
	show := func(o cli.Out) error { return cli.Weekly("2026-11-11").Show(t.Context(), c, o) }
	text := printed(t, false, show)
	wantLines(t, text, "Monday 2 1 h 01 min 20:00, 50 min", "Tuesday 0 - -", "Sunday 1 25 min 09:00, 25 min",
		"Ana#EUW 2 1 h 01 min 50 %", "Ben‹U+202E›#EUW 1 25 min 100 % 2 matches")
	if !strings.HasPrefix(text, "Mon 2026-11-09 to Sun 2026-11-15 (UTC): 3 games of 2 accounts, 1 of them complete") {
		t.Errorf("%s", text)
	}
	var back engine.WeeklyReport
	if err := json.Unmarshal([]byte(printed(t, true, show)), &back); err != nil || back.Week != r.Week || len(back.Accounts) != 2 {
		t.Errorf("%+v %v", back, err)
	}
}

func TestFreshnessIsPrinted(t *testing.T) {
	f := engine.Freshness{
		Accounts: 1200, Text: "needs 120 of 3000 calls per hour in europe", Lates: 3,
		Regions: []engine.FreshnessHost{{Region: "europe", Needs: 120, Allowed: 3000, Bucket: "app:europe 100/120s"}, {Region: "asia", Needs: 7}},
		Late:    []engine.LateAccount{{RiotID: "Ana#EUW", Cadence: time.Hour}},
	}
	c := answering{answer: func(engine.Query) (engine.Answer, error) { return f, nil }}
	text := printed(t, false, func(o cli.Out) error { return cli.Freshness().Show(t.Context(), c, o) })
	wantLines(t, text, "1,200 tracked accounts: needs 120 of 3000 calls per hour in europe", "europe 120 3,000 4 % europe 2 min", "asia 7 ? -",
		"Ana#EUW - 1 h", "and 2 more")
}

// An engine that answers with something else is an error, not a crash.
func TestAWrongAnswerIsAnError(t *testing.T) {
	c := answering{answer: func(engine.Query) (engine.Answer, error) { return engine.LimitsRow{}, nil }}
	for name, show := range map[string]func(cli.Out) error{
		"ranks":     func(o cli.Out) error { return cli.Ranks("a#b", "").Show(t.Context(), c, o) },
		"weekly":    func(o cli.Out) error { return cli.Weekly("").Show(t.Context(), c, o) },
		"freshness": func(o cli.Out) error { return cli.Freshness().Show(t.Context(), c, o) },
	} {
		if err := show(cli.Out{W: &bytes.Buffer{}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// An endpoint that is down is a row of `limits`.
func TestI7_LimitsNameWhatIsDown(t *testing.T) {
	l := engine.LimitsRow{
		Breakers: []engine.BreakerRow{{Host: "asia", Method: "match-v5.match", Since: time.Now(), Next: time.Now().Add(30*time.Second + 500*time.Millisecond)}, {Host: "kr", Method: "league-v4.by-puuid"}},
		Buckets:  []engine.BucketRow{{Host: "asia", Kind: "app", Window: time.Second, Limit: 20, Server: -1}},
	}
	c := answering{answer: func(q engine.Query) (engine.Answer, error) {
		if q == (engine.StatusQuery{}) {
			return engine.StatusAnswer{}, nil
		}
		return l, nil
	}}
	text := printed(t, false, func(o cli.Out) error { return cli.Limits("").Show(t.Context(), c, o) })
	for _, want := range []string{"DOWN since 20", ", next try in 30 s", "DOWN since -, tried now", "0/20"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	text = printed(t, false, func(o cli.Out) error { return cli.Limits("kr").Show(t.Context(), c, o) })
	if strings.Contains(text, "asia") || !strings.Contains(text, "DOWN") {
		t.Errorf("with a filter:\n%s", text)
	}
}
