package hub

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// TestMailbox_AJobThatBeganAndEndedIsNoNews, unless the reader knew it.
func TestMailbox_AJobThatBeganAndEndedIsNoNews(t *testing.T) {
	b := newMailbox()
	j := engine.Job{ID: "j", State: engine.Running}
	b.job(j, true)
	b.job(j, false)
	b.leave("j")
	take := func() engine.Update { m := b.empty(); return m.rows.Update() }
	if u := take(); len(u.Gone)+len(u.Jobs) != 0 {
		t.Errorf("gone %v, jobs %v", u.Gone, u.Jobs)
	}
	b.job(j, true)
	told := take().Jobs
	b.leave("j")
	b.job(j, true) // again, before the reader has heard that it left
	b.leave("j")
	if u := take(); len(told) != 1 || len(u.Gone) != 1 || len(u.Jobs) != 0 {
		t.Errorf("told %v, gone %v, jobs %v", told, u.Gone, u.Jobs)
	}
}
