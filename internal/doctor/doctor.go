// Package doctor looks for what is wrong with an installation, and changes nothing
// in it: configuration, key, data directory, store, disk, clock, schedules, terminal
// and network, one check each. What a check needs and does not find by itself, the
// program gives in Options.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage"
)

// Gravity is how much a finding matters.
type Gravity string

// The gravities of findings.
const (
	Fine    Gravity = "ok"
	Unseen  Gravity = "not looked at"
	Warning Gravity = "warning"
	Fault   Gravity = "fault"
)

// Finding is one line of a diagnosis.
type Finding struct {
	Name  string  `json:"check"`
	Level Gravity `json:"level"`
	Text  string  `json:"text"`
	Do    string  `json:"do,omitempty"` // what to do about it
}

// Diagnosis is what all checks found.
type Diagnosis struct {
	Healthy  bool      `json:"healthy"` // no fault
	Faults   int       `json:"faults"`
	Warnings int       `json:"warnings"`
	Unseen   int       `json:"not_looked_at"` // checks that were not made
	Damaged  bool      `json:"damaged"`       // the store is
	Version  string    `json:"version"`
	At       time.Time `json:"at"`
	Findings []Finding `json:"checks"`
}

// Options say what is looked at, and how far.
type Options struct {
	Version string // of the program
	Full    bool   // read all of the store, which may take minutes
	Network bool   // connect to Riot, and make one call if there is a key

	Settings Settings
	Key      Key
	Engine   *Engine // that runs on the directory; nil = none does

	Dir         string // the data directory
	Server      string // the database that keeps everything, by name; "" = the data directory does
	Forced      bool   // it may lie on a network file system
	BackupEvery time.Duration
	BaseURL     string        // of Riot's API; may hold {routing}
	Timeout     time.Duration // of a call
	Zone        *time.Location

	Getenv func(string) string
	Width  int // of the terminal, in columns; 0 = there is none

	// Open opens the store for reading, Browse shows what an opened one holds, Check
	// reads all of it, in a process of its own that a damaged page may end.
	Open   func() (Store, error)
	Browse func(context.Context, Store) engine.Console
	Check  func(context.Context) (storage.CheckReport, error)
	River  func(context.Context, Store) (River, error) // of a database
}

// Store is what is looked at of an open store.
type Store interface {
	Facts(ctx context.Context) (storage.Facts, error)
	Totals(ctx context.Context) (engine.Totals, error)
	Forecast(ctx context.Context) (storage.Forecast, error)
	Audit(ctx context.Context, n int) ([]engine.AuditEntry, error)
	LoadState(ctx context.Context, name string) ([]byte, error)
	Close() error
}

// Engine is an engine that was asked. What it says goes before what this process has been told.
type Engine struct {
	Row  engine.EngineRow
	From string // where its key comes from, in words
	// Err says why it has told nothing: it stands still, or belongs to another store.
	Err error
}

// River is how the tables of River stand in a database.
type River struct {
	Version, Known int      // of the tables, 0 = there are none; and the latest that this program knows
	Paused         []string // queues
	Waiting        int      // rows that nobody has taken up for Late
	Stuck          int      // attempts that are under way for longer
	Late           time.Duration
}

// Settings are what is known of the configuration.
type Settings struct {
	All, Changed int      // how many there are, and how many are not the default
	Faults       []string // all that is wrong with them
}

// Key is where the API key comes from. It is never shown.
type Key struct {
	Keys *riot.Keys // nil with Err
	From string     // where the one in use comes from, in words
	File string     // the key file, which need not be there
	Env  string     // the environment variable that may hold it
	Err  error      // why no key can be read; nil also when there is simply none
}

// missing reports whether there is no key to make calls with.
func (k Key) missing() bool { return k.Err != nil || k.Keys.Get().IsZero() }

// doctor is one examination under way.
type doctor struct {
	Options
	db   Store // nil while it could not be opened
	now  time.Time
	name string // of the check that looks: its lines begin with it
	said Diagnosis
}

