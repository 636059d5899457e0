package ui

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/chaos"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/line"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/saved"
	"github.com/farsight-console/farsight/ui/screen"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/screen/chaospanel"
	"github.com/farsight-console/farsight/ui/screen/report"
	"github.com/farsight-console/farsight/ui/session"
)

// verb is a word of the palette that takes an argument.
type verb struct {
	name, ghost string
	run         func(m *model, arg string, now time.Time) (cmd tea.Cmd, wrong string)
}

// verbs are what the palette understands besides the names in its list. It is filled by init, since
// its functions lead back to it, which Go takes for a circle.
var verbs []verb

func init() {
	verbs = []verb{
		{"accounts", "a filter", listVerb(page.ScreenAccounts)},
		{"jobs", "a filter: jobs state:failed", listVerb(page.ScreenJobs)},
		{"retries", "a filter", listVerb(page.ScreenRetries)},
		{"limits", "a filter of calls: limits status:429", listVerb(page.ScreenLimits)},
		{"matches", "a filter: matches champion:ahri", listVerb(page.ScreenMatches)},
		{"logs", "a filter: logs area:limiter", listVerb(page.ScreenLogs)},
		{"alerts", "a filter: alerts state:firing", listVerb(page.ScreenAlerts)},
		{"account", "Name#TAG", (*model).openAccount},
		{"report", "Name#TAG", (*model).openReport},
		{"job", "an id or a key: job match:KR_1", (*model).openJob},
		{"f", "a saved filter of this screen; f -NAME forgets it", (*model).loadFilter},
		{"theme", strings.Join(themes.Names(), " "), (*model).themeLine},
		{chaosVerb, "503 5% · timeout once · slow off · key expires · off", (*model).chaosLine},
		{"fps", "updates a second, 1 to 10", (*model).fpsLine},
	}
	for _, o := range operation.Lines() {
		if o.Line.Args != "" {
			verbs = append(verbs, verb{o.Word(), cmp.Or(o.Line.Hint, o.Line.Args), func(m *model, arg string, now time.Time) (tea.Cmd, string) { return m.operate(o, arg, now) }})
		}
	}
}

// openPalette opens the list of everything that can be done and seen. Its items are those of this
// instant: what cannot be done now is dim, and says why when it is chosen.
func (m *model) openPalette(now time.Time) tea.Cmd {
	n := &menu{title: "COMMAND", typing: true, input: part.Prompt{Label: ":", Ghost: "a command, screen, account, job or theme"}}
	n.all = m.paletteItems(now)
	m.openMenu(n)
	n.narrow()
	return nil
}

// narrow shows the items that fit what was typed. Names of accounts and jobs are
// only looked through once there is something to look for.
func (n *menu) narrow() {
	// The best fit is the first one, and the cursor is on it.
	n.wrong, n.at, n.top = "", 0, 0
	text := n.input.Value()
	if strings.TrimSpace(text) == "" {
		n.shown = slices.DeleteFunc(slices.Clone(n.all), func(i item) bool { return i.words == named })
		return
	}
	n.shown = rankItems(n.all, text)
}

// named marks an item that is an account or a job, not a command.
const named = "named"

