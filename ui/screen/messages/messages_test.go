package messages

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestAnEmptyColumnCutsNoMessage: while no message is about a job, the column of jobs has the room of its name.
func TestAnEmptyColumnCutsNoMessage(t *testing.T) {
	said := "the queue match is paused and 1,203 jobs wait"
	v := pagetest.View(&page.Data{})
	v.W, v.H, v.Size = 80, 20, page.S
	for job, whole := range map[engine.JobID]bool{"": true, "c405": false} {
		v.Notes, v.Noted = []engine.Note{{At: v.Now, Level: engine.LevelOK, Text: said, Job: job}}, 1
		list, _, _ := strings.Cut(ansi.Strip(strings.Join(New().Draw(v), "\n")), "WHOLE")
		if strings.Contains(list, said) != whole {
			t.Errorf("about %q:\n%s", job, list)
		}
	}
}
