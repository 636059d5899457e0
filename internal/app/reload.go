package app

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/internal/sdnotify"
	"github.com/farsight-console/farsight/riot"
)

// reload reads the key and the configuration again and takes over what can be
// changed at run time; it says what needs a restart. What is wrong changes nothing.
func (d *daemon) reload() {
	d.say(sdnotify.Reloading()...)
	said, err := d.takeOver()
	level, text := engine.LevelInfo, "reload: "+strings.Join(said, "; ")
	if err != nil {
		level, text = engine.LevelErr, "reload: "+err.Error()+": nothing was changed"
	}
	d.tell(level, text)
	d.say("READY=1", "STATUS="+oneLine(riot.Redact(text)))
}

// oneLine is a text for systemd, to which a new line begins another message.
func oneLine(text string) string { return safe.Text(strings.ReplaceAll(text, "\n", " ")) }

// tell says it in the log, and to all who look.
func (d *daemon) tell(level engine.Level, text string) {
	n := engine.Note{At: time.Now(), Level: level, Text: riot.Redact(text)}
	d.tale.Note(logbook.AreaEngine, n)
	d.note(n)
}

// takeOver does the work of reload and says in words what it did.
func (d *daemon) takeOver() (said []string, err error) {
	next, err := d.load()
	if err != nil {
		return nil, err
	}
	// Everything is read and checked before anything is taken over: a fault in the last part must not
	// leave the first ones changed.
	access, err := next.Access()
	if err != nil {
		return nil, err
	}
	// Whom the pager tells is prepared now and taken over below, with all else.
	tellNow := func() {}
	if at := d.engine.Load(); at != nil {
		if tellNow, err = at.pager.Prepare(next.Pager.Targets); err != nil {
			return nil, err
		}
	}
	newToken, err := d.readToken()
	if err != nil {
		return nil, err
	}
	// The key is the first thing that changes, and after it nothing can fail any more.
	key, err := d.takeKey()
	if err != nil {
		return nil, err
	}
	if key != "" {
		said = append(said, key)
	}
	if newToken() {
		said = append(said, "the token for programs is another now: "+api.TokenName)
	}
	d.door.Set(access)
	tellNow()
	// Compared with what is in force, not with what the file said at the start: a second reload tells
	// only what the first did not.
	names := changes(*d.config.Load(), next)
	// What is taken over first, what needs a restart last.
	for _, use := range []reloadUse{usedAtOnce, ofTheNextCommand, needsRestart} {
		if len(names[use]) > 0 {
			said = append(said, strings.Join(names[use], ", ")+use.words())
		}
	}
	d.use(next)
	if len(said) == 0 {
		said = append(said, "nothing has changed")
	}
	return said, nil
}

// readToken reads the token for programs again, or makes one where it was deleted, and
// gives what takes it; changed is false when it is the same.
func (d *daemon) readToken() (take func() (changed bool), err error) {
	if d.gate == nil {
		return func() bool { return false }, nil
	}
	token, err := api.LoadToken(d.config.Load().DataDir)
	if err != nil {
		return nil, err
	}
	return func() bool { return d.gate.Set(token) }, nil
}

// takeKey says what became of the key; "" = it is what it was.
func (d *daemon) takeKey() (said string, err error) {
	changed, err := d.keys.Reload()
	switch {
	case err != nil:
		return "", err
	case changed:
		if at := d.engine.Load(); at != nil {
			at.limits.KeyChanged()
		}
		return "the key is now " + d.keys.Shown(), nil
	case d.keys.Shadows():
		return "the key in " + d.keys.Path() + " is another than that of " + keyring.Env + ", which goes first: restart without it to take that one", nil
	}
	return "", nil
}

// use puts the settings in force that can be changed at run time.
func (d *daemon) use(next config.Config) {
	d.logs.SetLevel(next.LogLevel)
	// A copy with the parts that can change: all others stay as they are in force, whatever the file
	// says now.
	cfg := *d.config.Load()
	cfg.LogLevel, cfg.Workers, cfg.Pager = next.LogLevel, next.Workers, next.Pager
	cfg.Sources = withReloaded(cfg.Sources, next.Sources)
	d.config.Store(&cfg)
}

// reloadUse is what a reload can do with a setting.
type reloadUse int

// What a reload can do. The zero value is the safe one: a setting that nobody has thought of.
const (
	needsRestart reloadUse = iota
	usedAtOnce
	ofTheNextCommand // the engine does not read it: consoles and commands do, when they start
	reloadUses
)

// words are what a reload says behind the names of such settings.
func (u reloadUse) words() string {
	return [reloadUses]string{" changed: restart to take over", " taken over", " changed: for consoles and commands that start from now on"}[u]
}

// reloadable are the settings that need no restart.
var reloadable = map[string]reloadUse{
	"viewers": usedAtOnce, "operators": usedAtOnce, "log_level": usedAtOnce, "worker_concurrency": usedAtOnce,
	"alerts.limits": needsRestart, "alerts.severity": needsRestart,
	"theme": ofTheNextCommand, "glyphs": ofTheNextCommand, "keep_running": ofTheNextCommand, "platform": ofTheNextCommand,
}

// useOf is what a reload does with a setting: whom the pager tells is read anew, too.
func useOf(name string) reloadUse {
	if use, known := reloadable[name]; known || !isPager(name) {
		return use
	}
	return usedAtOnce
}

// changes names the settings that differ, by what is done with them.
func changes(was, now config.Config) (names [reloadUses][]string) {
	values, secrets := map[string]string{}, was.Pager.Changed(now.Pager)
	for _, s := range was.Sources {
		values[s.Name] = s.Value
	}
	for _, s := range now.Sources {
		if values[s.Name] != s.Value || slices.Contains(secrets, s.Name) {
			// Secrets are shown as **** before and after, so whether one has changed its sum tells.
			use := useOf(s.Name)
			names[use] = append(names[use], s.Name)
		}
	}
	return names
}

// withReloaded are the settings as they are now in force.
func withReloaded(was, now []engine.Setting) []engine.Setting {
	out := slices.Clone(was)
	for _, s := range now {
		if i := slices.IndexFunc(out, func(o engine.Setting) bool { return o.Name == s.Name }); i >= 0 && useOf(s.Name) != needsRestart {
			out[i] = s
		}
	}
	return out
}
