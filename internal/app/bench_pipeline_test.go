package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/riot/sim"
)

// pipelineMatches is how many matches, each with its timeline, the pipeline is
// measured with.
var pipelineMatches = envNumber("FARSIGHT_BENCH_PIPELINE", 1000)

// BenchmarkPipeline syncs an account with the real binary from a server that
// answers at once, and measures it against what one writes first: a process with
// eight goroutines that decode everything into any, compress it again and store
// it in a transaction of its own. Both run on the same cores as the server.
// Targets: at least 5 times as many matches a second, at most a fifth of the
// processor time.
func BenchmarkPipeline(b *testing.B) {
	who := player("Pipe Line#PIPE", pipelineMatches)
	s := sim.New(sim.Options{Seed: 4, Latency: sim.Instant, Limits: limits("100000:1,1000000:10"), Players: []sim.PlayerSpec{who}})
	c := newCanned(b, s, s.MatchIDs(who.RiotID))
	remote := &simulator{Sim: s, addr: c.addr}
	for b.Loop() {
		lean, leanCPU := leanPipeline(b, remote, who.RiotID)
		naive, naiveCPU := naiveRun(b, remote, who.RiotID)
		n := float64(pipelineMatches)
		b.ReportMetric(n/lean.Seconds(), "matches/s")
		b.ReportMetric(naive.Seconds()/lean.Seconds(), "x-naive")
		b.ReportMetric(leanCPU.Seconds()*1000/n, "ms-CPU/match")
		b.ReportMetric(leanCPU.Seconds()/naiveCPU.Seconds(), "of-naive-CPU")
	}
	b.ReportMetric(0, "ns/op")
}

func leanPipeline(b *testing.B, s *simulator, who string) (wall, cpu time.Duration) {
	b.Helper()
	began := time.Now()
	p := s.sync(who, freshDir(b)).start(b)
	if r := p.wait(); r.code != exitDone {
		b.Fatalf("exit %d: %s%s", r.code, r.stderr, tail(r.stdout, 300))
	}
	return time.Since(began), p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

func naiveRun(b *testing.B, s *simulator, who string) (wall, cpu time.Duration) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=naive", "BENCH_URL=http://"+s.addr,
		"BENCH_FILE="+filepath.Join(b.TempDir(), "naive.db"), "BENCH_IDS="+strings.Join(s.MatchIDs(who), ","))
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// canned answers calls for payloads from memory, so that the server costs little,
// and everything else through the simulator.
type canned struct {
	sim    http.Handler
	addr   string
	stored map[string]*httptest.ResponseRecorder // by path
}

func newCanned(b *testing.B, s *sim.Sim, ids []string) *canned {
	b.Helper()
	c := &canned{sim: s, stored: map[string]*httptest.ResponseRecorder{}}
	for _, id := range ids {
		for _, tail := range []string{"", "/timeline"} {
			r := httptest.NewRequest(http.MethodGet, "/europe/lol/match/v5/matches/"+id+tail, nil)
			r.Header.Set("X-Riot-Token", canary)
			r.Header.Set("Accept-Encoding", "gzip")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				b.Fatalf("%s: %d", r.URL.Path, w.Code)
			}
			c.stored[r.URL.Path] = w
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	c.addr = l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = sim.Serve(ctx, l, c)
	}()
	b.Cleanup(func() {
		stop()
		<-done
	})
	return c
}

func (c *canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	had, ok := c.stored[r.URL.Path]
	if !ok {
		c.sim.ServeHTTP(w, r)
		return
	}
	for name, values := range had.Header() {
		w.Header()[name] = values
	}
	_, _ = w.Write(had.Body.Bytes())
}

func init() { roles["naive"] = naivePipeline }

// naivePipeline is the prototype that BenchmarkPipeline measures against.
func naivePipeline() int {
	db, err := bolt.Open(os.Getenv("BENCH_FILE"), 0o600, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	work := make(chan string)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 8 {
		wg.Go(func() {
			for id := range work {
				if err := naiveMatch(db, id); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	for id := range strings.SplitSeq(os.Getenv("BENCH_IDS"), ",") {
		work <- id
	}
	close(work)
	wg.Wait()
	if err := errors.Join(failed, db.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	return exitDone
}

func naiveMatch(db *bolt.DB, id string) error {
	for _, tail := range []string{"", "/timeline"} {
		v, err := naiveFetch(id + tail)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if err := errors.Join(json.NewEncoder(z).Encode(v), z.Close()); err != nil {
			return err
		}
		err = db.Update(func(tx *bolt.Tx) error {
			payloads, err := tx.CreateBucketIfNotExists([]byte("payloads"))
			if err != nil {
				return err
			}
			return payloads.Put([]byte(id+tail), packed.Bytes())
		})
		if err != nil {
			return err
		}
	}
	return db.Update(func(tx *bolt.Tx) error {
		done, err := tx.CreateBucketIfNotExists([]byte("done"))
		if err != nil {
			return err
		}
		return done.Put([]byte(id), []byte(`{"status":"success"}`))
	})
}

func naiveFetch(path string) (v any, err error) {
	r, err := http.NewRequest(http.MethodGet, os.Getenv("BENCH_URL")+"/europe/lol/match/v5/matches/"+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Riot-Token", canary)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(raw, &v)
	return v, err
}
