package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/storage"
)

// additions are what is added to the program in one place each: a column of jobs, an operation,
// and a kind of record that is stored. An empty anchor stands for a file that is new.
var additions = []struct{ file, anchor, text string }{
	{"engine/columns/jobs.go", "\tnumber(\"round\",", `
	number("revision", "grows with each change", func(r *job) int { return int(r.Rev) }).head("REVISION", table.Number, 8, 8).spare().export("revision"),
`},
	{"engine/operation/table.go", "\t\t{Op: engine.OpKey,", `
		{
			Op: "poke", Does: "poke", Did: "poked", Target: Job, States: []engine.State{engine.Available},
			Short: "Poke jobs", Example: "farsight poke match:KR_7214550881", Line: Line{Args: "job:KEY"},
			run: func(_ *Operator, _ context.Context, cmd engine.Command) (engine.Receipt, error) {
				return engine.Receipt{Matched: 1, Applied: 1, Text: "poked " + string(cmd.Job)}, nil
			},
		},
`},
	{"engine/operation/table.go", "import \"github.com/farsight-console/farsight/engine\"", "\nimport \"context\"\n"},
	{"storage/notes.go", "", `package storage

import (
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

var _ = collection.Declare(
	collection.New("notes", "str account", "what somebody has noted").BelongsTo(ofAccount).CameWith(newestSchema()+1),
	collection.Records[string]{Format: 200, Fields: func(c *rec.Coder, note *string) { c.Str(note) }})
`},
}

// TestOneFileEach: a column, an operation and a kind of record are each added in one file, and
// are then wherever columns, operations and records are: nothing else tells of them.
func TestOneFileEach(t *testing.T) {
	longest(t)
	dir := filledDir(t, 1)
	waits(t, dir, "match:EUW1_7")
	more := extended(t)
	for _, c := range []struct{ args, says string }{
		{"poke match:EUW1_7", "poked"}, // the first that writes: it brings the directory up to date
		{"jobs --all --columns job,revision -o csv", "job,revision\nmatch:EUW1_7,1\n"},
		{"jobs revision:1", "EUW1_7"},
		{"jobs revision:2", "nothing fits"},
		{"help poke", "farsight poke match:KR_7214550881"},
		{"audit", "poke"},
		{"check", "is sound"},
		{"__complete po", "poke\tPoke jobs"},
	} {
		cmd := command{args: words(c.args), env: map[string]string{"FARSIGHT_DATA_DIR": dir}, as: func(cmd *exec.Cmd) { cmd.Path = more }}
		if r := cmd.run(t); r.code != 0 || !strings.Contains(r.stdout+r.stderr, c.says) {
			t.Errorf("farsight %s does not say %q: %+v", c.args, c.says, r)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "state.db")); err != nil || !bytes.Contains(raw, []byte("notes")) {
		t.Errorf("there is no table of notes: %v", err)
	}
}

// waits leaves a job in a directory that no engine has.
func waits(t *testing.T, dir, key string) {
	t.Helper()
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	err = db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Enqueue(engine.Spec{Kind: ingest.KindMatch, Queue: "match.europe", Key: key})
		return err
	})
	stop()
	if err := errors.Join(err, <-served, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// extended is the program with the additions.
func extended(t *testing.T) (path string) {
	t.Helper()
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	now, files := map[string]string{}, map[string]string{}
	for _, a := range additions {
		where := filepath.Join(root, a.file)
		if a.anchor != "" && now[where] == "" {
			raw, err := os.ReadFile(where)
			if err != nil {
				t.Fatal(err)
			}
			now[where] = string(raw)
		}
		if n := strings.Count(now[where], a.anchor); a.anchor != "" && n != 1 {
			t.Fatalf("%s has %q %d times", a.file, a.anchor, n)
		}
		before, after, _ := strings.Cut(now[where], a.anchor)
		now[where] = before + a.text + a.anchor + after
		files[where] = filepath.Join(dir, filepath.Base(where))
		write(t, files[where], now[where])
	}
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	path = filepath.Join(dir, "farsight")
	out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-buildvcs=false", "-ldflags=-s -w", "-o", path, top).CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}
