package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/chaos"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/saved"
	"github.com/farsight-console/farsight/ui/session"
)

// model is the console: the one tea.Model of the program.
//
// Bubble Tea calls Update and View on one goroutine, so nothing here is locked. What takes time (a
// query, a command, a file) is a tea.Cmd on a goroutine of its own, whose answer comes back as a
// message; none of them touches the model.
type model struct {
	// What it works with: the engine, and what the program and the user have set.
	console engine.Console
	opt     Options
	keys    *keys.Map
	feed    *session.Feed
	ctx     context.Context // of commands and queries; ends with Run

	said   said // sentences with the keys in force
	theme  *themes.Theme
	ground themes.Ground
	asking bool // the terminal was asked for its background

	rows session.Rows

	// When things happened here that others are measured from.
	started time.Time
	pressed time.Time // the last key, or the answer to a command
	acts    int       // commands that were answered, and times that those of others counted
	others  others
	turned  bool // what keeps the engine's calls, with the last update

	route
	screenSize
	timeCursor

	watch  watch
	prompt *prompt
	over   *overlay // a dialog, the help or the messages
	toasts toasts
	undo   session.Undo // the last command that can be taken back
	why    why          // reason of the next command
	fills  page.Fills
	foot   page.Foot
	past   page.Past
	mouse  bool        // clicks and the wheel are taken
	rolls  int         // rows that the wheel has turned since it was last carried out
	laid   box         // where what lies over the page stands
	hits   part.Hits   // what can be clicked of the screen as it was last drawn
	picked string      // theme that was chosen here; "" = none
	kept   saved.State // what is remembered from one start to the next

	wake    time.Time // of the tick that is under way
	recheck time.Time // when lists are due to be read again

	ticks  bool // something on the screen changes each second
	frame  string
	cursor *tea.Cursor

	detached bool      // the operator left on purpose: the engine shall go on
	again    time.Time // when the lost engine is looked for next
	absent   string    // why there is none; "" = it has gone
}

// newModel makes a console on its first screen. It starts nothing: see Run.
func newModel(console engine.Console, opt Options) *model {
	m := &model{
		console: console, opt: opt, keys: opt.Mine.table(), feed: session.NewFeed(console, opt.Seat), ctx: context.Background(),
		route: newRoute(), said: said{},
	}
	m.rows.Data.Platform = opt.Platform
	// From here on counts the time for which a newcomer is greeted.
	m.started = m.now()
	// A start on a screen without a number would leave nothing below it to go back to.
	if _, ok := m.tabs[opt.Start]; ok {
		m.tab = opt.Start
	}
	m.restore(opt.Mine.kept)
	for _, fault := range opt.Mine.Faults {
		m.toasts.add(engine.Note{Level: engine.LevelWarn, Text: fault}, m.now())
	}
	m.asking = opt.asksGround()
	m.choose()
	return m
}

// choose makes the theme anew from what is known of the terminal.
func (m *model) choose() { m.theme = m.opt.themeOn(m.picked, m.ground) }

// themeOptions is what is known of the terminal and of what was asked for.
func (m *model) themeOptions() themes.Options { return m.opt.themeOptions(m.opt.profile(), m.ground) }

// groundWait is how long the first frame waits for the terminal to tell its background. Some never
// do, and a screen that is dark on dark is worse than one that comes a third of a second later.
const groundWait = 300 * time.Millisecond

// Messages of the app to itself: a moment has come at which something changes by itself, and the
// time to wait for the terminal's background is over.
type (
	tick      struct{}
	groundEnd struct{}
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	var cmds []tea.Cmd
	if m.asking {
		cmds = append(cmds, tea.RequestBackgroundColor, after(m.ctx, groundWait, groundEnd{}))
	}
	// Bubble Tea does not ask for synchronized output where SSH_TTY is set; its
	// answer is handled there all the same.
	if m.opt.Env("SSH_TTY") != "" && m.opt.Env("TERM") != "dumb" {
		cmds = append(cmds, tea.Raw(ansi.RequestModeSynchronizedOutput))
	}
	return tea.Batch(cmds...)
}

// Update implements tea.Model. Each message that changes something is followed by one frame, which
// View hands out as it was drawn: the two never tell of different instants.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	now := m.now()
	cmd, seen := m.handle(msg, now)
	if !seen {
		return m, cmd
	}
	if m.others.reread(now) {
		m.acts++
	}
	follow := m.follow(now)
	switch msg.(type) {
	case engine.Update, found: // what the engine foresees after a turn comes in one frame with it, if it comes at once
		if m.turned && follow != nil && m.others.fresh(now) {
			return m, tea.Batch(cmd, follow, m.schedule(now))
		}
	}
	m.turned = false
	m.draw(now)
	return m, tea.Batch(cmd, follow, m.schedule(now))
}

