package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/themes"
)

// settings names every fault of the configuration.
func (d *doctor) settings(context.Context) {
	if faults, ok := errors.AsType[Faults](d.wrong); ok {
		for _, f := range faults {
			d.say(fault, "configuration", "correct it; `farsight config` lists all settings", "%s", f)
		}
		return
	}
	if d.wrong != nil {
		d.say(fault, "configuration", "", "%v", d.wrong)
		return
	}
	changed := 0
	for _, s := range d.cfg.Sources {
		if s.Source != "default" {
			changed++
		}
	}
	d.say(fine, "configuration", "", "%d settings, %d of them not the default", len(d.cfg.Sources), changed)
}

// key tells about the key without showing it.
func (d *doctor) key(context.Context) {
	const name = "API key"
	if d.keyless != nil {
		d.say(fault, name, "see `farsight config`", "%v", d.keyless)
		return
	}
	key := d.keys.Get()
	if key.IsZero() {
		d.say(warning, name, fmt.Sprintf("set %s, or put it into %s with mode 0600", keyEnv, d.keys.path), "there is none: stored data can be browsed, nothing is fetched")
		return
	}
	if err := key.CheckForm(); err != nil {
		d.say(warning, name, "copy it again from https://developer.riotgames.com, unless another API than Riot's is meant", "the one from %s has another form than Riot's keys", d.keys.from())
		return
	}
	if _, err := riot.KeyFromFile(d.keys.path); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		d.say(warning, name, "mend or remove the file", "the one from %s has the right form, but the key file cannot be used: %v", d.keys.from(), err)
		return
	}
	d.say(fine, name, "", "present, from %s, of the right form", d.keys.from())
}

// directory looks at the data directory's mode, owner and file system.
func (d *doctor) directory(context.Context) {
	const name = "data directory"
	dir := d.cfg.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.say(fine, name, "", "%s is not there yet: the first sync makes it", dir)
		return
	case err != nil:
		d.say(fault, name, "check the path, its owner and its mode", "%v", err)
		return
	case !info.IsDir():
		d.say(fault, name, "name a directory with --data-dir", "%s is no directory", dir)
		return
	}
	kind, err := storage.NetworkFS(dir)
	mode := info.Mode().Perm()
	switch owner, known := ownerOf(info); {
	case err != nil:
		d.say(fault, name, "check the file system", "%v", err)
	case mode&0o022 != 0:
		d.say(fault, name, "chmod 700 "+dir, "others may write to %s (mode %04o)", dir, mode)
	case known && owner != os.Getuid():
		d.say(fault, name, "use it as its owner, or name another directory", "%s belongs to uid %d, and this is uid %d", dir, owner, os.Getuid())
	case kind != "" && !d.cfg.Force:
		d.say(fault, name, "use a local directory, or --force-network-fs true if only one host will ever use this one", "%s lies on a network file system (%s)", dir, kind)
	case kind != "":
		d.say(warning, name, "make sure that only one host uses it", "%s lies on a network file system (%s), as was forced", dir, kind)
	case mode&0o077 != 0:
		d.say(warning, name, "chmod 700 "+dir, "others may look into %s (mode %04o)", dir, mode)
	default:
		d.say(fine, name, "", "%s, mode %04o, yours, on a local file system", dir, mode)
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
	h, held, err := storage.HolderOf(d.cfg.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		d.say(fine, name, "", "nobody holds the directory")
	case err != nil:
		d.say(fault, name, "check its owner and mode", "%v", err)
	case !held:
		d.say(fine, name, "", "nobody holds the directory")
	case !h.Alive:
		d.say(fault, name, "a child of it may have kept the lock: end it, or restart this host", "held since %s by process %d, which has ended", h.Since.UTC().Format(time.RFC3339), h.PID)
	case !h.Here:
		d.say(warning, name, "use one host only", "held by process %d on another host, %s, since %s", h.PID, h.Host, h.Since.UTC().Format(time.RFC3339))
	default:
		d.say(fine, name, "", "held by process %d on this host since %s; it is alive", h.PID, h.Since.UTC().Format(time.RFC3339))
	}
}

