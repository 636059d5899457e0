package config

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write docs/settings.md and docs/config.schema.json anew")

// TestSettingsPagesAreFresh fails when the pages of settings are not what the tables say.
func TestSettingsPagesAreFresh(t *testing.T) {
	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"config.schema.json": string(schema), "settings.md": settingsMarkdown()} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("docs/%s is stale (%v): run go test ./internal/config -run SettingsPages -update", name, err)
		}
	}
}

// settingsMarkdown is the page of settings.
func settingsMarkdown() string {
	var b strings.Builder
	b.WriteString(`# Settings

Made from the tables in internal/config by docs/make.sh: do not edit.

Flag over environment over ` + "`config.toml`" + ` in the data directory over ` + "`config.toml`" + ` in ` + "`~/.config/farsight`" + ` (or
` + "`$XDG_CONFIG_HOME/farsight`" + `) over default. ` + "`keys.toml`" + ` and ` + "`themes/`" + ` are looked for in both folders, too: the keys of the data
directory go before the others, as does its theme where two have one name.

` + "`farsight config`" + ` prints each value with its source; a wrong one is refused at the start, all of them at once.
` + "`farsight config init`" + ` writes a ` + "`config.toml`" + ` with every setting as a comment, and
[config.schema.json](config.schema.json) (` + "`farsight config schema`" + `) lets an editor complete and check it. A setting's flag
has dashes: ` + "`--log-level`" + `.

| setting | environment | default | |
|---|---|---|---|
| ` + "`data_dir`" + ` | ` + "`FARSIGHT_DATA_DIR`" + ` | ` + "`" + displayDir + "`" + ` | everything is stored there; by flag or environment alone |
| (key) | ` + "`RIOT_API_KEY`" + ` | | or ` + "`riot.key`" + ` in the data directory, mode 0600; never a flag, never stored elsewhere, never printed |
`)
	code := func(words ...string) string {
		if len(words) == 0 || words[0] == "" {
			return ""
		}
		return "`" + strings.Join(words, "`, `") + "`"
	}
	in, about := "", "[pager.md](pager.md) says what they do. There are no flags: everybody on a host can read a command line. A secret may stand in the\n"+
		"environment, in a file of its own (`auth_token_file`, mode 0600), or in a `config.toml` of mode 0600. A list is separated by commas in\n"+
		"the environment.\n\n"
	for _, d := range everySetting() {
		table, name := d.in()
		if table != in {
			fmt.Fprintf(&b, "\n## [%s]\n\n%s| setting | environment | default | |\n|---|---|---|---|\n", table, about)
			in, about = table, ""
		}
		help := d.help
		if d.secret {
			help += "; a secret"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, code(d.env...), code(strings.Split(d.def, listSep)...), strings.ReplaceAll(help, "|", `\|`))
	}
	b.WriteString(`
## Of a BullMQ set-up

Its environment works as it is: the older names above, ` + "`BULLMQ_GLOBAL_RATE=18`" + ` being per second and ` + "`RIOT_MAX_RETRIES`" + ` of
listings, not of matches. ` + "`REDIS_URL`" + ` is named once as not needed. A match that Riot answers 404 is final at once, for Riot says
so of what it does not keep, and a further call would spend the limit on the same answer; only a new game, which is listed before
it can be fetched, is asked for once more after five minutes.
`)
	return b.String()
}

// accepts reports what an editor would say of a config.toml.
func accepts(t *testing.T, text string) error {
	t.Helper()
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(schemaURL)
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := toml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return schema.Validate(value)
}

