package engine

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// Load is calls to come that take turns with others: those of one owner's jobs in one
// queue, to one method on one host.
type Load struct {
	Host     string
	Method   string
	Queue    Queue
	Owner    string
	Priority Priority // 0 = PriorityNormal
	Calls    float64  // expected: an estimate has fractions
}

// Delay is work that ends later because of a command (I-2): a scheduled run that comes
// while the command's calls are being made, or a sync that is at work now.
type Delay struct {
	Schedule string        `json:"schedule,omitempty"` // its name; "" = it is a sync
	At       time.Time     `json:"at,omitzero"`        // instant of the scheduled run
	Account  string        `json:"account,omitempty"`  // of the sync: its id
	RiotID   string        `json:"riot_id,omitempty"`  // of the sync, as received
	Calls    int           `json:"calls"`              // that it is expected to make on the shared hosts
	By       time.Duration `json:"by_ns"`              // how much later it ends
	Bucket   string        `json:"bucket"`             // the tightest one that both use
}

// Beside adds the calls of hosts, which work side by side: the slowest one counts.
func (c *Cost) Beside(perHost map[string]Cost) {
	for _, host := range slices.Sorted(maps.Keys(perHost)) {
		one := perHost[host]
		c.Calls += one.Calls
		c.AtMost = c.AtMost || one.AtMost
		if one.Takes >= c.Takes {
			c.Takes, c.Bucket = one.Takes, one.Bucket
		}
	}
}

// CallsText is the number of calls in words: about so many, or at most.
func (c Cost) CallsText() string {
	return human.Either(c.AtMost, "at most ", "about ") + human.Counted(c.Calls, "call", "calls")
}

// DoneText says when the last call is made, as the clock of now shows it.
func (c Cost) DoneText(now time.Time) string {
	return human.Either(c.AtMost, "done by about ", "done about ") + When(now.Add(c.Takes), now)
}

// Delayed says in half a sentence what ends later because of a command: the scheduled
// runs with their instants as the clock of now shows them, and the sync that is held up
// most. "" when nobody has looked.
func (c Cost) Delayed(now time.Time) string {
	if c.Delays == nil && c.Unknown == "" {
		return ""
	}
	var parts []string
	if list := c.delayList(now); list != "" {
		parts = append(parts, "delays "+list)
	}
	switch {
	case c.Unknown != "" && len(parts) > 0:
		parts = append(parts, "what else it delays is unknown: "+c.Unknown)
	case c.Unknown != "":
		parts = append(parts, "what it delays is unknown: "+c.Unknown)
	case len(parts) == 0:
		parts = append(parts, "it delays nothing else")
	}
	return strings.Join(parts, "; ")
}

// delayList names each scheduled run that comes later, and of the syncs the one that is delayed most
// with how many others: a list of names would hide the number that counts.
func (c Cost) delayList(now time.Time) string {
	var parts []string
	by := human.Either(c.AtMost, " by up to ", " by about ")
	var most Delay
	syncs := 0
	for _, d := range c.Delays {
		if d.Schedule != "" {
			parts = append(parts, "the "+d.Schedule+" run of "+When(d.At, now)+by+human.Expected(d.By))
			continue
		}
		if syncs++; d.By > most.By {
			most = d
		}
	}
	if syncs > 0 {
		text := most.RiotID + by + human.Expected(most.By)
		if syncs > 1 {
			text += " and " + human.Counted(syncs-1, "other sync", "other syncs") + " by less"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// When is a time of day as the clock of now shows it, with its day if that is another.
func When(at, now time.Time) string {
	at = at.In(now.Location())
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("Mon 2 Jan 15:04")
}

// Cost is what a command will take (S3-12).
type Cost struct {
	Calls  int           `json:"calls"`    // to Riot
	Takes  time.Duration `json:"takes_ns"` // until the last call is made, at the limits as they stand
	Bucket string        `json:"bucket"`   // the tightest one
	// AtMost says that Calls and Takes are the worst case, and so is what they delay:
	// nobody has counted yet how many games the account has.
	AtMost bool `json:"at_most,omitempty"`
	// Delays is what ends later for it, the scheduled runs first; nil = nobody has looked,
	// empty = nothing does. Unknown says why it cannot be told, of some hosts or of all.
	Delays  []Delay `json:"delays,omitzero"`
	Unknown string  `json:"unknown,omitempty"`
	Loads   []Load  `json:"-"` // the calls by who makes them, for Delays
	// Calendar is the host that decides, with the calls in the windows of its limit; nil =
	// nothing can be foreseen.
	Calendar *HostForecast `json:"calendar,omitempty"`
}

// ETA says when work ends and what sets the pace (I-3).
type ETA struct {
	Calls  int           `json:"calls"`            // still to make
	Low    time.Duration `json:"low_ns"`           // as early as the limits let it
	High   time.Duration `json:"high_ns"`          // at their even pace
	Bucket string        `json:"bucket,omitempty"` // the tightest one: "app:europe 100/120s"
	// false: the limits are not known yet, or nobody knows when work goes on
	Known bool `json:"known"`
	// Why says what decides in place of a bucket, or why nobody knows.
	Why   string `json:"why,omitempty"`
	Stand Stand  `json:"stand,omitempty"` // what keeps the run from going on; "" = nothing
}
