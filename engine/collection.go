package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// OpCollect starts a collection, or joins the one that is the same: Command.Collect.
const OpCollect Op = "collect"

// CollectAsk says whose matches a collection fetches, and which.
type CollectAsk struct {
	Name      string   `json:"name,omitempty"`      // of the collection; "" = made of what it asks for
	Tiers     []string `json:"tiers,omitempty"`     // master+, diamond1, emerald, diamond1..diamond4
	Platforms []string `json:"platforms,omitempty"` // euw1, kr
	Queue     string   `json:"queue"`               // solo or flex: of the ladders and of the matches
	// Named are players besides those of ladders, on the one platform that is named: PUUIDs and Riot IDs. A stored
	// collection has them among its players, and keeps in Given how many they were and a digest of them.
	Named []string `json:"named,omitempty"`
	Given string   `json:"given,omitempty"`
	// Spread is how many games away players are collected, too: with 1, those with whom a player has played.
	Spread    int           `json:"spread,omitempty"`
	Since     string        `json:"since,omitempty"`     // how long ago a match may have been played: 14d, 3mo; "" = whatever Riot keeps
	Matches   int           `json:"matches,omitempty"`   // no further player is listed once so many are found; 0 = all are
	Timelines string        `json:"timelines,omitempty"` // all (default), ranked, none
	Every     time.Duration `json:"every_ns,omitempty"`  // from one reading of the ladders to the next; 0 = they are read once
	Priority  Priority      `json:"priority,omitempty"`  // of its lists and matches; 0 = PriorityLow
}

// Line is the priority of its lists and matches.
func (a CollectAsk) Line() Priority { return cmp.Or(a.Priority, PriorityLow) }

// Same reports whether two asks are for the same, whatever they are called, and however much of it they want, and how soon: Since,
// Matches, Every and Priority of a collection may be changed.
func (a CollectAsk) Same(b CollectAsk) bool {
	return slices.Equal(a.Tiers, b.Tiers) && slices.Equal(a.Platforms, b.Platforms) && a.Queue == b.Queue &&
		a.Given == b.Given && a.Spread == b.Spread && cmp.Or(a.Timelines, "all") == cmp.Or(b.Timelines, "all")
}

// DefaultName is the name of a collection that was given none: "kr-solo-master+".
func (a CollectAsk) DefaultName() string {
	parts := slices.Concat(a.Platforms, []string{a.Queue}, a.Tiers)
	if a.Given != "" {
		parts = append(parts, "players-"+a.Given)
	}
	if a.Spread > 0 {
		parts = append(parts, fmt.Sprintf("spread%d", a.Spread))
	}
	return strings.Join(parts, "-")
}

// Collection is a durable request for the matches of many players, as it is stored. It is worked off in rounds: each
// reads the ladders and then lists every player once.
type Collection struct {
	ID string `json:"id"`
	CollectAsk
	Job     JobID     `json:"job"` // of its round
	Round   int       `json:"round"`
	By      string    `json:"by,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Started is of the round, as are those below; Floor is the oldest match that it lists.
	Started  time.Time `json:"started,omitzero"`
	Floor    time.Time `json:"floor,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	Result   string    `json:"result,omitempty"` // "", completed, incomplete, failed, cancelled
	Error    string    `json:"error,omitempty"`
	Players  int       `json:"players"`      // seen by any round
	Pages    int       `json:"ladder_pages"` // read
	// Moved is how many players were named by two pages of one reading: about as many have moved the other way, and
	// were named by none.
	Moved int `json:"moved,omitempty"`
	Short int `json:"short,omitempty"` // players of whom something is missing
	// Upto is how many players were known when each ladder of the first round had been read: they are listed in that order.
	Upto  []int `json:"players_upto,omitempty"`
	Depth int   `json:"depth,omitempty"` // how far it has spread, by any round

	// Relist says that a further round follows this one at once: it had listed players when Since was set further back.
	Relist bool `json:"relist,omitempty"`

	// Where the round is: which ladder, which page of it, and the player whose listing began last.
	Ladder int    `json:"ladder"`
	Page   int    `json:"page"`
	After  string `json:"after,omitempty"`
}

// CollectionQueue is the queue of a collection: to pause it is to pause the collection.
func CollectionQueue(name string) Queue { return Queue("collect." + name) }

