package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// desk takes what a pager sends, as PagerDuty and Twilio do, and keeps who was told what, and when.
type desk struct {
	mu             sync.Mutex
	told           []string
	opened, closed int // troubles at PagerDuty
}

// since gives what was told since it was asked last.
func (d *desk) since() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	told := d.told
	d.told = nil
	return told
}

func (d *desk) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	at := time.Now().UTC().Format("15:04:05 ")
	d.mu.Lock()
	defer d.mu.Unlock()
	answer := `{"status":"success"}`
	switch {
	case strings.Contains(r.URL.Host, "twilio") && r.Method == http.MethodPost:
		answer = `{"sid":"CA0123456789abcdef0123456789abcdef","status":"completed","answered_by":"human"}`
		d.told = append(d.told, at+"the telephone")
	case strings.Contains(r.URL.Host, "twilio"):
		answer = `{"sid":"CA0123456789abcdef0123456789abcdef","status":"completed","answered_by":"human"}`
	default:
		var event struct {
			Key    string `json:"dedup_key"`
			Action string `json:"event_action"`
		}
		if err := json.Unmarshal(body, &event); err != nil {
			return nil, err
		}
		if event.Action == "resolve" {
			d.closed++
		} else {
			d.opened++
		}
		d.told = append(d.told, at+"PagerDuty: "+event.Action+" "+event.Key)
	}
	return &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// TestW9i_ADayOfThirtyShortFaults: each fault of 45 seconds strikes a sync under way. What fires for it ends
// within minutes of its end, whoever was told of the trouble is told of the end, and nothing is left of the day.
func TestW9i_ADayOfThirtyShortFaults(t *testing.T) {
	longest(t)
	const many, apart, lasts = 30, 48 * time.Minute, 45 * time.Second
	o := sim.Options{Seed: 7, Limits: limits("20:1,100:120")}
	for i := range many {
		p := player(fmt.Sprintf("Day%d#EUW", i), 60)
		p.Shapes = []sim.Shape{"swarm"}
		o.Players = append(o.Players, p)
	}
	faults := []sim.Fault{
		{Kind: sim.Unavailable, Match: sim.Match{Method: route.Match}}, {Kind: sim.Unavailable},
		{Kind: sim.LimitMethod, RetryAfter: "30", Match: sim.Match{Method: route.Match}}, {Kind: sim.LimitApp, RetryAfter: "20"},
		{Kind: sim.LimitService}, {Kind: sim.Reset}, {Kind: sim.Hang}, {Kind: sim.ServerError}, {Kind: sim.Truncate}, {Kind: sim.BadGateway},
	}
	inAlertRig(t, o, func(t *testing.T, r *alertRig) {
		d := &desk{}
		r.desk, r.alone = d, true
		r.cfg.Pager.Channels = []pager.Channel{{Name: "pagerduty", Form: pager.FormPagerDuty,
			URL: pager.NewSecret(pager.DefaultPagerDuty), Secret: pager.NewSecret("0123456789abcdef0123456789abcdef")}}
		r.cfg.Pager.Call = &pager.CallOptions{Account: pager.NewSecret("AC0123456789abcdef0123456789abcdef"),
			Token: pager.NewSecret("token"), From: "+4915112345670", To: []string{"+4915112345678"}}
		r.restart(time.Second)
		for i, p := range o.Players {
			r.do(engine.Command{Op: engine.OpTrigger, Account: p.RiotID, Sync: engine.SyncAsk{Platform: "euw1", Mode: "full"}})
			time.Sleep(5 * time.Second)
			f := faults[i%len(faults)]
			if err := r.sim.Inject(f); err != nil {
				t.Fatal(err)
			}
			time.Sleep(lasts)
			r.sim.Clear()
			time.Sleep(15 * time.Minute)
			for _, a := range ask[engine.AlertsAnswer](t, r.front, engine.AlertsQuery{}).Alerts {
				if a.State != engine.AlertOK {
					t.Errorf("15 minutes after %s: %s is %s since %s", f.Kind, a.ID, a.State, a.Since)
				}
			}
			time.Sleep(apart - 15*time.Minute - lasts - 5*time.Second)
			for _, told := range d.since() {
				t.Logf("%d %s %s: %s", i, f.Kind, f.Match.Method, told)
			}
		}
		if d.opened != d.closed || d.opened == 0 {
			t.Errorf("PagerDuty was told of %d troubles and %d ends", d.opened, d.closed)
		}
		for _, p := range o.Players {
			row := ask[engine.AccountDetail](t, r.front, engine.AccountQuery{ID: p.RiotID}).Row
			if row.Status != engine.SyncCompleted || row.Matches.Stored != p.Matches {
				t.Errorf("%s is %s with %d of %d matches", p.RiotID, row.Status, row.Matches.Stored, p.Matches)
			}
		}
	})
}
