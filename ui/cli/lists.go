package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
)

// pageSize is how many rows the lists ask for at once: what engines give at most.
const pageSize = 500

// Status shows the engine, its queues and what syncs; every adds the accounts that
// do not. The filter is a part of a queue's or an account's name. As JSON it is one object.
func Status(text string, every bool) List {
	return List{show: func(ctx context.Context, c engine.Console, o Out) error { return status(ctx, c, text, every, o) }}
}

// status prints the blocks of the Overview, in the same order: the state and why, the queues, and what syncs.
//
//	LIVE: 96 % of what the key allows; the 2 min window brakes
//	accounts 212, 2 syncing; matches stored 12,406, gave up 3, too old 41
func status(ctx context.Context, c engine.Console, text string, every bool, o Out) error {
	s, err := engine.Ask[engine.StatusAnswer](ctx, c, engine.StatusQuery{})
	if err != nil {
		return err
	}
	open := len(s.Open) // before those are added that do not sync
	if every {
		src, _ := accountPages(ctx, c) // nothing is asked for yet
		if s.Open, err = everything(src); err != nil {
			return err
		}
	}
	s.Queues = slices.DeleteFunc(s.Queues, func(q engine.QueueRow) bool { return !part(text, string(q.Name)) })
	s.Open = slices.DeleteFunc(s.Open, func(a engine.AccountRow) bool { return !part(text, a.RiotID) })
	if o.JSON {
		return o.json(s)
	}
	e := s.Engine
	state := e.Cause()
	// Of members that share a database, who leads them.
	if t := e.Term; t != nil {
		own := "" // a member that follows makes its calls by the leader's limiter, but with a key of its own
		if e.Key == "" && !t.Here {
			own = "; this process has no API key"
		}
		_, _ = fmt.Fprintf(o.W, "leader: %s, term %d%s\n", o.clean(cmp.Or(t.Leader, "nobody now")), t.Epoch, own)
	}
	_, _ = fmt.Fprintf(o.W, "%s\naccounts %s, %s syncing; matches stored %s, gave up %s, too old %s, waiting %s\n\n",
		o.clean(state), count(e.Accounts), count(open), count(e.Stored), count(e.Failed), count(e.TooOld), count(e.Waiting))
	p := printer[engine.QueueRow]{o: o, shown: columns.QueueLines, now: time.Now()}
	if err := queues(text).end(p, s.Queues, nil); err != nil {
		return err
	}
	if len(s.Open) > 0 {
		_, _ = fmt.Fprintln(o.W)
		return rows(o, columns.AccountLines, s.Open)
	}
	return nil
}

// Queues lists the queues with their counts, and why their heads do not start.
// filter is part of a name, such as "summoner".
func Queues(filter string) List { return queues(filter).list() }

// queues is that list as a listing: status has it as one of its blocks.
func queues(filter string) listing[engine.QueueRow] {
	return listing[engine.QueueRow]{
		of: columns.Queues, shown: columns.QueueLines, filter: filter,
		names: func(q *engine.QueueRow) []string { return []string{string(q.Name)} },
		none:  "no queue has a job", unfit: "no queue with " + safe.Cut(filter, mostEcho) + " in its name has a job",
		read: once(engine.StatusQuery{}, func(s engine.StatusAnswer) []engine.QueueRow { return s.Queues }, nil),
	}
}

// Accounts lists the accounts that the filter fits.
func Accounts(filter string) List {
	return listing[engine.AccountRow]{
		of: columns.Accounts, shown: columns.AccountLines, filter: filter,
		none: "no account is known yet: `farsight sync 'Name#TAG'` syncs one",
		read: accountPages,
	}.list()
}

// Jobs lists the live jobs that the filter fits, those that go next first; ended adds
// those that have, the newest first.
// An engine gives live jobs the oldest first, in pages: what is added meanwhile comes at the end
// and is not missed.
func Jobs(filter string, ended bool) List {
	l := jobs(engine.JobsQuery{Ended: ended, Oldest: !ended}, filter)
	l.none = "no job is live"
	// A filter that fits no live job may be meant for one that has ended.
	if !ended {
		l.more = "--all looks through the ended ones too"
		l.first = func(n int) reader[engine.JobRow] {
			return once(engine.JobsQuery{Soonest: true, Page: engine.Page{Limit: n}},
				func(p engine.JobsPage) []engine.JobRow { return p.Jobs }, nil)
		}
	}
	return l.list()
}

// Retries lists the jobs that wait for their next try, soonest first; those whose instant nobody knows
// last.
func Retries(filter string) List {
	l := jobs(engine.JobsQuery{States: []engine.State{engine.Retryable}}, filter)
	l.none = "no job waits for its next try"
	return l.list()
}

