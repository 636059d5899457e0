package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/storage/keep"
)

// A directory begins anew with its configuration, and what it had is a data directory of
// its own.
func TestResetBeginsAnewAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	who := player("Ana#EUW", 4)
	s := startSim(t, quick(who))
	dir := freshDir(t)
	oneSentence(t, in(dir, "reset", "--yes").asked(t).wants(t, exitFailed).stderr, "stored", "--data-dir")
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	config := filepath.Join(dir, "config.toml")
	write(t, config, "report_tz = \"UTC\"\n")

	var would, did keep.ResetReport
	unmarshal(t, in(dir, "reset", "--dry-run", "--json").asked(t).wants(t, exitDone).stdout, &would)
	if !would.DryRun || would.Totals.Matches != 4 || would.Totals.Accounts != 1 || would.Months == 0 || would.Bytes <= would.State || would.State == 0 {
		t.Errorf("%+v", would)
	}
	if got := exported(t, dir); len(got) != 4 {
		t.Errorf("a dry run left %d matches", len(got))
	}
	letGo := holdDir(t, dir)
	oneSentence(t, in(dir, "reset", "--yes").asked(t).wants(t, exitHeld).stderr, "for itself", fmt.Sprintf("`kill %d`", os.Getpid()))
	letGo()
	unmarshal(t, in(dir, "reset", "--yes", "--json", "--reason", "another key").asked(t).wants(t, exitDone).stdout, &did)
	if did.DryRun || did.Totals != would.Totals || filepath.Dir(did.Aside) != dir {
		t.Errorf("%+v", did)
	}
	if got := exported(t, dir); len(got) != 0 {
		t.Errorf("the new store has %d matches", len(got))
	}
	if audit := in(dir, "audit").asked(t).wants(t, exitDone).stdout; !containsAll(audit, []string{"another key", "4 matches of 1 account", filepath.Base(did.Aside)}) {
		t.Errorf("the audit: %s", audit)
	}
	if text, err := os.ReadFile(config); err != nil || !strings.HasPrefix(string(text), "report_tz") {
		t.Errorf("config.toml: %q %v", text, err)
	}
	if got := exported(t, did.Aside, "--payload"); len(got) != 4 {
		t.Errorf("aside are %d matches", len(got))
	}
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	if got := exported(t, dir); len(got) != 4 {
		t.Errorf("%d matches after the next sync", len(got))
	}
	sound(t, dir)
	sound(t, did.Aside)
}
