package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
)

// store opens it, which looks at both meta pages and samples it, and with --full
// has a child process read all of it.
// It is the first of the looks at what is stored: the ones below it do nothing where it left
// d.db nil, so that one fault is told once and not eight times.
func (d *doctor) store(ctx context.Context) {
	if d.Server == "" && !storage.HasState(d.Dir) {
		// A folder, a socket or a dangling link by that name: not "nothing stored yet", of which an
		// engine would make a new store.
		if _, err := os.Lstat(filepath.Join(d.Dir, "state.db")); err == nil {
			d.said.Damaged = true
			d.addLine(Fault, "put a backup back with `farsight restore`", "%s/state.db is no file", d.Dir)
			return
		}
		d.addLine(Fine, "", "nothing is stored yet")
		return
	}
	db, err := d.Open()
	// That an engine could open it says more than this look would.
	if _, held := errors.AsType[*storage.ErrHeld](err); held {
		d.addLine(Unseen, "stop the engine to have it looked at", "an engine works on it")
		return
	}
	if d.Server != "" && errors.Is(err, fs.ErrNotExist) {
		d.addLine(Fine, "", "nothing is stored in %s yet: the first engine makes it", d.Server)
		return
	}
	if err != nil {
		d.sayError(d.restore(), err)
		return
	}
	// From here on the other checks look, too; whoever called Examine has it closed.
	d.db = db
	f, err := db.Facts(ctx)
	if err != nil {
		d.sayError("run `farsight check`", err)
		return
	}
	totals, err := db.Totals(ctx)
	if err != nil {
		d.sayError("run `farsight check`", err)
		return
	}
	// After kill -9 nothing is lost, but somebody who has not killed it wants to know that it ended.
	stop := ", last closed in order " + since(f.Closed, d.now)
	switch {
	case d.Server != "":
		stop = "" // members come and go
	case f.Closed.IsZero():
		stop = ", the last engine was not closed in order, which is safe"
	}
	d.addLine(Fine, "", "schema %d, %d accounts, %d matches stored%s", f.Schema, totals.Accounts, totals.Success, stop)
	if d.Full {
		d.full(ctx)
	}
}

// members tells who works on a database, and what is wrong with each of them.
// Its sentences are those of the Members screen: see [columns.Led] and [columns.MemberNote].
func (d *doctor) members(ctx context.Context) {
	if d.db == nil || d.Server == "" {
		return
	}
	a, err := d.Browse(ctx, d.db).Find(ctx, engine.MembersQuery{})
	p, ok := a.(engine.MembersPage)
	if err != nil || !ok {
		d.sayError("", err)
		return
	}
	// A fleet that stands still, such as one without a key, is nobody's fault here: a warning.
	level := Fine
	if p.Stuck() != "" {
		level = Warning
	}
	d.addLine(level, "", "%s", columns.Led(&p))
	for i := range p.Members {
		m := &p.Members[i]
		if note := columns.MemberNote(m); note != "" {
			d.addLine(Warning, "docs/fleet.md says what each failure means", "%s on %s: %s", m.ID, m.Host, note)
		}
	}
}

// river tells how the tables stand by which members carry out what one leads them to.
// The facts come from storage/river by way of [Options], which keeps this package from needing
// River. Versions that differ are a warning and no fault: members of either version go on with
// what they know.
func (d *doctor) river(ctx context.Context) {
	if d.db == nil || d.Server == "" {
		return
	}
	f, err := d.River(ctx, d.db)
	switch {
	case err != nil:
		d.sayError("", err)
		return
	case f.Version == 0:
		d.addLine(Fine, "", "its tables are not there yet: the first member makes them")
		return
	case f.Version < f.Known:
		d.addLine(Warning, "start a member of this version: it brings them up to date", "its tables are of version %d, this program works with %d", f.Version, f.Known)
	// Somebody has run River's own migrations, or a newer Farsight works on the same schema.
	case f.Version > f.Known:
		d.addLine(Warning, "start the version of Farsight that the others have, and let River's own programs change no tables here", "its tables are of version %d, this program knows %d", f.Version, f.Known)
	default:
		d.addLine(Fine, "", "its tables are of version %d", f.Version)
	}
	// Nothing in this program pauses a queue of River's: somebody did it in River UI.
	for _, queue := range f.Paused {
		d.addLine(Warning, "let it go on where it was paused, as in River UI", "queue %s is paused: nothing in it is carried out", queue)
	}
	if f.Waiting > 0 {
		d.addLine(Warning, "start a member with the key that the others work with, without --no-work", "%s for over %s, and nobody takes them up", human.Counted(f.Waiting, "row waits", "rows wait"), human.Span(f.Late))
	}
	if f.Stuck > 0 {
		d.addLine(Warning, "they hold up no job: a member that runs lets River clear them", "%s under way for over %s", human.Counted(f.Stuck, "attempt is", "attempts are"), human.Span(f.Late))
	}
}

