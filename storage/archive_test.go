package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

const oldMonth = "2026-03"

// timelineOf makes JSON that is shaped like a timeline: many numbers that change little.
func timelineOf(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"metadata":{"matchId":"EUW1_%d"},"info":{"frames":[`, i)
	for frame := range 12 {
		if frame > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"timestamp":%d,"participantFrames":{`, frame*60_000+i%90)
		for p := 1; p <= 6; p++ {
			if p > 1 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"%d":{"currentGold":%d,"level":%d,"totalGold":%d,"xp":%d,"position":{"x":%d,"y":%d}}`,
				p, (i*7+frame*131*p)%900, frame/2+1, frame*400+i%50, frame*520+p*i%77, (i*p*frame)%15000, (i+p*frame*97)%15000)
		}
		b.WriteString("}}")
	}
	b.WriteString("]}}")
	return b.String()
}

func matchJSON(i int) string {
	seats := make([]string, 10)
	for p := range seats {
		seats[p] = fmt.Sprintf(`{"championName":"Champion%d","kills":%d,"deaths":%d,"goldEarned":%d,"damage":%d,"visionScore":%d,"win":true}`,
			(i*p)%160, (i+p)%17, (i*p)%11, 9000+i*p*37%7000, i*p*p*991%60000, i*p%90)
	}
	return fmt.Sprintf(`{"metadata":{"matchId":"EUW1_%d"},"info":{"gameDuration":%d,"participants":[%s]}}`, i, 1500+i%900, strings.Join(seats, ","))
}

// storeOld stores a match of a closed month with both parts.
func storeOld(db *DB, i int) error {
	id := fmt.Sprintf("EUW1_%04d", i)
	mref, mbody := gzipped(matchJSON(i))
	tref, tbody := gzipped(timelineOf(i))
	mref.Month, tref.Month = oldMonth, oldMonth
	ctx := context.Background()
	return errors.Join(
		db.PutPayload(ctx, id, league.PartMatch, mref, mbody),
		db.PutPayload(ctx, id, league.PartTimeline, tref, tbody),
		db.Write(ctx, func(tx engine.Tx) error {
			return db.SaveMatch(tx, league.Match{ID: id,
				Match: league.Fetch{Status: league.Success, Ref: mref}, Timeline: league.Fetch{Status: league.Success, Ref: tref}}, false)
		}))
}

// atNow puts the wall clock of the storage edge to an instant.
func atNow(t testing.TB, at time.Time) {
	t.Helper()
	real := disk.Now
	disk.Now = func() time.Time { return at }
	t.Cleanup(func() { disk.Now = real })
}

// oldStore is a closed directory with n matches of March and one of the present month; it is November.
func oldStore(t testing.TB, n int) (dir string) {
	t.Helper()
	atNow(t, noon)
	dir = t.TempDir() + "/data"
	db, err := Open(Options{Dir: dir})
	must(t, err)
	stop := serve(t, db)
	for i := range n {
		must(t, storeOld(db, i))
	}
	must(t, storeMatch(db, "EUW1_9"))
	stop()
	must(t, db.Close())
	return dir
}

func wantOld(t testing.TB, db *DB, n int) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("EUW1_%04d", i)
		var m league.Match
		read(t, db, func(tx *txn) (err error) { m, err = tx.match(id); return err })
		raw, err := db.files.Raw(id, league.PartMatch, m.Match.Ref)
		if err != nil || string(raw) != matchJSON(i) {
			t.Fatalf("match %s: %v", id, err)
		}
		if raw, err = db.files.Raw(id, league.PartTimeline, m.Timeline.Ref); err != nil || string(raw) != timelineOf(i) {
			t.Fatalf("timeline of %s: %v", id, err)
		}
	}
}

func archive(t testing.TB, db *DB, o payload.ArchiveOptions) []engine.ArchivedMonth {
	t.Helper()
	r, err := db.files.Archive(context.Background(), o)
	must(t, err)
	return r
}

func TestTheArchiverKeepsEveryPayload(t *testing.T) {
	dir := oldStore(t, 40)
	db := start(t, dir)
	dry := archive(t, db, payload.ArchiveOptions{DryRun: true})
	if len(dry) != 1 || dry[0].Month != oldMonth || dry[0].Packed != 80 || dry[0].After != dry[0].Before {
		t.Fatalf("dry run: %+v", dry)
	}
	var last payload.ArchiveProgress
	r := archive(t, db, payload.ArchiveOptions{Workers: 2, Progress: func(p payload.ArchiveProgress) { last = p }})
	if len(r) != 1 || r[0].Packed != 80 || r[0].Bad != 0 || r[0].Left != "" || r[0].After*100 > r[0].Before*75 {
		t.Errorf("%+v", r)
	}
	if last.Done != 80 || last.Total != 80 || last.After >= last.Before {
		t.Errorf("progress ended at %+v", last)
	}
	wantOld(t, db, 40)
	again := archive(t, db, payload.ArchiveOptions{})
	if again[0].Packed != 0 || again[0].Left != "archived already" {
		t.Errorf("again: %+v", again)
	}

	// What comes later goes in as it arrives, and is packed alone.
	for i := 40; i < 43; i++ {
		must(t, storeOld(db, i))
	}
	if r = archive(t, db, payload.ArchiveOptions{}); r[0].Packed != 6 || r[0].Left != "" {
		t.Errorf("later ones: %+v", r)
	}
	wantOld(t, db, 43)
	if _, err := os.Stat(db.files.Shard(oldMonth).Path + payload.ArchiveExt); !os.IsNotExist(err) {
		t.Error("the half-made file is still there")
	}
}

func TestAnArchivedPayloadIsFoundAsGzipAndNotStoredAgain(t *testing.T) {
	db := start(t, oldStore(t, 10))
	archive(t, db, payload.ArchiveOptions{})
	ctx := context.Background()
	ref, body, ok, err := db.FindPayload(ctx, "EUW1_0007", league.PartTimeline)
	if err != nil || !ok || ref.Codec != payload.CodecGzip || ref.Month != oldMonth || ref.Size != len(body) {
		t.Fatalf("%+v %t %v", ref, ok, err)
	}
	if raw, err := (payload.Frame{Ref: ref, Body: body}).Raw(); err != nil || string(raw) != timelineOf(7) {
		t.Errorf("inflated: %v", err)
	}
	if raw, err := rawPayload(db, "EUW1_0007", league.PartTimeline); err != nil || string(raw) != timelineOf(7) {
		t.Errorf("raw: %v", err)
	}
	if _, err := rawPayload(db, "EUW1_none", league.PartMatch); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("raw of nothing: %v", err)
	}
	before, _ := db.files.Shard(oldMonth).SeqLocked()
	must(t, db.PutPayload(ctx, "EUW1_0007", league.PartTimeline, ref, body))
	if after, _ := db.files.Shard(oldMonth).SeqLocked(); after != before {
		t.Error("what is there already was written again")
	}
}

func TestPayloadsMayArriveWhileTheirMonthIsArchived(t *testing.T) {
	db := start(t, oldStore(t, 10))
	n := 10
	r := archive(t, db, payload.ArchiveOptions{Progress: func(p payload.ArchiveProgress) {
		if p.Done == p.Total && n < 12 { // the pass is over, the file not yet compared
			must(t, storeOld(db, n))
			n++
		}
	}})
	if r[0].Left != "" || n != 12 {
		t.Errorf("%+v, %d matches", r, n)
	}
	wantOld(t, db, n)
}

// What deletes payloads does not wait for the archiver: it breaks off, and the next run has only what is left.
func TestADeletionBreaksTheArchiverOff(t *testing.T) {
	for name, remove := range map[string]func(p *payload.Store) error{
		"of a match": func(p *payload.Store) error {
			p.Doomed.Add([]string{"EUW1_0003"})
			_, err := p.Erase([]string{"EUW1_0003"})
			return err
		},
		"of the month": func(p *payload.Store) error { return p.Drop(oldMonth) },
	} {
		t.Run(name, func(t *testing.T) {
			p, ctx := payloads(t), context.Background()
			for i := range 10 {
				ref, body := gzipped(timelineOf(i))
				ref.Month = oldMonth
				must(t, p.Put(ctx, fmt.Sprintf("EUW1_%04d", i), league.PartTimeline, ref, body))
			}
			removed, o := make(chan error, 1), payload.ArchiveOptions{Months: []string{oldMonth}}
			o.Verify = func(ctx context.Context, _ string) error {
				go func() { removed <- remove(p) }()
				<-ctx.Done()
				return ctx.Err()
			}
			r, err := p.Archive(ctx, o)
			must(t, errors.Join(err, <-removed))
			if len(r) != 1 || r[0].After != r[0].Before || !strings.Contains(r[0].Left, "deleted meanwhile") {
				t.Errorf("%+v", r)
			}
			o.Verify = nil
			r, err = p.Archive(ctx, o)
			must(t, err)
			if gone := name == "of the month"; gone != (len(r) == 0) || !gone && r[0].Packed != 9 {
				t.Errorf("again: %+v", r)
			}
			if _, err := os.Stat(p.Shard(oldMonth).Path + payload.ArchiveExt); !os.IsNotExist(err) {
				t.Error("the half-made file is still there")
			}
		})
	}
}

// An erasure has the month written anew, though all in it is packed: free pages have what was erased.
func TestAMonthIsArchivedAgainAfterAnErasure(t *testing.T) {
	p := payload.New(oldStore(t, 10), false, zerolog.Nop())
	defer func() { must(t, p.Close()) }()
	o := payload.ArchiveOptions{Months: []string{oldMonth}}
	_, err := p.Archive(context.Background(), o)
	must(t, err)
	p.Doomed.Add([]string{"EUW1_0003"})
	_, err = p.Erase([]string{"EUW1_0003"})
	must(t, err)
	marked := func() (is bool) {
		must(t, p.With(oldMonth, false, func(s *payload.Shard) error {
			return s.View(func(b *bolt.Tx) error { is = disk.MetaOf(b).Has([]byte("erased")); return nil })
		}))
		return is
	}
	if !marked() {
		t.Error("nothing says that payloads were erased")
	}
	r, err := p.Archive(context.Background(), o)
	if must(t, err); r[0].Packed != 0 || r[0].Left != "" || r[0].Bad != 0 || marked() {
		t.Errorf("%+v; marked: %t", r, marked())
	}
}

func TestTheArchiverTakesOverWhatItCannotRead(t *testing.T) {
	dir := oldStore(t, 5)
	db, err := Open(Options{Dir: dir})
	must(t, err)
	var bad []byte
	must(t, db.files.With(oldMonth, true, func(s *payload.Shard) error {
		return s.Bolt.Update(func(b *bolt.Tx) error {
			m := b.Bucket([]byte(payload.Table)).Bucket([]byte("EUW1_0003"))
			bad = bytes.Clone(m.Get([]byte("m")))
			bad[20] ^= 1
			return m.Put([]byte("m"), bad)
		})
	}))
	r := archive(t, db, payload.ArchiveOptions{})
	if r[0].Bad != 1 || r[0].Left != "" {
		t.Errorf("%+v", r)
	}
	must(t, db.files.With(oldMonth, false, func(s *payload.Shard) error {
		if v, err := s.Get("EUW1_0003", []byte("m")); err != nil || !bytes.Equal(v, bad) {
			t.Errorf("the damaged payload was changed: %v", err)
		}
		return nil
	}))
	if r = archive(t, db, payload.ArchiveOptions{}); r[0].Left == "" {
		t.Errorf("again: %+v", r)
	}
	must(t, db.Close())
}

func TestPayloadsThatAreNoJSONAreArchivedToo(t *testing.T) {
	p, ctx := payloads(t), context.Background()
	ref, body := gzipped(strings.Repeat("no json at all ", 200))
	ref.Month = oldMonth
	for i := range 12 {
		must(t, p.Put(ctx, fmt.Sprintf("EUW1_%d", i), league.PartMatch, ref, body))
	}
	r, err := p.Archive(ctx, payload.ArchiveOptions{Months: []string{oldMonth}})
	if err != nil || r[0].Bad != 0 || r[0].Left != "" {
		t.Fatalf("%+v %v", r, err)
	}
	if raw, err := p.Raw("EUW1_3", league.PartMatch, ref); err != nil || len(raw) != ref.RawLen {
		t.Error(err)
	}
}
