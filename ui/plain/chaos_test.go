package plain

import (
	"strings"
	"testing"

	"github.com/farsight-console/farsight/ui/chaos"
)

func TestPlainConsoleKnowsChaos(t *testing.T) {
	s := chaosSentences(&chaos.State{Rows: []chaos.Row{
		{Name: "503", On: true, Told: "5 %", Hits: 12, Did: "9 retried, 2 held, 0 given up, 1 open"},
		{Name: "key expiry", About: "401 to single calls: held until another call proves the key"},
	}})
	text := strings.Join(s, "\n")
	for _, want := range []string{"503: 5 %, 12 hits; 9 retried, 2 held, 0 given up, 1 open.", "key expiry: off, 0 hits; 401 to single calls", "chaos off ends all"} {
		if !strings.Contains(text, want) {
			t.Errorf("the sentences lack %q:\n%s", want, text)
		}
	}
}
