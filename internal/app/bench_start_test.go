package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

// storedMatches is how many matches the start is measured with; FARSIGHT_BENCH_STORED
// sets another number.
var storedMatches = envNumber("FARSIGHT_BENCH_STORED", 1_000_000)

// crowded makes a data directory with stored matches, each of which has its ended
// job, as months of syncing leave them.
func crowded(b *testing.B, n int) string {
	b.Helper()
	dir := freshDir(b)
	db, err := storage.Open(storage.Options{Dir: dir, Region: region})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	const batch = 10_000
	for from := 0; from < n; from += batch {
		if err := db.Write(ctx, func(tx engine.Tx) error { return crowd(db, tx, from, min(batch, n-from)) }); err != nil {
			b.Fatal(err)
		}
	}
	stop()
	if err := <-served; err != nil {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

var crowdEpoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func crowd(db *storage.DB, tx engine.Tx, from, n int) error {
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("EUW1_%010d", i)
		at := crowdEpoch.Add(time.Duration(i) * 20 * time.Second)
		had := league.Fetch{
			Status: league.Success, Attempts: 1, FetchedAt: at, LastAttemptAt: at,
			Ref: league.PayloadRef{Month: "2026-03", Codec: league.CodecDropped, Size: 10_000, RawLen: 67_000, CRC: 1},
		}
		m := league.Match{ID: id, Mode: "CLASSIC", Patch: "26.22", Played: at, Listed: at, Match: had, Timeline: had}
		if err := db.SaveMatch(tx, m, false); err != nil {
			return err
		}
		made, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "ingest.summoner.full", Key: "match:" + id, Args: []byte(`{"match":"` + id + `"}`)})
		if err != nil {
			return err
		}
		j, err := db.Job(tx, made[0].ID)
		if err != nil {
			return err
		}
		j.State, j.Rev, j.Finished = engine.Completed, 2, at
		if err := db.SaveJob(tx, j); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkStart starts the real binary on a store of a million matches and a
// million ended jobs, after a clean stop and after a kill. It prints how long the
// first frame, and the first call of a sync, take, and how much anonymous memory
// the console holds. Targets: 300 ms, 1 s, 150 MB.
func BenchmarkStart(b *testing.B) {
	s := startSim(b, quick(player("Late Comer#ST", 3)))
	dir := crowded(b, storedMatches)
	for b.Loop() {
		frame, memory := firstFrame(b, s, dir, syscall.SIGTERM)
		b.ReportMetric(float64(frame.Milliseconds()), "ms-to-first-frame")
		b.ReportMetric(memory, "MB-RssAnon")
		_, _ = firstFrame(b, s, dir, syscall.SIGKILL)
		killed, _ := firstFrame(b, s, dir, syscall.SIGTERM)
		b.ReportMetric(float64(killed.Milliseconds()), "ms-to-first-frame-after-kill")
		b.ReportMetric(float64(firstCall(b, s, dir).Milliseconds()), "ms-to-first-call")
	}
	b.ReportMetric(0, "ns/op")
}

// firstFrame starts the console in a terminal, and ends it with a signal.
func firstFrame(b *testing.B, s *simulator, dir string, end syscall.Signal) (took time.Duration, memory float64) {
	b.Helper()
	cmd := exec.Command(farsight(b), "--data-dir", dir)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "SSH_CONNECTION=", "FARSIGHT_THEME=dark")
	for name, value := range s.env() {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	began := time.Now()
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		b.Fatal(err)
	}
	seen := make(chan time.Duration, 1)
	go func() {
		var all []byte
		buf := make([]byte, 16<<10)
		for {
			n, err := screen.Read(buf)
			all = append(all, buf[:n]...)
			if bytes.Contains(all, []byte("Overview")) {
				select {
				case seen <- time.Since(began):
				default:
				}
				all = nil
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case took = <-seen:
	case <-time.After(patience):
		b.Fatal("there was no frame")
	}
	time.Sleep(2 * time.Second) // what the start needed is given back
	memory = rssAnon(b, cmd.Process.Pid)
	_ = cmd.Process.Signal(end)
	_ = cmd.Wait()
	_ = screen.Close()
	return took, memory
}

// firstCall is the time from the start of a sync to its first call.
func firstCall(b *testing.B, s *simulator, dir string) time.Duration {
	b.Helper()
	before := s.calls.Load()
	cmd := s.sync("Late Comer#ST", dir, "--force")
	began := time.Now()
	p := cmd.start(b)
	for s.calls.Load() == before {
		if time.Since(began) > patience {
			b.Fatal("there was no call")
		}
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began)
	if r := p.wait(); r.code != exitDone {
		b.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	return took
}

// BenchmarkMemory syncs 879 matches with their timelines and prints the most
// anonymous memory that the process ever held. Target: 80 MB.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		s := startSim(b, sim.Options{Seed: 5, Limits: limits("300:1,20000:10"), Latency: sim.Latency{Base: 20 * time.Millisecond}, Players: []sim.PlayerSpec{player("Long Road#MEM", 879)}})
		p := s.sync("Long Road#MEM", freshDir(b)).start(b)
		most := 0.0
		for ended := false; !ended; {
			select {
			case <-p.exited:
				ended = true
			case <-time.After(20 * time.Millisecond):
				most = max(most, rssAnon(b, p.cmd.Process.Pid))
			}
		}
		if p.wait(); p.code != exitDone {
			b.Fatalf("exit %d: %s", p.code, p.err.String())
		}
		b.ReportMetric(most, "MB-RssAnon")
	}
	b.ReportMetric(0, "ns/op")
}

// rssAnon is the resident memory of a process that no file backs, in MB; 0 when
// it has ended. Linux only.
func rssAnon(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kb)[0])
			return float64(n) / 1000 * 1.024
		}
	}
	return 0
}
