package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/themes"
)

// kind is what a setting takes: how editors see it, and how its text is read.
//
// Every value comes as text, wherever it is from: a flag, the environment or a file. Each kind has
// two faces that must agree: what the JSON schema tells an editor, and what is accepted.
type kind struct {
	form form
	// set says in one clause what is wrong; nil = the value is read with others, by [Config.paging].
	set    func(*Config, string) error
	secret bool // may be a file of mode 0600, too: name_file; what it holds is never shown
	number bool // of a telephone, or a list of them: its last digits are shown
}

// text is any text at all.
func text(at func(*Config) *string) kind {
	return checked(func(c *Config, v string) error { *at(c) = v; return nil })
}

// checked is a text that only its own reader can judge.
func checked(set func(*Config, string) error) kind {
	return kind{form: form{Type: typeString}, set: set}
}

// optional takes an empty text for "not set".
func optional(k kind) kind {
	k.form.Pattern = "|" + k.form.Pattern
	// An empty text is no integer: the schema takes both.
	if k.form.Type == typeInteger {
		k.form.Type = orString
	}
	set := k.set
	k.set = func(c *Config, v string) error {
		if v == "" {
			return nil
		}
		return set(c, v)
	}
	return k
}

// boolean is what strconv.ParseBool takes: true, false, 1, 0, t, f.
func boolean(use func(*Config, bool)) kind {
	return kind{form: form{Type: typeBoolean}, set: func(c *Config, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", v)
		}
		use(c, b)
		return nil
	}}
}

// number is a whole number within bounds, both of which it may be.
func number(low, high int, use func(*Config, int)) kind {
	return kind{form: form{Type: typeInteger, Minimum: &low, Maximum: &high}, set: func(c *Config, v string) error {
		n, err := parseNumber(v, low, high)
		// Also with an error, which ends the start: then it is 0.
		use(c, n)
		return err
	}}
}

// whole is a number that is kept as it is.
func whole(low, high int, at func(*Config) *int) kind {
	return number(low, high, func(c *Config, n int) { *at(c) = n })
}

// duration is as Go writes it, and not below 0.
func duration(at func(*Config) *time.Duration) kind {
	return kind{form: form{Type: typeString, Pattern: durationForm}, set: func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is no duration: write 90s, 5m or 24h", v)
		}
		*at(c) = d
		return nil
	}}
}

// span is an age in calendar units: 2y, 6mo, 8w, 30d; 0 = no limit.
func span(at func(*Config) *league.Span) kind {
	zero := 0 // 0 is "no limit", with quotes or without
	return kind{form: form{Type: orString, Pattern: "0|[0-9]{1,3}(y|mo|w|d)", Minimum: &zero, Maximum: &zero}, set: func(c *Config, v string) error {
		s, err := league.ParseSpan(v)
		*at(c) = s
		return err
	}}
}

// choice is one of some words.
func choice(use func(*Config, string), words ...string) kind {
	var enum []any
	for _, w := range words {
		// Words as they are written in config.toml.
		enum = append(enum, w)
		if b, err := strconv.ParseBool(w); err == nil { // true without quotes, too
			enum = append(enum, b)
		}
	}
	return kind{form: form{Enum: enum}, set: func(c *Config, v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q is not one of %s", v, strings.Join(words, ", "))
		}
		use(c, v)
		return nil
	}}
}

// Themes are the values of the setting theme that need no file.
func Themes() []string { return append([]string{"auto"}, themes.Names()...) }

// setTheme takes a built-in theme or one of the user's own, which has a file in one of
// the folders; whether that can be used the console says.
func setTheme(c *Config, v string) error {
	c.Theme = v
	if slices.Contains(Themes(), v) {
		return nil
	}
	var own []string
	// Names only: a theme's own faults are told by the console, which can show them.
	for _, dir := range c.Folders() {
		files, _ := filepath.Glob(filepath.Join(dir, "themes", "*.toml"))
		for _, f := range files {
			own = append(own, strings.TrimSuffix(filepath.Base(f), ".toml"))
		}
	}
	if slices.Contains(own, v) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s", v, strings.Join(append(Themes(), own...), ", "))
}

// SetStore takes the address of a database. A password in it would stand in the list of processes
// and in files that others read. No error repeats the address.
func SetStore(c *Config, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("the address cannot be read: write postgres://user@host/database")
	}
	// All three forms in which libpq takes one.
	_, inside := u.User.Password()
	if q := u.Query(); inside || q.Has("password") || q.Has("sslpassword") {
		return errors.New("an address must not hold a password: put it into the file that PGPASSFILE names, or name a service with PGSERVICE")
	}
	c.Store = v
	return nil
}

// setPlatform takes none, too: most commands need no platform.
func setPlatform(c *Config, v string) error {
	if v == "" {
		return nil
	}
	// EUW1 is taken, too, and kept as euw1.
	p, err := route.ParsePlatform(v)
	c.Platform = string(p)
	return err
}

