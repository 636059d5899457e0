package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

// A wide terminal tells the worker, the bytes and who asked; a narrow one, and a script
// that counts columns, is given what it always was.
func TestJobs_AWideTerminalTellsMore(t *testing.T) {
	row := engine.JobRow{Job: engine.Job{ID: "j1", Kind: "match.fetch", Key: "match:KR_1", State: engine.Running, Worker: 3, Bytes: 41_000, By: "ana"}}
	c := answering{answer: func(engine.Query) (engine.Answer, error) { return engine.JobsPage{Jobs: []engine.JobRow{row}}, nil }}
	for width, want := range map[int]bool{0: false, 120: false, 159: false, 160: true, 250: true} {
		var out bytes.Buffer
		if err := cli.Jobs("", false).Show(t.Context(), c, cli.Out{W: &out, Width: width}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for _, part := range []string{"WORKER", "BYTES", "BY", "41,000", "ana"} {
			if strings.Contains(text, part) != want {
				t.Errorf("width %d: %q is there: %t\n%s", width, part, !want, text)
			}
		}
	}
	var out bytes.Buffer
	if err := cli.Jobs("by:ana", false).Show(t.Context(), c, cli.Out{W: &out, JSON: true}); err != nil || !strings.Contains(out.String(), `"worker":3,"by":"ana","bytes":41000`) {
		t.Errorf("%v: %s", err, out.String())
	}
}
