package columns

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type (
	entry = engine.AuditEntry
	move  = engine.JobMove
)

// Audit is what is told of a command that somebody gave.
//
//	#    WHEN                 WHO            COMMAND  TARGET   DONE  REASON
//	471  2026-11-20 12:31:02  ana (console)  retry    job b41  1/1   the host is back
var Audit = catalogue(filter.Options{
	Free:  []string{"who", "op", "target", "result", "reason"},
	Fuzzy: []string{"target"},
	Age:   "age", When: "at",
},
	name("who", "", func(r *entry) string { return r.By.User }).head("WHO", table.Words, 10, 14).
		reads(func(r *entry) string { return Who(r.By) }).prints(func(r *entry) string {
		if r.By.Via == "" {
			return r.By.User
		}
		return r.By.User + " (" + r.By.Via + ")"
	}),
	name("via", "console, cli, socket, cron, engine", func(r *entry) string { return r.By.Via }),
	name("op", "retry, cancel, pause", func(r *entry) engine.Op { return r.Op }).head("WHAT", table.Words, 10, 12).
		colour(themes.Accent).rising().line("COMMAND", table.Words, 0),
	prose("target", "", func(r *entry) string { return r.Target }).head("OF", table.Words, 24, 26).flex(1).drop(1).
		rising().line("TARGET", table.Words, 1),
	prose("result", "", func(r *entry) string { return r.Result }).head("RESULT", table.Sentence, 36, 40).flex(2).
		cell(func(_ Pen, r *entry) table.Cell {
			if r.Applied == 0 {
				return table.As(themes.Dim, r.Result)
			}
			return table.Plain(r.Result)
		}),
	prose("reason", "", func(r *entry) string { return r.Reason }).head("WHY", table.Words, 18, 24).flex(1).drop(4).
		colour(themes.Dim).rising().line("REASON", table.Words, 1),
	number("changed", "how many it changed", func(r *entry) int { return r.Applied }).
		head("CHANGED", table.Number, 7, 7).drop(3).colour(themes.Dim).says(Changed).rising().
		line("DONE", table.Number, 0).
		prints(func(r *entry) string { return fmt.Sprintf("%d/%d", r.Applied, r.Matched) }),
	past("at", "", func(r *entry) time.Time { return r.At }).head("WHEN", table.Words, 12, 12).colour(themes.Dim).
		greatestFirst().prints(func(r *entry) string { return human.Stamp(r.At) }),
	age("age", "", func(r *entry) time.Time { return r.At }),
	shown[entry]("undo").head("UNDO", table.Words, 6, 6).drop(2),
	shown[entry]("seq").head("#", table.Number, 5, 6).drop(5).colour(themes.Dim).
		says(func(r *entry) string { return seq(r) }).
		sort(func(a, b *entry) int { return cmp.Compare(a.Seq, b.Seq) }).line("", table.Number, 0).prints(seq).
		value(func(r *entry) any { return r.Seq }),
)

// Where the audit is shown, with the columns in their order.
var (
	AuditList  = Audit.Pick("at who op target result changed undo reason seq")
	AuditLines = Audit.Pick("seq at who op target changed result reason")
)

// seq is the entry's number as it is typed again, behind undo: without separators of thousands.
func seq(r *entry) string { return strconv.FormatUint(r.Seq, 10) }

// Who is ana@console.
func Who(a engine.Actor) string {
	switch {
	case a.User == "":
		return cmp.Or(a.Via, human.None)
	case a.Via == "" || a.Via == a.User:
		return a.User
	}
	return a.User + "@" + a.Via
}

// ByUser is what follows a verb to say who did it, such as " by ana"; "" = nobody did.
func ByUser(a engine.Actor) string {
	if a.User == "" {
		return ""
	}
	return " by " + a.User
}

// Changed is how many of how many a command has changed. Where all were changed one number says so: 12,
// else 12/14.
func Changed(r *entry) string {
	if r.Matched == r.Applied {
		return human.Count(int64(r.Applied))
	}
	return human.Count(int64(r.Applied)) + "/" + human.Count(int64(r.Matched))
}

// Moves is what is told of a job that a command has changed.
var Moves = catalogue(filter.Options{Free: []string{"job", "before", "after"}},
	name("job", "", func(r *move) engine.JobID { return r.Job }).head("JOB", table.ID, 14, 24).flex(1).rising(),
	stand("before", func(r *move) engine.JobStand { return r.Before }),
	stand("after", func(r *move) engine.JobStand { return r.After }),
	shown[move]("else").head("WHAT ELSE CHANGED", table.Sentence, 20, 40).flex(2).drop(1),
)

// MoveList are the columns of the screen of a command.
var MoveList = Moves.Pick("job before after else")

// stand is the state of a job before or after a command.
func stand(when string, of func(*move) engine.JobStand) *declaration[move] {
	return name(when, "state "+when, func(r *move) string { return of(r).State.String() }).
		head(strings.ToUpper(when), table.State, 11, 11).
		cell(func(p Pen, r *move) table.Cell {
			j := of(r).Put(engine.Job{})
			return p.State(StateWord(&j))
		}).sort(func(a, b *move) int { return int(of(a).State) - int(of(b).State) })
}

// Message is what a message line has said, with its number: two may say the same.
type Message struct {
	engine.Note
	Number int
}

// Messages is what is told of a message.
var Messages = catalogue(filter.Options{
	Free: []string{"text", "level", "job"}, Fuzzy: []string{"text"}, Age: "age", When: "at",
},
	prose("text", "", func(r *Message) string { return r.Text }).head("MESSAGE", table.Words, 42, 60).flex(4),
	name("level", "ok, info, warn, error", func(r *Message) engine.Level { return r.Level }).
		head("LEVEL", table.State, 7, 7).rising().
		cell(func(p Pen, r *Message) table.Cell { return p.State(LevelWord[r.Level]) }),
	name("job", "", func(r *Message) engine.JobID { return r.Job }).head("JOB", table.Words, 8, 14).drop(1).
		colour(themes.Dim).rising(),
	past("at", "", func(r *Message) time.Time { return r.At }).head("WHEN", table.Words, 12, 12).colour(themes.Dim).
		greatestFirst(),
	age("age", "", func(r *Message) time.Time { return r.At }),
)

// MessageList are the columns of the screen of messages.
var MessageList = Messages.Pick("at level text job")

// LevelWord is the state word of a level.
var LevelWord = map[engine.Level]string{
	engine.LevelOK: "OK", engine.LevelInfo: "INFO", engine.LevelWarn: "WARN", engine.LevelErr: "ERROR",
}
