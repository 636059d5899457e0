package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
)

// sample is a setting with a value for each source; each differs from the
// others, so that it shows which one won.
type sample struct {
	file string // as TOML writes it
	env  string
	flag string
	want func(Config) any // what the flag's value means
	is   any
}

var samples = map[string]sample{
	"platform":                      {`"na1"`, "kr", "EUW", func(c Config) any { return c.Platform }, "euw1"},
	"base_url":                      {`"http://127.0.0.1:1/a"`, "http://127.0.0.1:2/{routing}", "https://x.example", func(c Config) any { return c.BaseURL }, "https://x.example"},
	"key_file":                      {`"/a"`, "/b", "/c", func(c Config) any { return c.KeyFile }, "/c"},
	"max_retries":                   {`1`, "2", "3", func(c Config) any { return c.Policies[engine.PolicyIngest].Max }, 4},
	"http_timeout_ms":               {`1000`, "2000", "3000", func(c Config) any { return c.Timeout }, 3 * time.Second},
	"queue_prefix":                  {`"a"`, "b", "c", func(c Config) any { return c.Prefix }, "c"},
	"worker_concurrency":            {`1`, "2", "3", func(c Config) any { return c.Workers }, 3},
	"rate_ceiling":                  {`"1/s"`, "2/s", "900/m", func(c Config) any { return c.Ceiling }, Rate{900, time.Minute}},
	"retention_matches":             {`"1y"`, "3y", "18mo", func(c Config) any { return c.Matches }, mustSpan("18mo")},
	"retention_timelines":           {`"3mo"`, "2y", "0", func(c Config) any { return c.Timelines.Off() }, true},
	"sync_enable":                   {`true`, "1", "false", func(c Config) any { return c.SyncOn }, false},
	"sync_cooldown":                 {`"1m"`, "2m", "0s", func(c Config) any { return c.Cooldown }, time.Duration(0)},
	"sync_stale_after":              {`"1h"`, "2h", "3h", func(c Config) any { return c.StaleAge }, 3 * time.Hour},
	"ingestion_max_matches_per_run": {`10`, "11", "12", func(c Config) any { return c.LatestMax }, 12},
	"ingestion_lookback_days":       {`10`, "11", "12", func(c Config) any { return c.Lookback }, 12 * 24 * time.Hour},
	"ingestion_relist_days":         {`1`, "2", "0", func(c Config) any { return c.Relist }, time.Duration(0)},
	"report_tz":                     {`"Asia/Seoul"`, "Europe/Paris", "UTC", func(c Config) any { return c.ReportTZ.String() }, "UTC"},
	"backup_every":                  {`"1h"`, "2h", "0s", func(c Config) any { return c.BackupEvery }, time.Duration(0)},
	"keep_payloads":                 {`"3y"`, "4y", "5y", func(c Config) any { return c.KeepPayloads }, mustSpan("5y")},
	"schedule_enable":               {`true`, "1", "false", func(c Config) any { return c.Schedules.Off }, true},
	"cron_latest_every":             {`"5 * * * *"`, "6 * * * *", "7 * * * *", func(c Config) any { return c.Schedules.Latest }, "7 * * * *"},
	"cron_rank_daily":               {`"5 1 * * *"`, "6 1 * * *", "7 1 * * *", func(c Config) any { return c.Schedules.Rank }, "7 1 * * *"},
	"cron_weekly_report":            {`"5 1 * * 1"`, "6 1 * * 1", "7 1 * * 2", func(c Config) any { return c.Schedules.Weekly }, "7 1 * * 2"},
	"cron_tz":                       {`"Asia/Seoul"`, "Europe/Paris", "UTC", func(c Config) any { return c.Schedules.Zone }, "UTC"},
	"retry_match":                   {`"1s"`, "2s,3s", "3s,4s,5s", func(c Config) any { return c.Policies[engine.PolicyMatch].Max }, 4},
	"retry_ingest":                  {`"1s"`, "2s,3s", "1s,1s,1s,1s,1s,1s", func(c Config) any { return c.Policies[engine.PolicyIngest].Max }, 5},
	"retry_call":                    {`"1s"`, "1s,1s", "1s,1s,1s,1s", func(c Config) any { return c.Policies[engine.PolicyCall].Max }, 3},
	"retry_404":                     {`"final"`, "final", "table", func(c Config) any { return c.RetryMissing }, true},
	"retry_404_again":               {`"1h"`, "2h,48h", "0", func(c Config) any { return len(c.AskAgain) }, 1},
	"cron_sweep":                    {`"5 * * * *"`, "6 * * * *", "*/20 * * * *", func(c Config) any { return c.Schedules.Sweep }, "*/20 * * * *"},
	"sweep_batch":                   {`50`, "51", "500", func(c Config) any { return c.SweepBatch }, 500},
	"store":                         {`"postgres://a@x/b"`, "postgresql:///c", "postgres://d@y/e", func(c Config) any { return c.Store }, "postgres://d@y/e"},
	"log_level":                     {`"warn"`, "error", "debug", func(c Config) any { return c.LogLevel }, "debug"},
	"theme":                         {`"light"`, "mono", "dark", func(c Config) any { return c.Theme }, "dark"},
	"glyphs":                        {`"unicode"`, "auto", "ascii", func(c Config) any { return c.Glyphs }, "ascii"},
	"keep_running":                  {`"true"`, "false", "auto", func(c Config) any { return c.KeepRunning }, "auto"},
	"socket_group":                  {`"50"`, "51", "52", func(c Config) any { return c.SocketGroup }, "52"},
	"socket_path":                   {`"/a/b"`, "/c/d", "/e/f", func(c Config) any { return c.SocketPath }, "/e/f"},
	"viewers":                       {`"7"`, "8", "9 @10", func(c Config) any { return c.Viewers }, "9 @10"},
	"operators":                     {`"7"`, "8", "9,@10", func(c Config) any { return c.Operators }, "9,@10"},
	"http_listen":                   {`"127.0.0.1:7001"`, "127.0.0.1:7002", "127.0.0.1:7003", func(c Config) any { return c.HTTPListen }, "127.0.0.1:7003"},
	"http_origins":                  {`"https://a.example"`, "http://b.example:80", "https://c.example, http://d", func(c Config) any { return strings.Join(c.HTTPOrigins, " ") }, "https://c.example http://d"},
	"force_network_fs":              {`true`, "", "true", func(c Config) any { return c.Force }, true},
}

