package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/sim"
)

// lister is a Riot whose pages of ids are what lie makes of them: given the query, how often a page with
// that start was asked for before, and what the simulator answers to ask. A nil answer is a 503.
type lister struct {
	next http.RoundTripper
	lie  func(q url.Values, before int, ask func(url.Values) []string) []string
	seen map[string]int
}

func (l *lister) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/ids") {
		return l.next.RoundTrip(req)
	}
	var last *http.Response
	var err error
	ask := func(q url.Values) (ids []string) {
		again := req.Clone(req.Context())
		again.URL.RawQuery = q.Encode()
		again.Header.Del("Accept-Encoding")
		if last, err = l.next.RoundTrip(again); err != nil {
			return nil
		}
		body, _ := io.ReadAll(last.Body)
		_ = last.Body.Close()
		_ = json.Unmarshal(body, &ids)
		return ids
	}
	q := req.URL.Query()
	key := q.Get("start") + " " + q.Get("startTime")
	ids := l.lie(q, l.seen[key], ask)
	l.seen[key]++
	if last == nil && err == nil {
		ask(q)
	}
	if err != nil || last.StatusCode != http.StatusOK {
		return last, err
	}
	body, _ := json.Marshal(ids)
	if ids == nil {
		last.StatusCode, last.Status, body = 503, "503 Service Unavailable", nil
	}
	last.Body, last.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	last.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return last, nil
}

// lies starts a rig whose Riot lists so.
func lies(t *testing.T, s *sim.Sim, lie func(q url.Values, before int, ask func(url.Values) []string) []string) *rig {
	return start(t, s, func(set *setup) {
		set.transport = &lister{next: s.RoundTripper(), lie: lie, seen: map[string]int{}}
		set.ingest.Relist = 2 * 24 * time.Hour
	})
}

func num(q url.Values, name string) int { n, _ := strconv.Atoi(q.Get(name)); return n }

// with is q with another start.
func with(q url.Values, start int) url.Values {
	q.Set("start", strconv.Itoa(start))
	return q
}

// holds proves that every game of a player is stored.
func (r *rig) holds(riotID string) {
	r.t.Helper()
	for _, id := range r.sim.MatchIDs(riotID) {
		if m := r.match(id); m.Match.Status != league.Success {
			r.t.Fatalf("%s is %s", id, m.Match.Status)
		}
	}
}

// B-1a: what a page lacks for a moment the same sync finds: no short, empty, shifted or repeated page is
// an end.
func TestB1a_OneBadPageLosesNothing(t *testing.T) {
	long(t)
	second := func(bad func(q url.Values, ask func(url.Values) []string) []string) func(url.Values, int, func(url.Values) []string) []string {
		return func(q url.Values, before int, ask func(url.Values) []string) []string {
			if num(q, "start") == 100 && before == 0 {
				return bad(q, ask)
			}
			return ask(q)
		}
	}
	for name, lie := range map[string]func(url.Values, int, func(url.Values) []string) []string{
		"empty":        second(func(url.Values, func(url.Values) []string) []string { return []string{} }),
		"cut":          second(func(q url.Values, ask func(url.Values) []string) []string { return ask(q)[:13] }),
		"repeated":     second(func(q url.Values, ask func(url.Values) []string) []string { return ask(with(q, 0)) }),
		"shifted down": second(func(q url.Values, ask func(url.Values) []string) []string { return ask(with(q, 95)) }),
		"shifted up":   second(func(q url.Values, ask func(url.Values) []string) []string { return ask(with(q, 103)) }),
		"the first one": func(q url.Values, before int, ask func(url.Values) []string) []string {
			if num(q, "start") == 0 && before == 0 && q.Get("startTime") != "" {
				return []string{}
			}
			return ask(q)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 125)}})
				r := lies(t, s, lie)
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				if row := r.settle("Ana#EUW", time.Hour); row.Result != "completed" || row.Matches.Total != 125 || row.Matches.TooOld != 0 {
					t.Errorf("%s, %s, %+v", row.Result, row.LastError, row.Matches)
				}
				r.holds("Ana#EUW")
				r.read(func(tx engine.Tx) error {
					left, err := r.db.Staged(tx, r.row("Ana#EUW").Run)
					if len(left) > 0 {
						t.Errorf("%d ids stay staged", len(left))
					}
					return err
				})
			})
		})
	}
}

