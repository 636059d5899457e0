package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
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

// Status prints the engine, its queues and what syncs.
func Status(ctx context.Context, c engine.Console, o Out) error {
	s, err := ask[engine.StatusAnswer](ctx, c, engine.StatusQuery{})
	if err != nil {
		return err
	}
	if o.JSON {
		return o.json(s)
	}
	e := s.Engine
	state := string(e.State)
	if e.Why != "" {
		state += ": " + e.Why
	}
	_, _ = fmt.Fprintf(o.W, "%s\nmatches stored %s, gave up %s, too old %s\n\n", o.clean(state), count(e.Stored), count(e.Failed), count(e.TooOld))
	if err := queues(o, s.Queues); err != nil {
		return err
	}
	if len(s.Open) > 0 {
		_, _ = fmt.Fprintln(o.W)
		return accounts(o, s.Open)
	}
	return nil
}

func queues(o Out, rows []engine.QueueRow) error {
	out := make([][]string, len(rows))
	for i, q := range rows {
		state := "open"
		if q.Paused {
			state = "PAUSED by " + q.By.User
		}
		out[i] = []string{string(q.Name), count(q.Counts[engine.Available]), count(q.Counts[engine.Running]), count(q.Counts[engine.Retryable]), count(q.Held), state, q.Why}
	}
	return o.table([]column{{title: "QUEUE"}, {title: "WAIT", right: true}, {title: "RUN", right: true}, {title: "RETRY", right: true}, {title: "HELD", right: true}, {title: "STATE"}, {title: "WHY", flex: true}}, out)
}