func mustSpan(s string) league.Span {
	v, err := league.ParseSpan(s)
	if err != nil {
		panic(err)
	}
	return v
}

// load reads a configuration from the three sources, given as maps.
func load(t *testing.T, file string, env map[string]string, flags map[string]string) (Config, error) {
	t.Helper()
	dir := t.TempDir()
	if file != "" {
		write(t, filepath.Join(dir, "config.toml"), file)
	}
	fs := pflag.NewFlagSet("farsight", pflag.ContinueOnError)
	AddFlags(fs)
	for name, value := range flags {
		if err := fs.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return Load(Inputs{Flags: fs, Getenv: func(name string) (string, bool) {
		if name == "FARSIGHT_DATA_DIR" {
			return dir, true
		}
		v, ok := env[name]
		return v, ok
	}})
}

// An address of a store that holds a password is refused, and what cannot be read is: neither the
// error nor the list of settings repeats it.
func TestConfig_TheStoreHasNoPassword(t *testing.T) {
	for _, at := range []string{"postgres://u:hunter2@h/d", "postgres://u@h/d?password=hunter2", "postgres://u@h/d?sslpassword=hunter2", "mysql://hunter2@h/d", "hunter2", "postgres://u:hunter2@h:x/d", "host=h password=hunter2"} {
		c, err := load(t, "", map[string]string{"FARSIGHT_STORE": at}, nil)
		if err == nil || !strings.Contains(err.Error(), "store (from FARSIGHT_STORE)") {
			t.Errorf("%q: %v", at, err)
		}
		if said := fmt.Sprint(err, c.Store, c.Sources); strings.Contains(said, "hunter2") {
			t.Errorf("%q is shown: %s", at, said)
		}
	}
}

// Flag over environment over file over default, for every setting there is, and
// `farsight config` names the source.
func TestConfig_EverySettingFromEverySource(t *testing.T) {
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			x, ok := samples[s.name]
			if !ok {
				t.Fatal("a new setting: give it a sample")
			}
			file, env, flags := s.name+" = "+x.file, map[string]string{}, map[string]string{FlagName(s.name): x.flag}
			if len(s.env) > 0 {
				env[s.env[0]] = x.env
			}
			c, err := load(t, "", nil, nil)
			wantSource(t, c, err, s.name, s.def, "default")
			c, err = load(t, file, nil, nil)
			wantSource(t, c, err, s.name, strings.Trim(x.file, `"`), "config.toml")
			if len(s.env) > 0 {
				c, err = load(t, file, env, nil)
				wantSource(t, c, err, s.name, x.env, s.env[0])
			}
			c, err = load(t, file, env, flags)
			wantSource(t, c, err, s.name, x.flag, "flag --"+FlagName(s.name))
			if got := x.want(c); !reflect.DeepEqual(got, x.is) {
				t.Errorf("%q means %v, want %v", x.flag, got, x.is)
			}
		})
	}
}