// store opens it, which looks at both meta pages and samples it, and with --full
// has a child process read all of it.
func (d *doctor) store(ctx context.Context) {
	const name = "store"
	if !hasState(d.cfg.DataDir) {
		if _, err := os.Lstat(filepath.Join(d.cfg.DataDir, "state.db")); err == nil {
			d.said.Damaged = true
			d.say(fault, name, "put a backup back with `farsight restore`", "%s/state.db is no file", d.cfg.DataDir)
			return
		}
		d.say(fine, name, "", "nothing is stored yet")
		return
	}
	db, err := openStored(d.cfg)
	if _, held := errors.AsType[*storage.ErrHeld](err); held {
		d.say(fine, name, "stop the engine to have it looked at", "an engine works on it")
		return
	}
	if err != nil {
		d.sayError(name, "put a backup back with `farsight restore`", err)
		return
	}
	d.db = db
	f, err := db.Facts(ctx)
	if err != nil {
		d.sayError(name, "run `farsight check`", err)
		return
	}
	totals, err := db.Totals(ctx)
	if err != nil {
		d.sayError(name, "run `farsight check`", err)
		return
	}
	stop := "last closed in order " + since(f.Closed, d.now)
	if f.Closed.IsZero() {
		stop = "the last engine was not closed in order, which is safe"
	}
	d.say(fine, name, "", "schema %d, %d accounts, %d matches stored, %s", f.Schema, totals.Accounts, totals.Success, stop)
	if d.opt.full {
		d.full(ctx)
	}
}

// full is `farsight check` in a process of its own, which a damaged page may end.
func (d *doctor) full(ctx context.Context) {
	const name = "full check"
	report, err := checkInChild(ctx, d.cfg)
	switch {
	case err != nil && ctx.Err() == nil:
		d.sayError(name, "put a backup back with `farsight restore`", err)
	case err != nil:
	case !report.Sound:
		d.said.Damaged = true
		first := "it does not say more"
		if len(report.Findings) > 0 {
			f := report.Findings[0]
			first = fmt.Sprintf("the first: %s %s: %s", f.Table, f.Key, f.Why)
		}
		d.say(fault, name, "`farsight check` lists them; put a backup back with `farsight restore`", "damaged, %d findings; %s", len(report.Findings)+report.More, first)
	default:
		d.say(fine, name, "", "sound: %d payloads, %d bytes of them, %d that no match names", report.Payloads, report.Bytes, report.Orphans)
	}
}

// disk compares the free space with the floor, and says when it will be reached.
func (d *doctor) disk(ctx context.Context) {
	const name, more = "disk", "free some space, or move the data directory to a larger disk"
	free, err := storage.RoomIn(existing(d.cfg.DataDir))
	if err != nil {
		d.say(fault, name, "", "%v", err)
		return
	}
	text := space(int64(min(free, 1<<62))) + " free"
	var f storage.Forecast
	if d.db != nil {
		if f, err = d.db.Forecast(ctx); err != nil {
			d.say(warning, name, "", "%s; its growth cannot be told: %v", text, err)
			return
		}
		text += ", " + space(f.Used) + " in use"
	}
	if f.PerDay > 0 {
		text += fmt.Sprintf(", %s more a day", space(f.PerDay))
	}
	switch {
	case free < storage.RoomFloor:
		d.say(fault, name, more, "%s: below %s no job is started", text, mib(storage.RoomFloor))
	case f.Full.IsZero():
		d.say(fine, name, "", "%s", text)
	case f.Full.Sub(d.now) < 14*day:
		d.say(warning, name, more, "%s: full about %s", text, f.Full.UTC().Format(time.DateOnly))
	default:
		d.say(fine, name, "", "%s, full about %s", text, f.Full.UTC().Format(time.DateOnly))
	}
}

// space says how large something is; a disk counts in GiB.
func space(n int64) string {
	if n < 10<<30 {
		return mib(n)
	}
	return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
}

// existing is the nearest folder of a path that is there.
func existing(dir string) string {
	for {
		up := filepath.Dir(dir)
		if _, err := os.Stat(dir); err == nil || up == dir {
			return dir
		}
		dir = up
	}
}

// backups looks at the newest backup that can be used.
func (d *doctor) backups(context.Context) {
	const name = "backup"
	list, err := storage.Backups(storage.BackupsDir(d.cfg.DataDir))
	if err != nil {
		d.say(warning, name, "check the folder's owner and mode", "%v", err)
		return
	}
	unusable := ""
	for _, b := range list {
		if b.Problem != "" {
			unusable = fmt.Sprintf("; %s cannot be used: %s", b.Name, b.Problem)
			continue
		}
		age := d.now.Sub(b.Taken)
		if d.cfg.BackupEvery > 0 && age > 2*d.cfg.BackupEvery {
			d.say(warning, name, "`farsight backup` makes one; a running engine does by itself", "the newest is %s old%s", ageOf(age), unusable)
			return
		}
		d.say(fine, name, "", "the newest is %s old, of %d%s", ageOf(age), len(list), unusable)
		return
	}
	if !hasState(d.cfg.DataDir) {
		d.say(fine, name, "", "nothing to back up yet")
		return
	}
	d.say(warning, name, "`farsight backup` makes one", "there is none%s", unusable)
}

