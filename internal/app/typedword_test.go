package app

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// Commands of class D on a terminal: a wrong word refuses and
// changes nothing, the right one does it. Elsewhere nobody can be asked.
func TestTheTypedWordOnATerminal(t *testing.T) {
	t.Parallel()
	who := player("Ana#EUW", 3)
	s := startSim(t, quick(who))
	template := freshDir(t)
	s.sync(who.RiotID, template).run(t).wants(t, exitDone)
	for _, c := range []struct {
		name, would, undone string
		args                []string
		word                func(dir string) string
	}{
		{"forget", "3 matches (0 shared with other accounts stay)", "nothing was deleted", []string{"forget", who.RiotID}, func(string) string { return "ana#euw" }},
		{"reset", "would be moved to before-reset-", "nothing was changed", []string{"reset"}, filepath.Base},
		{"reset for good", "would be deleted; it cannot be undone", "nothing was changed", []string{"reset", "--no-backup"}, filepath.Base},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, template)
			answers := func(word string) (int, string) {
				p, master, seen := onTerminal(t, append(c.args, "--data-dir", dir), map[string]string{"LC_ALL": "C.UTF-8"})
				p.until("the question", func() bool { return strings.Contains(seen.String(), "to go on: ") })
				_, _ = master.WriteString(word + "\n")
				code := p.wait().code
				return code, seen.String()
			}
			for _, wrong := range []string{"yes", "", "an"} {
				code, said := answers(wrong)
				if code != exitUsage || !containsAll(said, []string{c.would}) {
					t.Errorf("%q: exit %d, %q", wrong, code, said)
				}
				hasOf(t, dir, who.RiotID, who.Matches)
			}
			oneSentence(t, in(dir, c.args...).asked(t).wants(t, exitUsage).stderr, "--yes", "--dry-run")
			in(dir, append(c.args, "--dry-run")...).asked(t).wants(t, exitDone)
			hasOf(t, dir, who.RiotID, who.Matches)
			if code, said := answers(c.word(dir)); code != exitDone {
				t.Errorf("exit %d, %q", code, said)
			}
			hasOf(t, dir, "", 0)
		})
	}
}

// hasOf checks what is stored: so many matches of one account, or nothing; and that no
// command but one that was carried out is in the audit.
func hasOf(t *testing.T, dir, account string, matches int) {
	t.Helper()
	if got := exported(t, dir); len(got) != matches {
		t.Errorf("%d matches, want %d", len(got), matches)
	}
	if got := in(dir, "accounts").asked(t).wants(t, exitDone).stdout; account != "" && !strings.Contains(got, account) {
		t.Errorf("accounts: %s", got)
	}
	audit := in(dir, "audit", "--json").asked(t).wants(t, exitDone).stdout
	acted := 0
	for _, op := range []engine.Op{engine.OpForget, "reset"} {
		acted += strings.Count(audit, `"op":"`+string(op)+`"`)
	}
	if want := 1 - min(1, matches); acted != want {
		t.Errorf("%d commands in the audit, want %d: %s", acted, want, audit)
	}
}
