package config

import (
	"fmt"
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

// Setters: each reads one value's text and says in one clause what is wrong.

func text(at func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *at(c) = v; return nil }
}

func boolean(at func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", v)
		}
		*at(c) = b
		return nil
	}
}

func whole(low, high int, at func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := number(v, low, high)
		*at(c) = n
		return err
	}
}

func duration(at func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is no duration: write 90s, 5m or 24h", v)
		}
		*at(c) = d
		return nil
	}
}

func span(at func(*Config) *league.Span) func(*Config, string) error {
	return func(c *Config, v string) error {
		s, err := league.ParseSpan(v)
		*at(c) = s
		return err
	}
}

func oneOf(at func(*Config) *string, words ...string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q is not one of %s", v, strings.Join(words, ", "))
		}
		*at(c) = v
		return nil
	}
}

// Themes are the values of the setting theme that need no file.
func Themes() []string { return append([]string{"auto"}, themes.Names()...) }

// setTheme takes a built-in theme or one of the user's own, which has a file in
// the data directory; whether that can be used the console says.
func setTheme(c *Config, v string) error {
	c.Theme = v
	if slices.Contains(Themes(), v) {
		return nil
	}
	own, _ := filepath.Glob(filepath.Join(c.DataDir, "themes", "*.toml"))
	for i := range own {
		own[i] = strings.TrimSuffix(filepath.Base(own[i]), ".toml")
	}
	if slices.Contains(own, v) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s", v, strings.Join(append(Themes(), own...), ", "))
}

// setPlatform takes none, too: most commands need no platform.
func setPlatform(c *Config, v string) error {
	if v == "" {
		return nil
	}
	p, err := route.ParsePlatform(v)
	c.Platform = string(p)
	return err
}

func setBaseURL(c *Config, v string) error {
	c.BaseURL = v
	return riot.ParseBaseURL(v)
}

func setMillis(c *Config, v string) error {
	n, err := number(v, 100, 300_000)
	c.Timeout = time.Duration(n) * time.Millisecond
	return err
}

func setLookback(c *Config, v string) error {
	n, err := number(v, 1, 3650)
	c.Lookback = time.Duration(n) * 24 * time.Hour
	return err
}

func setWorkers(c *Config, v string) error {
	if v == "" {
		return nil
	}
	n, err := number(v, 1, 64)
	c.Workers = n
	return err
}

func setCeiling(c *Config, v string) error {
	if v == "" {
		return nil
	}
	count, unit, given := strings.Cut(v, "/")
	if !given {
		unit = "s" // as BULLMQ_GLOBAL_RATE has it
	}
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute}[unit]
	n, err := number(count, 1, 1_000_000)
	if per == 0 || err != nil {
		return fmt.Errorf("%q is no rate: write 18/s or 900/m", v)
	}
	c.Ceiling = Rate{N: n, Per: per}
	return nil
}

// setMissing is RETRY_404.
func setMissing(c *Config, v string) error {
	var word string
	err := oneOf(func(*Config) *string { return &word }, "final", "table")(c, v)
	c.RetryMissing = word == "table"
	return err
}

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
		link, _ := os.Readlink("/etc/localtime")
		_, name, _ = strings.Cut(link, "zoneinfo/")
	}
	if loc, err := time.LoadLocation(name); name != "" && err == nil {
		return loc
	}
	if _, offset := time.Now().Zone(); offset == 0 {
		return time.UTC
	}
	return time.Local
}

// setSchedules is the switch of everything that the clock starts.
func setSchedules(c *Config, v string) error {
	on := true
	err := boolean(func(*Config) *bool { return &on })(c, v)
	c.Schedules.Off = !on
	return err
}

func cronText(at func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*at(c) = v
		_, err := cron.Parse(v, "UTC")
		return err
	}
}

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
	return setting{"retry_" + name, []string{env}, tableText(shipped.Delays), help, policy(name, shipped.Max)}
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

func policy(name string, limit int) func(*Config, string) error {
	return func(c *Config, v string) error {
		var delays []time.Duration
		for _, part := range strings.Split(v, ",") {
			d, err := time.ParseDuration(strings.TrimSpace(part))
			if err != nil || d < 0 || d > engine.MaxDelay {
				return fmt.Errorf("%q is no table of delays: write 30s,60s,120s,300s", v)
			}
			delays = append(delays, d)
		}
		c.Policies[name] = engine.NewPolicy(name, limit, delays...)
		return nil
	}
}

func number(v string, low, high int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", v, low, high)
	}
	return n, nil
}
