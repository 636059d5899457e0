package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/themes"
)

// settings names every fault of the configuration.
func (d *doctor) settings(context.Context) {
	// Each names its setting and where the value is from.
	for _, f := range d.Settings.Faults {
		d.addLine(Fault, "correct it; `farsight config` lists all settings", "%s", f)
	}
	if len(d.Settings.Faults) == 0 {
		d.addLine(Fine, "", "%d settings, %d of them not the default", d.Settings.All, d.Settings.Changed)
	}
}

// engine tells what the engine says of itself. What is wrong with it is one line: its key is in it.
func (d *doctor) engine(context.Context) {
	if d.Engine == nil {
		if _, held, _ := storage.HolderOf(d.Dir); held { // its error is told by another check
			d.addLine(Unseen, "ask again in a moment", "whoever holds the directory does not answer yet")
			return
		}
		d.addLine(Fine, "", "none runs on the directory")
		return
	}
	if d.Engine.Err != nil {
		d.sayError("", d.Engine.Err)
		return
	}
	row := d.Engine.Row
	text := row.Cause()
	if row.Key != "" {
		text += fmt.Sprintf("; its key is %s from %s, since %s", row.Key, d.Engine.From, row.KeySince.UTC().Format(time.RFC3339))
	}
	text += "; it asks " + d.BaseURL
	switch {
	case row.State == engine.EngineLive, row.State == engine.EngineStopping, row.State == engine.EngineOpening:
		d.addLine(Fine, "", "%s", text)
	case row.State == engine.EngineNoKey && row.Key != "":
		d.addLine(Fault, "get a new key at https://developer.riotgames.com; `farsight key set` gives it to the engine", "%s", text)
	// As without an engine: what is stored can be browsed.
	case row.State == engine.EngineNoKey:
		d.addLine(Warning, "`farsight key set` gives it one, from https://developer.riotgames.com", "%s", text)
	// An operator may have asked for it.
	case row.State == engine.EngineHeld, row.State == engine.EnginePaused && !strings.HasPrefix(row.Why, engine.StoreShut):
		d.addLine(Warning, "`farsight queues` says what is paused, `farsight limits` what is held", "%s", text)
	default:
		d.addLine(Fault, "`farsight status` follows it, `farsight limits` says what is held", "%s", text)
	}
}

// key tells about the key without showing it.
func (d *doctor) key(context.Context) {
	if d.Engine != nil {
		if d.Engine.Err != nil {
			d.addLine(Unseen, "", "the engine does not say which one it uses")
		}
		return // its line names the one that counts
	}
	if d.Key.Err != nil {
		d.addLine(Fault, "see `farsight config`", "%v", d.Key.Err)
		return
	}
	// No fault: a directory can be browsed, and a demo be shown, without a key.
	if d.Key.missing() {
		d.addLine(Warning, fmt.Sprintf("set %s, or put it into %s with mode 0600", d.Key.Env, d.Key.File), "there is none: stored data can be browsed, nothing is fetched")
		return
	}
	// Riot's keys are RGAPI- and a UUID; another simulator or proxy may want something else.
	if err := d.Key.Keys.Get().CheckForm(); err != nil {
		d.addLine(Warning, "copy it again from https://developer.riotgames.com, unless another API than Riot's is meant", "the one from %s has another form than Riot's keys", d.Key.From)
		return
	}
	// A key file that cannot be used does no harm while the environment has a key. Once it has none,
	// nothing is fetched any more.
	if _, err := keyring.FromFile(d.Key.File); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		d.addLine(Warning, "mend or remove the file", "the one from %s has the right form, but the key file cannot be used: %v", d.Key.From, err)
		return
	}
	d.addLine(Fine, "", "present, from %s, of the right form", d.Key.From)
}