// Collected is how the matches of a collection stand. Each is counted once, whoever lists it.
type Collected struct {
	Found  int `json:"found"`
	Stored int `json:"stored"`
	Had    int `json:"had"`     // part of Stored: they were stored before the collection found them
	Lost   int `json:"lost"`    // cannot be had
	TooOld int `json:"too_old"` // beyond Riot's retention
	Again  int `json:"again"`   // ids that were listed of a match that was found already
}

// Open is how many are still to be fetched.
func (c Collected) Open() int { return c.Found - c.Stored - c.Lost - c.TooOld }

// NoCollection says that there is none of a name.
func NoCollection(name string) error {
	return Problemf(ErrNotFound, "list them with `farsight collections`", "there is no collection %q", name)
}

// CollectionRow is a collection with how far it is.
type CollectionRow struct {
	Collection
	Collected Collected `json:"collected"`
	Listed    int       `json:"players_listed"` // in this round
	Failed    int       `json:"players_failed"`
	Calls     int       `json:"list_calls"`
	Ladders   int       `json:"ladders"` // how many the round reads
	Paused    bool      `json:"paused,omitempty"`
	Next      time.Time `json:"next_round,omitzero"` // when the next round begins, of a collection that goes on
	// Parts are its players in the order in which they are listed; told of a collection that is asked for by its name.
	Parts []CollectionPart `json:"parts,omitempty"`
	// Last are the players whose listing began last, the last one first; told like Parts.
	Last []CollectionPlayer `json:"last_players,omitempty"`
	// Days are those on which its matches were played, as far as that is known; told like Parts.
	Days []DayPlayed `json:"days,omitempty"`
}

// CollectionPlayer is a player of a collection with what the last listing has come to.
type CollectionPlayer struct {
	Name     string    `json:"name"` // the Riot ID where that is known, else the PUUID
	Platform string    `json:"platform"`
	Tier     string    `json:"tier,omitempty"` // where the player stood last
	Division string    `json:"division,omitempty"`
	Points   int       `json:"points,omitempty"`
	Status   string    `json:"status"` // of the sync: pending, syncing, completed, failed, cancelled
	Listed   int       `json:"listed"` // matches
	New      int       `json:"new"`    // part of Listed that nobody had
	At       time.Time `json:"at,omitzero"`
	Error    string    `json:"error,omitempty"`
}

// DayPlayed is how many matches were played on a day.
type DayPlayed struct {
	Day     string `json:"day"` // UTC, 2026-11-21
	Matches int    `json:"matches"`
}

// CollectionPart are the players of a collection that came from one place.
type CollectionPart struct {
	Name    string `json:"name"` // "kr master", "euw1 diamond IV", "listed", "found since"
	Players int    `json:"players"`
	Done    int    `json:"players_done"` // of the round: listed, or failed
	// Of a ladder: whether the round has read it, and which page it reads now.
	Ladder bool `json:"ladder,omitempty"`
	Read   bool `json:"read,omitempty"`
	Page   int  `json:"page,omitempty"`
}

// Stands is how a collection stands in a word: what its round has come to, or running, paused, or waiting for the round
// to begin.
func (r *CollectionRow) Stands() string {
	switch {
	case r.Result != "":
		return r.Result
	case r.Paused:
		return "paused"
	case r.Started.IsZero():
		return "waiting"
	}
	return "running"
}

// Schedule is a collection that goes on as a schedule; false = it does not. It has the name of its queue.
func (r *CollectionRow) Schedule(q QueueState) (s ScheduleRow, ok bool) {
	if r.Every == 0 || r.Result != "" {
		return s, false
	}
	every := strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(r.Every.String())
	s = ScheduleRow{Name: string(CollectionQueue(r.Name)), Expr: "@every " + every, Zone: time.UTC.String(), Misfire: "once",
		Paused: r.Paused, By: q.By, Since: q.Since, Reason: q.Reason}
	s.ConfigExpr, s.ConfigZone = s.Expr, s.Zone
	for at := r.Next; !at.IsZero() && len(s.Next) < 3; at = at.Add(r.Every) {
		s.Next = append(s.Next, at.UTC())
	}
	began := r.Started
	if began.IsZero() && r.Round > 1 && !r.Next.IsZero() {
		began = r.Next.Add(-r.Every)
	}
	if !began.IsZero() {
		s.Last = ScheduleTick{Planned: began.UTC(), Last: began.UTC(), At: began.UTC(), Count: 1, Result: TickRan, Jobs: 1}
	}
	if began == r.Started {
		s.Last.Job = r.Job
	}
	return s, true
}

// CollectionOf is the collection that a queue, or a schedule, is of.
func CollectionOf[S ~string](of S) (name string, ok bool) {
	return strings.CutPrefix(string(of), string(CollectionQueue("")))
}

