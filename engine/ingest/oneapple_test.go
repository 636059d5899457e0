package ingest_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// answering puts an answer of its own in the place of the simulator's, where it has one.
type answering struct {
	next http.RoundTripper
	lie  func(*http.Request) (status int, body string) // 0 = the simulator answers
}

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	status, body := a.lie(req)
	if status == 0 {
		return a.next.RoundTrip(req)
	}
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: req}, nil
}

func TestB9d_OnePageThatCannotBeDecryptedEndsNoSync(t *testing.T) {
	for name, at := range map[string]string{"first page": "start=0", "second page": "start=100"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, lies := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 130)}}), 0
				r := start(t, s, func(set *setup) {
					set.transport = answering{s.RoundTripper(), func(req *http.Request) (int, string) {
						page := strings.HasSuffix(req.URL.Path, "/ids") &&
							(strings.Contains(req.URL.RawQuery, at) || at == "start=0" && !strings.Contains(req.URL.RawQuery, "start="))
						if lies == 1 || !page {
							return 0, ""
						}
						lies++
						return 400, `{"status":{"message":"Bad Request - Exception decrypting","status_code":400}}`
					}}
				})
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				row := r.settle("Ana#EUW", time.Hour)
				if row.Result != "completed" || row.Matches.Stored != 130 || lies != 1 {
					t.Errorf("after %d lies: %+v", lies, row)
				}
				if n := r.calls(route.AccountByRiotID) + r.calls(route.AccountByPUUID); n != 1 {
					t.Errorf("resolved with %d calls", n)
				}
			})
		})
	}
}

// webPage is what a firewall before Riot answers.
const webPage = `<html><body>Sorry, you have been blocked</body></html>`

// TestB7_ARefusedTargetStopsItselfAlone: whatever is refused about one player, all others are synced, and nobody
// is told to paste a new key.
func TestB7_ARefusedTargetStopsItselfAlone(t *testing.T) {
	for name, no := range map[string]struct {
		status int
		body   string
	}{
		"firewall":     {403, webPage},
		"firewall 401": {401, webPage},
		"Riot's 403":   {403, `{"status":{"message":"Forbidden","status_code":403}}`},
		"Riot's 401":   {401, `{"status":{"message":"Unauthorized","status_code":401}}`},
	} {
		for when, known := range map[string]bool{"at once": false, "later": true} {
			t.Run(name+" "+when, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 5), short("Ben#EUW", 30), short("Cem#EUW", 5)}})
					target, shut := s.PUUID("Ana#EUW", ""), !known
					r := start(t, s, func(set *setup) {
						set.transport = answering{s.RoundTripper(), func(req *http.Request) (int, string) {
							if shut && strings.Contains(req.URL.Path, target) {
								return no.status, no.body
							}
							return 0, ""
						}}
					})
					if known {
						for _, who := range []string{"Ana#EUW", "Cem#EUW"} {
							r.trigger(who, engine.SyncAsk{Timelines: "none"})
							r.settle(who, time.Hour)
						}
						shut = true
					}
					r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none", Force: true})
					r.trigger("Ben#EUW", engine.SyncAsk{Timelines: "none"})
					for range 600 {
						if state, why := r.limits.Health(); state == engine.EngineNoKey {
							t.Fatalf("%s: %s", state, why)
						}
						time.Sleep(100 * time.Millisecond)
					}
					if row := r.settle("Ben#EUW", time.Second); row.Result != "completed" || row.Matches.Stored != 30 {
						t.Errorf("Ben: %+v", row)
					}
					row := r.settle("Ana#EUW", time.Minute)
					if row.Result != "failed" || !strings.Contains(row.LastError, "this target") {
						t.Errorf("Ana: %+v", row)
					}
					if j := r.detail("full:" + row.ID).Job; j.Class != "403.path" {
						t.Errorf("class %q", j.Class)
					}
				})
			})
		}
	}
}

// TestB7_ADeadKeyHoldsEverythingWithinASecond: a name that nobody has shows that it is the key.
func TestB7_ADeadKeyHoldsEverythingWithinASecond(t *testing.T) {
	for name, state := range map[string]sim.KeyState{"401": sim.KeyUnknown, "403": sim.KeyExpired} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 30)}, Limits: tight})
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 5 })
				s.SetKey(testKey, sim.Key{State: state})
				for calls := r.sim.Stats().Calls; r.sim.Stats().Calls == calls; {
					time.Sleep(10 * time.Millisecond)
				}
				r.health(engine.EngineNoKey, time.Second)
				s.SetKey(testKey, sim.Key{})
				r.limits.KeyChanged()
				if row := r.settle("Ana#EUW", time.Hour); row.Result != "completed" {
					t.Errorf("%+v", row)
				}
			})
		})
	}
}