// paletteItems are the keys of this screen, the screens, the verbs, the themes, then accounts and
// jobs. All of it comes from a table that something else is made of: nothing is listed for the
// palette alone but the tour and the reset.
func (m *model) paletteItems(now time.Time) []item {
	v := m.view(now)
	var out []item
	at := keys.On(m.page().Screen())
	for i := range m.keys.List {
		b := &m.keys.List[i]
		// Moving by a menu is of no use to anybody.
		if b.In&at == 0 || b.Group == keys.GroupMove || b.Act == keys.Palette || b.Act == keys.Chaos && m.opt.Chaos == nil {
			continue
		}
		out = append(out, item{name: b.Help, key: b.Keys[0], words: string(b.Act), off: m.cannot(v, b.Act) != "", do: func(m *model, now time.Time) tea.Cmd { return m.perform(b.Act, now) }})
	}
	for _, s := range m.shownTabs() {
		out = append(out, item{name: s.String(), what: "screen", key: m.keys.First(at, keys.GoTo(s)), do: func(m *model, _ time.Time) tea.Cmd { m.goTo(s); return nil }})
	}
	for _, s := range sideScreens {
		out = append(out, item{name: s.screen.String(), what: "screen", key: m.keys.First(at, s.act), do: func(m *model, _ time.Time) tea.Cmd { m.push(screen.New(&page.Target{Screen: s.screen})); return nil }})
	}
	for _, w := range verbs {
		// A real key has no simulator that could go wrong.
		if w.name == chaosVerb && m.opt.Chaos == nil {
			continue
		}
		out = append(out, item{name: w.name + m.theme.Glyphs.Ellipsis, what: w.ghost, do: func(m *model, now time.Time) tea.Cmd { return m.typeVerb(w, now) }})
	}
	out = append(out, item{name: "begin anew with an empty store", words: "reset", off: true, do: (*model).resetItem})
	for _, o := range operation.Lines() {
		if o.Line.Args == "" && m.keys.First(at, page.Action(o.Word())) == "" { // else it is among the keys of the screen
			out = append(out, item{name: o.Line.Hint, words: o.Word(), off: m.refuses() != "", do: operateItem(o, "")})
		}
	}
	out = append(out, item{name: "tour", what: "the console in six cards", do: func(m *model, _ time.Time) tea.Cmd { m.tourTo(1); return nil }})
	out = append(out, m.filterItems()...)
	for _, name := range m.themeNames() {
		out = append(out, item{name: "theme " + name, what: m.themeWord(name), do: func(m *model, _ time.Time) tea.Cmd { m.chooseTheme(name); return nil }})
	}
	return append(out, m.namedItems(v)...)
}

// namedItems are what is done with a queue, the accounts and the live jobs.
func (m *model) namedItems(v *page.View) []item {
	out := make([]item, 0, len(v.Accounts)+len(v.Jobs))
	for i := range v.Queues {
		q := &v.Queues[i]
		o := operation.Of(human.Either(q.Paused, engine.OpResume, engine.OpPause))
		out = append(out, item{name: o.Word() + " " + string(q.Name), what: "queue", words: named, off: m.refuses() != "", do: operateItem(o, string(q.Name))})
	}
	for i := range v.Accounts {
		a := &v.Accounts[i]
		id := a.ID
		out = append(out, item{name: a.RiotID, what: "account, " + v.SyncWord(*a), words: named, do: func(m *model, _ time.Time) tea.Cmd { m.push(accounts.NewAccount(id)); return nil }})
	}
	for i := range v.Jobs {
		j := &v.Jobs[i]
		id := j.ID
		out = append(out, item{name: cmp.Or(j.Key, string(j.ID)), what: "job, " + columns.StateWord(&j.Job), words: named, do: func(m *model, _ time.Time) tea.Cmd { m.push(inspector.NewJob(id)); return nil }})
	}
	return out
}

// perform carries out an action of a key or of the palette, by whoever it belongs to: the program
// (quit, help, screens), the operator's own commands, or the page that is shown.
func (m *model) perform(a page.Action, now time.Time) tea.Cmd {
	// A key that is held down repeats: see hold.
	m.hold(a)
	if own, ok := appActs[a]; ok {
		return own(m, now)
	}
	if s, ok := keys.ScreenOf(a); ok {
		m.goTo(s)
		return nil
	}
	if own, ok := m.keys.Own[a]; ok {
		return m.askOwn(own, now)
	}
	return m.pageAct(a, now)
}

// typeVerb opens the palette again with a verb that needs an argument, and says which.
func (m *model) typeVerb(w verb, now time.Time) tea.Cmd {
	m.openPalette(now)
	m.over.menu.input.Set(w.name + " ")
	m.over.menu.narrow()
	m.over.menu.wrong = "write behind it: " + w.ghost
	return nil
}

// paletteKey takes a key while the palette is open. tab completes: the name of an account behind a
// word that takes one, else the item under the cursor.
func (m *model) paletteKey(k tea.Key, now time.Time) tea.Cmd {
	n := m.over.menu
	if k.Text != "" {
		n.input.Insert(k.Text)
		// What is typed now is a new line, and no old one any more.
		n.past = 0
		n.narrow()
		return nil
	}
	switch name := k.String(); name {
	case "esc", "ctrl+c":
		m.over = nil
	case "enter":
		return m.runLine(now)
	case "up":
		m.paletteUp(n)
	case "down":
		m.paletteDown(n)
	case "tab":
		if rest := m.restOfAccount(n.input.Value()); rest != "" {
			n.input.Insert(rest)
			n.narrow()
		} else if n.at < len(n.shown) {
			n.input.Set(strings.TrimSuffix(n.shown[n.at].name, m.theme.Glyphs.Ellipsis) + " ")
			n.narrow()
		}
	default:
		if n.input.Edit(name) {
			n.narrow()
		}
	}
	return nil
}

