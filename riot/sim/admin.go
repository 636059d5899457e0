package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// adminRoutes are the simulator's own endpoints, for tools in another process:
//
//	GET  /sim/stats                  Stats
//	GET  /sim/calls?after=N&limit=N  the call log; limit 1000 unless told
//	GET  /sim/fetches                calls per match and timeline
//	GET  /sim/limits                 the windows of the key that called last
//	GET  /sim/players                Riot IDs to try
//	GET  /sim/faults                 the fault plan with its hits
//	POST /sim/faults                 adds a Fault, a list of them, or {"preset": name}
//	POST /sim/clear                  ends all faults
//	POST /sim/reset                  forgets counts, log, attempts and windows
//	POST /sim/keys                   {"key": …, "project": …, "state": "" | "expired" | "unknown"}
//	POST /sim/foreign                {"key": …, "host": …, "n": …}: somebody else's calls
var adminRoutes = map[string]func(*Sim, *http.Request) (any, error){
	"GET /sim/stats":    func(s *Sim, _ *http.Request) (any, error) { return s.Stats(), nil },
	"GET /sim/calls":    (*Sim).adminCalls,
	"GET /sim/fetches":  func(s *Sim, _ *http.Request) (any, error) { return s.Fetches(), nil },
	"GET /sim/limits":   func(s *Sim, _ *http.Request) (any, error) { return s.Windows(), nil },
	"GET /sim/players":  func(s *Sim, _ *http.Request) (any, error) { return s.Players(), nil },
	"GET /sim/faults":   func(s *Sim, _ *http.Request) (any, error) { return s.Faults(), nil },
	"POST /sim/faults":  (*Sim).adminInject,
	"POST /sim/clear":   func(s *Sim, _ *http.Request) (any, error) { s.Clear(); return s.Faults(), nil },
	"POST /sim/reset":   func(s *Sim, _ *http.Request) (any, error) { s.Reset(); return s.Stats(), nil },
	"POST /sim/keys":    (*Sim).adminKey,
	"POST /sim/foreign": (*Sim).adminForeign,
}

func (s *Sim) admin(w http.ResponseWriter, r *http.Request) {
	// A HEAD or a mistyped path gets the list: whoever asks is a person or their script.
	serve, ok := adminRoutes[r.Method+" "+r.URL.Path]
	if !ok {
		http.Error(w, "no such endpoint: use one of "+strings.Join(slices.Sorted(maps.Keys(adminRoutes)), ", "), http.StatusNotFound)
		return
	}
	// A fault plan of a megabyte is a mistake.
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	v, err := serve(s, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// An error of Encode is that of a client that has gone.
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Sim) adminCalls(r *http.Request) (any, error) {
	after, limit := 0, 1000
	// "GET /sim/calls?after=1000&limit=100": whoever follows the log asks for what comes after the last Seq it has.
	for name, into := range map[string]*int{"after": &after, "limit": &limit} {
		v := r.URL.Query().Get(name)
		if v == "" {
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s=%s is not a number from 0 on", name, v)
		}
		*into = n
	}
	return s.Calls(after, limit), nil
}

// bodyOf reads the JSON of a request; what names it in the error.
func bodyOf[T any](r *http.Request, what string) (v T, err error) {
	if err = json.NewDecoder(r.Body).Decode(&v); err != nil {
		err = fmt.Errorf("%s is not JSON: %w", what, err)
	}
	return v, err
}

func (s *Sim) adminInject(r *http.Request) (any, error) {
	body, err := bodyOf[json.RawMessage](r, "the fault")
	if err != nil {
		return nil, err
	}
	faults, err := readFaults(body)
	if err == nil {
		err = s.Inject(faults...)
	}
	return s.Faults(), err
}

// readFaults takes one fault, several, or the name of a preset.
func readFaults(body []byte) ([]Fault, error) {
	// RawMessage has no white space before the value.
	if body[0] == '[' {
		var list []Fault
		return list, json.Unmarshal(body, &list)
	}
	// A Fault has no such field, so that the two cannot be taken for each other.
	var named struct{ Preset string }
	if err := json.Unmarshal(body, &named); err == nil && named.Preset != "" {
		return Preset(named.Preset)
	}
	var one Fault
	err := json.Unmarshal(body, &one)
	return []Fault{one}, err
}

func (s *Sim) adminKey(r *http.Request) (any, error) {
	change, err := bodyOf[struct{ Key, Project, State string }](r, "the key's state")
	if err != nil {
		return nil, err
	}
	k := Key{change.Project, KeyState(change.State)}
	if !slices.Contains([]KeyState{KeyGood, KeyExpired, KeyUnknown}, k.State) {
		return nil, fmt.Errorf("unknown state %q: use expired, unknown or nothing", k.State)
	}
	s.SetKey(change.Key, k)
	return k, nil
}

func (s *Sim) adminForeign(r *http.Request) (any, error) {
	use, err := bodyOf[struct {
		Key, Host string
		N         int
	}](r, "the foreign use")
	if err == nil {
		s.Foreign(use.Key, use.Host, use.N)
	}
	return s.Stats(), err
}
