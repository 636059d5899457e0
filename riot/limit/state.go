package limit

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// State is what a limiter must not forget between runs, for the store to keep as
// JSON. It is small: calls are counted per hundredth of a window, not listed.
type State struct {
	Stamp  int64        `json:"at"`            // wall clock, Unix milliseconds
	Off    int64        `json:"off,omitempty"` // how far the wall clock may have been off, milliseconds
	Scopes []ScopeState `json:"scopes"`
}

// ScopeState is one host or one method on it.
type ScopeState struct {
	Host    string       `json:"host"`
	Method  string       `json:"method,omitempty"`
	Limits  string       `json:"limits,omitempty"` // as in the headers
	Known   bool         `json:"known,omitempty"`
	Calls   []Cell       `json:"calls,omitempty"`
	Foreign []Cell       `json:"foreign,omitempty"`
	Flying  int          `json:"flying,omitempty"`  // in flight, claimed or in line
	Careful bool         `json:"careful,omitempty"` // a bucket caused a 429: no mode C
	Block   *BlockState  `json:"block,omitempty"`
	Freeze  *FreezeState `json:"freeze,omitempty"`
	Gap     int64        `json:"gap,omitempty"`    // between calls of a scope that states no limit, milliseconds
	Taught  int64        `json:"taught,omitempty"` // when Limits were stated first; wall clock, Unix milliseconds
}

// Cell is N calls that the server had seen at the latest Age before the stamp.
type Cell struct {
	Age int64 `json:"a"` // milliseconds; negative: after the stamp
	N   int   `json:"n"`
}

// BlockState is a 429 that still holds.
type BlockState struct {
	Kind    Kind  `json:"kind"`
	Until   int64 `json:"until"` // wall clock, Unix milliseconds
	Strikes int   `json:"strikes,omitempty"`
	Asks    int64 `json:"asks,omitempty"` // of one above LongHold: when a call asks whether it still holds
}

