package app

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestSSH_AttachActResizeDrop is the second show of issue 5: a real `ssh -t` through
// OpenSSH, colours, a size that changes, a command that others see, and connections
// that break without harm to the engine.
func TestSSH_AttachActResizeDrop(t *testing.T) {
	t.Parallel()
	server := startSSHD(t)
	who := player("Over SSH#TEST", 480)
	s, dir := slowly(t, who), freshDir(t)
	d := s.serving(t, dir, nil)
	cli := func(args ...string) result {
		return command{args: append(args, "--data-dir", dir)}.run(t)
	}
	cli("trigger", who.RiotID, "--platform", "euw1").wants(t, exitDone)
	elsewhere := attached(t, dir)

	x := server.open(100, 30, "", nil, "attach", "--data-dir", dir)
	x.shows("LIVE", laneName(who.RiotID), "SYNCING")
	if _, _, n := x.told(); n < 20 {
		t.Errorf("%d colours came through ssh", n)
	}
	for _, size := range [][2]int{{160, 50}, {80, 24}, {120, 40}} {
		x.resize(size[0], size[1])
		x.waits("a screen of the new size", func() bool {
			right, bottom := x.edges()
			return right > size[0]-3 && bottom == size[1]
		})
		x.shows("LIVE", "q quit")
	}

	// A second operator, on a poorer terminal: both see the same engine.
	y := server.open(80, 24, "", []string{"NO_COLOR=1"}, "attach", "--data-dir", dir)
	y.shows("LIVE", laneName(who.RiotID))
	if _, _, n := y.told(); n != 0 {
		t.Errorf("%d colours in spite of NO_COLOR", n)
	}

	// What one does, the others see, by the name that the kernel knows.
	x.press("3")
	x.shows("JOBS ", "AVAILABLE")
	x.press("b") // each job has a row
	x.shows("RESULT OR REASON")
	// The last match: its turn comes last. A list that is still being read ends with another.
	x.waits("the cursor on a match far back in line", func() bool {
		if farInLine.MatchString(x.text()) {
			return true
		}
		x.press("\x1b[Fk")
		time.Sleep(100 * time.Millisecond) // for its answer: keys that pile up move the cursor later
		return false
	})
	x.press("x")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	n := elsewhere.note(t, "cancel")
	if n.By.Via != "socket" || n.By.User != me.Username {
		t.Errorf("the note is by %+v", n.By)
	}
	y.toldOf("cancel", me.Username)
	if audit := cli("audit", "--op", "cancel", "--json").wants(t, exitDone).stdout; !strings.Contains(audit, `"user":"`+me.Username+`"`) || !strings.Contains(audit, `"applied":1`) {
		t.Errorf("the audit says %s", audit)
	}

	// Connections break at either end; the programs on them go, the engine stays.
	_ = x.cmd.Process.Kill()
	x.goes(x.pid)
	session := y.session()
	_ = syscall.Kill(session, syscall.SIGKILL)
	y.goes(y.pid)
	if res := y.wait(); res.code != 255 {
		t.Errorf("ssh ends with %d after its server's process fell", res.code)
	}
	if h, err := elsewhere.Hello(t.Context()); err != nil || h.PID != d.cmd.Process.Pid {
		t.Fatalf("the engine is not what it was: %+v %v", h, err)
	}
	again := server.open(100, 30, "", nil, "attach", "--data-dir", dir)
	again.shows("LIVE", "SYNCING")
	again.press("q")
	again.wait().wants(t, exitDone)
}

// What a console may cost over SSH in a second while the engine is busy: four updates, and the second hand.
const (
	mostBytes  = 4 << 10
	mostFrames = 5
)

// spans are how often a rate over time is measured: over a shorter stretch than the machine
// now and then stands still for, one that is too high may be what was made up for. A
// console that sends too much does so in every span.
const spans = 8

// laneName is how the overview calls an account at least: by the first word of its name.
func laneName(riotID string) string {
	name, _, _ := strings.Cut(riotID, "#")
	return strings.Fields(name)[0]
}

// storedCount is what the overview says on a small screen, where it is not drawn tall.
var storedCount = regexp.MustCompile(`([\d,]*\d) stored`)

func (x *sshTerminal) stored() int {
	m := storedCount.FindStringSubmatch(x.text())
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(regexp.MustCompile(`\D`).ReplaceAllString(m[1], ""))
	return n
}

