// Package world is what a simulated Riot knows: players, their games, and the payloads of those. All of it follows
// from a seed: facts.go invents how a game went, templates holds the JSON that tells it, template.go fills it in.
package world

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// Account is a known player with a history.
type Account struct {
	Spec      Spec
	Me        Person
	name, tag string
	Games     []*Game        // newest first
	grown     int            // games that appeared since the start
	rung      *Rung          // of a player of a ladder
	lives     route.Platform // where the account is; "" of an invented player whom no platform was asked for
}

// Game is one game as the match index knows it.
type Game struct {
	ID       string
	number   uint64
	Platform route.Platform
	At       time.Time // its start
	Shape    Shape
	era      era
	Queue    int  // of the game; an aborted one is still listed under it
	Missing  bool // listed, and yet a 404
	Timeless bool // too old for the index to know its time: vanishes under startTime
	known    []member
	Recorded *Recording // a fixture instead of a generated payload
}

// member is a known account at a place in the list of participants.
type member struct {
	who  Person
	slot int
}

// World is everything that exists: accounts, games and who played them. Games appear, and people are made up, while
// calls are answered; what may change then is guarded by one lock, which is never held while another is taken.
type World struct {
	seed  uint64
	Epoch time.Time

	mu       sync.RWMutex
	Accounts []*Account          // of the options, in their order, then of the recordings
	byNumber map[uint32]*Account // those, and the people made up for names that somebody asked for
	byName   map[string]*Account // the same, by their folded Riot IDs
	Games    map[string]*Game    // by id
	ladders  map[rungKey][]*Account
	ranked   int // players of ladders
}

// New makes the world of a seed, in which these players have played until epoch.
func New(seed uint64, epoch time.Time, specs []Spec) *World {
	epoch = epoch.Truncate(time.Millisecond) // as games are told: their ages are whole, too
	w := &World{
		seed: seed, Epoch: epoch,
		byNumber: map[uint32]*Account{}, byName: map[string]*Account{}, Games: map[string]*Game{}, ladders: map[rungKey][]*Account{},
	}
	for _, spec := range specs {
		w.addAccount(spec)
	}
	return w
}

func (w *World) addAccount(spec Spec) *Account {
	a := w.newAccount(uint32(len(w.Accounts)), spec)
	a.lives = spec.Platform
	w.Accounts = append(w.Accounts, a)
	w.share(a)
	// What is shared counts among the matches of this player.
	own := spec.Matches - len(a.Games)
	if spec.Evenings {
		for n, at := range humanHours(w.Epoch, w.nameHash(spec.RiotID), longitude[spec.Platform.Region()], own) {
			w.addGame(a, n, at)
		}
		own = 0
	}
	for n := range own {
		w.addGame(a, n, w.timeOf(a, n))
	}
	slices.SortStableFunc(a.Games, newestFirst)
	w.lose(a)
	return a
}

func (w *World) newAccount(n uint32, spec Spec) *Account {
	a := &Account{Spec: spec, Me: Person{n: n}}
	a.name, a.tag = Cut(spec.RiotID)
	w.byNumber[n], w.byName[fold(spec.RiotID)] = a, a
	return a
}

// unstamped is the age beyond which a game's time is not stored. At Riot that is 2021-06-16; here it
// counts from the epoch, like the eras.
const unstamped = 1980 * day

func newestFirst(x, y *Game) int {
	if c := y.At.Compare(x.At); c != 0 {
		return c
	}
	return cmp.Compare(y.number, x.number)
}

// timeOf is the start of a's n-th newest game: evenly spread over the span, each moved by a hash.
func (w *World) timeOf(a *Account, n int) time.Time {
	// Three games a day where nobody says otherwise.
	span := a.Spec.Span
	if span == 0 {
		span = time.Duration(a.Spec.Matches) * 8 * hour
	}
	mean := span / time.Duration(max(1, a.Spec.Matches-a.Spec.Shared))
	shift := time.Duration(0)
	// The newest game starts at the epoch sharp, so that tests know one time.
	if n > 0 {
		shift = time.Duration(w.hash(a, "shift", n).Unit() * 0.8 * float64(mean))
	}
	return w.Epoch.Add(-time.Duration(n)*mean - shift).Truncate(time.Millisecond)
}

func (w *World) hash(a *Account, domain string, n int) keyed.Hash {
	return keyed.Start(w.seed).Str(domain).Str(a.Spec.RiotID).Num(uint64(n))
}

func (w *World) addGame(a *Account, n int, at time.Time) {
	// Ages count from the epoch: a simulator of any year has games of today.
	e := eraOf(w.Epoch.Sub(at))
	// Drawn even where the player lists shapes: the hash is of this domain alone, and nothing else moves.
	shape := naturalShape(w.hash(a, "shape", n), e)
	if len(a.Spec.Shapes) > 0 {
		shape = a.Spec.Shapes[n%len(a.Spec.Shapes)]
	}
	f := shapes[shape]
	g := &Game{Platform: a.Spec.Platform, At: at, Shape: shape, era: f.pin(e), Queue: f.queue}
	g.Timeless = w.Epoch.Sub(at) > unstamped
	// The id comes before the places: they are drawn from it.
	w.number(g, w.hash(a, "number", n))
	g.known = []member{{a.Me, keyed.Start(w.seed).Str("slot").Str(g.ID).Below(f.humans(shape))}}
	w.Games[g.ID] = g
	a.Games = append(a.Games, g)
}

