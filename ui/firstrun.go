package ui

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/terminal"
)

// Choice is what the operator wants when there is no key.
type Choice uint8

// Choices of the first run.
const (
	ChooseQuit Choice = iota
	ChooseKey
	ChooseDemo
	ChooseBrowse
)

// FirstRun is what the first screen tells. Its sentences come from the program, which knows what
// the environment and the files hold; this package only lays them out.
type FirstRun struct {
	DataDir string
	Stored  int    // matches in the data directory
	Bare    string // why there is nothing to browse in it, one sentence; "" = there is
	KeyFrom string // where a key was looked for: "RIOT_API_KEY and config.toml"
	KeyTo   string // where a pasted key goes: "kept in memory until Farsight ends"
	// Try makes one call with a key and says what it learnt; nil = not tried. Its
	// error is one sentence and never holds the key.
	Try func(ctx context.Context, key string) (learnt string, err error)
}

// AskFirst shows the three choices of a start without a key. key is set with
// ChooseKey only.
//
// The key is given back and kept nowhere: it is shown masked while it is typed, and the model that
// held it ends with this call. A terminal that hangs up is an answer too: ChooseQuit.
func AskFirst(ctx context.Context, first FirstRun, opt Options) (choice Choice, key string, err error) {
	if err := opt.Validate(); err != nil {
		return ChooseQuit, "", err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := newWelcome(ctx, first, opt)
	// Nobody is there any more to choose anything.
	if err = terminal.Run(ctx, m, opt.terminal(), nil); errors.Is(err, terminal.ErrHungUp) {
		err = nil
	}
	return m.choice, m.key, err
}

// offer is one of the choices.
type offer struct {
	choice Choice
	name   string
	about  string
}

// welcome is the model of the first screen.
//
// It is in one of three states: choosing (prompt is nil), typing the key (prompt is set), or
// waiting for the answer to the test call (trying).
type welcome struct {
	ctx    context.Context
	first  FirstRun
	opt    Options
	theme  *themes.Theme
	asking bool // whether the terminal's ground is dark has been asked, and not yet answered
	w, h   int
	offers []offer
	at     int

	prompt *part.Prompt
	trying bool
	wrong  string // one sentence: what is wrong with what was typed or chosen
	learnt string

	choice Choice
	key    string
}

// tried is the answer to the test call.
type tried struct {
	learnt string
	err    error
}

// newWelcome makes the model, with the cursor on the key: who has one wants to paste it.
func newWelcome(ctx context.Context, first FirstRun, opt Options) *welcome {
	// How much is stored is not always known before the store is opened.
	browse := "look at " + first.DataDir
	switch {
	case first.Bare != "":
		browse = "nothing is stored in " + first.DataDir + " yet"
	case first.Stored > 0:
		browse = human.Count(int64(first.Stored)) + " matches stored in " + first.DataDir
	}
	m := &welcome{ctx: ctx, first: first, opt: opt, offers: []offer{
		{ChooseKey, "paste an API key", "from developer.riotgames.com; " + first.KeyTo},
		{ChooseDemo, "demo", "a simulated Riot API: no key, no network, nothing is kept"},
		{ChooseBrowse, "browse stored data", browse},
	}}
	m.asking = opt.asksGround()
	m.theme = opt.themeOn("", themes.Unknown)
	return m
}

// Init implements tea.Model.
func (m *welcome) Init() tea.Cmd {
	if !m.asking {
		return nil
	}
	return tea.Batch(tea.RequestBackgroundColor, after(m.ctx, groundWait, groundEnd{}))
}

// Update implements tea.Model.
func (m *welcome) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.asking = false
		// Without colour the ground does not matter.
		if m.opt.Env("NO_COLOR") == "" {
			m.theme = m.opt.themeOn("", groundOf(msg))
		}
	case groundEnd:
		m.asking = false
	case tea.PasteMsg:
		// A paste while the key is being tried would change what is shown and not what is tried.
		if m.prompt != nil && !m.trying && m.learnt == "" {
			m.prompt.Insert(msg.Content)
			m.wrong = ""
		}
	case tried:
		m.tried(msg)
	case tea.KeyPressMsg:
		return m, m.press(tea.Key(msg))
	}
	return m, nil
}

// press takes a key while a choice is to be made. Its keys are fixed: on the first
// day nobody has bound any, and there is no help to look them up in.
func (m *welcome) press(k tea.Key) tea.Cmd {
	if m.prompt != nil {
		return m.typeKey(k)
	}
	m.wrong = ""
	switch name := k.String(); name {
	case "1", "2", "3":
		m.at = int(name[0] - '1')
		return m.choose()
	case "j", "down", "tab":
		m.at = (m.at + 1) % len(m.offers)
	case "k", "up", "shift+tab":
		m.at = (m.at + len(m.offers) - 1) % len(m.offers)
	case "enter":
		return m.choose()
	case "q", "esc", "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		// Over a network there may be no shell to go back to.
		if !m.opt.SSH {
			return terminal.Suspend
		}
	}
	return nil
}

