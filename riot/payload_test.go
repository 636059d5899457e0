package riot

import (
	"bytes"
	"errors"
	"io"
	"log"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestPayloadKnowsDamage(t *testing.T) {
	good, err := pack([]byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := good.raw(); err != nil || string(raw) != `{"a":1}` {
		t.Fatalf("%q %v", raw, err)
	}
	for name, damage := range map[string]func(*Payload){
		"cut":            func(p *Payload) { p.Body = p.Body[:len(p.Body)-3] },
		"another length": func(p *Payload) { p.RawLen++ },
		"negative":       func(p *Payload) { p.RawLen = -1 },
		"huge":           func(p *Payload) { p.RawLen = 1 << 40 },
		"another sum":    func(p *Payload) { p.CRC++ },
		"another codec":  func(p *Payload) { p.Codec = 9 },
		"nothing":        func(p *Payload) { p.Body = nil },
		"bomb":           func(p *Payload) { p.Body = []byte(bomb(t)) },
	} {
		p := good
		if damage(&p); !fails(p) {
			t.Errorf("%s: not noticed", name)
		}
	}
}

func fails(p Payload) bool {
	_, err := p.raw()
	return err != nil && strings.HasPrefix(err.Error(), "payload ")
}

// FuzzPayload: whatever stands in a stored payload, Raw ends with the right text or an error.
func FuzzPayload(f *testing.F) {
	good, _ := pack([]byte(`{"a":[1,2,3]}`))
	f.Add(good.Body, good.RawLen, good.CRC)
	f.Add(good.Body[:9], 3, uint32(1))
	f.Add([]byte("\x1f\x8b\x08"), -1, uint32(0))
	f.Fuzz(func(t *testing.T, packed []byte, n int, crc uint32) {
		p := Payload{Body: packed, Codec: Gzip, RawLen: n, CRC: crc}
		if raw, err := p.raw(); err == nil && (len(raw) != n || n > maxBody) {
			t.Fatalf("%d bytes of %d", len(raw), n)
		}
	})
}

// TestStoredPayloadsAreReadAgain: adoption after a crash finds what the call would have found.
func TestStoredPayloadsAreReadAgain(t *testing.T) {
	raw := small(`"gameDuration":9,"gameEndTimestamp":1,"frames":[{}],"participants":[{"puuid":"p1","participantId":1}]`)
	p, err := pack(raw)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadMatch(p, "EUW1_1")
	if err != nil || m.DurationS != 9 || m.RawLen != len(raw) || string(m.Body) != string(p.Body) {
		t.Errorf("%v %+v", err, m)
	}
	tl, err := ReadTimeline(p, "EUW1_1")
	if err != nil || tl.RawLen != len(raw) {
		t.Errorf("%v %+v", err, tl)
	}
	damaged := p
	damaged.CRC++
	for name, read := range map[string]func() error{
		"another match":    func() error { _, err := ReadMatch(p, "EUW1_2"); return err },
		"another timeline": func() error { _, err := ReadTimeline(p, "EUW1_2"); return err },
		"damaged match":    func() error { _, err := ReadMatch(damaged, "EUW1_1"); return err },
		"damaged timeline": func() error { _, err := ReadTimeline(damaged, "EUW1_1"); return err },
	} {
		if read() == nil {
			t.Errorf("%s: was read", name)
		}
	}
}

// TestInflatingEndsAtTheLimit: a small answer that unpacks to 500 MB is given up with the first byte
// beyond the limit, and not once all of it lies in memory.
func TestInflatingEndsAtTheLimit(t *testing.T) {
	const limit = 1 << 20
	huge := bomb(t)
	for name, read := range map[string]func(dst *bytes.Buffer) error{
		"inflate": func(dst *bytes.Buffer) error { return inflate(dst, []byte(huge), limit) },
		"an answer": func(dst *bytes.Buffer) error {
			b, err := readBody(t.Context(), strings.NewReader(huge), limit)
			if err == nil {
				err = b.unpack("gzip", limit)
			}
			dst.Write(b.raw.Bytes())
			b.release()
			return err
		},
		"an answer that is not packed": func(dst *bytes.Buffer) error {
			b, err := readBody(t.Context(), zeros{}, limit)
			dst.Write(b.raw.Bytes())
			b.release()
			return err
		},
	} {
		var dst bytes.Buffer
		if err := read(&dst); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if dst.Len() > limit+1 {
			t.Errorf("%s: %d bytes were read under a limit of %d", name, dst.Len(), limit)
		}
	}
}

// zeros is an answer without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Tests in simulated time run beside others, and share the places to unpack with them.
func TestB18_WhoWaitsInSimulatedTimeIsLetInByAnyone(t *testing.T) {
	for range cap(unpacking) {
		unpacking.take()
	}
	time.AfterFunc(50*time.Millisecond, func() {
		for range cap(unpacking) {
			unpacking.leave()
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if _, err := ReadMatch(Payload{}, "EUW1_1"); err == nil {
			t.Error("nothing was read as a match")
		}
	})
}
