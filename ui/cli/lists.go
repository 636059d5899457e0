package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
)

// pageSize is how many rows the lists ask for at once.
const pageSize = 500

// ask runs a query and gives its answer its type.
func ask[T any](ctx context.Context, c engine.Console, q engine.Query) (T, error) {
	a, err := c.Find(ctx, q)
	if err != nil {
		var none T
		return none, err
	}
	t, ok := a.(T)
	if !ok {
		return t, engine.Problemf(engine.ErrInvalid, "", "the engine answered %T with %T", q, a)
	}
	return t, nil
}

// Status prints the engine, its queues and what syncs; all adds the accounts that
// do not. The filter is a part of a queue's or an account's name.
func Status(ctx context.Context, c engine.Console, text string, all bool, o Out) error {
	s, err := ask[engine.StatusAnswer](ctx, c, engine.StatusQuery{})
	if err != nil {
		return err
	}
	open := len(s.Open)
	if all {
		if s.Open, err = (listing[engine.AccountRow]{schema: columns.Accounts.Schema, page: accountPages(ctx, c)}).rows(Out{}); err != nil {
			return err
		}
	}
	s.Queues = slices.DeleteFunc(s.Queues, func(q engine.QueueRow) bool { return !part(text, string(q.Name)) })
	s.Open = slices.DeleteFunc(s.Open, func(a engine.AccountRow) bool { return !part(text, a.RiotID) })
	if o.JSON {
		return o.json(s)
	}
	e := s.Engine
	state := string(e.State)
	switch {
	case e.State == engine.EngineBrowse:
		state = "no engine runs here, this is what is stored: `farsight` or `farsight serve` starts one"
	case e.Why != "":
		state += ": " + e.Why
	}
	_, _ = fmt.Fprintf(o.W, "%s\naccounts %s, %s syncing; matches stored %s, gave up %s, too old %s\n\n",
		o.clean(state), count(e.Accounts), count(open), count(e.Stored), count(e.Failed), count(e.TooOld))
	if err := queues(o, s.Queues, text); err != nil {
		return err
	}
	if b := s.Pacing; b != nil && b.Waiting > 0 {
		_, _ = fmt.Fprintf(o.W, "%s wait, paced by %s: %d of %d used\n", count(b.Waiting), o.clean(b.Name), b.Used, b.Limit)
	}
	if len(s.Open) > 0 {
		_, _ = fmt.Fprintln(o.W)
		return list(o, columns.AccountLines, s.Open)
	}
	return nil
}

// queues prints those with the filter in their names.
func queues(o Out, rows []engine.QueueRow, filter string) error {
	switch {
	case len(rows) == 0 && filter != "":
		return o.say("no queue with " + safe.Cut(filter, mostEcho) + " in its name has a job")
	case len(rows) == 0:
		return o.say("no queue has a job")
	}
	now := time.Now()
	out := make([][]string, len(rows))
	for i, q := range rows {
		state := "open"
		switch {
		case q.Paused:
			state = "PAUSED by " + q.By.User
		case q.Stand != "":
			state = string(q.Stand)
		}
		out[i] = []string{string(q.Name), count(q.Counts[engine.Available]), count(q.Counts[engine.Running]), count(q.Counts[engine.Retryable]), count(q.Held), state, engine.WhyUntil(q.Why, q.Until, now)}
	}
	return o.table([]column{{Title: "QUEUE"}, {Title: "WAIT", Kind: number}, {Title: "RUN", Kind: number}, {Title: "RETRY", Kind: number}, {Title: "HELD", Kind: number}, {Title: "STATE"}, {Title: "WHY", Flex: 1}}, out)
}

// Accounts prints every account that the filter fits.
func Accounts(ctx context.Context, c engine.Console, text string, o Out) error {
	rows, err := listing[engine.AccountRow]{schema: columns.Accounts.Schema, filter: text, page: accountPages(ctx, c)}.rows(o)
	switch {
	case err != nil || o.JSON:
		return err
	case len(rows) == 0 && text == "":
		return o.say("no account is known yet: `farsight sync 'Name#TAG'` syncs one")
	case len(rows) == 0:
		return o.nothing(text, "")
	}
	return list(o, columns.AccountLines, rows)
}

