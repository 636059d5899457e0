package bundle

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/riot"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { leak.Main(m) }

// parts are the files of an archive, by name.
func parts(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimPrefix(head.Name, "farsight-bundle/")] = string(body)
	}
}

// A console that tells nothing leaves its parts named, and the list has every file. Row
// P-40: the key is in none of them.
func TestP40_WhatIsPacked(t *testing.T) {
	const secret = "RGAPI-dec0de00-cafe-4bad-8bad-c0ffee000000"
	key, err := riot.ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "farsight.log")
	line := `{"message":"the key ` + secret + ` of Some Body#EUW"}` + "\n"
	if err := os.WriteFile(log, []byte(strings.Repeat(line, 5)), 0o600); err != nil {
		t.Fatal(err)
	}
	b := New(Options{Version: "v1", At: time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC), Key: key})
	b.AddStored(context.Background(), deaf{})
	b.AddJSON("doctor.json", "the diagnosis", map[string]string{"key": secret})
	b.AddLog(log)
	b.AddLog(filepath.Join(dir, "none.log"))
	path := filepath.Join(dir, "report.tar.gz")
	w, err := b.Write(path)
	if err != nil || w.Path != path || w.Bytes == 0 || len(w.Files) != 11 {
		t.Fatalf("%+v, %v", w, err)
	}
	files := parts(t, path)
	for _, f := range w.Files {
		if files[f.Name] == "" || !strings.Contains(w.Readme, f.Name) {
			t.Errorf("%s: %q", f.Name, files[f.Name])
		}
	}
	for name, body := range files {
		if strings.Contains(body, "c0ffee") || strings.Contains(body, "Body") {
			t.Errorf("%s holds the key or a name: %.200q", name, body)
		}
	}
	if !strings.Contains(w.Readme, "at most 200") || !strings.Contains(w.Readme, "(could not be had)") || !strings.Contains(w.Readme, "(could not be read)") {
		t.Errorf("the list is %s", w.Readme)
	}
	if _, err := b.Write(path); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("a second time: %v", err)
	}
	if _, err := b.Write(filepath.Join(dir, "none", "x")); err == nil {
		t.Error("a folder that is not there was written to")
	}
}

// The end of a long log begins with a whole line.
func TestTheEndOfALog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "farsight.log")
	if err := os.WriteFile(log, []byte(strings.Repeat("0123456789\n", mostLog/11+100)), 0o600); err != nil {
		t.Fatal(err)
	}
	b := New(Options{Names: true}) // what is masked may be longer
	b.AddLog(log)
	if body := string(b.files[0].body); !strings.HasPrefix(body, "0123456789\n") || len(body) > mostLog || len(body) < mostLog-22 {
		t.Errorf("%d bytes, from %.20q", len(body), body)
	}
}

// Names are masked the same everywhere, in every form in which a text may have
// them, and differently by every masker.
func TestPseudonyms(t *testing.T) {
	row := engine.AccountRow{RiotID: "Two Words \u202e#TAG1", PUUID: strings.Repeat("aB3-", 19) + "_x"}
	m := newMasker(riot.Key{}, false)
	ids := map[string]string{}
	m.know(ids, row)
	m.replace(ids)
	alias := m.alias("player", row.RiotID)
	for _, text := range []string{
		`sync of Two Words ` + "\u202e" + `#TAG1 failed`,
		`{"riot_id":"Two Words \u202e#TAG1"}`,
		`{"text":"account Two Words \u202e#TAG1 was tracked"}`,
		`/riot/account/v1/accounts/by-riot-id/Two%20Words%20` + "\u202e" + `/TAG1`,
		`two words ` + "\u202e" + `#tag1`,
	} {
		got := m.text(text)
		if !strings.Contains(got, alias) || strings.Contains(strings.ToLower(got), "words") {
			t.Errorf("%q became %q", text, got)
		}
		if again := m.text(got); again != got {
			t.Errorf("masked twice: %q became %q", got, again)
		}
	}
	if got := m.text("puuid " + row.PUUID + "."); strings.Contains(got, row.PUUID) || !strings.Contains(got, "puuid-") {
		t.Errorf("%q", got)
	}
	if m.alias("player", "a#b") == newMasker(riot.Key{}, false).alias("player", "a#b") {
		t.Error("two bundles share their pseudonyms")
	}
	for _, text := range []string{"match:EUW1_7214550881", "europe/match-v5.match", "job #17 of #18", "503 from europe", "rev 9, 12:00:07"} {
		if got := m.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	m.learn(context.Background(), deaf{})
}

// deaf answers nothing.
type deaf struct{ engine.Console }

func (deaf) Find(context.Context, engine.Query) (engine.Answer, error) {
	return nil, engine.ErrNotFound
}