// choose takes the choice under the cursor.
func (m *welcome) choose() tea.Cmd {
	if m.offers[m.at].choice == ChooseKey {
		m.prompt = &part.Prompt{Label: "API key", Ghost: "paste it here", Mask: true}
		return nil
	}
	if m.offers[m.at].choice == ChooseBrowse && m.first.Bare != "" {
		m.wrong = m.first.Bare
		return nil
	}
	m.choice = m.offers[m.at].choice
	return tea.Quit
}

// typeKey types into the key's prompt.
func (m *welcome) typeKey(k tea.Key) tea.Cmd {
	switch name := k.String(); {
	case name == "ctrl+c":
		return tea.Quit
	case m.trying:
	case name == "esc":
		m.prompt, m.wrong, m.learnt = nil, "", ""
	case name == "enter":
		return m.check()
	case m.learnt != "": // what was learnt is of the key as it stands
	case k.Text != "":
		m.prompt.Insert(k.Text)
		m.wrong = ""
	default:
		m.prompt.Edit(name)
	}
	return nil
}

// check looks at the key's form and makes the test call. A second enter, once the call has told
// what the key allows, takes the key.
func (m *welcome) check() tea.Cmd {
	key := strings.TrimSpace(m.prompt.Value())
	// What the key allows has been read, and enter was pressed once more.
	if m.learnt != "" {
		m.choice, m.key = ChooseKey, key
		return tea.Quit
	}
	if m.wrong = m.opt.keyFault(key); m.wrong != "" {
		return nil
	}
	if m.first.Try == nil {
		m.choice, m.key = ChooseKey, key
		return tea.Quit
	}
	m.trying, m.wrong = true, ""
	try, ctx := m.first.Try, m.ctx
	return func() tea.Msg {
		learnt, err := try(ctx, key)
		return tried{learnt, err}
	}
}

// tried takes the answer to the test call, unless esc has closed the prompt meanwhile.
func (m *welcome) tried(t tried) {
	m.trying = false
	switch {
	case m.prompt == nil:
	case t.err != nil:
		m.wrong = t.err.Error()
	default:
		m.learnt = cmp.Or(t.learnt, "the key works")
	}
}

// View implements tea.Model. Until the background is known nothing is drawn: the screen would flash
// from one look to the other.
func (m *welcome) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "Farsight"
	if m.asking || m.w <= 0 || m.h <= 0 {
		return v
	}
	rows, cursor := m.draw()
	v.Content = part.Frame(m.theme, m.w, m.h, rows)
	v.Cursor = cursor
	return v
}

// draw is the panel in the middle of the screen, with as much in it as there is room for. What is
// typed, and what is wrong with it, always stays. The last row has the keys; what comes after the
// choice is shown where it fits.
func (m *welcome) draw() ([]string, *tea.Cursor) {
	th := m.theme.Raised()
	w, most := min(m.w, 96), max(m.h-1, 2)
	inner := w - 2*part.PanelPad
	rows, promptAt := m.rows(wordy, inner)
	// Less and less is told until what is left fits.
	for told := wordy + 1; told <= scant && len(rows)+2 > most; told++ {
		rows, promptAt = m.rows(told, inner)
	}
	sections := []part.Section{{Title: "FARSIGHT", Note: m.opt.Version, Tail: "no API key yet", Rows: rows, Height: len(rows)}}
	if next := m.after(inner); len(rows)+next.Height+5 <= most {
		sections = append(sections, next)
	}
	panel, top := part.Panel(th, w, most, nil, sections...)
	at := place(0, most, m.w, panel)
	screen := append(part.Overlay(m.theme, m.w, most, nil, panel, at.x, at.y), part.Hints(m.theme, m.h-1, m.w, nil, m.hints()))
	// Without a prompt there is no text cursor to be shown.
	if promptAt < 0 {
		return screen, nil
	}
	_, x := m.prompt.View(th, inner)
	c := tea.NewCursor(at.x+part.PanelPad+x, min(at.y+top+1+promptAt, m.h-1))
	c.Blink = false
	return screen, c
}

// How much the panel tells, less and less: all, only what matters to the chosen one, and
// that without the introduction.
const (
	wordy = iota
	brief
	scant
)