// TestB7_AFirewallBeforeEverythingIsAnOutage: it is no key's fault and no target's, and nothing is charged.
func TestB7_AFirewallBeforeEverythingIsAnOutage(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 40)}, Limits: tight})
		var shut atomic.Bool
		r := start(t, s, func(set *setup) {
			set.transport = answering{s.RoundTripper(), func(*http.Request) (int, string) {
				if shut.Load() {
					return 403, webPage
				}
				return 0, ""
			}}
		})
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 5 })
		shut.Store(true)
		time.Sleep(time.Hour)
		if state, why := r.limits.Health(); state != engine.EngineAPIDown {
			t.Errorf("%s: %s", state, why)
		}
		shut.Store(false)
		if row := r.settle("Ana#EUW", time.Hour); row.Result != "completed" || row.Matches.Stored != 40 {
			t.Errorf("%+v", row)
		}
	})
}

// TestB7_TheKeysProjectIsToldByMoreThanOnePlayer: one who is refused, or misread, makes no key foreign.
func TestB7_TheKeysProjectIsToldByMoreThanOnePlayer(t *testing.T) {
	for name, no := range map[string]struct {
		status int
		body   string
	}{
		"firewall": {403, webPage},
		"misread":  {400, `{"status":{"message":"Bad Request - Exception decrypting","status_code":400}}`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				players := []sim.PlayerSpec{short("Ana#EUW", 3), short("Ben#EUW", 3)}
				s, lie := newSim(sim.Options{Players: players}), ""
				r := start(t, s, withProjects, func(set *setup) {
					set.transport = answering{s.RoundTripper(), func(req *http.Request) (int, string) {
						if lie != "" && strings.Contains(req.URL.Path, lie) {
							return no.status, no.body
						}
						return 0, ""
					}}
				})
				for _, p := range players {
					r.trigger(p.RiotID, engine.SyncAsk{Timelines: "none"})
					r.settle(p.RiotID, time.Minute)
				}
				for i, p := range players { // whoever is asked for first
					lie = s.PUUID(p.RiotID, "")
					r.setKey([]string{sameKey, testKey[:len(testKey)-1] + "9"}[i])
					r.health(engine.EngineLive, time.Minute)
					time.Sleep(time.Second)
					if r.projects.Current() != "default" || r.projects.Holds() != "" {
						t.Errorf("%s: project %q, %s", p.RiotID, r.projects.Current(), r.projects.Holds())
					}
				}
			})
		})
	}
}

// TestB2e_AWrongClockWritesNothingOff: this machine is a year and a half ahead of Riot, or behind, at the instant of a
// first listing.
func TestB2e_AWrongClockWritesNothingOff(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": -550 * 24 * time.Hour, "behind": 550 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 12)}, Epoch: time.Now().Add(by - time.Hour)})
				r := start(t, s, func(set *setup) {
					set.transport = skewed{s.RoundTripper(), by}
					set.ingest.Matches = league.Span{Years: 1}
				})
				if r.limits.ClockAgrees() || r.limits.ClockAhead() != 0 {
					t.Error("a clock is believed that nobody has heard")
				}
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				row := r.settle("Ana#EUW", time.Hour)
				if row.Result != "completed" || row.Matches.Stored != 12 || row.Matches.TooOld != 0 {
					t.Errorf("%+v", row)
				}
				if off := r.limits.ClockAhead() - by; off.Abs() > time.Minute || r.limits.ClockAgrees() {
					t.Errorf("Riot is %v ahead, want %v", r.limits.ClockAhead(), by)
				}
			})
		})
	}
}

// TestB2e_OneOddDateIsNoClock: the last answers must all say so.
func TestB2e_OneOddDateIsNoClock(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 12)}})
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", time.Hour)
		r.limits.OnCall(riot.Call{At: time.Now(), Receipt: limit.Receipt{Status: 200}, Date: time.Now().AddDate(-2, 0, 0)})
		if !r.limits.ClockAgrees() {
			t.Errorf("one answer moved the clock by %v", r.limits.ClockAhead())
		}
	})
}

// TestB3a_AWaveOf404IsAnIncident: five in a row, of two matches at least, hold those that come after, uncharged,
// until matches are found again; what stays missing is believed within the hour.
func TestB3a_AWaveOf404IsAnIncident(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"20 minutes": 20 * time.Minute, "for ever": 1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 60)}, Limits: tight})
				began := time.Now()
				r := start(t, s, func(set *setup) {
					set.workers = 1
					set.transport = answering{s.RoundTripper(), func(req *http.Request) (int, string) {
						if time.Since(began) < lasts && strings.Contains(req.URL.Path, "/matches/EUW1_") {
							return 404, `{"status":{"message":"Data not found","status_code":404}}`
						}
						return 0, ""
					}}
				})
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				row := r.settle("Ana#EUW", 3*time.Hour)
				if lasts < time.Hour && (row.Matches.Stored < 56 || row.Matches.Failed > 4) {
					t.Errorf("%+v", row.Matches)
				}
				if lasts > time.Hour && row.Matches.Failed != 60 {
					t.Errorf("%+v", row.Matches)
				}
				last := r.detail("match:" + s.MatchIDs("Ana#EUW")[59])
				if len(last.Attempts) != 1 || len(last.Holds) == 0 || last.Holds[0].Class != "404" {
					t.Errorf("%d attempts, %d holds", len(last.Attempts), len(last.Holds))
				}
			})
		})
	}
}
