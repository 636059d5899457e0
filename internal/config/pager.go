package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/regular"
)

// Pager is who is told of alerts and events: the tables [pager] and
// [webhooks] of config.toml. They have no flags: an address or a token on a command
// line is read by everybody on the host.
type Pager struct {
	pager.Targets
	marks map[string][sha256.Size]byte // of what is not shown whole, so that a new value is noticed
}

// Changed names the secrets and numbers that differ: what is shown of them may not.
// A reload says "pager.auth_token was changed" without either value having been compared in the open.
func (c Pager) Changed(now Pager) (names []string) {
	for _, s := range pagerSettings {
		if c.marks[s.name] != now.marks[s.name] {
			names = append(names, s.name)
		}
	}
	return names
}

// pagerSetting is one row of the two tables.
type pagerSetting struct {
	row
	form   form
	secret bool // may be a file of mode 0600, too: name_file
	number bool // of a telephone, or a list of them: its last digits are shown
}

// show is what may be told of a value.
func (s pagerSetting) show(value string) string {
	switch {
	case value == "":
		return ""
	case s.secret:
		return Mask
	case s.number:
		var cut []string
		for _, n := range valuesOf(value) {
			cut = append(cut, engine.CutNumber(n))
		}
		return strings.Join(cut, ", ")
	}
	return strings.ReplaceAll(value, listSep, ", ")
}

// pagerSettings is the table of what [pager] and [webhooks] hold.
var pagerSettings = []pagerSetting{
	{row{"pager.account_sid", []string{"TWILIO_ACCOUNT_SID"}, "", "of your Twilio account: AC and 32 hexadecimal digits"}, one, true, false},
	{row{"pager.auth_token", []string{"TWILIO_AUTH_TOKEN"}, "", "of that account"}, one, true, false},
	{row{"pager.from", []string{"FARSIGHT_PAGER_FROM"}, "", "a number of that account, such as +4930123456"}, one, false, true},
	{row{"pager.to", []string{"FARSIGHT_PAGER_TO"}, "", "who is called: one number, or a list that is gone through in its order"}, many, false, true},
	{row{"pager.call_numbers", []string{"FARSIGHT_CALL_NUMBERS"}, "", "whom calls of your own may go to: one number, or a list; none = there are no such calls"}, many, false, true},
	{row{"pager.calls_per_day", []string{"FARSIGHT_CALLS_PER_DAY"}, strconv.Itoa(pager.DefaultPerDay), "at most so many of them in a UTC day"}, form{Type: typeInteger, Minimum: &leastPerDay, Maximum: &mostPerDay}, false, false},
	{row{"pager.base_url", []string{"TWILIO_BASE_URL"}, pager.DefaultBaseURL, "of the calls API"}, one, false, false},
	{row{"pager.webhook_url", []string{"FARSIGHT_PAGER_WEBHOOK_URL"}, "", "address of a webhook that is told of alerts"}, one, true, false},
	{row{"pager.webhook_secret", []string{"FARSIGHT_PAGER_WEBHOOK_SECRET"}, "", "key of its signature, at least 16 characters"}, one, true, false},
	{row{"pager.discord_url", []string{"FARSIGHT_PAGER_DISCORD_URL"}, "", "a Discord webhook; who knows the address can post"}, one, true, false},
	{row{"pager.pagerduty_key", []string{"FARSIGHT_PAGER_PAGERDUTY_KEY"}, "", "routing key of an Events API v2 integration"}, one, true, false},
	{row{"pager.pagerduty_url", []string{"FARSIGHT_PAGER_PAGERDUTY_URL"}, pager.DefaultPagerDuty, "where its events go"}, one, false, false},
	{row{"pager.command", nil, "", `a program with its arguments, ["/usr/local/bin/notify", "oncall"]; no shell reads it`}, many, false, false},
	{row{"pager.command_timeout", nil, pager.DefaultCommandTimeout.String(), "how long it may take, 1s to 5m"}, form{Type: typeString, Pattern: durationForm}, false, false},
	{row{"webhooks.url", []string{"FARSIGHT_WEBHOOKS_URL"}, "", "address of a program that is told of events, or a list of them"}, many, true, false},
	{row{"webhooks.secret", []string{"FARSIGHT_WEBHOOKS_SECRET"}, "", "key of the signatures, at least 16 characters"}, one, true, false},
	{row{"webhooks.events", nil, strings.Join(pager.Events(), listSep), "which events"}, many, false, false},
}

// Bounds of calls_per_day: whoever needs more is no pager's user.
var leastPerDay, mostPerDay = 1, 1000

const (
	// listSep parts the values of a list that is kept as one text.
	listSep    = "\x00"
	fileSuffix = "_file"
	Mask       = "****"
	minSecret  = 16 // characters of a key that signs
	maxSecret  = 4 << 10
)