// rows are the choices, and which row is the prompt; -1 = none.
func (m *welcome) rows(told, inner int) (rows []string, promptAt int) {
	gap := func() {
		if told == wordy && len(rows) > 0 {
			rows = append(rows, "")
		}
	}
	if told < scant {
		rows = append(rows, m.wrapped(themes.Text, "All matches of League of Legends accounts, as fast as Riot's limits allow.", inner)...)
		rows = append(rows, m.wrapped(themes.Dim, "No API key was found in "+m.first.KeyFrom+".", inner)...)
		gap()
	}
	for i, o := range m.offers {
		if told >= brief && m.prompt != nil && i != m.at {
			continue
		}
		rows = append(rows, m.offerRows(i, o, inner, told < brief || i == m.at && m.prompt == nil)...)
	}
	promptAt = -1
	if m.prompt != nil {
		gap()
		promptAt = len(rows)
		row, _ := m.prompt.View(m.theme.Raised(), inner)
		rows = append(append(rows, row), m.keyNote(inner)...)
	} else if m.wrong != "" {
		gap()
		rows = append(rows, m.keyNote(inner)...)
	}
	return rows, promptAt
}

// after is where to go on from the choice under the cursor. The keys are looked up in the
// operator's own table, since they are those of the console that follows.
func (m *welcome) after(inner int) part.Section {
	bound := m.opt.Mine.table()
	key := func(a page.Action) string { return bound.First(keys.On(page.ScreenOverview), a) }
	steps := map[Choice][]part.Hint{
		ChooseKey: {
			{Key: key(page.Trigger), Does: "and a name, such as Blue Heron#KR1 kr: its first sync begins, with what it costs"},
			{Key: key(keys.GoTo(page.ScreenLimits)), Does: "what the key allows, learnt from the first answers"},
		},
		ChooseDemo: {
			{Key: key(keys.Palette), Does: "and tour: the console in six cards"},
			{Key: key(keys.Chaos), Does: "breaks the simulated Riot: 429s, an outage, a key that expires"},
		},
		ChooseBrowse: {
			{Key: key(keys.GoTo(page.ScreenMatches)), Does: "the matches; no call is made"},
			{Key: key(keys.GoTo(page.ScreenReports)), Does: "the report of each account"},
		},
	}[m.offers[m.at].choice]
	s := part.Section{Title: "THEN", Height: len(steps) + 1}
	for _, h := range append(steps, part.Hint{Key: key(keys.Help), Does: "the keys and the words of each screen"}) {
		l := part.NewLine(m.theme.Raised(), inner).Gap(1).Field(part.As(themes.Accent, h.Key), 3, part.Words)
		s.Rows = append(s.Rows, l.Cells(part.As(themes.Dim, cmp.Or(part.Clause(h.Does, l.Room()-1), h.Does))).String())
	}
	return s
}

// wrapped is a text on as many rows as it takes, with a margin on both sides.
func (m *welcome) wrapped(t themes.Token, text string, inner int) []string {
	return part.Paragraph(m.theme.Raised(), inner, t, safe.Text(text))
}

// Where the sentence on a choice begins: beside its name, or below it on a narrow screen, where
// less than leastAbout cells would be left.
const (
	besideName = 26
	belowName  = 4
	leastAbout = 24
)

// offerRows are a choice and, if it is told, what it means.
func (m *welcome) offerRows(i int, o offer, w int, told bool) []string {
	l := part.NewLine(m.theme.Raised(), w)
	l.Reset(w, i == m.at)
	name, about := part.Plain(o.name), themes.Dim
	if i == m.at {
		l.Glyph(themes.Focus, m.theme.Glyphs.Cursor, 1)
		name.Token, about = themes.Figure, themes.Text
	}
	l.To(1).Cells(part.As(themes.Accent, strconv.Itoa(i+1)), part.Plain("  ")).Field(name, besideName-belowName-2, part.Words).Gap(2)
	if !told {
		return []string{l.String()}
	}
	at := besideName
	if w-2-at < leastAbout {
		at = belowName
	}
	lines := part.Wrap(o.about, max(w-1-at, 10))
	var rows []string
	if at == besideName {
		l.Cells(part.As(about, lines[0]))
		lines = lines[1:]
	}
	rows = append(rows, l.String())
	for _, line := range lines {
		l.Reset(w, i == m.at)
		rows = append(rows, l.To(at).Cells(part.As(about, line)).String())
	}
	return rows
}

// keyNote is what is wrong with the key, or what happens with it. It always takes a row, so that
// nothing above it moves when something is said.
func (m *welcome) keyNote(w int) []string {
	text, token := "it is checked with one call; only its last four characters are ever shown", themes.Dim
	if m.first.Try == nil {
		text = "only its last four characters are ever shown"
	}
	switch {
	case m.trying:
		text = "asking Riot…"
	case m.wrong != "":
		text, token = m.wrong, themes.Err
	case m.learnt != "":
		text, token = m.learnt+"; enter goes on", themes.OK
	}
	return m.wrapped(token, text, w)
}

// hints are the keys of the last row.
func (m *welcome) hints() []part.Hint {
	if m.prompt != nil {
		return []part.Hint{{Key: "enter", Does: "use the key"}, {Key: "esc", Does: "back"}}
	}
	return []part.Hint{{Key: "1 2 3", Does: "take"}, {Key: "↓ ↑", Does: "move"}, {Key: "enter", Does: "take"}, {Key: "q", Does: "quit"}}
}
