package storage

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/keep"
)

// wire is a payload as Riot sends it.
type wire struct {
	id     string
	part   league.Part
	body   []byte
	rawLen int
	crc    uint32
}

// simulated fetches n matches with timelines of the natural mix of modes.
func simulated(b testing.TB, n int) (list []wire) {
	b.Helper()
	s := sim.New(sim.Options{
		Seed: 7, Epoch: noon, Latency: sim.Instant, Retention: sim.KeepForever,
		Limits:  sim.Limits{App: []sim.Limit{{N: 1 << 20, Per: time.Second}}},
		Players: []sim.PlayerSpec{{RiotID: "Bench#T", Platform: route.EUW1, Matches: n, Span: 28 * 24 * time.Hour}},
	})
	for _, id := range s.MatchIDs("Bench#T") {
		list = append(list, fetch(b, s, id, league.PartMatch, ""), fetch(b, s, id, league.PartTimeline, "/timeline"))
	}
	return list
}

func fetch(b testing.TB, s *sim.Sim, id string, part league.Part, tail string) wire {
	b.Helper()
	r, err := http.NewRequest(http.MethodGet, "https://europe.api.riotgames.com/lol/match/v5/matches/"+id+tail, nil)
	must(b, err)
	r.Header.Set("X-Riot-Token", canary)
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := s.RoundTripper().RoundTrip(r)
	must(b, err)
	body, err := io.ReadAll(resp.Body)
	must(b, errors.Join(err, resp.Body.Close()))
	if resp.StatusCode != http.StatusOK {
		b.Fatalf("%s: %d %s", id, resp.StatusCode, body)
	}
	return sized(b, wire{id: id, part: part, body: body})
}

func sized(b testing.TB, w wire) wire {
	b.Helper()
	z, err := gzip.NewReader(bytes.NewReader(w.body))
	must(b, err)
	raw, err := io.ReadAll(z)
	must(b, err)
	w.rawLen, w.crc = len(raw), rec.Sum(raw)
	return w
}

// recorded are the payloads of real games; none where the fixtures are not.
func recorded(b testing.TB) (list []wire) {
	b.Helper()
	dir := os.Getenv("FARSIGHT_FIXTURES")
	if dir == "" {
		dir = "../../shared/fixtures/riot"
	}
	for folder, part := range map[string]league.Part{"matches": league.PartMatch, "timelines": league.PartTimeline} {
		paths, err := filepath.Glob(filepath.Join(dir, folder, "*.json"))
		must(b, err)
		for _, p := range paths {
			raw, err := os.ReadFile(p)
			must(b, err)
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			_, err = w.Write(raw)
			must(b, errors.Join(err, w.Close()))
			list = append(list, wire{id: filepath.Base(p), part: part, body: z.Bytes(), rawLen: len(raw), crc: rec.Sum(raw)})
		}
	}
	return list
}

func sampleSize(def int) int {
	if n, err := strconv.Atoi(os.Getenv("FARSIGHT_BENCH_MATCHES")); err == nil && n > 0 {
		return n
	}
	return def
}

// BenchmarkArchive stores matches and timelines of real size as they arrive (hot) and then archives their month. It prints
// the bytes in use per byte of wire gzip (targets: hot at most 1.06 at 8,000 matches, archived at most 0.6; set
// FARSIGHT_BENCH_MATCHES=8000), and what one match and its timeline cost.
func BenchmarkArchive(b *testing.B) {
	sets := map[string]func() []wire{
		"simulated": func() []wire { return simulated(b, sampleSize(200)) },
		"recorded":  func() []wire { return recorded(b) },
	}
	for name, load := range sets {
		b.Run(name, func(b *testing.B) {
			list := load()
			if len(list) == 0 {
				b.Skip("no recorded payloads here")
			}
			for b.Loop() {
				benchArchive(b, list)
			}
		})
	}
}