// PagerTables are the tables of config.toml that are read here.
var PagerTables = []string{"pager", "webhooks"}

// flattenTable adds a table's values under "table.name".
// The rest of the program reads settings by one name and one text each; lists keep their parts by
// listSep, which no value can have.
func flattenTable(out map[string]string, path, table string, values map[string]any) (faults Faults) {
	known := func(name string) bool {
		return slices.ContainsFunc(pagerSettings, func(s pagerSetting) bool {
			return s.name == name || s.secret && s.name+fileSuffix == name
		})
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := table + "." + key
		if !known(name) {
			faults = append(faults, fmt.Sprintf("%s: unknown setting %q in [%s]; `farsight config` lists them", path, key, table))
			continue
		}
		list, ok := values[key].([]any)
		if !ok {
			list = []any{values[key]}
		}
		texts := make([]string, len(list))
		for i, v := range list {
			texts[i] = fmt.Sprint(v)
		}
		out[name] = strings.Join(texts, listSep)
	}
	return faults
}

// pagerReader reads the settings one by one and collects what is wrong.
type pagerReader struct {
	in     Inputs
	file   map[string]given
	faults Faults
	shown  []engine.Setting
	values map[string]string
	marks  map[string][sha256.Size]byte
}

// paging reads [pager] and [webhooks].
// It collects every fault and does not stop at the first: whoever sets this up wants to mend all of
// them at once.
func (c *Config) paging(in Inputs, file map[string]given) Faults {
	r := &pagerReader{in: in, file: file, values: map[string]string{}, marks: map[string][sha256.Size]byte{}}
	open := map[string]bool{} // files with secrets
	for _, s := range pagerSettings {
		value, source := r.resolve(s)
		r.values[s.name] = value
		if v, ok := file[s.name]; ok && s.secret && source == v.source {
			open[v.path] = true
		}
		if (s.secret || s.number) && value != "" {
			r.marks[s.name] = sha256.Sum256([]byte(value))
		}
		r.shown = append(r.shown, engine.Setting{Name: s.name, Value: s.show(value), Source: source, Env: strings.Join(s.env, ", ")})
	}
	for _, path := range slices.Sorted(maps.Keys(open)) {
		r.mindMode(path)
	}
	c.Sources = append(c.Sources, r.shown...)
	c.Pager = Pager{Targets: pager.Targets{Call: r.call(), Channels: r.channels(), Hooks: r.hooks()}, marks: r.marks}
	return r.faults
}

// fault notes what is wrong with a setting. No value of a secret may be in it.
func (r *pagerReader) fault(name, format string, args ...any) {
	r.faults = append(r.faults, name+": "+fmt.Sprintf(format, args...))
}

