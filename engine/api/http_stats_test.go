package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// played is an office that knows one account with a report and so many matches, one a
// day, the newest of today first.
func played(matches int) *office {
	o, newest := quiet(), time.Now().Add(-time.Minute)
	rest := o.find
	o.find = func(q engine.Query) (engine.Answer, error) {
		switch q := q.(type) {
		case engine.AccountQuery:
			return engine.AccountDetail{Row: engine.AccountRow{ID: "01A", RiotID: "Quiet River#SIM", Platform: "euw1", Status: engine.SyncCompleted}, Report: &engine.PlayReport{Matches: matches}}, nil
		case engine.MatchesQuery:
			first, limit := 0, q.Limit
			if _, err := fmt.Sscanf(q.After, "behind-%d", &first); q.After != "" && err != nil {
				return nil, err
			}
			page := engine.MatchesPage{}
			for i := first; i < min(first+limit, matches); i++ {
				page.Matches = append(page.Matches, engine.MatchRow{ID: fmt.Sprintf("EUW1_%d", 9000-i), Played: newest.AddDate(0, 0, -i)})
			}
			if first+limit < matches {
				page.Next = fmt.Sprintf("behind-%d", first+limit)
			}
			return page, nil
		}
		return rest(q)
	}
	return o
}

// TestS3_1_StatsCarryTheSortedMatches: both paths answer the same, the matches are
// those that count and lookbackDays ask for, and what is more than a page is linked.
func TestS3_1_StatsCarryTheSortedMatches(t *testing.T) {
	w := listen(t, played(879), nil)
	for _, c := range []struct {
		ask           string
		here, in      int // matches in the answer, and with those behind its links
		firstPageLink string
	}{
		{"", 100, 879, "/v1/matches/Quiet%20River/SIM?after=behind-100&limit=100"},
		{"?count=0", 100, 879, "/v1/matches/Quiet%20River/SIM?after=behind-100&limit=100"},
		{"?count=20", 20, 20, ""},
		{"?count=500", 500, 500, ""},
		{"?count=700", 500, 700, "/v1/matches/Quiet%20River/SIM?after=behind-500&limit=200"},
		{"?count=20&lookbackDays=7", 7, 7, ""},
		{"?lookbackDays=30", 30, 30, ""},
	} {
		long, head := w.ask(t, "GET", "/v1/stats/Quiet%20River/SIM"+c.ask, "", http.StatusOK)
		short, same := w.ask(t, "GET", "/stats/Quiet%20River/SIM"+c.ask, "", http.StatusOK)
		if short != long || head.Get("ETag") != same.Get("ETag") {
			t.Errorf("%q: the two paths differ", c.ask)
		}
		var got PlayStats
		if err := json.Unmarshal([]byte(long), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Matches) != c.here || got.More != c.firstPageLink || got.Report.Matches != 879 {
			t.Errorf("%q: %d matches, then %q, of a report over %d", c.ask, len(got.Matches), got.More, got.Report.Matches)
		}
		all := append([]engine.MatchRow{}, got.Matches...)
		for link := got.More; link != "" && len(all) < c.in; {
			var page engine.MatchesPage
			body, _ := w.ask(t, "GET", link, "", http.StatusOK)
			if err := json.Unmarshal([]byte(body), &page); err != nil {
				t.Fatal(err)
			}
			all = append(all, page.Matches...)
			link = "/v1/matches/Quiet%20River/SIM?limit=100&after=" + page.Next
		}
		if len(all) != c.in {
			t.Errorf("%q: %d matches behind its links, want %d", c.ask, len(all), c.in)
		}
		for i, m := range all {
			if want := fmt.Sprintf("EUW1_%d", 9000-i); m.ID != want {
				t.Fatalf("%q: match %d is %s, want %s", c.ask, i, m.ID, want)
			}
		}
	}
}

// TestS3_1_StatsStartTheSyncThatIsAskedFor: count and lookbackDays are those of a sync.
func TestS3_1_StatsStartTheSyncThatIsAskedFor(t *testing.T) {
	o := quiet()
	var did []engine.Command
	o.does = func(c engine.Command) (engine.Receipt, error) {
		did = append(did, c)
		return engine.Receipt{Job: "a1", Account: "01A"}, nil
	}
	w := listen(t, o, nil)
	w.ask(t, "GET", "/stats/Quiet%20River/SIM?count=20&lookbackDays=30&platform=kr", "", http.StatusAccepted)
	if len(did) != 1 {
		t.Fatalf("%+v", did)
	}
	ask, back := did[0].Sync, time.Since(did[0].Sync.Since)
	if ask.Count != 20 || ask.Platform != "kr" || back < 29*24*time.Hour || back > 31*24*time.Hour {
		t.Errorf("%+v", ask)
	}
	for _, bad := range []string{"count=-1", "count=many", "lookbackDays=0", "lookbackDays=-7", "lookbackDays=1.5", "lookbackDays=99999", "days=7", "count=1&count=2"} {
		body, _ := w.ask(t, "GET", "/stats/Quiet%20River/SIM?"+bad, "", http.StatusBadRequest)
		if name, _, _ := strings.Cut(bad, "="); !strings.Contains(body, name) {
			t.Errorf("%s: %s", bad, body)
		}
	}
	if len(did) != 1 {
		t.Errorf("a bad look did %+v", did)
	}
}
