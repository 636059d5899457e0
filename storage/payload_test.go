package storage

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

const testMonth = "2026-11"

// gzipped is a payload as it arrives.
func gzipped(raw string) (league.PayloadRef, []byte) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(raw))
	w.Close()
	return league.PayloadRef{Month: testMonth, Codec: "gzip", Size: b.Len(), RawLen: len(raw), CRC: rec.Sum([]byte(raw))}, b.Bytes()
}

func payloads(t testing.TB) *payload.Store {
	t.Helper()
	p := payload.New(t.TempDir(), false, zerolog.Nop())
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

func TestPayloadsComeBackAsTheyArrived(t *testing.T) {
	p, ctx := payloads(t), context.Background()
	ref, body := gzipped(`{"info":"` + strings.Repeat("matchdata", 3000) + `"}`)
	if ok, err := hasPayload(p, "EUW1_1"); ok || err != nil {
		t.Errorf("Has before Put: %t %v", ok, err)
	}
	for range 2 { // idempotent
		must(t, p.Put(ctx, "EUW1_1", league.PartMatch, ref, body))
	}
	got, err := p.Get("EUW1_1", league.PartMatch, ref)
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("Get: %v", err)
	}
	raw, err := p.Raw("EUW1_1", league.PartMatch, ref)
	if err != nil || len(raw) != ref.RawLen {
		t.Errorf("Raw: %d bytes, %v", len(raw), err)
	}
	if _, err := p.Get("EUW1_1", league.PartTimeline, ref); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("the other part: %v", err)
	}
	if found, _, ok, err := p.Find(ctx, "EUW1_1", league.PartMatch); !ok || err != nil || found != ref {
		t.Errorf("Find: %+v %t %v", found, ok, err)
	}
	if _, _, ok, err := p.Find(ctx, "EUW1_2", league.PartMatch); ok || err != nil {
		t.Errorf("Find of nothing: %t %v", ok, err)
	}
	other, otherBody := gzipped("another")
	must(t, p.Put(ctx, "EUW1_1", league.PartMatch, other, otherBody))
	if _, err := p.Get("EUW1_1", league.PartMatch, ref); err == nil {
		t.Error("a payload that was replaced still answers to the old reference")
	}
	must(t, p.Drop(testMonth))
	if _, err := p.Get("EUW1_1", league.PartMatch, other); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("after Drop: %v", err)
	}
	if months, err := p.Months(); len(months) != 0 || err != nil {
		t.Errorf("months after Drop: %v %v", months, err)
	}
}

func TestPayloadsRefuseWhatCannotBeKept(t *testing.T) {
	p, ctx := payloads(t), context.Background()
	ref, body := gzipped("x")
	change := func(f func(*league.PayloadRef)) league.PayloadRef { r := ref; f(&r); return r }
	cases := map[string]func() error{
		"month": func() error {
			return p.Put(ctx, "A", league.PartMatch, change(func(r *league.PayloadRef) { r.Month = "../x" }), body)
		},
		"codec": func() error {
			return p.Put(ctx, "A", league.PartMatch, change(func(r *league.PayloadRef) { r.Codec = "lzma" }), body)
		},
		"raw length": func() error {
			return p.Put(ctx, "A", league.PartMatch, change(func(r *league.PayloadRef) { r.RawLen = 33 << 20 }), body)
		},
		"no body": func() error { return p.Put(ctx, "A", league.PartMatch, ref, nil) },
		"part":    func() error { return p.Put(ctx, "A", "notes", ref, body) },
		"no id":   func() error { return p.Put(ctx, "", league.PartMatch, ref, body) },
		"long id": func() error { return p.Put(ctx, strings.Repeat("A", 65), league.PartMatch, ref, body) },
		"context": func() error {
			c, cancel := context.WithCancel(ctx)
			cancel()
			return p.Put(c, "A", league.PartMatch, ref, body)
		},
	}
	for name, f := range cases {
		if f() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if months, _ := p.Months(); len(months) != 0 {
		t.Errorf("something was stored: %v", months)
	}
}

func TestManyPayloadsAtOnceShareCommits(t *testing.T) {
	p := payloads(t)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			ref, body := gzipped(strings.Repeat(fmt.Sprint(i), 500))
			id := fmt.Sprintf("EUW1_%d", i)
			if err := p.Put(context.Background(), id, league.PartMatch, ref, body); err != nil {
				t.Error(err)
			}
			if ok, err := hasPayload(p, id); !ok || err != nil {
				t.Errorf("%s is not there when Put has returned: %v", id, err)
			}
		})
	}
	wg.Wait()
	s := p.Shard(testMonth)
	if s.Leading || len(s.Queue) != 0 {
		t.Error("somebody still leads")
	}
}