// TestSSH_ABusyEngineAndATerminalThatStopsReading: few bytes and frames, and a
// console whose terminal takes nothing costs neither the engine nor the others.
func TestSSH_ABusyEngineAndATerminalThatStopsReading(t *testing.T) {
	longest(t)
	t.Parallel()
	server := startSSHD(t)
	var players []sim.PlayerSpec
	for n := range 4 {
		players = append(players, player(fmt.Sprintf("Busy Line %d#TEST", n), 600))
	}
	s, dir := startSim(t, sim.Options{Seed: 1, Limits: limits("20:1"), Players: players}), freshDir(t)
	s.serving(t, dir, nil)
	for _, who := range players {
		command{args: []string{"trigger", who.RiotID, "--platform", "euw1", "--data-dir", dir}}.run(t).wants(t, exitDone)
	}
	x := server.open(80, 24, "", nil, "attach", "--data-dir", dir)
	y := server.open(80, 24, "", nil, "attach", "--data-dir", dir)
	x.waits("a busy engine", func() bool { return x.stored() > 0 && y.stored() > 0 })
	const span = 4 * time.Second // twice as long as a list waits until it is read again
	window := func() (calls int64) {
		calls = s.calls.Load()
		time.Sleep(span)
		return s.calls.Load() - calls
	}
	before := int64(0)
	for _, page := range []string{"1", "3", "5"} {
		x.press(page)
		x.shows(map[string]string{"1": "NEEDS YOU", "3": "AVAILABLE", "5": "FLIGHT RECORDER"}[page])
		time.Sleep(time.Second) // a new screen is painted whole, and its lists are read
		sparing := func() bool {
			began := time.Now()
			b0, f0, _ := x.told()
			before = window()
			b1, f1, _ := x.told()
			took := time.Since(began).Seconds()
			bytes, frames := float64(b1-b0)/took, float64(f1-f0)/took
			t.Logf("screen %s: %d calls, %.0f bytes and %.1f frames per second", page, before/int64(span/time.Second), bytes, frames)
			// A span that begins just before a frame ends just behind one more.
			return before > 0 && bytes > 0 && bytes <= mostBytes && frames <= mostFrames+1/took
		}
		if !slices.ContainsFunc(make([]int, spans), func(int) bool { return sparing() }) {
			t.Errorf("screen %s: never within %d bytes and %d frames per second", page, mostBytes, mostFrames)
		}
	}
	x.press("1")
	x.waits("the overview again", func() bool { return x.stored() > 0 })

	// The server's process takes nothing more from the terminal, as when the window of
	// a client that is asleep is full.
	session := y.session()
	_ = syscall.Kill(session, syscall.SIGSTOP)
	resume := func() { _ = syscall.Kill(session, syscall.SIGCONT) }
	t.Cleanup(resume)
	shown, calls := x.stored(), s.calls.Load()
	x.waits("as many calls as in a span before while one console stands still", func() bool { return s.calls.Load() >= calls+before })
	x.waits("the other console going on", func() bool { return x.stored() > shown })
	resume()
	y.waits("the console catching up", func() bool { return y.stored() >= x.stored()-60 && y.stored() > shown })
	for _, c := range []*sshTerminal{x, y} {
		c.press("q")
		c.wait().wants(t, exitDone)
	}
}

