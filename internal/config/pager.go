package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/regular"
)

// Pager is who is told of alerts and events, and by which rules: the tables [pager], [webhooks]
// and [alerts] of config.toml. They have no flags: an address or a token on a command
// line is read by everybody on the host.
type Pager struct {
	pager.Targets
	Rules []alert.Rule
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

// show is what may be told of a value.
func (s setting) show(value string) string {
	switch {
	case value == "":
		return ""
	case s.secret:
		return Mask
	case s.number:
		var cut []string
		for _, n := range valuesOf(value) {
			// "+4930123456" is shown as …3456.
			cut = append(cut, engine.CutNumber(n))
		}
		return strings.Join(cut, ", ")
	}
	return strings.ReplaceAll(value, listSep, ", ")
}

// pagerSettings is the table of what [pager] and [webhooks] hold.
var pagerSettings = []setting{
	{row{"pager.account_sid", []string{"TWILIO_ACCOUNT_SID"}, "", "of your Twilio account: AC and 32 hexadecimal digits"}, kind{form: one, secret: true}},
	{row{"pager.auth_token", []string{"TWILIO_AUTH_TOKEN"}, "", "of that account"}, kind{form: one, secret: true}},
	{row{"pager.from", []string{"FARSIGHT_PAGER_FROM"}, "", "a number of that account, such as +4930123456"}, kind{form: one, number: true}},
	{row{"pager.to", []string{"FARSIGHT_PAGER_TO"}, "", "who is called: one number, or a list that is gone through in its order"}, kind{form: many, number: true}},
	{row{"pager.call_numbers", []string{"FARSIGHT_CALL_NUMBERS"}, "", "whom calls of your own may go to: one number, or a list; none = there are no such calls"}, kind{form: many, number: true}},
	{row{"pager.calls_per_day", []string{"FARSIGHT_CALLS_PER_DAY"}, strconv.Itoa(pager.DefaultPerDay), "at most so many of them in a UTC day"}, kind{form: form{Type: typeInteger, Minimum: &leastPerDay, Maximum: &mostPerDay}}},
	{row{"pager.machine_detection", []string{"FARSIGHT_MACHINE_DETECTION"}, "false", "true: a mailbox that answers has told nobody, and the call is tried again"}, kind{form: form{Type: typeBoolean}}},
	{row{"pager.base_url", []string{"TWILIO_BASE_URL"}, pager.DefaultBaseURL, "of the calls API"}, kind{form: one}},
	{row{"pager.webhook_url", []string{"FARSIGHT_PAGER_WEBHOOK_URL"}, "", "address of a webhook that is told of alerts"}, kind{form: one, secret: true}},
	{row{"pager.webhook_secret", []string{"FARSIGHT_PAGER_WEBHOOK_SECRET"}, "", "key of its signature, at least 16 characters"}, kind{form: one, secret: true}},
	{row{"pager.discord_url", []string{"FARSIGHT_PAGER_DISCORD_URL"}, "", "a Discord webhook; who knows the address can post"}, kind{form: one, secret: true}},
	{row{"pager.pagerduty_key", []string{"FARSIGHT_PAGER_PAGERDUTY_KEY"}, "", "routing key of an Events API v2 integration"}, kind{form: one, secret: true}},
	{row{"pager.pagerduty_url", []string{"FARSIGHT_PAGER_PAGERDUTY_URL"}, pager.DefaultPagerDuty, "where its events go"}, kind{form: one}},
	{row{"pager.slack_url", []string{"FARSIGHT_PAGER_SLACK_URL"}, "", "a Slack incoming webhook; who knows the address can post"}, kind{form: one, secret: true}},
	{row{"pager.ntfy_url", []string{"FARSIGHT_PAGER_NTFY_URL"}, "", "a topic of ntfy, such as https://ntfy.sh/a-name-that-nobody-guesses"}, kind{form: one, secret: true}},
	{row{"pager.ntfy_token", []string{"FARSIGHT_PAGER_NTFY_TOKEN"}, "", "access token of that topic, where it is protected"}, kind{form: one, secret: true}},
	{row{"pager.telegram_token", []string{"FARSIGHT_PAGER_TELEGRAM_TOKEN"}, "", "of a Telegram bot"}, kind{form: one, secret: true}},
	{row{"pager.telegram_chat", []string{"FARSIGHT_PAGER_TELEGRAM_CHAT"}, "", "the chat that it writes to: its number, or @channel"}, kind{form: one}},
	{row{"pager.telegram_url", []string{"FARSIGHT_PAGER_TELEGRAM_URL"}, pager.DefaultTelegram, "of the bot API"}, kind{form: one}},
	{row{"pager.command", nil, "", `a program with its arguments, ["/usr/local/bin/notify", "oncall"]; no shell reads it`}, kind{form: many}},
	{row{"pager.command_timeout", nil, pager.DefaultCommandTimeout.String(), "how long it may take, 1s to 5m"}, kind{form: form{Type: typeString, Pattern: durationForm}}},
	{row{"webhooks.url", []string{"FARSIGHT_WEBHOOKS_URL"}, "", "address of a program that is told of events, or a list of them"}, kind{form: many, secret: true}},
	{row{"webhooks.secret", []string{"FARSIGHT_WEBHOOKS_SECRET"}, "", "key of the signatures, at least 16 characters"}, kind{form: one, secret: true}},
	{row{"webhooks.events", nil, strings.Join(pager.Events(), listSep), "which events"}, kind{form: many}},
	{row{"alerts.limits", nil, "", `limits of rules, ["queue-age=2h", "give-ups=50%", "disk-low=5GiB", "503=10"]`}, kind{form: many}},
	{row{"alerts.severity", nil, "", `severities of rules, ["backup=critical", "queue-age=warning", "429=off"]`}, kind{form: many}},
	{row{"alerts.route", nil, "", `who is told, by rule or severity, ["critical=call,slack", "warning=slack", "429="]; docs/pager.md`}, kind{form: many}},
}

// Bounds of calls_per_day: whoever needs more is no pager's user.
var leastPerDay, mostPerDay = 1, 1000

// How values are kept and shown.
const (
	// listSep parts the values of a list that is kept as one text.
	listSep    = "\x00"
	fileSuffix = "_file"
	Mask       = "****"
	minSecret  = 16 // characters of a key that signs
	maxSecret  = 4 << 10
)

// PagerTables are the tables of config.toml that are read here.
var PagerTables = []string{"pager", "webhooks", "alerts"}

// flattenTable adds a table's values under "table.name".
// The rest of the program reads settings by one name and one text each; lists keep their parts by
// listSep, which no value can have.
func flattenTable(out map[string]string, path, table string, values map[string]any) (faults Faults) {
	known := func(name string) bool {
		return slices.ContainsFunc(pagerSettings, func(s setting) bool {
			return s.name == name || s.secret && s.name+fileSuffix == name
		})
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := table + "." + key
		if !known(name) {
			faults = append(faults, fmt.Sprintf("%s: unknown setting %q in [%s]; `farsight config` lists them", path, key, table))
			continue
		}
		// One value is a list of one: to = "+49…" and to = ["+49…"] mean the same.
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

// pagerReader has the texts of [pager] and [webhooks] and makes of them who is told.
type pagerReader struct {
	*reader
	values map[string]string // by the names of settings
}

// paging reads [pager] and [webhooks].
func (c *Config) paging(of *reader) {
	r := &pagerReader{reader: of, values: map[string]string{}}
	marks := map[string][sha256.Size]byte{}
	open := map[string]bool{} // files with secrets
	for _, s := range pagerSettings {
		value, source := r.resolve(s)
		r.values[s.name] = value
		if v, ok := r.file[s.name]; ok && s.secret && source == v.source {
			open[v.path] = true
		}
		// What is shown of these is the same for many values; a reload must still notice another one.
		if (s.secret || s.number) && value != "" {
			marks[s.name] = sha256.Sum256([]byte(value))
		}
		c.Sources = append(c.Sources, s.from(s.show(value), source))
	}
	// Only files that hold a secret which is in force: one that the environment overrides may lie open.
	for _, path := range slices.Sorted(maps.Keys(open)) {
		r.mindMode(path)
	}
	c.Pager = Pager{Targets: pager.Targets{Call: r.call(), Channels: r.channels(), Hooks: r.hooks()}, marks: marks}
	c.Pager.Rules = r.rules()
	c.Pager.Routes = r.routes(c.Pager)
}

// rules reads limits and severities of alerts.
func (r *pagerReader) rules() []alert.Rule {
	rules, err := alert.Rules(valuesOf(r.values["alerts.limits"]), valuesOf(r.values["alerts.severity"]))
	if err != nil {
		r.fault("[alerts]", "%v", err)
	}
	return rules
}

// routes reads who is told of which alerts. Whoever is named must be there: somebody relies on being told.
func (r *pagerReader) routes(of Pager) map[string][]string {
	told := []string{}
	if of.Call != nil && len(of.Call.To) > 0 {
		told = append(told, pager.TryCall)
	}
	for _, c := range of.Channels {
		told = append(told, c.Name)
	}
	routes := map[string][]string{}
	for _, e := range valuesOf(r.values["alerts.route"]) {
		name, to, ok := strings.Cut(e, "=")
		name = strings.TrimSpace(name)
		severity := engine.Severity(name)
		if !ok || severity != engine.SeverityCritical && severity != engine.SeverityWarning &&
			!slices.ContainsFunc(of.Rules, func(a alert.Rule) bool { return a.Name == name }) {
			r.fault("alerts.route", "%q is about no rule and no severity: write critical=call,slack or 429=", e)
			continue
		}
		routes[name] = []string{}
		for _, who := range strings.FieldsFunc(to, func(c rune) bool { return c == ',' || c == ' ' }) {
			if !slices.Contains(told, who) {
				r.fault("alerts.route", "%q names %s, and [pager] says nothing of it: there are %s", e, who, strings.Join(told, ", "))
			}
			routes[name] = append(routes[name], who)
		}
	}
	return routes
}

// secretFile reads a file whose only content is a secret.
func secretFile(path string) (string, error) {
	text, err := regular.Secret(path, maxSecret)
	if err == nil && text == "" {
		err = fmt.Errorf("%s is empty", path)
	}
	return text, err
}

// mindMode refuses a config.toml with a secret in it that others can read.
func (r *reader) mindMode(path string) {
	// Only the mode is looked at: the file has been read already.
	info, err := os.Stat(path)
	if err == nil && regular.Others(info) != 0 {
		r.faults = append(r.faults, fmt.Sprintf("%s holds a secret and can be read by others (mode %04o): run chmod 600 %s, or put the secret into a file of its own", path, info.Mode().Perm(), path))
	}
}

// accountForm is made when it is first needed: most starts have no pager.
var accountForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^AC[0-9a-fA-F]{32}$`) })

// call reads who is called. Either everything for that is there, or nothing.
// What is half there is a fault and not "no calls": somebody relies on being woken.
func (r *pagerReader) call() *pager.CallOptions {
	to, allow := valuesOf(r.values["pager.to"]), valuesOf(r.values["pager.call_numbers"])
	perDay := r.perDay()
	var missing []string
	for _, name := range []string{"pager.account_sid", "pager.auth_token", "pager.from"} {
		if r.values[name] == "" {
			// By their names in the file: the environment's are in docs/pager.md.
			missing = append(missing, name)
		}
	}
	// Three settings and somebody to call belong together; none of the four is "no calls".
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
		Token: pager.NewSecret(r.values["pager.auth_token"]), From: r.values["pager.from"], To: to, Allow: allow, PerDay: perDay, MachineDetection: r.machines(),
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

// machines reads whether mailboxes are told from people.
func (r *pagerReader) machines() bool {
	on, err := strconv.ParseBool(r.values["pager.machine_detection"])
	if err != nil {
		r.fault("pager.machine_detection", "use true or false")
	}
	return on
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
	// A key that can be guessed signs nothing: whoever has one request could try keys against it.
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
	if v := r.values["pager.slack_url"]; r.address("pager.slack_url", v) {
		out = append(out, pager.Channel{Name: "slack", Form: pager.FormSlack, URL: pager.NewSecret(v)})
	}
	if v := r.values["pager.ntfy_url"]; r.address("pager.ntfy_url", v) {
		out = append(out, pager.Channel{Name: "ntfy", Form: pager.FormNtfy, URL: pager.NewSecret(v), Secret: pager.NewSecret(r.values["pager.ntfy_token"])})
	}
	if token, chat := r.values["pager.telegram_token"], r.values["pager.telegram_chat"]; token != "" || chat != "" {
		if token == "" || chat == "" || strings.ContainsAny(token, "/?# ") {
			r.fault("[pager]", "Telegram needs telegram_token, as @BotFather gave it, and telegram_chat")
		}
		r.address("pager.telegram_url", r.values["pager.telegram_url"])
		address := strings.TrimSuffix(r.values["pager.telegram_url"], "/") + "/bot" + token + "/sendMessage"
		out = append(out, pager.Channel{Name: "telegram", Form: pager.FormTelegram, URL: pager.NewSecret(address), Secret: pager.NewSecret(token), To: chat})
	}
	// The program is found by its whole path alone: the PATH of a service is not that of its user.
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
	// A program that takes longer holds up those who are told after it.
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
	// One key and one choice of events for all addresses: they are programs of one owner.
	secret, events := r.signer("webhooks.secret"), valuesOf(r.values["webhooks.events"])
	for _, e := range events {
		if !slices.Contains(pager.Events(), e) {
			r.fault("webhooks.events", "%q is not one of %s", e, strings.Join(pager.Events(), ", "))
		}
	}
	for _, u := range urls {
		r.address("webhooks.url", u)
		// The name goes into the store and the log; an address may hold a token.
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
