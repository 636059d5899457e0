package pg

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"hash/crc32"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

func TestMain(m *testing.M) {
	scratch.AtOnce(4)
	leak.Main(scratch.OnDisk(m))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a schema for the length of the test.
func open(t testing.TB, at string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{URL: at})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func do(t testing.TB, at string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at)
	must(t, err)
	defer c.Close(context.Background())
	for _, sql := range statements {
		_, err := c.Exec(t.Context(), sql)
		must(t, err)
	}
}

func gzipped(raw string) (ref league.PayloadRef, body []byte) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(raw))
	_ = z.Close()
	return league.PayloadRef{Month: "2026-11", Codec: payload.CodecGzip, Size: b.Len(), RawLen: len(raw), CRC: crc32.Checksum([]byte(raw), crc32.MakeTable(crc32.Castagnoli))}, b.Bytes()
}

// leading opens a store of a schema in a file of its own, which leads. The rows follow; shown waits until they have.
func leading(t testing.TB, db *DB) (store *storage.DB, shown func()) {
	t.Helper()
	l, term := db.Log(), elect(t, db)
	store, err := storage.Open(storage.Options{Dir: t.TempDir() + "/data", Shared: l})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- store.Serve(ctx) }()
	go func() { ended <- l.Follow(ctx, term, func(error) {}) }()
	t.Cleanup(func() { stop(); must(t, errors.Join(<-ended, <-ended, store.Close())) })
	must(t, store.Lead(ctx, term, func() {}))
	return store, func() {
		t.Helper()
		for seq := uint64(0); seq < store.Seq(); time.Sleep(time.Millisecond) {
			must(t, db.pool.QueryRow(t.Context(), "select seq from fs_store").Scan(&seq))
		}
	}
}