// Editors take what the program takes, of every setting, and what the schema can tell to be
// wrong the program refuses, too.
func TestSchemaAgreesWithTheProgram(t *testing.T) {
	for name, x := range samples {
		if err := accepts(t, name+" = "+x.file); err != nil {
			t.Errorf("%s = %s: %v", name, x.file, err)
		}
	}
	forms := map[string]form{}
	for _, s := range settings() {
		forms[s.name] = s.form
	}
	for name, values := range goodEdges {
		for _, v := range values {
			if f := forms[name]; f.Maximum != nil && *f.Maximum > 0 || f.Type == typeBoolean {
				continue // not in quotes
			}
			if err := accepts(t, fmt.Sprintf("%s = %q", name, v)); err != nil {
				t.Errorf("%s = %q: %v", name, v, err)
			}
		}
	}
	for _, good := range []string{
		"keep_payloads = 0", "rate_ceiling = 18", "keep_running = true",
		"[pager]\nto = [\"+4917012345\"]\nauth_token_file = \"/a\"\n[webhooks]\nurl = \"https://hooks.example/\"",
	} {
		if err := accepts(t, good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"themes = \"dark\"", "glyphs = \"runes\"", "sync_cooldown = 5", "http_timeout_ms = 1", "worker_concurrency = 65", "sync_enable = \"perhaps\"",
		"retry_match = \"30\"", "[pager]\nvoice = \"alice\"", "[pager]\ncalls_per_day = 0", "[sync]\ncooldown = \"5m\"",
	} {
		_, err := load(t, bad, nil, nil)
		if accepts(t, bad) == nil || err == nil {
			t.Errorf("%s: the schema says %v, the program %v", bad, accepts(t, bad), err)
		}
	}
}

// The sample file changes nothing, neither as it is written nor with every line in force.
func TestSampleChangesNothing(t *testing.T) {
	plain, err := load(t, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	inForce := regexp.MustCompile(`(?m)^#([a-z])`).ReplaceAllString(Sample(), "$1")
	if n := strings.Count(inForce, "\n#"); n != strings.Count(Sample(), "\n# ") {
		t.Errorf("%d comments left", n)
	}
	for _, text := range []string{Sample(), inForce} {
		c, err := load(t, text, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := accepts(t, text); err != nil {
			t.Error(err)
		}
		values := func(c Config) map[string]string {
			out := map[string]string{}
			for _, s := range c.Sources[1:] { // the first is the directory
				out[s.Name] = s.Value
			}
			return out
		}
		if !maps.Equal(values(c), values(plain)) || !reflect.DeepEqual(c.Policies, plain.Policies) || len(c.Sources) != len(plain.Sources) {
			t.Errorf("it changes a setting:\n%v\n%v", values(plain), values(c))
		}
	}
}

// The user's folder of configuration is read, and the data directory goes before it,
// setting by setting; a secret in a file of its own and one in config.toml are one setting.
func TestConfig_TheUsersFolderAndTheDataDirectory(t *testing.T) {
	data, home, xdg := t.TempDir(), t.TempDir(), t.TempDir()
	own := filepath.Join(home, ".config", "farsight")
	token := filepath.Join(own, "token")
	write(t, token, "of-the-users-folder")
	write(t, filepath.Join(own, FileName), "glyphs = \"ascii\"\ntheme = \"mine\"\nsweep_batch = 7\n[webhooks]\nurl = \"https://hooks.example/\"\nsecret_file = \""+token+"\"\n")
	write(t, filepath.Join(own, "themes", "mine.toml"), "")
	write(t, filepath.Join(data, FileName), "sweep_batch = 8\n[webhooks]\nsecret = \"of-the-data-directory\"\n")
	write(t, filepath.Join(xdg, "farsight", FileName), "glyphs = \"unicode\"\nplatform = \"mars\"\n")
	read := func(env map[string]string) (Config, error) {
		env["HOME"], env["FARSIGHT_DATA_DIR"] = home, data
		return Load(Inputs{Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	}
	c, err := read(map[string]string{})
	if err != nil || c.Glyphs != "ascii" || c.Theme != "mine" || c.SweepBatch != 8 || len(c.Pager.Hooks) != 1 || c.Pager.marks["webhooks.secret"] != sha256.Sum256([]byte("of-the-data-directory")) {
		t.Errorf("%+v, %v", c, err)
	}
	for name, source := range map[string]string{"glyphs": filepath.Join(own, FileName), "sweep_batch": FileName, "platform": "default"} {
		i := slices.IndexFunc(c.Sources, func(s engine.Setting) bool { return s.Name == name })
		if c.Sources[i].Source != source || c.Given(name) {
			t.Errorf("%s comes from %s, given %v", name, c.Sources[i].Source, c.Given(name))
		}
	}
	if !slices.Equal(c.Folders(), []string{own, data}) {
		t.Errorf("looked at %q", c.Folders())
	}
	_, err = read(map[string]string{"XDG_CONFIG_HOME": xdg})
	if err == nil || !strings.Contains(err.Error(), "platform (from "+filepath.Join(xdg, "farsight", FileName)+")") {
		t.Errorf("a fault in the folder of XDG_CONFIG_HOME: %v", err)
	}
	if c, err = read(map[string]string{"XDG_CONFIG_HOME": "relative"}); err != nil || c.Glyphs != "ascii" {
		t.Errorf("a relative XDG_CONFIG_HOME is none: %q, %v", c.Glyphs, err)
	}
	if err := os.Chmod(filepath.Join(own, FileName), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err = read(map[string]string{}); err == nil || !strings.Contains(err.Error(), filepath.Join(own, FileName)+" holds a secret and can be read by others") {
		t.Errorf("an address that others can read: %v", err)
	}
}