// humans is how many places in the list of participants belong to people.
func (f form) humans(s Shape) int {
	if s == Bots {
		return 5
	}
	return f.players
}

// newestNumber is about that of a game which starts at the epoch: EUW1_6789620800.
const newestNumber = 6_789_620_800

// number gives g the next free game number; numbers grow with time, as Riot's do. They follow from how long
// before the epoch the game was: a simulator that is started again in another hour knows the ids that it gave.
func (w *World) number(g *Game, h keyed.Hash) {
	since := int64(math.Floor(g.At.Sub(w.Epoch).Seconds()))
	// Eight numbers a second, and one of them by hash: games of the same second differ.
	g.number = uint64(max(1_000_000, newestNumber+8*since)) + uint64(h.Below(8))
	// "EUW1_"
	prefix := strings.ToUpper(string(g.Platform)) + "_"
	for {
		g.ID = prefix + strconv.FormatUint(g.number, 10)
		if w.Games[g.ID] == nil {
			return
		}
		g.number++
	}
}

// share lets a take part in games of an earlier account, spread evenly over its history.
func (w *World) share(a *Account) {
	if a.Spec.Shared == 0 {
		return
	}
	with := w.byName[fold(a.Spec.ShareWith)]
	// A game with one player, or one that is shared by all it has room for, takes nobody more.
	open := slices.DeleteFunc(slices.Clone(with.Games), func(g *Game) bool {
		return shapes[g.Shape].humans(g.Shape) <= len(g.known)
	})
	n := min(a.Spec.Shared, len(open))
	for i := range n {
		// Every (len/n)-th one.
		g := open[i*len(open)/n]
		g.known = append(g.known, member{a.Me, w.freeSlot(g)})
		a.Games = append(a.Games, g)
	}
}

func (w *World) freeSlot(g *Game) int {
	n := shapes[g.Shape].humans(g.Shape)
	slot := keyed.Start(w.seed).Str("slot").Str(g.ID).Num(uint64(len(g.known))).Below(n)
	for slices.ContainsFunc(g.known, func(m member) bool { return m.slot == slot }) {
		slot = (slot + 1) % n
	}
	return slot
}

// lose makes spec.Missing of the account's own games answer 404.
func (w *World) lose(a *Account) {
	// Shared games stay: they would be missing for the other player as well.
	own := slices.DeleteFunc(slices.Clone(a.Games), func(g *Game) bool { return g.known[0].who != a.Me })
	n := min(a.Spec.Missing, len(own))
	for i := range n {
		// In the middle of n equal parts: not the newest game, nor the oldest.
		own[(2*i+1)*len(own)/(2*n)].Missing = true
	}
}

// History is what an account has played until elapsed after the start, newest first. Games of a growing one end
// meanwhile.
func (w *World) History(a *Account, elapsed time.Duration) []*Game {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Spec.Grow > 0 {
		for due := int(elapsed / a.Spec.Grow); a.grown < due; {
			a.grown++
			w.addNewest(a, w.Epoch.Add(time.Duration(a.grown)*a.Spec.Grow))
		}
	}
	return slices.Clone(a.Games)
}

// PlayOn lets n more games of a end, a minute apart.
func (w *World) PlayOn(a *Account, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range n {
		newest := w.Epoch
		if len(a.Games) > 0 {
			newest = a.Games[0].At
		}
		w.addNewest(a, newest.Add(time.Minute))
	}
}

func (w *World) addNewest(a *Account, at time.Time) {
	w.addGame(a, len(a.Games), at)
	slices.SortStableFunc(a.Games, newestFirst)
}

// Game is the one with an id; nil = there is none.
func (w *World) Game(id string) *Game {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.Games[id]
}

// RiotID is the name of a person, in its two parts.
func (w *World) RiotID(p Person) (name, tag string) {
	if p.Stranger {
		return strangerName(w.seed, route.Platforms()[p.platform], int(p.n)), strangerTag(int(p.n))
	}
	a := w.Known(p)
	return a.name, a.tag
}

// Platform is where a person plays; empty for an invented one whom nobody has looked for yet.
func (w *World) Platform(p Person) route.Platform {
	if p.Stranger {
		return route.Platforms()[p.platform]
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byNumber[p.n].Spec.Platform
}

// Exists reports whether there is such a person: a PUUID may be older than the options.
func (w *World) Exists(p Person) bool {
	if p.Stranger {
		return p.n < population && int(p.platform) < len(route.Platforms())
	}
	return w.Known(p) != nil
}

// Known is the account of a person; nil for a stranger.
func (w *World) Known(p Person) *Account {
	if p.Stranger {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byNumber[p.n]
}

// Named is the account with a Riot ID, made up or not; nil = nobody has it.
func (w *World) Named(riotID string) *Account {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byName[fold(riotID)]
}

// Find is the player with a Riot ID. A stranger's tag names it but for the platform.
func (w *World) Find(name, tag string) (Person, bool) {
	if a := w.Named(name + "#" + tag); a != nil {
		return a.Me, true
	}
	// The tag has the number; the name must fit it, or everybody with that tag would be found.
	n, ok := parseStrangerTag(tag)
	if !ok {
		return Person{}, false
	}
	for _, p := range route.Platforms() {
		if fold(strangerName(w.seed, p, n)) == fold(name) {
			return strangerOf(p, n), true
		}
	}
	return Person{}, false
}
