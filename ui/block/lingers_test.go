package block

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV7h_AGroupLingers: a group whose retries have ended keeps its heading and lines for ten seconds; one that has
// begun anew meanwhile is not there twice.
func TestV7h_AGroupLingers(t *testing.T) {
	var m Most
	retries := JobGroup{GroupKey: GroupKey{engine.ReasonKey{State: engine.Retryable}}, Jobs: 2}
	gone := JobGroup{GroupKey: GroupKey{engine.ReasonKey{State: engine.Discarded}}, Jobs: 2}
	m.Keeps(retries.GroupKey, 2, uitest.Noon)
	m.Keeps(gone.GroupKey, 2, uitest.Noon)
	if got := m.Lingers([]JobGroup{retries}, uitest.Noon); len(got) != 1 || got[0].Jobs != 2 {
		t.Errorf("it is there: %+v", got)
	}
	got := m.Lingers(nil, uitest.Noon.Add(KeepLines))
	if len(got) != 1 || got[0].GroupKey != retries.GroupKey || got[0].Jobs != 0 {
		t.Fatalf("after it: %+v", got)
	}
	if lines := m.Keeps(retries.GroupKey, 0, uitest.Noon.Add(KeepLines)); lines != 2 {
		t.Errorf("it keeps %d lines", lines)
	}
	if got := m.Lingers(nil, uitest.Noon.Add(KeepLines+time.Second)); len(got) != 0 {
		t.Errorf("later: %+v", got)
	}
}
