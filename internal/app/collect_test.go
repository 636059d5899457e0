package app

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// collect is `farsight collect` of a ladder, by the binary.
func (s *simulator) collect(dir string, flags ...string) command {
	args := []string{"collect", "master+", "--platform", "kr", "--yes", "--json", "--no-timelines", "--data-dir", dir}
	return command{args: append(args, flags...), env: s.env()}
}

// wantUnion checks that each match of the ladder is stored, and asked for once but for those that a kill has cut off.
func wantUnion(t *testing.T, s *simulator, l sim.LadderSpec, res result, kills int) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(res.stdout), "\n")
	var sum struct {
		Event, Result  string
		Players        int
		PlayersListed  int `json:"players_listed"`
		Matches        engine.Collected
		Collection     string
		PlayersFailing int `json:"players_failed"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sum); err != nil {
		t.Fatalf("%v: %s", err, lines[len(lines)-1])
	}
	fetched := s.Fetches() // by the match: no timeline is wanted
	missing := slices.DeleteFunc(s.LadderMatchIDs(l), func(id string) bool { return fetched["match-v5.match "+id].OK > 0 })
	if sum.Event != "summary" || sum.Result != "completed" || sum.Players != l.Players || sum.PlayersListed != l.Players || len(missing) > 0 ||
		sum.Matches.Stored != sum.Matches.Found || sum.Matches.Found != len(fetched) {
		t.Errorf("%+v; %d fetched, %d of the ladder missing", sum, len(fetched), len(missing))
	}
	if again := repeats(s); again > kills*killWorkers {
		t.Errorf("%d calls were repeated, more than %d in flight at each of %d kills", again, killWorkers, kills)
	}
	noViolations(t, s)
}

// The binary alone, killed three times while it reads ladders and lists and fetches, on a directory and on a schema.
func TestL1b_KilledThreeTimesACollectionGoesOn(t *testing.T) {
	t.Parallel()
	for _, store := range scratch.Sized([]string{"directory"}, []string{"directory", "schema"}) {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			l := sim.LadderSpec{Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: scratch.Sized(12, 40)}
			s := startSim(t, sim.Options{Seed: 11, Limits: limits("500:1"), Latency: sim.Latency{Base: 12 * time.Millisecond}, Ladders: []sim.LadderSpec{l}})
			dir := freshDir(t)
			cmd := s.collect(dir)
			cmd.env["WORKER_CONCURRENCY"] = strconv.Itoa(killWorkers)
			isSound := func() { sound(t, dir) }
			if store == "schema" {
				at := pgtest.Schema(t)
				cmd.env["FARSIGHT_STORE"] = at
				isSound = inSchema{t, s, at, dir}.sound
			}
			for _, calls := range scratch.Sized([]int64{2, 50}, []int64{2, 60, 180}) {
				s.upTo(calls + killWorkers) // however late the kill comes: it has not ended
				p := cmd.start(t)
				p.until("the next calls", func() bool { return s.calls.Load() >= calls })
				if res := p.kill(); res.code != -1 {
					t.Fatalf("it ended with %d: %s%s", res.code, res.stderr, tail(res.stdout, 400))
				}
				s.rests(t)
			}
			s.upTo(0)
			wantUnion(t, s, l, cmd.asked(t).wants(t, exitDone), 3)
			isSound()
		})
	}
}

// A command alone reads a ladder once, though it counts them all for their room: by their usual size they are 500 GB.
func TestL10_ACommandAloneReadsItsLaddersOnce(t *testing.T) {
	t.Parallel()
	l := sim.LadderSpec{Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: 4}
	s := startSim(t, sim.Options{Seed: 11, Limits: limits("500:1"), Ladders: []sim.LadderSpec{l}})
	dir := freshDir(t)
	wantUnion(t, s, l, s.collect(dir, "--name", "climb", "diamond", "emerald", "platinum", "gold", "silver", "bronze", "iron").asked(t).wants(t, exitDone), 0)
	if res := (command{args: []string{"__complete", "job", ""}, env: map[string]string{"FARSIGHT_DATA_DIR": dir}}).asked(t); !regexp.MustCompile(`collect:[^,]+, climb, COMPLETED`).MatchString(res.stdout) {
		t.Errorf("no job of a collection with its name: %s", res.stdout)
	}
	pages := 0
	for method, by := range s.Stats().ByMethod {
		if strings.HasPrefix(method, "league-v4.") {
			pages += by[200]
		}
	}
	if pages != 3+7*4 {
		t.Errorf("%d ladder pages were read", pages)
	}
}

// Nothing is started by a command that does not make sense, or that nobody has agreed to.
func TestL5_CollectRefusesBeforeAnythingIsOpened(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	for _, args := range [][]string{
		{"woods", "--platform", "kr"}, {"master+"}, {"master+", "--platform", "moon"}, {"master+", "--platform", "kr,moon"},
		{"master+", "--platform", "kr", "--since", "soon"}, {"master+", "--platform", "kr", "--queue", "aram"},
		{"--platform", "kr"}, {"master+", "--platform", "kr"}, {"--players", "/nowhere", "--platform", "kr"},
	} {
		command{args: append([]string{"collect", "--data-dir", dir}, args...), env: map[string]string{}}.asked(t).wants(t, exitUsage)
	}
}

// What cannot be is said before anything is opened: two commands at once, a list that is longer than is read.
func TestL6_CollectionsRefuseWhatCannotBe(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	list := func(text string) command {
		return command{args: []string{"collect", "--players", "-", "--platform", "kr", "--data-dir", dir},
			as: func(c *exec.Cmd) { c.Stdin = strings.NewReader(text) }}
	}
	for want, c := range map[string]command{
		"one at a time":                   {args: []string{"collections", "--pause", "a", "--cancel", "b", "--data-dir", dir}},
		"name one collection at most":     {args: []string{"collections", "a", "b", "--data-dir", dir}},
		"cut it into parts":               list(strings.Repeat("\n", maxTrackFile+1)),
		"line 3 of the list is no player": list("\ufeffpuuid\n\nNobody\n"),
	} {
		oneSentence(t, c.asked(t).wants(t, exitUsage).stderr, want)
	}
}

// A player of a collection goes by name, and a collection by its own, once it has ended: what would go is told before,
// nobody is asked without --yes, and whoever collects the same again begins anew. Three of the games are ranked.
func TestL12d_CollectionsAndPlayersAreForgotten(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 5), player("Ben#EUW", 3)))
	dir := freshDir(t)
	run := func(code int, args ...string) result {
		t.Helper()
		return command{args: append(args, "--data-dir", dir), env: s.env()}.asked(t).wants(t, code)
	}
	collect := []string{"collect", "--players", "-", "--platform", "euw1", "--name", "two", "--yes"}
	both := command{args: append(collect, "--data-dir", dir), env: s.env(), as: func(c *exec.Cmd) { c.Stdin = strings.NewReader("Ana#EUW\nBen#EUW\n") }}
	both.asked(t).wants(t, exitDone)
	run(exitDone, "collections", "--pause", "two")
	for _, line := range []string{"collections", "collections --pause", "collections --forget", "export matches --collection"} {
		args := append(append([]string{"__complete"}, words(line)...), "t")
		res := command{args: args, env: map[string]string{"FARSIGHT_DATA_DIR": dir}}.asked(t)
		if !strings.HasPrefix(res.stdout, "two\tcompleted\n") {
			t.Errorf("%s offers %q", line, res.stdout)
		}
	}
	if res := run(exitDone, "forget", "ana#euw", "--dry-run"); !strings.Contains(res.stdout, "2 matches") || !strings.Contains(res.stdout, "would be deleted") {
		t.Errorf("%s", res.stdout)
	}
	var r engine.Receipt
	unmarshal(t, run(exitDone, "forget", s.PUUID("Ana#EUW", ""), "--yes", "--json").stdout, &r)
	if r.Forget == nil || r.Forget.Players != 1 || r.Forget.Matches != 2 || len(exported(t, dir)) != 1 {
		t.Errorf("%+v %+v", r, r.Forget)
	}
	sound(t, dir)
	oneSentence(t, run(exitFailed, "forget", "Ana#EUW", "--yes").stderr, "no such account")
	oneSentence(t, run(exitUsage, "collections", "--forget", "two").stderr, "--yes", "--dry-run")
	oneSentence(t, run(exitFailed, "collections", "--forget", "three", "--yes").stderr, "there is no collection")
	unmarshal(t, run(exitDone, "collections", "--forget", "two", "--yes", "--json", "--reason", "done with it").stdout, &r)
	if r.Forget == nil || r.Forget.Collection != "two" || r.Forget.Players != 1 || r.Forget.Matches != 1 || len(exported(t, dir)) != 0 {
		t.Errorf("%+v %+v", r, r.Forget)
	}
	sound(t, dir)
	if audit := run(exitDone, "audit", "--json").stdout; !strings.Contains(audit, `"collection two"`) || !strings.Contains(audit, "done with it") || strings.Contains(audit, s.PUUID("Ana#EUW", "")) {
		t.Errorf("the audit: %s", audit)
	}
	both.as = func(c *exec.Cmd) { c.Stdin = strings.NewReader("Ana#EUW\nBen#EUW\n") }
	both.asked(t).wants(t, exitDone) // it is not paused any more
	if n := len(exported(t, dir)); n != 3 {
		t.Errorf("%d matches, want 3", n)
	}
	sound(t, dir)
}