func wantSource(t *testing.T, c Config, err error, name, value, source string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Sources, func(s engine.Setting) bool { return s.Name == name })
	if i < 0 || c.Sources[i].Value != value || c.Sources[i].Source != source {
		t.Errorf("config shows %+v, want %q from %s", c.Sources[max(i, 0)], value, source)
	}
}

func TestConfig_Aliases(t *testing.T) {
	c, err := load(t, "", map[string]string{"BULLMQ_CONCURRENCY": "7", "BULLMQ_GLOBAL_RATE": "18/s", "CRON_TZ": "Asia/Seoul"}, nil)
	if err != nil || c.Workers != 7 || c.Ceiling != (Rate{18, time.Second}) || c.ReportTZ.String() != "Asia/Seoul" {
		t.Errorf("by their old names: %d workers, %v, %v: %v", c.Workers, c.Ceiling, c.ReportTZ, err)
	}
	c, err = load(t, "", map[string]string{"WORKER_CONCURRENCY": "8", "BULLMQ_CONCURRENCY": "7", "REPORT_TZ": "UTC", "CRON_TZ": "Asia/Seoul"}, nil)
	if err != nil || c.Workers != 8 || c.ReportTZ != time.UTC {
		t.Errorf("the new name goes first: %d workers, %v: %v", c.Workers, c.ReportTZ, err)
	}
	// An empty variable is one that is not set.
	c, err = load(t, "worker_concurrency = 3", map[string]string{"WORKER_CONCURRENCY": "", "BULLMQ_CONCURRENCY": ""}, nil)
	if err != nil || c.Workers != 3 {
		t.Errorf("with empty variables: %d workers: %v", c.Workers, err)
	}
}

func TestConfig_Defaults(t *testing.T) {
	c, err := load(t, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	match := c.Policies[engine.PolicyMatch]
	if match.Max != 5 || !slices.Equal(match.Delays, []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}) {
		t.Errorf("policy match %+v", match)
	}
	ingest := c.Policies[engine.PolicyIngest]
	if ingest.Max != 5 || ingest.Delays[0] != 5*time.Second {
		t.Errorf("policy ingest %+v", ingest)
	}
	if c.Timeout != 10*time.Second || c.Workers != 0 || c.Ceiling != (Rate{}) || !c.SyncOn || c.Cooldown != 5*time.Minute || c.LatestMax != 20 {
		t.Errorf("defaults %+v", c)
	}
	if c.Matches != (league.Span{Years: 2}) || c.Timelines != (league.Span{Years: 1}) {
		t.Errorf("retention %v and %v", c.Matches, c.Timelines)
	}
}