// Done is how many players the round has come to the end of.
func (r *CollectionRow) Done() int { return r.Listed + r.Failed }

// Saved is how many calls it did not make, since the match was stored or found already.
func (r *CollectionRow) Saved() int { return r.Collected.Had + r.Collected.Again }

// Fetched is how many matches it has stored itself.
func (r *CollectionRow) Fetched() int { return r.Collected.Stored - r.Collected.Had }

// CollectAhead is how many players of a collection are synced at a time.
const CollectAhead = 32

// Pace is how fast the players of a collection's round come to their end, and its calls.
type Pace struct {
	seen []paceSample
}

// paceSample is how many of a round were done at an instant.
type paceSample struct {
	at             time.Time
	job            JobID
	players, calls int
}

// perMatch is how many calls a match takes that is not stored.
func (r *CollectionRow) perMatch() int {
	if r.Timelines == "none" {
		return 1
	}
	return 2
}

// made are the calls of a round so far, for lists and what they named.
func (r *CollectionRow) made() int {
	return r.Calls + r.perMatch()*(r.Fetched()+r.Collected.Lost)
}

// A pace is taken over these spans: of late, and of the whole round until that is known.
const (
	leastPace = 15 * time.Second
	mostPace  = 5 * time.Minute
)

// see notes how far a collection is, and gives what the pace is counted from; false = nobody knows.
func (p *Pace) see(r *CollectionRow, now time.Time) (from paceSample, ok bool) {
	here := paceSample{now, r.Job, r.Done(), r.made()}
	if n := len(p.seen); n > 0 && (p.seen[0].job != r.Job || p.seen[n-1].players > here.players || now.Before(p.seen[n-1].at)) {
		p.seen = nil
	}
	if r.Stands() != "running" || r.Ladder < r.Ladders {
		p.seen = nil // after a pause the pace is measured anew
		return from, false
	}
	if n := len(p.seen); n == 0 || now.Sub(p.seen[n-1].at) >= leastPace {
		p.seen = append(p.seen, here)
	}
	for len(p.seen) > 1 && now.Sub(p.seen[0].at) > mostPace {
		p.seen = p.seen[1:]
	}
	if first := p.seen[0]; now.Sub(first.at) >= leastPace && here.players+here.calls > first.players+first.calls {
		return first, true
	}
	return paceSample{at: r.Started, job: r.Job}, now.After(r.Started)
}

// Players is how many players it lists in a second; 0 = nobody knows.
func (p *Pace) Players(r *CollectionRow, now time.Time) float64 {
	if from, ok := p.see(r, now); ok {
		return float64(r.Done()-from.players) / now.Sub(from.at).Seconds()
	}
	return 0
}

// Ends foresees when the round ends; zero = nobody knows. A first round goes by its calls: who is to be listed costs what
// those did who are. In a later one most matches are there, and the players are counted.
func (p *Pace) Ends(r *CollectionRow, now time.Time) time.Time {
	from, ok := p.see(r, now)
	if !ok || r.Done() == 0 {
		return time.Time{}
	}
	c, begun, done := r.Collected, min(r.Done()+CollectAhead, r.Players), r.Done()-from.players
	rest := float64(r.Players - begun)
	if r.Matches > 0 && c.Found > 0 { // no further player is listed once so many are found
		rest = min(rest, float64(max(r.Matches-c.Found, 0)*begun)/float64(c.Found))
	}
	after := func(left float64, done int) time.Time {
		if done <= 0 {
			return time.Time{}
		}
		return now.Add(time.Duration(left / float64(done) * float64(now.Sub(from.at))))
	}
	players := after(float64(begun-r.Done())+rest, done)
	if r.Round > 1 || c.Open() == 0 {
		return players
	}
	calls := after(float64(r.perMatch()*c.Open())+rest*float64(r.Calls+r.perMatch()*(c.Found-c.Had))/float64(begun), r.made()-from.calls)
	if begun == r.Players && !calls.IsZero() { // what the last players will name is not counted yet
		return Latest(calls, players)
	}
	return calls
}

// CollectionsQuery lists collections, the newest first; answered by CollectionsAnswer.
type CollectionsQuery struct {
	Name string `json:"name,omitempty"` // "" = all
}

// CollectionsAnswer answers CollectionsQuery.
type CollectionsAnswer struct {
	Collections []CollectionRow `json:"collections"`
}

func (CollectionsQuery) query() {}