// Jobs prints the live jobs that the filter fits, those that go next first; all adds
// ended ones, the newest first.
func Jobs(ctx context.Context, c engine.Console, text string, all bool, o Out) error {
	more := ""
	if !all {
		more = "--all looks through the ended ones too"
	}
	return jobs(ctx, c, engine.JobsQuery{Ended: all, Oldest: !all}, text, "no job is live", more, o)
}

// Retries prints the jobs that wait for their next try, soonest first.
func Retries(ctx context.Context, c engine.Console, text string, o Out) error {
	return jobs(ctx, c, engine.JobsQuery{States: []engine.State{engine.Retryable}}, text, "no job waits for its next try", "", o)
}

// jobs prints a list of them; none says that there is no job at all, more what
// else could be asked for.
func jobs(ctx context.Context, c engine.Console, q engine.JobsQuery, text, none, more string, o Out) error {
	rows, err := listing[engine.JobRow]{schema: columns.Jobs.Schema, filter: text, page: jobPages(ctx, c, q)}.rows(o)
	switch {
	case err != nil || o.JSON:
		return err
	case len(rows) == 0 && text == "":
		return o.say(sentence(none, more))
	case len(rows) == 0:
		return o.nothing(text, more)
	}
	if !q.Ended {
		slices.SortStableFunc(rows, whoGoesNext)
	}
	shown := columns.JobLines
	if o.Width < wideJobs {
		shown = slices.DeleteFunc(slices.Clone(shown), func(c columns.Column[engine.JobRow]) bool { return c.Spare })
	}
	return list(o, shown, rows)
}

// wideJobs is from which width of a terminal on a list of jobs tells the worker, the
// bytes and who asked. Where there is no terminal a script may count columns.
const wideJobs = 160