// RIOT_MAX_RETRIES is the old name of a policy's length: there is one retry
// layer, so it bounds the attempts of listings and never raises them.
func TestConfig_MaxRetriesBoundsThePolicy(t *testing.T) {
	for retries, most := range map[string]int{"0": 1, "1": 2, "4": 5, "9": 5} {
		c, err := load(t, "", map[string]string{"RIOT_MAX_RETRIES": retries}, nil)
		if err != nil || c.Policies[engine.PolicyIngest].Max != most || c.Policies[engine.PolicyMatch].Max != 5 {
			t.Errorf("RIOT_MAX_RETRIES=%s: policy ingest %+v: %v", retries, c.Policies[engine.PolicyIngest], err)
		}
	}
}

func TestConfig_AllFaultsAtOnce(t *testing.T) {
	_, err := load(t, "nonsense = 1\nglyphs = \"runes\"\n", map[string]string{"RATE_CEILING": "fast", "RIOT_MAX_RETRIES": "x"}, map[string]string{"theme": "beige", "platform": "mars"})
	faults, ok := errors.AsType[Faults](err)
	if !ok || len(faults) != 6 {
		t.Fatalf("%d faults: %v", len(faults), err)
	}
	text := err.Error()
	for _, part := range []string{"6 settings are wrong", `"nonsense"`, "config.toml", "RATE_CEILING", "flag --theme", "flag --platform", "RIOT_MAX_RETRIES"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

// TestBadInput_ConfigIsNoFile: what is no file is refused at once; a pipe would be
// waited for without an end.
func TestBadInput_ConfigIsNoFile(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		if _, faults := readFile(path); len(faults) != 1 || !strings.Contains(faults[0], path+" is not a regular file") {
			t.Errorf("a %s: %q", what, faults)
		}
	}
}

// goodEdges are values at the edges of what the settings take.
var goodEdges = map[string][]string{
	"http_timeout_ms":     {"100", "300000", " 5000 "},
	"worker_concurrency":  {"", "1", "64"},
	"rate_ceiling":        {"", "18", "1/s", "1000000/m"},
	"sweep_batch":         {"1", "10000"},
	"max_retries":         {"0", "20"},
	"sync_cooldown":       {"0s", "1h30m"},
	"retention_matches":   {"0", "2y", "18mo", "6w", "90d"},
	"report_tz":           {"", "UTC", "America/New_York"},
	"retry_match":         {"0s", "30s, 60s", "24h"},
	"retry_404_again":     {"0", "168h", "1h, 720h"},
	"sync_enable":         {"true", "false", "1", "0"},
	"retention_timelines": {"1y"},
}

// The setters on values at and beyond their edges.
func TestSettings_Edges(t *testing.T) {
	bad := map[string][]string{
		"http_timeout_ms":    {"", "99", "300001", "10s", "1e4"},
		"worker_concurrency": {"0", "65", "-1", "4.5", "many"},
		"rate_ceiling":       {"0", "18.5", "0/s", "-1/s", "18/h", "18/", "/s", "1000001/s", "18 /s/s"},
		"sweep_batch":        {"0", "10001", ""},
		"cron_sweep":         {"hourly", "17 * *"},
		"retry_404":          {"", "yes", "TABLE"},
		"max_retries":        {"-1", "21", ""},
		"sync_cooldown":      {"", "5", "-5m", "soon"},
		"retention_matches":  {"", "-1y", "2 years", "y"},
		"report_tz":          {"Nowhere", "../../etc/passwd"},
		"retry_match":        {"", "30s,", "30", "-1s", "25h"},
		"retry_404_again":    {"", "1h,", "24", "-1h", "99999h"},
		"sync_enable":        {"", "yes please"},
		"platform":           {"europe", "xx1"},
		"base_url":           {"ftp://x", "http://example.com", "https://u:p@x.example", "https://x/{platform}", "nonsense"},
		"log_level":          {"", "INFO!", "trace"},
		"theme":              {"", "Dark"},
		"glyphs":             {"", "emoji"},
		"force_network_fs":   {"maybe"},
	}
	for name, values := range goodEdges {
		for _, v := range values {
			if _, err := load(t, "", nil, map[string]string{FlagName(name): v}); err != nil {
				t.Errorf("%s %q: %v", name, v, err)
			}
		}
	}
	for name, values := range bad {
		for _, v := range values {
			_, err := load(t, "", nil, map[string]string{FlagName(name): v})
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %q: %v", name, v, err)
			}
			if err != nil && strings.Contains(err.Error(), "u:p@") {
				t.Errorf("%s: the fault shows a password: %v", name, err)
			}
		}
	}
}

