package keys

import (
	"cmp"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/ui/page"
)

// keysPage is the page of keys of the documentation, made of the one table that the
// console itself goes by.
const keysPage = "../../docs/keys.md"

var update = flag.Bool("update", false, "write the page of keys anew")

// TestKeysPageIsFresh fails when docs/keys.md is not what the table of keys says.
// Run with -update to write it anew.
func TestKeysPageIsFresh(t *testing.T) {
	got := keysMarkdown()
	if *update {
		if err := os.WriteFile(keysPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(keysPage)
	if err != nil {
		t.Fatalf("%v: run go test ./ui/keys -run TestKeysPage -update", err)
	}
	if got != string(want) {
		t.Errorf("docs/keys.md is stale, run go test ./ui/keys -run TestKeysPage -update")
	}
}

func keysMarkdown() string {
	var b strings.Builder
	b.WriteString(`# Keys

Made from the table of keys in ui/keys/table.go by docs/make.sh: do not edit. In the console ` + "`?`" + ` shows the keys of the
screen, ` + "`:`" + ` finds every command by name, and ` + "`keys.toml`" + ` in the data directory, or else in
` + "`~/.config/farsight`" + `, binds keys anew. A key that cannot act answers with the reason.
`)
	for _, group := range []string{groupAct, GroupMove, groupView, groupApp} {
		fmt.Fprintf(&b, "\n## %s\n\n| key | does | where |\n|---|---|---|\n", group)
		for i := range bindings {
			if k := &bindings[i]; k.Group == group {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", keyCells(k.Keys), k.Help, whereText(k.In))
			}
		}
	}
	b.WriteString("\n## In a question, a menu, the help\n\n| key | does | where |\n|---|---|---|\n")
	for i := range bindings {
		if k := &bindings[i]; k.Group == "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", keyCells(k.Keys), cmp.Or(k.Hint, string(k.Act)), overlayText(k.In))
		}
	}
	b.WriteString("\n## Commands of your own\n\n" + ownPage)
	return b.String()
}

// ownPage tells of [[command]]; its sample is read by a test.
const ownPage = "A `[[command]]` in `keys.toml` binds a key on a screen, several or `all` to a line for the shell:\n\n" +
	"```toml\n" + ownSample + "```\n\n" +
	"The line runs by `sh -c` on the host of the console, as your own user, after a question and once the engine has written it into\n" +
	"the audit. It is about the row under the cursor: each member of the row's JSON ([json.md](json.md); `c` copies it) that is one text,\n" +
	"number or truth is in its environment, `id` as `FARSIGHT_ID`, `riot_id` as `FARSIGHT_RIOT_ID`, with what could harm a terminal taken out;\n" +
	"the whole JSON is on its standard input. Quote the variables: names of players hold anything. Of the console's environment\n" +
	"it gets all but what has KEY, TOKEN, SECRET or PASSWORD in its name. When it fails, the end of its output is shown; after\n" +
	"ten minutes it is ended. Nothing runs in a console that is read only, or attached by an address (https://).\n"

const ownSample = `[[command]]
key = "I"
on = ["jobs", "retries"]
name = "look up"
run = 'farsight jobs --all "id:$FARSIGHT_ID" --json >> ~/looked-up.ndjson'

[[command]]
key = "B"
on = "matches"
run = 'xdg-open "https://www.example.com/match/$FARSIGHT_MATCH_ID"'
`

func keyCells(keys []string) string {
	shown := make([]string, len(keys))
	for i, k := range keys {
		shown[i] = "`" + strings.ReplaceAll(Shown([]string{k}), "|", `\|`) + "`"
	}
	return strings.Join(shown, " ")
}

// whereText names the screens of a key in the shortest way.
func whereText(in Context) string {
	in &= OnPages
	if in == OnPages {
		return "everywhere"
	}
	if missing := OnPages &^ in; bits.OnesCount32(uint32(missing)) <= 3 {
		return "everywhere but " + screenList(missing)
	}
	for _, set := range []struct {
		of   Context
		name string
	}{{onTables, "lists"}, {onLists, "lists, Limits, Logs"}, {onTables | onReports | onLogs, "lists, Reports, Logs"}} {
		if in == set.of {
			return set.name
		}
	}
	return screenList(in)
}

func screenList(in Context) string {
	var names []string
	for s := page.ScreenOverview; On(s) <= onCollection; s++ {
		if in&On(s) != 0 {
			names = append(names, s.String())
		}
	}
	return strings.Join(names, ", ")
}

func overlayText(in Context) string {
	var names []string
	for _, c := range []struct {
		at   Context
		name string
	}{{InDialog, "question"}, {InHelp, "help"}, {InMenu, "menu"}} {
		if in&c.at != 0 {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}
