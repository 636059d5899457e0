package app

import (
	"io"
	"testing"

	"github.com/farsight-console/farsight/ui/cli"
)

// A script tells by the exit code how a sync ended: cancelled is neither done nor failed.
func TestExitCodesOfASync(t *testing.T) {
	for result, want := range map[string]int{
		cli.ResultCompleted: exitDone, cli.ResultIncomplete: exitIncomplete, cli.ResultFailed: exitFailed,
		cli.ResultCancelled: exitCancelled, cli.ResultInterrupted: exitInterrupted,
	} {
		err := verdict(cli.Summary{Result: result}, "Name#TAG", cli.Out{W: io.Discard}, keptHere)
		if got := exitCode(err); got != want {
			t.Errorf("%s ends with %d, want %d", result, got, want)
		}
	}
}