// Row S4-12: each name of the source's environment table sets what it names, and
// what holds without it.
func TestS4_12_EnvironmentTable(t *testing.T) {
	for _, row := range []struct {
		env, value string
		want       func(Config) any
		is, unset  any
	}{
		{"RIOT_MAX_RETRIES", "3", func(c Config) any { return c.Policies[engine.PolicyIngest].Max }, 4, 5},
		{"RIOT_HTTP_TIMEOUT_MS", "2500", func(c Config) any { return c.Timeout }, 2500 * time.Millisecond, 10 * time.Second},
		{"QUEUE_PREFIX", "acme", func(c Config) any { return c.Prefix }, "acme", "fitlol"},
		{"WORKER_CONCURRENCY", "5", func(c Config) any { return c.Workers }, 5, 0},
		{"BULLMQ_CONCURRENCY", "5", func(c Config) any { return c.Workers }, 5, 0},
		{"RATE_CEILING", "900/m", func(c Config) any { return c.Ceiling }, Rate{900, time.Minute}, Rate{}},
		{"BULLMQ_GLOBAL_RATE", "18", func(c Config) any { return c.Ceiling }, Rate{18, time.Second}, Rate{}},
		{"BULLMQ_GLOBAL_RATE", "18/s", func(c Config) any { return c.Ceiling }, Rate{18, time.Second}, Rate{}},
		{"INGESTION_MAX_MATCHES_PER_RUN", "33", func(c Config) any { return c.LatestMax }, 33, 20},
		{"INGESTION_LOOKBACK_DAYS", "7", func(c Config) any { return c.Lookback }, 7 * 24 * time.Hour, 30 * 24 * time.Hour},
		{"SCHEDULE_ENABLE", "false", func(c Config) any { return c.Schedules.Off }, true, false},
		{"CRON_LATEST_EVERY", "5 * * * *", func(c Config) any { return c.Schedules.Latest }, "5 * * * *", ingest.CronLatest},
		{"CRON_RANK_DAILY", "5 3 * * *", func(c Config) any { return c.Schedules.Rank }, "5 3 * * *", ingest.CronRank},
		{"CRON_WEEKLY_REPORT", "5 4 * * 1", func(c Config) any { return c.Schedules.Weekly }, "5 4 * * 1", ingest.CronWeekly},
	} {
		c, err := load(t, "", map[string]string{row.env: row.value}, nil)
		if got := row.want(c); err != nil || got != row.is {
			t.Errorf("%s=%s: %v, want %v: %v", row.env, row.value, got, row.is, err)
		}
		source := slices.IndexFunc(c.Sources, func(s engine.Setting) bool { return s.Source == row.env })
		if source < 0 {
			t.Errorf("%s: `farsight config` does not name it as a source", row.env)
		}
		c, err = load(t, "", nil, nil)
		if got := row.want(c); err != nil || got != row.unset {
			t.Errorf("without %s: %v, want %v: %v", row.env, got, row.unset, err)
		}
	}
	// One retry layer: RIOT_MAX_RETRIES touches no other policy.
	c, err := load(t, "", map[string]string{"RIOT_MAX_RETRIES": "1"}, nil)
	if err != nil || c.Policies[engine.PolicyMatch].Max != 5 || c.Policies[engine.PolicyCall].Max != 3 {
		t.Errorf("%+v: %v", c.Policies, err)
	}
}