// directory looks at the data directory's mode, owner and file system.
func (d *doctor) directory(context.Context) {
	dir := d.Dir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.addLine(Fine, "", "%s is not there yet: the first sync makes it", dir)
		return
	case err != nil:
		d.addLine(Fault, "check the path, its owner and its mode", "%v", err)
		return
	case !info.IsDir():
		d.addLine(Fault, "name a directory with --data-dir", "%s is no directory", dir)
		return
	}
	// The gravest comes first: one line is told, and the others after it has been mended.
	kind, err := storage.NetworkFS(dir)
	mode := info.Mode().Perm()&0o700 | regular.Others(info)
	switch owner, _, known := regular.Owner(info); {
	case err != nil:
		d.addLine(Fault, "check the file system", "%v", err)
	// Who may write here can put another store in the place of ours.
	case mode&0o022 != 0:
		d.addLine(Fault, "chmod 700 "+dir, "others may write to %s (mode %04o)", dir, mode)
	case known && owner != os.Getuid():
		d.addLine(Fault, "use it as its owner, or name another directory", "%s belongs to uid %d, and this is uid %d", dir, owner, os.Getuid())
	case kind != "" && !d.Forced:
		d.addLine(Fault, "use a local directory, or --force-network-fs true if only one host will ever use this one", "%s lies on a network file system (%s)", dir, kind)
	case kind != "":
		d.addLine(Warning, "make sure that only one host uses it", "%s lies on a network file system (%s), as was forced", dir, kind)
	// Names of players are in it; nothing that is stored could be changed.
	case mode&0o077 != 0:
		d.addLine(Warning, "chmod 700 "+dir, "others may look into %s (mode %04o)", dir, mode)
	default:
		d.addLine(Fine, "", "%s, mode %04o, yours, on a local file system", dir, mode)
	}
}

// holder tells who has the directory.
func (d *doctor) holder(context.Context) {
	if d.Server != "" {
		return // the database tells who works on it
	}
	h, held, err := storage.HolderOf(d.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && !held:
		d.addLine(Fine, "", "nobody holds the directory")
	case err != nil:
		d.addLine(Fault, "check its owner and mode", "%v", err)
	// A lock outlives its process when a child has inherited the open file.
	case !h.Alive:
		d.addLine(Fault, "a child of it may have kept the lock: end it, or restart this host", "held since %s by process %d, which has ended", h.Since.UTC().Format(time.RFC3339), h.PID)
	// A lock on a shared file system may not hold between hosts.
	case !h.Here:
		d.addLine(Warning, "use one host only", "held by process %d on another host, %s, since %s", h.PID, h.Host, h.Since.UTC().Format(time.RFC3339))
	default:
		d.addLine(Fine, "", "held by process %d on this host since %s; it is alive", h.PID, h.Since.UTC().Format(time.RFC3339))
	}
}

// profiles name how much colour a terminal shows.
var profiles = map[themes.Profile]string{themes.Mono: "no colour", themes.ANSI16: "16 colours", themes.ANSI256: "256 colours", themes.TrueColor: "full colour"}

// terminal tells what the console has to work with.
func (d *doctor) terminal(context.Context) {
	term := d.Getenv("TERM")
	if d.Width == 0 {
		d.addLine(Fine, "", "output goes to none; TERM=%s", term)
		return
	}
	// What the console would choose with glyphs = "auto".
	glyphs := "Unicode"
	if themes.DetectASCII(d.Getenv) {
		glyphs = "ASCII only, by TERM or the locale"
	}
	text := fmt.Sprintf("TERM=%s, %s, %d columns, LANG=%s, %s", term, profiles[themes.DetectProfile(d.Getenv, true)], d.Width, d.Getenv("LANG"), glyphs)
	switch {
	// Such a terminal gets lines instead of screens, which may not be what somebody wants.
	case term == "" || term == "dumb":
		d.addLine(Warning, "set TERM to what the terminal is, such as xterm-256color", "%s: the console needs more", text)
	case themes.NotUTF8(d.Getenv) != "":
		d.addLine(Warning, "export LANG=C.UTF-8 (and unset LC_ALL)", "%s: the locale %s is not UTF-8, so names in other scripts are written in Latin letters",
			text, themes.NotUTF8(d.Getenv))
	case d.Width < 80:
		d.addLine(Warning, "make it at least 80 columns wide", "%s: much is cut", text)
	default:
		d.addLine(Fine, "", "%s", text)
	}
}