// now is the present in the zone of the screen.
func (m *model) now() time.Time { return time.Now().In(m.opt.Location()) }

// handle takes one message in. seen is false if it changes nothing that is shown: a message that is
// not seen costs no frame, which matters over a slow line.
func (m *model) handle(msg tea.Msg, now time.Time) (cmd tea.Cmd, seen bool) {
	switch msg := msg.(type) {
	case engine.Update:
		m.applyUpdate(msg, now)
		return m.follows(now), true
	case session.Lost:
		m.lose(msg, now)
	case tea.KeyPressMsg:
		m.press(now)
		return tea.Batch(m.key(tea.Key(msg), now), m.save()), true
	case tea.PasteMsg:
		return m.paste(msg.Content), true
	case tea.MouseClickMsg:
		m.press(now)
		return m.click(tea.Mouse(msg), now), true
	case tea.MouseWheelMsg:
		return m.wheel(tea.Mouse(msg), now)
	case rolled:
		return m.roll(now), true
	case answered:
		m.press(now)
		m.acts++
		m.answered(msg, now)
	case found:
		msg.by.Got(m.view(now), msg.query, msg.answer, msg.err)
		if m.frozen != nil && msg.by == asker(&m.past) {
			m.timeCursor.seen = m.past.UpTo(m.from)
		}
	case unsaved:
		m.toasts.add(engine.Note{Level: engine.LevelWarn, Text: msg.err.Error()}, now)
	case weighed:
		return m.askWeighed(msg, now), true
	case settled:
		return m.applySettled(msg), true
	case foreseen:
		msg.answer(m.prompt)
	case disturbed:
		m.tellDisturbed(msg, now)
	case written:
		m.toasts.add(msg.note(), now)
	case ownEnded:
		m.tellOwn(msg, now)
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	// A console without focus is sent one update a second, since nobody looks at it.
	case tea.FocusMsg:
		m.feed.Focus(true)
	case tea.BlurMsg:
		m.feed.Focus(false)
		return nil, false
	case tea.BackgroundColorMsg:
		m.answerGround(msg)
	case groundEnd:
		m.asking = false
	// The shell has written over the screen while the console was stopped.
	case tea.ResumeMsg:
		return tea.ClearScreen, true
	case tick:
		m.toasts.expire(now)
	default:
		return nil, false
	}
	return nil, true
}

// answerGround takes the terminal's background. An answer that came too late is as good: the screen
// is drawn anew in other colours.
func (m *model) answerGround(msg tea.BackgroundColorMsg) {
	if m.opt.Env("NO_COLOR") != "" {
		return
	}
	m.ground, m.asking = groundOf(msg), false
	m.choose()
}

// applyUpdate folds an update of the engine in. What this console has done itself is not told again: the
// answer to the command was on the message line.
func (m *model) applyUpdate(u engine.Update, now time.Time) {
	n, turned := m.rows.Apply(u, now)
	if m.turned = turned; turned {
		m.others.turn(now)
	}
	if m.rows.Data.Ready {
		m.past.See(&m.rows.Data, now)
	}
	if m.frozen != nil {
		m.changes += n
	}
	for _, note := range u.Notes {
		if note.By == m.opt.By() { // what was done here has been told
			continue
		}
		// The engine's own notes have nobody as their author.
		if note.By != (engine.Actor{}) {
			m.others.acted(now)
		}
		m.toasts.add(note, now)
	}
	// The lists on disk may have changed with it, and are read again once it has been calm.
	m.recheck = now.Add(reload)
}

// reload is how long after the last change lists that are read from disk are looked at again. It is
// a little more than page.ReloadEvery, which is how long the pages themselves wait: a frame that
// came earlier would ask for nothing.
const reload = 2100 * time.Millisecond

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.frame)
	v.AltScreen = true
	v.ReportFocus = true
	v.WindowTitle = m.windowTitle()
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.Cursor = m.cursor
	return v
}

// windowTitle is what the terminal's window is called. It changes with nothing but the demo, so
// that an idle console sends none.
func (m *model) windowTitle() string { return human.Either(m.demo(), "Farsight DEMO", "Farsight") }

// demo reports whether what is shown is a demo: this program's own, or that of an engine which the
// console is attached to.
func (m *model) demo() bool { return m.opt.Demo || m.rows.Data.Engine.Demo }

// data is what is shown: the present, or the frozen view.
func (m *model) data() *page.Data {
	if m.frozen != nil {
		return m.frozen
	}
	return &m.rows.Data
}

// hurry is how long after a key nothing is held back for the sake of calm. By its end the engine's
// answer to the key has come.
const hurry = 2 * time.Second

// press notes that the operator waits for something, see hurry.
func (m *model) press(now time.Time) {
	m.pressed = now
}

