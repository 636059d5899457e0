package classes

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/inspector"
)

// What is shown as the answer that a class is about is one of that class.
func TestAClassShowsItsOwnAnswer(t *testing.T) {
	failed, later := &engine.CallRow{Status: 503, Class: "503"}, &engine.CallRow{Status: 200}
	for name, c := range map[string]struct {
		latest *inspector.Job
		want   *engine.CallRow
	}{
		"nobody has asked yet":       {nil, nil},
		"its call is forgotten":      {&inspector.Job{}, nil},
		"its call is the failure":    {&inspector.Job{Detail: engine.JobDetail{Call: failed}}, failed},
		"a later call has gone well": {&inspector.Job{Detail: engine.JobDetail{Call: later}}, nil},
	} {
		p := &screen{latest: c.latest}
		if got := p.failure(&engine.ClassRow{ErrorClass: engine.ErrorClass{Class: "503"}}); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
