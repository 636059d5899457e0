package sim

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// Stats takes a snapshot.
func (s *Sim) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.log.Stats
	st.Injected, st.ByMethod = maps.Clone(st.Injected), maps.Clone(st.ByMethod)
	for method, counts := range st.ByMethod {
		st.ByMethod[method] = maps.Clone(counts)
	}
	for key, f := range s.log.fetched {
		switch {
		case f.OK == 0:
		case strings.HasPrefix(key, string(route.Timeline)):
			st.Timelines++
		default:
			st.Matches++
		}
	}
	for sc, t := range s.log.counts {
		st.Budget = append(st.Budget, s.budget(sc, t))
	}
	slices.SortStableFunc(st.Budget, func(x, y Budget) int { return cmp.Compare(x.Host, y.Host) })
	return st
}

// budget sets what a key used of a host against the limits: 100 calls in 200 s, where 120 s would have done.
func (s *Sim) budget(sc scope, t tally) Budget {
	limits := s.limits.of("", s.opt.Speed)
	b := Budget{Host: sc.host, Calls: t.calls, Took: t.last.Sub(t.first)}
	words := make([]string, len(limits))
	for i, l := range limits {
		words[i] = l.String()
		// The first N go at once, and each further N a window later: (calls-1)/N whole windows.
		b.Ideal = max(b.Ideal, time.Duration((t.calls-1)/l.N)*l.Per)
	}
	b.Limits = strings.Join(words, ",")
	return b
}

// Fetched counts the calls for one match, or its timeline.
func (s *Sim) Fetched(m route.Method, id string) Fetch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.fetched[fetchKey(m, id)]
}

// Fetches counts the calls for every match and timeline asked for, by "method id".
func (s *Sim) Fetches() map[string]Fetch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.log.fetched)
}

// Calls is the call log from after call number seq on, at most limit calls. The log keeps the last
// 100,000.
func (s *Sim) Calls(seq, limit int) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.after(max(0, seq), limit)
}

// Window is a rate limit window as it stands.
type Window struct {
	Host    string        `json:"host"`
	Method  route.Method  `json:"method,omitempty"` // empty: the application's
	Limit   int           `json:"limit"`
	Per     time.Duration `json:"per_ns"`
	Used    int           `json:"used"`    // refused calls count, too
	Foreign int           `json:"foreign"` // of them by somebody else
	Frees   time.Time     `json:"frees,omitzero"`
	// Told is until when a 429 of this scope asked the client to wait; zero: it did not.
	Told time.Time `json:"told,omitzero"`
}

// Reading are the windows of one key.
type Reading struct {
	Key     string   `json:"key,omitempty"` // its last four characters; empty: none has called
	Keys    int      `json:"keys"`          // that have called
	Windows []Window `json:"windows"`       // by host and method, the application's first, the longest first
}

// Windows are those of the key that called last: limits are counted per key.
func (s *Sim) Windows() Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	r := Reading{Keys: len(s.used), Key: s.latest[max(0, len(s.latest)-4):], Windows: []Window{}}
	for sc, ws := range s.scopes {
		// Windows of other keys are full or empty on their own.
		if sc.key != s.latest {
			continue
		}
		for _, w := range ws {
			r.Windows = append(r.Windows, s.reading(sc, w, now))
		}
	}
	slices.SortStableFunc(r.Windows, func(x, y Window) int {
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.Method, y.Method), cmp.Compare(y.Per, x.Per))
	})
	return r
}

// reading is a window as it stands at now.
func (s *Sim) reading(sc scope, w *window, now time.Time) Window {
	w.expire(now)
	out := Window{Host: sc.host, Method: sc.method, Limit: w.limit.N, Per: w.limit.Per, Used: w.used(), Foreign: w.alien}
	// An empty window frees nothing.
	if w.used() > 0 {
		out.Frees = now.Add(w.frees(now))
	}
	if t := s.told[sc]; t.until.After(now) {
		out.Told = t.until
	}
	return out
}