// jobs is a list of jobs by a query, which is asked page by page. Those that have ended stay in the
// order in which they did: nothing will happen to them.
func jobs(q engine.JobsQuery, filter string) listing[engine.JobRow] {
	q.Filter = filter // of a million jobs no more come than fit
	l := listing[engine.JobRow]{
		of: columns.Jobs, shown: columns.JobLines, filter: filter,
		read: func(ctx context.Context, c engine.Console) (source[engine.JobRow], error) {
			looked := 0
			src, err := pages(func(p engine.Page) engine.Query {
				q.Page = p
				return q
			}, func(p engine.JobsPage) ([]engine.JobRow, string) {
				looked += p.Looked
				return p.Jobs, p.Next
			})(ctx, c)
			src.looked = func() string { return "looked at " + human.Counted(looked, "job", "jobs") }
			return src, err
		},
	}
	if !q.Ended {
		l.order = columns.WhoGoesNext
	}
	return l
}

// Classes lists the error classes of failed jobs, the largest first; queue "" = of all queues.
func Classes(queue string) List {
	q := engine.ClassesQuery{Queue: engine.Queue(queue)}
	return listing[engine.ClassRow]{
		of: columns.Classes, shown: columns.ClassLines, filter: queue, asked: true,
		none: "no job has failed", unfit: "no job of queue " + safe.Cut(queue, mostEcho) + " has failed",
		read: once(q, func(a engine.ClassesAnswer) []engine.ClassRow { return a.Classes }, nil),
	}.list()
}

// Matches lists the stored matches that the filter fits, newest first; every shows
// the hidden ones too. A filter that begins with a Riot ID is about that account's:
// "Name#TAG state:stored".
func Matches(text string, every bool) List {
	account, text := splitAccount(text)
	return listing[engine.MatchRow]{
		of: columns.Matches, shown: columns.MatchLines, filter: text,
		none: "no match is stored yet: `farsight sync 'Name#TAG'` fetches an account's",
		read: func(ctx context.Context, c engine.Console) (source[engine.MatchRow], error) {
			if account == "" {
				if err := allPlayers(text); err != nil {
					return source[engine.MatchRow]{}, err
				}
			}
			// It is known only when all pages have been read: the sentence is made at the end.
			hidden := 0
			src, err := pages(func(p engine.Page) engine.Query {
				return engine.MatchesQuery{Account: account, All: every, Page: p}
			}, func(p engine.MatchesPage) ([]engine.MatchRow, string) {
				hidden += p.Hidden
				return p.Matches, p.Next
			})(ctx, c)
			src.foot = func() string {
				return human.If(hidden != 0, count(hidden)+" permanently unfetchable hidden: --all shows them")
			}
			return src, err
		},
	}.list()
}

// allPlayers refuses a filter of matches that fits none without a player to ask about: what champion
// somebody had, or whether the game was won. Without the account the list would say that there is none.
func allPlayers(text string) error {
	fit, err := filter.Parse(text, columns.Matches.Schema)
	if err != nil {
		return nil // the list says so
	}
	if name := columns.OfPlayer(fit); name != "" {
		instead := "name the account before the filter: `farsight matches 'Name#TAG " + fit.String() + "'`"
		return engine.Problemf(engine.ErrInvalid, instead, "%s is one player's in a match", name)
	}
	return nil
}

// Limits lists the buckets with the filter in their host or method, such as europe or match-v5, after
// what is down.
func Limits(filter string) List {
	return listing[columns.Limit]{
		of: columns.Limits, shown: columns.LimitLines, filter: filter,
		names: func(r *columns.Limit) []string { return []string{r.Host, r.Method} },
		none:  "no limits known yet: they are learnt from the headers of the first answers",
		read: func(ctx context.Context, c engine.Console) (source[columns.Limit], error) {
			l, err := engine.Ask[engine.LimitsRow](ctx, c, engine.LimitsQuery{})
			l.Buckets = slices.DeleteFunc(l.Buckets, func(b engine.BucketRow) bool { return !part(filter, b.Host, b.Method) })
			l.Breakers = slices.DeleteFunc(l.Breakers, func(b engine.BreakerRow) bool { return !part(filter, b.Host, b.Method) })
			var rows []columns.Limit
			for _, b := range l.Breakers {
				rows = append(rows, columns.Breaking(b))
			}
			for _, b := range l.Buckets {
				rows = append(rows, columns.Limit{BucketRow: b})
			}
			src := all(rows)
			src.foot = func() string {
				if len(rows) == 0 { // there is a sentence already, which says how limits are learnt
					return l.Cause
				}
				return l.Cause + "; " + howLearnt(l)
			}
			return src, err
		},
	}.list()
}

