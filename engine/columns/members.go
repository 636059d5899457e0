package columns

import (
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type member = engine.MemberRow

// Members is what is told of a process among those that share a database.
//
//	MEMBER     HOST    VERSION  ROLE   IN HAND  CALLS/MIN  LAST SIGN  FOR  CLOCK
//	4711-9f3c  kraken  1.2.0    leads  12       48         now        2 h  +0.0 s
var Members = catalogue(filter.Options{Free: []string{"member", "host", "role", "note"}},
	name("member", "its process, and four digits by chance", func(r *member) string { return r.ID }).
		head("MEMBER", table.Words, 11, 14).rising(),
	name("host", "the machine it runs on", func(r *member) string { return r.Host }).head("HOST", table.Words, 12, 22).
		rising(),
	name("version", "of its program", func(r *member) string { return r.Version }).head("VERSION", table.Words, 7, 14).
		drop(6).colour(themes.Dim).rising(),
	name("role", "leads, stands by, never leads, gone", func(r *member) engine.MemberRole { return r.Role }).
		head("ROLE", table.State, 13, 13).rising().
		cell(func(p Pen, r *member) table.Cell { return p.Sign(roleSigns[r.Role], string(r.Role)) }),
	age("alive", "since when it is a member", func(r *member) time.Time { return r.Since }).
		head("FOR", table.Number, 7, 7).drop(4).rising().
		printsAt(func(r *member, now time.Time) string { return human.Span(now.Sub(r.Since)) }),
	span("heartbeat", "since its last sign of life: it gives one each second",
		func(r *member) time.Duration { return r.Silent }).
		head("LAST SIGN", table.Number, 9, 9).drop(2).rising().
		prints(func(r *member) string { return human.Ago(r.Silent) }).cell(func(_ Pen, r *member) table.Cell {
		if !r.Overdue() {
			return table.As(themes.Dim, human.Ago(r.Silent))
		}
		return table.As(themes.Warn, human.Ago(r.Silent))
	}),
	number("in_hand", "attempts that it has in hand", func(r *member) int { return r.InFlight }).
		head("IN HAND", table.Number, 7, 7).rising().line("IN HAND", table.Number, 0),
	number("late", "results that it brought when their jobs had moved on, and that were discarded: it stood still, "+
		"or was cut off", func(r *member) int { return r.Late }),
	number("calls", "that it made in the past minute", (*member).Minute).head("CALLS/MIN", table.Number, 9, 9).rising(),
	shown[member]("minute").head("PAST MINUTE", table.Words, SparkCells, SparkCells).drop(1),
	span("clock", "how far its machine's clock is ahead of the database's",
		func(r *member) time.Duration { return r.Ahead }).
		head("CLOCK", table.Number, 8, 8).drop(5).colour(themes.Dim).rising().
		says(func(r *member) string { return ClockOff(r.Ahead) }).
		prints(func(r *member) string { return ClockOff(r.Ahead) }),
	prose("note", "what is wrong with it, or was asked of it", NoteOf).head("NOTE", table.Words, 10, 40).flex(1).
		drop(3).colour(themes.Warn),
)

// Where members are shown, with the columns in their order.
var (
	MemberList  = Members.Pick("role member host in_hand calls minute heartbeat alive clock version note")
	MemberLines = Members.Pick("member host version role alive heartbeat in_hand calls clock note")
)

// roleSigns are the states whose signs roles have.
var roleSigns = map[engine.MemberRole]string{
	engine.MemberLeads: "RUNNING", engine.MemberStandsBy: "OK", engine.MemberFollows: "SCHEDULED",
	engine.MemberGone: "FAILED",
}

// ClockOff is how far a clock is ahead, or behind: "+0.3 s", "-12.0 s". One that is right has +0.0 s.
func ClockOff(d time.Duration) string { return fmt.Sprintf("%+.1f s", d.Seconds()) }

// clockSlack is how far a clock may be off before that is worth a word: members keep the
// database's whatever their own show, but people who compare logs do not.
const clockSlack = time.Second

// NoteOf is what is worth a word about a member; "" = nothing. The worst goes first; what was asked of
// the member, such as --no-work, comes behind what is wrong with it.
func NoteOf(r *member) string {
	switch note := MemberNote(r); {
	case note != "":
		return note
	case r.Overdue():
		return unheard(r)
	case looksOn(r):
		return "looks on: makes no calls"
	case !r.Works:
		return "--no-work: fetches no matches"
	case r.Late > 0:
		return human.Counted(r.Late, "late result", "late results") + " discarded"
	}
	return ""
}

// looksOn reports whether a member follows what others do and no more, as a sync does that they carry out,
// and a console without a key: whether it has one it does not tell.
func looksOn(r *member) bool { return r.Key == "" && !r.Works && !r.MayLead }

// MemberNote is what is wrong with a member; "" = nothing. The order is that of how much it takes from
// the fleet: a member that is gone does nothing, one without a key makes no calls, one whose clock is
// off only confuses who compares logs.
func MemberNote(r *member) string {
	switch {
	case !r.Alive():
		return unheard(r)
	case r.OtherVersion:
		return "not the leader's version"
	case r.Key == "" && !looksOn(r):
		return "no API key: makes no calls"
	case r.OtherKey:
		return "another API key: makes no calls"
	case !r.CutOff.IsZero():
		return "cannot reach Riot: no calls"
	case r.Ahead.Abs() > clockSlack:
		return "its clock is " + human.Span(r.Ahead.Abs()) +
			map[bool]string{true: " ahead", false: " behind"}[r.Ahead > 0]
	}
	return ""
}

// unheard says for how long nobody has heard of a member.
func unheard(r *member) string { return "no sign of life for " + human.Span(r.Silent) }

// Led says who leads and since when, who would if that one were gone, and what nobody has in hand. Such
// as "b41-3f20 on kraken has led for 2 h, in term 7; 1 member stands by".
func Led(p *engine.MembersPage) string {
	text := "nobody leads now"
	if m := p.Of(p.Leader); m.ID != "" {
		text = fmt.Sprintf("%s on %s has led for %s, in term %d", m.ID, m.Host, human.Span(p.At.Sub(p.Since)), p.Epoch)
	}
	ready := 0
	for i := range p.Members {
		if m := &p.Members[i]; m.Role == engine.MemberStandsBy && !m.Overdue() {
			ready++
		}
	}
	switch {
	case ready == 0 && p.Leader != "":
		text += "; nobody would take over from it"
	case ready > 0:
		text += "; " + human.Counted(ready, "member stands by", "members stand by")
	}
	if left := leftBehind(p); left != "" {
		text += "; " + left
	}
	if why := p.Stuck(); why != "" {
		text += "; " + why
	}
	return text
}

// leftBehind says what nobody has in hand; "" = nothing.
func leftBehind(p *engine.MembersPage) string {
	var parts []string
	if p.Waiting > 0 {
		parts = append(parts, human.Counted(p.Waiting, "call waits", "calls wait")+" for a member to make it")
	}
	if p.LeftOver > 0 {
		left := human.Counted(p.LeftOver, "attempt is", "attempts are")
		parts = append(parts, left+" left over from members that are gone")
	}
	return strings.Join(parts, "; ")
}
