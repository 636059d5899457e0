package app

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine/api"
)

// sample takes the first block of a language behind a heading out of docs/http.md.
func sample(t *testing.T, heading, language string) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(top, "docs", "http.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "\n## "+heading+"\n")
	_, rest, begun := strings.Cut(rest, "```"+language+"\n")
	text, _, ended := strings.Cut(rest, "```")
	if !found || !begun || !ended {
		t.Fatalf("docs/http.md has no %s below %q", language, heading)
	}
	return text
}

// sampleLine is the line of docs/http.md that begins so.
func sampleLine(t *testing.T, begins string) string {
	t.Helper()
	for _, block := range blocks(t, "http.md") {
		if strings.HasPrefix(block, begins) {
			return block
		}
	}
	t.Fatalf("docs/http.md has no line that begins with %q", begins)
	return ""
}

// tool runs a program in a folder.
func tool(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// must runs a program that has to end well.
func must(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := tool(t, dir, env, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// documented is a folder with the document that an engine serves.
func documented(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "openapi.json"), string(api.Document))
	return dir
}

// nodeTools is the folder of the node packages that the document is tried with: see .ci/run.
func nodeTools(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FARSIGHT_NODE_TOOLS")
	if dir == "" {
		t.Skip("FARSIGHT_NODE_TOOLS names no folder with openapi-typescript, redocly and spectral: .ci/run makes one")
	}
	return filepath.Join(dir, "node_modules")
}

// TestOpenAPI_LintersFindNothing: neither an error nor a warning.
func TestOpenAPI_LintersFindNothing(t *testing.T) {
	t.Parallel()
	bin, dir := filepath.Join(nodeTools(t), ".bin"), documented(t)
	out := must(t, dir, []string{"REDOCLY_TELEMETRY=off"}, filepath.Join(bin, "redocly"), "lint", "--extends=recommended", "--format=json", "openapi.json")
	if !strings.Contains(out, `"errors": 0`) || !strings.Contains(out, `"warnings": 0`) {
		t.Error(out)
	}
	write(t, filepath.Join(dir, ".spectral.yaml"), "extends: [\"spectral:oas\"]\n")
	must(t, dir, nil, filepath.Join(bin, "spectral"), "lint", "--fail-severity=hint", "openapi.json")
}

// TestGeneratedClients_AskARealEngine: the programs of docs/http.md, made of the document.
func TestGeneratedClients_AskARealEngine(t *testing.T) {
	t.Parallel()
	longest(t)
	who := player("Type Safe#HTTP", 3)
	s, dir := startSim(t, quick(who)), freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	p := s.serving(t, dir, nil, "--http", "127.0.0.1:0")
	c := program(t, p, dir)
	env := []string{"FARSIGHT_URL=" + c.base, "FARSIGHT_TOKEN_FILE=" + filepath.Join(dir, api.TokenName)}
	const want = "Type Safe#HTTP completed"

	t.Run("go", func(t *testing.T) {
		command := sampleLine(t, "go run ")
		generator := strings.Fields(command)[2]
		work, own := documented(t), []string{"GOFLAGS=-mod=mod", "GOWORK=off"}
		if out, err := tool(t, work, own, "go", "run", generator, "--version"); err != nil {
			t.Skipf("oapi-codegen cannot be had here: %v\n%s", err, out)
		}
		write(t, filepath.Join(work, "go.mod"), "module example.com/program\n\ngo 1.26\n")
		write(t, filepath.Join(work, "main.go"), sample(t, "Generated clients", "go"))
		if err := os.Mkdir(filepath.Join(work, "farsight"), 0o700); err != nil {
			t.Fatal(err)
		}
		must(t, work, own, "sh", "-c", command)
		must(t, work, own, "go", "mod", "tidy")
		if out := must(t, work, append(own, env...), "go", "run", "."); strings.TrimSpace(out) != want {
			t.Error(out)
		}
	})
	t.Run("typescript", func(t *testing.T) {
		modules, work := nodeTools(t), documented(t)
		if err := os.Symlink(modules, filepath.Join(work, "node_modules")); err != nil {
			t.Fatal(err)
		}
		bin := filepath.Join(modules, ".bin")
		write(t, filepath.Join(work, "package.json"), `{"type":"module"}`)
		write(t, filepath.Join(work, "main.ts"), sample(t, "Generated clients", "ts"))
		must(t, work, []string{"npm_config_offline=true"}, "sh", "-c", sampleLine(t, "npx "))
		must(t, work, nil, filepath.Join(bin, "tsc"), "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "main.ts")
		if out := must(t, work, env, "node", "main.js"); strings.TrimSpace(out) != want {
			t.Error(out)
		}
	})
}