// B-1b: a list whose end cannot be seen makes the sync incomplete, with the reason, and the next one goes
// on at once, without force and without the pages that were listed before.
func TestB1b_AnEndThatIsNotProvenIsIncomplete(t *testing.T) {
	long(t)
	for name, c := range map[string]struct {
		lie  func(q url.Values, before int, ask func(url.Values) []string) []string
		says string
	}{
		"start is ignored": {func(q url.Values, _ int, ask func(url.Values) []string) []string { return ask(with(q, 0)) }, "repeats its pages"},
		"the end cannot be asked for": {func(q url.Values, before int, ask func(url.Values) []string) []string {
			if num(q, "start") == 110 && before > 0 {
				return nil
			}
			return ask(q)
		}, "cannot be asked for"},
		"without an end": {func(q url.Values, _ int, ask func(url.Values) []string) []string {
			ids := ask(q)
			for i := len(ids); i < 100; i++ {
				ids = append(ids, fmt.Sprintf("ODD9_%d", num(q, "start")+i))
			}
			return ids
		}, "no end: 2000 ids"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 110)}})
				lying := true
				r := lies(t, s, func(q url.Values, before int, ask func(url.Values) []string) []string {
					if lying {
						return c.lie(q, before, ask)
					}
					return ask(q)
				})
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				row := r.settle("Ana#EUW", time.Hour)
				if row.Result != "incomplete" || !row.Incomplete() || !strings.Contains(row.LastError, "its list is not proven") ||
					!strings.Contains(row.LastError, c.says) {
					t.Errorf("%s, %s, %+v", row.Result, row.LastError, row.Matches)
				}
				lying = false
				if out := r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"}); out.Nothing { // no cooldown
					t.Fatal(out.Text)
				}
				if row := r.settle("Ana#EUW", time.Hour); row.Result != "completed" || row.LastError != "" || row.Listed != 110 {
					t.Errorf("%s, %s, %+v", row.Result, row.LastError, row.Matches)
				}
				r.holds("Ana#EUW")
			})
		})
	}
}

// B-1c: an id that comes late, below what is known, is found when the list is read whole again.
func TestB1c_ListsAreReadWholeAgainNowAndThen(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 160)}})
		late := s.MatchIDs("Ana#EUW")[150]
		hidden := true
		r := lies(t, s, func(q url.Values, _ int, ask func(url.Values) []string) []string {
			if !hidden {
				return ask(q)
			}
			start, n := num(q, "start"), num(q, "count")
			q.Set("count", "100")
			var all []string
			for i := 0; i < 200; i += 100 {
				all = append(all, ask(with(q, i))...)
			}
			for i, id := range all {
				if id == late {
					all = append(all[:i:i], all[i+1:]...)
					break
				}
			}
			return append([]string{}, all[min(start, len(all)):min(start+n, len(all))]...)
		})
		r.track("Ana#EUW", engine.SyncAsk{Policy: "timelines=none"})
		r.trigger("Ana#EUW", engine.SyncAsk{})
		if row := r.settle("Ana#EUW", time.Hour); row.Matches.Total != 159 {
			t.Fatalf("%+v", row.Matches)
		}
		hidden = false
		time.Sleep(24 * time.Hour)
		if f := r.fire("latest"); f.Jobs != 1 || f.Reason != "" {
			t.Errorf("%+v", f)
		}
		if row := r.settle("Ana#EUW", time.Hour); row.Pages != 1 {
			t.Errorf("a day later %d pages are read", row.Pages)
		}
		time.Sleep(2 * 24 * time.Hour)
		if f := r.fire("latest"); f.Jobs != 1 || f.Reason != "1 of them reads its list whole again" {
			t.Errorf("%+v", f)
		}
		if row := r.settle("Ana#EUW", time.Hour); row.Matches.Stored != 1 || row.Matches.Total != 160 || row.Result != "completed" {
			t.Errorf("%s, %+v", row.Result, row.Matches)
		}
		r.holds("Ana#EUW")
	})
}

// B-1d: `latest` lists on until it joins what is known, so that no hole stays below the newest few; when
// it joins on the first page it costs one call.
func TestB1d_LatestListsOnUntilItJoins(t *testing.T) {
	long(t)
	for _, mode := range []string{ingest.ModeFull, ingest.ModeLatest} {
		t.Run("after "+mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				spec := short("Ana#EUW", 30)
				spec.Grow = 10 * time.Minute
				s := newSim(sim.Options{Players: []sim.PlayerSpec{spec}})
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{Mode: mode, Timelines: "none"})
				first := r.settle("Ana#EUW", time.Hour)
				since := s.MatchIDs("Ana#EUW")[0]
				time.Sleep(10 * time.Hour)
				r.trigger("Ana#EUW", engine.SyncAsk{Mode: ingest.ModeLatest, Timelines: "none"})
				row := r.settle("Ana#EUW", time.Hour)
				for _, id := range s.MatchIDs("Ana#EUW") {
					if id == since {
						break
					}
					if m := r.match(id); m.Match.Status != league.Success {
						t.Fatalf("%s is %s", id, m.Match.Status)
					}
				}
				if row.Result != "completed" || row.Matches.Stored < 60 || row.Pages != 2 {
					t.Errorf("%s, %d pages, %+v, before %+v", row.Result, row.Pages, row.Matches, first.Matches)
				}
				time.Sleep(20 * time.Minute)
				r.trigger("Ana#EUW", engine.SyncAsk{Mode: ingest.ModeLatest, Timelines: "none"})
				if row := r.settle("Ana#EUW", time.Hour); row.Pages != 1 || row.Result != "completed" {
					t.Errorf("%d pages, %+v", row.Pages, row)
				}
			})
		})
	}
}

