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
	if u, jobs := b.empty().update(); len(u.Gone)+len(jobs) != 0 {
		t.Errorf("gone %v, jobs %v", u.Gone, jobs)
	}
	b.job(j, true)
	_, told := b.empty().update()
	b.leave("j")
	b.job(j, true) // again, before the reader has heard that it left
	b.leave("j")
	if u, jobs := b.empty().update(); len(told) != 1 || len(u.Gone) != 1 || len(jobs) != 0 {
		t.Errorf("told %v, gone %v, jobs %v", told, u.Gone, jobs)
	}
}
