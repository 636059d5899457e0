package ui

import (
	"cmp"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/terminal"
)

// Options of a console.
type Options struct {
	session.Seat

	// The look: what the operator asked for in this start, and what the configuration says.
	Theme string // --theme: auto, a name of themes.Names, or "" for FARSIGHT_THEME and then auto
	Usual string // theme where neither that nor what was chosen last names one; "" = auto

	// What the engine is to this console, and what becomes of it when the console is left.
	Demo     bool // the flag is always on the screen
	Embedded bool // the engine ends with this console: quitting asks while it works
	// Guest reports whether Embedded does not hold for now, because other consoles use the engine,
	// which goes on without this one. nil = it always holds.
	Guest func() bool
	// CanDetach says that the engine can go on without this console, which owns it: Run
	// tells how it ended.
	CanDetach bool
	// A network terminal that takes nothing for StallAfter (0 = 30 s) loses its console,
	// and Stalled is the last thing written on it.
	StallAfter time.Duration
	Stalled    string

	// NoOwn says in a sentence why the user's own commands do not run here; "" = they do.
	NoOwn string
	// OwnEnv is what they get besides the environment of the console.
	OwnEnv []string

	// KeyForm says in a sentence why a text that was typed is no API key, without repeating the
	// text. nil = any text may be one, and the engine decides.
	KeyForm func(text string) error

	// Mine is what the user has of their own; see LoadMine.
	Mine Mine

	// What is shown first, and of which version the help tells.
	Version string
	Start   page.Screen // first screen, one of page.Tabs
	Only    string      // why there is no screen but the first, in a sentence; "" = all are there

	// CanSuspend says whether a shell could let a stopped console go on; nil = that is found out
	// from the process groups.
	CanSuspend func() bool
	// Stack takes the stack of a panic in the console, so that it reaches the log.
	Stack func(message, stack string)
}

// Validate names what is wrong with the options, in one sentence.
func (o Options) Validate() error {
	_, err := themes.Choose(o.themeOptions(themes.TrueColor, themes.Unknown))
	return err
}

// themeOptions is what decides the theme.
func (o Options) themeOptions(p themes.Profile, g themes.Ground) themes.Options {
	return themes.Options{
		Flag: o.Theme, Env: o.Env("FARSIGHT_THEME"), Glyphs: o.Glyphs, Profile: p, Ground: g,
		Getenv: o.Env, NoColor: o.Env("NO_COLOR"),
		Saved: cmp.Or(o.Mine.kept.Theme, o.Usual), User: o.Mine.Themes,
	}
}

// profile is what colours the terminal has.
func (o Options) profile() themes.Profile { return themes.DetectProfile(o.Env, true) }

// asksGround reports whether the theme depends on the terminal's background.
func (o Options) asksGround() bool { return o.themeOptions(o.profile(), themes.Unknown).Asks() }

// groundOf is whether the terminal's background is dark or light.
func groundOf(msg tea.BackgroundColorMsg) themes.Ground {
	return human.Either(msg.IsDark(), themes.DarkGround, themes.LightGround)
}

// themeOn is the theme on a ground: that of a name that was picked, if one was. A name that was mistyped in
// the configuration is no reason to show nothing: Validate tells it.
func (o Options) themeOn(picked string, g themes.Ground) *themes.Theme {
	t := o.themeOptions(o.profile(), g)
	t.Flag = cmp.Or(picked, t.Flag)
	th, err := themes.Choose(t)
	if err != nil {
		return themes.NewMono(themes.Unicode)
	}
	return th
}

// canSuspend reports whether somebody could let the console go on once it is stopped.
func (o Options) canSuspend() bool {
	if o.CanSuspend != nil {
		return o.CanSuspend()
	}
	return terminal.JobControl()
}

// terminal is what the terminal has to know.
func (o Options) terminal() terminal.Options {
	return terminal.Options{
		Input: o.Input, Output: o.Output, Profile: o.profile(), SSH: o.SSH,
		StallAfter: o.StallAfter, Stalled: o.Stalled, Stack: o.Stack,
	}
}
