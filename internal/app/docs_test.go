package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/internal/reference"
)

// The sample program of docs/pager.md is run as it stands there, with the environment
// that the pager gives: a desktop that is reached by nothing else, and an exit code
// that tells when nobody was.
func TestTheSampleNotifyScriptRuns(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sh", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	doc, err := os.ReadFile(filepath.Join(top, "docs", "pager.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "```sh\n#!/bin/sh\n")
	script, _, whole := strings.Cut(rest, "```")
	if !found || !whole {
		t.Fatal("docs/pager.md has no sample program")
	}
	bin := t.TempDir()
	const desktop = "#!/bin/sh\nprintf '%s|' \"$XDG_RUNTIME_DIR\" \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "notify-send"), []byte(desktop), 0o700); err != nil {
		t.Fatal(err)
	}
	notify := func(stdin string) (string, error) {
		cmd := exec.Command("sh", "-c", script)
		cmd.Stdin = strings.NewReader(stdin)
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "FARSIGHT_EVENT=alert.fired"}
		out, err := cmd.Output()
		return string(out), err
	}
	said, err := notify(`{"type":"alert.fired","text":"Farsight alert \"x\": it's 7 * $HOME"}`)
	if err != nil || !strings.HasPrefix(said, "/run/user/") || !strings.HasSuffix(said, `|Farsight|Farsight alert "x": it's 7 * $HOME|`) {
		t.Errorf("%q, %v", said, err)
	}
	if said, err := notify("no JSON"); err == nil {
		t.Errorf("what cannot be read counts as told: %q", said)
	}
}

// TestCommandsPageIsFresh fails when docs/commands.md is not what the command tree says.
func TestCommandsPageIsFresh(t *testing.T) {
	path, want := filepath.Join(top, "docs", "commands.md"), commandsPage(manual(newRoot()))
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("docs/commands.md is stale (%v): run go test ./internal/app -run CommandsPage -update", err)
	}
}

// commandsPage is docs/commands.md.
func commandsPage(m reference.Manual) string {
	var b strings.Builder
	// The page begins with an index of the groups, then the root, then each command.
	b.WriteString("# Commands\n\nMade from the command tree by docs/make.sh: do not edit. `farsight help COMMAND` says the same, and so does\n`man farsight` where a package installed it.\n\n")
	for _, s := range m.Sections() {
		// A command below another one has no line in the index.
		fmt.Fprintf(&b, "- %s:", s.Title)
		for i, c := range s.Commands {
			if c.Parent() == m.Root {
				fmt.Fprintf(&b, "%s [%s](#%s)", strings.Repeat(",", min(i, 1)), c.Name(), strings.ReplaceAll(c.CommandPath(), " ", "-"))
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n## %s\n\n", m.Root.Name())
	flagTable(&b, m.Options(m.Root))
	fmt.Fprintf(&b, "Every setting is a flag of every command, too: [settings.md](settings.md) lists them.\n\n| exit code | |\n|---|---|\n")
	for _, e := range m.Exits {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, cell(e.Means))
	}
	for _, s := range m.Sections() {
		fmt.Fprintf(&b, "\n## %s\n", s.Title)
		for _, c := range s.Commands {
			// The anchors of the index are made of these headings by whoever shows the page.
			fmt.Fprintf(&b, "\n### %s\n\n```sh\n%s\n```\n\n", c.CommandPath(), reference.Usage(c))
			for _, p := range reference.Paragraphs(reference.Long(c)) {
				if p.Verbatim {
					p.Text = "```\n" + p.Text + "\n```"
				}
				b.WriteString(p.Text + "\n\n")
			}
			flagTable(&b, m.Options(c))
			fmt.Fprintf(&b, "```sh\n%s\n```\n", reference.Example(c))
		}
	}
	return b.String()
}

// flagTable writes the flags of a command, if it has some of its own.
func flagTable(b *strings.Builder, options []reference.Entry) {
	if len(options) == 0 {
		return
	}
	b.WriteString("| flag | |\n|---|---|\n")
	for _, o := range options {
		fmt.Fprintf(b, "| `%s` | %s |\n", cell(o.Name), cell(o.Is))
	}
	b.WriteByte('\n')
}

// cell is a text in a table of Markdown's.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// TestDataPageIsFresh fails when the tables of docs/data.md are not those that are declared.
func TestDataPageIsFresh(t *testing.T) {
	path := filepath.Join(top, "docs", "data.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- tables -->\n", "<!-- /tables -->\n"
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatal("docs/data.md has no place for the tables")
	}
	var b strings.Builder
	for _, table := range columns.Tables {
		fmt.Fprintf(&b, "\n### %s\n\nA row is %s. Version %d.\n\n| column | type | Riot's field | |\n|---|---|---|---|\n", table.Name, table.Is, table.Version)
		for _, c := range table.Columns {
			kind, field := c.Type.String(), ""
			if c.Unit != "" {
				kind += ", " + c.Unit
			}
			if c.Riot != "" {
				field = "`" + strings.ReplaceAll(c.Riot, "|", "` or `") + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, kind, field, c.Note)
		}
	}
	want := before + begin + b.String() + "\n" + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Error("docs/data.md is stale: run go test ./internal/app -run DataPage -update")
	}
}

// The manual page names every command with its flags, and man has nothing to say about it.
func TestManPage(t *testing.T) {
	t.Parallel()
	text := command{args: []string{"man"}}.run(t).wants(t, exitDone).stdout
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "farsight.1")
	write(t, path, text)
	cmd := exec.Command("man", "--warnings", "-l", path)
	cmd.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8")
	var said strings.Builder
	cmd.Stderr = &said
	page, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("%v: %s", err, said.String())
	}
	eachCommand(newRoot(), func(c *cobra.Command) {
		if !strings.Contains(string(page), "\n   "+c.CommandPath()) && c.HasParent() {
			t.Errorf("no word of %s", c.CommandPath())
		}
	})
	flat := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{"farsight - keep League of Legends accounts in sync", "--payload", "farsight sync 'Name#TAG' --platform euw1", "130 interrupted"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q", want)
		}
	}
}

// systemd finds nothing wrong with the unit, but that it is of a newer one.
func TestSystemdTakesTheUnit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip(err)
	}
	unit, err := os.ReadFile(filepath.Join(top, "docs", "farsight.service"))
	if err != nil {
		t.Fatal(err)
	}
	const installed = "/usr/local/bin/farsight"
	if !strings.Contains(string(unit), "\nExecStart="+installed+" serve\n") {
		t.Fatal("the unit starts something else")
	}
	path := filepath.Join(t.TempDir(), "farsight.service")
	write(t, path, strings.ReplaceAll(string(unit), installed, farsight(t)))
	said, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if !strings.Contains(line, "ignoring: notify-reload") {
			t.Error(line)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
