package riot

import (
	"bytes"
	stdgzip "compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// The pipeline of a payload (inflate under limit, check, scan, keep the packed bytes) against what one
// writes first: compress/gzip and encoding/json into any. Each prints how many times faster it is.

func BenchmarkMatch(b *testing.B) {
	raw := benchMatch("EUW1_1")
	race(b, raw, func(p []byte) error {
		_, err := scanMatch(p, "EUW1_1")
		return err
	})
}

func BenchmarkTimeline(b *testing.B) {
	raw := benchTimeline("EUW1_1")
	race(b, raw, func(p []byte) error {
		_, err := scanTimeline(p, "EUW1_1")
		return err
	})
}

// BenchmarkRecorded runs the pipeline over the recordings.
func BenchmarkRecorded(b *testing.B) {
	b.Run("match", func(b *testing.B) {
		race(b, fixture(b, "matches/JP1_566638130.json"), func(p []byte) error {
			_, err := scanMatch(p, "JP1_566638130")
			return err
		})
	})
	b.Run("timeline", func(b *testing.B) {
		race(b, fixture(b, "timelines/JP1_566638130.json"), func(p []byte) error {
			_, err := scanTimeline(p, "JP1_566638130")
			return err
		})
	})
}

func race(b *testing.B, raw []byte, scan func([]byte) error) {
	p, err := pack(raw)
	if err != nil {
		b.Fatal(err)
	}
	naive := cost(b, func() error { return naively(p.Body) })
	structs := cost(b, func() error { return json.Unmarshal(raw, &stdMatch{}) })
	scanned := cost(b, func() error { return scan(raw) })
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		body, err := readBody(b.Context(), bytes.NewReader(p.Body), maxPacked)
		if err == nil {
			err = body.unpack("gzip", maxBody)
		}
		if err == nil {
			err = scan(body.raw.Bytes())
		}
		if err == nil {
			_, err = body.payload()
		}
		body.release()
		if err != nil {
			b.Fatal(err)
		}
	}
	each := b.Elapsed().Nanoseconds() / int64(max(1, b.N))
	b.ReportMetric(naive/float64(each), "x-naive")
	b.ReportMetric(structs/scanned, "x-scan-vs-structs")
}

// cost is the time of one run in nanoseconds: testing.Benchmark cannot be nested.
func cost(b *testing.B, run func() error) float64 {
	const runs = 20
	start := time.Now()
	for range runs {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(start).Nanoseconds()) / runs
}

func naively(packed []byte) error {
	z, err := stdgzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	var v any
	return json.Unmarshal(raw, &v)
}

// stdMatch is the tightest struct that encoding/json needs for the same fields.
type stdMatch struct {
	Metadata struct {
		MatchID      string   `json:"matchId"`
		Participants []string `json:"participants"`
	} `json:"metadata"`
	Info struct {
		GameCreation, GameDuration int64
		QueueID                    int `json:"queueId"`
		GameMode, GameVersion      string
		Participants               []struct {
			PUUID                  string `json:"puuid"`
			RiotIDGameName         string `json:"riotIdGameName"`
			ChampionName           string `json:"championName"`
			Win                    bool   `json:"win"`
			Kills, Deaths, Assists int
		} `json:"participants"`
	} `json:"info"`
}

// benchMatch and benchTimeline make payloads of about the recorded sizes, with the recorded mixture of
// short keys, small numbers and nesting.
func benchMatch(id string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"metadata":{"dataVersion":"2","matchId":%q,"participants":["p0"]},"info":{"gameCreation":1771685249284,"gameDuration":1670,"gameEndTimestamp":1771686994966,"gameVersion":"16.4.748.682","participants":[`, id)
	for i := range 10 {
		fmt.Fprintf(&b, `%s{"puuid":"p%d","riotIdGameName":"Lichen Otter","championName":"Gragas","win":true,"kills":3`, comma(i), i)
		for f := range 280 {
			fmt.Fprintf(&b, `,"someFieldOfRiot%d":%d`, f, f*i*37)
		}
		b.WriteString(`}`)
	}
	b.WriteString(`]}}`)
	return []byte(b.String())
}

func benchTimeline(id string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"metadata":{"matchId":%q},"info":{"frameInterval":60000,"frames":[`, id)
	for i := range 30 {
		fmt.Fprintf(&b, `%s{"participantFrames":{`, comma(i))
		for p := range 10 {
			fmt.Fprintf(&b, `%s"%d":{"level":%d,"position":{"x":%d,"y":%d},"championStats":{`, comma(p), p+1, i, i*331, i*977)
			for f := range 60 {
				fmt.Fprintf(&b, `%s"statistic%d":%d`, comma(f), f, f*i)
			}
			b.WriteString(`}}`)
		}
		fmt.Fprintf(&b, `},"timestamp":%d}`, i*60000)
	}
	b.WriteString(`]}}`)
	return []byte(b.String())
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}