// whoGoesNext orders live jobs: those that run, then by when they may. What nobody knows
// the instant of comes last.
func whoGoesNext(a, b engine.JobRow) int {
	if a.State == engine.Running || b.State == engine.Running {
		return cmp.Compare(truth(b.State == engine.Running), truth(a.State == engine.Running))
	}
	x, y := a.ReasonEnds(), b.ReasonEnds()
	if x.IsZero() != y.IsZero() {
		return cmp.Compare(truth(x.IsZero()), truth(y.IsZero()))
	}
	return x.Compare(y)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Matches prints the stored matches that the filter fits, newest first; all shows
// the hidden ones too. A filter that begins with a Riot ID is about that account's:
// "Name#TAG state:stored".
func Matches(ctx context.Context, c engine.Console, text string, all bool, o Out) error {
	account, text := splitAccount(text)
	if account == "" {
		if err := allPlayers(text); err != nil {
			return err
		}
	}
	q := engine.MatchesQuery{Account: account, All: all}
	hidden := 0
	rows, err := listing[engine.MatchRow]{schema: columns.Matches.Schema, filter: text, page: matchPages(ctx, c, q, &hidden)}.rows(o)
	if err != nil || o.JSON {
		return err
	}
	if err := matches(o, rows, text); err != nil || hidden == 0 {
		return err
	}
	_, err = fmt.Fprintf(o.W, "%s permanently unfetchable hidden: --all shows them\n", count(hidden))
	return err
}

// allPlayers refuses a filter of matches that fits none without a player to ask about.
func allPlayers(text string) error {
	fit, err := filter.Parse(text, columns.Matches.Schema)
	if err != nil {
		return nil // the list says so
	}
	if name := columns.OfPlayer(fit); name != "" {
		return engine.Problemf(engine.ErrInvalid, "name the account before the filter: `farsight matches 'Name#TAG "+fit.String()+"'`", "%s is one player's in a match", name)
	}
	return nil
}

func matches(o Out, rows []engine.MatchRow, text string) error {
	switch {
	case len(rows) == 0 && text == "":
		return o.say("no match is stored yet: `farsight sync 'Name#TAG'` fetches an account's")
	case len(rows) == 0:
		return o.nothing(text, "")
	}
	return list(o, columns.MatchLines, rows)
}

// Limits prints the buckets with the filter in their host or method.
func Limits(ctx context.Context, c engine.Console, text string, o Out) error {
	l, err := ask[engine.LimitsRow](ctx, c, engine.LimitsQuery{})
	if err != nil {
		return err
	}
	l.Buckets = slices.DeleteFunc(l.Buckets, func(b engine.BucketRow) bool { return !part(text, b.Host, b.Method) })
	l.Breakers = slices.DeleteFunc(l.Breakers, func(b engine.BreakerRow) bool { return !part(text, b.Host, b.Method) })
	if o.JSON {
		return o.json(l)
	}
	now := time.Now()
	out := make([][]string, 0, len(l.Breakers)+len(l.Buckets))
	for _, b := range l.Breakers {
		next := "tried now"
		if b.Next.After(now) {
			next = "next try in " + human.SpanTo(b.Next, now)
		}
		out = append(out, []string{b.Host, b.Method, "-", "-", "-", "-", "-", string(engine.StandDown) + " since " + human.Stamp(b.Since) + ", " + next})
	}
	for _, b := range l.Buckets {
		server, state := "-", "OPEN"
		if b.Server >= 0 {
			server = strconv.Itoa(b.Server)
			if age := engine.OldReading(b.ServerAt, now); age > 0 {
				server += ", " + human.SpanAgo(b.ServerAt, now)
			}
		}
		if b.Blocked.After(now) {
			state = "HELD by " + b.BlockedBy + ", " + human.SpanTo(b.Blocked, now)
		}
		if b.Paces && b.Waiting > 0 {
			state += ", paces " + count(b.Waiting) + " waiting"
		}
		scope := b.Method
		if scope == "" {
			scope = b.Kind
		}
		out = append(out, []string{b.Host, scope, human.Span(b.Window), fmt.Sprintf("%d/%d", b.Used, b.Limit), server, human.SpanTo(b.Reset, now), b.Mode, state})
	}
	switch {
	case len(out) == 0 && text != "":
		return o.nothing(text, "")
	case len(out) == 0:
		return o.say("no limits known yet: they are learnt from the headers of the first answers")
	}
	if err := o.table([]column{{Title: "HOST"}, {Title: "SCOPE"}, {Title: "WINDOW", Kind: number}, {Title: "USED", Kind: number}, {Title: "SERVER", Kind: number}, {Title: "RESET", Kind: number}, {Title: "MODE"}, {Title: "STATE", Flex: 1}}, out); err != nil {
		return err
	}
	return o.say(howLearnt(l))
}

// howLearnt says when the limits were learnt, and how many calls went before that.
func howLearnt(l engine.LimitsRow) string {
	text := "learnt from headers"
	if at := l.Learnt(); !at.IsZero() {
		text += " " + human.Stamp(at)
	}
	waiting := len(l.Waiting)
	for _, b := range l.Buckets {
		waiting = max(waiting, b.Waiting)
	}
	return text + ", " + human.Counted(waiting, "call waits", "calls wait") + ", " + human.Counted(l.Blind(), "blind call", "blind calls") + " (sent before the limits were known)"
}

// Setting is one setting with its source, as `farsight config` shows it.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Env    string `json:"env"`
}

// Config prints every setting.
func Config(o Out, settings []Setting) error {
	if o.JSON {
		return lines(o, settings)
	}
	rows := make([][]string, len(settings))
	for i, s := range settings {
		rows[i] = []string{s.Name, s.Value, s.Source, s.Env}
	}
	return o.table([]column{{Title: "SETTING"}, {Title: "VALUE", Flex: 1}, {Title: "SOURCE"}, {Title: "ENVIRONMENT"}}, rows)
}

// Player is an account of the simulator.
type Player struct {
	RiotID   string `json:"riot_id"`
	Platform string `json:"platform"`
	Matches  int    `json:"matches"`
}

// Players prints the Riot IDs a simulator knows. A thousand-character name is
// cut in the table and whole in JSON.
func Players(o Out, players []Player) error {
	if o.JSON {
		return lines(o, players)
	}
	rows := make([][]string, len(players))
	for i, p := range players {
		rows[i] = []string{safe.Line(p.RiotID, 40), p.Platform, count(p.Matches)}
	}
	return o.table([]column{{Title: "RIOT ID", Flex: 1}, {Title: "PLATFORM"}, {Title: "MATCHES", Kind: number}}, rows)
}