// REDIS_URL is named once, without its value, which may hold a password, and refuses
// nothing.
func TestS4_12_RedisIsNamedAsNotNeeded(t *testing.T) {
	c, err := load(t, "", map[string]string{"REDIS_URL": "redis://:hunter2@queue.example:6379"}, nil)
	if err != nil || len(c.Unneeded) != 1 || !strings.Contains(c.Unneeded[0], "REDIS_URL is set and not needed") {
		t.Fatalf("said %q: %v", c.Unneeded, err)
	}
	i := slices.IndexFunc(c.Sources, func(s engine.Setting) bool { return s.Source == "REDIS_URL" })
	if i < 0 || strings.Contains(c.Unneeded[0]+c.Sources[i].Value, "hunter2") {
		t.Errorf("config shows %+v", c.Sources)
	}
	for _, unset := range []map[string]string{nil, {"REDIS_URL": ""}} {
		if c, err := load(t, "", unset, nil); err != nil || len(c.Unneeded) != 0 {
			t.Errorf("with %v said %q: %v", unset, c.Unneeded, err)
		}
	}
}

// write makes a file, and the folders on the way to it.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Without a home there is no folder of data wherever somebody stands: what to set is said,
// and a directory that is named is taken.
func TestConfig_NoHomeIsNoFolderHere(t *testing.T) {
	t.Setenv("HOME", "")
	none := func(string) (string, bool) { return "", false }
	c, err := Load(Inputs{Getenv: none})
	if err == nil || !strings.Contains(err.Error(), "set HOME, or name a directory by --data-dir or FARSIGHT_DATA_DIR") || c.DataDir != "" {
		t.Errorf("%q, %v", c.DataDir, err)
	}
	dir := t.TempDir()
	c, err = Load(Inputs{Getenv: func(name string) (string, bool) { return dir, name == "FARSIGHT_DATA_DIR" }})
	if err != nil || c.DataDir != dir {
		t.Errorf("%q, %v", c.DataDir, err)
	}
}

// Docker's --env-file and systemd's EnvironmentFile give a comment behind a value as part of it.
func TestW12c_CommentsBehindValues(t *testing.T) {
	c, err := load(t, "", map[string]string{
		"RIOT_HTTP_TIMEOUT_MS": "2500   # of one call", "BULLMQ_GLOBAL_RATE": "18/s\t# calls", "SCHEDULE_ENABLE": "false # none",
		"SYNC_COOLDOWN": "1m  # one", "CRON_RANK_DAILY": "5 3 * * *   # at night", "RIOT_BASE_URL": "https://example.com  # ours",
		"RIOT_MAX_RETRIES": "   # as it ships", "FARSIGHT_CALLS_PER_DAY": "7 # a day", "QUEUE_PREFIX": "a#b",
	}, nil)
	want := []any{2500 * time.Millisecond, Rate{18, time.Second}, true, time.Minute, "5 3 * * *", "https://example.com", 5, "a#b"}
	got := []any{c.Timeout, c.Ceiling, c.Schedules.Off, c.Cooldown, c.Schedules.Rank, c.BaseURL, c.Policies[engine.PolicyIngest].Max, c.Prefix}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
	_, err = load(t, "", map[string]string{"QUEUE_PREFIX": "acme   # ours", "FARSIGHT_PAGER_WEBHOOK_SECRET": "hunter2 # secret two"}, nil)
	for _, says := range []string{`queue_prefix (from QUEUE_PREFIX)`, `"# ours"`, "lines of their own", "FARSIGHT_PAGER_WEBHOOK_SECRET"} {
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret two") {
			t.Errorf("no %q in: %v", says, err)
		}
	}
}

// A time zone that there is not is named: times are UTC then, without a word of Go's.
func TestATimeZoneThatIsNoneIsNamed(t *testing.T) {
	for zone, want := range map[string]int{"Nowhere": 1, "Europe/Berlin": 0, ":UTC": 0, "": 0} {
		if c, err := load(t, "", map[string]string{"TZ": zone}, nil); err != nil || len(c.Unneeded) != want {
			t.Errorf("of %q: %q, %v", zone, c.Unneeded, err)
		}
	}
}
