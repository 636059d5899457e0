package ui

import (
	"io"
	"os"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
)

// Options of a console.
type Options struct {
	Theme  string // --theme: auto, a name of themes.Names, or "" for FARSIGHT_THEME and then auto
	Usual  string // theme where neither that nor what was chosen last names one; "" = auto
	Glyphs string // --glyphs; "" for what the terminal can do

	ReadOnly bool // actions are refused with a reason
	// ReadOnlyWhy is that reason; "" = the user has asked for it.
	ReadOnlyWhy string

	Platform string // of accounts that are named without one; "" = it has to be said

	Demo     bool // the flag is always on the screen
	Embedded bool // the engine ends with this console: quitting asks while it works
	// CanDetach says that the engine can go on without this console, which owns it: Run
	// tells how it ended.
	CanDetach bool
	// Chaos breaks the simulated Riot of a demo; nil everywhere else.
	Chaos  Chaos
	SSH    bool // a network terminal: fewer frames, no suspend
	MaxFPS int  // most updates a second; 0 = 10, on SSH 4
	// A network terminal that takes nothing for StallAfter (0 = 30 s) loses its console,
	// and Stalled is the last thing written on it.
	StallAfter time.Duration
	Stalled    string

	// NoOwn says in a sentence why the user's own commands do not run here; "" = they do.
	NoOwn string
	// OwnEnv is what they get besides the environment of the console.
	OwnEnv []string

	// Mine is what the user has of their own; see LoadMine.
	Mine Mine

	// PlainEvery is how often a plain console says what has changed; 0 = 2 s.
	PlainEvery time.Duration

	Version string
	Zone    *time.Location // of instants on the screen; nil = local
	Start   page.Screen    // first screen, one of page.Tabs
	Only    string         // why there is no screen but the first, in a sentence; "" = all are there
	Actor   engine.Actor   // who asks; Via is "console" if empty

	// Getenv, Input and Output replace the process's own, for tests and for
	// sessions that are not on the process's terminal.
	Getenv func(string) string
	Input  io.Reader
	Output io.Writer
	// CanSuspend says whether a shell can let a stopped console go on; nil = as the
	// process groups tell.
	CanSuspend func() bool
	// Stack takes the stack of a panic in the console, so that it reaches the log.
	Stack func(message, stack string)
}

// Validate names what is wrong with the options, in one sentence.
func (o Options) Validate() error {
	_, err := themes.Choose(o.look(themes.TrueColor, themes.Unknown))
	return err
}

func (o Options) getenv(name string) string {
	if o.Getenv != nil {
		return o.Getenv(name)
	}
	return os.Getenv(name)
}

// look is what decides the theme.
func (o Options) look(p themes.Profile, g themes.Ground) themes.Options {
	return themes.Options{
		Flag: o.Theme, Env: o.getenv("FARSIGHT_THEME"), Glyphs: o.Glyphs, Profile: p, Ground: g,
		Getenv: o.getenv, NoColor: o.getenv("NO_COLOR"),
		Saved: or(o.Mine.kept.Theme, o.Usual), User: o.Mine.Themes,
	}
}

func (o Options) canSuspend() bool {
	if o.CanSuspend != nil {
		return o.CanSuspend()
	}
	return jobControl()
}

func (o Options) zone() *time.Location {
	if o.Zone != nil {
		return o.Zone
	}
	return time.Local
}

func (o Options) actor() engine.Actor {
	a := o.Actor
	if a.Via == "" {
		a.Via = "console"
	}
	return a
}
