package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

// BenchmarkFiftyConsoles measures what attached consoles cost the engine, in pairs of
// runs, with and without them, in turns; the median of the pairs counts. The consoles
// are in a process of their own, on the control socket: some that read, or one that
// stops reading after its first line. Two loads: a sync as fast as the machine goes,
// by the real daemon; and jobs that do nothing on the real store, of which the engine
// settles so many that every update is full: the worst case.
//
// ratio is throughput with consoles by throughput without (target: at least 0.9, and
// 1 for one that stops reading, issue 5). The consoles take their own part of the
// machine; cpu-ratio leaves it out: the engine's processor time for each job without
// consoles by that with them.
func BenchmarkFiftyConsoles(b *testing.B) {
	who := player("Long Haul#BENCH", 600)
	remote := sync.OnceValue(func() *simulator {
		s := sim.New(sim.Options{Seed: 4, Latency: sim.Instant, Limits: limits("100000:1,1000000:10"), Players: []sim.PlayerSpec{who}})
		return &simulator{Sim: s, addr: newCanned(b, s, s.MatchIDs(who.RiotID)).addr}
	})
	for _, load := range []struct {
		name string
		run  func(b *testing.B, consoles int, read bool) cost
	}{
		{"sync", func(b *testing.B, n int, read bool) cost { return attachedSync(b, remote(), who, n, read) }},
		{"noop", attachedNoop},
	} {
		for _, c := range []struct {
			name string
			n    int
			read bool
		}{{"50-attached", 50, true}, {"1-that-stops-reading", 1, false}} {
			b.Run(load.name+"/"+c.name, func(b *testing.B) {
				var wall, cpu, rate []float64
				for b.Loop() {
					for turn := range 6 { // who comes first finds another machine than who comes second
						var alone, with cost
						if turn%2 == 0 {
							alone, with = load.run(b, 0, true), load.run(b, c.n, c.read)
						} else {
							with, alone = load.run(b, c.n, c.read), load.run(b, 0, true)
						}
						wall, cpu = append(wall, with.rate()/alone.rate()), append(cpu, alone.each()/with.each())
						rate = append(rate, with.rate())
					}
				}
				b.ReportMetric(middle(wall), "ratio")
				b.ReportMetric(middle(cpu), "cpu-ratio")
				b.ReportMetric(middle(rate), "jobs/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// cost is what a number of jobs took.
type cost struct {
	jobs      int
	wall, cpu time.Duration // of the engine's process
}

func (c cost) rate() float64 { return float64(c.jobs) / c.wall.Seconds() }
func (c cost) each() float64 { return c.cpu.Seconds() / float64(c.jobs) }

func middle(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// attachedSync is a sync of an account by a daemon.
func attachedSync(b *testing.B, s *simulator, who sim.PlayerSpec, n int, read bool) cost {
	b.Helper()
	dir := freshDir(b)
	d := s.serving(b, dir, nil)
	leave := consoles(b, controlSocket(dir), n, read)
	c := api.NewClient(controlSocket(dir))
	defer c.Close()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	busy := cpuOf(b, d.cmd.Process.Pid)
	began := time.Now()
	if _, err := c.Do(ctx, engine.Command{Op: engine.OpTrigger, Account: who.RiotID, Sync: engine.SyncAsk{Platform: "euw1"}}); err != nil {
		b.Fatal(err)
	}
	for {
		a, err := c.Find(ctx, engine.AccountQuery{ID: who.RiotID})
		if d, ok := a.(engine.AccountDetail); err == nil && ok && d.Row.Status == engine.SyncCompleted {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	out := cost{2 * who.Matches, time.Since(began), cpuOf(b, d.cmd.Process.Pid) - busy}
	leave()
	d.kill()
	return out
}

// cpuOf is the processor time that a process has taken so far.
func cpuOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("the processor time of another process is not to be had here: ", err)
	}
	const tick = 10 * time.Millisecond // of every Linux that Go runs on
	fields := words(string(raw[slices.Index(raw, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// noopJobs is how many a run of the worst case settles.
var noopJobs = envNumber("FARSIGHT_BENCH_NOOP", 20_000)

// noopSource is a hub's source over a job engine without a limiter.
type noopSource struct{ *local.Backend }

func (s noopSource) Engine() (*engine.EngineRow, *engine.LimitsRow) {
	n, most := s.Load()
	return &engine.EngineRow{State: engine.EngineLive, InFlight: n, Workers: most, Stored: s.Stats().Finished}, &engine.LimitsRow{}
}
func (noopSource) CallsAfter(uint64) []engine.CallRow     { return nil }
func (noopSource) ETA(string) engine.ETA                  { return engine.ETA{} }
func (noopSource) Start(engine.JobID) (time.Time, string) { return time.Time{}, "" }
func (s noopSource) Row(j engine.Job) engine.JobRow       { return engine.JobRow{Job: j} }

// noopConsole is a console of which nothing but watching is asked.
type noopConsole struct {
	engine.Console
	*hub.Hub
}

func (c noopConsole) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return c.Hub.Watch(ctx)
}

// attachedNoop settles jobs that do nothing, in this process.
func attachedNoop(b *testing.B, n int, read bool) cost {
	b.Helper()
	db, err := storage.Open(storage.Options{Dir: filepath.Join(b.TempDir(), "data")})
	if err != nil {
		b.Fatal(err)
	}
	be, err := local.New(local.Options{
		Store: db, Policies: engine.DefaultPolicies(), Boot: "bench", Workers: func() int { return 100 },
		Kinds: []engine.KindSpec{{Kind: "noop", Policy: engine.PolicyMatch, Handler: func(context.Context, engine.Run) engine.Outcome { return engine.Done(nil) }}},
	})
	if err != nil {
		b.Fatal(err)
	}
	h := hub.New(hub.Options{Source: noopSource{be}, Accounts: func(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
		return engine.AccountsPage{}, nil
	}})
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		be.Apply(seq, changes)
		h.Publish(seq, changes)
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	run := func(f func(context.Context) error) {
		running.Go(func() {
			if err := f(ctx); err != nil {
				b.Error(err)
			}
		})
	}
	run(db.Serve)
	run(h.Run)
	fillNoop(b, db)
	path := filepath.Join(b.TempDir(), api.SocketName)
	l, err := api.Listen(path, -1)
	if err != nil {
		b.Fatal(err)
	}
	server := api.NewServer(api.Options{Console: noopConsole{Hub: h}, Who: api.NewDoor(api.Access{Owner: uint32(os.Geteuid())}).Who})
	run(func(ctx context.Context) error { return server.Serve(ctx, l) })
	leave := consoles(b, path, n, read)

	busy, began := ownCPU(), time.Now()
	run(be.Run)
	for be.Stats().Finished < int64(noopJobs) {
		time.Sleep(time.Millisecond)
	}
	out := cost{noopJobs, time.Since(began), ownCPU() - busy}
	leave()
	cancel()
	running.Wait()
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	return out
}

func fillNoop(b *testing.B, db *storage.DB) {
	b.Helper()
	specs := make([]engine.Spec, noopJobs)
	for i := range specs {
		specs[i] = engine.Spec{Kind: "noop", Queue: "bench", Key: fmt.Sprint("match:EUW1_", i)}
	}
	err := db.Write(b.Context(), func(tx engine.Tx) error {
		_, err := tx.Enqueue(specs...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// consoles are attached by another process until leave is called. They throw away
// what they read: what a screen makes of it is its own process's affair.
func consoles(b *testing.B, path string, n int, read bool) (leave func()) {
	b.Helper()
	if n == 0 {
		return func() {}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=consoles", "BENCH_SOCKET="+path, fmt.Sprint("BENCH_CONSOLES=", n), fmt.Sprint("BENCH_READ=", read))
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		b.Fatal(err)
	}
	said := bufio.NewReader(out)
	if _, err := said.ReadString('\n'); err != nil {
		b.Fatal("the consoles did not attach: ", err)
	}
	return func() {
		_ = in.Close()
		told, _ := said.ReadString('\n')
		if err := cmd.Wait(); err != nil || read && len(told) < 7 { // a few hundred KB at least
			b.Errorf("the consoles were told %q bytes: %v", told, err)
		}
	}
}

func init() { roles["consoles"] = attachConsoles }

// attachConsoles says a line when all are attached, and when its input ends how many
// bytes they were told.
func attachConsoles() int {
	n, _ := strconv.Atoi(os.Getenv("BENCH_CONSOLES"))
	all := make([]net.Conn, n)
	for i := range all {
		c, err := net.Dial("unix", os.Getenv("BENCH_SOCKET"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitFailed
		}
		all[i] = c
		_, _ = io.WriteString(c, "GET /v1/watch HTTP/1.0\r\nHost: farsight\r\n\r\n")
		if _, err := c.Read(make([]byte, 512)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitFailed
		}
	}
	var told int64
	var mu sync.Mutex
	var reading sync.WaitGroup
	if os.Getenv("BENCH_READ") == "true" {
		for _, c := range all {
			reading.Go(func() {
				n, _ := io.Copy(io.Discard, c)
				mu.Lock()
				defer mu.Unlock()
				told += n
			})
		}
	}
	fmt.Println("attached")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range all {
		_ = c.Close()
	}
	reading.Wait()
	fmt.Println(told)
	return exitDone
}
