package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV9g_ThePauseKeySaysThatItResumes: where what the cursor is on is paused or frozen already, and nowhere else.
func TestV9g_ThePauseKeySaysThatItResumes(t *testing.T) {
	frozen := uitest.Busy()
	frozen.Freeze(uitest.Noon.Add(time.Minute))
	for _, c := range []struct {
		keys, does string
		stands     uitest.Scene
	}{
		{"1", "p pause", uitest.Paused()}, {"3", "p pause", uitest.Paused()}, {"5 tab", "p freeze bucket", frozen},
	} {
		bubble(t, func(t *testing.T) {
			for want, scene := range map[string]uitest.Scene{c.does: uitest.Busy(), "p resume": c.stands} {
				d := open(t, scene, 120, 40, testOptions())
				d.press(strings.Fields(c.keys)...)
				if !strings.Contains(d.lastRow(), "  "+want+"  ") {
					t.Errorf("%s: %q lacks %q", c.keys, d.lastRow(), want)
				}
			}
		})
	}
}