func TestADamagedShardIsRefusedAndLeftAlone(t *testing.T) {
	p, ctx := payloads(t), context.Background()
	ref, body := gzipped(strings.Repeat("data", 4000))
	must(t, p.Put(ctx, "EUW1_1", league.PartMatch, ref, body))
	must(t, p.Close())
	path := filepath.Join(p.Dir, testMonth+payload.Ext)
	sound, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, sound[:9000], 0o600))
	for name, f := range map[string]func() error{
		"Put": func() error { return p.Put(ctx, "EUW1_2", league.PartMatch, ref, body) },
		"Get": func() error { _, err := p.Get("EUW1_1", league.PartMatch, ref); return err },
	} {
		if d := wantError[*disk.Damaged](t, f()); d.Path != path {
			t.Errorf("%s: %v", name, d)
		}
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, sound[:9000]) {
		t.Error("the damaged shard was changed")
	}
	if _, _, ok, err := p.Find(ctx, "EUW1_1", league.PartMatch); ok || err != nil {
		t.Errorf("Find over a damaged shard: %t %v", ok, err)
	}
	// A shard under another month's name is refused too.
	must(t, os.WriteFile(filepath.Join(p.Dir, "2026-10.db"), sound, 0o600))
	ref.Month = "2026-10"
	_, err = p.Get("EUW1_1", league.PartMatch, ref)
	wantError[*disk.Damaged](t, err)
}

func TestAFlippedPayloadByteIsFound(t *testing.T) {
	p, ctx := payloads(t), context.Background()
	ref, body := gzipped(strings.Repeat("0123456789", 2000))
	must(t, p.Put(ctx, "EUW1_1", league.PartMatch, ref, body))
	must(t, p.Close())
	path := filepath.Join(p.Dir, testMonth+payload.Ext)
	b, err := os.ReadFile(path)
	must(t, err)
	b[bytes.Index(b, body)+len(body)/2] ^= 1
	must(t, os.WriteFile(path, b, 0o600))
	_, err = p.Get("EUW1_1", league.PartMatch, ref)
	wantError[*disk.ErrCorrupt](t, err)
	must(t, p.Put(ctx, "EUW1_1", league.PartMatch, ref, body)) // fetched again
	if _, err := p.Raw("EUW1_1", league.PartMatch, ref); err != nil {
		t.Error(err)
	}
}

func TestInflateStopsAtWhatTheHeaderPromises(t *testing.T) {
	bomb, body := gzipped(strings.Repeat("\x00", 1<<20))
	bomb.RawLen = 10
	if _, err := (payload.Frame{Ref: bomb, Body: body}).Raw(); err == nil {
		t.Error("more came out than the header says, and nobody minded")
	}
	bomb.RawLen = 33 << 20
	if _, err := (payload.Frame{Ref: bomb, Body: body}).Raw(); err == nil {
		t.Error("a header above the limit was believed")
	}
	abc := league.PayloadRef{Codec: "identity", RawLen: 3, CRC: rec.Sum([]byte("abc"))}
	if _, err := (payload.Frame{Ref: abc, Body: []byte("abc")}).Raw(); err != nil {
		t.Error(err)
	}
}

func TestIdleShardsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := payload.New(t.TempDir(), false, zerolog.Nop())
		ref, body := gzipped("x")
		must(t, p.Put(context.Background(), "EUW1_1", league.PartMatch, ref, body))
		s := p.Shard(testMonth)
		p.CloseIdle()
		if s.Bolt == nil {
			t.Error("closed at once")
		}
		time.Sleep(payload.ShardIdle + time.Second)
		p.CloseIdle()
		if s.Bolt != nil {
			t.Error("still open")
		}
		if _, err := p.Get("EUW1_1", league.PartMatch, ref); err != nil {
			t.Error(err)
		}
		must(t, p.Close())
	})
}

func FuzzPayloadFrame(f *testing.F) {
	ref, body := gzipped(`{"a":1}`)
	v, err := payload.Seal("EUW1_1", league.PartMatch, ref, body)
	must(f, err)
	f.Add(v)
	f.Add([]byte{1, 2, 3})
	f.Add(make([]byte, payload.HeaderSize+payload.SumSize))
	f.Fuzz(func(t *testing.T, v []byte) {
		got, err := payload.Open(testMonth, "EUW1_1", league.PartMatch, v)
		if err != nil {
			return
		}
		if raw, err := got.Raw(); err == nil && len(raw) != got.Ref.RawLen {
			t.Fatal("inflated to another length than the header says")
		}
	})
}

// hasPayload reports whether the months have a whole match payload.
func hasPayload(p *payload.Store, match string) (bool, error) {
	_, _, ok, err := p.Find(context.Background(), match, league.PartMatch)
	return ok, err
}

// rawPayload is the JSON of a payload, in whatever month and codec it lies.
func rawPayload(db *DB, match string, p league.Part) ([]byte, error) {
	ref, body, ok, err := db.FindPayload(context.Background(), match, p)
	if err == nil && !ok {
		err = engine.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return payload.Frame{Ref: ref, Body: body}.Raw()
}