// restore is what to do about a store that cannot be used: of a database its error says it.
// A server's store comes back by the means of the server: `farsight restore` would refuse.
func (d *doctor) restore() string {
	if d.Server != "" {
		return ""
	}
	return "put a backup back with `farsight restore`"
}

// full is `farsight check` in a process of its own, which a damaged page may end.
func (d *doctor) full(ctx context.Context) {
	d.name = "full check"
	report, err := d.Check(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		d.sayError(d.restore(), err)
	case err != nil:
	case !report.Sound():
		d.said.Damaged = true
		// Of thousands of findings one shows what kind they are.
		first := "it does not say more"
		if len(report.Findings) > 0 {
			f := report.Findings[0]
			first = fmt.Sprintf("the first: %s %s: %s", f.Table, f.Key, f.Why)
		}
		d.addLine(Fault, strings.TrimSuffix("`farsight check` lists them; "+d.restore(), "; "), "damaged, %d findings; %s", len(report.Findings)+report.More, first)
	default:
		d.addLine(Fine, "", "sound: %d payloads, %d bytes of them, %d that no match names", report.Payloads, report.Bytes, report.Orphans)
	}
}

// disk compares the free space with the floor, and says when it will be reached.
func (d *doctor) disk(ctx context.Context) {
	const more = "free some space, or move the data directory to a larger disk"
	// Asked also where a database keeps everything: the log needs room here.
	free, err := storage.RoomIn(existing(d.Dir))
	if err != nil {
		d.addLine(Fault, "", "%v", err)
		return
	}
	// Some file systems tell more free bytes than fit in an int64.
	text := human.Bytes(int64(min(free, 1<<62))) + " free"
	if d.Server != "" {
		text += " for the log; what the server's disk has it tells nobody"
	}
	var f storage.Forecast
	if d.db != nil {
		if f, err = d.db.Forecast(ctx); err != nil {
			d.addLine(Warning, "", "%s; its growth cannot be told: %v", text, err)
			return
		}
		text += ", " + human.Bytes(f.Used) + " in use"
	}
	// Growth is known after a few days of work; before that nothing is foretold.
	if f.PerDay > 0 {
		text += fmt.Sprintf(", %s more a day", human.Bytes(f.PerDay))
	}
	switch {
	case free < storage.RoomFloor && d.Server == "":
		d.addLine(Fault, more, "%s: below %s no job is started", text, human.Bytes(storage.RoomFloor))
	case f.Full.IsZero():
		d.addLine(Fine, "", "%s", text)
	// Two weeks: long enough to order a disk, and short enough not to warn for months.
	case f.Full.Sub(d.now) < 14*24*time.Hour:
		d.addLine(Warning, more, "%s: full about %s", text, f.Full.UTC().Format(time.DateOnly))
	default:
		d.addLine(Fine, "", "%s, full about %s", text, f.Full.UTC().Format(time.DateOnly))
	}
}

