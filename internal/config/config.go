// Package config reads everything that can be set, and says all that is wrong with it
// at once.
package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/themes"
)

// Config is everything that can be set, read once at the start: flag over
// environment over config.toml in the data directory over that of the configuration
// folder over default.
type Config struct {
	DataDir      string
	Store        string // URL of the PostgreSQL that keeps everything, without a password; "" = the data directory does
	ConfigDir    string // of the user, such as ~/.config/farsight; "" = there is none
	Platform     string
	BaseURL      string
	KeyFile      string
	Timeout      time.Duration
	Workers      int // ceiling; 0 = by the rate and the answer time
	Ceiling      Rate
	Prefix       string
	Policies     engine.Policies
	Matches      league.Span // retention
	Timelines    league.Span
	SyncOn       bool
	Cooldown     time.Duration
	StaleAge     time.Duration
	LatestMax    int
	SweepBatch   int  // matches of one sweep
	RetryMissing bool // a 404 of a match gets the whole table of delays
	Lookback     time.Duration
	Relist       time.Duration // 0 = never
	AskAgain     []time.Duration
	ReportTZ     *time.Location
	Schedules    ingest.SchedulesConfig
	BackupEvery  time.Duration
	KeepPayloads league.Span // of stored payloads; off = for ever
	LogLevel     string
	Theme        string
	Glyphs       string
	Force        bool // open on a network file system all the same

	KeepRunning string // auto, true, false: the engine outlives its console's terminal
	SocketGroup string // who may enter by SocketPath, besides the owner
	SocketPath  string
	Viewers     string // as api.ParseRules reads them
	Operators   string
	HTTPListen  string // loopback address for programs; "" = none
	HTTPOrigins []string

	retries int // of listings at most, by their old name

	Pager Pager // who is told of alerts and events

	// Unneeded are sentences, one for each setting that is not Farsight's and means nothing here, such as a time zone that
	// there is not.
	Unneeded []string

	Sources []engine.Setting // every setting with where it came from, for `farsight config`
}

// Rate is at most N calls per span. The zero Rate is no ceiling.
type Rate struct {
	N   int
	Per time.Duration
}

// row is what every surface tells of a setting: the flags, `farsight config`, the sample
// file, the schema for editors and docs/settings.md.
type row struct {
	name string   // in config.toml, and with dashes as a flag; "pager.from" is from in [pager]
	env  []string // the first that is set wins
	def  string
	help string
}

// setting is one row of a table: where a value may come from, what it looks like and
// what it does. There are two tables: settings, each of which is a flag, and pagerSettings.
type setting struct {
	row
	kind
}

