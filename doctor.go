package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/wall"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/ui/cli"
)

// gravity is how much a finding matters.
type gravity string

const (
	fine    gravity = "ok"
	warning gravity = "warning"
	fault   gravity = "fault"
)

// finding is one line of `farsight doctor`.
type finding struct {
	Name  string  `json:"check"`
	Level gravity `json:"level"`
	Text  string  `json:"text"`
	Do    string  `json:"do,omitempty"` // what to do about it
}

// diagnosis is what `farsight doctor --json` prints.
type diagnosis struct {
	Healthy  bool      `json:"healthy"` // no fault
	Faults   int       `json:"faults"`
	Warnings int       `json:"warnings"`
	Damaged  bool      `json:"damaged"` // the store is
	Version  string    `json:"version"`
	At       time.Time `json:"at"`
	Findings []finding `json:"checks"`
}

// doctorOptions are the flags of `farsight doctor`.
type doctorOptions struct {
	full    bool
	network bool
}

// doctor looks at an installation and changes nothing in it.
type doctor struct {
	opt     doctorOptions
	cfg     Config
	wrong   error // with the configuration
	keys    *keyring
	keyless error // why there is no keyring
	getenv  func(string) string
	width   int // of the terminal; 0 = there is none
	db      *storage.DB
	now     time.Time
	said    diagnosis
}

// doctorChecks are the checks in the order of their lines. One that depends on
// another says so when it cannot look.
var doctorChecks = []func(*doctor, context.Context){
	(*doctor).settings, (*doctor).key, (*doctor).directory, (*doctor).holder, (*doctor).store, (*doctor).disk,
	(*doctor).backups, (*doctor).clock, (*doctor).limits, (*doctor).schedules, (*doctor).terminal, (*doctor).network,
}

// examine runs every check.
func (d *doctor) examine(ctx context.Context) (diagnosis, error) {
	d.now = wall.Now()
	d.said = diagnosis{Version: version(), At: d.now.Truncate(time.Second)}
	for _, check := range doctorChecks {
		if ctx.Err() != nil {
			break
		}
		check(d, ctx)
	}
	d.said.Healthy = d.said.Faults == 0
	if d.db == nil {
		return d.said, context.Cause(ctx)
	}
	return d.said, errors.Join(context.Cause(ctx), d.db.Close())
}

func (d *doctor) say(level gravity, name, do, format string, args ...any) {
	text := riot.Redact(fmt.Sprintf(format, args...))
	d.said.Findings = append(d.said.Findings, finding{name, level, text, riot.Redact(do)})
	switch level {
	case fault:
		d.said.Faults++
	case warning:
		d.said.Warnings++
	}
}

// sayError splits what to do off the store's own sentences.
func (d *doctor) sayError(name, do string, err error) {
	if e, ok := errors.AsType[*storage.ErrUnusable](err); ok && e.Do != "" {
		short := *e
		short.Do, do = "", e.Do
		err = &short
	}
	d.said.Damaged = d.said.Damaged || damaged(err)
	d.say(fault, name, do, "%v", err)
}

// runDoctor prints a diagnosis and turns it into an exit code.
func runDoctor(ctx context.Context, d *doctor, out cli.Out) error {
	said, err := d.examine(ctx)
	if err != nil {
		return err
	}
	if err := printDiagnosis(said, out); err != nil {
		return err
	}
	switch {
	case said.Damaged:
		return &coded{code: exitIncomplete, quiet: true, err: errors.New("the store is damaged")}
	case said.Faults > 0:
		return &coded{code: exitFailed, quiet: true, err: fmt.Errorf("%d faults", said.Faults)}
	}
	return nil
}

// plural counts things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func printDiagnosis(said diagnosis, out cli.Out) error {
	if out.JSON {
		return cli.JSON(out, said)
	}
	clean := safe.Text
	if out.ASCII {
		clean = safe.ASCII
	}
	_, _ = fmt.Fprintf(out.W, "farsight %s\n", clean(said.Version))
	for _, f := range said.Findings {
		line := fmt.Sprintf("%-8s %-15s %s", f.Level, f.Name, clean(f.Text))
		if f.Do != "" {
			line += "\n" + strings.Repeat(" ", 24) + "-> " + clean(f.Do)
		}
		_, _ = fmt.Fprintln(out.W, line)
	}
	word := "all is well"
	if said.Faults+said.Warnings > 0 {
		word = plural(said.Faults, "fault") + ", " + plural(said.Warnings, "warning")
	}
	_, err := fmt.Fprintln(out.W, word)
	return err
}
