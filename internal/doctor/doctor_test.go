package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage"
)

func TestMain(m *testing.M) { leak.Main(scratch.OnDisk(m)) }

// patient is an installation with a key and an empty data directory.
func patient(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	key, err := riot.ParseKey("RGAPI-dec0de00-cafe-4bad-8bad-c0ffee000000")
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Version: "v1", Settings: Settings{All: 30, Changed: 2}, Dir: dir, BackupEvery: 24 * time.Hour, Zone: time.UTC,
		Key:    Key{Keys: riot.NewKeys(key), From: "the environment", File: filepath.Join(dir, "riot.key"), Env: "RIOT_API_KEY"},
		Getenv: func(string) string { return "" },
		Open:   func() (Store, error) { return storage.OpenReadOnly(storage.Options{Dir: dir}) },
		Browse: func(context.Context, Store) engine.Console { return deaf{} },
		Check:  func(context.Context) (storage.CheckReport, error) { return storage.CheckReport{Payloads: 3}, nil },
	}
}

// deaf is a console that knows of no schedules.
type deaf struct{ engine.Console }

func (deaf) Find(context.Context, engine.Query) (engine.Answer, error) {
	return engine.SchedulesPage{}, nil
}

func examine(t *testing.T, o Options) Diagnosis {
	t.Helper()
	d, err := Examine(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// about is the finding of a name.
func about(t *testing.T, d Diagnosis, name string) Finding {
	t.Helper()
	for _, f := range d.Findings {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("nothing is said of %q in %+v", name, d.Findings)
	return Finding{}
}

// Each thing that can be wrong without a store is one finding, as grave as it is.
func TestFindings(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	for _, c := range []struct {
		what, name, text string
		level            Gravity
		spoil            func(t *testing.T, o *Options)
	}{
		{"sound", "configuration", "30 settings, 2 of them not the default", Fine, func(*testing.T, *Options) {}},
		{"a wrong setting", "configuration", "no such theme", Fault, func(_ *testing.T, o *Options) { o.Settings.Faults = []string{"no such theme"} }},
		{"sound", "API key", "from the environment", Fine, func(*testing.T, *Options) {}},
		{"an unreadable key", "API key", "denied", Fault, func(_ *testing.T, o *Options) { o.Key = Key{Err: errors.New("denied")} }},
		{"no key", "API key", "there is none", Warning, func(_ *testing.T, o *Options) { o.Key.Keys = riot.NewKeys(riot.Key{}) }},
		{"an open key file", "API key", "cannot be used", Warning, func(t *testing.T, o *Options) { write(t, o.Key.File, "RGAPI-x", 0o644) }},
		{"sound", "data directory", "mode 0700", Fine, func(*testing.T, *Options) {}},
		{"no directory yet", "data directory", "the first sync makes it", Fine, func(_ *testing.T, o *Options) { o.Dir = filepath.Join(o.Dir, "none") }},
		{"a file in its place", "data directory", "no directory", Fault, func(t *testing.T, o *Options) {
			o.Dir = filepath.Join(o.Dir, "file")
			write(t, o.Dir, "", 0o600)
		}},
		{"others may look", "data directory", "others may look into", Warning, func(t *testing.T, o *Options) { mode(t, o.Dir, 0o755) }},
		{"others may write", "data directory", "others may write to", Fault, func(t *testing.T, o *Options) { mode(t, o.Dir, 0o777) }},
		{"nobody works on it", "lock", "nobody holds", Fine, func(*testing.T, *Options) {}},
		{"nothing stored", "store", "nothing is stored yet", Fine, func(*testing.T, *Options) {}},
		{"a folder in the place of the store", "store", "is no regular file", Fault, func(t *testing.T, o *Options) {
			if err := os.Mkdir(filepath.Join(o.Dir, "state.db"), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"a text in its place", "store", "state.db", Fault, func(t *testing.T, o *Options) { write(t, filepath.Join(o.Dir, "state.db"), "dear operator", 0o600) }},
		{"nothing stored", "backup", "nothing to back up yet", Fine, func(*testing.T, *Options) {}},
		{"nothing stored", "clock", "zone UTC (UTC", Fine, func(*testing.T, *Options) {}},
		{"no terminal", "terminal", "output goes to none", Fine, func(*testing.T, *Options) {}},
		{"a wide terminal", "terminal", "120 columns", Fine, func(_ *testing.T, o *Options) {
			o.Width, o.Getenv = 120, env(map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"})
		}},
		{"a narrow one", "terminal", "much is cut", Warning, func(_ *testing.T, o *Options) { o.Width, o.Getenv = 60, env(map[string]string{"TERM": "xterm"}) }},
		{"a dumb one", "terminal", "the console needs more", Warning, func(_ *testing.T, o *Options) { o.Width, o.Getenv = 120, env(map[string]string{"TERM": "dumb"}) }},
		{"nobody asked", "network", "nobody has called Riot", Unseen, func(*testing.T, *Options) {}},
		{"no address", "network", "no usable base URL", Fault, func(_ *testing.T, o *Options) { o.Network = true }},
	} {
		o := patient(t)
		c.spoil(t, &o)
		d := examine(t, o)
		if f := about(t, d, c.name); f.Level != c.level || !strings.Contains(f.Text, c.text) {
			t.Errorf("%s: %+v, want %s with %q", c.what, f, c.level, c.text)
		}
		if d.Healthy != (d.Faults == 0) {
			t.Errorf("%s: healthy %v with %d faults", c.what, d.Healthy, d.Faults)
		}
	}
}

func TestW3c_TheLocaleSaysWhyNamesAreUnreadable(t *testing.T) {
	o := patient(t)
	o.Width, o.Getenv = 120, func(name string) string {
		return map[string]string{"TERM": "xterm", "LANG": "C.UTF-8", "LC_ALL": "POSIX"}[name]
	}
	if f := about(t, examine(t, o), "terminal"); f.Level != Warning || !strings.Contains(f.Text, "POSIX is not UTF-8") || !strings.Contains(f.Text, "Latin letters") {
		t.Errorf("%+v", f)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

func mode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// What is stored is looked at, and left alone; an engine at work is no fault.
func TestOfAStore(t *testing.T) {
	o := patient(t)
	db, err := storage.Open(storage.Options{Dir: o.Dir})
	if err != nil {
		t.Fatal(err)
	}
	d := examine(t, o)
	if f := about(t, d, "store"); f.Level != Unseen || f.Text != "an engine works on it" {
		t.Errorf("while it is held: %+v", f)
	}
	if f := about(t, d, "lock"); f.Level != Fine || !strings.Contains(f.Text, fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("while it is held: %+v", f)
	}
	if f := about(t, d, "engine"); f.Level != Unseen || !strings.Contains(f.Text, "does not answer yet") {
		t.Errorf("while it starts: %+v", f)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.Full = true
	d = examine(t, o)
	for name, text := range map[string]string{
		"store": "0 accounts, 0 matches stored", "full check": "sound: 3 payloads", "disk": " in use", "rate limits": "none known yet", "schedules": "0, 0 paused",
	} {
		if f := about(t, d, name); f.Level != Fine || !strings.Contains(f.Text, text) {
			t.Errorf("%+v, want %q", f, text)
		}
	}
	if f := about(t, d, "backup"); f.Level != Warning || f.Text != "there is none" {
		t.Errorf("%+v", f)
	}
}

// A full check that finds something, or dies of it, is damage.
func TestOfADamagedStore(t *testing.T) {
	for name, check := range map[string]func(context.Context) (storage.CheckReport, error){
		"found": func(context.Context) (storage.CheckReport, error) {
			return storage.CheckReport{Findings: []storage.Finding{{Table: "jobs", Key: "7", Why: "no row"}}, More: 2}, nil
		},
		"died of": func(context.Context) (storage.CheckReport, error) {
			return storage.CheckReport{}, &storage.Damaged{Path: "x", Why: "no row"}
		},
	} {
		o := patient(t)
		db, err := storage.Open(storage.Options{Dir: o.Dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		o.Full, o.Check = true, check
		d := examine(t, o)
		if f := about(t, d, "full check"); !d.Damaged || d.Healthy || f.Level != Fault || !strings.Contains(f.Text, "no row") {
			t.Errorf("%s: damaged %v, %+v", name, d.Damaged, f)
		}
	}
}

// A host that nobody answers on is a fault, with what to look at.
func TestOfAClosedPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback here: %v", err)
	}
	o := patient(t)
	o.Network, o.BaseURL = true, "http://"+l.Addr().String()+"/{routing}"
	o.Key.Keys = riot.NewKeys(riot.Key{}) // no call is made without one
	if f := about(t, examine(t, o), "network"); f.Level != Fine || !strings.Contains(f.Text, "answers after") {
		t.Errorf("%+v", f)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	o.BaseURL = "http://127.0.0.1:1/{routing}"
	if f := about(t, examine(t, o), "network"); f.Level != Fault || !strings.Contains(f.Do, "firewall") {
		t.Errorf("%+v", f)
	}
}

// The key is in no finding, whatever is wrong with it.
func TestTheKeyIsNotSaid(t *testing.T) {
	o := patient(t)
	key := "RGAPI-dec0de00-cafe-4bad-8bad-c0ffee000000"
	o.Settings.Faults = []string{"theme " + key + " is unknown"}
	o.Key = Key{Err: fmt.Errorf("the file holds %s", key)}
	raw, err := json.Marshal(examine(t, o))
	if err != nil || strings.Contains(string(raw), "c0ffee") {
		t.Errorf("%s, %v", raw, err)
	}
}

// Both forms have what to do, where there is something.
func TestBothFormsSayTheSame(t *testing.T) {
	said := Diagnosis{Version: "v1", Faults: 1, Findings: []Finding{{"disk", Fault, "12 MiB free", "free some space"}, {"clock", Fine, "noon", ""}}}
	raw, err := json.Marshal(said)
	if err != nil || !strings.Contains(string(raw), `"do":"free some space"`) || strings.Count(string(raw), `"do"`) != 1 {
		t.Errorf("%s %v", raw, err)
	}
	var text strings.Builder
	if err := said.Print(&text, strings.ToUpper); err != nil {
		t.Fatal(err)
	}
	want := "farsight V1\nfault         disk            12 MIB FREE\n                             -> FREE SOME SPACE\nok            clock           NOON\n1 fault, 0 warnings\n"
	if text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
}

// Of a database it is told how River's tables stand, and what to do.
func TestOfRiver(t *testing.T) {
	o := patient(t)
	db, err := storage.Open(storage.Options{Dir: o.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.Server = "schema farsight of lol"
	for _, c := range []struct {
		found River
		err   error
		level Gravity
		says  string
	}{
		{River{Known: 6}, nil, Fine, "the first member makes them"},
		{River{Known: 6, Version: 6}, nil, Fine, "of version 6"},
		{River{Known: 6, Version: 5}, nil, Warning, "of version 5, this program works with 6"},
		{River{Known: 6, Version: 7}, nil, Warning, "of version 7, this program knows 6"},
		{River{Known: 6, Version: 6, Paused: []string{"call_k"}}, nil, Warning, "queue call_k is paused"},
		{River{Known: 6, Version: 6, Waiting: 2, Late: 5 * time.Minute}, nil, Warning, "2 rows wait for over "},
		{River{Known: 6, Version: 6, Stuck: 1, Late: 5 * time.Minute}, nil, Warning, "1 attempt is under way for over "},
		{River{}, errors.New("the database is away"), Fault, "the database is away"},
	} {
		o.River = func(context.Context, Store) (River, error) { return c.found, c.err }
		var f Finding
		for _, f = range examine(t, o).Findings {
			if f.Name == "River" && f.Level == c.level && strings.Contains(f.Text, c.says) {
				break
			}
			f = Finding{}
		}
		if f.Name == "" || f.Level == Warning && f.Do == "" {
			t.Errorf("%+v: %+v, want %q", c.found, f, c.says)
		}
	}
}