// FreezeState is an operator's freeze or cap.
type FreezeState struct {
	Until   int64  `json:"until,omitempty"` // wall clock, Unix milliseconds; 0: until thawed
	Percent int    `json:"percent,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// cells is the number of parts a window is saved in.
const cells = 100

// Save returns the state at the wall-clock instant wall. Write it once a second
// while calls are made, and at the end of the run.
func (l *Limiter) Save(wall time.Time) State {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, st := l.now(), State{Stamp: wall.UnixMilli()}
	for _, name := range slices.Sorted(maps.Keys(l.hosts)) {
		l.hosts[name].tidy(now)
		for _, s := range l.hosts[name].scopes() {
			saved := s.save(now, wall)
			saved.Flying += l.hosts[name].inLine(s)
			st.Scopes = append(st.Scopes, saved)
		}
	}
	return st
}

// Unkept reports whether limits were told that no state has which is kept.
func (l *Limiter) Unkept() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unkept > 0
}

// Kept says that a state which Save gave is kept.
func (l *Limiter) Kept(st State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unkept == 0 {
		return
	}
	for _, from := range st.Scopes {
		h := l.host(from.Host)
		if s := h.scope(from.Method); s.unkept && from.Limits != "" {
			s.unkept = false
			l.unkept--
			l.notify(h, l.now())
		}
	}
}

func (s *scope) save(now instant, wall time.Time) ScopeState {
	out := ScopeState{Host: s.Host, Method: s.Method, Known: s.known, Flying: s.flying + s.held, Gap: s.pace.gap.Milliseconds()}
	if !s.taught.IsZero() {
		out.Taught = s.taught.UnixMilli()
	}
	var limits []Limit
	for _, w := range s.windows {
		if !w.ceiling {
			limits = append(limits, w.Limit)
			out.Careful = out.Careful || w.banned
		}
	}
	out.Limits = formatLimits(limits)
	out.Calls, out.Foreign = cellsOf(now, s.own, limits), cellsOf(now, s.foreign, limits)
	ms := func(i instant) int64 { return wall.Add(i - now).UnixMilli() }
	if s.block.until > now {
		out.Block = &BlockState{Kind: s.block.kind, Until: ms(s.block.until), Strikes: s.block.strikes}
		if s.block.asks > 0 {
			out.Block.Asks = ms(s.block.asks)
		}
	}
	if s.frozen(now) {
		out.Freeze = &FreezeState{Percent: s.freeze.percent, Reason: s.freeze.reason}
		if s.freeze.until != never {
			out.Freeze.Until = s.freeze.wall.UnixMilli()
		}
	}
	return out
}

// cellsOf groups entries by hundredths of the shortest window that still counts
// them, rounded to the younger edge, so that nothing is forgotten too early.
func cellsOf(now instant, entries []instant, limits []Limit) []Cell {
	var out []Cell
	for _, bound := range entries {
		age, counts := cellAge(now-bound, limits)
		switch n := len(out); {
		case !counts:
		case n > 0 && out[n-1].Age == age:
			out[n-1].N++
		default:
			out = append(out, Cell{Age: age, N: 1})
		}
	}
	return out
}

// cellAge rounds an age down to milliseconds; counts is false when every window
// is over. While no window is known, the longest that Riot has is assumed.
func cellAge(age instant, limits []Limit) (ms int64, counts bool) {
	if len(limits) == 0 {
		limits = []Limit{{Per: keepUnknown}}
	}
	for _, l := range limits {
		if age >= l.Per {
			continue
		}
		if cell := l.Per / cells; age > 0 {
			age = age / cell * cell
		}
		return age.Milliseconds() - int64(b2i(age < 0)), true
	}
	return 0, false
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

const (
	// clockSlack is how far a stamp may lie in the future by slewing alone.
	clockSlack = 2 * time.Second
	// oldest is an age no state of ours has: the clock was wrong then or is now.
	oldest = 10 * 365 * 24 * time.Hour
)

// Restore takes over from an earlier run: call it once, before the first call,
// at the wall-clock instant wall. opened counts the attempts opened since st was
// saved, by host and method; each counts as one call, made just now. Every host
// is then asked by one call what it counts, before others go. If st is the zero
// value (an earlier run left none), is from the future or cannot be right, the
// windows count as full until they have passed, and Restore returns false. In
// the very first run on a data directory do not call it.
func (l *Limiter) Restore(st State, wall time.Time, opened map[Scope]int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	age := time.Duration(wall.UnixMilli()-st.Stamp) * time.Millisecond
	sound := st.Stamp > 0 && age >= -clockSlack && age < oldest && st.sound()
	if !sound {
		l.lost, l.lostAt = true, now
	}
	for i := range st.Scopes {
		h := l.host(st.Scopes[i].Host)
		h.scope(st.Scopes[i].Method).restore(now, max(0, age), wall, &st.Scopes[i], sound)
	}
	for _, s := range sortedScopes(opened) {
		h, n := l.host(s.Host), min(opened[s], maxCells)
		h.app.assume(n, now+straggle)
		if s.Method != "" {
			h.method(s.Method).assume(n, now+straggle)
		}
	}
	for _, h := range l.hosts {
		h.app.gate.close(probing)
	}
	return sound
}

// maxCells bounds what a damaged state can make us keep.
const maxCells = 1 << 20

// sound refuses a state that no Save has written.
func (st *State) sound() bool {
	for _, s := range st.Scopes {
		n := s.Flying
		for _, c := range slices.Concat(s.Calls, s.Foreign) {
			if c.N < 0 || c.N > maxCells || c.Age < -int64(time.Minute/time.Millisecond) {
				return false
			}
			n += c.N
		}
		if _, err := parseLimits(s.Limits); s.Limits != "" && err != nil || s.Flying < 0 || n > maxCells || s.Host == "" {
			return false
		}
	}
	return true
}

func (s *scope) restore(now, age instant, wall time.Time, from *ScopeState, sound bool) {
	if limits, err := parseLimits(from.Limits); err == nil {
		s.learn(limits)
	}
	s.known = from.Known || len(s.windows) > 0 && from.Limits != ""
	if at := time.UnixMilli(from.Taught); from.Taught > 0 && !at.After(wall) {
		s.taught = at
	}
	s.pace.gap = min(max(0, time.Duration(min(from.Gap, mostGap.Milliseconds()))*time.Millisecond), mostGap)
	for _, w := range s.windows {
		w.banned = from.Careful
	}
	left := func(ms int64) instant { return min(maxRetryAfter, time.UnixMilli(ms).Sub(wall)) }
	if b := from.Block; b != nil && left(b.Until) > 0 {
		s.block.strikes = b.Strikes
		kind := throttleKind(string(b.Kind))
		if b.Kind == Unavailable {
			kind = Unavailable
		}
		s.hold(now, now+left(b.Until), kind, false)
		if b.Asks > 0 {
			s.block.asks = max(1, min(now+left(b.Asks), now+LongHold))
		}
		s.gate.close(recovering)
	}
	s.restoreFreeze(now, from.Freeze)
	if !sound {
		s.fill(now)
		return
	}
	restoreCells(from.Calls, now-age, s.assume)
	restoreCells(from.Foreign, now-age, s.strangers)
	s.assume(from.Flying, now+straggle)
}

func (s *scope) restoreFreeze(now instant, from *FreezeState) {
	if from == nil {
		return
	}
	f := &freeze{percent: min(100, max(0, from.Percent)), reason: from.Reason}
	if from.Until != 0 {
		f.wall = time.UnixMilli(from.Until)
	}
	f.date(now)
	if f.until > now {
		s.freeze = f
	}
}

func restoreCells(from []Cell, stamp instant, add func(n int, bound instant)) {
	for _, c := range from {
		add(c.N, stamp-time.Duration(c.Age)*time.Millisecond)
	}
}

func sortedScopes(m map[Scope]int) []Scope {
	return slices.SortedStableFunc(maps.Keys(m), func(a, b Scope) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Method, b.Method))
	})
}