// TestSSH_TheEngineSurvivesTheDrop: a console over SSH that has started the engine
// leaves it behind, without being asked to, when its client vanishes; the next one
// attaches.
func TestSSH_TheEngineSurvivesTheDrop(t *testing.T) {
	t.Parallel()
	server := startSSHD(t)
	who := player("Closed Lid#TEST", 480)
	s, dir := slowly(t, who), freshDir(t)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "riot.key"), []byte(canary+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	env := []string{"'RIOT_BASE_URL=http://" + s.addr + "/{routing}'"}
	x := server.open(120, 40, "", env, "--data-dir", dir)
	x.shows("LIVE")
	t.Cleanup(func() { _ = syscall.Kill(x.pid, syscall.SIGKILL) })
	client := api.NewClient(controlSocket(dir))
	defer client.Close()
	command{args: []string{"trigger", who.RiotID, "--platform", "euw1", "--data-dir", dir}}.run(t).wants(t, exitDone)
	x.shows("SYNCING", laneName(who.RiotID))

	session := x.session()
	_ = x.cmd.Process.Kill()
	x.goes(session)
	calls := s.calls.Load()
	x.waits("the engine going on", func() bool { return s.calls.Load() > calls })
	if h, err := client.Hello(t.Context()); err != nil || h.PID != x.pid {
		t.Fatalf("the engine is not what it was: %+v %v", h, err)
	}

	y := server.open(100, 30, "", env, "--data-dir", dir)
	y.shows("LIVE", "SYNCING", laneName(who.RiotID))
	y.press("q") // leaves an engine elsewhere without a question
	y.wait().wants(t, exitDone)
	if h, err := client.Hello(t.Context()); err != nil || h.PID != x.pid {
		t.Fatalf("the engine went with the console that was attached: %+v %v", h, err)
	}
	_ = syscall.Kill(x.pid, syscall.SIGTERM)
	x.goes(x.pid)
	if _, err := client.Hello(t.Context()); !errors.Is(err, engine.ErrGone) {
		t.Errorf("after SIGTERM: %v", err)
	}

	// On purpose: d leaves the console, and the engine goes on in a process of its own
	// that the end of the connection does not reach.
	z := server.open(100, 30, "", env, "--data-dir", dir)
	z.shows("LIVE", laneName(who.RiotID))
	z.press("d")
	z.wait().wants(t, exitDone)
	h, err := client.Hello(t.Context())
	if err != nil || h.PID == z.pid {
		t.Fatalf("nobody has taken over: %+v %v", h, err)
	}
	t.Cleanup(func() { _ = syscall.Kill(h.PID, syscall.SIGKILL) })
	z.shows("detached: process " + strconv.Itoa(h.PID))
	_ = syscall.Kill(h.PID, syscall.SIGTERM)
	z.goes(h.PID)
}

// TestSSH_AViewersUIDCannotAct: another user of the host comes in through ssh, sees
// all and may do nothing, whatever they run.
func TestSSH_AViewersUIDCannotAct(t *testing.T) {
	t.Parallel()
	server := startSSHD(t)
	if !server.other {
		t.Skip("only root, with a view of files of its own, can let another user in")
	}
	who := player("Only Look#TEST", 480)
	s, dir := slowly(t, who), freshDir(t)
	bin, path := server.dir+"/farsight", server.dir+"/control.sock"
	raw, err := os.ReadFile(farsight(t))
	if err := errors.Join(err, os.WriteFile(bin, raw, 0o755)); err != nil { //nolint:gosec // others shall run it
		t.Fatal(err)
	}
	d := s.serving(t, dir, map[string]string{"FARSIGHT_SOCKET_GROUP": strconv.Itoa(strangerUID), "FARSIGHT_SOCKET_PATH": path, "FARSIGHT_VIEWERS": strconv.Itoa(strangerUID)})
	command{args: []string{"trigger", who.RiotID, "--platform", "euw1", "--data-dir", dir}}.run(t).wants(t, exitDone)
	ssh := func(on *sshServer, remote string) result {
		return on.command([]string{stranger + "@farsight-test", remote}, nil).run(t)
	}
	if out := ssh(server, bin+" jobs --json --data-dir "+server.dir).wants(t, exitDone).stdout; !strings.Contains(out, "ingest.summoner.full") {
		t.Errorf("a viewer sees no jobs: %q", out)
	}
	res := ssh(server, bin+" cancel --queue ingest.summoner.full --data-dir "+server.dir).wants(t, exitFailed)
	oneSentence(t, res.stderr, "viewer", "operators")
	oneSentence(t, ssh(server, bin+" status --data-dir "+dir).wants(t, exitIncomplete).stderr, "permission denied")

	// A forced command: whatever the viewer asks for, it is the console.
	forced := startSSHD(t, "Match User "+stranger, "ForceCommand echo at process $$; exec "+bin+" attach "+path)
	x := forced.open(100, 30, stranger, nil, "cancel")
	x.shows("LIVE", "READ ONLY", laneName(who.RiotID))
	x.press("3")
	x.shows("JOBS ", "AVAILABLE")
	x.press("\x1b[Fk")
	x.press("x")
	x.toldOf("a viewer may look, not act")
	x.press("q")
	x.wait().wants(t, exitDone)

	audit := command{args: []string{"audit", "--json", "--data-dir", dir}}.run(t).wants(t, exitDone).stdout
	if !strings.Contains(audit, "uid "+strconv.Itoa(strangerUID)) || strings.Contains(audit, `"op":"cancel","applied":1`) {
		t.Errorf("the audit says %s", audit)
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
}