// settings are all that can be set.
func settings() []setting {
	return []setting{
		{row{"store", []string{"FARSIGHT_STORE"}, "", "a PostgreSQL that keeps everything, as postgres://user@host/database, its password in PGPASSFILE; empty = the data directory"}, checked(SetStore)},
		{row{"platform", []string{"FARSIGHT_PLATFORM"}, "", "platform of accounts that are named without one"}, checked(setPlatform)},
		{row{"base_url", []string{"RIOT_BASE_URL"}, "https://{routing}.api.riotgames.com", "where Riot's API is; may hold {routing}"}, checked(setBaseURL)},
		{row{"key_file", []string{"RIOT_API_KEY_FILE"}, "", "file (mode 0600) with the API key; empty = riot.key in the data directory"}, text(func(c *Config) *string { return &c.KeyFile })},
		{row{"max_retries", []string{"RIOT_MAX_RETRIES"}, "4", "retries after the first attempt of policy ingest"}, whole(0, 20, func(c *Config) *int { return &c.retries })},
		{
			row{"http_timeout_ms", []string{"RIOT_HTTP_TIMEOUT_MS"}, "10000", "milliseconds one call may take, body included"},
			number(100, 300_000, func(c *Config, n int) { c.Timeout = time.Duration(n) * time.Millisecond }),
		},
		{row{"queue_prefix", []string{"QUEUE_PREFIX"}, "fitlol", "prefix of queue names in exports and metrics"}, text(func(c *Config) *string { return &c.Prefix })},
		{
			row{"worker_concurrency", []string{"WORKER_CONCURRENCY", "BULLMQ_CONCURRENCY"}, "", "ceiling of calls at once, 1 to 64; empty = by rate and answer time"},
			optional(whole(1, 64, func(c *Config) *int { return &c.Workers })),
		},
		{row{"rate_ceiling", []string{"RATE_CEILING", "BULLMQ_GLOBAL_RATE"}, "", "18/s or 900/m; 18 alone is per second: only ever lowers what Riot's headers allow"}, optional(rate)},
		{row{"retention_matches", []string{"RETENTION_MATCHES"}, "2y", "how long Riot keeps matches; 0 = no limit"}, span(func(c *Config) *league.Span { return &c.Matches })},
		{row{"retention_timelines", []string{"RETENTION_TIMELINES"}, "1y", "how long Riot keeps timelines; 0 = no limit"}, span(func(c *Config) *league.Span { return &c.Timelines })},
		{row{"sync_enable", []string{"SYNC_ENABLE"}, "true", "false refuses to start syncs"}, boolean(func(c *Config, on bool) { c.SyncOn = on })},
		{row{"sync_cooldown", []string{"SYNC_COOLDOWN"}, "5m", "a sync this soon after the last one has nothing to do"}, duration(func(c *Config) *time.Duration { return &c.Cooldown })},
		{row{"sync_stale_after", []string{"SYNC_STALE_AFTER"}, "24h", "age at which stored data counts as stale"}, duration(func(c *Config) *time.Duration { return &c.StaleAge })},
		{row{"ingestion_max_matches_per_run", []string{"INGESTION_MAX_MATCHES_PER_RUN"}, "20", "matches of an account's first latest run; later ones list on until they join what is known"}, whole(1, 1000, func(c *Config) *int { return &c.LatestMax })},
		{
			row{"ingestion_lookback_days", []string{"INGESTION_LOOKBACK_DAYS"}, "30", "days a latest run looks back"},
			number(1, 3650, func(c *Config, n int) { c.Lookback = time.Duration(n) * 24 * time.Hour }),
		},
		{
			row{"ingestion_relist_days", []string{"INGESTION_RELIST_DAYS"}, "7", "days after which an account's list is read whole again, for ids that came late; 0 = never"},
			number(0, 3650, func(c *Config, n int) { c.Relist = time.Duration(n) * 24 * time.Hour }),
		},
		{row{"report_tz", []string{"REPORT_TZ", "CRON_TZ"}, "", "time zone of reports; empty = this host's"}, checked(setZone)},
		{row{"schedule_enable", []string{"SCHEDULE_ENABLE"}, "true", "false: nothing is started by the clock but the upkeep of the store"}, boolean(func(c *Config, on bool) { c.Schedules.Off = !on })},
		{row{"cron_latest_every", []string{"CRON_LATEST_EVERY"}, ingest.CronLatest, "when each tracked account is looked at that has no cadence of its own (track --policy)"}, cronText(func(c *Config) *string { return &c.Schedules.Latest })},
		{row{"cron_rank_daily", []string{"CRON_RANK_DAILY"}, ingest.CronRank, "when their ranks are fetched"}, cronText(func(c *Config) *string { return &c.Schedules.Rank })},
		{row{"cron_weekly_report", []string{"CRON_WEEKLY_REPORT"}, ingest.CronWeekly, "when the report of the week before is built"}, cronText(func(c *Config) *string { return &c.Schedules.Weekly })},
		{row{"cron_sweep", []string{"CRON_SWEEP"}, ingest.CronSweep, "when failed matches that no job tries any more get one"}, cronText(func(c *Config) *string { return &c.Schedules.Sweep })},
		{row{"sweep_batch", []string{"SWEEP_BATCH"}, strconv.Itoa(ingest.DefaultSweep), "at most so many of them, the oldest first"}, whole(1, 10_000, func(c *Config) *int { return &c.SweepBatch })},
		{row{"cron_tz", []string{"CRON_TZ"}, "", "time zone of schedules; empty = this host's"}, checked(setCronZone)},
		retryTable(engine.PolicyMatch, "FARSIGHT_RETRY_MATCH", "delays after failed attempts of a match"),
		retryTable(engine.PolicyIngest, "FARSIGHT_RETRY_INGEST", "delays after failed attempts of a listing"),
		retryTable(engine.PolicyCall, "FARSIGHT_RETRY_CALL", "delays after failed calls to a person"),
		{
			row{"retry_404", []string{"RETRY_404"}, "final", "a match or timeline that Riot answers 404: final at once, or table: tried again by retry_match"},
			choice(func(c *Config, word string) { c.RetryMissing = word == "table" }, "final", "table"),
		},
		{
			row{"retry_404_again", []string{"RETRY_404_AGAIN"}, "1h,24h,168h", "ages, since it was listed, at which the sweep asks once more for a match that ended by 404; 0 = never"},
			delays(maxAge, func(c *Config, ages []time.Duration) { c.AskAgain = ages }),
		},
		{row{"log_level", []string{"FARSIGHT_LOG_LEVEL"}, "info", "least level of the log: debug, info, warn or error"}, choice(func(c *Config, word string) { c.LogLevel = word }, engine.LogLevels()...)},
		{row{"theme", []string{"FARSIGHT_THEME"}, "auto", strings.Join(Themes(), ", ") + ", or one of your own"}, checked(setTheme)},
		{row{"glyphs", []string{"FARSIGHT_GLYPHS"}, "auto", "signs: auto = what the terminal can show; " + strings.Join(themes.GlyphNames()[1:], ", ")}, choice(func(c *Config, word string) { c.Glyphs = word }, themes.GlyphNames()...)},
		{row{"backup_every", []string{"BACKUP_EVERY"}, "24h", "a backup of the running store this often; 0s = never"}, duration(func(c *Config) *time.Duration { return &c.BackupEvery })},
		{row{"keep_payloads", []string{"KEEP_PAYLOADS"}, "0", "delete stored payloads of matches older than this; 0 = keep all"}, span(func(c *Config) *league.Span { return &c.KeepPayloads })},
		{
			row{"keep_running", []string{"FARSIGHT_KEEP_RUNNING"}, "auto", "true: an engine whose console loses its terminal runs on; auto: when that is over SSH"},
			choice(func(c *Config, word string) { c.KeepRunning = word }, "auto", "true", "false"),
		},
		{row{"socket_group", []string{"FARSIGHT_SOCKET_GROUP"}, "", "group that may enter by a second socket, socket_path; empty = there is none"}, checked(setSocketGroup)},
		{row{"socket_path", []string{"FARSIGHT_SOCKET_PATH"}, "", "where the group's socket is, in a folder that the group can enter, such as /run/farsight/control.sock"}, checked(setSocketPath)},
		{row{"viewers", []string{"FARSIGHT_VIEWERS"}, "", "who may look by the group's socket: users by name or uid, groups as @name or @gid"}, rules(func(c *Config) *string { return &c.Viewers })},
		{row{"operators", []string{"FARSIGHT_OPERATORS"}, "", "who may act by it, too"}, rules(func(c *Config) *string { return &c.Operators })},
		{
			row{"http_listen", []string{"FARSIGHT_HTTP_LISTEN"}, "", "loopback address, such as 127.0.0.1:7171, on which programs are answered that show the token in http.token; empty = none"},
			checked(setHTTPListen),
		},
		{
			row{"http_origins", []string{"FARSIGHT_HTTP_ORIGINS"}, "", "web pages that may ask there: origins such as https://dash.example.com, separated by commas; empty = none"},
			checked(setHTTPOrigins),
		},
		{row{"force_network_fs", nil, "false", "open a data directory on a network file system"}, boolean(func(c *Config, on bool) { c.Force = on })},
	}
}

