package sim

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// account is a known player with a history.
type account struct {
	spec      PlayerSpec
	me        person
	name, tag string
	games     []*played      // newest first
	grown     int            // games that appeared since the start
	lives     route.Platform // of an invented player: where their account is
}

// played is one game as the match index knows it.
type played struct {
	id       string
	number   uint64
	platform route.Platform
	at       time.Time // its start
	shape    Shape
	era      era
	queue    int // of the game; an aborted one is still listed under it
	missing  bool
	timeless bool // too old for the index to know its time: vanishes under startTime
	known    []member
	recorded *recording // a fixture instead of a generated payload
}

// member is a known account at a place in the list of participants.
type member struct {
	who  person
	slot int
}

// world is everything that exists: accounts, games and who played them. It changes only when games are
// added to growing accounts, under the lock of Sim.
type world struct {
	seed     uint64
	epoch    time.Time
	accounts []*account
	byName   map[string]*account
	games    map[string]*played
	invented invented
}

func newWorld(seed uint64, epoch time.Time, specs []PlayerSpec) *world {
	w := &world{seed: seed, epoch: epoch, byName: map[string]*account{}, games: map[string]*played{}, invented: newInvented()}
	for _, spec := range specs {
		w.addAccount(spec)
	}
	return w
}

func (w *world) addAccount(spec PlayerSpec) *account {
	a := &account{spec: spec, me: person{n: uint32(len(w.accounts))}}
	a.name, a.tag = cutRiotID(spec.RiotID)
	w.accounts = append(w.accounts, a)
	w.byName[foldRiotID(spec.RiotID)] = a
	w.share(a)
	for n := range spec.Matches - len(a.games) {
		w.addGame(a, n, w.timeOf(a, n))
	}
	slices.SortStableFunc(a.games, newestFirst)
	w.lose(a)
	return a
}

// unstamped is the age beyond which a game's time is not stored. At Riot that is 2021-06-16; here it
// counts from the epoch, like the eras.
const unstamped = 1980 * day

func newestFirst(x, y *played) int {
	if c := y.at.Compare(x.at); c != 0 {
		return c
	}
	return cmp.Compare(y.number, x.number)
}

// timeOf is the start of a's n-th newest game: evenly spread over the span, each moved by a hash.
func (w *world) timeOf(a *account, n int) time.Time {
	span := a.spec.Span
	if span == 0 {
		span = time.Duration(a.spec.Matches) * 8 * hour
	}
	mean := span / time.Duration(max(1, a.spec.Matches-a.spec.Shared))
	shift := time.Duration(0)
	if n > 0 {
		shift = time.Duration(w.hash(a, "shift", n).unit() * 0.8 * float64(mean))
	}
	return w.epoch.Add(-time.Duration(n)*mean - shift).Truncate(time.Millisecond)
}

func (w *world) hash(a *account, domain string, n int) hash {
	return start(w.seed).str(domain).str(a.spec.RiotID).num(uint64(n))
}

func (w *world) addGame(a *account, n int, at time.Time) *played {
	e := eraOf(w.epoch.Sub(at))
	shape := naturalShape(w.hash(a, "shape", n), e)
	if len(a.spec.Shapes) > 0 {
		shape = a.spec.Shapes[n%len(a.spec.Shapes)]
	}
	f := shapes[shape]
	g := &played{platform: a.spec.Platform, at: at, shape: shape, era: f.pin(e), queue: f.queue}
	g.timeless = w.epoch.Sub(at) > unstamped
	w.number(g, w.hash(a, "number", n))
	g.known = []member{{a.me, start(w.seed).str("slot").str(g.id).below(f.humans(shape))}}
	w.games[g.id] = g
	a.games = append(a.games, g)
	return g
}

// humans is how many places in the list of participants belong to people.
func (f form) humans(s Shape) int {
	if s == Bots {
		return 5
	}
	return f.players
}

// number gives g the next free game number; numbers grow with time, as Riot's do.
func (w *world) number(g *played, h hash) {
	since := g.at.Unix() - time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	g.number = 1_000_000 + uint64(max(0, since))*8 + uint64(h.below(8))
	prefix := strings.ToUpper(string(g.platform)) + "_"
	for {
		g.id = prefix + strconv.FormatUint(g.number, 10)
		if w.games[g.id] == nil {
			return
		}
		g.number++
	}
}

// share lets a take part in games of an earlier account, spread evenly over its history.
func (w *world) share(a *account) {
	if a.spec.Shared == 0 {
		return
	}
	with := w.byName[foldRiotID(a.spec.ShareWith)]
	open := slices.DeleteFunc(slices.Clone(with.games), func(g *played) bool {
		return shapes[g.shape].humans(g.shape) <= len(g.known)
	})
	n := min(a.spec.Shared, len(open))
	for i := range n {
		g := open[i*len(open)/n]
		g.known = append(g.known, member{a.me, w.freeSlot(g)})
		a.games = append(a.games, g)
	}
}

func (w *world) freeSlot(g *played) int {
	n := shapes[g.shape].humans(g.shape)
	slot := start(w.seed).str("slot").str(g.id).num(uint64(len(g.known))).below(n)
	for slices.ContainsFunc(g.known, func(m member) bool { return m.slot == slot }) {
		slot = (slot + 1) % n
	}
	return slot
}

// lose makes spec.Missing of the account's own games answer 404.
func (w *world) lose(a *account) {
	own := slices.DeleteFunc(slices.Clone(a.games), func(g *played) bool { return g.known[0].who != a.me })
	n := min(a.spec.Missing, len(own))
	for i := range n {
		own[(2*i+1)*len(own)/(2*n)].missing = true
	}
}

// grow adds the games that ended since the simulator started, elapsed ago.
func (w *world) grow(a *account, elapsed time.Duration) {
	if a.spec.Grow <= 0 {
		return
	}
	for due := int(elapsed / a.spec.Grow); a.grown < due; {
		a.grown++
		w.addNewest(a, w.epoch.Add(time.Duration(a.grown)*a.spec.Grow))
	}
}

func (w *world) addNewest(a *account, at time.Time) {
	w.addGame(a, len(a.games), at)
	slices.SortStableFunc(a.games, newestFirst)
}
