package inspector

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV8f_AJobShowsTheMatchThatItFetched: what was played and who did how, asked for once, when the job is done.
func TestV8f_AJobShowsTheMatchThatItFetched(t *testing.T) {
	d := retried()
	d.Job.Key, d.Account, d.Job.Kind = "match:KR_7", "카인#KR1", "match.fetch"
	p := NewJob("j1")
	v := pagetest.View(&page.Data{Ready: true})
	p.Got(v, p.Want(v), d, nil)
	if _, ok := p.Want(v).(engine.PayloadQuery); ok {
		t.Fatal("a match is asked for that is not fetched")
	}
	p.Detail.Job.State = engine.Completed
	q, ok := p.Want(v).(engine.PayloadQuery)
	if !ok || q.Match != "KR_7" {
		t.Fatalf("%+v is asked for", q)
	}
	p.Got(v, q, engine.Payload{JSON: []byte(`{"info": {"gameDuration": 1867, "queueId": 420, "participants": [
		{"riotIdGameName": "카인", "riotIdTagline": "KR1", "championName": "Jinx", "kills": 7, "deaths": 2, "assists": 11, "win": true},
		{"riotIdGameName": "b", "championName": "Shen", "kills": 1, "deaths": 8, "assists": 3},
		{"riotIdGameName": "c", "championName": "Ashe", "win": true, "gameEndedInEarlySurrender": true}]}}`)}, nil)
	screen := ansi.Strip(strings.Join(p.Draw(v), "\n"))
	for _, want := range []string{"MATCH Ranked Solo", "31:07", "W Jinx", "카인", "7/2/11", "L Shen", "1/8/3", "- Ashe"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen lacks %q:\n%s", want, screen)
		}
	}
	if _, ok := p.Want(v).(engine.PayloadQuery); ok {
		t.Error("it is asked for again")
	}
}
