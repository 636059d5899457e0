package payload

import (
	"bytes"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"
)

// newEncoder is what packs so many payloads at once. No CRC of zstd's own: the frame has a checksum of what is
// stored, and the reference one of the JSON.
// The best level makes files smaller by two hundredths in three times the time.
func newEncoder(workers int) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(workers),
		zstd.WithEncoderCRC(false))
}

// packFrame packs a payload anew and proves that its JSON comes back. What cannot be read is returned as
// an error, so that it is kept as it is.
func (a *archiver) packFrame(f Frame) (Frame, error) {
	raw, err := f.Raw()
	if err != nil {
		return f, err
	}
	out := Frame{Ref: f.Ref}
	out.Ref.Codec = codecColumns
	// JSON that splitColumns cannot give back byte by byte, such as one with spaces, is packed as
	// it is.
	cols, err := splitColumns(raw)
	if err != nil {
		cols, out.Ref.Codec = raw, codecZstd
	}
	out.Body = a.enc.EncodeAll(cols, nil)
	out.Ref.Size = len(out.Body)
	if _, err := out.Raw(); err != nil { // compares length and checksum
		return f, err
	}
	// A payload that would not get smaller stays as it arrived, so that it can be handed out
	// without being unpacked.
	if len(out.Body) >= len(f.Body) {
		return f, nil
	}
	return out, nil
}

// pack packs a page, as many payloads at once as was asked for.
func (a *archiver) pack(page []*piece) error {
	var g errgroup.Group
	g.SetLimit(max(a.o.Workers, 1))
	held, err := a.held(page)
	if err != nil {
		return err
	}
	for i, x := range page {
		// The piece is not packed again, but what is bad must be counted in each round: see prove.
		if held[i] {
			_, err := Open(a.Month, x.match, PartOfKey(x.key), x.from)
			x.bad = err != nil
			continue
		}
		g.Go(func() error { return a.packOne(x) })
	}
	return g.Wait()
}

// held tells which pieces an earlier run, or round, has brought over already.
func (a *archiver) held(page []*piece) ([]bool, error) {
	held := make([]bool, len(page))
	err := a.out.View(func(b *bolt.Tx) error {
		p := b.Bucket([]byte(Table))
		for i, x := range page {
			m := p.Bucket([]byte(x.match))
			held[i] = m != nil && a.same(x.match, x.key, x.from, m.Get(x.key))
		}
		return nil
	})
	return held, err
}

// same reports whether a value of the new file stands for one of the old file: the same JSON, or
// the same bytes.
func (a *archiver) same(match string, key, from, to []byte) bool {
	if bytes.Equal(from, to) {
		return true
	}
	old, err1 := Open(a.Month, match, PartOfKey(key), from)
	made, err2 := Open(a.Month, match, PartOfKey(key), to)
	return err1 == nil && err2 == nil && made.same(old.Ref)
}

// packOne packs one payload. What cannot be read is taken over as it is: the archiver deletes
// nothing.
func (a *archiver) packOne(x *piece) error {
	part := PartOfKey(x.key)
	x.to = x.from
	f, err := Open(a.Month, x.match, part, x.from)
	if err != nil {
		x.bad = true
		return nil //nolint:nilerr // counted; check names it
	}
	if f.packed() {
		x.bad = f.dict != 0
		return nil
	}
	packed, err := a.packFrame(f)
	if err != nil {
		x.bad = true
		return nil //nolint:nilerr // as above
	}
	x.to, err = sealFrame(x.match, part, packed)
	return err
}