// setBaseURL takes the address of another Riot, such as the simulator's.
func setBaseURL(c *Config, v string) error {
	c.BaseURL = v
	return riot.ParseBaseURL(v)
}

// rate is 18/s or 900/m.
var rate = kind{form: form{Type: orString, Pattern: "[0-9]+(/[sm])?"}, set: func(c *Config, v string) error {
	count, unit, given := strings.Cut(v, "/")
	if !given {
		unit = "s" // as BULLMQ_GLOBAL_RATE has it
	}
	// Without a unit of these two per is 0, which is refused below.
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute}[unit]
	n, err := parseNumber(count, 1, 1_000_000)
	if per == 0 || err != nil {
		return fmt.Errorf("%q is no rate: write 18/s or 900/m", v)
	}
	c.Ceiling = Rate{N: n, Per: per}
	return nil
}}

// setZone takes the zone in which days and weeks of reports begin; none = this host's.
func setZone(c *Config, v string) error {
	if v == "" {
		c.ReportTZ = HostZone()
		return nil
	}
	loc, err := time.LoadLocation(v)
	if err != nil {
		return fmt.Errorf("%q is no time zone: write a name such as Europe/Berlin or UTC", v)
	}
	c.ReportTZ = loc
	return nil
}

// HostZone is this host's zone under its real name, since a report names its
// zone: time.Local calls itself "Local".
func HostZone() *time.Location {
	name := os.Getenv("TZ")
	if name == "" {
		// "/usr/share/zoneinfo/Europe/Berlin", where it is a link; a copy tells no name.
		link, _ := os.Readlink("/etc/localtime")
		_, name, _ = strings.Cut(link, "zoneinfo/")
	}
	if loc, err := time.LoadLocation(name); name != "" && err == nil {
		return loc
	}
	// Containers have UTC and no link: then UTC is its name.
	if _, offset := time.Now().Zone(); offset == 0 {
		return time.UTC
	}
	return time.Local
}

// cronText is a schedule. Its zone is another setting, so it is tried with any.
func cronText(at func(*Config) *string) kind {
	return checked(func(c *Config, v string) error {
		*at(c) = v
		_, err := cron.Parse(v, "UTC")
		return err
	})
}

// setCronZone takes the zone in which schedules run; none = this host's.
func setCronZone(c *Config, v string) error {
	c.Schedules.Zone = "Local"
	if v == "" {
		return nil
	}
	c.Schedules.Zone = v
	if _, err := time.LoadLocation(v); err != nil {
		return fmt.Errorf("%q is no time zone: write a name such as Europe/Berlin or UTC", v)
	}
	return nil
}

// retryTable is the setting of a retry policy: of its delays. How many attempts there may
// be at most is the shipped policy's.
func retryTable(name, env, help string) setting {
	shipped := engine.DefaultPolicies()[name]
	return setting{row{"retry_" + name, []string{env}, tableText(shipped.Delays), help}, delayTable(name, shipped.Max)}
}

// tableText writes delays as a person would: 30s,60s,120s,300s, and 5m,15m,30m where all
// are whole minutes.
func tableText(delays []time.Duration) string {
	unit, letter := time.Minute, "m"
	for _, d := range delays {
		if d%time.Minute != 0 {
			unit, letter = time.Second, "s"
		}
	}
	var parts []string
	for _, d := range delays {
		parts = append(parts, strconv.FormatInt(int64(d/unit), 10)+letter)
	}
	return strings.Join(parts, ",")
}

// delayTable reads such a table. Each delay is followed by an attempt, up to limit of them: see
// engine.NewPolicy.
func delayTable(name string, limit int) kind {
	return delays(engine.MaxDelay, func(c *Config, table []time.Duration) {
		// A table that is shorter than the shipped one means fewer attempts.
		c.Policies[name] = engine.NewPolicy(name, limit, table...)
	})
}

// maxAge is how old a match may be at most that is asked for once more: Riot keeps none longer.
const maxAge = 2 * 365 * 24 * time.Hour

// delays are durations, none longer than most, with commas between them.
func delays(most time.Duration, set func(*Config, []time.Duration)) kind {
	return kind{form: form{Type: typeString, Pattern: delaysForm}, set: func(c *Config, v string) error {
		var table []time.Duration
		for _, part := range strings.Split(v, ",") {
			d, err := time.ParseDuration(strings.TrimSpace(part))
			if err != nil || d < 0 || d > most {
				return fmt.Errorf("%q is no table of delays: write 30s,60s,120s,300s", v)
			}
			table = append(table, d)
		}
		set(c, table)
		return nil
	}}
}

// parseNumber reads a whole number from low to high, with blanks around it.
func parseNumber(v string, low, high int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", v, low, high)
	}
	return n, nil
}