// Faults are all that is wrong with a configuration, at once.
type Faults []string

// Error lists them, one a line; a single one stands by itself.
func (f Faults) Error() string {
	if len(f) == 1 {
		return f[0]
	}
	return fmt.Sprintf("%d settings are wrong:\n  %s", len(f), strings.Join(f, "\n  "))
}

// Inputs are the places a configuration is read from.
type Inputs struct {
	Flags  *pflag.FlagSet
	Getenv func(string) (string, bool)
}

// TypedAs is the annotation of a flag that was given by another name: faults say what was typed.
const TypedAs = "typed as"

// AddFlags gives every setting a flag on the command.
func AddFlags(fs *pflag.FlagSet) {
	// It is no row of the table, for it says where a file of settings is.
	fs.String("data-dir", "", "data directory (FARSIGHT_DATA_DIR; default "+displayDir+")")
	// Each by itself, in the order of the table: later ones may look at what earlier ones have set.
	for _, s := range settings() {
		fs.String(FlagName(s.name), "", s.help+envNote(s.env))
	}
}

// envNote names the variable that a help text tells of: the first, which goes before its other names.
func envNote(env []string) string {
	if len(env) == 0 {
		return ""
	}
	return " (" + env[0] + ")"
}

// FlagName is the flag of a setting.
func FlagName(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Load reads every source. The error is Faults, with every fault listed.
func Load(in Inputs) (Config, error) {
	c := Config{Policies: engine.DefaultPolicies()}
	dir, source := dataDir(in)
	c.DataDir, c.ConfigDir = dir, in.BaseFolder("XDG_CONFIG_HOME", ".config")
	c.Sources = append(c.Sources, engine.Setting{Name: "data_dir", Value: dir, Source: source, Env: "FARSIGHT_DATA_DIR"})

	r := &reader{in: in}
	r.file, r.faults = readFiles(c.Folders())
	switch {
	// Other faults of the files follow from it and are left out.
	case dir == "" && source == noHome:
		r.faults = Faults{"data_dir: " + noHome + ": set HOME, or name a directory by --data-dir or FARSIGHT_DATA_DIR"}
	case dir == "":
		r.faults = Faults{"data_dir (from " + source + "): name a directory"}
	}
	for _, s := range settings() {
		value, source := r.resolve(s)
		if err := s.set(&c, value); err != nil {
			r.fault(fmt.Sprintf("%s (from %s)", s.name, source), "%v", err)
		}
		if s.name == "store" {
			value = c.Store // what was refused may hold a password
		}
		c.Sources = append(c.Sources, s.from(value, source))
	}
	// RIOT_MAX_RETRIES is the older name, and only takes attempts of retry_ingest away.
	p := c.Policies[engine.PolicyIngest]
	c.Policies[engine.PolicyIngest] = engine.NewPolicy(p.Name, min(c.retries+1, p.Max), p.Delays...)
	// A setting of the queues that Farsight is in the place of. Its value may hold a password.
	const redis = "REDIS_URL"
	if v, ok := in.Getenv(redis); ok && v != "" {
		c.Unneeded = append(c.Unneeded, redis+" is set and not needed: everything is kept in the data directory")
		c.Sources = append(c.Sources, engine.Setting{Name: strings.ToLower(redis), Value: "(not needed)", Source: redis, Env: redis})
	}
	// A path is read by its own rules.
	if zone, _ := in.Getenv("TZ"); zone != "" && !strings.HasPrefix(zone, "/") {
		if _, err := time.LoadLocation(strings.TrimPrefix(zone, ":")); err != nil {
			c.Unneeded = append(c.Unneeded, fmt.Sprintf("TZ is %q, which is no time zone: times are UTC", zone))
		}
	}
	c.paging(r)
	if len(r.faults) > 0 {
		return c, r.faults
	}
	return c, nil
}

// reader finds the value of each setting and collects what is wrong. It does not stop at the first
// fault: whoever sets this up wants to mend all of them at once.
type reader struct {
	in     Inputs
	file   map[string]given
	faults Faults
}

// fault notes what is wrong with a setting. No value of a secret may be in it.
func (r *reader) fault(name, format string, args ...any) {
	r.faults = append(r.faults, name+": "+fmt.Sprintf(format, args...))
}

// from is a setting with its value and where that comes from, for `farsight config`.
func (s setting) from(value, source string) engine.Setting {
	return engine.Setting{Name: s.name, Value: value, Source: source, Env: strings.Join(s.env, ", ")}
}

// Given reports whether a setting comes from the command line or the environment.
func (c Config) Given(name string) bool {
	i := slices.IndexFunc(c.Sources, func(s engine.Setting) bool { return s.Name == name })
	return i >= 0 && c.Sources[i].Source != "default" && !strings.HasSuffix(c.Sources[i].Source, FileName)
}

// resolve finds a value: the flag, the environment, a file of its own for a secret, config.toml,
// default. source names which of them, as `farsight config` shows it.
func (r *reader) resolve(s setting) (value, source string) {
	// Flags are nil where the caller has no command line.
	if f := r.in.Flags; f != nil {
		if fl := f.Lookup(FlagName(s.name)); fl != nil && fl.Changed {
			return fl.Value.String(), "flag --" + cmp.Or(strings.Join(fl.Annotations[TypedAs], ""), fl.Name)
		}
	}
	for _, name := range s.env {
		// A variable that is set and empty counts as not set: that is how a compose file leaves one
		// out.
		if v, ok := r.in.Getenv(name); ok && v != "" {
			if v = r.uncommented(s, name, v); v == "" {
				continue
			}
			if s.set == nil { // of pagerSettings, some of which are lists
				v = strings.ReplaceAll(v, ",", listSep)
			}
			return v, name
		}
	}
	if path := r.file[s.name+fileSuffix].value; path != "" && s.secret {
		v, err := secretFile(path)
		if err != nil {
			r.fault(s.name+fileSuffix, "%v", err)
		}
		return v, path
	}
	if v, ok := r.file[s.name]; ok {
		return v.value, v.source
	}
	return s.def, "default"
}

// cutComment parts a variable from the comment behind it: docker's --env-file and systemd's EnvironmentFile
// give "18/s   # calls" whole. A "#" without a blank before it is part of the value.
func cutComment(v string) (value, comment string) {
	at := strings.Index(" "+v, " #")
	if tab := strings.Index(v, "\t#"); tab >= 0 && (at < 0 || tab < at) {
		at = tab
	}
	if at < 0 {
		return v, ""
	}
	return strings.TrimSpace(v[:at]), strings.TrimLeft(v[at:], " \t")
}

// uncommented cuts a comment off where it can be no part of the value: nothing stands before it, or the
// setting takes the value only without it. Elsewhere it is a fault.
func (r *reader) uncommented(s setting, variable, v string) string {
	value, comment := cutComment(v)
	if comment == "" || value == "" {
		return value
	}
	if s.number || s.form.Type == typeInteger || s.set != nil && s.set(&Config{Policies: engine.DefaultPolicies()}, v) != nil {
		return value
	}
	if s.secret {
		comment = "#"
	}
	r.fault(fmt.Sprintf("%s (from %s)", s.name, variable),
		"its value holds %q, which looks like a comment and arrives as part of the value: put comments of such a file on lines of their own",
		comment)
	return value
}

// noHome is why there is no default data directory: a folder where somebody happens to
// stand would be another one each time.
const noHome = "there is no home directory to keep data in"

// dataDir finds the data directory before anything else is read: one of the files of settings is in it.
func dataDir(in Inputs) (dir, source string) {
	if f := in.Flags; f != nil {
		if fl := f.Lookup("data-dir"); fl != nil && fl.Changed {
			return fl.Value.String(), "flag --data-dir"
		}
	}
	if v, ok := in.Getenv("FARSIGHT_DATA_DIR"); ok && v != "" {
		return v, "FARSIGHT_DATA_DIR"
	}
	if dir := in.BaseFolder("XDG_DATA_HOME", ".local/share"); dir != "" {
		return dir, "default"
	}
	return "", noHome
}

// displayDir is the default data directory as help texts and pages name it, whoever reads them.
const displayDir = "~/.local/share/farsight"

// KeyPath is where the key file is, or would be.
func (c Config) KeyPath() string {
	if c.KeyFile != "" {
		return c.KeyFile
	}
	return filepath.Join(c.DataDir, "riot.key")
}

// Folder is the data directory by a name that holds in every process.
func (c Config) Folder() string {
	// Without a working directory there is nothing better than what was given.
	if abs, err := filepath.Abs(c.DataDir); err == nil {
		return abs
	}
	return c.DataDir
}