// clock compares what is stored with the clock: nothing can be from the future.
func (d *doctor) clock(ctx context.Context) {
	const name = "clock"
	_, offset := d.now.Local().Zone()
	text := fmt.Sprintf("%s, zone %s (UTC%+03d:%02d)", d.now.Format(time.RFC3339), hostZone(), offset/3600, max(offset, -offset)/60%60)
	newest, what := d.newestInstant(ctx)
	if ahead := newest.Sub(d.now); ahead > time.Minute {
		d.say(warning, name, "set the clock by a time server", "%s: the clock was put back, for %s is %s ahead of it", text, what, ageOf(ahead))
		return
	}
	d.say(fine, name, "", "%s", text)
}

// newestInstant is the latest that the store knows of.
func (d *doctor) newestInstant(ctx context.Context) (at time.Time, what string) {
	if d.db == nil {
		return at, ""
	}
	if f, err := d.db.Facts(ctx); err == nil {
		at, what = f.Opened, "the last start"
		if f.Closed.After(at) {
			at, what = f.Closed, "the last stop"
		}
	}
	if list, err := d.db.Audit(ctx, 1); err == nil && len(list) > 0 && list[0].At.After(at) {
		at, what = list[0].At, "the last command"
	}
	return at, what
}

// limits tells how old what is known of the rate limits is.
func (d *doctor) limits(ctx context.Context) {
	const name = "rate limits"
	if d.db == nil {
		d.say(fine, name, "", "not looked at")
		return
	}
	var st limit.State
	blob, err := d.db.LoadState(ctx, limiterState)
	if err != nil {
		d.sayError(name, "run `farsight check`", err)
		return
	}
	if blob == nil || json.Unmarshal(blob, &st) != nil || st.Stamp == 0 {
		d.say(fine, name, "", "none known yet: they are learnt from the headers of the first answers")
		return
	}
	known := 0
	for _, s := range st.Scopes {
		if s.Known {
			known++
		}
	}
	d.say(fine, name, "", "of %d hosts and methods, last saved %s", known, since(time.UnixMilli(st.Stamp), d.now))
}

// schedules tells what runs next by itself.
func (d *doctor) schedules(ctx context.Context) {
	const name = "schedules"
	if d.db == nil || d.wrong != nil {
		d.say(fine, name, "", "not looked at")
		return
	}
	a, err := browser(ctx, d.db, d.cfg).Find(ctx, engine.SchedulesQuery{})
	page, ok := a.(engine.SchedulesPage)
	if err != nil || !ok {
		d.say(warning, name, "", "they cannot be read: %v", err)
		return
	}
	var next engine.ScheduleRow
	paused := 0
	for _, s := range page.Schedules {
		switch {
		case s.Paused:
			paused++
		case len(s.Next) > 0 && (len(next.Next) == 0 || s.Next[0].Before(next.Next[0])):
			next = s
		}
	}
	text := fmt.Sprintf("%d, %d paused", len(page.Schedules), paused)
	if len(next.Next) > 0 {
		text += fmt.Sprintf("; next is %s at %s, while an engine runs", next.Name, next.Next[0].UTC().Format(time.RFC3339))
	}
	d.say(fine, name, "", "%s", text)
}

// profiles name how much colour a terminal shows.
var profiles = map[themes.Profile]string{themes.Mono: "no colour", themes.ANSI16: "16 colours", themes.ANSI256: "256 colours", themes.TrueColor: "full colour"}

// terminal tells what the console has to work with.
func (d *doctor) terminal(context.Context) {
	const name = "terminal"
	term := d.getenv("TERM")
	if d.width == 0 {
		d.say(fine, name, "", "output goes to none; TERM=%s", term)
		return
	}
	glyphs := "Unicode"
	if themes.DetectASCII(d.getenv) {
		glyphs = "ASCII only, by TERM or the locale"
	}
	text := fmt.Sprintf("TERM=%s, %s, %d columns, LANG=%s, %s", term, profiles[themes.DetectProfile(d.getenv, true)], d.width, d.getenv("LANG"), glyphs)
	switch {
	case term == "" || term == "dumb":
		d.say(warning, name, "set TERM to what the terminal is, such as xterm-256color", "%s: the console needs more", text)
	case d.width < 80:
		d.say(warning, name, "make it at least 80 columns wide", "%s: much is cut", text)
	default:
		d.say(fine, name, "", "%s", text)
	}
}

// since says how long ago an instant was.
func since(t, now time.Time) string {
	if t.After(now) {
		return "in the future"
	}
	return ageOf(now.Sub(t)) + " ago"
}