// howLearnt says when the limits were learnt, how many calls wait for them and how many went before they
// were known. A call may wait for several windows: the longest line is told, not their sum.
func howLearnt(l engine.LimitsRow) string {
	text := "learnt from headers"
	if at := l.Learnt(); !at.IsZero() {
		text += " " + human.Stamp(at)
	}
	waiting := len(l.Waiting)
	for _, b := range l.Buckets {
		waiting = max(waiting, b.Waiting)
	}
	return text + ", " + human.Counted(waiting, "call waits", "calls wait") + ", " +
		human.Counted(l.Blind(), "call was", "calls were") + " sent before the limits were known"
}

// Alerts lists every alert, those that fire first, and below them when they were evaluated.
func Alerts() List {
	return listing[engine.AlertRow]{
		of: columns.Alerts, shown: columns.AlertLines,
		read: once(engine.AlertsQuery{}, func(a engine.AlertsAnswer) []engine.AlertRow { return a.Alerts },
			func(a engine.AlertsAnswer) string {
				if a.At.IsZero() {
					return "alerts are evaluated while an engine runs; none has run here yet"
				}
				return "evaluated " + human.SpanAgo(a.At, time.Now())
			}),
	}.list()
}

// Schedules lists what recurs, with the next runs in the schedule's own zone and
// in UTC. The filter is a part of a schedule's name.
func Schedules(filter string) List {
	return listing[engine.ScheduleRow]{
		of: columns.Schedules, shown: columns.ScheduleLines, filter: filter,
		names: func(s *engine.ScheduleRow) []string { return []string{s.Name} },
		read:  once(engine.SchedulesQuery{}, func(p engine.SchedulesPage) []engine.ScheduleRow { return p.Schedules }, nil),
	}.list()
}

// Members lists the processes that share a database, and below them who leads. A store in a directory has
// none: engine.ErrNotFound says so.
func Members(filter string) List {
	return listing[engine.MemberRow]{
		of: columns.Members, shown: columns.MemberLines, filter: filter,
		none: "nobody works on it: `farsight serve` does",
		read: once(engine.MembersQuery{}, func(p engine.MembersPage) []engine.MemberRow { return p.Members },
			func(p engine.MembersPage) string { return columns.Led(&p) }),
	}.list()
}

// Ranks lists an account's rank history, newest first; queue, such as RANKED_SOLO_5x5, "" = all queues.
// The account is a Riot ID or our id.
func Ranks(account, queue string) List {
	return listing[engine.RankRow]{
		of: columns.Ranks, shown: columns.RankLines,
		none: "no rank is stored yet: ranks of tracked accounts are fetched once a day",
		read: pages(func(p engine.Page) engine.Query {
			return engine.RanksQuery{Account: account, Queue: queue, Page: p}
		}, func(p engine.RanksPage) ([]engine.RankRow, string) { return p.Ranks, p.Next }),
	}.list()
}

// Audit lists the newest commands that fit, at most last of them; 0 = all. No more are asked for than
// are wanted.
func Audit(q engine.AuditQuery, last int) List {
	return listing[engine.AuditEntry]{
		of: columns.Audit, shown: columns.AuditLines, none: "no command of an operator fits",
		read: func(ctx context.Context, c engine.Console) (source[engine.AuditEntry], error) {
			left := last // of what was asked for; below 0 and of no meaning where all are
			return pages(func(p engine.Page) engine.Query {
				q.Page = p
				if last > 0 {
					q.Limit = min(pageSize, left)
				}
				return q
			}, func(p engine.AuditPage) ([]engine.AuditEntry, string) {
				if left -= len(p.Entries); last > 0 && left <= 0 {
					p.Next = ""
				}
				return p.Entries, p.Next
			})(ctx, c)
		},
	}.list()
}

// accountPages reads all accounts, page by page.
var accountPages = pages(func(p engine.Page) engine.Query {
	return engine.AccountsQuery{Page: p}
}, func(p engine.AccountsPage) ([]engine.AccountRow, string) { return p.Accounts, p.Next })

// Config prints every setting with its value, where that comes from and the variable that sets it.
// Secrets were cut by whoever made the settings.
func Config(o Out, settings []engine.Setting) error {
	if o.JSON {
		return lines(o, settings)
	}
	cols := []column{words("SETTING"), wide("VALUE"), words("SOURCE"), words("ENVIRONMENT")}
	return tableOf(o, cols, settings, func(s engine.Setting) []string {
		return []string{s.Name, s.Value, s.Source, s.Env}
	})
}

// Player is an account of the simulator: "Night Heron#DEMO" on euw1 with 879 matches.
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
	cols := []column{wide("RIOT ID"), words("PLATFORM"), figures("MATCHES")}
	return tableOf(o, cols, players, func(p Player) []string {
		return []string{safe.Line(p.RiotID, 40), p.Platform, count(p.Matches)}
	})
}