// B-2a: a match that the lists inside and beyond retention both name is asked for, whichever filter was
// ignored.
func TestB2a_AFilterIsNotAFact(t *testing.T) {
	long(t)
	for name, ignored := range map[string][]string{"startTime": {"startTime"}, "endTime": {"endTime"}, "both": {"startTime", "endTime"}} {
		for _, empty := range []bool{false, true} {
			t.Run(fmt.Sprint(name, empty), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 20)}})
					r := lies(t, s, func(q url.Values, before int, ask func(url.Values) []string) []string {
						if empty && num(q, "start") == 0 && q.Get("startTime") != "" && before == 0 { // and the list inside is late
							return []string{}
						}
						for _, name := range ignored {
							q.Del(name)
						}
						return ask(q)
					})
					r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
					if row := r.settle("Ana#EUW", time.Hour); row.Result != "completed" || row.Matches.TooOld != 0 || row.Matches.Total != 20 {
						t.Errorf("%s, %s, %+v", row.Result, row.LastError, row.Matches)
					}
					r.holds("Ana#EUW")
				})
			})
		}
	}
}

// B-2a: where one match shows that a filter was ignored, nothing that this list names is proven to be too old, also
// what the list inside retention lacks.
func TestB2a_OneMatchInBothListsProvesNothingTooOld(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 6)}})
		r := lies(t, s, func(q url.Values, _ int, ask func(url.Values) []string) []string {
			if q.Get("startTime") == "" {
				q.Del("endTime")
				return ask(q)
			}
			start := num(q, "start")
			ids := ask(with(q, 0)) // the three newest
			return ids[min(start, 3, len(ids)):min(3, len(ids))]
		})
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		if row := r.settle("Ana#EUW", time.Hour); row.Result != "completed" || row.Matches.TooOld != 0 || row.Matches.Stored != 6 {
			t.Errorf("%s, %s, %+v", row.Result, row.LastError, row.Matches)
		}
	})
}

// B-2b: what was called too old because of a list is asked for as soon as a list inside retention names it.
func TestB2b_TooOldIsOpenedAgain(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 50)}})
		lying := true
		r := lies(t, s, func(q url.Values, _ int, ask func(url.Values) []string) []string {
			if lying && q.Get("startTime") != "" {
				return []string{}
			}
			if lying {
				q.Del("endTime")
			}
			return ask(q)
		})
		r.trigger("Ana#EUW", engine.SyncAsk{})
		if row := r.settle("Ana#EUW", time.Hour); row.Matches.TooOld != 50 {
			t.Fatalf("%+v", row.Matches)
		}
		lying = false
		time.Sleep(time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		if row := r.settle("Ana#EUW", time.Hour); row.Matches.Stored != 50 || row.Timelines.Stored != 50 || row.Result != "completed" {
			t.Errorf("%s, %+v, %+v", row.Result, row.Matches, row.Timelines)
		}
		r.holds("Ana#EUW")
	})
}

// B-4: an id of a form or platform that nobody knows is kept with the reason and counted; the rest goes on.
func TestB4_OddIDsAreKeptAndCounted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		r := lies(t, s, func(q url.Values, _ int, ask func(url.Values) []string) []string {
			ids := ask(q)
			if len(ids) > 0 {
				ids = append(ids, "ESPORTSTMNT01_123", "NEW9_7")
			}
			return ids
		})
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		if p := row.Matches; row.Result != "completed" || p.Stored != 6 || p.Unaskable != 2 || p.Failed != 0 || p.Total != 8 || row.Listed != 8 {
			t.Errorf("%s, %s, %+v", row.Result, row.LastError, p)
		}
		for _, id := range []string{"ESPORTSTMNT01_123", "NEW9_7"} {
			if m := r.match(id); m.Match.Status != league.PermanentlyUnfetchable || m.Match.LastClass != "id" || m.Match.LastError == "" {
				t.Errorf("%+v", m.Match)
			}
		}
	})
}

// B-2c: a forced sync opens every final state again but that of a match whose own date is too old.
func TestB2c_AForcedSyncOpensEveryFinalState(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		must(t, s.Inject(fails(sim.NotFound, s.MatchIDs("Ana#EUW")[0], 1)))
		r := lies(t, s, func(q url.Values, _ int, ask func(url.Values) []string) []string {
			start := num(q, "start")
			if q.Get("startTime") != "" { // the three newest, and the others only beyond retention
				ids := ask(with(q, 0))
				return ids[min(start, 3, len(ids)):min(3, len(ids))]
			}
			q.Del("endTime")
			ids := ask(with(q, 0))
			return ids[min(start+3, len(ids)):]
		})
		r.trigger("Ana#EUW", engine.SyncAsk{})
		if p := r.settle("Ana#EUW", time.Hour).Matches; p.Stored != 2 || p.Failed != 1 || p.TooOld != 3 {
			t.Fatalf("%+v", p)
		}
		r.trigger("Ana#EUW", engine.SyncAsk{Force: true})
		if row := r.settle("Ana#EUW", time.Hour); row.Result != "completed" || row.Matches.Stored != 4 || row.Matches.Had != 2 || row.Timelines.Stored != 4 {
			t.Errorf("%s, %+v, %+v", row.Result, row.Matches, row.Timelines)
		}
		r.holds("Ana#EUW")
	})
}
