package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/themes"
)

// settings names every fault of the configuration.
func (d *doctor) settings(context.Context) {
	const name = "configuration"
	for _, f := range d.Settings.Faults {
		d.say(Fault, name, "correct it; `farsight config` lists all settings", "%s", f)
	}
	if len(d.Settings.Faults) == 0 {
		d.say(Fine, name, "", "%d settings, %d of them not the default", d.Settings.All, d.Settings.Changed)
	}
}

// key tells about the key without showing it.
func (d *doctor) key(context.Context) {
	const name = "API key"
	if d.Key.Err != nil {
		d.say(Fault, name, "see `farsight config`", "%v", d.Key.Err)
		return
	}
	if d.Key.missing() {
		d.say(Warning, name, fmt.Sprintf("set %s, or put it into %s with mode 0600", d.Key.Env, d.Key.File), "there is none: stored data can be browsed, nothing is fetched")
		return
	}
	if err := d.Key.Keys.Get().CheckForm(); err != nil {
		d.say(Warning, name, "copy it again from https://developer.riotgames.com, unless another API than Riot's is meant", "the one from %s has another form than Riot's keys", d.Key.From)
		return
	}
	if _, err := keyring.FromFile(d.Key.File); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		d.say(Warning, name, "mend or remove the file", "the one from %s has the right form, but the key file cannot be used: %v", d.Key.From, err)
		return
	}
	d.say(Fine, name, "", "present, from %s, of the right form", d.Key.From)
}

// directory looks at the data directory's mode, owner and file system.
func (d *doctor) directory(context.Context) {
	const name = "data directory"
	dir := d.Dir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.say(Fine, name, "", "%s is not there yet: the first sync makes it", dir)
		return
	case err != nil:
		d.say(Fault, name, "check the path, its owner and its mode", "%v", err)
		return
	case !info.IsDir():
		d.say(Fault, name, "name a directory with --data-dir", "%s is no directory", dir)
		return
	}
	kind, err := storage.NetworkFS(dir)
	mode := info.Mode().Perm()
	switch owner, known := ownerOf(info); {
	case err != nil:
		d.say(Fault, name, "check the file system", "%v", err)
	case mode&0o022 != 0:
		d.say(Fault, name, "chmod 700 "+dir, "others may write to %s (mode %04o)", dir, mode)
	case known && owner != os.Getuid():
		d.say(Fault, name, "use it as its owner, or name another directory", "%s belongs to uid %d, and this is uid %d", dir, owner, os.Getuid())
	case kind != "" && !d.Forced:
		d.say(Fault, name, "use a local directory, or --force-network-fs true if only one host will ever use this one", "%s lies on a network file system (%s)", dir, kind)
	case kind != "":
		d.say(Warning, name, "make sure that only one host uses it", "%s lies on a network file system (%s), as was forced", dir, kind)
	case mode&0o077 != 0:
		d.say(Warning, name, "chmod 700 "+dir, "others may look into %s (mode %04o)", dir, mode)
	default:
		d.say(Fine, name, "", "%s, mode %04o, yours, on a local file system", dir, mode)
	}
}

func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// holder tells who has the directory.
func (d *doctor) holder(context.Context) {
	const name = "lock"
	if d.Server != "" {
		return // the database tells who works on it
	}
	h, held, err := storage.HolderOf(d.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		d.say(Fine, name, "", "nobody holds the directory")
	case err != nil:
		d.say(Fault, name, "check its owner and mode", "%v", err)
	case !held:
		d.say(Fine, name, "", "nobody holds the directory")
	case !h.Alive:
		d.say(Fault, name, "a child of it may have kept the lock: end it, or restart this host", "held since %s by process %d, which has ended", h.Since.UTC().Format(time.RFC3339), h.PID)
	case !h.Here:
		d.say(Warning, name, "use one host only", "held by process %d on another host, %s, since %s", h.PID, h.Host, h.Since.UTC().Format(time.RFC3339))
	default:
		d.say(Fine, name, "", "held by process %d on this host since %s; it is alive", h.PID, h.Since.UTC().Format(time.RFC3339))
	}
}

// profiles name how much colour a terminal shows.
var profiles = map[themes.Profile]string{themes.Mono: "no colour", themes.ANSI16: "16 colours", themes.ANSI256: "256 colours", themes.TrueColor: "full colour"}

// terminal tells what the console has to work with.
func (d *doctor) terminal(context.Context) {
	const name = "terminal"
	term := d.Getenv("TERM")
	if d.Width == 0 {
		d.say(Fine, name, "", "output goes to none; TERM=%s", term)
		return
	}
	glyphs := "Unicode"
	if themes.DetectASCII(d.Getenv) {
		glyphs = "ASCII only, by TERM or the locale"
	}
	text := fmt.Sprintf("TERM=%s, %s, %d columns, LANG=%s, %s", term, profiles[themes.DetectProfile(d.Getenv, true)], d.Width, d.Getenv("LANG"), glyphs)
	switch {
	case term == "" || term == "dumb":
		d.say(Warning, name, "set TERM to what the terminal is, such as xterm-256color", "%s: the console needs more", text)
	case d.Width < 80:
		d.say(Warning, name, "make it at least 80 columns wide", "%s: much is cut", text)
	default:
		d.say(Fine, name, "", "%s", text)
	}
}
