package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// unpack reads a bundle, file by file.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte(canaryTail)) {
		t.Error("P-40: the archive holds the key")
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		name, ok := strings.CutPrefix(head.Name, "farsight-bundle/")
		if !ok || head.Mode != 0o600 {
			t.Errorf("%s, mode %o", head.Name, head.Mode)
		}
		if strings.Contains(string(body), canaryTail) {
			t.Errorf("P-40: %s holds the key", name)
		}
		files[name] = string(body)
	}
}

// Row P-40: a server that echoes the key and names in every way it can; in the
// bundle of it the key is nowhere, nor are players, and what a bug report needs is.
func TestP40_ABundleHoldsNeitherTheKeyNorNames(t *testing.T) {
	t.Parallel()
	who := player("Hidden Heron#HERON", 12)
	o := quick(who, player("ana#EUW", 2))
	s := startSim(t, o)
	ids := s.MatchIDs(who.RiotID)
	echo := `{"status":{"message":"` + canary + ` of Hidden Heron#HERON and Some Stranger#X1Y2 is tired","status_code":500}}`
	for i, status := range []int{500, 400, 401} {
		err := s.Inject(sim.Fault{Kind: sim.Status, Status: status, Body: echo, Match: sim.Match{Method: route.Match, ID: ids[i], Attempts: 1}})
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := freshDir(t)
	cmd := s.sync(who.RiotID, dir, "--log-level", "debug")
	cmd.env["FARSIGHT_RETRY_MATCH"] = "20ms,20ms,20ms,20ms"
	cmd.run(t).wants(t, exitIncomplete)
	command{args: []string{"untrack", "Not There At All#NOPE", "--data-dir", dir}, env: s.env()}.asked(t).wants(t, exitFailed)
	puuids := storedPUUIDs(t, dir)

	path := filepath.Join(t.TempDir(), "report.tar.gz")
	res := command{args: []string{"bundle", "--out", path, "--data-dir", dir}, env: s.env()}.asked(t).wants(t, exitDone)
	clean(t, "bundle", res.stdout)
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", st, err)
	}
	files := unpack(t, path)
	for _, name := range []string{"README.txt", "version.txt", "doctor.json", "config.json", "status.json", "limits.json", "schedules.json", "alerts.json", "classes.json", "jobs.ndjson", "audit.ndjson", "log.ndjson"} {
		if len(files[name]) < 3 {
			t.Errorf("%s: %q", name, files[name])
		}
		if name != "README.txt" && !strings.Contains(res.stdout, name) {
			t.Errorf("the list does not name %s", name)
		}
	}
	for name, body := range files {
		for _, secret := range append(puuids, "Heron", "HERON", "Stranger", "X1Y2", "Not There", "NOPE") {
			if strings.Contains(strings.ToLower(body), strings.ToLower(secret)) {
				at := strings.Index(strings.ToLower(body), strings.ToLower(secret))
				t.Errorf("%s holds %q: …%s…", name, secret, body[max(0, at-60):min(len(body), at+40)])
			}
		}
	}
	if !strings.Contains(files["jobs.ndjson"], "match:"+ids[0]) || !strings.Contains(files["jobs.ndjson"], `"http_status":500`) && !strings.Contains(files["jobs.ndjson"], "500") {
		t.Error("the jobs lack their attempts")
	}
	if !strings.Contains(files["config.json"], "RGAPI-****") || !strings.Contains(files["doctor.json"], "full check") {
		t.Error("config or check is missing")
	}
	if n := strings.Count(files["status.json"]+files["jobs.ndjson"], "player-"); n == 0 {
		t.Error("nobody is named at all: the pseudonyms are missing")
	}

	// A file that is there is not touched.
	before, _ := os.ReadFile(path)
	res = command{args: []string{"bundle", "--out", path, "--data-dir", dir, "--no-check"}, env: s.env()}.asked(t).wants(t, exitFailed)
	oneSentence(t, res.stderr, path, "--out")
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("a bundle was overwritten")
	}

	// With --names they stay; the key does not.
	named := filepath.Join(t.TempDir(), "named.tar.gz")
	command{args: []string{"bundle", "--names", "--no-check", "--out", named, "--data-dir", dir, "--json"}, env: s.env()}.asked(t).wants(t, exitDone)
	if files := unpack(t, named); !strings.Contains(files["jobs.ndjson"]+files["audit.ndjson"]+files["status.json"], "Hidden Heron#HERON") {
		t.Error("--names lost the names")
	}
}

// storedPUUIDs are the ids of the accounts as the store has them.
func storedPUUIDs(t *testing.T, dir string) (list []string) {
	t.Helper()
	c, db := look(t, dir)
	for _, a := range ask[engine.AccountsPage](t, c, engine.AccountsQuery{}).Accounts {
		list = append(list, a.PUUID)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// A bundle is made of whatever there is: no store, a damaged one, a faulty
// configuration.
func TestABundleOfWhatThereIs(t *testing.T) {
	t.Parallel()
	none := freshDir(t)
	damaged := filledDir(t, 2)
	if err := os.WriteFile(filepath.Join(damaged, "state.db"), []byte("dear operator"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{none, damaged} {
		path := filepath.Join(t.TempDir(), "report.tar.gz")
		env := map[string]string{"RIOT_BASE_URL": "https://user:hunter2@riot.example"}
		command{args: []string{"bundle", "--out", path, "--data-dir", dir}, env: env}.asked(t).wants(t, exitDone)
		files := unpack(t, path)
		if len(files["stored.txt"]) == 0 || !strings.Contains(files["doctor.json"], "configuration") {
			t.Errorf("%s: %v", dir, files)
		}
		for name, body := range files {
			if strings.Contains(body, "hunter2") {
				t.Errorf("%s holds a password", name)
			}
		}
	}
}