// checks are in the order of their lines. One that depends on another says so when it
// cannot look.
var checks = []struct {
	name string // of its lines
	look func(*doctor, context.Context)
}{
	{"configuration", (*doctor).settings},
	{"engine", (*doctor).engine},
	{"API key", (*doctor).key},
	{"data directory", (*doctor).directory},
	{"lock", (*doctor).holder},
	{"store", (*doctor).store},
	{"members", (*doctor).members},
	{"River", (*doctor).river},
	{"disk", (*doctor).disk},
	{"backup", (*doctor).backups},
	{"clock", (*doctor).clock},
	{"rate limits", (*doctor).limits},
	{"schedules", (*doctor).schedules},
	{"terminal", (*doctor).terminal},
	{"network", (*doctor).network},
}

// Examine runs every check. What is wrong is in the diagnosis; the error is the
// context's, or that of closing the store.
func Examine(ctx context.Context, o Options) (Diagnosis, error) {
	d := &doctor{Options: o, now: wall.Now()}
	d.said = Diagnosis{Version: o.Version, At: d.now.Truncate(time.Second)}
	for _, check := range checks {
		// What was found until an interruption is not told: half a diagnosis looks like a whole one.
		if ctx.Err() != nil {
			break
		}
		d.name = check.name
		check.look(d, ctx)
	}
	d.said.Healthy = d.said.Faults == 0
	// The first check that opens the store leaves it open for those that follow.
	if d.db == nil {
		return d.said, context.Cause(ctx)
	}
	return d.said, errors.Join(context.Cause(ctx), d.db.Close())
}

// addLine adds a line. The key is cut out of it, wherever an error has taken it from.
func (d *doctor) addLine(level Gravity, do, format string, args ...any) {
	text := riot.Redact(fmt.Sprintf(format, args...))
	d.said.Findings = append(d.said.Findings, Finding{d.name, level, text, riot.Redact(do)})
	switch level {
	case Fault:
		d.said.Faults++
	case Warning:
		d.said.Warnings++
	case Unseen:
		d.said.Unseen++
	}
}

// sayError splits what to do off the store's own sentences.
func (d *doctor) sayError(do string, err error) {
	// A copy: the error may be told elsewhere, too, with what to do.
	if e, ok := errors.AsType[*storage.ErrUnusable](err); ok && e.Do != "" {
		short := *e
		err, short.Do, do = &short, "", e.Do
	}
	if e, ok := errors.AsType[*storage.ErrHeld](err); ok && e.Do != "" {
		short := *e
		err, short.Do, do = &short, "", e.Do
	}
	d.said.Damaged = d.said.Damaged || storage.Refused(err)
	d.addLine(Fault, do, "%v", err)
}

// Print writes a diagnosis for people, one line for each finding; clean makes text
// fit for the terminal it goes to.
func (d Diagnosis) Print(w io.Writer, clean func(string) string) error {
	_, _ = fmt.Fprintf(w, "farsight %s\n", clean(d.Version))
	for _, f := range d.Findings {
		// "warning        backup          there is none", and below it what to do.
		line := fmt.Sprintf("%-13s %-15s %s", f.Level, f.Name, clean(f.Text))
		if f.Do != "" {
			line += "\n" + strings.Repeat(" ", 29) + "-> " + clean(f.Do)
		}
		_, _ = fmt.Fprintln(w, line)
	}
	word := "all is well"
	if d.Faults+d.Warnings > 0 {
		word = human.Counted(d.Faults, "fault", "faults") + ", " + human.Counted(d.Warnings, "warning", "warnings")
	}
	// What nobody has looked at is not well.
	if d.Unseen > 0 {
		word = strings.Replace(word, "all is well", "nothing wrong was found", 1) + ", " +
			human.Counted(d.Unseen, "check", "checks") + " not made"
	}
	_, err := fmt.Fprintln(w, word)
	return err
}
