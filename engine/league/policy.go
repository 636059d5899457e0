package league

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Policy is what an account's syncs cover. A field that is zero says nothing:
// what the account leaves open its tags may say, and then the settings do.
type Policy struct {
	Queues    []int  // queue ids; none = all
	Type      string // "ranked", "normal", "tourney", "tutorial"; "" = all
	Lookback  time.Duration
	Timelines Timelines
	Cadence   time.Duration // between two `latest` runs; 0 = each run of the schedule looks at it
	Priority  uint8         // 1 (first) to 4
}

// byLastGame is the cadence that goes by the last game, "cadence=adaptive".
const byLastGame = -time.Microsecond

const adaptive = "adaptive"

// IsZero reports whether the policy says nothing.
func (p Policy) IsZero() bool { return p.String() == "" }

// Or fills what p leaves open from other.
func (p Policy) Or(other Policy) Policy {
	if len(p.Queues) == 0 && p.Type == "" { // together they are one filter
		p.Queues, p.Type = other.Queues, other.Type
	}
	if p.Lookback == 0 {
		p.Lookback = other.Lookback
	}
	if p.Timelines == "" {
		p.Timelines = other.Timelines
	}
	if p.Cadence == 0 {
		p.Cadence = other.Cadence
	}
	if p.Priority == 0 {
		p.Priority = other.Priority
	}
	return p
}

// Filter says which games the policy lists.
func (p Policy) Filter() Filter { return newFilter(p.Queues, p.Type) }

// String is the text that ParsePolicy reads; "" when the policy says nothing.
func (p Policy) String() string {
	var words []string
	say := func(set bool, name, value string) {
		if set {
			words = append(words, name+"="+value)
		}
	}
	say(len(p.Queues) > 0, "queues", joinInts(p.Queues))
	say(p.Type != "", "type", p.Type)
	say(p.Lookback > 0, "lookback", lengthText(p.Lookback))
	say(p.Timelines != "", "timelines", string(p.Timelines))
	say(p.Cadence > 0, "cadence", lengthText(p.Cadence))
	say(p.Cadence == byLastGame, "cadence", adaptive)
	say(p.Priority > 0, "priority", strconv.Itoa(int(p.Priority)))
	return strings.Join(words, " ")
}

// policyWords is what a policy's text may say.
var policyWords = map[string]func(*Policy, string) error{
	"queues": (*Policy).setQueues,
	"type": func(p *Policy, v string) (err error) {
		p.Type, err = v, among(v, "ranked", "normal", "tourney", "tutorial")
		return err
	},
	"timelines": func(p *Policy, v string) (err error) {
		p.Timelines, err = Timelines(v), among(v, "all", "ranked", "none")
		return err
	},
	"lookback": func(p *Policy, v string) (err error) {
		p.Lookback, err = parseLength(v, 24*time.Hour)
		return err
	},
	"cadence": func(p *Policy, v string) (err error) {
		if v == adaptive {
			p.Cadence = byLastGame
			return nil
		}
		p.Cadence, err = parseLength(v, time.Hour)
		return err
	},
	"priority": func(p *Policy, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 4 {
			return fmt.Errorf("%q is no priority: use 1 (first) to 4", v)
		}
		p.Priority = uint8(n)
		return nil
	},
}

// ParsePolicy reads "queues=420,440 lookback=90d timelines=ranked cadence=6h
// priority=2 type=ranked", in any order. Every fault is told at once.
func ParsePolicy(text string) (p Policy, err error) {
	var faults []error
	said := map[string]bool{}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		set, ok := policyWords[name]
		switch {
		case !ok:
			faults = append(faults, fmt.Errorf("%q is no part of a policy: use queues=, type=, lookback=, timelines=, cadence= or priority=", word))
		case said[name]:
			faults = append(faults, fmt.Errorf("%s= is said twice", name))
		default:
			faults = append(faults, set(&p, value))
		}
		said[name] = true
	}
	return p, errors.Join(faults...)
}

// setQueues reads ids with commas between them, each once and in order: two policies that mean the same
// are written the same.
func (p *Policy) setQueues(v string) error {
	for _, word := range strings.Split(v, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 99_999 {
			return fmt.Errorf("%q is no queue id: write queues=420,440", word)
		}
		if !slices.Contains(p.Queues, n) {
			p.Queues = append(p.Queues, n)
		}
	}
	if len(p.Queues) > maxQueues {
		return fmt.Errorf("%d queues are too many: each is listed by calls of its own, name at most %d", len(p.Queues),
			maxQueues)
	}
	slices.Sort(p.Queues)
	return nil
}