// existing is the nearest folder of a path that is there.
// The directory itself may not be there before the first start; the disk it will be on is known.
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
	if d.Server != "" {
		d.addLine(Fine, "", "%s is copied by other means: `farsight backup` says how", d.Server)
		return
	}
	// Only the usual folder: of another one, as of `farsight backup --to`, nobody has told.
	list, err := keep.Backups(keep.BackupsDir(d.Dir))
	if err != nil {
		d.addLine(Warning, "check the folder's owner and mode", "%v", err)
		return
	}
	unusable := ""
	for _, b := range list {
		// A newer one that cannot be used is told in the same line, else "the newest is 8 days old"
		// would look like a schedule that has stopped.
		if b.Problem != "" {
			unusable = fmt.Sprintf("; %s cannot be used: %s", b.Name, b.Problem)
			continue
		}
		// By its name, which is the instant at which it was taken, and not by the file's time.
		age := d.now.Sub(b.Taken)
		// Twice, so that one that was missed while the engine was stopped does not warn.
		if d.BackupEvery > 0 && age > 2*d.BackupEvery {
			d.addLine(Warning, "`farsight backup` makes one; a running engine does by itself", "the newest is %s old%s", human.Age(age), unusable)
			return
		}
		d.addLine(Fine, "", "the newest is %s old, of %d%s", human.Age(age), len(list), unusable)
		return
	}
	if !storage.HasState(d.Dir) {
		d.addLine(Fine, "", "nothing to back up yet")
		return
	}
	d.addLine(Warning, "`farsight backup` makes one", "there is none%s", unusable)
}

// clock compares what is stored with the clock: nothing can be from the future.
func (d *doctor) clock(ctx context.Context) {
	// Seconds east of UTC; a zone of -03:30 has its minutes without a sign.
	_, offset := d.now.Local().Zone()
	text := fmt.Sprintf("%s, zone %s (UTC%+03d:%02d)", d.now.Format(time.RFC3339), d.Zone, offset/3600, max(offset, -offset)/60%60)
	newest, what := d.newestInstant(ctx)
	// A minute of grace: a time server may set a clock back by seconds at any time.
	if ahead := newest.Sub(d.now); ahead > time.Minute {
		d.addLine(Warning, "set the clock by a time server", "%s: the clock was put back, for %s is %s ahead of it", text, what, human.Age(ahead))
		return
	}
	d.addLine(Fine, "", "%s", text)
}

// newestInstant is the latest that the store knows of.
// It looks at the few instants that every store has; what cannot be read is left out, for other
// looks tell of it.
func (d *doctor) newestInstant(ctx context.Context) (at time.Time, what string) {
	if d.db == nil {
		return at, ""
	}
	// Facts of the store: when it was opened last, and when closed in order.
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
	if d.db == nil {
		d.addLine(Unseen, "", "the store is not open here")
		return
	}
	var st limit.State
	blob, err := d.db.LoadState(ctx, traffic.LimiterState)
	if err != nil {
		d.sayError("run `farsight check`", err)
		return
	}
	// What cannot be read is as good as nothing: the limiter begins without it, too, and takes its
	// windows for full.
	if blob == nil || json.Unmarshal(blob, &st) != nil || st.Stamp == 0 {
		d.addLine(Fine, "", "none known yet: they are learnt from the headers of the first answers")
		return
	}
	// Scopes that were only ever asked for have no limits yet.
	known := 0
	for _, s := range st.Scopes {
		if s.Known {
			known++
		}
	}
	d.addLine(Fine, "", "of %d hosts and methods, last saved %s", known, since(time.UnixMilli(st.Stamp), d.now))
}

// schedules tells what runs next by itself.
func (d *doctor) schedules(ctx context.Context) {
	// With faults in the settings their schedules are not known, and the fault is told elsewhere.
	if d.db == nil || len(d.Settings.Faults) > 0 {
		d.addLine(Unseen, "", "it takes an open store, and settings without a fault")
		return
	}
	a, err := d.Browse(ctx, d.db).Find(ctx, engine.SchedulesQuery{})
	page, ok := a.(engine.SchedulesPage)
	if err != nil || !ok {
		d.addLine(Warning, "", "they cannot be read: %v", err)
		return
	}
	// The first of all that will run; a paused one will not.
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
	// "7, 1 paused; next is latest at 2026-11-21T18:00:00Z, while an engine runs"
	text := fmt.Sprintf("%d, %d paused", len(page.Schedules), paused)
	// Nothing runs by itself without an engine, so the sentence says so.
	if len(next.Next) > 0 {
		text += fmt.Sprintf("; next is %s at %s, while an engine runs", next.Name, next.Next[0].UTC().Format(time.RFC3339))
	}
	d.addLine(Fine, "", "%s", text)
}

// since says how long ago an instant was.
// The clock may have been put back: see [doctor.clock].
func since(t, now time.Time) string {
	if t.After(now) {
		return "in the future"
	}
	return human.Age(now.Sub(t)) + " ago"
}