// paletteUp moves up in the list, and from its top into what was run before.
func (m *model) paletteUp(n *menu) {
	if n.at > 0 {
		n.at--
		return
	}
	// From the top of the list up goes back in time, the newest line first.
	if line, ok := n.past.step(m.kept.History, 1); ok {
		n.input.Set(line)
		n.narrow()
	}
}

// paletteDown moves down in the list, or back from what was run before to what is newer.
func (m *model) paletteDown(n *menu) {
	if n.past == 0 {
		n.at = min(n.at+1, max(len(n.shown)-1, 0))
		return
	}
	line, _ := n.past.step(m.kept.History, -1)
	n.input.Set(line)
	n.narrow()
}

// lineOf is what was typed, without the colon that some type out of habit.
func lineOf(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), ":"))
}

// verbIn finds the verb that a line begins with, -1 = none, and its argument: the line "retry
// match:KR_7214550881" has both.
func verbIn(text string) (at int, arg string) {
	name, arg, _ := strings.Cut(lineOf(text), " ")
	return slices.IndexFunc(verbs, func(w verb) bool { return w.name == strings.ToLower(name) }), strings.TrimSpace(arg)
}

// ofAccount is what the hint of a verb begins with that takes an account.
const ofAccount = "Name#TAG"

// restOfAccount is what is left to type of an account behind a verb that takes one; "" =
// nothing is known to fit.
func (m *model) restOfAccount(line string) string {
	// Only verbs whose hint says so take an account.
	at, arg := verbIn(line)
	if at < 0 || !strings.HasPrefix(verbs[at].ghost, ofAccount) {
		return ""
	}
	return restOfName(arg, m.rows.Data.Accounts)
}

// jobID fits the id of a job, such as d6280, as the audit and receipts print it.
var jobID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#?[a-z][1-9][0-9]*$`) })

// runLine carries out what was typed. What was typed comes before the chosen item only where it can
// mean nothing else: a verb with an argument, or the id of a job. A line that was refused is not kept in the history;
// where the item goes on with it, it was the beginning of the item.
func (m *model) runLine(now time.Time) tea.Cmd {
	n := m.over.menu
	typed := lineOf(n.input.Value())
	if at, arg := verbIn(typed); at >= 0 && arg != "" {
		cmd, wrong := verbs[at].run(m, arg, now)
		begun := n.at < len(n.shown) && strings.HasPrefix(n.shown[n.at].name, typed)
		// A line that is wrong stays open, with the cursor in it, to be mended.
		if n.wrong = wrong; wrong == "" {
			m.kept.History = saved.AddLine(m.kept.History, typed)
			m.closePalette(n)
		}
		if wrong == "" || !begun {
			return cmd
		}
	}
	if jobID().MatchString(typed) { // as the audit and receipts print it
		cmd, _ := m.openJob(strings.TrimPrefix(typed, "#"), now)
		m.kept.History = saved.AddLine(m.kept.History, typed)
		m.closePalette(n)
		return cmd
	}
	if len(n.shown) == 0 {
		n.wrong = "there is no command " + strconv.Quote(typed) + ": did you mean " + strings.Join(m.nearest(n, typed), ", ") + "?"
		return nil
	}
	m.kept.History = saved.AddLine(m.kept.History, typed)
	return m.chooseItem(now)
}

// closePalette closes the palette, unless what it ran has opened something else in its place.
func (m *model) closePalette(n *menu) {
	if m.over != nil && m.over.menu == n {
		m.over = nil
	}
}

// nearest are the three names that are most like a line, by the distance that filters use for
// unknown words. Accounts and jobs are left out: of thousands of names one would always be nearer.
func (m *model) nearest(n *menu, line string) []string {
	type near struct {
		name string
		d    int
	}
	var all []near
	add := func(name string) {
		if !slices.ContainsFunc(all, func(a near) bool { return a.name == name }) {
			all = append(all, near{name, filter.Distance(strings.ToLower(line), strings.ToLower(name))})
		}
	}
	for _, w := range verbs {
		add(w.name)
	}
	for _, i := range n.all {
		if i.words != named {
			add(strings.TrimSuffix(i.name, m.theme.Glyphs.Ellipsis))
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return a.d - b.d })
	out := make([]string, 0, 3)
	for _, a := range all[:min(len(all), 3)] {
		out = append(out, a.name)
	}
	return out
}