// maxQueues bounds what one sync lists.
const maxQueues = 10

// among refuses what is none of the words, and names them.
func among(v string, words ...string) error {
	if slices.Contains(words, v) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s", v, strings.Join(words, ", "))
}

// parseLength reads "90d", "6w" or a duration such as "36h".
func parseLength(v string, least time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if n, isUnit := strings.CutSuffix(v, unit); isUnit && err != nil {
			if days, bad := strconv.Atoi(n); bad == nil && days < 10_000 {
				d, err = time.Duration(days)*length, nil
			}
		}
	}
	if err != nil || d < least {
		return 0, fmt.Errorf("%q is no length of time from %s up: write 90d, 6w or 36h", v, lengthText(least))
	}
	return d, nil
}

// lengthText is what parseLength reads: 90d, 36h.
func lengthText(d time.Duration) string {
	if day := 24 * time.Hour; d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	if d%time.Hour == 0 {
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return d.String()
}

// joinInts writes ids with commas between them.
func joinInts(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

// Filter says which games a sync lists: all, or those of some queues and a type.
// It is a text, so that runs can be compared and ranges be kept by it; "" = all.
type Filter string

// newFilter makes the filter of queues and a type.
func newFilter(queues []int, kind string) Filter {
	var parts []string
	if len(queues) > 0 {
		parts = append(parts, "queue="+joinInts(queues))
	}
	if kind != "" {
		parts = append(parts, "type="+kind)
	}
	return Filter(strings.Join(parts, " "))
}

// List is what one list of Riot's holds: the games of one queue (0 = any) and
// one type ("" = any).
type List struct {
	Queue int
	Type  string
}

// Name is the list's filter; "" = all games.
func (l List) Name() string {
	if l.Queue == 0 {
		return string(newFilter(nil, l.Type))
	}
	return string(newFilter([]int{l.Queue}, l.Type))
}

// Lists are the lists that make up the filter: Riot takes one queue at a time.
func (f Filter) Lists() []List {
	p := f.parts()
	if len(p.Queues) == 0 {
		return []List{{Type: p.Type}}
	}
	lists := make([]List, len(p.Queues))
	for i, q := range p.Queues {
		lists[i] = List{Queue: q, Type: p.Type}
	}
	return lists
}

// parts reads the filter. It was made by newFilter: what is not readable in it is
// left out.
func (f Filter) parts() (p Policy) {
	for _, word := range strings.Fields(string(f)) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "queue":
			_ = p.setQueues(value)
		case "type":
			p.Type = value
		}
	}
	return p
}

// Span is a calendar length of time. Retention is counted in calendar years
// (S0-4), which leap years make longer or shorter than n times 365 days. The
// zero Span means "off".
type Span struct {
	Years, Months, Days int
}

var spanForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,3})(y|mo|w|d)$`) })

// ParseSpan reads "2y", "18mo", "6w", "90d" or "0" (off).
func ParseSpan(s string) (Span, error) {
	if s == "0" {
		return Span{}, nil
	}
	m := spanForm().FindStringSubmatch(s)
	if m == nil {
		return Span{}, fmt.Errorf("%q is no length of time: write 2y, 18mo, 6w, 90d, or 0 for off", s)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return Span{}, fmt.Errorf("%q is no length of time: %w", s, err)
	}
	return map[string]Span{"y": {Years: n}, "mo": {Months: n}, "w": {Days: 7 * n}, "d": {Days: n}}[m[2]], nil
}

// Off reports whether the span means "no limit".
func (s Span) Off() bool { return s == Span{} }

// Before is the instant that lies the span before now, in UTC.
func (s Span) Before(now time.Time) time.Time {
	return now.UTC().AddDate(-s.Years, -s.Months, -s.Days)
}

// Expired reports whether something played at t is strictly older than the span
// at now. Exactly the span is not expired; an unknown instant is not either.
func (s Span) Expired(t, now time.Time) bool {
	return !s.Off() && !t.IsZero() && t.Before(s.Before(now))
}

// String is what ParseSpan reads; "0" of one that is off.
func (s Span) String() string {
	switch {
	case s.Off():
		return "0"
	case s.Years > 0:
		return strconv.Itoa(s.Years) + "y"
	case s.Months > 0:
		return strconv.Itoa(s.Months) + "mo"
	}
	return strconv.Itoa(s.Days) + "d"
}
