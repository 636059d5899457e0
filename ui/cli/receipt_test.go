package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestI2_DryRunTellsWhatIsDelayed: in a sentence for people, and in fields for programs;
// where it is unknown, both say so.
func TestI2_DryRunTellsWhatIsDelayed(t *testing.T) {
	at := time.Now().Add(time.Hour)
	run := engine.Delay{Schedule: "latest", At: at, Calls: 120, By: 130 * time.Second, Bucket: "app:europe 100/120s"}
	slow := engine.Delay{Account: "a", RiotID: "Ana#EUW", By: 12*time.Minute + 20*time.Second}
	second := engine.Delay{Account: "b", RiotID: "Ben#EUW", By: time.Minute}
	latest := "; delays the latest run of " + engine.When(at, time.Now()) + " by about 2 min 10 s"
	for _, c := range []struct {
		cost engine.Cost
		want string
	}{
		{engine.Cost{Calls: 889}, ""}, // nobody has looked
		{engine.Cost{Calls: 889, Delays: []engine.Delay{}}, "; it delays nothing else"},
		{engine.Cost{Calls: 889, Delays: []engine.Delay{run}}, latest},
		{engine.Cost{Calls: 889, Delays: []engine.Delay{run, slow}}, latest + ", Ana#EUW by about 12 min"},
		{engine.Cost{Calls: 889, Delays: []engine.Delay{run, second, slow}}, latest + ", Ana#EUW by about 12 min and 1 other sync by less"},
		{engine.Cost{Calls: 889, AtMost: true, Delays: []engine.Delay{slow}}, "; delays Ana#EUW by up to 12 min"},
		{engine.Cost{Calls: 889, Unknown: "asia is frozen"}, "; what it delays is unknown: asia is frozen"},
		{engine.Cost{Calls: 889, Delays: []engine.Delay{run}, Unknown: "asia is frozen"}, latest + "; what else it delays is unknown: asia is frozen"},
	} {
		var b bytes.Buffer
		r := engine.Receipt{Text: "would make about 889 calls", Cost: &c.cost}
		if err := Acted(Out{W: &b}, r, true, ""); err != nil || strings.TrimSpace(b.String()) != r.Text+c.want {
			t.Errorf("%+v: %q, %v; want %q", c.cost, b.String(), err, r.Text+c.want)
		}
		b.Reset()
		if err := Acted(Out{W: &b, JSON: true}, r, true, ""); err != nil {
			t.Error(err)
		}
		var back engine.Receipt
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Cost.Delays) != len(c.cost.Delays) || back.Cost.Unknown != c.cost.Unknown {
			t.Errorf("%+v is written as %s, %v", c.cost, b.String(), err)
		}
		if told := strings.Contains(b.String(), `"delays"`); told != (c.cost.Delays != nil) {
			t.Errorf("%+v is written as %s", c.cost, b.String())
		}
	}
}