func benchArchive(b *testing.B, list []wire) {
	b.Helper()
	p, ctx := payloads(b), context.Background()
	total, matches := 0, 0
	opsPerSecond(8, len(list), func(i uint64) error {
		w := list[i-1]
		return p.Put(ctx, w.id, w.part, league.PayloadRef{Month: oldMonth, Codec: payload.CodecGzip, RawLen: w.rawLen, CRC: w.crc}, w.body)
	})
	for _, w := range list {
		total += len(w.body)
		if w.part == league.PartMatch {
			matches++
		}
	}
	began := time.Now()
	r, err := p.Archive(ctx, payload.ArchiveOptions{Months: []string{oldMonth}, Workers: 2})
	must(b, err)
	took := time.Since(began)
	if r[0].Bad > 0 || r[0].Left != "" {
		b.Fatalf("%+v", r)
	}
	b.ReportMetric(float64(r[0].Before)/float64(total), "hot_x_wire")
	b.ReportMetric(float64(r[0].After)/float64(total), "archived_x_wire")
	b.ReportMetric(float64(took.Milliseconds())/float64(matches), "ms/match")
	must(b, p.Drop(oldMonth))
}

// BenchmarkReadArchived reads the JSON of archived payloads, against those that lie as they arrived.
func BenchmarkReadArchived(b *testing.B) {
	list := simulated(b, 30)
	rate := map[bool]float64{}
	for _, packed := range []bool{false, true} {
		p, ctx := payloads(b), context.Background()
		for _, w := range list {
			must(b, p.Put(ctx, w.id, w.part, league.PayloadRef{Month: oldMonth, Codec: payload.CodecGzip, RawLen: w.rawLen, CRC: w.crc}, w.body))
		}
		if packed {
			_, err := p.Archive(ctx, payload.ArchiveOptions{Months: []string{oldMonth}})
			must(b, err)
		}
		rate[packed] = opsPerSecond(1, max(b.N, 120), func(i uint64) error {
			w := list[int(i)%len(list)]
			_, err := p.Raw(w.id, w.part, league.PayloadRef{Month: oldMonth, Codec: payload.CodecGzip, RawLen: w.rawLen, CRC: w.crc})
			return err
		})
	}
	b.ReportMetric(rate[true], "archived/s")
	b.ReportMetric(rate[true]/rate[false], "x_gzip")
}

// BenchmarkBackup copies a store of some hundred megabytes while eight callers write, and prints the longest commit during
// the copy and without it.
func BenchmarkBackup(b *testing.B) {
	const megabytes = 256
	db := start(b, "")
	body := make([]byte, 60<<10)
	for i := range body {
		body[i] = byte(i * i >> 3)
	}
	ref := league.PayloadRef{Month: testMonth, Codec: payload.CodecIdentity, RawLen: len(body), CRC: rec.Sum(body)}
	opsPerSecond(8, megabytes<<20/len(body), func(i uint64) error {
		return db.PutPayload(context.Background(), fmt.Sprintf("EUW1_%08d", i), league.PartTimeline, ref, body)
	})
	for b.Loop() {
		quiet := longestCommit(b, db, func() { time.Sleep(time.Second) })
		var r engine.BackupDone
		busy := longestCommit(b, db, func() { r = backup(b, db, keep.BackupOptions{To: filepath.Join(b.TempDir(), "kept")}) })
		b.ReportMetric(float64(r.Copied)/1e6/r.Took.Seconds(), "MB/s")
		b.ReportMetric(float64(r.Copied)/(1<<20), "MiB")
		b.ReportMetric(float64(busy.Milliseconds()), "longest_ms")
		b.ReportMetric(float64(quiet.Milliseconds()), "longest_quiet_ms")
	}
}

func longestCommit(b *testing.B, db *DB, during func()) (longest time.Duration) {
	b.Helper()
	stop, done := make(chan struct{}), make(chan time.Duration)
	for w := range 8 {
		go func() {
			var worst time.Duration
			for i := 0; ; i++ {
				select {
				case <-stop:
					done <- worst
					return
				default:
				}
				began := time.Now()
				err := db.Write(context.Background(), func(tx engine.Tx) error {
					return own(tx).PutBlob(tState, []byte(fmt.Sprintf("bench.%d.%d", w, i%100)), make([]byte, 40))
				})
				if err != nil {
					panic(err)
				}
				worst = max(worst, time.Since(began))
			}
		}()
	}
	during()
	close(stop)
	for range 8 {
		longest = max(longest, <-done)
	}
	return longest
}