// view is what the page on top may look at.
func (m *model) view(now time.Time) *page.View {
	pressed := now.Sub(m.pressed) < hurry
	v := &page.View{
		Data: m.data(), Live: &m.rows.Data, Theme: m.theme, Now: now, Size: m.size, Tall: m.tall,
		W: m.w, H: m.bodyHeight(), Frozen: m.frozen != nil, Slow: m.opt.SSH, Pressed: pressed, Hurry: pressed || m.others.fresh(now), Acts: m.acts, Notes: m.toasts.all, Noted: m.toasts.n,
		Chaos: m.chaosState(), Keys: m.keyed, Foot: &m.foot, Past: &m.past,
	}
	if v.Frozen {
		v.Now, v.Past = m.since, &m.timeCursor.seen
	} else { // one reading of the limits for the row of the state, its sentence and the page
		d := m.rows.Data
		d.Limits, d.Engine.Pace = m.fills.Take(v)
		v.Data = &d
		v.Now = m.asOf(now)
	}
	if p, ok := m.page().(page.Evener); ok {
		d := *v.Data
		p.Even(&d)
		v.Data = &d
	}
	v.Theme = m.theme.In(m.mood(v))
	return v
}

// asOf is the instant of what is shown while the view is live. Without its engine no call runs on, and nothing comes nearer.
func (m *model) asOf(now time.Time) time.Time {
	if lost := m.rows.Data.Lost; !lost.IsZero() {
		return lost
	}
	return now
}

// mood is the token of the state that owns the screen; Run while the engine works.
func (m *model) mood(v *page.View) themes.Token {
	switch s := v.Engine.State; {
	case !v.Lost.IsZero():
		return themes.Off
	case s == "", s == engine.EngineOpening:
		return themes.Run
	default:
		return m.theme.State(string(s)).Token
	}
}

// schedule asks to be woken when something on the screen changes by itself: the minute, a
// countdown, a message that fades, a list that is due. An idle screen is woken once a minute. A
// tick that is under way and comes early enough is not asked for twice.
func (m *model) schedule(now time.Time) tea.Cmd {
	at := now.Truncate(time.Minute).Add(time.Minute)
	// Seconds are counted at their full ones, so that all of them change in one frame.
	if m.ticks {
		at = earlier(at, now.Truncate(time.Second).Add(time.Second))
	}
	at = earlier(at, m.toasts.next(now))
	if m.recheck.After(now) {
		at = earlier(at, m.recheck)
	}
	at = earlier(at, m.others.due)
	if m.wake.After(now) && !at.Before(m.wake) {
		return nil
	}
	m.wake = at
	return after(m.ctx, at.Sub(now), tick{})
}

// after sends msg when d has passed; nothing if ctx ends first, so that no timer
// outlives its program.
func after(ctx context.Context, d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !await.Pause(ctx, d) {
			return nil
		}
		return msg
	}
}

// lose notes that the engine has gone. What is shown stays and can be read. Lost keeps the first
// time: every later try to reach the engine tells of it again.
func (m *model) lose(msg session.Lost, now time.Time) {
	if m.rows.Data.Lost.IsZero() {
		m.rows.Data.Lost = now
	}
	m.again, m.absent = msg.Again, msg.Why
}

// follows notes how far the watched account has come. When its sync ends the terminal rings once:
// that is what somebody watches it for.
func (m *model) follows(now time.Time) tea.Cmd {
	row, ok := m.rows.Data.Account(m.watch.id)
	if !ok || !m.watch.follow(row, now) {
		return nil
	}
	m.toasts.add(engine.Note{Level: engine.LevelOK, Text: row.RiotID + ": the sync " + columns.SyncText(row)}, now)
	return tea.Raw("\a")
}

// stripHeight is how many rows the watched account takes of the body.
func (m *model) stripHeight() int { return human.Either(m.watch.id == "" || m.tiny(), 0, 1) }

// bodyHeight is how many rows are left for the page; 0 on a terminal that is lower than its frame.
func (m *model) bodyHeight() int { return max(m.h-m.chrome()-m.stripHeight(), 0) }

// keyed puts the keys in force into a sentence, as page.Keyed says.
func (m *model) keyed(text string) string {
	return m.said.keyed(m.keys, keys.On(m.page().Screen()), text)
}

// showMessage puts a sentence on the message line. That is all there is to do: it gives no command.
func (m *model) showMessage(text string) tea.Cmd {
	m.toasts.add(engine.Note{Level: engine.LevelInfo, Text: text}, m.now())
	return nil
}

// chaosState is what the panel draws from; nil on every other screen.
func (m *model) chaosState() *chaos.State {
	if m.opt.Chaos == nil || m.page().Screen() != page.ScreenChaos {
		return nil
	}
	s := m.opt.Chaos.State()
	return &s
}