// resolve finds a value: the environment, a file of its own, config.toml, default.
func (r *pagerReader) resolve(s pagerSetting) (value, source string) {
	for _, name := range s.env {
		if v, ok := r.in.Getenv(name); ok && v != "" {
			return strings.ReplaceAll(v, ",", listSep), name
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

// secretFile reads a file whose only content is a secret. One that others may read
// is refused.
func secretFile(path string) (string, error) {
	f, info, err := regular.Open(path, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if readByOthers(info.Mode()) {
		return "", fmt.Errorf("%s can be read by others (mode %04o): run chmod 600 %s", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSecret))
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = fmt.Errorf("%s is empty", path)
	}
	return strings.TrimSpace(string(text)), err
}

// readByOthers reports whether a mode lets anybody but the owner in.
func readByOthers(m fs.FileMode) bool { return m.Perm()&0o077 != 0 }

// mindMode: a config.toml with a secret in it is a secret.
func (r *pagerReader) mindMode(path string) {
	info, err := os.Stat(path)
	if err == nil && readByOthers(info.Mode()) {
		r.faults = append(r.faults, fmt.Sprintf("%s holds a secret and can be read by others (mode %04o): run chmod 600 %s, or put the secret into a file of its own", path, info.Mode().Perm(), path))
	}
}

var accountForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^AC[0-9a-fA-F]{32}$`) })

// call reads who is called. Either everything for that is there, or nothing.
// What is half there is a fault and not "no calls": somebody relies on being woken.
func (r *pagerReader) call() *pager.CallOptions {
	to, allow := valuesOf(r.values["pager.to"]), valuesOf(r.values["pager.call_numbers"])
	perDay := r.perDay()
	var missing []string
	for _, name := range []string{"pager.account_sid", "pager.auth_token", "pager.from"} {
		if r.values[name] == "" {
			missing = append(missing, name)
		}
	}
	nobody := len(to)+len(allow) == 0
	if nobody && len(missing) == 3 {
		return nil
	}
	if nobody {
		missing = append(missing, "pager.to (or pager.call_numbers)")
	}
	if len(missing) > 0 {
		r.fault("[pager]", "a call needs %s, too", strings.Join(missing, ", "))
	}
	r.numbers("pager.from", r.values["pager.from"])
	r.numbers("pager.to", to...)
	r.numbers("pager.call_numbers", allow...)
	if sid := r.values["pager.account_sid"]; sid != "" && !accountForm().MatchString(sid) {
		r.fault("pager.account_sid", "it does not look like AC and 32 hexadecimal digits: copy it again from the account's console")
	}
	r.address("pager.base_url", r.values["pager.base_url"])
	return &pager.CallOptions{
		BaseURL: r.values["pager.base_url"], Account: pager.NewSecret(r.values["pager.account_sid"]),
		Token: pager.NewSecret(r.values["pager.auth_token"]), From: r.values["pager.from"], To: to, Allow: allow, PerDay: perDay,
	}
}

// perDay bounds calls of the operator's own, which cost money; those of alerts are not counted.
func (r *pagerReader) perDay() int {
	n, err := parseNumber(r.values["pager.calls_per_day"], leastPerDay, mostPerDay)
	if err != nil {
		r.fault("pager.calls_per_day", "%v", err)
	}
	return n
}

// numbers refuses what is none, in words that a log may keep.
func (r *pagerReader) numbers(name string, all ...string) {
	for i, n := range all {
		if n != "" && !pager.IsNumber(n) {
			r.fault(name, "number %d, %s, is no telephone number: write it with its country, such as +4930123456", i+1, engine.CutNumber(n))
		}
	}
}

// valuesOf are the parts of a list, blanks and empty ones left out.
func valuesOf(v string) []string {
	var out []string
	for _, part := range strings.Split(v, listSep) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// address checks one and reports whether there is one.
func (r *pagerReader) address(name, value string) bool {
	if value == "" {
		return false
	}
	if _, err := pager.ParseURL(value); err != nil {
		r.fault(name, "%v", err)
	}
	return true
}

// signer checks the key of a signature.
func (r *pagerReader) signer(name string) pager.Secret {
	if v := r.values[name]; len(v) < minSecret {
		r.fault(name, "a webhook is signed: choose a secret of at least %d characters", minSecret)
	}
	return pager.NewSecret(r.values[name])
}

// channels reads where notices of alerts go.
func (r *pagerReader) channels() (out []pager.Channel) {
	if v := r.values["pager.webhook_url"]; r.address("pager.webhook_url", v) {
		out = append(out, pager.Channel{Name: "webhook", Form: pager.FormSigned, URL: pager.NewSecret(v), Secret: r.signer("pager.webhook_secret")})
	}
	if v := r.values["pager.discord_url"]; r.address("pager.discord_url", v) {
		out = append(out, pager.Channel{Name: "discord", Form: pager.FormDiscord, URL: pager.NewSecret(v)})
	}
	if v := r.values["pager.pagerduty_key"]; v != "" {
		r.address("pager.pagerduty_url", r.values["pager.pagerduty_url"])
		out = append(out, pager.Channel{Name: "pagerduty", Form: pager.FormPagerDuty, URL: pager.NewSecret(r.values["pager.pagerduty_url"]), Secret: pager.NewSecret(v)})
	}
	if argv := strings.Split(r.values["pager.command"], listSep); argv[0] != "" {
		if !filepath.IsAbs(argv[0]) {
			r.fault("pager.command", "%q is no whole path: write [\"/usr/local/bin/notify\", \"argument\"]; no shell reads it", argv[0])
		}
		out = append(out, pager.Channel{Name: "command", Form: pager.FormCommand, Command: argv, Timeout: r.timeout()})
	}
	return out
}

// timeout bounds a command: one that hangs would keep the next notice from going out.
func (r *pagerReader) timeout() time.Duration {
	v := r.values["pager.command_timeout"]
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second || d > 5*time.Minute {
		r.fault("pager.command_timeout", "%q is no duration from 1s to 5m", v)
	}
	return d
}

// hooks reads where events go.
func (r *pagerReader) hooks() (out []pager.Hook) {
	urls := valuesOf(r.values["webhooks.url"])
	if len(urls) == 0 {
		return nil
	}
	secret, events := r.signer("webhooks.secret"), valuesOf(r.values["webhooks.events"])
	for _, e := range events {
		if !slices.Contains(pager.Events(), e) {
			r.fault("webhooks.events", "%q is not one of %s", e, strings.Join(pager.Events(), ", "))
		}
	}
	for _, u := range urls {
		r.address("webhooks.url", u)
		out = append(out, pager.Hook{Name: hookName(u), URL: pager.NewSecret(u), Secret: secret, Events: events})
	}
	return out
}

// hookName names an address by what does not reveal it.
// It is the same after each start, so that what waits in the store for an address finds it.
func hookName(address string) string {
	sum := sha256.Sum256([]byte("farsight hook\x00" + address))
	return hex.EncodeToString(sum[:4])
}