// Accounts prints every account.
func Accounts(ctx context.Context, c engine.Console, filter string, o Out) error {
	var rows []engine.AccountRow
	for q := (engine.AccountsQuery{Text: filter, Page: engine.Page{Limit: pageSize}}); ; {
		page, err := ask[engine.AccountsPage](ctx, c, q)
		if err != nil {
			return err
		}
		rows = append(rows, page.Accounts...)
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	if o.JSON {
		return lines(o, rows)
	}
	return accounts(o, rows)
}

func accounts(o Out, rows []engine.AccountRow) error {
	now := time.Now()
	out := make([][]string, len(rows))
	for i, a := range rows {
		tracked := ""
		if a.Tracked {
			tracked = "yes"
		}
		out[i] = []string{a.RiotID, a.Platform, strings.ToUpper(a.Status.String()), fraction(a.Matches), fraction(a.Timelines), count(a.Matches.Failed), ago(a.LastSync, now), tracked, a.LastError}
	}
	return o.table([]column{{title: "ACCOUNT", flex: true}, {title: "PLATFORM"}, {title: "STATE"}, {title: "MATCHES", right: true}, {title: "TIMELINES", right: true}, {title: "FAILED", right: true}, {title: "LAST SYNC"}, {title: "TRACKED"}, {title: "ERROR", flex: true}}, out)
}

func fraction(p engine.Progress) string {
	if p.Total < 0 {
		return count(p.Done()) + "/?"
	}
	return count(p.Done()) + "/" + count(p.Total)
}

// Jobs prints live jobs; all adds ended ones.
func Jobs(ctx context.Context, c engine.Console, filter string, all bool, o Out) error {
	return jobs(ctx, c, engine.JobsQuery{Text: filter, Ended: all}, o)
}

// Retries prints the jobs that wait for their next try, soonest first.
func Retries(ctx context.Context, c engine.Console, filter string, o Out) error {
	return jobs(ctx, c, engine.JobsQuery{Text: filter, States: []engine.State{engine.Retryable}}, o)
}

func jobs(ctx context.Context, c engine.Console, q engine.JobsQuery, o Out) error {
	q.Limit = pageSize
	var rows []engine.JobRow
	for {
		page, err := ask[engine.JobsPage](ctx, c, q)
		if err != nil {
			return err
		}
		rows = append(rows, page.Jobs...)
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	if o.JSON {
		return lines(o, rows)
	}
	now := time.Now()
	out := make([][]string, len(rows))
	for i, j := range rows {
		next, last := "-", j.LastError
		if !j.Due.IsZero() && j.State.Live() {
			next = in(j.Due, now)
		}
		if last == "" {
			last = j.Why
		}
		out[i] = []string{string(j.ID), name(j.Job), string(j.Queue), strings.ToUpper(j.State.String()), strconv.Itoa(j.Tries), next, ago(j.Created, now), last}
	}
	return o.table([]column{{title: "ID", right: true}, {title: "JOB"}, {title: "QUEUE"}, {title: "STATE"}, {title: "TRY", right: true}, {title: "NEXT"}, {title: "CREATED"}, {title: "LAST RESULT", flex: true}}, out)
}

func name(j engine.Job) string {
	if j.Key != "" {
		return j.Key
	}
	return string(j.Kind)
}

// Matches prints stored matches, newest first; all shows the hidden ones too.
func Matches(ctx context.Context, c engine.Console, account string, all bool, o Out) error {
	q := engine.MatchesQuery{Account: account, All: all, Page: engine.Page{Limit: pageSize}}
	var rows []engine.MatchRow
	hidden := 0
	for {
		page, err := ask[engine.MatchesPage](ctx, c, q)
		if err != nil {
			return err
		}
		rows, hidden = append(rows, page.Matches...), hidden+page.Hidden
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	if o.JSON {
		return lines(o, rows)
	}
	out := make([][]string, len(rows))
	for i, m := range rows {
		out[i] = []string{m.ID, stamp(m.Played), m.Status, m.Timeline, strconv.Itoa(m.Attempts), count(m.Bytes), m.LastError}
	}
	cols := []column{{title: "MATCH"}, {title: "PLAYED"}, {title: "STATUS"}, {title: "TIMELINE"}, {title: "TRIES", right: true}, {title: "BYTES", right: true}, {title: "LAST ERROR", flex: true}}
	if err := o.table(cols, out); err != nil || hidden == 0 {
		return err
	}
	_, err := fmt.Fprintf(o.W, "%s permanently unfetchable hidden: --all shows them\n", count(hidden))
	return err
}

// Limits prints every bucket.
func Limits(ctx context.Context, c engine.Console, o Out) error {
	l, err := ask[engine.LimitsRow](ctx, c, engine.LimitsQuery{})
	if err != nil {
		return err
	}
	if o.JSON {
		return o.json(l)
	}
	now := time.Now()
	out := make([][]string, len(l.Buckets))
	for i, b := range l.Buckets {
		server, state := "-", "OPEN"
		if b.Server >= 0 {
			server = strconv.Itoa(b.Server)
		}
		if b.Blocked.After(now) {
			state = "HELD by " + b.BlockedBy + ", " + in(b.Blocked, now)
		}
		scope := b.Method
		if scope == "" {
			scope = b.Kind
		}
		out[i] = []string{b.Host, scope, short(b.Window), fmt.Sprintf("%d/%d", b.Used, b.Limit), server, in(b.Reset, now), b.Mode, state}
	}
	if len(out) == 0 {
		_, err := fmt.Fprintln(o.W, "no limits known yet: they are learnt from the headers of the first answers")
		return err
	}
	return o.table([]column{{title: "HOST"}, {title: "SCOPE"}, {title: "WINDOW", right: true}, {title: "USED", right: true}, {title: "SERVER", right: true}, {title: "RESET", right: true}, {title: "MODE"}, {title: "STATE", flex: true}}, out)
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
	return o.table([]column{{title: "SETTING"}, {title: "VALUE", flex: true}, {title: "SOURCE"}, {title: "ENVIRONMENT"}}, rows)
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
	return o.table([]column{{title: "RIOT ID", flex: true}, {title: "PLATFORM"}, {title: "MATCHES", right: true}}, rows)
}
