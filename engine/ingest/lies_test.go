package ingest_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// lied is one thing that Riot, or what stands before it, says that is not so.
type lied struct {
	fault      string        // as `farsight sim` takes it
	wait       time.Duration // between the two syncs; 0 = no longer than the cooldown
	unknowable bool          // ids are missing and come later, and no answer is other than if there were no such games
	long       bool          // it takes longer than the others together: FARSIGHT_LONG=1
	stored     int           // of the account's matches, in the end; 0 = all
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// eachLie of Riot's lists, about one player, and of its limits; each is one that a public report tells of.
var eachLie = []lied{
	{fault: "list-short,id=A#A,start=100,ids=30,count=1"},
	{fault: "list-short,id=A#A,start=0,ids=60,count=1"},
	{fault: "empty-list,method=match-v5.ids,id=A#A,start=100,count=1"},
	{fault: "empty-list,method=match-v5.ids,id=A#A,start=0,count=1"},
	{fault: "truncate,method=match-v5.ids,id=A#A,start=100,count=1"},
	{fault: "list-ends,id=A#A,ids=120,count=2"},
	{fault: "list-late,id=A#A,ids=15,until=5m", wait: 10 * time.Minute, unknowable: true},
	{fault: "list-holes,id=A#A,ids=10,until=72h", wait: week + day, unknowable: true, long: true},
	{fault: "list-skips,id=A#A,start=100,count=1"},
	{fault: "duplicate-ids,id=A#A"},
	{fault: "shift-ids,method=match-v5.ids,id=A#A,count=1"},
	{fault: "list-ignores-times,id=A#A"},
	{fault: "list-ignores-times,id=A#A,count=2"},
	{fault: "list-ignores-start,id=A#A,count=2"},
	{fault: "list-ignores-start,id=A#A", stored: 100},
	{fault: "list-endless,id=A#A", long: true},
	{fault: "list-odd-ids,id=A#A"},
	{fault: "400-decrypting,id=A#A,start=100,count=1"},
	{fault: "404,method=match-v5.match,host=europe,until=2h", wait: 2 * day, long: true},
	{fault: "404,method=match-v5.match,host=europe,rate=0.3,until=2h", wait: 2 * day},
	{fault: "firewall,id=A#A,until=1h", wait: time.Hour},
	{fault: "limits-application,limits=none"},
	{fault: "limits-application,limits=0:1"},
	{fault: "limits-application,limits=500:1,20:1"},
	{fault: "429-application,retry_after=99999999999999999999,count=1,after=2s"},
	{fault: "429-method,method=match-v5.match,retry_after=Fri, 01 Feb 2036 00:00:00 GMT,count=1"},
	{fault: "429-application,retry_after=1e3,count=1,after=2s"},
	{fault: "503,method=match-v5.match,retry_after=30,count=1"},
	{fault: "idle-close,delay=1s,rate=0.4,each=true"},
	{fault: "408,delay=1s,rate=0.4,each=true"},
}

// TestB12b_TwoSyncsUnderEachLie: with whatever is said that is not so, the account of somebody else is complete, no
// sync says completed of an account that is not, and the second one, which nobody forces, has all that there is.
func TestB12b_TwoSyncsUnderEachLie(t *testing.T) {
	kinds := map[string]bool{}
	for _, lie := range eachLie {
		kind, _, _ := strings.Cut(lie.fault, ",")
		if kinds[kind] && !scratch.Whole {
			continue // the first of each kind
		}
		kinds[kind] = true
		t.Run(lie.fault, func(t *testing.T) {
			if lie.long && !scratch.Whole {
				t.Skip("FARSIGHT_LONG=1 runs it")
			}
			inBubble(t, func(t *testing.T) {
				other := short("B#B", 8)
				other.Platform = route.KR
				s := newSim(sim.Options{Players: []sim.PlayerSpec{short("A#A", scratch.Sized(120, 210)), other},
					Limits: sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}}}})
				faults, err := sim.ParseFault(lie.fault)
				must(t, err)
				r := start(t, s, asksAgain, func(set *setup) { set.ingest.Relist = week })
				must(t, s.Inject(faults...))
				r.trigger("B#B", engine.SyncAsk{Platform: "kr", Timelines: "none"})
				for n := range 2 {
					began := s.MatchIDs("A#A")
					r.trigger("A#A", engine.SyncAsk{Timelines: "none"})
					row := r.settle("A#A", 40*24*time.Hour)
					ids := s.MatchIDs("A#A") // more may have been played meanwhile
					stored := r.countStored(ids)
					if was := r.countStored(began); row.Result == "completed" && was < len(began) && !lie.unknowable {
						t.Errorf("sync %d says completed, and %d of %d are stored", n+1, was, len(began))
					}
					if p := row.Matches; p.Total >= 0 && (p.Total != row.Listed || p.Done()+p.Open+p.Cancelled != p.Total) {
						t.Errorf("sync %d: %d listed, and told: %+v", n+1, row.Listed, p)
					}
					if row.Result != "completed" && row.LastError+row.Matches.Gaps() == "" && stored < len(ids) {
						t.Errorf("sync %d is %q and does not say why", n+1, row.Result)
					}
					if want := cmp.Or(lie.stored, len(ids)); n == 1 && stored != want {
						t.Errorf("the second sync, %s (%s), has %d of %d", row.Result, row.LastError, stored, want)
					}
					time.Sleep(max(lie.wait, 6*time.Minute))
					r.sweeps(3, time.Minute) // of 100 matches each
				}
				if row := r.row("B#B"); row.Result != "completed" || row.Matches.Done() != 8 {
					t.Errorf("the other account: %+v", row)
				}
				if st := s.Stats(); st.Early > 0 || st.Violations > 0 && !strings.HasPrefix(lie.fault, "limits-application") {
					t.Errorf("%d violations, %d calls within a Retry-After", st.Violations, st.Early)
				}
				synctest.Wait()
			})
		})
	}
}