// listVerb shows a screen with a filter.
func listVerb(s page.Screen) func(m *model, arg string, now time.Time) (tea.Cmd, string) {
	return func(m *model, arg string, _ time.Time) (tea.Cmd, string) {
		f, ok := m.tabs[s].(page.Filterer)
		if !ok {
			return nil, s.String() + " takes no filter"
		}
		// A filter that is wrong changes nothing: the operator mends it in the line.
		before := f.Filter()
		if err := f.SetFilter(arg); err != nil {
			_ = f.SetFilter(before)
			return nil, err.Error()
		}
		m.goTo(s)
		return nil, ""
	}
}

// openAccount shows an account by its Riot ID or our id.
func (m *model) openAccount(arg string, _ time.Time) (tea.Cmd, string) {
	a, ok := line.Stored(&m.rows.Data, arg)
	if !ok {
		return nil, "there is no account " + arg + m.keyed(": {:sync} ") + arg + " platform starts one"
	}
	m.push(accounts.NewAccount(a.ID))
	return nil, ""
}

// openReport shows the report of an account.
func (m *model) openReport(arg string, _ time.Time) (tea.Cmd, string) {
	a, ok := line.Stored(&m.rows.Data, arg)
	if !ok {
		return nil, "there is no account " + arg
	}
	m.push(report.New(a.ID))
	return nil, ""
}

// openJob shows a job by its id or key. One that has ended is not among the rows that the console
// has: its screen asks the engine for it, and says so if there is none.
func (m *model) openJob(arg string, _ time.Time) (tea.Cmd, string) {
	arg = strings.TrimPrefix(arg, "job:")
	j, live := line.Live(&m.rows.Data, arg)
	switch {
	case live:
		m.push(inspector.NewJob(j.ID))
	case strings.Contains(arg, ":"):
		m.push(inspector.NewJobOf(arg))
	default:
		m.push(inspector.NewJob(engine.JobID(arg)))
	}
	return nil, ""
}

// operateItem carries out an operation on what the item names, or on nothing.
func operateItem(o operation.Operation, arg string) func(m *model, now time.Time) tea.Cmd {
	return func(m *model, now time.Time) tea.Cmd {
		cmd, wrong := m.operate(o, arg, now)
		if wrong != "" {
			m.showMessage(wrong)
		}
		return cmd
	}
}

// themeLine carries out `:theme nord`.
func (m *model) themeLine(arg string, _ time.Time) (tea.Cmd, string) {
	// There are a dozen and a half, so all of them fit into the answer.
	if names := m.themeNames(); !slices.Contains(names, arg) {
		return nil, "there is no theme " + arg + ": " + strings.Join(names, ", ")
	}
	m.chooseTheme(arg)
	return nil, ""
}

// fpsLine carries out `:fps 5`, for this session: over a slow line fewer updates arrive sooner.
func (m *model) fpsLine(arg string, _ time.Time) (tea.Cmd, string) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > session.MostFPS {
		return nil, arg + " is no rate: 1 to " + strconv.Itoa(session.MostFPS) + " updates a second"
	}
	m.feed.Rate(n)
	m.showMessage("at most " + human.Counted(n, "update", "updates") + " a second")
	return nil, ""
}

// resetItem says where the store can be emptied: not from a console that looks at it.
func (m *model) resetItem(time.Time) tea.Cmd {
	return m.showMessage("end the engine first, then run `farsight reset`")
}

// chaosVerb is the palette's word for the chaos panel. It is listed in the demo only.
const chaosVerb = "chaos"

// chaosLine carries out `:chaos 503 5%`: it opens the panel and asks there, as choosing the same in
// the panel would.
func (m *model) chaosLine(arg string, now time.Time) (tea.Cmd, string) {
	if m.opt.Chaos == nil {
		return nil, session.NoChaos
	}
	if why := m.refuses(); why != "" {
		return nil, why
	}
	s := m.opt.Chaos.State()
	ask, wrong := chaos.Parse(&s, arg)
	if wrong != "" {
		return nil, wrong
	}
	m.over = nil
	m.openChaos(now)
	return m.carryOut(chaospanel.InjectNamed(&s, ask), now), ""
}
