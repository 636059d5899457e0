package rec_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/storage/internal/rec"
)

const format = 7

var seed = rec.TableSeed("jobs")

func sealed(k []byte, fill func(*rec.Enc)) []byte {
	e := rec.NewEnc(format, 32)
	fill(e)
	return seed.Seal(k, e)
}

func TestP37_RecordsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, u := rapid.Int64().Draw(t, "int"), rapid.Uint64().Draw(t, "uint")
		s, list := rapid.String().Draw(t, "text"), rapid.SliceOf(rapid.String()).Draw(t, "list")
		ms := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "ms")
		dur := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "µs")) * time.Microsecond
		yes, raw := rapid.Bool().Draw(t, "yes"), rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
		k := []byte(s)
		v := sealed(k, func(e *rec.Enc) {
			e.Int(i)
			e.Uint(u)
			e.Str(s)
			e.Strs(list)
			e.Time(time.UnixMilli(ms))
			e.Time(time.Time{})
			e.Dur(dur)
			e.Bool(yes)
			e.Bytes(raw)
			e.Int(1<<53 + 1)
		})
		f, body, err := seed.Open(k, v)
		if err != nil || f != format {
			t.Fatalf("format %d, %v", f, err)
		}
		d := rec.NewDec(body)
		if d.Int() != i || d.Uint() != u || d.Str() != s || !slices.Equal(d.Strs(), list) {
			t.Fatal("numbers or text differ")
		}
		if at := d.Time(); at.UnixMilli() != ms || at.Location() != time.UTC {
			t.Fatalf("%d ms came back as %v", ms, at)
		}
		if !d.Time().IsZero() || d.Dur() != dur || d.Bool() != yes || !bytes.Equal(d.Bytes(), raw) || d.Int() != 1<<53+1 {
			t.Fatal("times, flags, bytes or the big number differ")
		}
		if err := d.Done(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	k := []byte("EUW1_1")
	v := sealed(k, func(e *rec.Enc) { e.Str("hello"); e.Int(-1) })
	for i := range len(v) * 8 {
		bad := slices.Clone(v)
		bad[i/8] ^= 1 << (i % 8)
		if _, _, err := seed.Open(k, bad); err == nil {
			t.Fatalf("bit %d flipped and nobody saw it", i)
		}
	}
	for n := range len(v) {
		if _, _, err := seed.Open(k, v[:n]); err == nil {
			t.Fatalf("cut to %d bytes and nobody saw it", n)
		}
	}
}

func TestARecordBelongsToItsKeyAndTable(t *testing.T) {
	v := sealed([]byte("a"), func(e *rec.Enc) { e.Str("x") })
	if _, _, err := seed.Open([]byte("b"), v); !errors.Is(err, rec.ErrSum) {
		t.Errorf("under another key: %v", err)
	}
	if _, _, err := rec.TableSeed("other").Open([]byte("a"), v); !errors.Is(err, rec.ErrSum) {
		t.Errorf("in another table: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("k"), sealed([]byte("k"), func(e *rec.Enc) { e.Str("x") }))
	f.Add([]byte{}, []byte{1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, k, v []byte) {
		kind, body, err := seed.Open(k, v)
		if err != nil {
			return
		}
		e := rec.NewEnc(kind, len(body))
		for _, b := range body {
			e.Byte(b)
		}
		if !bytes.Equal(seed.Seal(k, e), v) {
			t.Fatal("opened, but sealing it again gives other bytes")
		}
	})
}

func FuzzDec(f *testing.F) {
	f.Add([]byte("bisl"), []byte("\x01\x02\x03abc\x01\x00"))
	f.Add([]byte("lllll"), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, shape, body []byte) {
		d := rec.NewDec(body)
		for _, c := range shape {
			switch c % 7 {
			case 0:
				d.Byte()
			case 1:
				d.Int()
			case 2:
				if s := d.Str(); len(s) > len(body) {
					t.Fatal("a string longer than its record")
				}
			case 3:
				if l := d.Strs(); len(l) > len(body) {
					t.Fatal("more strings than bytes")
				}
			case 4:
				d.Time()
			case 5:
				d.Bool()
			case 6:
				d.Dur()
			}
		}
		if err := d.Done(); err != nil && !errors.Is(err, rec.ErrBody) {
			t.Fatalf("%v is not ErrBody", err)
		}
	})
}