// countStored counts the matches whose payload is there.
func (r *rig) countStored(ids []string) (n int) {
	r.read(func(tx engine.Tx) error {
		for _, id := range ids {
			if m, err := r.db.Match(tx, id); err == nil && m.Match.Status == league.Success {
				n++
			}
		}
		return nil
	})
	return n
}

// liars are accounts whose Riot lies, now and then or all the time, each by the fault that its name begins with.
var liars = []string{
	"list-short,ids=1,rate=0.4,each=true,until=144h",
	"empty-list,method=match-v5.ids,rate=0.4,each=true,until=144h",
	"list-late,ids=2,until=60h", "list-holes,ids=3,until=48h",
	"list-ignores-times", "list-ignores-start", "list-odd-ids", "firewall", "400-decrypting,rate=0.4,each=true,until=144h",
	"truncate,method=match-v5.ids,rate=0.4,each=true,until=144h",
}

// TestB12b_AWeekWithLiars: of many accounts, each synced daily, one in fifty is lied about, or of a thousand and more one in a
// hundred. All others are complete at the end of a week, the liars say what they lack, and no limit is broken. There
// are 500, or as many as FARSIGHT_ACCOUNTS says: 10,000 take a quarter of an hour of a core and 3 GB.
func TestB12b_AWeekWithLiars(t *testing.T) {
	if !scratch.Whole {
		t.Skip("FARSIGHT_LONG=1 runs it")
	}
	accounts, err := strconv.Atoi(cmp.Or(os.Getenv("FARSIGHT_ACCOUNTS"), "500"))
	must(t, err)
	bad := max(len(liars), accounts/100)
	inBubble(t, func(t *testing.T) {
		platforms := []route.Platform{route.EUW1, route.NA1, route.KR}
		players, faults := make([]sim.PlayerSpec, accounts), []sim.Fault(nil)
		for i := range players {
			p := short(fmt.Sprintf("Player %d#SIM", i), 3)
			if i < bad {
				kind, _, _ := strings.Cut(liars[i%len(liars)], ",")
				p.RiotID = fmt.Sprintf("%s %d#LIE", kind, i)
			}
			p.Platform, p.Grow = platforms[i%3], 40*time.Hour
			players[i] = p
		}
		for _, text := range liars {
			kind, _, _ := strings.Cut(text, ",")
			list, err := sim.ParseFault(text + ",id=" + kind + " *#LIE")
			must(t, err)
			faults = append(faults, list...)
		}
		s := newSim(sim.Options{Players: players, Faults: faults})
		r := start(t, s, func(set *setup) { set.ingest.Relist = week })
		for _, p := range players {
			ask := engine.SyncAsk{Platform: string(p.Platform), Timelines: "none", Policy: "timelines=none"}
			_, err := r.in.Track(context.Background(), p.RiotID, ask)
			must(t, err)
			r.trigger(p.RiotID, ask)
		}
		for range 8 {
			time.Sleep(24 * time.Hour)
			synctest.Wait()
			for range (accounts + 999) / 1000 { // no tick starts more
				r.fire("latest")
				time.Sleep(time.Minute)
				synctest.Wait()
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		wrong := 0
		for i, p := range players {
			row := r.row(p.RiotID)
			ids := s.MatchIDs(p.RiotID)
			stored := r.countStored(ids)
			whole := row.Result == "completed" && stored == len(ids)
			if i < bad && !whole && row.LastError+row.Matches.Gaps() != "" && row.Result != "completed" || whole {
				continue
			}
			if wrong++; wrong < 20 {
				t.Errorf("%s: %s, %q, %d of %d stored", p.RiotID, row.Result, row.LastError, stored, len(ids))
			}
		}
		if st := s.Stats(); wrong > 0 || st.Violations > 0 || st.Early > 0 || st.Repeated > 0 {
			t.Errorf("%d accounts are wrong; %d violations, %d early, %d repeated of %d calls",
				wrong, st.Violations, st.Early, st.Repeated, st.Calls)
		}
	})
}
